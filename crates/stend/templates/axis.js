// The axis of time that all drawings of a run share: the values at a moment, by pointer, finger or slider, and a closer look at a part.

var WIDTH = 4000, HEIGHT = 1000; // The canvas of every drawing.

// A path's points in units of the canvas, in the order in which they are drawn.
function pointsOf(path) {
  var points = [], x = 0, y = 0;
  (path.getAttribute("d").match(/[a-zA-Z][^a-zA-Z]*/g) || []).forEach(function (part) {
    var command = part[0], numbers = (part.slice(1).match(/-?\d*\.?\d+(?:e[-+]?\d+)?/gi) || []).map(Number);
    var relative = command === command.toLowerCase();
    var step = { m: 2, l: 2, h: 1, v: 1 }[command.toLowerCase()];
    for (var at = 0; step && at + step <= numbers.length; at += step) {
      var dx = /h/i.test(command) ? numbers[at] : /v/i.test(command) ? (relative ? 0 : x) : numbers[at];
      var dy = /h/i.test(command) ? (relative ? 0 : y) : /v/i.test(command) ? numbers[at] : numbers[at + 1];
      x = relative ? x + dx : dx;
      y = relative ? y + dy : dy;
      points.push([x, y]);
    }
  });
  return points;
}
// The point nearest to a place; none where nothing was drawn near it. Repeats follow one another, so points are in the order of time.
function nearest(points, x) {
  var low = 0, high = points.length - 1;
  if (high < 0) return null;
  while (low < high) {
    var middle = (low + high) >> 1;
    if (points[middle][0] < x) low = middle + 1; else high = middle;
  }
  var best = low > 0 && x - points[low - 1][0] < points[low][0] - x ? low - 1 : low;
  return Math.abs(points[best][0] - x) <= WIDTH / 50 ? points[best] : null;
}
function threeDigits(number) {
  var size = Math.abs(number);
  return size >= 100 ? number.toFixed(0) : size >= 10 ? number.toFixed(1) : size >= 0.01 || size === 0 ? number.toFixed(2) : number.toPrecision(3);
}
function withUnit(number, unit) {
  var digits = threeDigits(number);
  return (root.lang === "ru" ? digits.replace(".", ",") + "\u00a0" + unit : digits + " " + unit).trim();
}
// The value at a height of a drawing; where areas stand on one another, what lies between it and the height of the one below.
function valueAt(svg, y, below) {
  var data = svg.dataset, share = (below - y) / HEIGHT;
  var value = Number(data.bottom) + share * (Number(data.top) - Number(data.bottom));
  if ("log" in data) value = Math.pow(10, value);
  return withUnit(value / Number(data.divisor), root.lang === "ru" && data.suffixRu || data.suffix);
}

