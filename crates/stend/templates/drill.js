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
  if (scenario && drill && drill.showModal) return lookInto(element);
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
  var place = link.getAttribute("href").slice(1);
  if (drill && drill.contains(link)) {
    // Out of the window, to a place on the page.
    pushed = false;
    setState({ place: place });
  } else {
    opener = link;
    pushed = true;
    setState({ place: place }, true);
  }
  goTo(place);
  showLatencies(link);
});
// A figure of a latency leads to where the latencies are drawn that it is taken of.
function showLatencies(link) {
  var row = looked && link.closest("tbody tr"), metric = row && row.querySelector(".metric");
  if (!metric) return;
  all("section.latency", drill).some(function (section) {
    if (JSON.parse(section.dataset.metrics).indexOf(metric.textContent) < 0) return false;
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
    var closedOne = looked;
    putBack();
    if (closedOne && state().place === closedOne.id) {
      if (pushed) history.back(); else setState({ place: "" });
    }
    pushed = false;
    if (opener && opener.isConnected) opener.focus({ preventScroll: true });
    opener = null;
  });
  window.addEventListener("beforeprint", function () { if (drill.open) drill.close(); });
}
window.addEventListener("hashchange", function () {
  if (state().lang) show(state().lang);
  goTo(state().place);
});
