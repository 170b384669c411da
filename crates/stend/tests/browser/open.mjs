// How soon large reports are open: for each page named, from the beginning of its loading to the first words on the screen, and to the moment
// at which the page answers: all of it is read and the script has run. Prints medians of several openings, each in a fresh profile.

import { createRequire } from "node:module";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";

const { STEND_BROWSER_MODULES, CHROMIUM } = process.env;
const { chromium } = createRequire(pathToFileURL(`${STEND_BROWSER_MODULES}/`))("playwright-core");
const OPENINGS = 7, MOST = 1000;

const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: CHROMIUM, args });
let above = 0;
for (const file of process.argv.slice(2)) {
  const figures = { "first words": [], answers: [], "a scenario looked into": [] };
  for (let opening = 0; opening < OPENINGS; opening += 1) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.goto(pathToFileURL(file).href, { waitUntil: "load" });
    // After the next frame nothing that loading began is left to do.
    const answers = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0))));
    const paint = await page.evaluate(() => new Promise((done) => new PerformanceObserver((list) => {
      list.getEntriesByName("first-contentful-paint").forEach((entry) => done(entry.startTime));
    }).observe({ type: "paint", buffered: true })));
    const look = await page.evaluate(() => new Promise((done) => {
      const start = performance.now();
      document.querySelector("#results tbody a").click();
      // Until a drawing has its lines, which come from compressed samples.
      const wait = () => {
        const line = document.querySelector("#drill .charts path.line, #drill .charts path.area");
        if (line && line.getAttribute("d")) requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0)); else setTimeout(wait, 5);
      };
      wait();
    }));
    figures["first words"].push(paint);
    figures.answers.push(answers);
    figures["a scenario looked into"].push(look);
    await context.close();
  }
  for (const [what, values] of Object.entries(figures)) {
    const sorted = values.sort((a, b) => a - b), median = sorted[OPENINGS >> 1];
    if (median > MOST) above += 1;
    const range = `${sorted[0].toFixed(0)} … ${sorted.at(-1).toFixed(0)} ms`;
    console.log(`${`${basename(file)}: ${what}, ms`.padEnd(58)} ${median.toFixed(0).padStart(7)} ms   ${range.padStart(22)}   ${MOST} ms${median > MOST ? "  ABOVE" : ""}`);
  }
}
await browser.close();
process.exit(above ? 1 : 0);
