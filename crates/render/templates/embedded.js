// Draws every chart of a page whose data stand beside its place; one that is folded when it is
// unfolded or printed, since it has no width before.
'use strict';

for (const place of document.querySelectorAll('figure > .chart')) {
  const draw = () => {
    if (!place.on) dbdynoDraw(place, JSON.parse(place.nextElementSibling.textContent));
  };
  const folded = place.closest('details:not([open])');
  if (folded) {
    folded.addEventListener('toggle', draw);
    addEventListener('beforeprint', draw);
  } else {
    draw();
  }
}
