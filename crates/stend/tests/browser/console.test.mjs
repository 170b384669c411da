// The console of `stend serve` in a real browser: sign in, start runs, watch, stop and schedule them, compare two, add users.
//
// run.sh starts it and says where things are. The runs are real ones, of a suite of the program that is scaled down. Their instruments wait
// at a gate, a file, where a run must not end by itself.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

const { STEND, STEND_REAL_PROBE, STEND_BROWSER_MODULES, CHROMIUM } = process.env;
const modules = createRequire(pathToFileURL(`${STEND_BROWSER_MODULES}/`));
const { chromium } = modules("playwright-core");
const axe = readFileSync(modules.resolve("axe-core/axe.min.js"), "utf8");

const patience = 120_000 * Number(process.env.PATIENCE || 1);
const place = mkdtempSync(join(tmpdir(), "stend-console-"));
const gate = join(place, "gate");
let browser, server, env, address, context, page;
const complaints = [];

before(async () => {
  const probe = join(place, "probe");
  const waits = `case "$1 $*" in "cipher "*--mode*) while [ -e '${gate}' ]; do sleep 0.05; done ;; esac`;
  writeFileSync(probe, `#!/bin/sh\n${waits}\nexec '${STEND_REAL_PROBE}' "$@"\n`, { mode: 0o755 });
  env = { ...process.env, STEND_STORE: join(place, "store"), STEND_WORK: join(place, "work"), STEND_LOCK: join(place, "lock"), STEND_PROBE: probe };
  address = await serve(0);
  const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
  browser = await chromium.launch({ executablePath: CHROMIUM, args, timeout: patience });
  context = await browser.newContext({ viewport: { width: 1400, height: 900 }, locale: "en-GB" });
  context.setDefaultTimeout(patience);
  page = await context.newPage();
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => new URL(request.url()).origin === address.origin || complaints.push(request.url()));
});
after(async () => {
  rmSync(gate, { force: true });
  await browser?.close();
  server?.kill("SIGTERM");
  rmSync(place, { recursive: true, force: true });
});

