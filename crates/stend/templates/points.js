// The points of a run's lines: the page holds them in one text beside its drawings. docs/report-charts.md has the format.

// A promise of the header and the lines, each of which is a function that gives the moments in seconds and the values, broken where a value is
// no number; of null where the browser cannot undo the compression.
function unpackSamples(text) {
  if (!text || typeof DecompressionStream === "undefined") return Promise.resolve(null);
  var bytes = Uint8Array.from(atob(text), function (character) { return character.charCodeAt(0); });
  var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer().then(function (buffer) {
    var length = new DataView(buffer).getUint32(0, true), begin = 4 + length;
    var header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    header.lines = header.counts.map(function (count) {
      var planes = new Uint8Array(buffer, begin, 8 * count), points = null;
      begin += 8 * count;
      return function () { return points = points || pointsOfPlanes(planes, count); };
    });
    return header;
  });
}
function pointsOfPlanes(planes, count) {
  var word = function (plane, place) {
    var byte = function (number) { return planes[(plane + number) * count + place]; };
    return (byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24) >>> 0;
  };
  var times = new Float64Array(count), values = new Float32Array(count), bits = new Uint32Array(values.buffer), moment = 0;
  for (var place = 0; place < count; place++) {
    moment += word(0, place);
    times[place] = moment / 10000;
    bits[place] = word(4, place);
  }
  return { times: times, values: values };
}

// The path of the points between two moments, in units of the canvas: of each column the first, the last, the lowest and the highest (M4).
function finePath(points, axis, from, to, columns) {
  var times = points.times, values = points.values, path = "", open = false, alone = false, column = [], number = null, last = "";
  // As wide as this a point is drawn that stands alone.
  var dash = 16 * (to - from) / axis.seconds;
  var low = 0, high = times.length;
  while (low < high) {
    var middle = (low + high) >> 1;
    if (times[middle] < from) low = middle + 1; else high = middle;
  }
  var ground = function () {
    if (axis.area && open) path += "L" + last + " " + HEIGHT; else if (alone) path += "m" + -dash / 2 + " 0h" + dash;
    alone = false;
  };
  var add = function (place) {
    var value = axis.log ? Math.log10(values[place]) : values[place];
    var x = (times[place] / axis.seconds * WIDTH).toFixed(2);
    var y = Math.min(HEIGHT, Math.max(0, (axis.top - value) / (axis.top - axis.bottom) * HEIGHT)).toFixed(1);
    path += open ? "L" + x + " " + y : "M" + x + " " + (axis.area ? HEIGHT + "L" + x + " " : "") + y;
    alone = !open;
    last = x;
    open = true;
  };
  var flush = function () {
    var lowest = column[0], highest = column[0];
    column.forEach(function (place) {
      if (values[place] < values[lowest]) lowest = place;
      if (values[place] >= values[highest]) highest = place;
    });
    [column[0], lowest, highest, column[column.length - 1]].sort(function (a, b) { return a - b; })
      .filter(function (place, at, list) { return place !== undefined && place !== list[at - 1]; }).forEach(add);
    column = [];
  };
  // One point more on each side, so that lines go on beyond the edges.
  for (var place = Math.max(0, low - 1); place < times.length; place++) {
    var beyond = times[place] > to;
    if (values[place] !== values[place]) {
      flush(); ground(); open = false; number = null;
    } else {
      var its = Math.floor((times[place] - from) / (to - from) * columns);
      if (its !== number) flush();
      number = its;
      column.push(place);
    }
    if (beyond) break;
  }
  flush(); ground();
  return path;
}

// Draws the lines of a drawing with all their points between two shares of the axis; with what the page came with, if it did, where all of it
// is seen. `done` is called if a line changed.
function refine(svg, lines, columns, seconds, from, to, done) {
  var data = svg.dataset, whole = from === 0 && to === 1, changed = false;
  lines.forEach(function (line) {
    var path = line.path;
    if (line.whole === undefined) line.whole = path.getAttribute("d");
    if (!(whole && line.whole) && !line.all) return;
    var axis = { seconds: seconds, bottom: Number(data.bottom), top: Number(data.top), log: "log" in data, area: path.classList.contains("area") };
    var d = line.whole;
    if (!whole || !d) {
      // At first as the caption says it; of a closer look there is more.
      var points = line.all(), few = whole && points.times.length <= 4 * columns;
      d = finePath(points, axis, from * seconds, to * seconds, few ? 1e9 : whole ? columns : 800);
    }
    if (whole) line.whole = d;
    if (path.getAttribute("d") === d) return;
    path.setAttribute("d", d);
    line.points = null;
    changed = true;
  });
  if (changed) done();
}
