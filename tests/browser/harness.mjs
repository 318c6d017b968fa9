// A workspace, the real server in it, and a browser without a screen.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const modules = process.env.RIDDLEMILL_NODE_MODULES;
if (!modules) throw new Error("RIDDLEMILL_NODE_MODULES is not set; see tests/browser/README.md");
const require = createRequire(join(resolve(modules), "x.js"));
const { chromium } = require("playwright-core");
// The last version of the driver that asks Firefox for nothing that Debian's does not know.
const bidi = (() => { try { return require("playwright-bidi"); } catch { return null; } })();
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const command = resolve(process.env.RIDDLEMILL || "target/release/riddlemill");
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RIDDLEMILL_")));

export class Workspace {
  constructor() {
    this.root = mkdtempSync(join(tmpdir(), "riddlemill-"));
  }
  call(...args) {
    return execFileSync(command, args, { cwd: this.root, env: environment, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }
  // A call that ends with a code of its own, as `diff` does where two versions differ.
  callEnding(code, ...args) {
    const { status, stderr } = spawnSync(command, args, { cwd: this.root, env: environment, encoding: "utf8" });
    check(status === code, `${args.join(" ")} ended with ${status}: ${stderr}`);
  }
  write(path, text) {
    mkdirSync(join(this.root, path, ".."), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }
  read(path) {
    return readFileSync(join(this.root, path), "utf8");
  }
  static sample() {
    const workspace = new Workspace();
    workspace.call("init", "-q");
    workspace.call("run", "--offline", "-q");
    return workspace;
  }
  remove() {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export class Server {
  static async start(workspace, port = 0) {
    const server = new Server();
    server.child = spawn(command, ["serve", "--port", String(port)], { cwd: workspace.root, env: environment, stdio: ["ignore", "pipe", "inherit"] });
    server.url = await new Promise((found, lost) => {
      let output = "";
      server.child.stdout.on("data", (bytes) => { output += bytes; if (output.includes("\n")) found(output.trim().replace(/\/$/, "")); });
      server.child.on("exit", () => lost(new Error("the server ended: " + output)));
    });
    return server;
  }
  get port() {
    return new URL(this.url).port;
  }
  async kill(signal = "SIGKILL") {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((done) => this.child.once("exit", done));
    this.child.kill(signal);
    await gone;
  }
}

export const open = () => chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });

const firefox = process.env.FIREFOX || "/usr/bin/firefox-esr";
// Firefox as the system has it, by WebDriver BiDi; nothing where it or its driver is not here.
export const openFirefox = async () => (bidi && existsSync(firefox) ? bidi.firefox.launch({ channel: "moz-firefox", executablePath: firefox }) : null);

// A page that counts what must never happen: a script of a post that runs, an error, a breach of the policy.
export async function page(browser, more = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en", ...more });
  const sheet = await context.newPage();
  sheet.wrong = [];
  sheet.on("dialog", (dialog) => { sheet.wrong.push("a dialog: " + dialog.message()); dialog.dismiss(); });
  sheet.on("pageerror", (error) => sheet.wrong.push("an error: " + error.message));
  sheet.on("console", (message) => { if (message.type() === "error" && !/ERR_|Failed to load resource/.test(message.text())) sheet.wrong.push(message.text()); });
  return sheet;
}

// What axe-core finds, of whatever weight.
export async function accessible(sheet, where) {
  const found = await sheet.evaluate(async (source) => {
    new Function(source)();
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
  }, axe).catch(async () => {
    // The policy forbids code from text, as it should; the browser's own way in is not bound by it.
    const session = await sheet.context().newCDPSession(sheet);
    await session.send("Runtime.evaluate", { expression: axe });
    const { result } = await session.send("Runtime.evaluate", { awaitPromise: true, returnByValue: true, expression: "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')))" });
    return result.value;
  });
  check(found.length === 0, `${where}: ${found.join("\n  ")}`);
}

// Counts what a person does on a page: clicks, keys and fields filled in; and the seconds, without those of `apart`.
export class Walk {
  constructor() {
    this.did = { clicks: 0, keys: 0, fields: 0 };
    this.began = Date.now();
    this.away = 0;
  }
  async on(sheet) {
    await sheet.context().exposeBinding("walked", (_, what) => { this.did[what] += 1; });
    await sheet.context().addInitScript(() => {
      const kinds = { pointerdown: "clicks", keydown: "keys", change: "fields" };
      for (const [event, what] of Object.entries(kinds)) addEventListener(event, () => window.walked(what), true);
    });
  }
  // What a test looks at, and no person waits for.
  async apart(look) {
    const began = Date.now();
    try { return await look(); } finally { this.away += Date.now() - began; }
  }
  // Prints the counts, and fails where one is over its bound.
  end(name, most) {
    const seconds = (Date.now() - this.began - this.away) / 1000;
    const { clicks, keys, fields } = this.did;
    console.log(`walk ${name}: ${clicks} clicks, ${keys} keys, ${fields} fields, ${seconds.toFixed(1)} s`);
    for (const [what, count] of Object.entries({ clicks, keys, fields, seconds })) check(count <= most[what], `${name}: ${count} ${what}, and ${most[what]} at most`);
  }
}

export async function picture(sheet, name) {
  const folder = process.env.RIDDLEMILL_SHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await sheet.screenshot({ path: join(folder, name + ".png") });
}

export function check(holds, words) {
  if (!holds) throw new Error(words);
}
