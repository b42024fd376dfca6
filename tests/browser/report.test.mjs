// A report as people meet it: in a browser, offline, in both themes, on a phone, on paper, by
// keyboard. REPORT is the page's path, CHROMIUM the browser's.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { launch } from "../chromium.mjs";

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 360, height: 740 };
const path = resolve(process.env.REPORT ?? "report.html");
const address = pathToFileURL(path).href;
let browser;

before(async () => {
  assert.ok(existsSync(path), `there is no report at ${path}`);
  browser = await launch();
});
after(() => browser?.close());

/** Opens the report without a network, all sections unfolded unless told otherwise; what went wrong meanwhile must be nothing. */
async function open(options, check) {
  const { folded: _, ...own } = options;
  const context = await browser.newContext({ viewport: DESKTOP, ...own });
  const wrong = [];
  await context.route("**/*", (route) => {
    if (route.request().url() === address) return route.continue();
    wrong.push(`asks for ${route.request().url().slice(0, 80)}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(message.text());
  });
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("dialog", (dialog) => { wrong.push("a dialog"); dialog.dismiss(); });
  try {
    await page.goto(address);
    if (!options.folded) await page.evaluate(() => { for (const one of document.querySelectorAll("details.part")) one.open = true; });
    await check(page, context);
    assert.deepEqual(wrong, []);
  } finally {
    await context.close();
  }
}

/** The least contrast of any text with its background, and whose it is. */
const leastContrast = () => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  let least = { ratio: Infinity };
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.closest("script, style, title, desc")) continue;
    const style = getComputedStyle(element);
    const ink = rgba(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < least.ratio) least = { ratio, text: element.textContent.slice(0, 40), of: element.className?.baseVal ?? element.className };
  }
  return least;
};

const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

test("light and dark are readable, and the button changes them", async () => {
  const papers = [];
  for (const colorScheme of ["light", "dark"]) {
    await open({ colorScheme }, async (page) => {
      papers.push(await paper(page));
      const least = await page.evaluate(leastContrast);
      assert.ok(least.ratio >= 4.5, `${colorScheme}: ${JSON.stringify(least)}`);
      await page.click("#theme");
      assert.notEqual(await paper(page), papers.at(-1));
      const other = await page.evaluate(leastContrast);
      assert.ok(other.ratio >= 4.5, `${colorScheme}, changed: ${JSON.stringify(other)}`);
    });
  }
  assert.notEqual(papers[0], papers[1]);
});

test("the first look is short: verdict, requirements and what is worst, the rest folded", async () => {
  for (const [viewport, most] of [[DESKTOP, 6000], [PHONE, 9000]]) {
    await open({ viewport, folded: true }, async (page) => {
      const found = await page.evaluate(() => ({
        height: document.documentElement.scrollHeight,
        open: document.querySelectorAll("details[open]").length,
        verdict: document.querySelector(".verdict")?.getBoundingClientRect().bottom ?? 0,
        cards: [...document.querySelectorAll("#examples .cards")].map((one) => one.children.length)[0] ?? 0,
      }));
      assert.ok(found.height <= most, `${viewport.width} px wide, the page is ${found.height} px high`);
      assert.ok(found.verdict < viewport.height && found.open === 0 && found.cards <= 10, JSON.stringify(found));
    });
  }
});

test("a link of the contents opens its section, and a button opens all", async (t) => {
  await open({ folded: true }, async (page) => {
    const closed = page.locator("section:has(> details.part:not([open]))").first();
    if (!(await closed.count())) return t.skip("no section is folded");
    const id = await closed.getAttribute("id");
    await page.locator(`nav a[href="#${id}"]`).click();
    await page.waitForFunction((id) => document.querySelector(`#${id} > details`).open, id);
    // Pages scroll there smoothly.
    await page.waitForFunction((id) => Math.abs(document.getElementById(id).getBoundingClientRect().top - 100) < 100, id);
    // The contents stay in sight.
    assert.equal(await page.locator("nav").evaluate((one) => one.getBoundingClientRect().top), 0);
    await page.click("#open-all");
    assert.equal(await page.locator("details.part:not([open])").count(), 0);
    await page.click("#open-all");
    assert.equal(await page.locator("details.part[open]").count(), 0);
  });
});

