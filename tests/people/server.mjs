// A study in a folder of its own, and the server that serves it; it can be killed and started again.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const faultlens = process.env.FAULTLENS ?? "faultlens";

/** Rows of a table as objects; no cell of ours has a quote in it. */
export function table(path) {
  const cells = (line) => [...line.matchAll(/("([^"]*)"|[^,]*)(,|$)/g)].map((cell) => cell[2] ?? cell[1]);
  const [head, ...rows] = readFileSync(path, "utf8").trimEnd().split("\n");
  const names = cells(head).slice(0, -1);
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, cells(row)[at]])));
}

export class Study {
  #folder = mkdtempSync(join(tmpdir(), "people-"));
  #port = 0;
  #server = null;
  links = [];

  constructor(...args) {
    execFileSync(faultlens, ["study", "prepare", "world:signs", "-o", this.dir, ...args]);
  }

  get dir() { return join(this.#folder, "study"); }
  file(name) { return join(this.dir, name); }
  stimuli() { return new Map(table(this.file("stimuli.csv")).map((row) => [row.file, row])); }
  journal() { return readFileSync(this.file("journal.jsonl"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line)); }

  /** Starts the server, on the same port as before. */
  async start(people) {
    const args = ["study", "serve", this.dir, "--port", this.#port, "--people", people, "--json"];
    this.#server = spawn(faultlens, args, { stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: this.#server.stdout })) {
      const told = JSON.parse(line);
      this.#port = new URL(told.address).port;
      this.links = told.people;
      this.invitation = told.invitation;
      return;
    }
    throw new Error("the server said nothing");
  }

  /** Ends the server by a signal, and waits for its end. */
  async stop(signal) {
    const over = new Promise((done) => this.#server.once("exit", done));
    this.#server.kill(signal);
    await over;
    this.#server = null;
  }

  async end() {
    if (this.#server) await this.stop("SIGKILL");
    rmSync(this.#folder, { recursive: true });
  }

  status() { return JSON.parse(execFileSync(faultlens, ["study", "status", this.dir, "--json"])); }
  run(...args) { return execFileSync(faultlens, args, { encoding: "utf8" }); }
}
