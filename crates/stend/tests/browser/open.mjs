// How soon large reports are open: for each page named, from the beginning of its loading to the first words on the screen, and to the moment
// at which the page answers: all of it is read and the script has run. Prints medians of several openings, each in a fresh profile.

import { createRequire } from "node:module";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";

const { STEND_BROWSER_MODULES, CHROMIUM } = process.env;
const { chromium } = createRequire(pathToFileURL(`${STEND_BROWSER_MODULES}/`))("playwright-core");
const OPENINGS = 7;
// What is measured, and the milliseconds to be below.
const MOST = { "first words": 1000, answers: 1000, "a scenario looked into": 500, "a closer look": 500 };

const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: CHROMIUM, args });
let above = 0;
for (const file of process.argv.slice(2)) {
  const figures = Object.fromEntries(Object.keys(MOST).map((what) => [what, []]));
  for (let opening = 0; opening < OPENINGS; opening += 1) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.goto(pathToFileURL(file).href, { waitUntil: "load" });
    // After the next frame nothing that loading began is left to do.
    const answers = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0))));
    const paint = await page.evaluate(() => new Promise((done) => new PerformanceObserver((list) => {
      list.getEntriesByName("first-contentful-paint").forEach((entry) => done(entry.startTime));
    }).observe({ type: "paint", buffered: true })));
    // From a click until what is on the screen of a scenario's drawings has its lines, which come from compressed samples; a reader who goes
    // straight to them would wait so long.
    const linesAfter = (click) => page.evaluate((what) => new Promise((done) => {
      const start = performance.now();
      const before = new Map([...document.querySelectorAll("#drill .charts path.line")].map((line) => [line, line.getAttribute("d")]));
      document.querySelector(what).click();
      const drawings = () => [...document.querySelectorAll("#drill .charts .chart")].filter((chart) => {
        const box = chart.getBoundingClientRect();
        return box.bottom > 0 && box.top < innerHeight;
      });
      const hasLines = (chart) => [...chart.querySelectorAll("path.line")].every((line) => (line.getAttribute("d") || null) !== (before.get(line) || null));
      const wait = () => {
        document.querySelectorAll("#drill .series").forEach((series) => { series.open = true; });
        const place = document.querySelector("#drill .charts .chart") || document.querySelector("#drill .series");
        if (place && !drawings().length) place.scrollIntoView();
        const seen = drawings();
        if (seen.length && seen.every(hasLines)) requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0)); else setTimeout(wait, 5);
      };
      wait();
    }), click);
    const look = await linesAfter("#results tbody a");
    const closer = await linesAfter("#drill .series.drawn [data-zoom=in]");
    figures["first words"].push(paint);
    figures.answers.push(answers);
    figures["a scenario looked into"].push(look);
    figures["a closer look"].push(closer);
    await context.close();
  }
  for (const [what, values] of Object.entries(figures)) {
    const sorted = values.sort((a, b) => a - b), median = sorted[OPENINGS >> 1];
    const most = MOST[what];
    if (median > most) above += 1;
    const range = `${sorted[0].toFixed(0)} … ${sorted.at(-1).toFixed(0)} ms`;
    console.log(`${`${basename(file)}: ${what}, ms`.padEnd(58)} ${median.toFixed(0).padStart(7)} ms   ${range.padStart(22)}   ${most} ms${median > most ? "  ABOVE" : ""}`);
  }
}
await browser.close();
process.exit(above ? 1 : 0);
