// Draws every chart of a page whose data stand beside its place.
'use strict';

for (const place of document.querySelectorAll('figure > .chart')) {
  dbdynoDraw(place, JSON.parse(place.nextElementSibling.textContent));
}