test("on a phone only boxes scroll sideways, and charts stay legible", async () => {
  await open({ viewport: PHONE, isMobile: true, hasTouch: true }, async (page) => {
    const found = await page.evaluate(() => {
      const texts = [...document.querySelectorAll("svg text")].filter((text) => text.checkVisibility());
      const size = (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d;
      const outside = [...document.querySelectorAll("body *")].filter((element) => {
        if (element.closest(".box, figure, .skip, .unseen, .defs, .contents") || !element.checkVisibility()) return false;
        return element.getBoundingClientRect().right > innerWidth + 0.5;
      });
      return {
        page: document.documentElement.scrollWidth,
        smallest: Math.min(Infinity, ...texts.map(size)),
        outside: outside.map((element) => element.outerHTML.slice(0, 60)),
      };
    });
    assert.equal(found.page, PHONE.width);
    assert.deepEqual(found.outside, []);
    assert.ok(found.smallest >= 12, `text of ${found.smallest} px`);
  });
});

test("a table sorts both ways and says so", async (t) => {
  await open({}, async (page) => {
    const table = page.locator("table.sortable", { has: page.locator("thead th", { hasText: /^rate/ }) }).first();
    if ((await table.count()) === 0) return t.skip("no table to sort");
    const header = table.locator("thead th", { hasText: /^rate/ });
    const rates = () => table.evaluate((element) => {
      const at = [...element.tHead.rows[0].cells].findIndex((cell) => cell.textContent.startsWith("rate"));
      return [...element.tBodies[0].rows].map((row) => Number(row.cells[at].dataset.v));
    });
    const given = await rates();
    // An unknown rate counts as less than every number; what is not a number would not sort at all.
    const broken = await page.locator("[data-v]").evaluateAll((all) => all.map((cell) => cell.dataset.v).filter((v) => Number.isNaN(Number(v))));
    assert.deepEqual(broken, []);
    for (const [order, sign] of [["descending", -1], ["ascending", 1]]) {
      await header.getByRole("button").click();
      assert.equal(await header.getAttribute("aria-sort"), order);
      assert.deepEqual(await rates(), [...given].sort((a, b) => sign * (a - b)));
    }
    assert.equal(await table.locator("th[aria-sort$=ending]").count(), 1);
  });
});

test("a filter leaves the rows that hold the text; paper shows all", async (t) => {
  await open({}, async (page) => {
    const filter = page.getByLabel("Filter").first();
    if ((await filter.count()) === 0) return t.skip("no table is long enough");
    const table = page.locator("label.filter + .box table").first();
    const rows = await table.locator("tbody tr").evaluateAll((all) => all.map((row) => row.textContent.toLowerCase()));
    const wanted = (await table.locator("tbody th").last().textContent()).toUpperCase();
    const visible = () => table.locator("tbody tr").evaluateAll((all) => all.filter((row) => row.checkVisibility()).length);
    await filter.fill(wanted);
    const expected = rows.filter((row) => row.includes(wanted.trim().toLowerCase())).length;
    assert.equal(await visible(), expected);
    assert.equal(await page.locator("label.filter output").first().textContent(), `${expected} of ${rows.length} rows`);
    await filter.fill("no row holds this");
    assert.equal(await visible(), 0);
    await page.emulateMedia({ media: "print" });
    assert.equal(await visible(), rows.length);
  });
});

test("paper is light, shows whole tables and no controls", async () => {
  await open({ colorScheme: "dark" }, async (page) => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    assert.equal(await paper(page), "rgb(255, 255, 255)");
    const found = await page.evaluate(() => ({
      controls: [...document.querySelectorAll("#theme, #open-all, nav, .filter, .command button")].filter((one) => one.checkVisibility()).length,
      cut: [...document.querySelectorAll(".box")].filter((box) => getComputedStyle(box).overflowY !== "visible").length,
      folded: [...document.querySelectorAll("details .box")].filter((box) => box.getBoundingClientRect().height === 0).length,
    }));
    assert.deepEqual(found, { controls: 0, cut: 0, folded: 0 });
    const pdf = await page.pdf({ format: "A4" });
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  });
});

