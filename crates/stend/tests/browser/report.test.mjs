// The report in a real browser, used as a reader uses it: mouse, keyboard, telephone, paper, screen reader.
//
// run.sh starts it and says where things are. The page is made of the sample data of the lab's own tests, two runs and two publications.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { constants, inflateSync } from "node:zlib";

const { STEND_REPORTS, STEND_BROWSER_MODULES, CHROMIUM } = process.env;
const modules = createRequire(pathToFileURL(`${STEND_BROWSER_MODULES}/`));
const { chromium } = modules("playwright-core");
const axe = readFileSync(modules.resolve("axe-core/axe.min.js"), "utf8");
const pageOf = (name) => pathToFileURL(`${STEND_REPORTS}/${name}.html`).href;
const address = pageOf("report");

// Milliseconds that are waited for what must come; PATIENCE times as long where it is known that the machine is slow.
const patience = 120_000 * Number(process.env.PATIENCE || 1);
let browser;
before(async () => {
  // Chromium's own walls cannot be put up by root.
  const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
  browser = await chromium.launch({ executablePath: CHROMIUM, args, timeout: patience });
});
after(() => browser?.close());

// Opens a page as someone's browser is set, does something, and sees that nothing was fetched and nothing complained.
async function reading(settings, use, fragment = "", address = pageOf("report")) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB", ...settings });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const complaints = [];
  const fetched = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => request.url().split("#")[0] !== address && fetched.push(request.url()));
  try {
    await page.goto(address + fragment);
    await use(page);
    assert.deepEqual(complaints, [], "complaints on the console");
    assert.deepEqual(fetched, [], "requests");
  } finally {
    await context.close();
  }
}

const visibleRows = (page) =>
  page.$$eval("#results tbody tr", (rows) => rows.filter((row) => row.checkVisibility()).map((row) => row.cells[0].textContent));
const keysOf = (page, column) =>
  page.$$eval("#results tbody tr", (rows, at) => rows.filter((row) => row.checkVisibility()).map((row) => row.cells[at].dataset.key || ""), column);
const heads = "#results thead tr:last-child th";

// A scenario that the address names is in the window, with the drawings that its script makes of a run's compressed samples.
const lookedInto = async (page, run = 0) => {
  const series = page.locator("#drill .series").nth(run);
  await series.evaluate((details) => { details.open = true; });
  await series.scrollIntoViewIfNeeded();
  await page.waitForFunction((at) => document.querySelectorAll("#drill .series")[at].classList.contains("drawn"), run);
  return series;
};
// What was in the window is back in its place, and the address no longer names it, a moment after the window has gone from sight.
const windowCloses = (page) =>
  page.waitForFunction(() => !document.getElementById("drill").open && !document.getElementById("drill-body").firstElementChild && !/[#&]s\d/.test(location.hash));
// Reads something until it is as it should be: what comes into the window is drawn a moment later.
const until = async (read, holds, what) => {
  for (const deadline = Date.now() + patience; ; ) {
    const value = await read();
    if (holds(value)) return value;
    assert.ok(Date.now() < deadline, `${what}: ${JSON.stringify(value)}`);
    await new Promise((resume) => { setTimeout(resume, 50); });
  }
};
// Drawings get their lines when they come near the window.
const broughtNear = async (figure) => {
  await figure.scrollIntoViewIfNeeded();
  await figure.locator("path[d].line, path[d].area").first().waitFor({ state: "attached" });
};
const drawingOf = (series, title) => series.locator("figure.chart", { has: series.page().locator("figcaption b", { hasText: title }) });
// The parts of the axis that are seen in those drawings of a run that stand in the window, each once.
const partsSeen = (series) => series.locator("svg[data-top]").evaluateAll((all) => [...new Set(all.filter((svg) => {
  const box = svg.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
}).map((svg) => svg.getAttribute("viewBox")))].map((view) => view.split(" ").map(Number)));
const shows = (series, left, width, what) => until(() => partsSeen(series), (parts) => parts.length > 0 &&
  parts.every((part) => Math.abs(part[0] - left) < 0.01 && Math.abs(part[2] - width) < 0.01), what ?? `all drawings show ${width} from ${left} on`);
const showsAll = (series, what) => shows(series, 0, 4000, what ?? "all drawings show the whole");

// The columns that stand before those of other machines: scenario, metric, median, spread, n.
const FIRST_OTHER = 5;

test("it opens without a complaint or a request, in both languages and both colours", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const locale of ["en-GB", "ru-RU"]) {
      await reading({ colorScheme, locale }, async (page) => {
        assert.equal(await page.getAttribute("html", "lang"), locale.slice(0, 2));
        assert.ok((await visibleRows(page)).length > 5);
      });
    }
  }
});

test("the first screen answers in a sentence", async () => {
  await reading({}, async (page) => {
    const box = await page.locator(".answer").first().boundingBox();
    assert.ok(box.y + box.height < 400, "at the top");
    assert.match(await page.locator(".answer").first().innerText(), /is (better|faster) than .* on \d+ of \d+ scenarios/);
    const forest = await page.locator(".forest tbody").first().boundingBox();
    assert.ok(forest.y + forest.height < 900, "all changes are seen on the first screen");
  });
});

