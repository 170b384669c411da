// A scenario looked into: what stands in the scenario's own part of the page is moved into a window over it, and back when that is closed.
// The address names the scenario, so the back button closes it too.

var drill = byId("drill");
var looked = null; // The scenario whose contents are in the window.
var pushed = false; // Whether closing should go back to where it was opened from.
var opener = null; // What had the focus before.

function lookInto(details) {
  if (looked === details) return;
  putBack();
  unfold(details);
  looked = details;
  byId("drill-title").textContent = details.querySelector("summary h3").textContent;
  byId("drill-body").appendChild(details.querySelector(".body"));
  if (!drill.open) drill.showModal();
  drill.scrollTop = 0;
  byId("drill-title").focus();
  prepareSeries(drill);
}
function putBack() {
  if (!looked) return;
  looked.appendChild(byId("drill-body").firstElementChild);
  looked = null;
}
// Goes to the place that the address names.
function goTo(place) {
  var element = place && byId(place);
  var scenario = element && element.matches("details.scenario");
  if (scenario && drill && drill.showModal) {
    lookInto(element);
    return showMetric(state().metric);
  }
  if (drill && drill.open) drill.close();
  if (!element) return;
  if (scenario) { unfold(element); element.open = true; }
  element.scrollIntoView();
  (element.querySelector("summary") || element).focus({ preventScroll: true });
}
document.addEventListener("click", function (event) {
  var link = event.target.closest && event.target.closest("a[href^='#']");
  if (!link) return;
  event.preventDefault();
  var place = link.getAttribute("href").slice(1), metric = link.dataset.metric || "";
  if (drill && drill.contains(link)) {
    // Out of the window, to a place on the page.
    pushed = false;
    setState({ place: place, metric: metric });
  } else {
    opener = link;
    pushed = true;
    setState({ place: place, metric: metric }, true);
  }
  goTo(place);
  if (!metric) showLatencies();
});
// What is behind a figure that is not the scenario's main one: the drawings of its metric, which are folded until then.
function showMetric(name) {
  var drawings = looked && all(".of-metric", drill).filter(function (one) { return one.dataset.metric === name; })[0];
  if (!drawings) return;
  drawings.open = true;
  drawings.scrollIntoView();
  (drawings.querySelector("summary") || drawings).focus({ preventScroll: true });
}
// A main figure that is a latency leads to where the latencies are drawn that it is taken of.
function showLatencies() {
  var main = looked && drill.querySelector("section.of-metric");
  if (!main) return;
  all("section.latency", drill).some(function (section) {
    if (JSON.parse(section.dataset.metrics).indexOf(main.dataset.metric) < 0) return false;
    section.scrollIntoView();
    section.focus({ preventScroll: true });
    return true;
  });
}
if (drill) {
  byId("drill-close").addEventListener("click", function () { drill.close(); });
  // Beside the window.
  drill.addEventListener("click", function (event) { if (event.target === drill) drill.close(); });
  drill.addEventListener("close", function () {
    // It was closed for printing, and is open again.
    if (drill.open) return;
    var closedOne = looked;
    putBack();
    if (closedOne && state().place === closedOne.id) {
      if (pushed) history.back(); else setState({ place: "", metric: "" });
    }
    pushed = false;
    if (opener && opener.isConnected) opener.focus({ preventScroll: true });
    opener = null;
  });
}
// A scenario that is in the window is printed in its own place, and is in the window again afterwards. Gives what was opened for that.
var printed = null;
function leaveWindow() {
  if (!looked) return [];
  printed = looked;
  putBack();
  drill.close();
  if (printed.open) return [];
  printed.open = true;
  return [printed];
}
function returnToWindow() {
  if (printed) lookInto(printed);
  printed = null;
}
window.addEventListener("hashchange", function () {
  if (state().lang) show(state().lang);
  goTo(state().place);
});
