// The axis of time that all drawings of a run share: the values at a moment, by pointer, finger or slider, and a closer look at a part. Runs of
// one scenario show the same part of the same repeats.

var WIDTH = 4000, HEIGHT = 1000; // The canvas of every drawing.

function threeDigits(number) {
  var size = Math.abs(number);
  return size >= 100 ? number.toFixed(0) : size >= 10 ? number.toFixed(1) : size >= 0.01 || size === 0 ? number.toFixed(2) : number.toPrecision(3);
}
function withUnit(number, unit) {
  return (threeDigits(number).replace(".", language.point) + language.space + unit).trim();
}
function valueText(svg, value) {
  return withUnit(value / Number(svg.dataset.divisor), svg.getAttribute("data-suffix-" + language.code) || svg.dataset.suffix);
}
// The repeats of an axis, by the number that the same repeat has in other runs: from where to where each stands.
function repeatsOf(bands) {
  var repeats = new Map();
  bands.forEach(function (band, place) {
    var next = bands[place + 1];
    repeats.set(band.repeat, { from: band.percent / 100, to: next ? next.percent / 100 : 1, title: band.title });
  });
  return repeats;
}

function Series(section, samples) {
  var self = this, number = 0;
  this.seconds = Number(section.dataset.seconds);
  this.columns = samples.columns;
  this.repeats = repeatsOf(samples.bands);
  this.from = 0; // What is seen, as shares of the axis.
  this.to = 1;
  this.at = null; // The moment that is looked at, as a share of the axis.
  // The axes of the scenario's runs, this one among them.
  var scenario = section.closest(".body");
  this.together = scenario.axes = scenario.axes || [];
  this.drawings = all("svg[data-top]", section).map(function (svg) {
    var figure = svg.closest("figure");
    var hair = document.createElementNS(svg.namespaceURI, "path");
    hair.setAttribute("class", "hair");
    svg.appendChild(hair);
    var values = document.createElement("span");
    values.className = "values";
    figure.querySelector("figcaption").appendChild(values);
    var lines = all("path.line, path.area", svg).map(function (path) {
      return { path: path, points: null, stacked: path.classList.contains("area") };
    });
    // What stands on others is behind them.
    if (lines[0].stacked) lines.reverse();
    // Points stand in the order of the drawings and of their lines.
    lines.forEach(function (line) { line.points = samples.lines[number++]; });
    var names = all("figcaption .key", figure).map(function (name) {
      var words = document.createElement("span");
      // A name that is one for all languages is bare text.
      words.append.apply(words, name.cloneNode(true).childNodes);
      return words;
    });
    return { figure: figure, svg: svg, hair: hair, values: values, lines: lines, names: names, near: false };
  });
  // What stands beside the drawings, at a share of the axis.
  this.marks = all(".bands span, .flags span, .moments span", section).filter(function (span) { return span.style.left; })
    .map(function (span) { return { span: span, at: parseFloat(span.style.left) / 100 }; });
  this.ends = all(".time", section).map(function (time) { return all(":scope > span", time); });
  this.bar = byId("axis-bar").content.firstElementChild.cloneNode(true);
  var first = section.querySelector(".timeline, .charts");
  section.insertBefore(this.bar, first && first.parentNode === section ? first : section.firstChild);
  this.slider = this.bar.querySelector("input");
  this.when = this.bar.querySelector(".when");
  this.apart = this.bar.querySelector(".apart");
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
  // Only what is near the window is drawn, and told of: a run may have hundreds of drawings.
  var near = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      var drawing = self.drawings.find(function (one) { return one.figure === entry.target; });
      drawing.near = entry.isIntersecting;
      if (drawing.near) self.render(drawing);
    });
  }, NEARBY);
  this.drawings.forEach(function (drawing) {
    self.watch(drawing.svg.parentNode);
    near.observe(drawing.figure);
  });
  document.addEventListener("languagechange", function () { self.draw(); });
  if (this.together.length) this.follow(this.together[0]); else this.draw();
  this.together.push(this);
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
// Shows this part, here and in the other runs.
Series.prototype.see = function (from, to) {
  var self = this;
  this.apart.hidden = true;
  this.show(from, to);
  this.others().forEach(function (other) { other.follow(self); });
};
Series.prototype.others = function () {
  var self = this;
  return this.together.filter(function (one) { return one !== self; });
};
// At its ends the axis stops, and closer than a thousandth there is nothing more to see.
Series.prototype.show = function (from, to) {
  var width = Math.min(1, Math.max(0.001, to - from));
  this.from = Math.min(1 - width, Math.max(0, from));
  this.to = this.from + width;
  this.draw();
};
// Shows what another run shows: of the same repeats the same part, by their lengths. Of a run that has none of them all is shown.
Series.prototype.follow = function (other) {
  var whole = other.from === 0 && other.to === 1, ends = [];
  var own = this.repeats;
  if (!whole) other.repeats.forEach(function (theirs, name) {
    var from = Math.max(theirs.from, other.from), to = Math.min(theirs.to, other.to);
    if (from < to && own.has(name)) ends.push(alike(theirs, own.get(name), from), alike(theirs, own.get(name), to));
  });
  this.apart.hidden = whole || ends.length > 0;
  if (ends.length) this.show(Math.min.apply(null, ends), Math.max.apply(null, ends)); else this.show(0, 1);
};
// What stands in one repeat where a share of the axis stands in another.
function alike(from, to, share) {
  return to.from + (share - from.from) / (from.to - from.from) * (to.to - to.from);
}
Series.prototype.timeText = function (share) {
  return withUnit(share * this.seconds, language.second);
};
Series.prototype.draw = function () {
  var self = this, from = this.from, width = this.to - this.from, whole = width === 1;
  this.drawings.forEach(function (drawing) { if (drawing.near) self.render(drawing); });
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
  if (this.at !== null) this.tell(Math.min(this.to, Math.max(this.from, this.at)));
};
Series.prototype.render = function (drawing) {
  var width = this.to - this.from;
  drawing.svg.setAttribute("viewBox", this.from * WIDTH + " 0 " + width * WIDTH + " " + HEIGHT);
  drawing.svg.classList.toggle("zoomed", width !== 1);
  refine(drawing.svg, drawing.lines, this.columns, this.seconds, this.from, this.to);
  if (this.at !== null) this.tellOf(drawing);
};
// Shows the values at a moment in every drawing, and at the same moment of the same repeat in those of the other runs.
Series.prototype.look = function (share) {
  this.tell(share);
  var name = this.repeatAt(share), own = this.repeats.get(name);
  this.others().forEach(function (other) {
    var theirs = other.repeats.get(name), at = theirs && own ? alike(own, theirs, share) : -1;
    if (at >= other.from && at <= other.to) other.tell(at);
  });
};
Series.prototype.repeatAt = function (share) {
  var found = null;
  this.repeats.forEach(function (repeat, name) { if (share >= repeat.from) found = name; });
  return found;
};
Series.prototype.tell = function (share) {
  var self = this;
  this.at = share;
  var near = this.drawings.filter(function (drawing) { return drawing.near; });
  var told = near.map(function (drawing) { return self.tellOf(drawing); });
  var repeat = this.repeats.get(this.repeatAt(share));
  this.when.textContent = this.timeText(share) + (repeat ? " · " + language.number + " " + inLanguage(repeat.title) : "");
  this.slider.value = (share - this.from) / (this.to - this.from) * 1000;
  this.slider.setAttribute("aria-valuetext", [this.when.textContent].concat(told.slice(0, 3)).join("; "));
};
// Shows the values at the moment in one drawing, and gives them in words.
Series.prototype.tellOf = function (drawing) {
  var self = this, below = 0;
  drawing.hair.setAttribute("d", "M" + this.at * WIDTH + " 0v" + HEIGHT);
  var found = drawing.lines.map(function (line) {
    var value = valueNear(line.points(), self.at * self.seconds, self.seconds / 50);
    if (value === null) return "–";
    // Where areas stand on one another, what lies between this one and the one below.
    var own = line.stacked ? value - below : value;
    if (line.stacked) below = value;
    return valueText(drawing.svg, own);
  });
  drawing.values.textContent = "";
  found.forEach(function (text, place) {
    var value = document.createElement("b");
    value.textContent = text;
    if (place) drawing.values.append(" · ");
    if (drawing.names[place]) drawing.values.append(drawing.names[place].cloneNode(true), " ");
    drawing.values.append(value);
  });
  return drawing.svg.querySelector("title").textContent + ": " + found.map(function (text, place) {
    var name = drawing.names[place];
    return name ? (name.querySelector("[lang=" + root.lang + "]") || name).textContent + " " + text : text;
  }).join(", ");
};