test("a column sorts by mouse and by keyboard, and a third press restores the order", async () => {
  await reading({}, async (page) => {
    const original = await visibleRows(page);
    const head = page.locator(heads).nth(FIRST_OTHER);
    await head.getByRole("button").click();
    assert.equal(await head.getAttribute("aria-sort"), "descending");
    const sorted = await keysOf(page, FIRST_OTHER);
    const numbers = sorted.filter((key) => key !== "").map(Number);
    assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
    assert.ok(numbers.length > 3 && numbers[0] > numbers.at(-1), "there is something to sort");
    assert.deepEqual(sorted.slice(numbers.length), sorted.slice(numbers.length).fill(""), "what has no figure comes last");
    await head.getByRole("button").press("Enter");
    assert.equal(await head.getAttribute("aria-sort"), "ascending");
    assert.deepEqual((await keysOf(page, FIRST_OTHER)).filter((key) => key !== "").map(Number), numbers.reverse());
    await page.reload();
    assert.equal(await head.getAttribute("aria-sort"), "ascending", "the address keeps it");
    await head.getByRole("button").press("Space");
    assert.deepEqual(await visibleRows(page), original);
  });
});

test("rows are chosen by words and by verdict, and the address keeps that", async () => {
  await reading({}, async (page) => {
    const rows = await visibleRows(page);
    await page.fill("#filter", "KUZNYECHIK par");
    assert.deepEqual(await visibleRows(page), ["kuznyechik, parallel"]);
    assert.equal(await page.textContent("#shown"), `1 / ${rows.length}`);
    await page.fill("#filter", "");
    const worse = page.locator("[data-verdict=worse]");
    await worse.press("Enter");
    assert.equal(await worse.getAttribute("aria-pressed"), "true");
    const chosen = await visibleRows(page);
    assert.ok(chosen.length > 0 && chosen.length < rows.length);
    const marks = await page.$$eval("#results tbody tr", (all) => all.filter((row) => row.checkVisibility()).map((row) => row.textContent.includes("▼")));
    assert.ok(marks.every(Boolean));
    await page.reload();
    assert.deepEqual(await visibleRows(page), chosen);
    await page.locator("[data-verdict=better]").click();
    assert.ok((await visibleRows(page)).length > chosen.length, "either of two verdicts");
    await page.fill("#filter", "100 % & #");
    assert.deepEqual(await visibleRows(page), []);
    await page.reload();
    assert.equal(await page.inputValue("#filter"), "100 % & #");
    await page.check("#minor");
    assert.match(await page.textContent("#shown"), /^0 \/ \d+$/);
  });
});

test("rows that are the same are chosen, and what differs comes first", async () => {
  await reading({}, async (page) => {
    const original = await visibleRows(page);
    const marks = () => page.$$eval("#results tbody tr", (rows) => rows.filter((row) => row.checkVisibility())
      .map((row) => /[▲▼≈?]/.exec([...row.querySelectorAll(".verdict")].map((one) => one.textContent).join(" "))?.[0] ?? ""));
    const all = await marks();
    const same = page.getByRole("button", { name: "≈ the same" });
    await same.click();
    assert.deepEqual(await marks(), all.filter((mark) => mark === "≈"));
    assert.ok(new URL(page.url()).hash.includes("v=same"));
    await same.click();
    assert.deepEqual(await marks(), all);

    const first = page.getByRole("button", { name: "What differs first" });
    await first.click();
    assert.equal(await first.getAttribute("aria-pressed"), "true");
    const rank = { "▲": 0, "▼": 0, "?": 1, "≈": 2, "": 3 };
    const ranks = (await marks()).map((mark) => rank[mark]);
    assert.deepEqual(ranks, [...ranks].sort((a, b) => a - b), "better and worse, then unresolved, then the same, then what has no verdict");
    assert.notDeepEqual(await visibleRows(page), original);
    const sizes = await page.$$eval("#results tbody tr:not(.minor)", (rows) => rows
      .filter((row) => row.querySelector(".verdict.better, .verdict.worse"))
      .map((row) => Math.abs(Math.log(Number(row.querySelector(".verdict").closest("td").dataset.key)))));
    assert.ok(sizes.length > 2);
    assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a), "the largest change first");
    await page.reload();
    assert.equal(await first.getAttribute("aria-pressed"), "true", "the address keeps it");
    await first.press("Enter");
    assert.deepEqual(await visibleRows(page), original);
  });
});

test("where no difference is sure that is said, of the machines and of the figures", async () => {
  const said = {
    "en-GB": [/^No difference is certain/, /no difference was found in hardware or software/],
    "ru-RU": [/^Надёжных отличий нет/, /ни в аппаратуре, ни в программах отличий не найдено/],
  };
  for (const [locale, [figures, machines]] of Object.entries(said)) {
    await reading({ locale }, async (page) => {
      assert.match(await page.locator(".same-all").innerText(), figures);
      assert.match(await page.locator(".differs").innerText(), machines);
      for (const verdict of ["better", "worse", "same", "unresolved"]) {
        const rows = await page.locator(`#results tbody tr:not(.minor) .verdict.${verdict}`).count();
        assert.equal(await page.locator(`[data-verdict=${verdict}]`).isEnabled(), rows > 0, `${verdict}: ${rows}`);
      }
      assert.ok(await page.locator("[data-verdict=worse]").isDisabled());
      assert.equal(await page.locator("#none").isVisible(), false);
      await page.fill("#filter", "no such name");
      assert.ok(await page.locator("#none").isVisible());
    }, "", pageOf("nothing-differs"));
  }
  await reading({}, async (page) => {
    assert.equal(await page.locator(".same-all").count(), 0, "where something does, it is not");
    assert.match(await page.locator(".differs").innerText(), /kernel command line: none → mitigations=off/);
  });
});

