"use strict";
// Without this script the pages show what there was when they were loaded.

for (const button of document.querySelectorAll("[data-language]"))
  button.addEventListener("click", () => {
    document.cookie = `stend_language=${button.dataset.language}; path=/; SameSite=Strict; max-age=31536000`;
    location.reload();
  });

// Parts of a page that are shown anew when the lab has changed; not while somebody picks among them.
const parts = [...document.querySelectorAll("[data-live]")];
if (parts.length > 0) {
  let busy = false, again = false;
  const renew = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href);
      if (answer.redirected) location.reload();
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-live]")) {
        const newer = fresh.getElementById(part.id);
        const isPicked = part.querySelector(":checked, :focus") !== null;
        if (!newer || isPicked || newer.innerHTML === part.innerHTML) continue;
        const at = part.scrollTop;
        part.replaceWith(newer);
        // Of many machines those stay in sight that were.
        newer.scrollTop = at;
      }
    } finally {
      // In a large fleet something changes all the time.
      setTimeout(() => {
        busy = false;
        if (again) { again = false; renew(); }
      }, 1000);
    }
  };
  // How far a run is changes without the queue.
  setInterval(() => document.querySelector("[data-live] progress") && renew(), 5000);
  // The button that was pressed would keep its part as it is until the answer comes.
  document.addEventListener("submit", (event) => event.target.closest("[data-live]") && document.activeElement.blur());
  // The first one says that it listens: what has changed since the page was made, or while a connection was lost, is seen now.
  new EventSource("/api/v1/changes").addEventListener("change", renew);
}

// What a virtual machine shows changes without the page.
for (const screen of document.querySelectorAll("[data-screen]"))
  setInterval(() => {
    if (document.hidden || !screen.complete) return;
    const now = new URL(screen.src);
    now.searchParams.set("at", Date.now());
    screen.src = now;
  }, 2000);

const suites = document.querySelector("form.order select[name=suite]");
if (suites) {
  const hint = () => { suites.form.elements.set.placeholder = suites.selectedOptions[0].dataset.variables; };
  suites.addEventListener("change", hint);
  hint();
}

// What the form came to stands above or below it, perhaps out of sight. Who has begun to fill in the form meanwhile is left there.
if (document.activeElement === document.body) document.querySelector("#answer")?.focus();

for (const file of document.querySelectorAll("[data-into]"))
  file.addEventListener("change", async () => {
    const fields = file.form.elements, chosen = file.files[0];
    if (!chosen) return;
    fields[file.dataset.into].value = await chosen.text();
    if (file.dataset.name) fields[file.dataset.name].value = chosen.name;
  });

document.addEventListener("change", (event) => {
  const pick = event.target.closest("form.pick");
  if (!pick) return;
  const button = pick.querySelector("button");
  const picked = [...pick.querySelectorAll(":checked")].map((box) => box.dataset.run);
  // The newest stands first in the list, and the oldest is the base.
  pick.elements.runs.value = picked.reverse().join(",");
  button.disabled = picked.length < button.dataset.least;
});

const upload = document.querySelector("form.upload");
if (upload)
  upload.addEventListener("submit", async (event) => {
    event.preventDefault();
    const said = upload.querySelector("output");
    const answer = await fetch("/api/v1/imports", { method: "POST", body: upload.elements.file.files[0] });
    const told = await answer.json();
    said.className = answer.ok ? "" : "problem";
    said.textContent = answer.ok ? `✓ ${told.said.join("; ")}` : `✗ ${told.detail}`;
    if (answer.ok) upload.reset();
  });

const table = document.querySelector("#repeats");
if (table) {
  const said = (phrase) => (Array.isArray(phrase) ? phrase[table.dataset.place] : phrase);
  const cell = (row, text, kind) => {
    const made = row.insertCell();
    made.textContent = text;
    if (kind) made.className = kind;
  };
  const samples = document.querySelector("#samples");
  let shown = "", drawing = false;
  // Drawn only for who looks.
  const draw = async () => {
    if (!samples.open || drawing || document.hidden) return;
    drawing = true;
    try {
      const answer = await fetch(`${samples.dataset.place}?has=${shown}`);
      if (!answer.ok) return;
      const { of, drawings } = await answer.json();
      if (of === shown) return;
      shown = of;
      const place = samples.querySelector("div");
      while (place.children.length > drawings.length) place.lastChild.remove();
      drawings.forEach(({ title, svg }, at) => {
        const image = place.children[at] ?? place.appendChild(new Image());
        image.alt = title;
        image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
      });
    } finally {
      drawing = false;
    }
  };
  samples.addEventListener("toggle", draw);
  const drawn = setInterval(draw, 5000);
  const source = new EventSource(table.dataset.events);
  source.addEventListener("repeat", (event) => {
    const repeat = JSON.parse(event.data);
    const row = table.tBodies[0].insertRow(0);
    const side = repeat.side === undefined ? "" : ` (${repeat.side})`;
    const why = said(repeat.why);
    const word = repeat.phase === "warmup" ? table.dataset.warmup : table.dataset[repeat.outcome];
    cell(row, repeat.sequence + 1, "figure");
    cell(row, repeat.scenario + side);
    cell(row, said(repeat.value), "figure");
    cell(row, why ? `${word}: ${why}` : word, repeat.outcome);
  });
  source.addEventListener("progress", (event) => {
    const progress = JSON.parse(event.data);
    const line = document.querySelector("#progress");
    line.textContent = `${line.dataset.repeats}: ${progress.repeats} / ${progress.planned} · ${line.dataset.valid}: ${progress.valid}`;
    const bar = document.querySelector("#bar");
    bar.hidden = progress.state === "finished";
    // A repeat that does not count is made again.
    [bar.max, bar.value] = [Math.max(progress.planned, progress.repeats, 1), progress.repeats];
    line.dataset.state = progress.state;
  });
  source.addEventListener("job", (event) => {
    const state = document.querySelector("#state");
    if (state && !state.classList.contains(event.data)) location.reload();
  });
  source.addEventListener("end", () => {
    source.close();
    // What was stored last is drawn with the server's pause between two drawings.
    setTimeout(() => clearInterval(drawn), 60000);
  });
}