// What is about to come into the window, of the page or of what scrolls in it.
var NEARBY = { rootMargin: "100% 0px", scrollMargin: "100% 0px" };
// Only what is looked at gets its drawings and its bar: a large report has hundreds of these.
var sections = new IntersectionObserver(function (entries) {
  entries.forEach(function (entry) {
    if (!entry.isIntersecting) return;
    sections.unobserve(entry.target);
    var section = entry.target.querySelector(".series");
    unpackSamples(section.dataset.samples).catch(function () { return null; }).then(function (samples) {
      if (samples) drawCharts(section, samples);
      if (samples && section.querySelector("svg[data-top]")) new Series(section, samples);
      section.classList.add("drawn");
    });
  });
}, NEARBY);
function prepareSeries(within) {
  all(".series", within).forEach(function (section) {
    if (section.prepared) return;
    section.prepared = true;
    if (section.open) sections.observe(section.parentNode);
    else section.addEventListener("toggle", function () { sections.observe(section.parentNode); }, { once: true });
  });
}
all("details.scenario").forEach(function (details) {
  function opened() {
    if (!details.open || printing) return;
    unfold(details);
    prepareSeries(details);
  }
  details.addEventListener("toggle", opened);
  opened();
});

// The address may name a scenario from the beginning.
goTo(state().place);
