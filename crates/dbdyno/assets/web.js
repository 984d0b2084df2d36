// The script of dbdyno's web pages: asks for the data of charts, keeps live parts of a page
// fresh, and counts ticked runs. Without it every page still shows its tables.
"use strict";

(() => {
  const lost = document.getElementById("lost");

  const ask = async (address) => {
    const answer = await fetch(address, { headers: { Accept: "application/json" } });
    if (answer.status === 204) {
      return null;
    }
    const said = await answer.json();
    if (!answer.ok) {
      throw new Error(said.error);
    }
    return said;
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

  // Charts are asked for when they come into view: a page has many.
  const draw = async (place) => {
    let chart;
    try {
      chart = await ask(place.dataset.chart);
    } catch (error) {
      place.textContent = `This chart cannot be drawn: ${error.message}`;
      return;
    }
    chart.layout.modebar = {
      bgcolor: "rgba(0,0,0,0)", color: "rgba(128,128,128,.6)", activecolor: "rgb(128,128,128)",
    };
    if (place.dataset.drawn) {
      await released();
    }
    dbdynoDraw(place, chart);
    place.dataset.drawn = "yes";
  };

  const inView = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        inView.unobserve(entry.target);
        draw(entry.target);
      }
    }
  }, { rootMargin: "300px" });

  const charts = (within) => within.querySelectorAll(".chart[data-chart]");
  const watchCharts = (within) => {
    for (const place of charts(within)) {
      if (!place.dataset.drawn) {
        inView.observe(place);
      }
    }
  };

  // What a reader has opened, ticked, scrolled and zoomed is kept when a part of the page is replaced.
  const replace = (part, html) => {
    const told = new DOMParser().parseFromString(html, "text/html").body;
    const drawn = new Map();
    for (const place of charts(part)) {
      if (place.dataset.drawn) {
        drawn.set(place.dataset.chart, place);
      }
    }
    for (const place of charts(told)) {
      const old = drawn.get(place.dataset.chart);
      if (old) {
        place.replaceWith(old);
      }
    }
    const wasOpen = [...part.querySelectorAll("details")].map((details) => details.open);
    told.querySelectorAll("details").forEach((details, index) => {
      details.open = wasOpen[index] ?? details.open;
    });
    const ticked = new Set([...part.querySelectorAll("input:checked")].map((box) => box.value));
    for (const box of told.querySelectorAll("input[type=checkbox]")) {
      box.checked = ticked.has(box.value);
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
    for (const place of charts(part)) {
      if (place.dataset.drawn && drawn.has(place.dataset.chart)) {
        draw(place);
      }
    }
    watchCharts(part);
    countTicked();
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

  const countTicked = () => {
    const button = document.getElementById("compare");
    if (button) {
      const count = document.querySelectorAll("#ticked input:checked").length;
      button.disabled = count < 2;
      button.textContent = count === 0 ? "Tick two runs or more to compare"
        : count === 1 ? "1 run is ticked: tick another to compare"
          : `Compare ${count} ticked runs`;
    }
  };

  document.getElementById("ticked")?.addEventListener("change", countTicked);
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
  // What goes on has no drawing for paper: what can be had in time is printed.
  window.addEventListener("beforeprint", () => {
    for (const place of charts(document)) {
      if (!place.dataset.drawn && !place.previousElementSibling) {
        draw(place);
      }
    }
  });
  watchCharts(document);
  countTicked();
  document.querySelectorAll("[data-live]").forEach(follow);
})();
