// The pictures of the README, taken of the pages as they are: RIDDLEMILL_PICTURES names the folder they are written to.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { compare } from "./compare.mjs";
import { Server, Workspace, check, open, page } from "./harness.mjs";

export const pages_that_look_otherwise_than_before_are_told = async () => {
  const root = mkdtempSync(join(tmpdir(), "riddlemill-compared-"));
  const browser = await open();
  try {
    const sheet = await page(browser, { viewport: { width: 200, height: 100 } });
    const take = async (folder, name, body) => {
      mkdirSync(join(root, folder), { recursive: true });
      await sheet.setContent(`<body style="margin:0;background:#fff">${body}`);
      await sheet.screenshot({ path: join(root, folder, `${name}.png`), fullPage: true });
    };
    const block = (height) => `<div style="height:${height}px;background:#000"></div>`;
    await take("before", "same", block(50));
    await take("after", "same", block(50));
    await take("before", "moved", block(25));
    await take("after", "moved", block(50));
    await take("before", "longer", block(100));
    await take("after", "longer", block(200));
    await take("before", "gone", "");
    await take("after", "new", "");
    const [before, after, report] = ["before", "after", "report"].map((folder) => join(root, folder));
    const found = compare(before, after, report);
    const shares = found.changed.map(({ name, share }) => `${name} ${share.toFixed(2)}`);
    check(JSON.stringify(shares) === JSON.stringify(["longer.png 0.50", "moved.png 0.25"]), shares.join());
    check(found.same === 1 && found.added.join() === "new.png" && found.gone.join() === "gone.png", JSON.stringify(found));
    const told = readFileSync(join(report, "report.md"), "utf8");
    check(told.includes("2 pages changed, 1 are as they were") && told.includes("- 25.00 % moved.png"), told);
    check(existsSync(join(report, "moved.png")) && !existsSync(join(report, "same.png")), "pictures of the differences");
    // Without pictures of before every page is new.
    check(compare(join(root, "nothing"), after, report).added.length === 4, "nothing before");
  } finally {
    await browser.close();
    rmSync(root, { recursive: true });
  }
};

export const the_pictures_of_the_readme_can_be_taken = async () => {
  const folder = process.env.RIDDLEMILL_PICTURES || mkdtempSync(join(tmpdir(), "riddlemill-pictures-"));
  const workspace = Workspace.sample();
  const server = await Server.start(workspace);
  const browser = await open();
  try {
    const sheet = await page(browser, { viewport: { width: 1280, height: 800 }, colorScheme: "light" });
    const take = async (name, path, ready = async () => {}) => {
      await sheet.goto(server.url + path);
      await ready();
      const file = join(folder, name + ".png");
      await sheet.screenshot({ path: file });
      check(statSync(file).size > 20000, `${name} is nearly empty`);
    };
    await take("serve-stage", "/ruozhibench-gen/stage/filter");
    await sheet.goto(server.url + "/ruozhibench-gen/stage/dedup?outcome=merged&reason=near_duplicate");
    const merged = await sheet.getAttribute("#rows .records a.id", "href");
    await take("serve-record", merged);
    await take("review-item", "/review/ruozhibench-gen/category/vote?as=annotator-1");
    await take("review-edit", "/review/ruozhibench-gen/translation/vote?as=annotator-1", async () => {
      await sheet.keyboard.press("2");
      await sheet.keyboard.press("End");
      await sheet.keyboard.type(" Really?");
    });
    check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
    // A release as pages from the disk; drawn again as WebP, which is half as large.
    workspace.call("release", "flub", "--date", "2026-01-02");
    workspace.call("site", "output/flub/1.0.0-draft.1", "--out", "site");
    const small = await page(browser, { viewport: { width: 1100, height: 900 }, colorScheme: "light" });
    await small.goto(pathToFileURL(join(workspace.root, "site", "index.html")).href);
    const shot = (await small.screenshot()).toString("base64");
    await small.goto("about:blank");
    const drawn = await small.evaluate(async (data) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
      canvas.getContext("2d").drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", 0.8).split(",")[1];
    }, shot);
    const bytes = Buffer.from(drawn, "base64");
    writeFileSync(join(folder, "site-overview.webp"), bytes);
    check(bytes.length > 20000 && bytes.length <= 60000, `site-overview has ${bytes.length} bytes`);
  } finally {
    await browser.close();
    await server.kill();
    workspace.remove();
    if (!process.env.RIDDLEMILL_PICTURES) rmSync(folder, { recursive: true });
  }
};