test("figures are weighed by watts and by price, where these are known", async () => {
  await reading({ locale: "ru-RU" }, async (page) => {
    const weighing = page.locator("section", { has: page.locator("h2#weighing") });
    assert.equal(await weighing.locator("table").count(), 2);
    const cells = (table, scenario) => weighing.locator("table").nth(table).locator("tr", { hasText: scenario }).locator("td").allInnerTexts();
    // 412 MB/s at 95 W and for 400 dollars; the other run does 2.41 times as much on the same machine.
    assert.deepEqual(await cells(0, "kuznyechik, parallel"), ["4,34\u00a0МБ/с /\u00a0Вт", "10,5\u00a0МБ/с /\u00a0Вт, × 2,41 (2,39 … 2,43)"]);
    assert.deepEqual(await cells(1, "kuznyechik, parallel"), ["1,03\u00a0МБ/с / USD", "2,48\u00a0МБ/с / USD, × 2,41 (2,39 … 2,43)"]);
    assert.match(await weighing.innerText(), /pc-7: 95\u00a0Вт, the whole machine \(a meter at the socket, 2026-11\)/);
    await page.getByRole("button", { name: "English" }).click();
    assert.deepEqual(await cells(0, "kuznyechik, parallel"), ["4.34 MB/s / W", "10.5 MB/s / W, × 2.41 (2.39 … 2.43)"]);
  });
});

test("the language is switched without reloading, and remembered", async () => {
  await reading({}, async (page) => {
    assert.equal(await page.locator("h2#table").innerText(), "Results");
    await page.getByRole("button", { name: "Русский" }).click();
    assert.equal(await page.locator("h2#table").innerText(), "Результаты");
    // What comes into the page afterwards speaks Russian too.
    await page.locator("#results tbody tr", { hasText: "kuznyechik, parallel" }).first().locator("a.into").first().click();
    await lookedInto(page);
    const titles = await page.$$eval("svg title[data-ru]", (all) => all.map((one) => [one.textContent, one.dataset.ru]));
    assert.ok(titles.length > 10 && titles.every(([shown, russian]) => shown === russian));
    await page.keyboard.press("Escape");
    await page.locator("#open").click();
    const flames = () => page.$$eval(".flames g > title", (all) => all.map((one) => one.textContent));
    assert.ok((await flames()).some((text) => /\d,\d+\u00a0%$/.test(text)) && !(await flames()).some((text) => /\d\.\d+\u00a0%$/.test(text)));
    await page.getByRole("button", { name: "English" }).click();
    assert.ok((await flames()).some((text) => /\d\.\d+\u00a0%$/.test(text)) && !(await flames()).some((text) => /\d,\d+\u00a0%$/.test(text)));
    assert.equal(await page.$$eval("svg title[data-en]", (all) => all.filter((one) => one.textContent !== one.dataset.en).length), 0);
    await page.getByRole("button", { name: "Русский" }).click();
    await page.goto("about:blank");
    await page.goto(address);
    assert.equal(await page.locator("h2#table").innerText(), "Результаты", "without a word of it in the address");
    await page.goto(`${address}#lang=en`);
    await page.reload();
    assert.equal(await page.locator("h2#table").innerText(), "Results", "the address comes first");
  });
});

test("a figure of a latency leads to how long single operations took", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await reading({ colorScheme }, async (page) => {
      const row = page.locator("#results tbody tr", { hasText: "4k rand read, latency" }).first();
      await row.locator("a.into").first().click();
      const section = page.locator("#drill section.latency");
      await section.waitFor();
      assert.ok(await section.evaluate((own) => own === document.activeElement), "it has the focus");
      const seen = () => section.evaluate((own) => {
        const { top } = own.getBoundingClientRect(), window = document.getElementById("drill").getBoundingClientRect();
        return top >= window.top && top < window.top + window.height / 2;
      });
      assert.ok(await seen(), "it is before the reader's eyes");
      const runs = await section.locator("tbody tr").count();
      for (const lines of [".outlines path.line", ".curve path.line"]) assert.equal(await section.locator(lines).count(), runs, lines);
      assert.match(await section.locator("tbody tr").first().innerText(), /10.000 in 10 repeats/);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => axe.run("#drill section.latency"));
      assert.deepEqual(violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id }) => id), []);
      if (process.env.STEND_PICTURES) await page.screenshot({ path: `${process.env.STEND_PICTURES}/latency-${colorScheme}.png` });
    });
  }
});