function Series(section, samples) {
  var self = this, number = 0;
  this.seconds = Number(section.dataset.seconds);
  this.columns = samples ? samples.columns : 0;
  this.from = 0; // What is seen, as shares of the axis.
  this.to = 1;
  this.at = null; // The moment that is looked at, as a share of the axis.
  this.drawings = all("svg[data-top]", section).map(function (svg) {
    var figure = svg.closest("figure");
    var hair = document.createElementNS(svg.namespaceURI, "path");
    hair.setAttribute("class", "hair");
    svg.appendChild(hair);
    var values = document.createElement("span");
    values.className = "values";
    figure.querySelector("figcaption").appendChild(values);
    var lines = all("path.line, path.area", svg).map(function (path) {
      var key = /\bk(\d)\b/.exec(path.getAttribute("class"));
      return { path: path, key: key ? Number(key[1]) : 0, points: null, stacked: path.classList.contains("area") };
    }).sort(function (a, b) { return a.key - b.key; });
    // Points stand in the order of the drawings and of their lines.
    lines.forEach(function (line) { line.all = samples && samples.lines[number++]; });
    var names = all("figcaption .key", figure).map(function (name) {
      var words = document.createElement("span");
      all("span", name).forEach(function (language) { words.append(language.cloneNode(true)); });
      return words;
    });
    return { svg: svg, hair: hair, values: values, lines: lines, names: names };
  });
  // What stands beside the drawings, at a share of the axis.
  this.marks = all(".bands span, .flags span, .moments span", section).filter(function (span) { return span.style.left; })
    .map(function (span) { return { span: span, at: parseFloat(span.style.left) / 100 }; });
  this.ends = all(".time", section).map(function (time) { return all(":scope > span", time); });
  this.bands = all("rect.band", this.drawings.length ? this.drawings[0].svg : section).map(function (rect) {
    var left = Number(rect.getAttribute("x")) / WIDTH;
    return { from: left, to: left + Number(rect.getAttribute("width")) / WIDTH, title: rect.querySelector("title") };
  });
  this.bar = byId("axis-bar").content.firstElementChild.cloneNode(true);
  var first = section.querySelector(".timeline, .charts");
  section.insertBefore(this.bar, first && first.parentNode === section ? first : section.firstChild);
  this.slider = this.bar.querySelector("input");
  this.when = this.bar.querySelector(".when");
  this.slider.addEventListener("input", function () {
    self.look(self.from + self.slider.value / 1000 * (self.to - self.from));
  });
  this.bar.addEventListener("click", function (event) {
    var button = event.target.closest("[data-zoom]");
    if (button) self.zoom(button.dataset.zoom);
  });
  this.bar.addEventListener("keydown", function (event) {
    var what = { "+": "in", "=": "in", "-": "out", "0": "whole" }[event.key];
    if (!what) return;
    event.preventDefault();
    self.zoom(what);
  });
  this.drawings.forEach(function (drawing) { self.watch(drawing.svg.parentNode); });
  document.addEventListener("languagechange", function () { self.draw(); });
  this.draw();
}
// Where on the axis a pointer is.
Series.prototype.shareOf = function (plot, event) {
  var box = plot.getBoundingClientRect();
  var share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  return this.from + share * (this.to - this.from);
};
Series.prototype.watch = function (plot) {
  var self = this, begun = null, chosen = null;
  plot.addEventListener("pointermove", function (event) {
    var share = self.shareOf(plot, event);
    self.look(share);
    if (begun === null) return;
    var seen = function (at) { return (at - self.from) / (self.to - self.from) * 100; };
    chosen.style.left = Math.min(seen(begun), seen(share)) + "%";
    chosen.style.width = Math.abs(seen(begun) - seen(share)) + "%";
  });
  plot.addEventListener("pointerdown", function (event) {
    if (event.button !== 0) return;
    begun = self.shareOf(plot, event);
    self.look(begun);
    chosen = document.createElement("span");
    chosen.className = "chosen";
    plot.appendChild(chosen);
    // So that a drag that leaves the drawing ends in it.
    try { plot.setPointerCapture(event.pointerId); } catch (error) { /* a pointer that is already gone */ }
  });
  var end = function (event) {
    if (begun === null) return;
    var ended = self.shareOf(plot, event), from = Math.min(begun, ended), to = Math.max(begun, ended);
    begun = null;
    chosen.remove();
    // Less is a click that slipped.
    if (event.type === "pointerup" && to - from > (self.to - self.from) / 50) self.see(from, to);
  };
  plot.addEventListener("pointerup", end);
  plot.addEventListener("pointercancel", end);
  plot.addEventListener("dblclick", function () { self.zoom("whole"); });
};
Series.prototype.zoom = function (how) {
  var width = this.to - this.from, middle = this.at === null ? (this.from + this.to) / 2 : this.at;
  if (how === "in") this.see(middle - width / 4, middle + width / 4);
  if (how === "out") this.see(middle - width, middle + width);
  if (how === "earlier") this.see(this.from - width / 2, this.to - width / 2);
  if (how === "later") this.see(this.from + width / 2, this.to + width / 2);
  if (how === "whole") this.see(0, 1);
};
// Shows this part; at its ends the axis stops, and closer than a thousandth there is nothing more to see.
Series.prototype.see = function (from, to) {
  var width = Math.min(1, Math.max(0.001, to - from));
  this.from = Math.min(1 - width, Math.max(0, from));
  this.to = this.from + width;
  this.draw();
};
Series.prototype.timeText = function (share) {
  return withUnit(share * this.seconds, root.lang === "ru" ? "с" : "s");
};
Series.prototype.draw = function () {
  var self = this, from = this.from, width = this.to - this.from, whole = width === 1;
  this.drawings.forEach(function (drawing) {
    drawing.svg.setAttribute("viewBox", from * WIDTH + " 0 " + width * WIDTH + " " + HEIGHT);
    drawing.svg.classList.toggle("zoomed", !whole);
    refine(drawing.svg, drawing.lines, self.columns, self.seconds, from, self.to, function () { if (self.at !== null) self.look(self.at); });
  });
  this.marks.forEach(function (mark) {
    var place = (mark.at - from) / width;
    mark.span.style.left = place * 100 + "%";
    mark.span.hidden = place < -1e-9 || place > 1;
  });
  this.ends.forEach(function (ends) {
    ends[0].textContent = from === 0 ? "0" : self.timeText(from);
    ends[ends.length - 1].textContent = self.timeText(self.to);
  });
  all("[data-zoom]", this.bar).forEach(function (button) {
    button.disabled = button.dataset.zoom === "in" ? width <= 0.001 : button.dataset.zoom === "earlier" ? from <= 0
      : button.dataset.zoom === "later" ? self.to >= 1 - 1e-12 : whole;
  });
  if (this.at !== null) this.look(Math.min(this.to, Math.max(this.from, this.at)));
};
// Shows the values at a moment in every drawing.
Series.prototype.look = function (share) {
  this.at = share;
  var x = share * WIDTH, spoken = [];
  this.drawings.forEach(function (drawing) {
    drawing.hair.setAttribute("d", "M" + x + " 0v" + HEIGHT);
    var ground = HEIGHT;
    var found = drawing.lines.map(function (line) {
      line.points = line.points || pointsOf(line.path);
      var point = nearest(line.points, x), below = ground;
      if (point && line.stacked) ground = point[1];
      return point ? valueAt(drawing.svg, point[1], below) : "–";
    });
    drawing.values.textContent = "";
    found.forEach(function (text, place) {
      var value = document.createElement("b");
      value.textContent = text;
      if (place) drawing.values.append(" · ");
      if (drawing.names[place]) drawing.values.append(drawing.names[place].cloneNode(true), " ");
      drawing.values.append(value);
    });
    if (spoken.length < 3) spoken.push(drawing.svg.querySelector("title").textContent + ": " + found.join(", "));
  });
  var band = this.bands.filter(function (one) { return share >= one.from && share <= one.to; })[0];
  var time = this.timeText(share);
  this.when.textContent = time + (band ? " · № " + band.title.textContent : "");
  this.slider.value = (share - this.from) / (this.to - this.from) * 1000;
  this.slider.setAttribute("aria-valuetext", [this.when.textContent].concat(spoken).join("; "));
};

// Only what is looked at gets its drawings and its bar: a large report has hundreds of these.
function prepareSeries(within) {
  all(".series", within).forEach(function (section) {
    if (section.prepared) return;
    section.prepared = true;
    unpackSamples(section.dataset.samples).catch(function () { return null; }).then(function (samples) {
      if (samples) drawCharts(section, samples);
      if (section.querySelector("svg[data-top]")) new Series(section, samples);
      section.classList.add("drawn");
    });
  });
}
// What is opened on the page waits until it is near the window: all may be opened at once.
var near = new IntersectionObserver(function (entries) {
  entries.forEach(function (entry) {
    if (!entry.isIntersecting) return;
    near.unobserve(entry.target);
    prepareSeries(entry.target);
  });
}, { rootMargin: "100% 0px" });
all("details.scenario").forEach(function (details) {
  details.addEventListener("toggle", function () {
    if (!details.open || printing) return;
    unfold(details);
    all(".series", details).forEach(function (section) { near.observe(section.parentNode); });
  });
});

// The address may name a scenario from the beginning.
goTo(state().place);
