// The drawings of single metrics, made when a scenario is looked into: the page holds what they are beside their points.

function escaped(text) {
  return text.replace(/[&<>"']/g, function (character) { return "&#" + character.charCodeAt(0) + ";"; });
}
// A text is one for all languages, or a list of one for each.
function eachText(text, markup) {
  return text.map(function (said, place) { return markup(LANGUAGES[place].code, escaped(said)); }).join("");
}
function phrase(text) {
  return typeof text === "string" ? escaped(text)
    : eachText(text, function (code, said) { return '<span lang="' + code + '">' + said + "</span>"; });
}
function attributes(text, name) {
  return typeof text === "string" ? "" : eachText(text, function (code, said) { return " " + name + code + '="' + said + '"'; });
}
function inFirst(text) { return typeof text === "string" ? text : text[0]; }
function inLanguage(text) {
  return typeof text === "string" ? text : text[LANGUAGES.indexOf(language)];
}
function spoken(text) {
  return escaped(inLanguage(text));
}

function chartMarkup(chart, bands) {
  var id = chart.id, readout = chart.readout;
  var names = chart.lines.length < 2 ? [] : chart.lines.map(function (line, place) {
    return line.name ? ' <span class="key k' + place + '">' + phrase(line.name) + "</span>" : "";
  });
  return '<figure class="chart"><figcaption><b>' + phrase(chart.title) + "</b>" + names.join("") + '<br><span class="quiet">' + phrase(chart.caption) + "</span></figcaption>"
    + '<div class="bands" aria-hidden="true">' + bands.filter(function (band) { return band.label; }).map(function (band) {
      return '<span class="' + band.class + '" style="left:' + band.percent + '%">' + escaped(band.label) + "</span>";
    }).join("") + "</div>"
    + '<div class="plot"><svg viewBox="0 0 4000 1000" preserveAspectRatio="none" data-bottom="' + readout.bottom + '" data-top="' + readout.top
    + '" data-divisor="' + readout.divisor + '" data-suffix="' + escaped(inFirst(readout.suffix)) + '"' + attributes(readout.suffix, "data-suffix-") + (readout.logarithmic ? " data-log" : "")
    + ' role="img" aria-labelledby="' + id + 't" aria-describedby="' + id + 'd">'
    + '<title id="' + id + 't"' + attributes(chart.title, "data-") + ">" + spoken(chart.title) + '</title><desc id="' + id + 'd"' + attributes(chart.caption, "data-") + ">" + spoken(chart.caption) + "</desc>"
    + bands.map(function (band) {
      return '<rect class="band ' + band.class + '" x="' + band.left + '" width="' + band.width + '" height="1000"><title' + attributes(band.title, "data-") + ">" + spoken(band.title) + "</title></rect>";
    }).join("")
    + chart.ticks.map(function (tick) { return '<path class="rule" d="M0 ' + tick[0] * 10 + 'h4000"/>'; }).join("")
    + chart.lines.map(function (line, place) { return '<path class="line k' + place + '"/>'; }).join("") + "</svg>"
    + chart.ticks.map(function (tick) { return '<span class="tick" style="top:' + tick[0] + '%">' + phrase(tick[1]) + "</span>"; }).join("")
    + '</div><div class="time" aria-hidden="true"><span>0</span><span>' + phrase(chart.length) + "</span></div></figure>";
}

// Puts a run's drawings where they belong, without their lines.
function drawCharts(section, header) {
  [["instrument", true], ["machine", false]].forEach(function (one) {
    var place = section.querySelector(".charts." + one[0]);
    if (place) place.innerHTML = header.charts.filter(function (chart) { return chart.instrument === one[1]; }).map(function (chart) { return chartMarkup(chart, header.bands); }).join("");
  });
}