test("a cell opens what is behind it; Escape, the button and Back close it", async () => {
  await reading({}, async (page) => {
    const drill = page.locator("#drill");
    const cell = page.locator("#results tbody tr", { hasText: "kuznyechik, parallel" }).first().locator("td").nth(FIRST_OTHER - 1);
    // Beside the link, in the cell.
    await cell.click({ position: { x: 4, y: 4 } });
    await drill.waitFor({ state: "visible" });
    assert.equal(await page.textContent("#drill-title"), "kuznyechik, parallel");
    assert.ok(await page.evaluate(() => document.getElementById("drill").contains(document.activeElement)), "the focus is in it");
    await lookedInto(page);
    for (const part of [".reasons li.better", ".dot", ".histogram rect.count", ".interval", "svg .line", ".command pre", ".limit"]) {
      assert.ok((await drill.locator(part).count()) > 0, part);
    }
    assert.match(await drill.locator(".reasons").innerText(), /Better than the base/);
    assert.match(await drill.locator(".command pre").first().innerText(), /^stend-probe cipher --size 64KiB --label 'it'\\''s'$/);
    await page.keyboard.press("Escape");
    await windowCloses(page);
    assert.ok(await cell.locator("a").evaluate((link) => link === document.activeElement), "the focus is where it was");

    await page.keyboard.press("Enter");
    await drill.waitFor({ state: "visible" });
    await page.goBack();
    await windowCloses(page);
    await page.goForward();
    await drill.waitFor({ state: "visible" });
    await page.locator("#drill-close").click();
    await windowCloses(page);
    const homeless = await page.$$eval("details.scenario", (all) => all.filter((one) => !one.querySelector(":scope > .body, :scope > noscript")).length);
    assert.equal(homeless, 0, "what was in the window is where it was");
  });
});

test("a figure of another metric opens the drawings of that metric", async () => {
  await reading({}, async (page) => {
    const drill = page.locator("#drill"), drawings = drill.locator("details.of-metric");
    const openRow = () => page.locator("#results tbody tr.minor", { hasText: "kuznyechik, parallel" }).first().locator("a.into").first().click();
    // Its main figure opens with the main metric's, and the others folded.
    await page.locator("#results tbody tr:not(.minor)", { hasText: "kuznyechik, parallel" }).first().locator("a.into").first().click();
    await drill.waitFor({ state: "visible" });
    assert.equal(await drill.locator("details.of-metric[open]").count(), 0);
    assert.doesNotMatch(page.url(), /metric/);
    await page.keyboard.press("Escape");
    await windowCloses(page);

    await page.check("#minor");
    await openRow();
    const seen = async () => {
      await drawings.first().waitFor();
      assert.ok(await drawings.first().evaluate((own) => own.open && own.querySelector("summary") === document.activeElement));
      assert.equal(await drawings.locator("summary h4").first().innerText(), "Repeats: cycles a byte");
      const place = await drawings.first().evaluate((own) => own.getBoundingClientRect().top - document.getElementById("drill").getBoundingClientRect().top);
      assert.ok(place > 0 && place < 120, `it is the first thing below the window's head: ${place}`);
    };
    await seen();
    const runs = await drawings.first().locator(".panels span").count();
    assert.equal(runs, 2);
    for (const [part, least] of [[".dot", 15], [".interval", 1], [".median", 2], [".histogram rect.count", 4]]) {
      assert.ok((await drawings.first().locator(part).count()) >= least, part);
    }
    assert.match(await drawings.first().locator(".tick").first().innerText(), /cycles\/B/);
    // The values of each repeat stand in the table of repeats.
    await drill.locator("summary[id^=r]").first().click();
    const table = drill.locator("table.repeats").first();
    const column = (await table.locator("thead th").allInnerTexts()).indexOf("cycles a byte");
    assert.match(await table.locator("tbody tr.valid").first().locator("th, td").nth(column).innerText(), /^\d\S* cycles\/B$/);
    // The address has it, until the window is closed.
    await page.reload();
    await seen();
    await page.keyboard.press("Escape");
    await windowCloses(page);
    assert.doesNotMatch(await page.evaluate(() => location.hash), /metric/);
  });
});

test("why a repeat does not count is read without scrolling", async () => {
  for (const width of [375, 1200]) {
    await reading({ viewport: { width, height: 900 } }, async (page) => {
      const drill = page.locator("#drill");
      await page.locator("#results tbody a", { hasText: "pipe write, 32 KiB" }).first().click();
      await drill.locator("summary[id^=r]").first().click();
      const table = drill.locator("table.repeats").first(), row = table.locator("tr.invalid").first(), why = table.locator("tr.why div").first();
      assert.equal(await row.locator("td").first().innerText(), "invalid");
      assert.match(await why.innerText(), /hypervisor/);
      const within = async (what) => {
        const box = await what.boundingBox(), window = await drill.boundingBox();
        return box.x >= window.x && box.x + box.width <= window.x + window.width;
      };
      assert.ok(await within(row.locator("td").first()) && await within(why), `at ${width} px`);
      const lines = await why.evaluate((own) => own.getBoundingClientRect().height / parseFloat(getComputedStyle(own).lineHeight));
      assert.ok(lines <= (width < 600 ? 6 : 2), `${lines} lines`);
      // Whose repeat it is stays where the table is scrolled to its end.
      await table.evaluate((own) => { own.parentNode.scrollLeft = 1e6; });
      assert.ok(await within(row.locator("th")) && await within(why), `at ${width} px, scrolled`);
    });
  }
});

test("values under the pointer have the names of their lines", async () => {
  for (const locale of ["en-GB", "ru-RU"]) {
    await reading({ locale }, async (page) => {
      const scenario = await page.$$eval("#results tbody tr", (rows) => rows.find((row) => row.cells[0].textContent.includes("4k seq read")).querySelector("a").hash);
      await page.evaluate((hash) => { location.hash = hash; }, scenario);
      const series = await lookedInto(page);
      const drawings = series.locator("figure.chart:has(.key)");
      let bare = 0;
      for (const drawing of await drawings.all()) {
        await broughtNear(drawing);
        await series.locator("input[type=range]").evaluate((slider) => { slider.value = 500; slider.dispatchEvent(new Event("input")); });
        const names = await drawing.locator(".key").allInnerTexts();
        const values = await until(() => drawing.locator(".values").innerText(), (text) => /\d|–/.test(text), "values are told");
        const parts = values.split(" · ");
        assert.equal(parts.length, names.length, values);
        names.forEach((name, at) => assert.ok(parts[at].startsWith(name.trim() + " "), `${parts[at]}: ${name}`));
        bare += await drawing.locator(".key:not(:has(span))").count();
      }
      assert.ok(bare > 0, "some names are the same in both languages");
      // The slider says the names too, of the first drawings that are near, each in the page's language alone.
      await broughtNear(drawings.first());
      const slider = series.locator("input[type=range]");
      await slider.press("ArrowRight");
      const spoken = await slider.getAttribute("aria-valuetext");
      const titles = await drawings.evaluateAll((all) => all.map((one) => [one.querySelector("svg > title").textContent,
        [...one.querySelectorAll(".key")].map((key) => key.innerText.trim())]));
      const [title, names] = titles.find(([title]) => spoken.includes(`${title}: `));
      let rest = spoken.slice(spoken.indexOf(`${title}: `) + title.length + 2);
      names.forEach((name) => {
        assert.ok(rest.includes(`${name} `), `${spoken}: ${name}`);
        rest = rest.slice(rest.indexOf(`${name} `) + name.length);
      });
    });
  }
});

test("an address with a scenario opens it", async () => {
  await reading({}, async (page) => {
    await page.locator("#drill").waitFor({ state: "visible" });
    assert.equal(await page.textContent("#drill-title"), "kuznyechik, parallel");
    await page.keyboard.press("Escape");
    await windowCloses(page);
    assert.equal(await page.evaluate(() => location.hash), "#lang=en", "the rest of the address stays");
  }, "#s2&lang=en");
});

test("the values under the pointer and the slider are those that were drawn", async () => {
  await reading({}, async (page) => {
    const series = await lookedInto(page);
    const drawing = series.locator("figure.chart").first();
    await broughtNear(drawing);
    const box = await drawing.locator(".plot").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const when = await series.locator(".when").innerText();
    assert.match(when, /^\d+(\.\d+)? s · No\. \d+/);
    await until(() => series.locator(".values").allInnerTexts(), (shown) => shown.filter((text) => /\d|–/.test(text)).length > 3,
      "the drawings tell their values");
    await series.locator("input[type=range]").focus();
    await page.keyboard.press("Home");
    assert.match(await series.locator(".when").innerText(), /^0\.00 s/);
    for (let step = 0; step < 200; step += 1) await page.keyboard.press("ArrowRight");
    const spoken = await series.locator("input[type=range]").getAttribute("aria-valuetext");
    assert.match(spoken, /^\d+(\.\d+)? s · No\. w?\d+.*: .*\d/, "it is read aloud too");

    // Over the whole axis the least and the most are those that the caption names.
    const temperature = drawingOf(series, "temperature");
    await broughtNear(temperature);
    await temperature.locator(".values b").first().waitFor({ state: "attached" });
    // The browser tells the page that a drawing is near when it gets to it; until then its values stay as they are.
    const { caption, least, most } = await until(() => temperature.evaluate((figure) => {
      const section = figure.closest(".series");
      const slider = section.querySelector("input[type=range]");
      const seen = [];
      for (let at = 0; at <= 1000; at += 1) {
        slider.value = at;
        slider.dispatchEvent(new Event("input"));
        seen.push(parseFloat(figure.querySelector(".values").textContent));
      }
      const finite = seen.filter(Number.isFinite);
      return { caption: figure.querySelector("desc").textContent, least: Math.min(...finite), most: Math.max(...finite) };
    }), (seen) => seen.least < seen.most, "its values follow the slider");
    const [, lowest, highest] = /lowest ([\d.]+) °C, highest ([\d.]+) °C/.exec(caption).map(Number);
    assert.ok(Math.abs(least - lowest) < 0.11 && Math.abs(most - highest) < 0.11, `${least} … ${most}: ${caption}`);
  }, "#s2");
});

test("areas that stand on one another tell their own shares", async () => {
  await reading({}, async (page) => {
    const series = await lookedInto(page);
    const shares = drawingOf(series, "Who used the CPU time");
    await broughtNear(shares);
    await series.locator("input[type=range]").evaluate((slider) => {
      slider.value = 500;
      slider.dispatchEvent(new Event("input"));
    });
    await shares.locator(".values b").nth(1).waitFor();
    const told = (await shares.locator(".values b").allInnerTexts()).map(parseFloat);
    // Of 16 CPUs the load of the sample uses half of one; all of them together 1.1, a tenth more or less.
    assert.ok(Math.abs(told[0] - 3.125) < 0.2, `the load: ${told}`);
    assert.ok(Math.abs(told[1] - 3.75) < 1.5, `the others: ${told}`);
  }, "#s2");
});

test("a part of the axis is seen alone in all drawings of a run, and the whole again", async () => {
  await reading({}, async (page) => {
    const run = await lookedInto(page);
    const drawing = run.locator("figure.chart").first();
    await broughtNear(drawing);
    await showsAll(run);
    await run.locator("[data-zoom=in]").click();
    await shows(run, 1000, 2000);
    await run.locator("[data-zoom=later]").click();
    await shows(run, 2000, 2000, "it ends where the axis ends");
    assert.ok(await run.locator("[data-zoom=later]").isDisabled());
    // What comes into the window later shows the same part.
    const last = run.locator("figure.chart").last();
    await broughtNear(last);
    await shows(run, 2000, 2000, "the last drawing too");
    await run.locator("input[type=range]").press("0");
    await showsAll(run);

    await drawing.scrollIntoViewIfNeeded();
    const box = await drawing.locator(".plot").boundingBox();
    await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await until(() => partsSeen(run), (parts) => parts.length === 1 && Math.abs(parts[0][0] - 1000) < 20 && Math.abs(parts[0][2] - 1000) < 30,
      "what was dragged over");
    await run.locator("[data-zoom=whole]").click();
    await showsAll(run);
  }, "#s2");
});

test("runs beside each other show the same part of the same repeats, and the same moment", async () => {
  // Of the first run eleven repeats of one length, of the second one the first nine of these.
  const LENGTH = 4000 / 11, OTHER = 4000 / 9;
  await reading({}, async (page) => {
    const first = await lookedInto(page, 0);
    await broughtNear(first.locator("figure.chart").first());
    const drag = async (from, to) => {
      const box = await first.locator("figure.chart .plot").first().boundingBox();
      await page.mouse.move(box.x + box.width * from, box.y + 20);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * to, box.y + 20, { steps: 4 });
      await page.mouse.up();
    };
    await showsAll(first);
    await drag(0.25, 0.5);
    const [part] = await until(() => partsSeen(first), (parts) => parts.length === 1 && parts[0][2] < 2000, "what was dragged over");
    // The second run is unpacked when it comes near, and then shows what the first one does.
    const second = await lookedInto(page, 1);
    await broughtNear(second.locator("figure.chart").first());
    await shows(second, part[0] / LENGTH * OTHER, part[2] / LENGTH * OTHER, "as many repeats, of another axis");
    assert.equal(await second.locator(".apart").isVisible(), false);

    // A moment of the second run is the same moment of the same repeat of the first one.
    await second.locator("input[type=range]").evaluate((slider) => {
      slider.value = 500;
      slider.dispatchEvent(new Event("input"));
    });
    const repeat = async (run) => /No\. (\w+)/.exec(await run.locator(".when").innerText())[1];
    assert.equal(await repeat(first), await repeat(second));
    await second.locator("[data-zoom=whole]").click();
    await showsAll(second);

    // The second run has nothing of the first one's last repeats.
    await first.locator("figure.chart").first().scrollIntoViewIfNeeded();
    await showsAll(first, "the whole of one is the whole of the other");
    await drag(0.85, 0.98);
    await second.scrollIntoViewIfNeeded();
    await second.locator(".apart").waitFor({ state: "visible" });
    assert.match(await second.locator(".apart").innerText(), /none of the repeats/);
    await showsAll(second);
    await first.locator("input[type=range]").press("0");
    await second.locator(".apart").waitFor({ state: "hidden" });
  }, "#s2");
});

