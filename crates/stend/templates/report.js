(function () {
  "use strict";
  var root = document.documentElement;
  var all = function (selector, within) { return Array.prototype.slice.call((within || document).querySelectorAll(selector)); };
  var byId = function (id) { return document.getElementById(id); };
  root.classList.add("js");

  // The address's hash holds the place on the page and the language: #s3&lang=ru. Nothing is stored.
  function hash() {
    var parts = { place: "", lang: "" };
    location.hash.slice(1).split("&").forEach(function (part) {
      if (part === "lang=en" || part === "lang=ru") parts.lang = part.slice(5);
      else if (part) parts.place = part;
    });
    return parts;
  }
  function setHash(place, lang) {
    var text = [place, lang && "lang=" + lang].filter(Boolean).join("&");
    try { history.replaceState(null, "", "#" + text); } catch (error) { location.hash = text; }
  }
  function show(lang) {
    root.lang = lang;
    all("[data-switch]").forEach(function (button) { button.setAttribute("aria-pressed", String(button.dataset.switch === lang)); });
    all("[data-en]").forEach(function (element) { element.textContent = element.getAttribute("data-" + lang); });
  }
  var preferred = /^ru\b/i.test(navigator.language || "") ? "ru" : "en";
  show(hash().lang || preferred);
  all("[data-switch]").forEach(function (button) {
    button.addEventListener("click", function () { show(button.dataset.switch); setHash(hash().place, button.dataset.switch); });
  });

  function goTo(place) {
    var element = place && byId(place);
    if (!element) return;
    if (element.tagName === "DETAILS") element.open = true;
    element.scrollIntoView();
    var focus = element.querySelector("summary") || element;
    focus.focus({ preventScroll: true });
  }
  document.addEventListener("click", function (event) {
    var link = event.target.closest && event.target.closest("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    var place = link.getAttribute("href").slice(1);
    setHash(place, hash().lang);
    goTo(place);
  });
  goTo(hash().place);
  window.addEventListener("hashchange", function () {
    if (hash().lang) show(hash().lang);
    goTo(hash().place);
  });

  var table = byId("results");
  if (table) {
    var body = table.tBodies[0];
    var suiteOrder = all("tr", body);
    var heads = all("thead tr:last-child th", table);
    heads.forEach(function (head, column) {
      var button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", function () {
        var order = { none: "descending", descending: "ascending", ascending: "none" }[head.getAttribute("aria-sort")];
        // Names read from A, figures from the largest.
        if (column === 0) order = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
        heads.forEach(function (other) { if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none"); });
        head.setAttribute("aria-sort", order);
        var rows = suiteOrder.slice();
        if (order !== "none") {
          var sign = order === "ascending" ? 1 : -1;
          var key = function (row) { return row.cells[column].dataset.key || ""; };
          rows.sort(function (a, b) {
            var x = key(a), y = key(b);
            if (x === "" || y === "") return (x === "") - (y === "");
            // Of different units none is larger.
            if (column === 2 && a.dataset.unit !== b.dataset.unit) return a.dataset.unit < b.dataset.unit ? -1 : 1;
            return sign * (column === 0 ? x.localeCompare(y) : Number(x) - Number(y));
          });
        }
        rows.forEach(function (row) { body.appendChild(row); });
      });
    });
    var filter = byId("filter");
    filter.addEventListener("input", function () {
      var words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      suiteOrder.forEach(function (row) {
        var text = (row.cells[0].textContent + " " + row.cells[1].textContent).toLowerCase();
        row.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
      });
    });
    var minor = byId("minor");
    if (minor) minor.addEventListener("change", function () { table.classList.toggle("all", minor.checked); });
  }

  function openAll(open) { all("details.scenario").forEach(function (details) { details.open = open; }); }
  if (byId("open")) {
    byId("open").addEventListener("click", function () { openAll(true); });
    byId("close").addEventListener("click", function () { openAll(false); });
  }
  // On paper nothing can be opened.
  var closed = [];
  window.addEventListener("beforeprint", function () {
    closed = all("details:not([open])");
    closed.forEach(function (details) { details.open = true; });
  });
  window.addEventListener("afterprint", function () { closed.forEach(function (details) { details.open = false; }); });
})();