test("a heat map has a cell for every number of its table, told in words", async (t) => {
  await open({}, async (page) => {
    if (!(await page.locator("#heat").count())) return t.skip("no bits were flipped in several layers");
    await page.locator("#heat .group summary").first().click();
    const found = await page.evaluate(() => {
      const map = document.querySelector("#heat svg.heat");
      const cells = [...map.querySelectorAll("g")];
      const shown = [...document.querySelector("#heat table").querySelectorAll("td")];
      return {
        cells: cells.length,
        shown: shown.filter((cell) => cell.checkVisibility()).length,
        // A cell says what the table says: the rate, and among how many.
        differ: cells.filter((cell, at) => {
          const [, rate, n] = cell.querySelector("title").textContent.match(/: (no trials|[\d.]+%).* of ([\d,]+)$/);
          return shown[at].textContent !== (rate === "no trials" ? "–" : `${rate} of ${n}`);
        }).map((cell) => cell.querySelector("title").textContent),
        bare: cells.filter((cell) => !cell.querySelector("rect").getBoundingClientRect().width).length,
      };
    });
    assert.equal(found.cells, found.shown);
    assert.deepEqual([found.differ, found.bare], [[], 0]);
  });
});

test("the keyboard reaches every control, and one sees where it is", async () => {
  await open({}, async (page) => {
    const all = await page.evaluate(() => {
      const controls = [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")];
      controls.filter((one) => one.checkVisibility()).forEach((one, at) => { one.dataset.at = at; });
      return document.querySelectorAll("[data-at]").length;
    });
    const reached = [];
    for (let step = 0; step < all; step++) {
      await page.keyboard.press("Tab");
      const now = await page.evaluate(() => {
        const style = getComputedStyle(document.activeElement);
        const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
        return { at: Number(document.activeElement.dataset.at), seen, what: document.activeElement.outerHTML.slice(0, 80) };
      });
      assert.ok(now.seen, `no outline: ${now.what}`);
      reached.push(now.at);
    }
    assert.deepEqual(reached, Array.from({ length: all }, (_, at) => at));
    const first = page.locator("[data-at='0']");
    assert.equal(await first.getAttribute("href"), "#main");
    await page.locator("#theme").focus();
    const old = await paper(page);
    await page.keyboard.press("Enter");
    assert.notEqual(await paper(page), old);
  });
});

test("nothing from outside runs", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(address);
  const title = await page.title();
  assert.notEqual(title, "harm");
  assert.equal(await page.locator("script").count(), 1);
  assert.equal(await page.locator("img").count(), 0);
  const kinds = ["png", "jpeg"].map((kind) => `[href^='data:image/${kind};base64,']`).join(", ");
  assert.equal(await page.locator(`image:not(${kinds})`).count(), 0);
  // Even if escaping failed, the page's policy would not run it.
  const harmed = await page.evaluate(async () => {
    document.body.insertAdjacentHTML("beforeend", "<img src='data:,x' onerror='window.harm = 1'><a onclick='window.harm = 2' id='bait'>x</a>");
    document.body.append(Object.assign(document.createElement("script"), { textContent: "window.harm = 3" }));
    document.getElementById("bait").click();
    await new Promise((done) => setTimeout(done, 200));
    return "harm" in window;
  });
  assert.equal(harmed, false);
  await context.close();
});

