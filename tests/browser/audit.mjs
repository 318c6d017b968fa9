// The audit pages, with real clicks.
import { Server, Workspace, accessible, check, open, page, picture } from "./harness.mjs";

async function served(work, workspace = Workspace.sample()) {
  const server = await Server.start(workspace);
  const browser = await open();
  try {
    await work(server, browser, workspace);
  } finally {
    await browser.close();
    await server.kill();
    workspace.remove();
  }
}

export const a_dropped_post_is_traced_to_its_rule = () => served(async (server, browser) => {
  const sheet = await page(browser);
  await sheet.goto(server.url);
  await sheet.click("#ruozhibench-gen summary");
  await sheet.click("#ruozhibench-gen .funnel a[href$='stage/filter']");
  await sheet.click("a[href*='reason=too_long']");
  check((await sheet.textContent("#rows .definition")).includes("longer than the settings allow"), "the rule is shown");
  await sheet.click("#rows .records a.id");
  check((await sheet.textContent(".verdict")).includes("dropped"), "the record's outcome is shown");
  check((await sheet.locator(".way > li").count()) === 4, "the way has four stages");
  // Search as one types, and a filter, without leaving the page.
  await sheet.goto(server.url + "/ruozhibench-gen/stage/filter");
  await sheet.fill("#q", "闹钟");
  await sheet.waitForFunction(() => /^[1-9]\d? records$/.test(document.querySelector("#rows .count").textContent.trim()));
  check(sheet.url().includes("q="), "the address holds the search");
  await sheet.selectOption("select[name=sort]", "longest");
  await sheet.waitForURL(/sort=longest/);
  // Figures come when they are scrolled to.
  await sheet.locator(".figures").scrollIntoViewIfNeeded();
  await sheet.waitForSelector(".figures .chart svg");
  check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
});