test("a closer look is drawn of all points, at their values", async () => {
  await reading({}, async (page) => {
    const series = await lookedInto(page);
    const line = series.locator(".charts path.line").first();
    await broughtNear(series.locator(".charts figure.chart").first());
    const whole = await line.getAttribute("d");
    for (let times = 0; times < 3; times += 1) await series.locator("[data-zoom=in]").click();
    assert.notEqual(await line.getAttribute("d"), whole);

    const { text, data, d, view, seconds, number } = await line.evaluate((path) => {
      const svg = path.ownerSVGElement, section = path.closest(".series");
      return {
        text: section.dataset.samples, data: { ...svg.dataset }, d: path.getAttribute("d"), seconds: Number(section.dataset.seconds),
        view: svg.getAttribute("viewBox").split(" ").map(Number),
        // Lines of the timeline come before those of the charts.
        number: section.querySelectorAll(".timeline path.line, .timeline path.area").length,
      };
    });
    // As docs/reference/report-charts.md says it, read by another program than the page's.
    const samples = inflateSync(Buffer.from(text, "base64"));
    const length = samples.readUInt32LE();
    const header = JSON.parse(samples.subarray(4, 4 + length));
    assert.equal(header.charts[0].lines[0].number, number);
    const begin = header.counts.slice(0, number).reduce((sum, one) => sum + 8 * one, 4 + length);
    const count = header.counts[number];
    const word = (plane, place) => Buffer.from([0, 1, 2, 3].map((byte) => samples[begin + (plane + byte) * count + place]));
    const expected = [];
    for (let place = 0, moment = 0; place < count; place += 1) {
      moment += word(0, place).readUInt32LE() / 10000;
      const value = word(4, place).readFloatLE();
      const share = (data.top - ("log" in data ? Math.log10(value) : value)) / (data.top - data.bottom);
      if (!Number.isNaN(value)) expected.push([moment / seconds * 4000, share * 1000]);
    }
    const within = ([x]) => x > view[0] + 0.01 && x < view[0] + view[2] - 0.01;
    const drawn = [...d.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]).filter(within);
    assert.ok(drawn.length > 10, `${drawn.length} points are seen`);
    assert.equal(drawn.length, expected.filter(within).length);
    expected.filter(within).forEach(([x, y], at) => {
      assert.ok(Math.abs(drawn[at][0] - x) < 0.01 && Math.abs(drawn[at][1] - y) < 0.1, `${drawn[at]} is to be ${x}, ${y}`);
    });

    await series.locator("[data-zoom=whole]").click();
    assert.equal(await line.getAttribute("d"), whole);
  }, "#s2");
});

