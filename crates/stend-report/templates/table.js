// The table of results: sorting, choosing rows by words and by verdict. Without a script it shows all rows in the suite's order.

var table = byId("results");
if (table) (function () {
  var body = table.tBodies[0];
  var suiteOrder = all("tr", body);
  var heads = all("thead tr:last-child th", table);
  var filter = byId("filter"), minor = byId("minor"), shown = byId("shown"), none = byId("none");
  var verdicts = all("[data-verdict]"), differing = byId("differing");

  // How much a row tells of a difference: better and worse before what is not resolved and what is the same, the largest change first.
  function difference(row) {
    return all(".verdict", row).map(function (verdict) {
      var factor = Number(verdict.closest("td").dataset.key), size = factor > 0 ? Math.abs(Math.log(factor)) : 0;
      var weight = verdict.matches(".better, .worse") ? 2e6 : verdict.matches(".unresolved") ? 1e6 : 0;
      return weight + size;
    }).reduce(function (a, b) { return Math.max(a, b); }, -1);
  }

  // Orders as the address has it: the column's place and d or a; "first" is what differs first; nothing is the suite's order.
  function sort(wanted) {
    if (differing) differing.setAttribute("aria-pressed", String(wanted === "first"));
    var column = parseInt(wanted, 10), order = { a: "ascending", d: "descending" }[wanted.slice(-1)];
    if (!(column >= 0 && heads[column] && heads[column].querySelector("button") && order)) order = "none";
    heads.forEach(function (head, place) {
      if (head.hasAttribute("aria-sort")) head.setAttribute("aria-sort", place === column ? order : "none");
    });
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
    if (wanted === "first") rows.sort(function (a, b) { return difference(b) - difference(a); });
    // A row that is moved loses the focus, so none is moved without need.
    if (rows.some(function (row, place) { return body.rows[place] !== row; })) body.append.apply(body, rows);
  }
  heads.forEach(function (head, column) {
    var button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", function () {
      // Names read from A, figures from the largest.
      var turns = column === 0 ? ["ascending", "descending", "none"] : ["descending", "ascending", "none"];
      var next = turns[(turns.indexOf(head.getAttribute("aria-sort")) + 1) % 3];
      var wanted = next === "none" ? "" : column + next[0];
      sort(wanted);
      setState({ sort: wanted });
    });
  });

  if (differing) differing.addEventListener("click", function () {
    var wanted = differing.getAttribute("aria-pressed") === "true" ? "" : "first";
    sort(wanted);
    setState({ sort: wanted });
  });

  function choose() {
    var words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    var wanted = verdicts.filter(function (button) { return button.getAttribute("aria-pressed") === "true"; })
      .map(function (button) { return button.dataset.verdict; });
    var allMetrics = !minor || minor.checked;
    table.classList.toggle("all", allMetrics);
    var count = 0, of = 0, chosen = {};
    suiteOrder.forEach(function (row) {
      var text = (row.cells[0].textContent + " " + row.cells[1].textContent).toLowerCase();
      var has = function (verdict) { return row.querySelector(".verdict." + verdict); };
      var named = words.every(function (word) { return text.indexOf(word) >= 0; });
      row.hidden = !named || (wanted.length > 0 && !wanted.some(has));
      if (!allMetrics && row.classList.contains("minor")) return;
      of += 1;
      if (named) verdicts.forEach(function (button) { if (has(button.dataset.verdict)) chosen[button.dataset.verdict] = true; });
      if (!row.hidden) count += 1;
    });
    shown.textContent = count + " / " + of;
    none.hidden = count > 0;
    // A verdict that no row has is not there to be chosen; one that is chosen can be let go.
    verdicts.forEach(function (button) {
      button.disabled = !chosen[button.dataset.verdict] && button.getAttribute("aria-pressed") !== "true";
    });
    setState({ q: filter.value, v: wanted.join(","), all: minor && minor.checked ? "1" : "" });
  }
  filter.addEventListener("input", choose);
  if (minor) minor.addEventListener("change", choose);
  verdicts.forEach(function (button) {
    button.addEventListener("click", function () {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      choose();
    });
  });

  // A cell opens what its figure's link opens, but for who is selecting text.
  body.addEventListener("click", function (event) {
    if (event.target.closest("a, button") || !getSelection().isCollapsed) return;
    var cell = event.target.closest("td, th"), link = cell && cell.querySelector("a[href^='#s']");
    if (link) link.click();
  });

  // As the address has it.
  function restore() {
    var parts = state(), wanted = parts.v.split(",");
    filter.value = parts.q;
    if (minor) minor.checked = parts.all !== "";
    verdicts.forEach(function (button) { button.setAttribute("aria-pressed", String(wanted.indexOf(button.dataset.verdict) >= 0)); });
    sort(parts.sort);
    choose();
  }
  restore();
  window.addEventListener("hashchange", restore);
})();

// A forest plot: the lines with the largest changes first, the mean at the end.
all(".forest").forEach(function (forest) {
  var button = forest.querySelector(".largest"), body = forest.querySelector("tbody"), order = all("tr", body);
  var size = function (row) { return row.matches(".mean") ? -1 : Number(row.dataset.size); };
  button.addEventListener("click", function () {
    var largest = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(largest));
    var rows = largest ? order.slice().sort(function (a, b) { return size(b) - size(a); }) : order;
    body.append.apply(body, rows);
  });
});
