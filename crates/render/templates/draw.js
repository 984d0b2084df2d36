// Draws a chart of dbdyno with plotly.js, in the colours of the page's style.
//
// dbdynoDraw(place, chart): `place` is an element, `chart` what Chart::to_plotly gives. It may be
// called again with newer data: zoom and hidden traces stay. Charts over time are zoomed along it
// together. Colours are read from the style by the classes that `meta` of each trace names, so
// they are written down once.
'use strict';

const dbdynoDrawn = new Map();
// What a reader has zoomed into: along time all charts, and each chart by its id.
const dbdynoZoomed = { time: null, x: new Map(), y: new Map() };
// Rows of words at marks, one below the other where they would meet.
const DBDYNO_MARK_ROWS = 3;
const DBDYNO_MARK_LETTER = 6.2;
const DBDYNO_MARK_HEIGHT = 14;
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
    if (meta.mark) {
      trace.marker.color = dbdynoFaded(mark, 0.4);
    } else if (meta.area) {
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
  // The same for all, so that what happened at once stands below each other.
  layout.margin = { l: 84, r: 16, t: 84, b: 44 };
  if (layout.meta.is_over_time) layout.yaxis.automargin = false;
  for (const axis of [layout.xaxis, layout.yaxis]) {
    Object.assign(axis, { gridcolor: grid, zerolinecolor: grid, linecolor: grid });
  }
  layout.xaxis.showgrid = false;
  layout.hoverlabel = { font: { color: title }, bgcolor: dbdynoColour('paper', 'fill') };
  for (const shape of layout.shapes) {
    shape.fillcolor = dbdynoFaded(mark, 0.16);
    shape.line.color = shape.type === 'rect' ? dbdynoFaded(mark, 0.4) : rule;
  }
  for (const words of layout.annotations) words.font.color = rule;
  layout.uirevision = copy.id;
  return copy;
}

// Within less than a ten plotly.js tells numbers of ratios whole: it may where no two of ours are
// seen.
function dbdynoNearer(axis, range) {
  const [from, to] = [Math.min(...range), Math.max(...range)];
  if (axis.type !== 'log' || to - from >= 1 || !axis.tickvals) return;
  const seen = axis.tickvals.map(Math.log10).filter((at) => at >= from && at <= to);
  if (seen.length >= 2) return;
  for (const name of ['tickmode', 'tickvals', 'ticktext']) delete axis[name];
}

// What a reader has zoomed into is kept by us: plotly.js gives it up where newer data have another
// range of their own.
let dbdynoDrawings = 0;
function dbdynoZoom(chart) {
  const { id, layout } = chart;
  const isOverTime = layout.meta.is_over_time;
  const zoomed = {
    xaxis: isOverTime ? dbdynoZoomed.time : dbdynoZoomed.x.get(id),
    yaxis: dbdynoZoomed.y.get(id),
  };
  dbdynoDrawings += 1;
  for (const [name, range] of Object.entries(zoomed)) {
    layout[name].uirevision = dbdynoDrawings;
    if (range) {
      Object.assign(layout[name], { range: [...range], autorange: false });
      dbdynoNearer(layout[name], range);
    }
  }
}

function dbdynoListen(place) {
  const of = () => dbdynoDrawn.get(place);
  const again = (isOverTime) => {
    for (const [other, chart] of dbdynoDrawn) {
      const isMoved = other === place || (isOverTime && chart.layout.meta.is_over_time);
      if (isMoved && other.isConnected) dbdynoDraw(other, chart);
    }
  };
  const forget = () => {
    const { id, layout } = of();
    if (layout.meta.is_over_time) dbdynoZoomed.time = null;
    dbdynoZoomed.x.delete(id);
    dbdynoZoomed.y.delete(id);
    again(layout.meta.is_over_time);
  };
  place.on('plotly_doubleclick', forget);
  place.on('plotly_relayout', (said) => {
    const { id, layout } = of();
    if (said['xaxis.autorange'] || said['yaxis.autorange']) {
      forget();
      return;
    }
    const names = Object.keys(said);
    const isOf = (axis) => names.some((name) => name.startsWith(`${axis}.range`));
    const isOverTime = layout.meta.is_over_time;
    const { xaxis, yaxis } = place._fullLayout;
    if (isOf('xaxis') && isOverTime) dbdynoZoomed.time = [...xaxis.range];
    else if (isOf('xaxis')) dbdynoZoomed.x.set(id, [...xaxis.range]);
    if (isOf('yaxis')) dbdynoZoomed.y.set(id, [...yaxis.range]);
    if (isOf('xaxis') || isOf('yaxis')) again(isOverTime && isOf('xaxis'));
  });
}

// Words of marks over time stand in rows where they would meet; those that have no room are left
// out, and those of a stretch that begins before what is seen stand at its edge.
function dbdynoMarked(chart, width) {
  const { layout } = chart;
  const range = layout.xaxis.range;
  if (!range || layout.xaxis.type === 'log') return;
  const room = width - layout.margin.l - layout.margin.r;
  const perUnit = room / (range[1] - range[0]);
  const ends = new Array(DBDYNO_MARK_ROWS).fill(-Infinity);
  layout.annotations.forEach((words, index) => {
    if (words.xref !== 'x') return;
    const shape = layout.shapes[index];
    if (shape.x1 < range[0] || shape.x0 > range[1]) {
      words.visible = false;
      return;
    }
    const length = words.text.length * DBDYNO_MARK_LETTER;
    let from = (Math.max(shape.x0, range[0]) - range[0]) * perUnit;
    from = Math.max(0, Math.min(from, room - length));
    const row = ends.findIndex((end) => end + 6 <= from);
    words.visible = row >= 0;
    if (row < 0) return;
    ends[row] = from + length;
    words.x = range[0] + from / perUnit;
    words.yshift = -DBDYNO_MARK_HEIGHT * row;
  });
}

function dbdynoDraw(place, chart) {
  dbdynoDrawn.set(place, chart);
  const coloured = dbdynoColoured(chart);
  dbdynoZoom(coloured);
  dbdynoMarked(coloured, place.clientWidth);
  if (dbdynoOnPaper.matches) {
    // The page is laid out for paper, and at once: there is no time to look at it again.
    Object.assign(coloured.layout, { width: place.clientWidth, height: place.clientHeight });
  }
  const config = {
    responsive: true,
    displaylogo: false,
    doubleClick: false,
    modeBarButtonsToRemove: ['select2d', 'lasso2d', 'resetScale2d'],
  };
  const isNew = !place.on;
  const drawn = Plotly.react(place, coloured.data, coloured.layout, config);
  if (isNew) dbdynoListen(place);
  return drawn;
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