test("on a telephone the page is as wide as the screen, and verdicts are seen", async () => {
  for (const locale of ["en-GB", "ru-RU"]) {
    await reading({ viewport: { width: 375, height: 700 }, hasTouch: true, isMobile: true, locale }, async (page) => {
      const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(await wide(), 375);
      const verdict = await page.locator("#results .verdict").first().boundingBox();
      assert.ok(verdict.x >= 0 && verdict.x + verdict.width <= 375, "without scrolling the table");
      await page.locator("#results tbody a").first().tap();
      await page.locator("#drill").waitFor({ state: "visible" });
      assert.equal(await wide(), 375);
      assert.ok(await page.evaluate(() => { const drill = document.getElementById("drill"); return drill.scrollWidth <= drill.clientWidth; }));
      await page.locator("#drill-close").tap();
      await page.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
      assert.equal(await wide(), 375);
    });
  }
});

test("on paper are the scenarios that are open, light, and as wide as the sheet", async () => {
  const print = (page, what) => page.evaluate((event) => window.dispatchEvent(new Event(event)), what);
  // A4 across, less its margins, in CSS pixels.
  await reading({ viewport: { width: 1032, height: 700 }, colorScheme: "dark" }, async (page) => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await print(page, "beforeprint");
    assert.equal(await page.locator("details.scenario[open]").count(), 0, "nobody opened one");
    assert.ok(await page.getByText("On paper are those scenarios that were open").isVisible());
    await print(page, "afterprint");
    await page.emulateMedia({ media: "screen" });
    await page.locator("#open").click();
    // The browser tells the page that something was opened when it gets to it.
    await until(() => page.locator("details.scenario > noscript").count(), (count) => count === 0, "all that was folded is there");
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await print(page, "beforeprint");
    assert.ok(await page.locator("details.scenario .timeline svg path.line").first().isVisible(), "with the drawings of storage under load");
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    assert.ok(await page.locator("table.repeats").first().isVisible(), "and with their repeats");
    for (const hidden of [".jobs", ".constant", "details.of-metric:not([open])", ".each-repeat"]) {
      assert.equal(await page.locator(`${hidden}:visible`).count(), 0, hidden);
    }
    assert.equal(await page.locator(".controls:visible, dialog:visible").count(), 0);
    assert.equal(await page.$$eval("button", (all) => all.filter((one) => one.getClientRects().length > 0).length), 0, "buttons on paper");
    assert.equal(await page.locator(heads).first().innerText(), "Scenario", "their words in heads stay");
    const cut = await page.$$eval("table", (all) => all.filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1)
      .map((one) => `${one.id || one.className}: ${one.getBoundingClientRect().right}`));
    assert.deepEqual(cut, [], "tables wider than the sheet");
    const broken = await page.$$eval("#results .into, #results .verdict, #results td:not(.base) .factor", (all) => all.filter((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return one.checkVisibility() && new Set([...range.getClientRects()].filter((box) => box.width > 1).map((box) => Math.round(box.top))).size > 1;
    }).map((one) => one.textContent));
    assert.deepEqual(broken, [], "figures broken over lines");
    await print(page, "afterprint");
    const folded = await page.locator("details.scenario[open] details[open]").count();
    assert.equal(folded, 0, "what was opened for paper is folded again");
  });
});

