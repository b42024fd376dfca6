// The experiment as people meet it: by keyboard and by touch, with a reload, a dead server, a phone.
// FAULTLENS is the program's path, CHROMIUM the browser's.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "../chromium.mjs";
import { durations, observe } from "./observer.mjs";
import { Study, table } from "./server.mjs";

const DESKTOP = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
// A name that would be markup if anybody took it for that.
const CHOICES = ["stop", "no <b>stop</b>"];
let browser;
let study;

before(async () => {
  // Two batches for one person, and every version wanted once.
  study = new Study("--choices", CHOICES.join(","), "--fault", "contrast,gaussian_noise", "--images", "36", "--answers", "1");
  await study.start(2);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await study?.end();
});

/** A window on somebody's link; what went wrong in it must be nothing. */
async function open(link, options) {
  const context = await browser.newContext(options);
  await context.addInitScript(observe);
  const page = await context.newPage();
  const wrong = [];
  const home = new URL(link).origin;
  page.on("request", (request) => {
    const from = new URL(request.url());
    if (from.origin !== home && from.protocol !== "blob:") wrong.push(`asks for ${request.url()}`);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(message.text());
  });
  page.on("pageerror", (error) => wrong.push(String(error)));
  const person = { page, context, wrong, sent: [], batch: null };
  page.on("response", async (response) => {
    if (!/\/(step|on)$/.test(response.url()) || !response.ok()) return;
    const { next } = await response.json();
    if (next.phase === "trials") person.batch = next;
  });
  page.on("request", (request) => {
    if (request.url().endsWith("/answer")) person.sent.push(request.postDataJSON());
  });
  await page.goto(link);
  return person;
}

const visible = (page, id) => page.locator(`#${id}:visible`).waitFor();
const asked = (page) => page.locator("#left:enabled").waitFor();
const taken = (page) => page.locator("#left:disabled").waitFor();

/** Which picture is asked about now, by what the server dealt. */
function current(person, at) {
  const { first, pictures } = person.batch;
  return study.stimuli().get(pictures[at - first]);
}

/** What this person says: right in the test and on checks, wrong on every fourth other picture. */
function opinion(stimulus, at) {
  const right = CHOICES.indexOf(stimulus.truth);
  return stimulus.kind === "changed" && at % 4 === 0 ? 1 - right : right;
}

/** Answers pictures `from` to `to` of the batch, and keeps what was said. */
async function answer(person, from, to, choose, said = []) {
  for (let at = from; at < to; at += 1) {
    await asked(person.page);
    const stimulus = current(person, at);
    const choice = opinion(stimulus, at);
    await choose(person.page, choice);
    said.push({ file: stimulus.file, answer: CHOICES[choice] });
    await taken(person.page);
  }
  return said;
}

const byKey = (page, choice) => page.keyboard.press(choice ? "KeyJ" : "KeyF");
const byTouch = (page, choice) => page.locator(choice ? "#right" : "#left").tap();

async function start(page) {
  await page.locator("#start:enabled").click();
  await visible(page, "trial");
}

const everything = [];
let reported = [];
let observed = [];

/** Takes what the observer saw and the page sent since the page was loaded. */
async function times(person) {
  const { frames, shifts, boxes } = await person.page.evaluate(() => {
    const { frames, shifts, boxes } = window.__seen;
    return { frames, shifts, boxes: [...boxes] };
  });
  assert.deepEqual(shifts, [], "something moved");
  assert.equal(boxes.length, 1, `the stage moved: ${boxes}`);
  const seen = durations(frames);
  // An answer that meets a dead server is sent several times.
  const sent = person.sent.splice(0).filter((one, at, all) => one.trial !== all[at - 1]?.trial);
  assert.equal(seen.length, sent.length);
  const off = sent.map(({ said }, at) => Math.abs(said.shown_ms - seen[at]));
  // Where the machine is so busy that frames are skipped, the observer too may come a frame late.
  assert.ok(off.filter((ms) => ms < 1).length >= 0.9 * off.length, `the page is off by ${off}`);
  assert.ok(off.every((ms) => ms < 40), `the page is off by ${off}`);
  reported = [...reported, ...sent.map(({ said }) => said)];
  observed = [...observed, ...seen];
}

test("instructions, the test, and a batch by keyboard with a reload in the middle", { timeout: 240_000 }, async () => {
  const person = await open(study.links[0], DESKTOP);
  const { page } = person;
  await visible(page, "welcome");
  assert.equal(await page.locator("#welcome b.choice-1").textContent(), CHOICES[1]);
  assert.equal(await page.locator("#welcome b b").count(), 0, "a name became markup");
  await page.locator("#agree").click();
  await start(page);
  // Keys before the question do nothing.
  await page.keyboard.press("KeyF");
  for (let at = 0; at < 8; at += 1) {
    await asked(page);
    const right = CHOICES.indexOf(current(person, at).truth);
    // Two wrong ones are forgiven.
    const choice = at < 2 ? 1 - right : right;
    await byKey(page, choice);
    const told = page.locator(`#told.${at < 2 ? "wrong" : "right"}`);
    await told.waitFor();
    assert.match(await told.textContent(), at < 2 ? /^It was: / : /^Right\.$/);
    await page.locator("#told:not(.right):not(.wrong)").waitFor({ state: "attached" });
  }
  await visible(page, "pause");
  await times(person);
  assert.match(await page.locator("#pause-title").textContent(), /You have got it/);
  await page.locator("#on").click();

  await start(page);
  const said = await answer(person, 0, 7, byKey);
  await asked(page);
  assert.equal(await page.locator("#told").textContent(), "What was it?", "the study tells nobody what was right");
  const lost = current(person, 7).file;
  await page.waitForFunction(() => document.getElementById("where").textContent.includes("8 of 20"));
  await page.reload();
  await visible(page, "ready");
  assert.match(await page.locator("#ready-title").textContent(), /^Batch 1 of 2, continued$/);
  assert.equal(person.batch.first, 8);
  assert.ok(!person.batch.pictures.includes(lost), "a picture would be shown twice");
  person.sent.length = 0;
  await start(page);
  await answer(person, 8, 20, byKey, said);
  await visible(page, "pause");
  await times(person);
  assert.equal(said.length, 19);
  everything.push(...said);
  assert.deepEqual(person.wrong, []);
  await person.context.close();
});

