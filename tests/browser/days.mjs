// The day of a manager, an annotator, an adjudicator, an auditor and a reader, at a desk in English and on a phone in Chinese.
import { writeFileSync, readFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server, Walk, Workspace, accessible, check, open, page, picture } from "./harness.mjs";

const SIZES = [[1280, 800, "en"], [390, 844, "zh-CN"]];

// The most of each that a day takes: clicks, keys, fields filled in, and seconds. Lower a bound whose day got shorter.
const MOST = {
  manager: { clicks: 18, keys: 12, fields: 12, seconds: 120 },
  annotator: { clicks: 4, keys: 24, fields: 14, seconds: 60 },
  adjudicator: { clicks: 4, keys: 12, fields: 8, seconds: 60 },
  auditor: { clicks: 9, keys: 18, fields: 6, seconds: 60 },
  reader: { clicks: 9, keys: 2, fields: 6, seconds: 120 },
};

async function day(who, work) {
  for (const [width, height, locale] of SIZES) {
    const workspace = Workspace.sample();
    const server = await Server.start(workspace);
    const browser = await open();
    const name = `${width}-${locale.slice(0, 2)}`;
    const sheets = [];
    // A page of this day: looked at whole, wherever it leads.
    const walk = new Walk();
    const sheet = async () => {
      const one = await page(browser, { viewport: { width, height }, locale });
      await walk.on(one);
      sheets.push(one);
      return one;
    };
    const look = (one, what) => walk.apart(async () => {
      const wide = await one.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${what} is ${wide} px wider than ${width}`);
      if (locale !== "en") check((await one.getAttribute("html", "lang")) === "zh-Hans" && /评审/.test(await one.textContent(".places")), `${what}: the page is not Chinese`);
      await accessible(one, `${what} ${name}`);
      await picture(one, `day-${what}-${name}`);
    });
    try {
      await work({ server, workspace, sheet, look, walk, name, zh: locale !== "en" });
      walk.end(`${who} ${name}`, MOST[who]);
      for (const one of sheets) check(one.wrong.length === 0, one.wrong.join("\n"));
    } finally {
      await browser.close();
      await server.kill();
      workspace.remove();
    }
  }
}

const vote = async (one, url, answer) => {
  await one.goto(url);
  const before = await one.getAttribute("#ballot", "data-key");
  for (const key of answer) await one.keyboard.press(key);
  await one.keyboard.press("Enter");
  await one.waitForFunction((before) => document.readyState === "complete" && document.getElementById("ballot")?.dataset.key !== before, before);
};

export const a_managers_day = () => day("manager", async ({ server, workspace, sheet, look, zh }) => {
  const one = await sheet();
  // Work is given out: to chosen people, looked at first, taken back, given again.
  const place = server.url + "/curate/ruozhibench-gen/category";
  await one.goto(place + "/assign");
  check((await one.locator("input[name=to]:disabled").count()) === 5, "juniors and seniors may not vote here, nor the meta annotator");
  await one.uncheck("input[name=to][value=annotator-3]");
  await one.click("main .filters button >> text=" + (zh ? "先预览" : "Preview"));
  await look(one, "assign");
  check(!(await one.textContent("#preview")).includes("annotator-3"), "only whoever was chosen");
  check(!workspace.call("review", "status", "--json", "--recipe", "ruozhibench-gen").includes('"assigned": 1'), "nothing is given before it is confirmed");
  await one.click("#preview button");
  await one.waitForSelector("#given button");
  await one.click("#given button");
  await one.waitForFunction(() => !document.querySelector("#given"));
  check(workspace.read("raw/votes/assigned/ruozhibench-gen.category.jsonl").includes('"back":true'), "what was given stays on record");
  await one.click("main form .filters button");
  await one.click("#preview button");
  await one.waitForSelector("#given");
  // Two differ, one of them faster than anybody reads.
  await vote(await sheet(), server.url + "/review/ruozhibench-gen/category/vote?as=annotator-1", ["1", "7"]);
  await vote(await sheet(), server.url + "/review/ruozhibench-gen/category/vote?as=annotator-2", ["2", "7"]);
  await one.goto(server.url + "/curate");
  // What is not counted yet fills in as one comes to it.
  const later = () => one.locator("[hx-trigger=revealed]").count();
  for (let left = await later(); left > 0; left = await later()) {
    await one.locator("[hx-trigger=revealed]").first().scrollIntoViewIfNeeded({ timeout: 2000 }).catch(() => {});
    await one.waitForFunction((left) => document.querySelectorAll("[hx-trigger=revealed]").length < left, left);
  }
  const lines = await one.$$eval("#people .name", (all) => all.map((e) => e.getBoundingClientRect().height));
  check(lines.length > 1 && lines.every((high) => high < 30), `a name takes one line: ${lines}`);
  check((await one.locator("#s-ruozhibench-gen-category a[href$='#waits']").count()) === 1, "what waits leads to whom it waits for");
  await look(one, "progress");
  await one.goto(place);
  check((await one.textContent(".waits")).includes("annotator-"), "who is waited for is named");
  check((await one.locator("#two td").count()) >= 1 && (await one.locator(".trend li").count()) === 1, "two by two, and by day");
  await look(one, "step");
  // Disputes are one click away, and read in names.
  await one.click(".ballots a.dropped");
  const cast = await one.$$eval(".cast li", (all) => all.map((e) => e.textContent));
  check(cast.length === 2 && cast.every((words) => !/^\W*\d+\W*$/.test(words)), `each vote apart: ${cast}`);
  check(!(await one.textContent("main")).includes("annotator-") && !/×1/.test(await one.textContent(".cast")), "in names, and nobody's");
  check((await one.locator(".guideline").count()) === 1, "with the guideline");
  await picture(one, `day-dispute-${zh ? "390" : "1280"}`);
  // A run is started and watched, the decision in it.
  await one.keyboard.press("1");
  await one.fill("[data-field=reason] textarea", "A figure of speech.");
  await one.keyboard.press("Control+Enter");
  await one.waitForFunction(() => !document.getElementById("ballot"));
  await one.goto(server.url + "/run");
  check((await one.textContent(".due")).length > 10, "what a run would do is listed");
  await one.locator("#costs").scrollIntoViewIfNeeded();
  await one.waitForSelector("#costs table, #costs p b");
  await look(one, "run");
  for (const box of await one.locator(".due input").all()) await box.setChecked((await box.inputValue()) === "ruozhibench-gen");
  await one.check("input[name=offline]");
  await one.click("section[aria-labelledby=due] button.button");
  await one.waitForFunction(() => document.querySelectorAll(".ran .made, .ran .fresh").length > 3, null, { timeout: 60000 });
  await one.waitForFunction(() => !document.querySelector("#running[data-events]"), null, { timeout: 120000 });
  check((await one.textContent("#running [role=status]")).includes(zh ? "已完成" : "is done"), await one.textContent("#running"));
  await look(one, "ran");
  // Who comes in: the manager first, then an annotator; each link once.
  await one.goto(server.url + "/people");
  const invite = async (name, rank) => {
    const card = one.locator(".person", { hasText: name }).first();
    await card.locator("select[name=rank]").selectOption(rank);
    await card.locator("form").first().locator("button").click();
    return one.inputValue("input[data-copy]");
  };
  const own = await invite("meta-1", "curator");
  await look(one, "people");
  await one.goto(own);
  await look(one, "join");
  await one.click("main button");
  await one.waitForURL(server.url + "/");
  await one.goto(server.url + "/people");
  const link = await invite("annotator-1", "annotator");
  const other = await sheet();
  await other.goto(link);
  await other.click("main button");
  await other.waitForURL(/review/);
  const late = await sheet();
  check((await late.goto(link)).status() === 410, "a link works once");
  await one.goto(server.url + "/people");
  await one.locator(".person", { hasText: "annotator-1" }).locator("form[action='/people/revoke'] button").click();
  await other.goto(server.url + "/review");
  check(/login/.test(other.url()), "whoever is shut out is out");
});

export const an_annotators_day = () => day("annotator", async ({ server, workspace, sheet, look, zh }) => {
  const one = await sheet();
  // From the start to the first text.
  await one.goto(server.url);
  await one.click(".places a[href='/review']");
  await one.selectOption("select[name=as]", "annotator-1");
  await one.click("text=" + (zh ? "选择" : "Choose") + " >> nth=0");
  await look(one, "desk");
  await one.click(".desk >> nth=0");
  await look(one, "ballot");
  // Ten votes, each with two keys; the page says how far one is.
  const cast = () => { try { return workspace.read("raw/votes/000001.jsonl").trim().split("\n").length; } catch { return 0; } };
  for (let n = 0; n < 10; n++) {
    const before = await one.getAttribute("#ballot", "data-key");
    await one.keyboard.press(n % 3 ? "1" : "3");
    await one.keyboard.press("Enter");
    await one.waitForFunction((before) => document.readyState === "complete" && document.getElementById("ballot")?.dataset.key !== before, before);
  }
  check(cast() === 10, `ten votes are on disk: ${cast()}`);
  // Back to the last one, and another answer.
  const was = await one.getAttribute("#ballot", "data-key");
  await one.goBack();
  await one.waitForFunction((was) => document.readyState === "complete" && document.getElementById("ballot")?.dataset.key !== was, was);
  await look(one, "back");
  await one.keyboard.press("2");
  await one.keyboard.press("Enter");
  await one.waitForFunction(() => document.readyState === "complete");
  for (let n = 0; n < 50 && cast() < 11; n++) await one.waitForTimeout(100);
  check(cast() === 11, `a vote that was changed is kept beside the first: ${cast()}`);
});

export const an_adjudicators_day = () => day("adjudicator", async ({ server, workspace, sheet, look, zh }) => {
  const url = (who) => server.url + "/review/ruozhibench-gen/category/vote?as=" + who;
  await vote(await sheet(), url("annotator-1"), ["1", "7"]);
  await vote(await sheet(), url("annotator-2"), ["2", "7"]);
  const one = await sheet();
  // The desk of whoever decides has the dispute; both votes stand beside the text, without names.
  await one.goto(server.url + "/review");
  await one.selectOption("select[name=as]", "meta-1");
  await one.click("text=" + (zh ? "选择" : "Choose") + " >> nth=0");
  await look(one, "disputes");
  await one.click(".desk >> nth=0");
  await look(one, "dispute");
  check((await one.locator(".cast li").count()) === 2, "both votes stand there");
  check(!(await one.textContent("main")).includes("annotator-"), "and nobody's name");
  await one.keyboard.press("1");
  await one.fill("[data-field=reason] textarea", "A figure of speech.");
  await one.keyboard.press("Control+Enter");
  await one.waitForFunction(() => !document.getElementById("ballot"));
  await look(one, "decided-dispute");
  check(/"round":"adjudication"/.test(workspace.read("raw/votes/000001.jsonl")), "the decision is stored");
});

export const an_auditors_day = () => day("auditor", async ({ server, workspace, sheet, look, zh }) => {
  const one = await sheet();
  await one.goto(server.url + "/");
  await look(one, "overview");
  // A pair that was merged wrongly: found from the lowest score on, and split.
  await one.goto(server.url + "/ruozhibench-gen/duplicates?show=pairs&verdict=same");
  const scores = await one.$$eval("#rows .strong", (all) => all.map((e) => Number(e.textContent)));
  check(scores.length > 1 && scores.every((s, n) => !n || scores[n - 1] <= s), `the lowest first: ${scores}`);
  await look(one, "merged");
  const pair = one.locator("#rows .cluster").first();
  await pair.locator("summary").click();
  await pair.locator("select[name=as]").selectOption("meta-1");
  await pair.locator("input[name=why]").fill("Two jokes.");
  await pair.locator("button[value=two]").click();
  await one.waitForLoadState();
  check(workspace.read("raw/decisions/000001.jsonl").includes('"two"'), "the decision is stored");
  // The list says so, and where it is taken back.
  await look(one, "decided");
  await one.click("main > .notice.good a");
  await one.locator("#decide details.later").last().locator("summary").click();
  check(await one.locator("#decide details.later input[name=undo]").last().locator("xpath=..").locator("button").isVisible(), "it can be taken back");
  // A dropped post is let through.
  await one.goto(server.url + "/ruozhibench-gen/stage/filter?outcome=dropped&reason=too_short");
  await look(one, "dropped");
  const record = one.locator("#rows .records > li").first();
  const id = await record.locator("a.id").textContent();
  await record.locator("summary").click();
  await record.locator("select[name=as]").selectOption("meta-1");
  await record.locator("input[name=why]").fill("It is short and good.");
  await record.locator("button[value=keep]").click();
  await one.waitForLoadState();
  workspace.call("run", "--offline", "-q", "--recipe", "ruozhibench-gen");
  await one.goto(server.url + "/ruozhibench-gen/record/" + id);
  check((await one.textContent(".way")).includes(zh ? "人工放行" : "decided keep"), "the record's way tells of it");
  await look(one, "record");
  // Pairs as a queue: a key decides, the next one stands there, another key takes it back.
  await one.goto(server.url + "/ruozhibench-gen/pairs?verdict=all");
  await look(one, "pairs");
  const standing = () => one.locator("#one input[name=other]").evaluateAll((all) => all.map((e) => e.form.record.value + " " + e.value).join());
  const was = await standing();
  const press = async (key) => { await Promise.all([one.waitForNavigation(), one.keyboard.press(key)]); };
  const began = Date.now();
  await press("d");
  check((await standing()) !== was && (await one.locator("#last").count()) === 1, "the next pair stands there after one key");
  await look(one, "pair-decided");
  await press("u");
  check((await standing()) === was, "one key takes it back");
  check(Date.now() - began < 30000, "two keys, within seconds");
  await press("j");
  await press("k");
  check((await standing()) === was, "passed over and back");
  await one.goto(server.url + "/ruozhibench-gen/decisions");
  check((await one.locator("#made > li").count()) >= 3, "every decision is listed, the one taken back too");
  await look(one, "decisions");
  await one.goto(server.url + "/ruozhibench-gen/held");
  await look(one, "held");
  // Figures: each drawing has its values beside it.
  await one.goto(server.url + "/ruozhibench-gen/figures/filter");
  await one.waitForSelector(".chart svg");
  await one.click(".values summary >> nth=0");
  check((await one.locator(".values >> nth=0").locator("tbody tr").count()) > 3, "and stands in a table");
  await look(one, "figures");
});

export const a_readers_day = () => day("reader", async ({ server, workspace, sheet, look }) => {
  workspace.call("release", "flub", "--date", "2026-01-02");
  workspace.call("run", "--offline", "-q", "--recipe", "flub", "--set", "filter.min_chars=20");
  const one = await sheet();
  await one.goto(server.url + "/releases");
  await look(one, "releases");
  await one.goto(server.url + "/flub/release/candidate");
  await look(one, "release");
  await one.click("a.button[href$='/rows']");
  const rows = await one.locator(".rows tbody tr").count();
  check(rows > 2, "rows stand there");
  await look(one, "table");
  await one.click(".rows thead a >> nth=1");
  check((await one.locator("th[aria-sort=ascending]").count()) === 1, "a column is sorted");
  await one.fill("#q", "为什么");
  await one.waitForURL(/q=/);
  await one.waitForFunction((rows) => document.querySelectorAll(".rows tbody tr").length < rows, rows);
  await one.click(".rows tbody th a >> nth=0");
  check((await one.locator("#row dt").count()) > 6, "one row whole");
  await look(one, "row");
  await one.goto(server.url + "/flub/release/candidate");
  const [download] = await Promise.all([one.waitForEvent("download"), one.click(".files a >> text=MANIFEST.json")]);
  check(readFileSync(await download.path(), "utf8") === workspace.read("output/flub/candidate/MANIFEST.json"), "a file comes as it is");
  await one.goto(server.url + "/flub/release/candidate/card");
  check((await one.locator(".markdown table").count()) > 0, "the card is rendered");
  await look(one, "card");
  await one.goto(server.url + "/flub/diff");
  check((await one.locator(".card .records li").count()) > 0, "versions differ");
  await look(one, "diff");
  // The report, read from a file, in either language.
  const folder = mkdtempSync(join(tmpdir(), "riddlemill-report-"));
  try {
    workspace.call("report", "--html", "report.html");
    const report = await sheet();
    writeFileSync(join(folder, "report.html"), workspace.read("report.html"));
    await report.goto("file://" + join(folder, "report.html"));
    await accessible(report, "report in English");
    await report.check("#in-zh", { force: true });
    check((await report.locator("h1 [lang=en]").isHidden()) && (await report.locator("h1 [lang=zh-Hans]").isVisible()), "the report turns to Chinese");
    await accessible(report, "report in Chinese");
    await picture(report, "day-report");
    // So do the figures of models, and what differs between two versions.
    workspace.call("evaluate", "--offline", "--model", "sample-solver", "--model", "random", "--judge", "sample-marker", "--shots", "0,2", "--resamples", "200", "brainteaser", "chumor");
    workspace.callEnding(1, "diff", "output/flub/1.0.0-draft.1", "output/flub/candidate", "--html", "diff.html");
    for (const [name, place] of [["brainteaser", "output/brainteaser/evaluation/candidate/report.html"], ["chumor", "output/chumor/evaluation/candidate/report.html"], ["diff", "diff.html"]]) {
      writeFileSync(join(folder, name + ".html"), workspace.read(place));
      await report.goto("file://" + join(folder, name + ".html"));
      await accessible(report, `${name} from a file`);
      check((await report.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, `${name} is too wide`);
      if (!(await report.locator("#in-zh").count())) continue;
      await report.check("#in-zh", { force: true });
      await accessible(report, `${name} from a file, in Chinese`);
      const english = await report.$$eval("h2, header p, main p, nav a, figcaption, thead th", (all) => all.map((e) => e.innerText.trim()).filter((words) => /[a-z]{4}/.test(words) && !/[一-鿿]/.test(words) && !/^sample-|^random$/.test(words)));
      check(english.length === 0, `${name} in another language: ${english.slice(0, 5).join(" | ")}`);
      await picture(report, `day-evaluation-${name}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
