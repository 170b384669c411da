"use strict";
// Without this script the pages show what there was when they were loaded.

for (const button of document.querySelectorAll("[data-language]"))
  button.addEventListener("click", () => {
    document.cookie = `stend_language=${button.dataset.language}; path=/; SameSite=Strict; max-age=31536000`;
    location.reload();
  });

const pick = document.querySelector("form.pick");
if (pick) {
  const button = pick.querySelector("button");
  pick.addEventListener("change", () => {
    const picked = [...pick.querySelectorAll(":checked")].map((box) => box.dataset.run);
    // The newest stands first in the list, and the oldest is the base.
    pick.elements.runs.value = picked.reverse().join(",");
    button.disabled = picked.length < button.dataset.least;
  });
}

const table = document.querySelector("#repeats");
if (table) {
  const said = (phrase) => (Array.isArray(phrase) ? phrase[table.dataset.place] : phrase);
  const cell = (row, text, kind) => {
    const made = row.insertCell();
    made.textContent = text;
    if (kind) made.className = kind;
  };
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
    line.textContent = `${line.dataset.repeats}: ${progress.repeats} · ${line.dataset.valid}: ${progress.valid}`;
    line.dataset.state = progress.state;
  });
  source.addEventListener("job", (event) => {
    const state = document.querySelector("#state");
    if (state && !state.classList.contains(event.data)) location.reload();
  });
  source.addEventListener("end", () => source.close());
}
