// The whole page: small helpers, the state that the address keeps, the language, and print.

var root = document.documentElement;
var all = function (selector, within) { return Array.prototype.slice.call((within || document).querySelectorAll(selector)); };
var byId = function (id) { return document.getElementById(id); };
root.classList.add("js");

// The address's fragment holds the state, so that a link or a bookmark brings it back: #s3&metric=p99&lang=ru&q=pipe&v=worse&sort=2d&all
// What stands alone is a place on the page; the scripts of the table say what the other parts mean.
var KEYS = ["metric", "lang", "q", "v", "sort", "all"];
function state() {
  var parts = { place: "" };
  KEYS.forEach(function (key) { parts[key] = ""; });
  location.hash.slice(1).split("&").forEach(function (part) {
    var equals = part.indexOf("="), key = equals < 0 ? part : part.slice(0, equals), value = equals < 0 ? "1" : part.slice(equals + 1);
    if (KEYS.indexOf(key) < 0) { if (part && equals < 0) parts.place = part; return; }
    // A broken escape is text that nobody wrote here.
    try { parts[key] = decodeURIComponent(value); } catch (error) { parts[key] = ""; }
  });
  return parts;
}
// Keeps what changes names, and the rest as it was. A new entry of the history is made only for what the back button should undo.
function setState(changes, push) {
  var parts = state();
  Object.keys(changes).forEach(function (key) { parts[key] = changes[key]; });
  var text = [parts.place].concat(KEYS.map(function (key) {
    return parts[key] && (key === "all" ? key : key + "=" + encodeURIComponent(parts[key]));
  })).filter(Boolean).join("&");
  var address = "#" + text;
  if (address === (location.hash || "#")) return;
  try { history[push ? "pushState" : "replaceState"](null, "", address); } catch (error) { location.hash = text; }
}

// The language: the address's, else the one chosen last, else the browser's.
function remembered() {
  try { return localStorage.getItem("stend-language"); } catch (error) { return null; }
}
function remember(lang) {
  try { localStorage.setItem("stend-language", lang); } catch (error) { /* where nothing may be kept, the address has it */ }
}
var language = LANGUAGES[0];
function show(code) {
  var before = language;
  language = LANGUAGES.find(function (one) { return one.code === code; }) || LANGUAGES[0];
  var changed = language !== before;
  root.lang = language.code;
  all("[data-switch]").forEach(function (button) { button.setAttribute("aria-pressed", String(button.dataset.switch === root.lang)); });
  // The page is written in the first one, so at first there is nothing to change for it.
  if (!changed) return;
  speak(document);
  document.dispatchEvent(new Event("languagechange"));
}
function speak(within) {
  all("[data-" + LANGUAGES[0].code + "]", within).forEach(function (element) { element.textContent = element.getAttribute("data-" + root.lang); });
  // A flame graph has thousands of tooltips that differ in one character.
  all(".flames g > title", within).forEach(function (title) {
    title.textContent = title.textContent.replace(/[.,](\d+\u00a0%)$/, language.point + "$1");
  });
  all("[data-title-" + LANGUAGES[0].code + "]", within).forEach(function (element) { element.title = element.getAttribute("data-title-" + root.lang); });
}
show(state().lang || remembered() || (navigator.language || "").toLowerCase().split("-")[0]);
all("[data-switch]").forEach(function (button) {
  button.addEventListener("click", function () {
    show(button.dataset.switch);
    remember(button.dataset.switch);
    setState({ lang: button.dataset.switch });
  });
});

// What is behind a scenario stands in the page as text, which costs nothing until somebody looks at it; a reader without scripts has it at once.
// Its texts in the other languages stand in the page once for all scenarios, by number.
var texts = null;
function inEachLanguage(html) {
  texts = texts || all("template.texts").map(function (template) { return template.innerHTML.split("\n"); });
  var each = function (number, first, markup) {
    return LANGUAGES.map(function (one, place) { return markup(one.code, place ? texts[place - 1][number] : first); }).join("");
  };
  var span = function (code, text) { return '<span lang="' + code + '">' + text + "</span>"; };
  var attribute = function (code, text) { return " data-" + code + '="' + text.replace(/"/g, "&quot;") + '"'; };
  return html.replace(/<i data-r=(\d+)>(.*?)<\/i>/g, function (found, number, first) {
    return each(number, first, span);
  }).replace(/ data-r=(\d+)>([^<]*)/g, function (found, number, first) {
    return each(number, first, attribute) + ">" + first;
  });
}
function unfold(details) {
  var folded = details.querySelector("noscript");
  if (!folded) return;
  folded.outerHTML = inEachLanguage(folded.textContent);
  if (language !== LANGUAGES[0]) speak(details);
}

// Tells who listens. A reader of screens heeds a change of what was there before, and of a window over the page only what is in it.
function announce(where, words) {
  var status = where.querySelector("[role=status]") || document.createElement("span");
  status.className = "unseen";
  status.setAttribute("role", "status");
  status.textContent = "";
  where.appendChild(status);
  setTimeout(function () { status.textContent = words; }, 100);
}
document.addEventListener("click", function (event) {
  var button = event.target.closest && event.target.closest("button.copy");
  if (!button) return;
  var text = button.parentNode.querySelector("pre");
  getSelection().selectAllChildren(text);
  var done = function () {
    button.classList.add("done");
    announce(button.parentNode, button.querySelector(".after [lang=" + root.lang + "]").textContent);
    setTimeout(function () { button.classList.remove("done"); }, 1500);
  };
  // Where the clipboard is out of reach, the command is selected, and a key copies it.
  if (navigator.clipboard) navigator.clipboard.writeText(text.textContent).then(done, function () {});
});

function openAll(open) { all("details.scenario").forEach(function (details) { details.open = open; }); }
if (byId("open")) {
  byId("open").addEventListener("click", function () { openAll(true); });
  byId("close").addEventListener("click", function () { openAll(false); });
}
// On paper nothing can be opened: of a scenario that is open all is, but what would fill sheets and says little there.
var closed = [], printing = false;
window.addEventListener("beforeprint", function () {
  printing = true;
  closed = leaveWindow();
  var folded = all("details.scenario[open] details:not([open])").filter(function (details) { return !details.matches(".each-repeat, .of-metric"); });
  closed = closed.concat(folded);
  folded.forEach(function (details) { details.open = true; });
});
window.addEventListener("afterprint", function () {
  closed.forEach(function (details) { details.open = false; });
  closed = [];
  printing = false;
  returnToWindow();
});
