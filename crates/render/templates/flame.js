// Flame graphs that zoom and search: a click on a bar makes it as wide as the graph, one on the
// lowest bar shows all again; what is typed marks the bars whose names contain it.
document.querySelectorAll("svg.flame").forEach(function (svg) {
  "use strict";
  var letter = Number(svg.dataset.letter);
  var width = Number(svg.dataset.width);
  var bars = Array.prototype.map.call(svg.querySelectorAll(".bar"), function (bar) {
    var rect = bar.querySelector("rect");
    return {
      bar: bar,
      rect: rect,
      text: bar.querySelector("text"),
      name: bar.dataset.name,
      count: Number(bar.dataset.count),
      y: Number(rect.getAttribute("y")),
      from: Number(bar.dataset.from),
      to: Number(bar.dataset.from) + Number(bar.dataset.count),
    };
  });
  function fitted(name, room) {
    var letters = Math.floor((room - 4) / letter);
    if (3 > letters) {
      return "";
    }
    return name.length > letters ? name.slice(0, letters - 1) + "…" : name;
  }
  function zoom(to) {
    var scale = width / (to.to - to.from);
    bars.forEach(function (one) {
      // This stands in XML, so conditions are written without its two signs.
      var isOver = one.y > to.y;
      var isWithin = !isOver ? one.from >= to.from ? to.to >= one.to : false : false;
      var isAbove = isOver ? to.from >= one.from ? one.to >= to.to : false : false;
      one.bar.classList.toggle("out", !(isWithin || isAbove));
      one.bar.classList.toggle("above", isAbove);
      var x = isWithin ? (one.from - to.from) * scale : 0;
      var room = isWithin ? one.count * scale : width;
      one.rect.setAttribute("x", x);
      one.rect.setAttribute("width", Math.max(room, 0.1));
      one.text.setAttribute("x", x + 3);
      one.text.textContent = fitted(one.name, room);
    });
  }
  var found = svg.querySelector(".matches");
  function search(words) {
    var all = bars.length ? bars[0].count : 0;
    var spans = [];
    bars.forEach(function (one) {
      var isFound = words !== "" ? one.name.toLowerCase().indexOf(words.toLowerCase()) >= 0 : false;
      one.bar.classList.toggle("found", isFound);
      if (isFound) {
        spans.push([one.from, one.to]);
      }
    });
    // Bars above each other have the same samples.
    spans.sort(function (a, b) {
      return a[0] - b[0];
    });
    var sum = 0;
    var until = 0;
    spans.forEach(function (span) {
      sum += Math.max(0, span[1] - Math.max(span[0], until));
      until = Math.max(until, span[1]);
    });
    found.textContent = words === "" ? "" : (all ? (100 * sum) / all : 0).toFixed(1) + " % of samples";
  }
  bars.forEach(function (one) {
    one.bar.addEventListener("click", function () {
      zoom(one);
    });
  });
  var input = svg.querySelector("input");
  if (input) {
    input.addEventListener("input", function () {
      search(input.value);
    });
  }
});