test("a batch by touch on a phone, while the server dies and comes back", { timeout: 240_000 }, async () => {
  const person = await open(study.links[0], { ...PHONE, reducedMotion: "reduce", colorScheme: "dark" });
  const { page } = person;
  await visible(page, "pause");
  await page.locator("#on").tap();
  await start(page);
  const said = await answer(person, 0, 5, byTouch);
  await asked(page);
  await study.stop("SIGKILL");
  await answer(person, 5, 6, byTouch, said);
  await page.locator("#trouble:visible").waitFor({ timeout: 60_000 });
  const before = study.journal().length;
  await study.start(2);
  await page.locator("#again").tap();
  await asked(page);
  assert.ok(study.journal().length > before);
  await answer(person, 6, 20, byTouch, said);
  await visible(page, "end");
  assert.match(await page.locator("#end-text").textContent(), /2 batches/);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${wide} pixels stick out`);
  everything.push(...said);
  await times(person);
  const dead = (text) => /ERR_|Failed to load|503|500/.test(text);
  assert.deepEqual(person.wrong.filter((text) => !dead(text)), []);
  await page.reload();
  await visible(page, "end");
  await person.context.close();
});

test("every picture stood for 200 ms, to within one frame", () => {
  assert.equal(reported.length, 8 + 19 - 7 + 20);
  const late = reported.filter(({ shown_ms, frame_ms }) => Math.abs(shown_ms - 200) > frame_ms + 1);
  const frame = reported.map((said) => said.frame_ms).sort((a, b) => a - b)[reported.length >> 1];
  console.log(`${observed.length} pictures seen, ${late.length} of ${reported.length} shown too long; a frame takes ${frame.toFixed(1)} ms`);
  assert.ok(frame > 1 && frame < 34, `a frame takes ${frame} ms`);
  assert.ok(late.length <= reported.length / 4, `${late.length} of ${reported.length} were late`);
  const median = observed.sort((a, b) => a - b)[observed.length >> 1];
  assert.ok(Math.abs(median - 200) <= frame, `they stood for ${median} ms`);
});

test("answers.csv has exactly what was answered, and the run shows people", async () => {
  await study.stop("SIGTERM");
  const stimuli = study.stimuli();
  const wanted = everything.filter(({ file }) => stimuli.get(file).kind !== "easy");
  assert.equal(new Set(wanted.map(({ file }) => stimuli.get(file).image)).size, wanted.length, "two versions of one picture");
  const key = (row) => [row.image, row.fault, row.truth, row.answer, Number(row.visual_change), row.participant].join("|");
  const rows = [...table(study.file("answers.csv")), ...table(study.file("left-out.csv")).filter((row) => row.why === "mistimed")];
  const expected = wanted.map(({ file, answer }) => key({ ...stimuli.get(file), answer, participant: "p001" }));
  assert.deepEqual(rows.map(key).sort(), expected.sort());
  const mistimed = study.journal().filter(({ event, said }) => event === "answered" && Math.abs(said.shown_ms - 200) > said.frame_ms + 1);
  const status = study.status();
  assert.ok((status.left_out.mistimed ?? 0) <= mistimed.length);
  assert.equal(status.answers + (status.left_out.mistimed ?? 0), wanted.length);
  const report = study.run("report", study.file("run"), "--format", "text");
  assert.match(report, /people/);
});

test("large text, a narrow screen and an unknown link", async () => {
  await study.start(2);
  const person = await open(study.links[1], { viewport: { width: 360, height: 740 } });
  const { page } = person;
  await visible(page, "welcome");
  await page.evaluate(() => { document.documentElement.style.fontSize = "200%"; });
  const wide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok((await wide()) <= 0);
  await page.locator("#agree").click();
  await start(page);
  await asked(page);
  assert.ok((await wide()) <= 0);
  for (const id of ["stage", "left", "right"]) {
    const { y, height } = await page.locator(`#${id}`).boundingBox();
    assert.ok(y >= 0 && y + height <= 740, `${id} is out of sight`);
  }
  await person.context.close();
  const context = await browser.newContext();
  const stranger = await context.newPage();
  const reply = await stranger.goto(new URL("/p/0123456789abcdef", study.links[0]).href);
  assert.equal(reply.status(), 403);
  assert.match(await stranger.textContent("main"), /This link is not valid/);
  await stranger.goto(study.invitation);
  await stranger.locator("button").click();
  await visible(stranger, "welcome");
  assert.match(stranger.url(), /\/p\/[0-9a-f]{32}$/);
  await context.close();
});
