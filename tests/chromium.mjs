// The browser of the tests. Run by itself it prints the path of a Chromium that draws pages here:
// the one in CHROMIUM, one on the path, or the one that npm installed; it fails where none does.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import npms from "@sparticuz/chromium";
import { chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

export function launch(executablePath = process.env.CHROMIUM) {
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args, timeout: 60_000 });
}

/** Where a Chromium may be, the likeliest first. */
async function* places() {
  if (process.env.CHROMIUM) return yield process.env.CHROMIUM;
  const folders = (process.env.PATH ?? "").split(delimiter);
  yield* NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).filter(existsSync);
  yield npms.executablePath();
}

/** A program whose libraries are missing, or a mere pointer to an installer, draws no page. */
async function draws(place) {
  const browser = await launch(place);
  try {
    const page = await browser.newPage();
    await page.goto("data:text/html,<p>drawn");
    await page.screenshot();
  } finally {
    await browser.close();
  }
}

async function find() {
  for await (const place of places()) {
    try {
      await draws(place);
      return place;
    } catch (error) {
      console.error(`${place} draws no page: ${String(error.message).split("\n")[0]}`);
    }
  }
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await find());
