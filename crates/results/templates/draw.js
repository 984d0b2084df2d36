// Draws a chart of dbdyno with plotly.js, in the colours of the page's style.
//
// dbdynoDraw(place, chart): `place` is an element, `chart` what Chart::to_plotly gives. It may be
// called again with newer data: zoom and hidden traces stay. Colours are read from the style by
// the classes that `meta` of each trace names, so they are written down once.
'use strict';

const dbdynoDrawn = new Map();
const dbdynoOnPaper = matchMedia('print');

function dbdynoColour(name, property) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  svg.setAttribute('class', 'dc');
  svg.setAttribute('width', '0');
  svg.setAttribute('height', '0');
  svg.style.position = 'absolute';
  path.setAttribute('class', name);
  svg.appendChild(path);
  document.body.appendChild(svg);
  const colour = getComputedStyle(path)[property];
  svg.remove();
  return colour;
}

function dbdynoFaded(colour, share) {
  const parts = colour.match(/[\d.]+/g);
  return parts ? `rgba(${parts[0]},${parts[1]},${parts[2]},${share})` : colour;
}

function dbdynoColoured(chart) {
  const copy = JSON.parse(JSON.stringify(chart));
  const grid = dbdynoColour('grid', 'stroke');
  const text = dbdynoColour('unit', 'fill');
  const title = dbdynoColour('title', 'fill');
  const mark = dbdynoColour('mark', 'fill');
  const rule = dbdynoColour('rule', 'stroke');
  for (const trace of copy.data) {
    const meta = trace.meta || {};
    if (meta.area) {
      trace.fillcolor = dbdynoFaded(dbdynoColour(meta.area, 'stroke'), 0.2);
    } else if (meta.line) {
      const colour = dbdynoColour(meta.line, 'stroke');
      trace.line = Object.assign({}, trace.line, { color: colour });
      trace.marker = { color: colour, size: 7 };
      if (trace.error_y) trace.error_y.color = colour;
      if (trace.type === 'bar') delete trace.line;
    }
  }
  const layout = copy.layout;
  layout.paper_bgcolor = 'rgba(0,0,0,0)';
  layout.plot_bgcolor = 'rgba(0,0,0,0)';
  layout.font = { family: 'system-ui, sans-serif', size: 12, color: text };
  layout.title.font = { size: 15, color: title };
  layout.title.x = 0;
  layout.title.xref = 'paper';
  // At the top, so that a legend of two lines has room below it.
  Object.assign(layout.title, { y: 1, yref: 'container', yanchor: 'top', pad: { t: 8 } });
  layout.margin = { l: 50, r: 12, t: 84, b: 44 };
  for (const axis of [layout.xaxis, layout.yaxis]) {
    Object.assign(axis, { gridcolor: grid, zerolinecolor: grid, linecolor: grid });
  }
  layout.xaxis.showgrid = false;
  layout.hoverlabel = { font: { color: title }, bgcolor: dbdynoColour('paper', 'fill') };
  for (const shape of layout.shapes) {
    shape.fillcolor = dbdynoFaded(mark, 0.16);
    shape.line.color = rule;
  }
  for (const words of layout.annotations) words.font.color = rule;
  layout.uirevision = copy.id;
  return copy;
}

function dbdynoDraw(place, chart) {
  dbdynoDrawn.set(place, chart);
  const coloured = dbdynoColoured(chart);
  if (dbdynoOnPaper.matches) {
    // The page is laid out for paper, and at once: there is no time to look at it again.
    Object.assign(coloured.layout, { width: place.clientWidth, height: place.clientHeight });
  }
  const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ['select2d', 'lasso2d'] };
  return Plotly.react(place, coloured.data, coloured.layout, config);
}

function dbdynoDrawAgain() {
  for (const [place, chart] of dbdynoDrawn) {
    if (place.isConnected) dbdynoDraw(place, chart); else dbdynoDrawn.delete(place);
  }
}

// On paper there is another width, and no dark.
for (const query of [matchMedia('(prefers-color-scheme: dark)'), dbdynoOnPaper]) {
  query.addEventListener('change', dbdynoDrawAgain);
}