export const two_duplicates_are_compared = () => served(async (server, browser) => {
  const sheet = await page(browser);
  await sheet.goto(server.url);
  await sheet.click("#ruozhibench-gen summary");
  await sheet.click("#ruozhibench-gen a[href='/ruozhibench-gen/duplicates']");
  check((await sheet.locator(".cluster ins").count()) > 0, "differences are marked");
  // What was merged is looked at from the lowest score on, both texts side by side.
  await sheet.click("a[href='?show=pairs&verdict=same']");
  const scores = (await sheet.$$eval("#rows .strong", (all) => all.map((e) => Number(e.textContent))));
  check(scores.length > 1 && scores.every((s, n) => n === 0 || scores[n - 1] <= s), `the lowest first: ${scores}`);
  check((await sheet.locator("#rows .cluster").first().locator(".pair .post").count()) === 2, "both texts stand there");
  await sheet.click("a[href='?show=pairs']");
  await sheet.selectOption("select[name=verdict]", "all");
  await sheet.waitForFunction(() => document.querySelectorAll("#rows .cluster").length > 3);
  await sheet.locator("#score").fill("0.75");
  await sheet.waitForFunction(() => [...document.querySelectorAll("#rows .strong")].every((e) => Number(e.textContent) < 0.755));
  check((await sheet.textContent("output")) === "0.75", "the slider says where it stands");
  await sheet.click("#rows .pair a.id");
  check(/record\//.test(sheet.url()), "a pair leads to its records");
  check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
});

export const a_release_diff_is_opened = () => served(async (server, browser, workspace) => {
  workspace.call("release", "flub", "--date", "2026-01-02");
  workspace.call("run", "--offline", "-q", "--recipe", "flub", "--set", "filter.min_chars=20");
  const sheet = await page(browser);
  await sheet.goto(server.url + "/releases");
  await sheet.click("a[href='/flub/diff']");
  check((await sheet.locator(".card .records li").count()) > 0, "rows differ");
  check((await sheet.textContent("main")).includes("too_short"), "the rule that took a row out is named");
  check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
});

export const two_versions_stand_side_by_side = () => served(async (server, browser, workspace) => {
  workspace.call("release", "flub", "--date", "2026-01-02");
  workspace.call("run", "--offline", "-q", "--recipe", "flub", "--set", "filter.min_chars=20", "--set", "options.seed=2");
  const sheet = await page(browser);
  await sheet.goto(server.url + "/flub/diff");
  const answer = await sheet.textContent(".answer");
  check(answer.includes("28 → 24") && answer.includes("(−4)"), `the answer comes first: ${answer}`);
  await sheet.click(".answer a[href='#changed-1']");
  const cells = sheet.locator(".compared").first().locator("tbody tr").first().locator("td");
  const [before, after] = [await cells.nth(0).boundingBox(), await cells.nth(1).boundingBox()];
  check(before.x + before.width <= after.x + 1 && Math.abs(before.y - after.y) < 2, "before stands left of after");
  check((await sheet.locator(".compared del").count()) > 0 && (await sheet.locator(".compared ins").count()) > 0, "what differs is marked");
  await accessible(sheet, "two versions");
  check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
});

export const a_release_is_filtered_by_its_bars = () => served(async (server, browser) => {
  const sheet = await page(browser);
  await sheet.goto(server.url + "/flub/release/candidate/rows");
  const found = async () => Number((await sheet.textContent("#rows .count")).trim().split(" ")[0]);
  check((await found()) === 28, "all rows at first");
  // A value, then null: each bar says how many rows it shows.
  const bar = sheet.locator(".spreads a", { hasText: "null" }).first();
  const said = Number(await bar.locator(".num").textContent());
  await bar.click();
  check(said > 0 && (await found()) === said && (await sheet.locator("table.rows tbody tr").count()) === said, "null can be asked for");
  check((await sheet.locator(".chips a").count()) === 1, "the filter is shown");
  await sheet.click(".chips a");
  check((await found()) === 28, "and taken back");
  // A length, with the keyboard, and a search on top of it that keeps it.
  const length = sheet.locator(".spread svg a").first();
  const many = Number((await length.getAttribute("aria-label")).split(": ")[1]);
  await length.focus();
  await sheet.keyboard.press("Enter");
  await sheet.waitForSelector(".chips a");
  check((await found()) === many, "a length is filtered");
  await sheet.fill("#q", (await sheet.locator("table.rows tbody .cell").first().textContent()).trim().slice(0, 2));
  await sheet.waitForSelector("#rows mark");
  check((await found()) <= many && (await sheet.locator(".chips a").count()) === 1, "the search keeps the filter");
  // The address of the view shows the same to somebody else.
  const [rows, address] = [await found(), await sheet.inputValue("[data-copy]")];
  check(address.startsWith("http") && !address.includes("=&"), `an address without what is not asked for: ${address}`);
  const [down] = await Promise.all([sheet.waitForEvent("download"), sheet.click("a[href*='/rows/jsonl']")]);
  check(down.suggestedFilename().includes(`-${rows}-of-28.jsonl`), down.suggestedFilename());
  await sheet.goto(address);
  check((await found()) === rows, "the shared view is the same");
  check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
});

export const posts_that_hold_scripts_do_nothing = () => {
  const workspace = new Workspace();
  const texts = ["<script>alert(1)</script>雨伞会不会怕水？", "<img src=x onerror=alert(2)>镜子会不会看腻我？", "\"><svg/onload=alert(3)>影子会不会累？", "<a href=javascript:alert(4)>门</a>会不会痒？", "\u202egnp.exe\u202c反着念会不会头晕？"];
  workspace.write("pipeline.toml", '[[source]]\nname = "dump"\nkind = "leymore-titles"\npath = "dump.json"\n');
  workspace.write("dump.json", JSON.stringify(texts.map((title, i) => ({ title, abs: null, href: `/p/${i + 101}`, lz: "某人" }))));
  workspace.call("run", "--offline", "-q", "--recipe", "flub");
  return served(async (server, browser) => {
    const sheet = await page(browser);
    for (const path of ["/flub/stage/import", "/flub/stage/filter", "/flub/figures/filter", "/flub/record/tieba:101", "/flub/record/tieba:102", "/flub/record/tieba:105", "/find?q=" + encodeURIComponent("<script>alert(5)</script>"), "/flub/stage/import?q=" + encodeURIComponent('"><img src=x onerror=alert(6)>')]) {
      await sheet.goto(server.url + path);
      await sheet.waitForTimeout(150);
      check((await sheet.locator("main img, main svg:not(.bar, .chart svg), main a[href^=javascript]").count()) === 0, `${path} made elements of a post`);
    }
    await sheet.goto(server.url + "/flub/record/tieba:105");
    check((await sheet.textContent(".raw")).includes("U+202E"), "a mark of direction is shown, not obeyed");
    check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
  }, workspace);
};

const PAGES = { overview: "/", stage: "/ruozhibench-gen/stage/filter", changed: "/ruozhibench-gen/stage/clean?outcome=changed", record: "/ruozhibench-gen/record/tieba:990001059", figures: "/ruozhibench-gen/figures/dedup", duplicates: "/ruozhibench-gen/duplicates", releases: "/releases", release: "/ruozhibench-gen/release/candidate", found: "/find?q=" + encodeURIComponent("灯"), seek: "/find", changed_review: "/ruozhibench-gen/stage/review:screen", pairs: "/ruozhibench-gen/duplicates?show=pairs&verdict=same", diff: "/flub/diff", row: "/ruozhibench-gen/release/candidate/rows?row=0", options: "/ruozhibench-mc/release/candidate", guideline: "/review/ruozhibench-gen/category/guideline", history: "/review/mine?as=annotator-1", carry: "/curate/brainteaser/kind/carry", login: "/login", gone: "/join/nothing", curate: "/curate", progress: "/curate/ruozhibench-gen/screen", assign: "/curate/ruozhibench-gen/screen/assign", people: "/people", run: "/run", costs: "/run/costs", table: "/ruozhibench-gen/release/candidate/rows", choices: "/flub/release/candidate/rows?is.type=" + encodeURIComponent("∅"), scores: "/ruozhibench-mc/release/candidate/rows?q=a", card: "/ruozhibench-gen/release/candidate/card", queue: "/review?as=annotator-1", ballot: "/review/ruozhibench-gen/screen/vote?as=annotator-1", missing: "/nothing" };

export const every_page_is_accessible_in_both_lights_widths_and_languages = () => served(async (server, browser) => {
  for (const [light, width, locale] of [["light", 1280, "en"], ["dark", 390, "zh-CN"], ["dark", 1280, "en"], ["light", 390, "zh-CN"]]) {
    const sheet = await page(browser, { viewport: { width, height: 900 }, colorScheme: light, locale });
    for (const [name, path] of Object.entries(PAGES)) {
      await sheet.goto(server.url + path);
      await accessible(sheet, `${name} ${light} ${width} ${locale}`);
      const wide = await sheet.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${name} is ${wide} px wider than ${width}`);
      await picture(sheet, `${name}-${light}-${width}`);
    }
    check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
    await sheet.context().close();
  }
});

// 1280 px at 400 %.
export const every_page_reads_at_four_hundred_percent = () => served(async (server, browser) => {
  for (const locale of ["en", "zh-CN"]) {
    const sheet = await page(browser, { viewport: { width: 320, height: 640 }, locale });
    for (const [name, path] of Object.entries(PAGES)) {
      await sheet.goto(server.url + path);
      await sheet.$$eval("details.recipe", (all) => all.forEach((row) => { row.open = true; }));
      const wide = await sheet.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${name} (${locale}) is ${wide} px wider than 320`);
      // A name of a page is never broken.
      const high = await sheet.$$eval(".places a", (all) => all.map((e) => e.getBoundingClientRect().height));
      check(high.every((px) => px < 40), `${name} (${locale}): the header breaks words: ${high}`);
    }
    check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
    await sheet.context().close();
  }
});

