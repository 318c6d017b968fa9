// The pictures of the README, taken of the pages as they are: RIDDLEMILL_PICTURES names the folder they are written to.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server, Workspace, check, open, page } from "./harness.mjs";

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
  } finally {
    await browser.close();
    await server.kill();
    workspace.remove();
    if (!process.env.RIDDLEMILL_PICTURES) rmSync(folder, { recursive: true });
  }
};
