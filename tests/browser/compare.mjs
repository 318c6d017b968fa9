// Compares two folders of pictures of the same names: which pages changed, and by what share of their pixels.
// `node tests/browser/compare.mjs BEFORE AFTER REPORT` prints them and writes report.md into REPORT, with a picture of the
// differences of each. It tells, and ends with 0 whatever it finds.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const modules = process.env.RIDDLEMILL_NODE_MODULES;
if (!modules) throw new Error("RIDDLEMILL_NODE_MODULES is not set; see tests/browser/README.md");
const require = createRequire(join(resolve(modules), "x.js"));
const { PNG } = require("pngjs");
const { default: pixelmatch } = await import(pathToFileURL(require.resolve("pixelmatch")).href);

// A smaller share is a clock, a duration or a blinking cursor.
const LEAST = 0.001;

const pictures = (folder) => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".png")).sort() : []);

// A picture on a sheet of that size: what only one of two has differs.
function sheet(picture, width, height) {
  const whole = new PNG({ width, height });
  PNG.bitblt(picture, whole, 0, 0, picture.width, picture.height, 0, 0);
  return whole;
}

// The share of pixels in which two pictures differ, and a picture of the differences.
export function difference(before, after) {
  const [a, b] = [before, after].map((bytes) => PNG.sync.read(bytes));
  const [width, height] = [Math.max(a.width, b.width), Math.max(a.height, b.height)];
  const drawn = new PNG({ width, height });
  const pixels = pixelmatch(sheet(a, width, height).data, sheet(b, width, height).data, drawn.data, width, height, { checkerboard: false });
  return { share: pixels / (width * height), drawn: PNG.sync.write(drawn) };
}

// What differs between two folders, the largest share first; a page that only one has is new or gone.
export function compare(before, after, report) {
  const [old, now] = [pictures(before), pictures(after)];
  rmSync(report, { recursive: true, force: true });
  mkdirSync(report, { recursive: true });
  const changed = [];
  for (const name of now.filter((name) => old.includes(name))) {
    const [was, is] = [before, after].map((folder) => readFileSync(join(folder, name)));
    if (was.equals(is)) continue;
    const { share, drawn } = difference(was, is);
    if (share < LEAST) continue;
    changed.push({ name, share });
    writeFileSync(join(report, name), drawn);
  }
  changed.sort((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1));
  const found = { changed, added: now.filter((name) => !old.includes(name)), gone: old.filter((name) => !now.includes(name)), same: now.length - changed.length };
  found.same -= found.added.length;
  writeFileSync(join(report, "report.md"), lines(found).join("\n") + "\n");
  return found;
}

// A line a page.
export function lines({ changed, added, gone, same }) {
  const percent = (share) => `${(share * 100).toFixed(2)} %`;
  return [
    `${changed.length} pages changed, ${same} are as they were, ${added.length} are new, ${gone.length} are gone`,
    ...changed.map(({ name, share }) => `- ${percent(share)} ${name}`),
    ...added.map((name) => `- new ${name}`),
    ...gone.map((name) => `- gone ${name}`),
  ];
}

if (process.argv[1] && pathToFileURL(resolve(process.argv[1])).href === import.meta.url) {
  const [before, after, report] = process.argv.slice(2);
  if (!report) throw new Error("usage: node tests/browser/compare.mjs BEFORE AFTER REPORT");
  console.log(lines(compare(before, after, report)).join("\n"));
}
