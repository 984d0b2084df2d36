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
// The least and the greatest height of a row of names, and what is above and below all of them.
const DBDYNO_ROW = [17, 34];
const DBDYNO_BESIDE_ROWS = 110;
const DBDYNO_ROOM_FOR_WORDS = 480;
// A second click within this makes a double one.
const DBDYNO_DOUBLE_CLICK_MS = 300;
// From so many seconds on hours and minutes stand along an axis, in such steps.
const DBDYNO_CLOCK_FROM = 1200;
const DBDYNO_CLOCK_STEPS = [300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
const dbdynoOnPaper = matchMedia('print');
// The instant that a reader has pinned, in all charts over time; and who is told of it and of zoom.
let dbdynoPinned = null;
let dbdynoMoved = () => {};
// Charts whose axis of values a reader has changed: by ratios, or not.
const dbdynoTurned = new Set();

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

// Title, legend and the names of axes as the pictures have them: above each other at the left.
function dbdynoLaidOut(layout, data, place, title) {
  const line = 18;
  Object.assign(layout.title, {
    x: 0, xref: 'container', y: 1, yref: 'container', yanchor: 'top', pad: { t: 3, l: 4 },
    font: { size: 15, color: title, weight: 600 },
  });
  let [lines, used] = [layout.showlegend ? 1 : 0, 0];
  for (const trace of data) {
    const length = 50 + 6.5 * String(trace.name ?? '').length;
    if (!layout.showlegend || trace.showlegend === false) continue;
    if (used > 0 && used + length > place.clientWidth) {
      lines += 1;
      used = 0;
    }
    used += length;
  }
  const height = Math.max(place.clientHeight, 1);
  Object.assign(layout.legend, {
    xref: 'container', x: 0, yref: 'container', y: 1 - 22 / height, yanchor: 'top',
  });
  // The same for all, so that what happened at once stands below each other.
  layout.margin = { l: 56, r: 16, t: 26 + line * lines + 22, b: 42 };
  // Behind rows their values stand in words, where there is room.
  const rows = layout.annotations.filter((words) => words.name === 'row');
  if (place.clientWidth < DBDYNO_ROOM_FOR_WORDS) for (const words of rows) words.visible = false;
  else for (const words of rows) layout.margin.r = Math.max(layout.margin.r, 22 + 6.6 * words.text.length);
  layout.yaxis.automargin = layout.meta.is_over_time ? false : 'width';
  layout.xaxis.automargin = 'height';
  const unit = (words, more) => ({
    text: words, showarrow: false, font: { size: 12 }, xref: 'paper', yref: 'paper', meta: 'unit',
    ...more,
  });
  layout.annotations.push(
    unit(layout.yaxis.title.text, {
      name: 'yaxis', x: 0, y: 1, xanchor: 'left', yanchor: 'bottom', yshift: 3,
      xshift: 2 - layout.margin.l,
    }),
    unit(layout.xaxis.title.text, { name: 'xaxis', x: 1, y: 0, xanchor: 'right', yanchor: 'top', yshift: -22 }),
  );
  layout.yaxis.title.text = '';
  layout.xaxis.title.text = '';
}

function dbdynoColoured(chart, place) {
  const copy = JSON.parse(JSON.stringify(chart));
  const grid = dbdynoColour('grid', 'stroke');
  const text = dbdynoColour('unit', 'fill');
  const title = dbdynoColour('title', 'fill');
  const mark = dbdynoColour('mark', 'fill');
  const rule = dbdynoColour('rule', 'stroke');
  for (const trace of copy.data) {
    const meta = trace.meta || {};
    if (meta.heat) {
      const colour = dbdynoColour(meta.heat, 'stroke');
      trace.colorscale = [[0, dbdynoFaded(colour, 0)], [1, colour]];
    } else if (meta.mark) {
      trace.marker.color = dbdynoFaded(mark, 0.4);
    } else if (meta.area) {
      trace.fillcolor = dbdynoFaded(dbdynoColour(meta.area, 'stroke'), 0.2);
    } else if (meta.line) {
      const colour = dbdynoColour(meta.line, 'stroke');
      trace.line = Object.assign({}, trace.line, { color: colour });
      trace.marker = { color: colour, size: 7 };
      for (const error of [trace.error_x, trace.error_y]) if (error) error.color = colour;
      if (trace.type === 'bar') delete trace.line;
    }
  }
  const layout = copy.layout;
  layout.paper_bgcolor = 'rgba(0,0,0,0)';
  layout.plot_bgcolor = 'rgba(0,0,0,0)';
  layout.modebar = {
    bgcolor: 'rgba(0,0,0,0)', color: 'rgba(128,128,128,.6)', activecolor: 'rgb(128,128,128)',
  };
  layout.font = { family: 'system-ui, sans-serif', size: 12, color: text };
  dbdynoLaidOut(layout, copy.data, place, title);
  for (const axis of [layout.xaxis, layout.yaxis]) {
    Object.assign(axis, { gridcolor: grid, zerolinecolor: grid, linecolor: grid });
  }
  layout.xaxis.showgrid = layout.meta.rows !== null;
  layout.hoverlabel = { font: { color: title }, bgcolor: dbdynoColour('paper', 'fill') };
  for (const shape of layout.shapes) {
    const colour = shape.name === 'before' ? dbdynoColour('before', 'fill') : mark;
    shape.fillcolor = dbdynoFaded(colour, 0.14);
    shape.line.color = shape.type === 'rect' ? dbdynoFaded(colour, 0.4) : rule;
  }
  for (const words of layout.annotations) words.font.color = words.meta === 'unit' ? text : rule;
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

// Over much time hours and minutes stand along an axis of seconds.
function dbdynoClocked({ layout }) {
  const axis = layout.xaxis;
  const span = axis.range ? axis.range[1] - axis.range[0] : 0;
  if (!layout.meta.is_over_time || axis.type === 'log' || span < DBDYNO_CLOCK_FROM) return;
  const step = DBDYNO_CLOCK_STEPS.find((seconds) => span / seconds <= 8) ?? span;
  const at = [];
  for (let nth = Math.ceil(axis.range[0] / step); nth * step <= axis.range[1]; nth += 1) at.push(nth * step);
  const words = (seconds) => {
    const minutes = Math.round(Math.abs(seconds) / 60);
    return `${seconds < 0 ? '-' : ''}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
  };
  Object.assign(axis, { tickmode: 'array', tickvals: at, ticktext: at.map(words), showticksuffix: 'none' });
  for (const title of layout.annotations) {
    if (title.name === 'xaxis') title.text = title.text.replace(/\(s\)$/, '(h:min)');
  }
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

// A line at the same instant in all charts over time: where a reader points, or has pinned one.
function dbdynoCross(at) {
  for (const [place, chart] of dbdynoDrawn) {
    if (!chart.layout.meta.is_over_time || !place.isConnected) continue;
    const { xaxis, _size: size } = place._fullLayout ?? {};
    if (!xaxis) continue;
    let line = place.querySelector(':scope > .cross');
    if (!line) {
      line = document.createElement('div');
      line.className = 'cross';
      place.append(line);
    }
    const shown = at ?? dbdynoPinned;
    const x = shown === null ? -1 : xaxis.d2p(shown);
    line.hidden = x < 0 || x > xaxis._length;
    Object.assign(line.style, { left: `${size.l + x}px`, top: `${size.t}px`, height: `${size.h}px` });
  }
}

// What a key does to a chart that has the focus: whether it does anything.
function dbdynoPress(place, key) {
  const chart = dbdynoDrawn.get(place);
  const { id, layout } = chart;
  const isOverTime = layout.meta.is_over_time;
  const { xaxis } = place._fullLayout;
  const [from, to] = xaxis.range;
  const [middle, half] = [(from + to) / 2, (to - from) / 2];
  const moves = {
    '+': [middle - half / 2, middle + half / 2],
    '-': [middle - half * 2, middle + half * 2],
    ArrowLeft: [from - half / 2, to - half / 2],
    ArrowRight: [from + half / 2, to + half / 2],
    0: null,
  };
  if (key === 'l' || key === 'L') {
    dbdynoTurn(place);
  } else if (key in moves) {
    if (isOverTime) dbdynoZoomed.time = moves[key];
    else if (moves[key]) dbdynoZoomed.x.set(id, moves[key]);
    else dbdynoZoomed.x.delete(id);
    dbdynoAgain(place, isOverTime);
  } else {
    return false;
  }
  return true;
}

// From equal distances to equal ratios, or back.
function dbdynoTurn(place) {
  const { id } = dbdynoDrawn.get(place);
  if (!dbdynoTurned.delete(id)) dbdynoTurned.add(id);
  dbdynoZoomed[dbdynoValues(dbdynoDrawn.get(place))[0]].delete(id);
  dbdynoDraw(place, dbdynoDrawn.get(place));
}

// The axis of values: that from left to right where names stand one below the other.
function dbdynoValues(chart) {
  return chart.layout.meta.rows === null ? 'yaxis' : 'xaxis';
}

// The title of an axis names a scale of ratios, as the server's titles do.
function dbdynoTitled(title, isLog) {
  const plain = title.replace(/, log\)$/, ')').replace(/ \(log\)$/, '');
  if (!isLog) return plain;
  return plain.endsWith(')') ? `${plain.slice(0, -1)}, log)` : `${plain} (log)`;
}

function dbdynoScaled(chart) {
  if (!dbdynoTurned.has(chart.id)) return;
  const name = dbdynoValues(chart);
  const axis = chart.layout[name];
  const isLog = axis.type === 'log';
  for (const part of ['tickmode', 'tickvals', 'ticktext', 'range', 'rangemode']) delete axis[part];
  axis.type = isLog ? 'linear' : 'log';
  if (isLog) axis.rangemode = 'tozero';
  for (const words of chart.layout.annotations) {
    if (words[`${name[0]}ref`] === name[0]) words.visible = false;
    if (words.name === name) words.text = dbdynoTitled(words.text, !isLog);
  }
}

function dbdynoAgain(place, isOverTime) {
  for (const [other, chart] of dbdynoDrawn) {
    const isMoved = other === place || (isOverTime && chart.layout.meta.is_over_time);
    if (isMoved && other.isConnected) dbdynoDraw(other, chart);
  }
  dbdynoMoved();
}

// A click pins an instant, or lets go of it; of a double click nothing is pinned. plotly.js tells
// of no click before it has told what is pointed at, as after a zoom.
function dbdynoPinning(place, isOverTime) {
  let waiting = null;
  const pin = (at, near) => {
    const isNear = dbdynoPinned !== null && Math.abs(dbdynoPinned - at) <= near;
    dbdynoPinned = isNear ? null : at;
    dbdynoCross(null);
    dbdynoMoved();
  };
  const released = (begun, event) => {
    if (!place.isConnected) return;
    if (Math.hypot(event.clientX - begun.clientX, event.clientY - begun.clientY) > 3) return;
    if (waiting !== null) {
      clearTimeout(waiting);
      waiting = null;
      return;
    }
    const { xaxis, _size: size } = place._fullLayout;
    const x = begun.clientX - place.getBoundingClientRect().left - size.l;
    const perPixel = (xaxis.range[1] - xaxis.range[0]) / xaxis._length;
    const at = Number((xaxis.range[0] + x * perPixel).toFixed(perPixel < 0.1 ? 2 : 1));
    waiting = setTimeout(() => {
      waiting = null;
      pin(at, 5 * perPixel);
    }, DBDYNO_DOUBLE_CLICK_MS);
  };
  place.addEventListener('pointerdown', (begun) => {
    if (!isOverTime() || !begun.target.closest?.('.nsewdrag')) return;
    const once = { capture: true, once: true };
    window.addEventListener('pointerup', (event) => released(begun, event), once);
  }, true);
}

function dbdynoListen(place) {
  const isOverTime = () => dbdynoDrawn.get(place).layout.meta.is_over_time;
  place.on('plotly_hover', (said) => { if (isOverTime()) dbdynoCross(said.xvals?.[0] ?? null); });
  place.on('plotly_unhover', () => dbdynoCross(null));
  dbdynoPinning(place, isOverTime);
  const of = () => dbdynoDrawn.get(place);
  const again = (isMoved) => dbdynoAgain(place, isMoved);
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
  // A chart of many names grows with them, unless it is as high as its picture.
  const { rows } = chart.layout.meta;
  if (rows && !place.style.height) {
    const [least, most] = DBDYNO_ROW.map((height) => rows * height + DBDYNO_BESIDE_ROWS);
    place.style.height = `${Math.max(least, Math.min(most, 340))}px`;
  }
  const coloured = dbdynoColoured(chart, place);
  dbdynoScaled(coloured);
  dbdynoZoom(coloured);
  dbdynoClocked(coloured);
  dbdynoMarked(coloured, place.clientWidth);
  if (dbdynoOnPaper.matches) {
    // The page is laid out for paper, and at once: there is no time to look at it again.
    Object.assign(coloured.layout, { width: place.clientWidth, height: place.clientHeight });
  }
  const config = {
    responsive: true,
    displaylogo: false,
    showTips: false,
    doubleClick: false,
    modeBarButtonsToRemove: ['select2d', 'lasso2d', 'resetScale2d'],
    modeBarButtonsToAdd: [{
      name: 'log',
      title: 'Equal ratios, or equal distances (L)',
      icon: { width: 24, height: 24, path: 'M3 3h2v16h16v2H3zM7 17C8 9 12 6 21 5v2C13 8 10 11 9 17z' },
      click: () => dbdynoTurn(place),
    }],
  };
  const isNew = !place.on;
  const drawn = Plotly.react(place, coloured.data, coloured.layout, config);
  if (isNew) dbdynoListen(place);
  drawn.then(() => dbdynoCross(null));
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