async function serve(port) {
  server = spawn(STEND, ["serve", "--listen", `127.0.0.1:${port}`], { env, stdio: ["ignore", "pipe", "ignore"] });
  const [first] = await once(server.stdout, "data");
  return new URL(String(first).trim());
}
const accessible = async (what) => {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html)}`), [], what);
};
const start = async (fields, button = "form.order button.main") => {
  await page.goto(address.origin);
  await page.selectOption("select[name=suite]", "summit");
  for (const [name, value] of Object.entries({ scale: "0.001", repeats: "1", set: "seconds=0.001", ...fields })) await page.fill(`input[name=${name}]`, value);
  await page.check("input[name=even_if_unfit]");
  await page.click(button);
};
// Of a page that has just come, what is waited for is there before the script of the page has run, and it may yet move the focus.
const seen = async (selector, how) => {
  await page.waitForSelector(selector, how);
  await page.waitForLoadState();
};

test("the token of the address signs one browser in", async () => {
  await page.goto(`${address.origin}/sign-in?token=wrong`);
  await page.click("main button");
  await seen("[role=alert]");
  complaints.length = 0; // That the answer was 403.
  await page.goto(address.href);
  await accessible("to sign in");
  await page.click("main button");
  await seen("form.order");
  await accessible("the first page, with nothing on it");
});

test("what a run is refused for stands beside the form, which keeps what was written", async () => {
  await start({ repeats: "many", label: "kept" });
  await seen("[role=alert]");
  assert.match(await page.textContent("[role=alert]"), /many/);
  assert.equal(await page.inputValue("input[name=label]"), "kept");
  await start({ label: "last" });
  await seen("[role=alert]");
  assert.match(await page.textContent("[role=alert]"), /label/);
  complaints.length = 0; // That the answers were 422.
});

const drawn = () => {
  const images = [...document.querySelectorAll("#samples img")];
  return images.length > 0 && images.every((image) => image.complete && image.naturalWidth > 0 && image.alt !== "");
};

test("a run is started and its repeats come by themselves", async () => {
  writeFileSync(gate, "");
  // Long enough for samples that differ: what stays the same is not drawn.
  await start({ label: "before", set: "seconds=0.3" });
  await page.click("tbody th a >> text=before");
  await seen("#state.running");
  // Of the repeat that is being made, what is sampled is drawn for who looks.
  assert.equal(await page.locator("#samples img").count(), 0);
  await page.click("#samples summary");
  await page.waitForFunction(drawn);
  assert.equal(await page.locator("#repeats tbody tr").count(), 0);
  rmSync(gate);
  await page.waitForFunction(() => document.querySelectorAll("#repeats tbody tr").length >= 12);
  await seen("#state.finished");
  // The page was loaded again, and has them all, each once.
  await page.waitForFunction(() => document.querySelectorAll("#repeats tbody tr").length >= 12);
  const numbers = await page.$$eval("#repeats tbody tr", (rows) => rows.map((row) => Number(row.cells[0].textContent)));
  assert.deepEqual(numbers, numbers.map((_, at) => numbers.length - at));
  await page.click("#samples summary");
  await page.waitForFunction(drawn);
  await accessible("a run");
});

test("a run is stopped and gone on with", async () => {
  writeFileSync(gate, "");
  await start({ label: "after" });
  await page.click("tbody th a >> text=after");
  await seen("#state.running");
  await page.click("form[action$='/stop'] button");
  await seen("#state.stopped");
  rmSync(gate);
  await page.click("form[action$='/resume'] button");
  await seen("#state.finished");
});

test("a server is killed and the next one takes its place, and the viewer misses nothing", async () => {
  writeFileSync(gate, "");
  await start({ label: "" });
  await page.click("#queue tbody th a >> nth=0");
  await seen("#state.running");
  server.kill("SIGKILL");
  await once(server, "exit");
  await serve(address.port);
  rmSync(gate);
  await seen("#state.finished");
  await page.waitForFunction(() => document.querySelectorAll("#repeats tbody tr").length >= 12);
  const numbers = await page.$$eval("#repeats tbody tr", (rows) => rows.map((row) => Number(row.cells[0].textContent)));
  assert.deepEqual(numbers, numbers.map((_, at) => numbers.length - at));
  complaints.length = 0; // That the server was away.
});

test("runs that are picked are compared, in the report's own page, which is walled off", async () => {
  await page.goto(address.origin);
  assert.ok(await page.isDisabled("form.pick button"));
  for (const box of await page.$$("form.pick input[type=checkbox]")) await box.check();
  await page.click("form.pick button");
  await seen("#results");
  assert.match(await page.title(), /before|after/);
  assert.equal(await page.evaluate(() => { try { return document.cookie; } catch { return "walled off"; } }), "walled off");
  await page.goBack();
});

test("several sessions are one order, with a report once all are finished", async () => {
  await start({ label: "", sessions: "5" }, "form.order button[name=preview]");
  await seen("form.order ~ [role=status] pre");
  assert.match(await page.textContent("form.order ~ [role=status] pre"), /5 sessions of/);
  assert.equal(await page.inputValue("input[name=sessions]"), "5");
  // The machines are ticked with the keyboard, and one at least is needed.
  const machine = page.getByRole("group", { name: "Machines" }).getByLabel("local");
  await machine.press("Space");
  await page.fill("input[name=sessions]", "2");
  await page.click("form.order button.main");
  await seen("[role=alert]");
  assert.match(await page.textContent("[role=alert]"), /machines/);
  complaints.length = 0; // That the answer was 422.
  assert.equal(await machine.isChecked(), false);
  await machine.press("Space");
  writeFileSync(gate, "");
  await page.click("form.order button.main");
  await seen("#queue td.running");
  assert.equal(await page.locator("#queue a[href^='/report']").count(), 0);
  await page.click("#queue tbody th a[href^='/batches/'] >> nth=0");
  assert.equal(await page.locator("#queue tbody tr").count(), 2);
  await accessible("an order of several sessions");
  rmSync(gate);
  await page.click("#queue a[href^='/report']");
  await seen("#results");
});

test("what would be done is shown first, and the first page follows what is done", async () => {
  await start({ label: "third" }, "form.order button[name=preview]");
  await seen("form.order ~ [role=status] pre");
  assert.match(await page.textContent("form.order ~ [role=status] pre"), /summit/);
  assert.equal(await page.inputValue("input[name=label]"), "third");
  await accessible("the plan");
  writeFileSync(gate, "");
  await page.click("form.order button.main");
  await seen("#queue td.running");
  await page.evaluate(() => { globalThis.isTheSamePage = true; });
  rmSync(gate);
  await page.waitForFunction(() => document.querySelector("#queue tbody td:nth-of-type(3)").className === "finished");
  await seen("#runs th a >> text=third");
  assert.ok(await page.evaluate(() => globalThis.isTheSamePage), "it was not loaded again");
});

test("what is not part of the program is shown before it starts", async () => {
  const file = join(place, "commands.txt");
  writeFileSync(file, "sleep 0.01\n");
  await page.goto(address.origin);
  await page.click("summary >> text=Own suite");
  await page.selectOption("select[name=own]", "commands");
  await page.setInputFiles("input[data-into=text]", file);
  await page.fill("input[name=label]", "own");
  await page.fill("input[name=repeats]", "1");
  await page.check("input[name=even_if_unfit]");
  await page.click("form.order button.main");
  await seen("#answer pre >> text=sleep 0.01");
  assert.ok(await page.evaluate(() => document.querySelector("#answer").getBoundingClientRect().top < innerHeight), "it is in sight");
  assert.equal(await page.locator("#queue a >> text=own").count(), 0);
  await accessible("what would be started");
  await page.click("form.order button.main");
  await page.click("#queue tbody th a >> text=own");
  await seen("#state.finished");
  await page.click("summary >> text=Order in full");
  await seen("details pre >> text=sleep 0.01");
  await accessible("a run of one's own command");
});

test("who fills in the form while its page is still loading is not disturbed", async () => {
  let comes;
  const held = new Promise((resolve) => { comes = resolve; });
  await page.route("**/live.js", async (route) => { await held; await route.continue(); });
  await page.goto(address.origin, { waitUntil: "commit" });
  await page.click("form.order button[name=preview]");
  const machine = page.getByRole("group", { name: "Machines" }).getByLabel("local");
  await page.waitForSelector("#answer");
  await machine.focus();
  await page.keyboard.down("Space");
  comes();
  await page.waitForLoadState();
  await page.keyboard.up("Space");
  assert.equal(await machine.isChecked(), false);
  await page.unroute("**/live.js");
});

test("a run is scheduled, and taken off again", async () => {
  await start({ label: "", cron: "0 0 29 2 *" });
  await page.waitForURL("**/schedule");
  assert.match(await page.textContent("tbody"), /0 0 29 2 \*.*summit/s);
  await accessible("the schedule");
  await page.click("tbody button");
  await seen("tbody", { state: "detached" });
});

test("users are added, and each sees what the role may", async () => {
  await page.goto(`${address.origin}/access`);
  await accessible("users and tokens");
  const passwords = {};
  const add = async (name, role) => {
    await page.fill("form[action='/access/users'] input[name=name]", name);
    await page.selectOption("form[action='/access/users'] select", role);
    await page.click("form[action='/access/users'] button");
    await seen(`[role=status] pre >> text=${name}`);
    passwords[name] = (await page.textContent("[role=status] pre")).trim().split("\n")[1];
  };
  // With the first user nobody is in who is none.
  await add("admin", "admin");
  await page.goto(address.origin);
  await page.fill("input[name=name]", "admin");
  await page.fill("input[name=password]", passwords.admin);
  await page.click("main button");
  await page.click("a[href='/access']");
  await add("viewer", "viewer");
  await page.click("form[action='/access/tokens'] button");
  await seen("[role=status] pre >> text=Bearer");
  await accessible("users and tokens, with some");
  const signIn = async (name, password) => {
    await page.click("form[action='/sign-out'] button");
    await page.fill("input[name=name]", name);
    await page.fill("input[name=password]", password);
    await page.click("main button");
  };
  await signIn("viewer", "wrong");
  await seen("[role=alert]");
  complaints.length = 0; // That the answer was 403.
  await page.fill("input[name=password]", passwords.viewer);
  await page.click("main button");
  await seen("#runs tbody");
  assert.equal(await page.locator("form.order, #queue button, a[href='/journal']").count(), 0);
  await page.click("tbody th a >> nth=0");
  await seen("#repeats tbody tr");
  assert.equal(await page.locator(".actions button").count(), 0);
  await signIn("admin", passwords.admin);
  await page.click("a[href='/journal']");
  await seen("#entries");
  assert.match(await page.textContent("#entries"), /admin.*viewer/s);
  await accessible("the journal");
  await page.click("nav.choice a >> text=Runs");
  await seen("nav.choice a[aria-current] >> text=Runs");
});

test("in Russian, on a telephone, and in the dark", async () => {
  await page.goto(address.origin);
  await page.click("button[data-language=ru]");
  await seen("html[lang=ru]");
  await page.setViewportSize({ width: 375, height: 800 });
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await accessible(`Russian, ${colorScheme}`);
  }
  for (const path of ["/", "/machines/local", "/references", "/references/vostok-2020", "/rigs", "/schedule", "/journal", "/access"]) {
    await page.goto(`${address.origin}${path}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} is not wider than the screen`);
    await accessible(path);
  }
  await page.goto(address.origin);
  await page.click("tbody th a >> nth=0");
  await seen("#repeats tbody tr");
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nor is a run's page");
});

test("nothing complained, and nothing came from elsewhere", () => assert.deepEqual(complaints, []));