test("every picture is there once, drawn wherever it is shown, and named", async (t) => {
  await open({}, async (page) => {
    if (!(await page.locator("svg.picture").count())) return t.skip("no pictures in this report");
    const found = await page.evaluate(async () => {
      const images = [...document.querySelectorAll("image")];
      const shown = [...document.querySelectorAll("svg.picture")];
      const whole = await Promise.all(images.map(async (one) => {
        const image = new Image();
        image.src = one.getAttribute("href");
        await image.decode().catch(() => {});
        const [width, height] = ["width", "height"].map((side) => Number(one.getAttribute(side)));
        // Smaller than the original, or as large, and of its shape.
        return image.naturalWidth > 0 && image.naturalWidth <= width && Math.abs(image.naturalWidth * height / width - image.naturalHeight) <= 1;
      }));
      const visible = shown.filter((one) => one.checkVisibility());
      return {
        twice: images.length - new Set(images.map((one) => one.getAttribute("href"))).size,
        broken: whole.filter((good) => !good).length,
        lost: shown.filter((one) => document.querySelector(one.querySelector("use").getAttribute("href"))?.tagName !== "image").length,
        nameless: shown.filter((one) => !one.querySelector("title")?.textContent.trim()).length,
        empty: visible.filter((one) => one.getBoundingClientRect().width < 8 || one.getBoundingClientRect().height < 8).length,
      };
    });
    assert.deepEqual(found, { twice: 0, broken: 0, lost: 0, nameless: 0, empty: 0 });
  });
});

test("hostile labels show as text", async (t) => {
  await open({}, async (page) => {
    const source = await page.evaluate(() => document.body.innerText);
    if (!source.includes("onerror=")) return t.skip("no hostile label in this report");
    assert.ok(source.includes("</script><img src=x onerror="));
    assert.equal(await page.locator("[onerror]").count(), 0);
  });
});

test("the structure serves those who do not see it", async () => {
  await open({}, async (page) => {
    const found = await page.evaluate(() => {
      const all = (selector) => [...document.querySelectorAll(selector)];
      const levels = all("h1, h2, h3, h4, h5, h6").map((head) => Number(head.tagName[1]));
      const named = (one) => (one.getAttribute("aria-label") ?? one.textContent).trim() !== "";
      return {
        lang: document.documentElement.lang,
        titles: levels.filter((level) => level === 1).length,
        jumps: levels.filter((level, at) => at > 0 && level > levels[at - 1] + 1).length,
        landmarks: ["header", "main", "footer"].map((one) => all(one).length),
        emptyNav: all("nav").filter((one) => !one.querySelector("a")).length,
        bareTables: all("table").filter((table) => !table.caption || all("th").some((th) => !th.scope)).length,
        bareButtons: all("button").filter((one) => !one.hidden && !named(one)).length,
        bareInputs: all("input").filter((one) => !one.labels?.length).length,
        bareImages: all("img").filter((one) => !one.alt).length,
        bareCharts: all("svg[role=img]").filter((one) => {
          const ids = (one.getAttribute("aria-labelledby") ?? "x").split(" ");
          return ids.some((id) => !document.getElementById(id)?.textContent.trim());
        }).length,
        mute: all("svg:not([role=img]):not([aria-hidden])").filter((one) => !one.closest("[role=img], [aria-hidden]")).length,
        bareRegions: all("[tabindex='0']").filter((one) => !one.getAttribute("aria-label") || !one.role).length,
        lostLinks: all("a[href^='#']").filter((one) => !document.querySelector(one.getAttribute("href"))).length,
      };
    });
    assert.deepEqual(found, {
      lang: "en", titles: 1, jumps: 0, landmarks: [1, 1, 1], emptyNav: 0, bareTables: 0, bareButtons: 0,
      bareInputs: 0, bareImages: 0, bareCharts: 0, mute: 0, bareRegions: 0, lostLinks: 0,
    });
  });
});

test("without scripts everything is there", async () => {
  const visible = (page) => page.locator("tbody tr, figure svg, .card").evaluateAll((all) => all.filter((one) => one.checkVisibility()).length);
  let with_scripts;
  await open({ folded: true }, async (page) => { with_scripts = await visible(page); });
  await open({ javaScriptEnabled: false, folded: true }, async (page) => {
    assert.equal(await visible(page), with_scripts);
    assert.equal(await page.locator("#theme").isVisible(), false);
    assert.equal(await page.locator("button:visible").count(), 0);
  });
});