test("the drawings of a run that loads storage alone are open", async () => {
  const opened = async (page) => {
    await page.waitForFunction(() => !document.querySelector("details.scenario > noscript"));
    assert.equal(await page.locator("details.scenario:not([open])").count(), 0);
    assert.ok(await page.locator("details.scenario .timeline svg path.line").first().isVisible());
  };
  await reading({}, async (page) => {
    await opened(page);
    await page.locator("details.scenario .series").first().scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelector("details.scenario .series").classList.contains("drawn"));
  }, "", pageOf("storage"));
});

test("a scenario in the window is printed, and is in the window again", async () => {
  await reading({}, async (page) => {
    await page.locator("#drill").waitFor({ state: "visible" });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    assert.deepEqual(await page.$$eval("details.scenario[open]", (all) => all.map((one) => [one.id, Boolean(one.querySelector(".body"))])), [["s2", true]]);
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    await page.locator("#drill").waitFor({ state: "visible" });
    assert.equal(await page.locator("#drill .body").count(), 1);
    assert.equal(await page.locator("details.scenario[open]").count(), 0);
    assert.match(page.url(), /#s2$/);
    await page.keyboard.press("Escape");
    await windowCloses(page);
    assert.equal(await page.locator("#s2 > .body").count(), 1);
  }, "#s2");
});

// The text of each sheet of a PDF as Chromium writes it: glyphs in the order in which they are painted, by the tables of characters that their
// fonts have. Without spaces, because where a line ends there is none, and with ligatures taken apart.
function textOfSheets(pdf) {
  const objects = new Map([...pdf.toString("latin1").matchAll(/(\d+) 0 obj\s([\s\S]*?)\sendobj/g)].map(([, number, body]) => [number, body]));
  const streamOf = (number) => {
    const body = objects.get(number);
    const packed = body.slice(body.indexOf("stream\n") + 7, body.lastIndexOf("endstream"));
    return inflateSync(Buffer.from(packed, "latin1"), { finishFlush: constants.Z_SYNC_FLUSH }).toString("latin1");
  };
  const character = (hex) => String.fromCodePoint(parseInt(hex, 16));
  const tables = new Map();
  const tableOf = (font) => {
    if (tables.has(font)) return tables.get(font);
    const table = new Map();
    const map = streamOf(/\/ToUnicode (\d+) 0 R/.exec(objects.get(font))[1]);
    for (const [, list] of map.matchAll(/beginbfchar\s([\s\S]*?)endbfchar/g)) {
      for (const [, glyph, text] of list.matchAll(/<(\w+)> <(\w+)>/g)) table.set(glyph.toUpperCase(), character(text));
    }
    for (const [, list] of map.matchAll(/beginbfrange\s([\s\S]*?)endbfrange/g)) {
      for (const [, first, last, text] of list.matchAll(/<(\w+)> <(\w+)> <(\w+)>/g)) {
        for (let at = parseInt(first, 16); at <= parseInt(last, 16); at += 1) {
          table.set(at.toString(16).toUpperCase().padStart(4, "0"), String.fromCodePoint(parseInt(text, 16) + at - parseInt(first, 16)));
        }
      }
    }
    tables.set(font, table);
    return table;
  };
  return [...objects.values()].filter((body) => /\/Type \/Page\s/.test(body)).map((body) => {
    const fonts = new Map([...(/\/Font <<([\s\S]*?)>>/.exec(body)?.[1] ?? "").matchAll(/\/(\w+) (\d+) 0 R/g)].map(([, name, font]) => [name, font]));
    let table = new Map(), text = "";
    for (const [, font, glyphs] of streamOf(/\/Contents (\d+) 0 R/.exec(body)[1]).matchAll(/\/(\w+) [\d.]+ Tf|<([0-9A-Fa-f]+)>/g)) {
      if (font) table = tableOf(fonts.get(font));
      else text += glyphs.match(/.{4}/g).map((glyph) => table.get(glyph.toUpperCase()) ?? "").join("");
    }
    return text.replace(/\s/g, "").normalize("NFKC");
  });
}

test("on paper the head of a table stands on every sheet that the table goes over", async () => {
  await reading({}, async (page) => {
    const sheets = textOfSheets(await page.pdf({ format: "A4", landscape: true }));
    const places = (words) => sheets.flatMap((text, place) => (text.includes(words) ? [place] : []));
    // The first figure, and the legend, which follows the last one.
    const [first] = places("1.24GB/s"), [legend] = places("thesamewithinδ");
    const headed = places("Otherruns");
    assert.ok(headed.length > 1, "the table goes over several sheets");
    assert.deepEqual(headed, headed.map((_, at) => first + at), "one after the other, from the first row on");
    assert.ok(legend === headed.at(-1) || legend === headed.at(-1) + 1, "to the last row");
    for (const place of headed) assert.match(sheets[place], /ScenarioMedianSpreadn/, "with the words of its buttons");
  });
});

test("light and dark follow the reader's system, and nothing moves", async () => {
  const papers = [];
  for (const colorScheme of ["light", "dark"]) {
    await reading({ colorScheme, reducedMotion: "reduce" }, async (page) => {
      papers.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
      await page.locator("#results tbody a").first().click();
      assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
    });
  }
  assert.notEqual(papers[0], papers[1]);
});

test("without a script there is a plain table with all rows, and all parts can be opened", async () => {
  await reading({ javaScriptEnabled: false }, async (page) => {
    assert.ok(await page.locator("#results tbody tr.minor").first().isVisible());
    assert.equal(await page.locator(".controls:visible").count(), 0);
    const scenario = page.locator("details.scenario").nth(2);
    await scenario.locator("> summary").click();
    assert.ok(await scenario.locator("svg").first().isVisible());
    for (const part of [".answer", ".differs", "#weighing", ".questions dd"]) assert.ok(await page.locator(part).first().isVisible(), part);
    for (const part of [".reasons li.better", ".command pre", ".figures td"]) assert.ok(await scenario.locator(part).first().isVisible(), part);
    await page.setViewportSize({ width: 375, height: 700 });
    for (const part of await page.locator("main > *, details.scenario[open] .body > *").all()) {
      const box = await part.boundingBox();
      assert.ok(!box || box.x + box.width <= 375, "on a telephone too");
    }
  });
});

test("what others wrote is text, also without the page's policy", async () => {
  const hostile = pageOf("hostile");
  await reading({ bypassCSP: true }, async (page) => {
    const scenarios = await page.locator("details.scenario").count();
    assert.ok(scenarios > 5);
    await page.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
    for (let place = 0; place < scenarios; place++) {
      await page.evaluate((at) => { location.hash = `#s${at}`; }, place);
      await page.locator("#drill").waitFor({ state: "visible" });
      assert.match(await page.textContent("#drill-title"), /<script>ran=1/);
      for (const one of await page.locator("#drill .series").all()) await one.scrollIntoViewIfNeeded();
      await page.keyboard.press("Escape");
      await windowCloses(page);
    }
    assert.equal(await page.evaluate(() => typeof window.ran), "undefined");
    const ran = await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.ran = 1";
      document.body.append(script);
      return window.ran;
    });
    assert.equal(ran, 1, "a script would have run");
  }, "", hostile);
});

