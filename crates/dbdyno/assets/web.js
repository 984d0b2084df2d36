// The script of dbdyno's web pages: asks for charts again, keeps live parts of a page
// fresh, and counts selected runs. Without it every page still shows its tables.
"use strict";

(() => {
  const lost = document.getElementById("lost");

  const ask = async (address, kind = "json") => {
    const answer = await fetch(address, { headers: { Accept: "application/json" } });
    if (answer.status === 204) {
      return null;
    }
    if (!answer.ok) {
      throw new Error((await answer.json()).error);
    }
    return answer[kind]();
  };

  // Nothing moves or is drawn again under a reader's hand: who presses the mouse to drag over a
  // chart, or to click, finishes first.
  let isPressed = false;
  let onRelease = [];
  const release = () => {
    isPressed = false;
    // What the release itself does, a click or a zoom, comes first.
    setTimeout(() => {
      const waiting = onRelease;
      onRelease = [];
      waiting.forEach((goOn) => goOn());
    });
  };
  const released = async () => {
    while (isPressed) {
      await new Promise((goOn) => onRelease.push(goOn));
    }
  };
  document.addEventListener("pointerdown", () => { isPressed = true; }, true);
  for (const name of ["pointerup", "pointercancel"]) {
    document.addEventListener(name, release, true);
  }
  window.addEventListener("blur", release);

  // Charts stand in the page as pictures. Their values are loaded when a reader asks for more: by
  // pointing at a chart, touching it or pressing a key there; then the charts in view become ones
  // that zoom and show values.
  const addressOf = (figure, suffix) => {
    const address = new URL(figure.dataset.chart, location.href);
    address.pathname += suffix;
    address.searchParams.set("in", "page");
    const [from, to] = dbdynoCharts.stretchOf(figure) ?? [];
    if (from !== undefined) {
      address.searchParams.set("from", from);
      address.searchParams.set("to", to);
    }
    if (dbdynoCharts.turned.has(figure.id)) {
      address.searchParams.set("y", "turned");
    }
    return address;
  };
  const isStacked = () => document.body.classList.contains("stacked");

  const drawOnce = async (figure) => {
    const pictures = [isStacked() ? ".low.svg" : ".wide.svg", ".narrow.svg"];
    let answers;
    try {
      answers = await Promise.all([
        ask(addressOf(figure, "")),
        ...pictures.map((suffix) => ask(addressOf(figure, suffix), "text")),
      ]);
    } catch (error) {
      figure.title = `This chart stays as it is: ${error.message}`;
      return;
    }
    await released();
    // One of a page of some seconds ago may be no more.
    if (answers.includes(null)) {
      return;
    }
    const [chart, ...drawn] = answers;
    figure.removeAttribute("title");
    figure.chart = chart;
    const parts = drawn.map((text, index) => {
      const part = document.createElement("div");
      part.className = ["on-wide", "on-narrow"][index];
      part.append(new DOMParser().parseFromString(text, "text/html").querySelector("svg"));
      return part;
    });
    figure.querySelector(".drawing").replaceChildren(...parts);
    dbdynoCharts.dress(figure);
  };
  // One drawing at a time: what is asked for meanwhile is drawn after it, so that a service that is
  // slower than its questions is heard.
  const draw = async (figure) => {
    figure.dataset.drawn = "yes";
    figure.isOutdated = true;
    if (figure.isAsking) {
      return;
    }
    figure.isAsking = true;
    // One that fails must not be the last.
    try {
      while (figure.isOutdated) {
        figure.isOutdated = false;
        await drawOnce(figure);
      }
    } finally {
      figure.isAsking = false;
    }
  };
  dbdynoCharts.load = draw;

  const inView = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        inView.unobserve(entry.target);
        draw(entry.target);
      }
    }
  }, { rootMargin: "100px" });

  const charts = (within) => within.querySelectorAll("figure[data-chart]");
  let isAsked = false;
  const watchCharts = (within) => {
    for (const figure of charts(within)) {
      dbdynoCharts.dress(figure);
      if (isAsked && !figure.dataset.drawn) {
        inView.observe(figure);
      }
    }
  };
  const askedForMore = () => {
    if (!isAsked) {
      isAsked = true;
      watchCharts(document);
    }
  };
  dbdynoCharts.ask = askedForMore;
  // Who only passes by asks for nothing.
  const DWELL_MS = 150;
  let dwelling = 0;
  document.addEventListener("pointerover", (event) => {
    clearTimeout(dwelling);
    if (!isAsked && event.target.closest?.("figure[data-chart]")) {
      dwelling = setTimeout(askedForMore, DWELL_MS);
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("figure[data-chart] .drawing")) {
      askedForMore();
    }
  });
  // What a reader has zoomed into along time, and the instant that is pointed at, are in the
  // address: whoever gets it sees the same.
  const shared = new URLSearchParams(location.search);
  dbdynoCharts.moved = () => {
    const now = new URLSearchParams(location.search);
    const put = (name, value) => (value === null ? now.delete(name) : now.set(name, value));
    const [from, to] = dbdynoCharts.time ?? [];
    put("zoom", from === undefined ? null : `${Number(from.toFixed(2))}..${Number(to.toFixed(2))}`);
    const { pinned } = dbdynoCharts;
    put("at", pinned === null ? null : String(Number(pinned.toFixed(2))));
    const query = now.toString();
    history.replaceState(null, "", location.pathname + (query && `?${query}`) + location.hash);
  };
  const zoom = shared.get("zoom")?.split("..").map(Number);
  if (zoom?.length === 2 && zoom.every(Number.isFinite) && zoom[0] < zoom[1]) {
    dbdynoCharts.time = zoom;
  }
  const at = Number(shared.get("at") ?? NaN);
  if (Number.isFinite(at)) {
    dbdynoCharts.pinned = at;
  }
  isAsked = dbdynoCharts.time !== null || dbdynoCharts.pinned !== null;

  // A newer picture in the place of an older one, when it has come.
  const fresher = (old, figure) => {
    old.dataset.chart = figure.dataset.chart;
    const [from, to] = [figure, old].map((of) => of.querySelector("picture"));
    const image = new Image();
    const source = matchMedia("(max-width:640px)").matches ? "source" : "img";
    const box = old.getBoundingClientRect();
    if (!from || box.bottom < -300 || box.top > innerHeight + 300) {
      return;
    }
    image.onload = () => {
      to.querySelector("source").srcset = from.querySelector("source").srcset;
      to.querySelector("img").src = from.querySelector("img").src;
    };
    image.src = from.querySelector(source)[source === "img" ? "src" : "srcset"];
  };

  // What a reader has opened, selected, scrolled and zoomed is kept when a part of the page is replaced.
  const replace = (part, html) => {
    const told = new DOMParser().parseFromString(html, "text/html").body;
    // A chart that is moved to the newer part loses the keyboard.
    const held = part.contains(document.activeElement) && document.activeElement.closest("figure")?.id;
    // Charts that zoom stay; a picture stays until the newer one has come.
    const known = new Map([...charts(part)].map((figure) => [figure.id, figure]));
    const redrawn = [];
    for (const figure of charts(told)) {
      const old = known.get(figure.id);
      if (old?.dataset.drawn) {
        old.dataset.chart = figure.dataset.chart;
        figure.replaceWith(old);
        redrawn.push(old);
      } else if (old?.querySelector("picture")) {
        fresher(old, figure);
        figure.replaceWith(old);
      }
    }
    const wasOpen = [...part.querySelectorAll("details")].map((details) => details.open);
    told.querySelectorAll("details").forEach((details, index) => {
      details.open = wasOpen[index] ?? details.open;
    });
    const selected = new Set([...part.querySelectorAll("input:checked")].map((box) => box.value));
    for (const box of told.querySelectorAll("input[type=checkbox]")) {
      box.checked = selected.has(box.value);
    }
    const focused = part.contains(document.activeElement) && document.activeElement.value;
    const scrolled = [...part.querySelectorAll(".table")].map((box) => box.scrollLeft);
    part.replaceChildren(...told.childNodes);
    part.querySelectorAll(".table").forEach((box, index) => {
      box.scrollLeft = scrolled[index] ?? 0;
    });
    if (focused) {
      [...part.querySelectorAll("input")].find((box) => box.value === focused)?.focus();
    }
    if (held) {
      document.getElementById(held)?.focus({ preventScroll: true });
    }
    redrawn.forEach(draw);
    watchCharts(part);
    watchTables(part);
    searchMetrics();
    offerStack();
    countSelected();
  };

  // A table that is wider than the page is scrolled by the keyboard, too.
  const tables = new ResizeObserver((changes) => {
    for (const { target } of changes) {
      if (target.scrollWidth > target.clientWidth) {
        target.tabIndex = 0;
      } else {
        target.removeAttribute("tabindex");
      }
    }
  });
  const watchTables = (part) => {
    part.querySelectorAll(".table").forEach((box) => tables.observe(box));
  };

  const follow = (part) => {
    let timer = 0;
    let nextMs = Number(part.dataset.nextMs);
    const look = async () => {
      const between = part.dataset.live.includes("?") ? "&" : "?";
      try {
        const fresh = await ask(
          `${part.dataset.live}${between}after=${encodeURIComponent(part.dataset.place)}`);
        lost.hidden = true;
        await released();
        if (fresh) {
          nextMs = fresh.next_ms;
          if (!nextMs) {
            // What has ended cannot be stopped.
            document.querySelectorAll(".acts form.stop").forEach((form) => form.remove());
          }
          if (fresh.place !== part.dataset.place) {
            part.dataset.place = fresh.place;
            replace(part, fresh.html);
          }
        }
      } catch {
        lost.hidden = false;
      }
      plan();
    };
    const plan = () => {
      clearTimeout(timer);
      // A page that nobody sees asks for nothing.
      if (nextMs && !document.hidden) {
        timer = setTimeout(look, nextMs);
      }
    };
    document.addEventListener("visibilitychange", plan);
    plan();
  };

  // All charts one below the other, low and as wide as the page: those over time on one axis.
  const stack = () => {
    const isNow = document.body.classList.toggle("stacked");
    document.querySelectorAll(".stack").forEach((button) => {
      button.setAttribute("aria-pressed", String(isNow));
    });
    askedForMore();
    document.querySelectorAll("figure[data-drawn]").forEach(draw);
  };
  const offerStack = () => {
    const section = document.getElementById("time");
    if (section && !section.querySelector(".stack")) {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "stack", textContent: "Stack charts" });
      button.setAttribute("aria-pressed", String(isStacked()));
      button.addEventListener("click", stack);
      section.querySelector(".charts")?.before(button);
    }
  };

  // A search over the metrics of a run, of which there are a hundred.
  let metric = "";
  const searchMetrics = () => {
    const section = document.getElementById("monitor");
    if (!section || section.querySelector(".metrics")) {
      return;
    }
    const input = Object.assign(document.createElement("input"), {
      type: "search", className: "metrics", placeholder: "Search metrics", value: metric,
    });
    input.setAttribute("aria-label", "Search metrics");
    const look = () => {
      metric = input.value;
      const words = metric.toLowerCase().split(/\s+/).filter(Boolean);
      const told = (part) =>
        [...part.querySelectorAll("img")].map((image) => image.alt).join(" ") + part.textContent;
      const has = (part) => words.every((word) => told(part).toLowerCase().includes(word));
      for (const part of section.querySelectorAll("figure, tbody tr")) {
        part.hidden = words.length > 0 && !has(part);
      }
      for (const details of words.length ? section.querySelectorAll("details") : []) {
        details.open = [...details.querySelectorAll("figure, tbody tr")].some((part) => !part.hidden);
      }
    };
    input.addEventListener("input", look);
    section.querySelector("h2").after(input);
    if (metric) {
      look();
    }
  };

  const countSelected = () => {
    const button = document.getElementById("compare");
    if (button) {
      const count = document.querySelectorAll("#selected input[name=side]:checked").length;
      button.disabled = count < 2;
      button.textContent = count === 0 ? "Select two runs or more to compare"
        : count === 1 ? "1 run is selected: select another to compare"
          : `Compare ${count} selected runs`;
    }
  };

  document.getElementById("selected")?.addEventListener("change", countSelected);
  for (const select of document.querySelectorAll("#filters select")) {
    select.addEventListener("change", () => select.form.requestSubmit());
  }
  // Another workload has other fields.
  document.getElementById("workload")?.addEventListener("change", (event) => {
    event.target.form.requestSubmit(document.getElementById("check-plan"));
  });
  // Fields that say nothing stay out of the address.
  document.addEventListener("formdata", (event) => {
    // What a form that is sent leaves empty was perhaps cleared.
    if (event.target.method === "post") {
      return;
    }
    for (const [name, value] of [...event.formData.entries()]) {
      if (value === "") {
        const kept = event.formData.getAll(name).filter((other) => other !== "");
        event.formData.delete(name);
        kept.forEach((other) => event.formData.append(name, other));
      }
    }
  });
  // A printer takes pictures that nobody has seen, too.
  window.addEventListener("beforeprint", () => {
    for (const image of document.images) {
      image.loading = "eager";
    }
  });
  watchCharts(document);
  watchTables(document);
  searchMetrics();
  offerStack();
  countSelected();
  document.querySelectorAll("[data-live]").forEach(follow);
})();
