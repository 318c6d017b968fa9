// A release as static pages, opened from the disk, with real clicks.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Workspace, accessible, check, open, page, picture } from "./harness.mjs";

async function opened(work, more = {}, recipe = "flub", otherwise = []) {
  const workspace = Workspace.sample();
  workspace.call("release", recipe, "--date", "2026-01-02");
  if (otherwise.length) {
    workspace.call("run", "--offline", "-q", "--recipe", recipe, ...otherwise);
    workspace.call("release", recipe, "--date", "2026-01-03", ...otherwise);
  }
  workspace.call("site", `output/${recipe}/1.0.0-draft.${otherwise.length ? 2 : 1}`, "--out", "site", ...otherwise);
  const browser = await open();
  try {
    const sheet = await page(browser, more);
    await work(sheet, (path) => pathToFileURL(join(workspace.root, "site", path)).href, workspace);
    check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
  } finally {
    await browser.close();
    workspace.remove();
  }
}

export const a_site_is_searched_from_the_disk = () => opened(async (sheet, at) => {
  await sheet.goto(at("index.html"));
  check((await sheet.textContent("#flow")).includes("filter") || (await sheet.textContent("#flow")).includes("Filter"), "the flow is shown");
  const background = await sheet.evaluate(() => getComputedStyle(document.body).backgroundColor);
  check(background !== "rgba(0, 0, 0, 0)", "the styles are loaded");
  await sheet.click("header a[href$='rows.html']");
  check((await sheet.locator("#table tbody tr").count()) === 28, "all rows are there without a search");
  const text = (await sheet.textContent("#table tbody tr:nth-child(3) td")).trim().slice(0, 6);
  await sheet.fill("#search input", text);
  await sheet.waitForFunction(() => /^1 of 28 rows$/.test(document.querySelector("#count").textContent));
  await sheet.click("#table tbody a.id");
  check((await sheet.textContent("article .post.big")).includes(text), "the row is found");
  check((await sheet.locator(".options .right").count()) === 1, "one option is right");
  check((await sheet.locator(".way > li").count()) > 5, "its way is shown");
  // A filter alone, and back to all rows.
  await sheet.goto(at("rows.html"));
  const value = await sheet.$eval("#search select option:nth-child(2)", (option) => option.value);
  await sheet.selectOption("#search select", value);
  await sheet.waitForFunction(() => /^\d+ of 28 rows$/.test(document.querySelector("#count").textContent));
  const found = Number((await sheet.textContent("#count")).split(" ")[0]);
  check(found > 0 && found < 28 && (await sheet.locator("#table tbody tr").count()) === found, "the filter holds");
  await sheet.selectOption("#search select", "");
  await sheet.waitForFunction(() => document.querySelectorAll("#table tbody tr").length === 28);
  // The same page in Chinese, and back.
  await sheet.click("header a[hreflang=zh]");
  check(sheet.url().endsWith("/zh/rows.html") && (await sheet.getAttribute("html", "lang")) === "zh-Hans", "in Chinese");
  await sheet.fill("#search input", text);
  await sheet.waitForFunction(() => document.querySelectorAll("#table tbody tr").length === 1);
  await sheet.click("#table tbody a.id");
  check(sheet.url().includes("/zh/rows/"), "a row in Chinese");
  await sheet.click("header a[hreflang=en]");
  check((await sheet.getAttribute("html", "lang")) === "en", "and back");
});

export const a_site_needs_no_script = () => opened(async (sheet, at) => {
  await sheet.goto(at("rows.html"));
  check(await sheet.locator("#search").isHidden(), "the search is not offered");
  await sheet.click("#table tbody tr:first-child a.id");
  check((await sheet.locator(".way > li").count()) > 5, "a row is read");
}, { javaScriptEnabled: false });

const OTHERWISE = ["--set", "filter.min_chars=20", "--set", "options.seed=2"];

export const a_site_tells_what_changed = () => opened(async (sheet, at) => {
  await sheet.goto(at("index.html"));
  await sheet.click("#versions a.button");
  check((await sheet.textContent(".answer")).includes("28 → 24"), "how many rows there were and are");
  check((await sheet.locator(".records code").first().textContent()) === "too_short", "why a row left");
  await accessible(sheet, "what changed");
  sheet.wrong = sheet.wrong.filter((what) => !/^Connecting to 'file:[^']*\.css'/.test(what));
  await sheet.locator(".records li", { has: sheet.locator(".compared") }).first().locator("a.id").click();
  check((await sheet.locator(".compared del").count()) > 0 && (await sheet.locator(".compared ins").count()) > 0, "before and after");
  await accessible(sheet, "a row that changed");
  sheet.wrong = sheet.wrong.filter((what) => !/^Connecting to 'file:[^']*\.css'/.test(what));
}, {}, "flub", OTHERWISE);

// Every kind of page, light and dark, wide and narrow.
const kinds = (workspace) => {
  const first = (folder) => `${folder}/${readdirSync(join(workspace.root, "site", folder))[0]}`;
  return ["index.html", "rows.html", "left-out.html", first("rows"), first("prompts"), "zh/index.html", "zh/rows.html", "zh/left-out.html", first("zh/rows"), first("zh/prompts")];
};

const looked = (more, name) => () => opened(async (sheet, at, workspace) => {
  for (const path of kinds(workspace)) {
    await sheet.goto(at(path));
    await accessible(sheet, path);
    // axe-core asks for the styles by itself, which the policy of the page forbids, as it should.
    sheet.wrong = sheet.wrong.filter((what) => !/^Connecting to 'file:[^']*\.css'/.test(what));
    const wide = await sheet.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(wide <= 1, `${path} is ${wide} pixels too wide`);
    await picture(sheet, `site-${name}-${path.replaceAll("/", "-").replace(".html", "")}`);
  }
}, more);

export const a_site_is_accessible = looked({ colorScheme: "light" }, "light");
export const a_site_is_accessible_in_the_dark = looked({ colorScheme: "dark" }, "dark");
export const a_site_fits_a_phone = looked({ viewport: { width: 360, height: 740 } }, "phone");