export const what_comes_next_is_one_click_away = () => served(async (server, browser, workspace) => {
  const sheet = await page(browser);
  await sheet.goto(server.url);
  // The row of a benchmark opens without a script, and by a link that names it.
  check(!(await sheet.locator("#flub .funnel").isVisible()), "a benchmark is one row");
  await sheet.goto(server.url + "/#flub");
  await sheet.reload();
  check(await sheet.locator("#flub .funnel").isVisible(), "the row that a link names is open");
  const high = await sheet.evaluate(() => document.documentElement.scrollHeight);
  check(high < 2400, `the overview is ${high} px high`);
  await sheet.click(".next a[href='/curate/flub/clean/assign']");
  await sheet.click("main .filters button >> text=Preview");
  await sheet.click("#preview button");
  await sheet.waitForSelector("#given");
  check(workspace.read("raw/votes/assigned/flub.clean.jsonl").includes("annotator"), "two clicks later the work is given out");
  await sheet.goto(server.url + "/curate");
  check((await sheet.evaluate(() => document.documentElement.scrollHeight)) < 2800, "progress is two tables");
  await sheet.click("#people tbody td a >> nth=0");
  const person = new URL(sheet.url());
  check(/\/curate\/people\/./.test(person.pathname), "a cell leads to the person");
  // Who has not voted yet has no figures there, and no link leads to what is not on a page.
  check(person.hash === "" || await sheet.locator(person.hash).count() === 1, `${person.hash} is not there`);
  // Whoever has no search field finds the controls on the right as well.
  const token = workspace.call("access", "grant", "annotator-2", "--rank", "annotator").split(/\s+/).find((word) => word.length === 64);
  const other = await page(browser);
  await other.goto(server.url + "/login");
  await other.fill("input[name=token]", token);
  await other.click("main button");
  await other.waitForURL(/review/);
  check((await other.locator(".seek").count()) === 0, "an annotator searches nothing");
  const right = await other.evaluate(() => innerWidth - document.querySelector(".manner").getBoundingClientRect().right);
  check(right < 40, `the controls are ${right} px from the right`);
  const tops = await other.$$eval(".brand, .places a, .manner a, .me, .manner button", (all) => all.filter((e) => e.offsetParent).map((e) => { const { top, height } = e.getBoundingClientRect(); return top + height / 2; }));
  check(Math.max(...tops) - Math.min(...tops) < 3, `the header is one line: ${tops}`);
  check(sheet.wrong.length === 0 && other.wrong.length === 0, [...sheet.wrong, ...other.wrong].join("\n"));
});
