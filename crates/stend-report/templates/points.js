// The points of a run's lines: the page holds them in one text beside its drawings. docs/reference/report-charts.md has the format.

// A promise of the header and the lines, each of which is a function that gives the moments in seconds and the values, broken where a value is
// no number; of null where the browser cannot undo the compression. A line is made when it is first asked for: nobody looks at all of them.
function unpackSamples(text) {
  if (!text || typeof DecompressionStream === "undefined") return Promise.resolve(null);
  var stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
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
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  var plain = atob(text), bytes = new Uint8Array(plain.length);
  for (var place = 0; place < plain.length; place++) bytes[place] = plain.charCodeAt(place);
  return bytes;
}
function pointsOfPlanes(planes, count) {
  var words = new Uint32Array(2 * count), times = new Float64Array(count), moment = 0;
  for (var plane = 0; plane < 8; plane++) {
    var begin = plane < 4 ? 0 : count, shift = 8 * (plane & 3), from = plane * count;
    for (var place = 0; place < count; place++) words[begin + place] |= planes[from + place] << shift;
  }
  for (var at = 0; at < count; at++) times[at] = (moment += words[at]) / 10000;
  return { times: times, values: new Float32Array(words.buffer, 4 * count) };
}
// The place of the first point from a moment on.
function firstFrom(times, moment) {
  var low = 0, high = times.length;
  while (low < high) {
    var middle = (low + high) >> 1;
    if (times[middle] < moment) low = middle + 1; else high = middle;
  }
  return low;
}
// The value nearest to a moment; none where nothing was recorded within reach of it.
function valueNear(points, moment, reach) {
  var times = points.times, values = points.values, after = firstFrom(times, moment), before = after - 1;
  // What is no number is not itself.
  while (after < times.length && values[after] !== values[after]) after++;
  while (before >= 0 && values[before] !== values[before]) before--;
  var best = before < 0 || after < times.length && times[after] - moment <= moment - times[before] ? after : before;
  return best < times.length && Math.abs(times[best] - moment) <= reach ? values[best] : null;
}

// The path of the points between two moments, in units of the canvas: of each column the first, the last, the lowest and the highest (M4).
function finePath(points, axis, from, to, columns) {
  var times = points.times, values = points.values, path = "", open = false, alone = false, last = "";
  // As wide as this a point is drawn that stands alone.
  var dash = 16 * (to - from) / axis.seconds;
  // The column that is being read, and of its points the places of those that are drawn.
  var number = 0, first = -1, lowest = 0, highest = 0, end = 0;
  function ground() {
    if (axis.area && open) path += "L" + last + " " + HEIGHT; else if (alone) path += "m" + -dash / 2 + " 0h" + dash;
    alone = open = false;
  }
  function add(place) {
    var value = axis.log ? Math.log10(values[place]) : values[place];
    var x = times[place] / axis.seconds * WIDTH;
    var y = Math.min(HEIGHT, Math.max(0, (axis.top - value) / (axis.top - axis.bottom) * HEIGHT));
    last = axis.coarse ? Math.round(x) : x.toFixed(2);
    y = axis.coarse ? Math.round(y) : y.toFixed(1);
    path += open ? "L" + last + " " + y : "M" + last + " " + (axis.area ? HEIGHT + "L" + last + " " : "") + y;
    alone = !open;
    open = true;
  }
  function flush() {
    if (first < 0) return;
    var one = Math.min(lowest, highest), other = Math.max(lowest, highest);
    add(first);
    if (one > first) add(one);
    if (other > one) add(other);
    if (end > other) add(end);
    first = -1;
  }
  // One point more on each side, so that lines go on beyond the edges.
  for (var place = Math.max(0, firstFrom(times, from) - 1); place < times.length; place++) {
    var value = values[place];
    if (value !== value) {
      flush();
      ground();
    } else {
      var its = Math.floor((times[place] - from) / (to - from) * columns);
      if (its !== number) flush();
      number = its;
      if (first < 0) first = lowest = highest = place;
      if (value < values[lowest]) lowest = place;
      if (value >= values[highest]) highest = place;
      end = place;
    }
    if (times[place] > to) break;
  }
  flush();
  ground();
  return path;
}

// Draws the lines of a drawing between two shares of the axis: of a closer look all that there is; of the whole what the page came with, or as
// much as the caption says.
function refine(svg, lines, columns, seconds, from, to) {
  var data = svg.dataset, whole = from === 0 && to === 1;
  lines.forEach(function (line) {
    var path = line.path;
    if (line.whole === undefined) line.whole = path.getAttribute("d");
    var d = line.whole;
    if (!whole || !d) {
      var axis = {
        seconds: seconds, bottom: Number(data.bottom), top: Number(data.top), log: "log" in data, area: path.classList.contains("area"),
        // A whole unit is less than a pixel; a closer look shows parts of it.
        coarse: whole,
      };
      var points = line.points(), few = whole && points.times.length <= 4 * columns;
      d = finePath(points, axis, from * seconds, to * seconds, few ? 1e9 : whole ? columns : 800);
    }
    if (whole) line.whole = d;
    if (path.getAttribute("d") !== d) path.setAttribute("d", d);
  });
}
