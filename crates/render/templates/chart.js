// What charts in SVG do for a reader: a line at the same instant in all charts over time with the
// values there, traces that are hidden by their names, and zoom.
//
// The values are JSON beside the picture in a file. On the web's pages their script sets them
// (`figure.chart`) and draws a stretch of them (`load`); a file stretches what it has.
'use strict';

const dbdynoCharts = (() => {
  // A second click within this makes a double one.
  const DOUBLE_CLICK_MS = 300;
  // From so many seconds on hours and minutes stand along an axis.
  const CLOCK_FROM_S = 1200;
  const STEPS_S = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400];
  // What a reader has done: the stretch that all charts over time show, that of each other chart,
  // the instant that is pinned, and by their ids charts with hidden traces or a turned axis.
  const own = {
    time: null, pinned: null, stretches: new Map(), hidden: new Map(), turned: new Set(),
    load: null, ask: () => {}, moved: () => {},
  };

  const each = (within, selector, act) => within.querySelectorAll(selector).forEach(act);
  const make = (name, attributes) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const overlay = (svg, name, attributes) => {
    svg.querySelector(`:scope > .${attributes.class}`)?.remove();
    svg.append(make(name, attributes));
  };
  const figureOf = (part) => part.closest('figure');
  const chartOf = (figure) => {
    const values = figure.querySelector('script[type="application/json"]');
    if (values) figure.chart ??= JSON.parse(values.textContent);
    return figure.chart;
  };
  const canZoom = (svg) => ['time', 'numbers'].includes(svg.dataset.axis);
  const hiddenOf = (figure) => own.hidden.get(figure.id) ?? new Set();

  // From values to pixels of the picture and back: across, and upright.
  const scales = ({ dataset: of }) => {
    const scale = (isLog, ...ends) => {
      const along = (value) => (isLog ? Math.log(value) : value);
      const [low, high, from, to] = ends.map(Number);
      const perPixel = (along(high) - along(low)) / (to - from);
      const back = (value) => (isLog ? Math.exp(value) : value);
      return {
        from, to,
        place: (value) => from + (along(value) - along(low)) / perPixel,
        at: (pixel) => back(along(low) + (pixel - from) * perPixel),
      };
    };
    return [
      scale(of.log.includes('x'), of.from, of.to, of.left, of.right),
      scale(of.log.includes('y'), of.low, of.high, of.bottom, of.top),
    ];
  };
  const pixels = (svg, event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  };
  // The chart under an event, and where in its plot area; nothing outside of it.
  const pointed = (event) => {
    const svg = event.target.closest?.('figure svg[data-axis]') ;
    if (!svg) return null;
    const [x, y] = pixels(svg, event);
    const { left, right, top, bottom } = svg.dataset;
    return x < left || x > right || y < top || y > bottom ? null : { svg, x, y };
  };

  const format = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 }).format;
  const withUnit = (value, unit) => `${format(value)}${unit ? ` ${unit}` : ''}`;
  const placeOf = ({ x }, value, unit = x.unit) => {
    if (x.categories.length) return x.categories[value];
    return x.unit === 'N' ? `p${format(100 - 100 / value)}` : withUnit(value, unit);
  };
  const valueOf = (chart, { y, band, label }) => {
    const ends = band?.map(format).join(' to ');
    const value = y === null ? ends ?? '–' : withUnit(y, chart.y.unit) + (ends ? ` (${ends})` : '');
    return value + (label ? `, ${label}` : '');
  };
  const nearest = (points, far) => points.reduce(
    (best, point) => (best === null || far(point) < far(best) ? point : best), null);

  // The place that is pointed at, and the points there.
  const pointsAt = (svg, chart, x, y) => {
    const off = hiddenOf(figureOf(svg));
    const shown = chart.traces.map(({ points, name, shape }, index) =>
      (off.has(index) ? [] : points.map((point) => ({ ...point, index, name, shape }))));
    const all = shown.flat().filter((point) => point.y !== null || point.band);
    const [across, upright] = scales(svg);
    const at = across.at(x);
    const until = (points) => nearest(points.filter((of) => of.x <= at), (of) => at - of.x);
    if (all[0]?.shape === 'cells') {
      const [column, value] = [until(all), upright.at(y)];
      const isThere = (of) => of.x === column?.x && of.band[0] <= value && value < of.band[1];
      return [at, all.filter(isThere)];
    }
    if (svg.dataset.axis === 'time') {
      const near = (points) => nearest(points, (of) => Math.abs(of.x - at));
      return [at, shown.map((of) => (of[0]?.shape === 'steps' ? until(of) : near(of))).filter(Boolean)];
    }
    const isRows = svg.dataset.axis === 'rows';
    const found = nearest(all, (of) => {
      const [along, value] = isRows ? [of.y, of.x] : [of.x, of.y];
      return Math.hypot(across.place(along) - x, of.shape === 'bars' ? 0 : upright.place(value) - y);
    });
    return [found?.x, all.filter((of) => of.x === found.x)];
  };

  const box = Object.assign(document.createElement('div'), { className: 'values', hidden: true });
  const tell = (event, { svg, x, y }) => {
    const chart = chartOf(figureOf(svg));
    const [at, points] = chart ? pointsAt(svg, chart, x, y) : [];
    box.hidden = !points?.length;
    if (box.hidden) return;
    const lines = points.map((point) => {
      const line = document.createElement('div');
      const { stroke, fill } = getComputedStyle(svg.querySelector(`.trace[data-trace="${point.index}"] > *`) ?? svg);
      line.style.borderColor = stroke === 'none' ? fill : stroke;
      const value = document.createElement('b');
      value.textContent = valueOf(chart, point);
      line.append(`${point.name} `, value);
      return line;
    });
    const isNamed = chart.x.unit || chart.x.categories.length;
    box.replaceChildren(`${isNamed ? '' : `${chart.x.title} `}${placeOf(chart, at)}`, ...lines);
    document.body.append(box);
    const room = document.documentElement.clientWidth;
    const isLeft = event.clientX > room / 2;
    box.style.left = isLeft ? '' : `${event.clientX + 14}px`;
    box.style.right = isLeft ? `${room - event.clientX + 14}px` : '';
    box.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 4))}px`;
  };
  const cross = (at, within = document) => {
    const shown = at ?? own.pinned;
    each(within, 'figure svg[data-axis=time]', (svg) => {
      svg.querySelector(':scope > .cross')?.remove();
      const { left, right, top, bottom } = svg.dataset;
      const x = shown === null ? -1 : scales(svg)[0].place(shown);
      if (x >= left && x <= right) overlay(svg, 'path', { class: 'cross', d: `M${x} ${top}V${bottom}` });
    });
  };

  // Names hide their traces.
  const dim = (figure) => each(figure, '.key[data-trace]', (key) => {
    const of = key.dataset.trace;
    const isOff = hiddenOf(figure).has(Number(of));
    key.setAttribute('aria-pressed', String(!isOff));
    key.closest('svg').querySelector(`.trace[data-trace="${of}"]`)?.toggleAttribute('hidden', isOff);
  });
  const toggle = (key) => {
    const [figure, index] = [figureOf(key), Number(key.dataset.trace)];
    const off = hiddenOf(figure);
    if (!off.delete(index)) off.add(index);
    own.hidden.set(figure.id, off);
    dim(figure);
  };

  // The stretch that a chart shows; nothing of a whole one.
  const stretchOf = (figure) => {
    const axis = figure.dataset.axis ?? figure.querySelector('svg[data-axis]')?.dataset.axis;
    return axis === 'time' ? own.time : own.stretches.get(figure.id) ?? null;
  };
  // Simple numbers below the stretch that a file shows.
  const ticks = (svg, chart) => {
    const [{ from, to, at, place }] = scales(svg);
    const [low, high, isTime] = [at(from), at(to), svg.dataset.axis === 'time'];
    const raw = (high - low) / 6;
    const tens = [1, 2, 5, 10].map((times) => times * 10 ** Math.floor(Math.log10(raw)));
    const step = (isTime && raw > 1 ? STEPS_S : tens).find((of) => of >= raw) ?? raw;
    const isLog = svg.dataset.log.includes('x');
    const places = isLog ? [0, 1, 2, 3, 4].map((nth) => at(from + (nth / 4) * (to - from))) : [];
    for (let nth = Math.ceil(low / step); !isLog && nth * step <= high; nth += 1) places.push(nth * step);
    const isClock = isTime && svg.whole.to - svg.whole.from >= CLOCK_FROM_S;
    const clock = (s) => `${s < 0 ? '-' : ''}${new Date(Math.abs(s) * 1000).toISOString().slice(11, step < 60 ? 19 : 16)}`;
    return places.map((value) => {
      const [x, bottom, tick] = [place(value), Number(svg.dataset.bottom), make('g', {})];
      const text = make('text', { x, y: bottom + 17, 'text-anchor': 'middle' });
      text.textContent = isClock ? clock(value) : placeOf(chart, value, '');
      tick.append(make('path', { class: 'axis', d: `M${x} ${bottom}v4` }), text);
      return tick;
    });
  };
  // A file has no more than its picture: traces and marks are moved into a window of it, which is
  // stretched across; the width of lines and dots is not.
  const stretch = (svg, chart, range) => {
    const { left, right, top, bottom, from, to } = svg.dataset;
    const [width, height] = [right - left, bottom - top];
    svg.whole ??= { from, to, ticks: [...svg.querySelector('.ticks').childNodes] };
    Object.assign(svg.dataset, { from: svg.whole.from, to: svg.whole.to });
    const [begin, end] = range ? range.map(scales(svg)[0].place) : [Number(left), Number(right)];
    let view = svg.querySelector('svg');
    if (!view) {
      view = make('svg', { x: left, y: top, width, height, preserveAspectRatio: 'none' });
      const all = svg.querySelectorAll(':scope > :is(.trace, .before, .mark, .rule, .said)');
      all[0]?.before(view);
      view.append(...all);
    }
    view.setAttribute('viewBox', `${begin} ${top} ${end - begin} ${height}`);
    view.style.setProperty('--narrow', String((end - begin) / width));
    view.style.overflow = range ? 'hidden' : 'visible';
    if (range) [svg.dataset.from, svg.dataset.to] = range;
    svg.querySelector('.ticks').replaceChildren(...(range ? ticks(svg, chart) : svg.whole.ticks));
  };
  const show = (figure) => {
    if (own.load) own.load(figure);
    else each(figure, 'svg[data-axis]', (svg) => stretch(svg, chartOf(figure), stretchOf(figure)));
  };
  const zoom = (figure, range) => {
    const isTime = figure.querySelector('svg[data-axis]').dataset.axis === 'time';
    if (isTime) own.time = range;
    else if (range) own.stretches.set(figure.id, range);
    else own.stretches.delete(figure.id);
    // Those too whose drawing has been asked for and has not come.
    if (isTime) each(document, 'figure:is([data-axis=time][data-drawn], :has(svg[data-axis=time]))', show);
    else show(figure);
    cross(null);
    own.moved();
  };

  // What a key does to a chart that has the focus: whether it does anything.
  const press = (figure, key) => {
    const svg = [...figure.querySelectorAll('svg[data-axis]')].find((of) => of.clientWidth);
    if (!svg) return false;
    const [{ from, to, at }] = scales(svg);
    const moves = { '+': [1, -1], '-': [-2, 2], ArrowLeft: [-1, -1], ArrowRight: [1, 1] };
    if (own.load && key.toLowerCase() === 'l') {
      if (!own.turned.delete(figure.id)) own.turned.add(figure.id);
      show(figure);
    } else if (key === '0') {
      zoom(figure, null);
    } else if (moves[key] && canZoom(svg)) {
      // A file has nothing beyond its picture.
      const whole = svg.whole ?? svg.dataset;
      const [low, high] = own.load ? [-Infinity, Infinity] : [Number(whole.from), Number(whole.to)];
      const [begin, end] = [from, to].map((pixel, side) => at(pixel + (moves[key][side] * (to - from)) / 4));
      if (begin <= low && end >= high) zoom(figure, null);
      else if (key === '-' || (begin >= low && end <= high)) zoom(figure, [Math.max(begin, low), Math.min(end, high)]);
    } else {
      return false;
    }
    return true;
  };

  // Makes a figure ready for its reader, when it has come or has been drawn again.
  const dress = (figure) => {
    each(figure, 'svg[data-axis]', (svg) => svg.setAttribute('role', 'group'));
    each(figure, '.key[data-trace]', (key) => {
      key.setAttribute('tabindex', '0');
      key.setAttribute('role', 'button');
    });
    figure.tabIndex = 0;
    figure.setAttribute('aria-keyshortcuts', `Enter + - ArrowLeft ArrowRight 0${own.load ? ' L' : ''}`);
    dim(figure);
    cross(null, figure);
  };

  let drag = null;
  let waiting = null;
  const leave = () => {
    box.hidden = true;
    cross(null);
  };
  const on = (name, act) => document.addEventListener(name, act);
  const point = (event, here) => {
    if (!here) return leave();
    tell(event, here);
    cross(here.svg.dataset.axis === 'time' ? scales(here.svg)[0].at(here.x) : null);
  };
  on('pointermove', (event) => {
    if (drag) {
      const { left, right, top: y, bottom } = drag.svg.dataset;
      drag.to = Math.max(left, Math.min(right, pixels(drag.svg, event)[0]));
      const [x, end] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
      overlay(drag.svg, 'rect', { class: 'picked', x, y, width: end - x, height: bottom - y });
    }
    point(event, pointed(event));
  });
  document.documentElement.addEventListener('pointerleave', leave);
  on('pointerdown', (event) => {
    const here = pointed(event);
    const isTouch = event.pointerType === 'touch';
    if (isTouch) point(event, here);
    const canDrag = here && event.button === 0 && !isTouch && canZoom(here.svg);
    drag = canDrag ? { svg: here.svg, from: here.x, to: here.x } : null;
  });
  const drop = () => {
    drag?.svg.querySelector(':scope > .picked')?.remove();
    drag = null;
  };
  // A finger that scrolls points at nothing.
  on('pointercancel', () => {
    drop();
    leave();
  });
  // The click that comes after a drag is none.
  let wasDragged = false;
  on('pointerup', () => {
    const { svg, from, to } = drag ?? {};
    drop();
    wasDragged = svg !== undefined && Math.abs(to - from) > 3;
    if (wasDragged) zoom(figureOf(svg), [Math.min(from, to), Math.max(from, to)].map(scales(svg)[0].at));
  });
  // A click pins an instant, or lets go of it; a double one shows all.
  on('click', (event) => {
    const key = event.target.closest?.('figure .key[data-trace]');
    if (key) toggle(key);
    const here = pointed(event);
    if (here?.svg.dataset.axis !== 'time' || wasDragged) return;
    const isFirst = waiting === null && event.detail < 2;
    clearTimeout(waiting);
    waiting = null;
    if (!isFirst) return;
    const { at } = scales(here.svg)[0];
    const perPixel = at(1) - at(0);
    const instant = Number(at(here.x).toFixed(perPixel < 0.1 ? 2 : 1));
    waiting = setTimeout(() => {
      waiting = null;
      const isNear = own.pinned !== null && Math.abs(own.pinned - instant) <= 5 * perPixel;
      own.pinned = isNear ? null : instant;
      cross(null);
      own.moved();
    }, DOUBLE_CLICK_MS);
  });
  on('dblclick', (event) => {
    const here = pointed(event);
    if (here) zoom(figureOf(here.svg), null);
  });
  on('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const key = event.target.closest?.('figure .key[data-trace]');
    const isPress = event.key === 'Enter' || event.key === ' ';
    if (key && isPress) toggle(key);
    else if (!event.target.matches?.('figure[aria-keyshortcuts]')) return;
    else if (event.key === 'Enter') own.ask();
    else if (!press(event.target, event.key)) return;
    event.preventDefault();
  });

  each(document, 'figure:has(svg[data-axis])', dress);
  return Object.assign(own, { dress, stretchOf });
})();
