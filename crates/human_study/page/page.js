// The experiment, screen by screen. The server knows where one stands; a reload goes on from there.
import { Refused, answer, begin, goOn, picture, step } from "./wire.js";
import { Stage, frame, period, rest } from "./stage.js";

const FIXATION_MS = 500;
const FEEDBACK_MS = 900;
const KEYS = { KeyF: 0, ArrowLeft: 0, KeyJ: 1, ArrowRight: 1 };
const $ = (id) => document.getElementById(id);
const screens = ["welcome", "ready", "trial", "pause", "end", "trouble"];
const stage = new Stage($("stage"));
const buttons = [$("left"), $("right")];

function show(name) {
  for (const screen of screens) $(screen).hidden = screen !== name;
  scrollTo(0, 0);
  $("main").focus({ preventScroll: true });
}

const say = (id, text) => { $(id).textContent = text; };

/** Waits for one of some buttons; says which. */
const pressed = (...ids) =>
  new Promise((done) => {
    const over = new AbortController();
    for (const id of ids) {
      $(id).addEventListener("click", () => { over.abort(); done(id); }, { signal: over.signal });
    }
  });

const shown = () =>
  new Promise((done) => {
    if (!document.hidden) return done();
    const look = () => {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", look);
      done();
    };
    document.addEventListener("visibilitychange", look);
  });

/** Waits for the choice, by key or button; when, and which. */
function choice() {
  return new Promise((done) => {
    const over = new AbortController();
    const chosen = (which, when) => {
      over.abort();
      buttons[which].classList.add("chosen");
      for (const button of buttons) button.disabled = true;
      done([which, when]);
    };
    buttons.forEach((button, which) => {
      button.disabled = false;
      button.addEventListener("click", (event) => chosen(which, event.timeStamp), { signal: over.signal });
    });
    addEventListener("keydown", (event) => {
      const which = KEYS[event.code];
      if (which === undefined || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      chosen(which, event.timeStamp);
    }, { signal: over.signal });
  });
}

function told(truth, right) {
  $("told").className = right ? "told right" : "told wrong";
  say("told", right ? "Right." : `It was: ${truth}`);
}

function untold() {
  $("told").className = "told";
  say("told", "");
  for (const button of buttons) {
    button.classList.remove("chosen");
    button.disabled = true;
  }
}

/** One picture: cross, picture, noise, choice; answered on the server's disk when this is over. */
async function trial(now, number, image, frames) {
  const { batch } = now.next;
  stage.fit();
  const [sheet, noise] = [stage.prepare(image), stage.noise()];
  await begin(batch, number);
  await frame();
  stage.cross();
  await rest(FIXATION_MS);
  const flash = await stage.flash(sheet, noise, now.shown_ms, now.mask_ms, frames.ms);
  frames.seen(flash.gaps);
  $("told").className = "told asked";
  say("told", "What was it?");
  const [which, when] = await choice();
  say("told", "");
  const said = { choice: which, millis: Math.max(0, when - flash.up), shown_ms: flash.shownMs, frame_ms: frames.ms };
  const { truth } = await kept(() => answer(batch, number, said));
  if (truth !== null) {
    told(truth, truth === now.choices[which]);
    await rest(FEEDBACK_MS);
  }
  untold();
}

/** Keeps trying while somebody wants to: an answer that was given must not get lost. */
async function kept(work) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Refused) throw error;
      const back = screens.find((name) => !$(name).hidden);
      say("trouble-text", "The server cannot be reached. Your last answer is still here; try again when the line is back.");
      show("trouble");
      await pressed("again");
      show(back);
    }
  }
}

/** The screen's rhythm, measured before the batch and watched during it. */
class Frames {
  #gaps = [];
  constructor(ms) { this.ms = ms; }
  seen(gaps) {
    this.#gaps = [...this.#gaps, ...gaps].slice(-60);
    if (this.#gaps.length < 20) return;
    const sorted = [...this.#gaps].sort((a, b) => a - b);
    this.ms = sorted[sorted.length >> 1];
  }
}

async function trials(now) {
  const { purpose, first, pictures, all } = now.next;
  const test = purpose === "qualification";
  const round = `Batch ${now.rounds + 1}${now.of > 1 ? ` of ${now.of}` : ""}`;
  const name = test ? "Test" : round;
  say("ready-title", test ? "First, a short test" : first > 0 ? `${round}, continued` : round);
  const left = pictures.length === 1 ? "One picture" : `${pictures.length} pictures`;
  say("ready-text", test
    ? `${left} to get used to the pace. You are told each time whether you were right.`
    : `${left}. Look at the cross, then choose.`);
  say("where", "");
  $("start").disabled = true;
  show("ready");
  const images = [];
  for (const file of pictures) {
    say("loading", `Getting the pictures ready: ${images.length} of ${pictures.length}`);
    images.push(await picture(file));
  }
  const frames = new Frames(await period());
  say("loading", "");
  $("start").disabled = false;
  $("start").focus({ preventScroll: true });
  await pressed("start");
  $("bar").max = all;
  untold();
  show("trial");
  for (let at = 0; at < images.length; at += 1) {
    if (document.hidden) await shown();
    const number = first + at;
    $("bar").value = number;
    say("where", `${name} · ${number + 1} of ${all}`);
    await trial(now, number, images[at], frames);
  }
  $("bar").value = all;
  return step();
}

async function pause(now) {
  const { after, passed } = now.next;
  say("where", now.rounds > 0 ? `${now.rounds} of ${now.of} batches done` : "");
  const test = after === "qualification";
  say("pause-title", !test ? "Time for a rest" : passed ? "You have got it" : "Not quite yet");
  say("pause-text", !test
    ? "Look out of the window for a moment. Your answers are safe; you can also close this page and come back with the same link."
    : passed
      ? "The test is done. From here on you are not told whether you were right, and some pictures are hard to make out: that is what the study is about."
      : "Too many were wrong, or too fast. Take the test once more, and look at the cross before each picture.");
  $("enough").hidden = test;
  show("pause");
  if ((await pressed("on", "enough")) === "on") return kept(goOn);
  end(now, "You can come back with the same link at any time and go on.");
  return null;
}

function end(now, note) {
  const rounds = now.rounds === 1 ? "one batch" : `${now.rounds} batches`;
  say("where", "");
  say("end-text", now.next.phase === "end" && !now.next.passed
    ? "The pictures were too fast this time, and that is fine: they are for many people. There is nothing more to do here."
    : now.rounds > 0
      ? `You answered ${rounds}. All of it is recorded.`
      : "There is nothing left to answer in this study.");
  say("end-note", note);
  show("end");
}

async function play() {
  let now = await kept(step);
  for (const [which, name] of now.choices.entries()) {
    for (const place of document.querySelectorAll(`.choice-${which}`)) place.textContent = name;
  }
  say("size", now.batch);
  say("test-size", now.qualification);
  while (now) {
    switch (now.next.phase) {
      case "welcome":
        show("welcome");
        await pressed("agree");
        now = await kept(goOn);
        break;
      case "trials": now = await trials(now); break;
      case "pause": now = await pause(now); break;
      default:
        end(now, "You can close this page.");
        now = null;
    }
  }
}

async function run() {
  for (;;) {
    try {
      return await play();
    } catch (error) {
      say("where", "");
      say("trouble-text", error instanceof Refused && error.status === 409
        ? "This study is open in another window, or went on there. Go on here?"
        : error instanceof Refused && error.status === 403
          ? "This link is not known any more."
          : "The server cannot be reached, or a picture cannot be shown.");
      show("trouble");
      await pressed("again");
    }
  }
}

run();