test("who listens is told verdicts in words, the names of tables, and that something is copied", async () => {
  const words = { "en-GB": ["better", "worse", "the same", "unresolved"], "ru-RU": ["лучше", "хуже", "одинаково", "не решено"] };
  for (const [locale, said] of Object.entries(words)) {
    await reading({ locale, permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
      const classes = ["better", "worse", "same", "unresolved"];
      const spoken = await page.$$eval("#results td .verdict", (all) => all.filter((one) => one.checkVisibility()).map((one) => [one.classList[1], one.innerText]));
      assert.ok(spoken.length > 4);
      for (const [verdict, text] of spoken) assert.ok(text.startsWith(said[classes.indexOf(verdict)]), `${verdict}: ${text}`);
      await page.locator("#results tbody a", { hasText: "kuznyechik, parallel" }).first().click();
      const drill = page.locator("#drill");
      await drill.waitFor({ state: "visible" });
      const nameless = await page.$$eval("table, .scroll[tabindex]", (all) => all.filter((one) => {
        const label = document.getElementById(one.getAttribute("aria-labelledby"));
        return !(label && label.textContent.trim()) || one.matches(".scroll") && one.getAttribute("role") !== "group";
      }).map((one) => one.outerHTML.slice(0, 120)));
      assert.deepEqual(nameless, []);
      await drill.locator("button.copy").first().click();
      const status = drill.locator(".command [role=status]").first();
      await until(() => status.textContent(), (text) => text === { "en-GB": "Copied", "ru-RU": "Скопировано" }[locale], "it is said");
    });
  }
});

test("axe finds nothing serious", async () => {
  const open = lookedInto;
  const unfold = async (page) => page.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
  const cases = [
    ["light", {}, async () => {}, ""],
    ["dark, everything open", { colorScheme: "dark" }, unfold, ""],
    ["looked into", {}, open, "#s3"],
    ["looked into, dark, Russian, narrow", { colorScheme: "dark", locale: "ru-RU", viewport: { width: 375, height: 700 } }, open, "#s3"],
  ];
  for (const [name, settings, use, fragment] of cases) {
    await reading(settings, async (page) => {
      await use(page);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      const serious = violations.filter((one) => ["serious", "critical"].includes(one.impact))
        .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
      assert.deepEqual(serious, [], name);
      const order = violations.filter(({ id }) => ["landmark-unique", "heading-order", "region", "scrollable-region-focusable"].includes(id));
      assert.deepEqual(order.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`), [], name);
    }, fragment);
  }
});
