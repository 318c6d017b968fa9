// Every ballot of the benchmarks, with the keyboard alone, at three widths and in both languages.
import { readFileSync, readdirSync } from "node:fs";
import { Server, Workspace, accessible, check, open, openFirefox, page, picture } from "./harness.mjs";

const SIZES = [[1280, 800, "en"], [800, 900, "zh-CN"], [390, 844, "zh-CN"], [390, 844, "en"]];

// Where each ballot waits for somebody, by its name: whoever may vote on it, in whatever round.
async function desks_of(server, sheet) {
  const desks = new Map();
  await sheet.goto(server.url + "/review");
  for (const name of await sheet.$$eval("select[name=as] option", (all) => all.map((e) => e.textContent))) {
    await sheet.goto(server.url + "/review?as=" + name);
    for (const href of await sheet.$$eval(".desk", (all) => all.map((e) => e.getAttribute("href")))) {
      const place = href.split("?")[0].replace("/review/", "").replaceAll("/", ".");
      if (!desks.has(place)) desks.set(place, []);
      desks.get(place).push(server.url + href);
    }
  }
  return desks;
}

// The sample with ballots that are asked on demand, which keep back what is behind them.
function sample(wanted = []) {
  const workspace = new Workspace();
  workspace.call("init", "-q");
  if (wanted.length) workspace.write("pipeline.toml", workspace.read("pipeline.toml") + `\n[review]\nwanted = ${JSON.stringify(wanted)}\n`);
  workspace.call("run", "--offline", "-q");
  return workspace;
}

// Ballots with something to vote on: of the sample, those that are asked on demand, and rounds behind the first where two
// voters differed.
async function walked(work, launch = open, workspace = sample(), prepare = async (desks) => desks) {
  const server = await Server.start(workspace);
  const browser = await launch();
  try {
    const sheet = await page(browser);
    const desks = await prepare(await desks_of(server, sheet), sheet, server);
    await work(new Map([...desks].map(([name, [address]]) => [name, address])), browser, workspace);
  } finally {
    await browser.close();
    await server.kill();
    workspace.remove();
  }
}

const ON_DEMAND = ["final", "suitability"];
const on_demand = (work, launch = open) => walked(work, launch, sample(ON_DEMAND), async (desks) => {
  const kept = new Map([...desks].filter(([name]) => ON_DEMAND.includes(name.split(".")[1])));
  check(kept.size === ON_DEMAND.length, `asked on demand: ${[...kept.keys()]}`);
  return kept;
});

// Everybody answers their first item of each ballot, one with the first answers and the next with the last ones, so that
// they differ.
const later_rounds = (work, launch = open) => walked(work, launch, sample(), async (desks, sheet, server) => {
  for (const [name, addresses] of desks) {
    for (const [turn, address] of addresses.entries()) {
      await sheet.goto(address);
      if (!(await sheet.locator("#ballot").count())) continue;
      const before = await sheet.getAttribute("#ballot", "data-key");
      await sheet.evaluate((turn) => {
        for (let n = 0; n < 12; n++) {
          const sets = [...document.querySelectorAll("fieldset[data-group][data-required]")].filter((s) => s.dataset.group && !s.hidden);
          const set = sets.find((s) => s.querySelectorAll(":checked").length < (s.dataset.kind === "one" || s.querySelector("[value=keep]") ? 1 : Number(s.dataset.max) === 3 ? 3 : 1));
          if (!set) break;
          const free = [...set.querySelectorAll("input:not(:checked)")];
          (turn % 2 ? free.at(-1) : free[0]).click();
        }
        for (const [n, text] of document.querySelectorAll("fieldset[data-kind=text][data-required]:not([hidden]) textarea").entries()) {
          text.value = `写下第 ${turn + 1} 个人的回答${"甲乙丙"[n]}。`;
          text.dispatchEvent(new Event("input", { bubbles: true }));
        }
        document.querySelectorAll("[name=anyway]").forEach((box) => { box.checked = true; });
      }, turn);
      await sheet.keyboard.press("Control+Enter");
      await sheet.waitForFunction((before) => document.readyState === "complete" && document.getElementById("ballot")?.dataset.key !== before, before, { timeout: 15000 }).catch(async () => { throw new Error(`${name}: not saved: ${await sheet.textContent("#message")}`); });
    }
  }
  const later = new Map([...(await desks_of(server, sheet))].filter(([name]) => !name.endsWith(".vote")));
  check(later.size > 2, `rounds behind the first: ${[...later.keys()]}`);
  return later;
});

async function everywhere(work, some = walked) {
  await some(async (desks, browser) => {
    for (const [width, height, locale] of SIZES) {
      const sheet = await page(browser, { viewport: { width, height }, locale });
      for (const [name, address] of desks) {
        await sheet.goto(address);
        await work(sheet, `${name}-${width}-${locale.slice(0, 2)}`, width, locale);
      }
      check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
      await sheet.context().close();
    }
  });
}

export const a_ballot_that_lacks_an_answer_says_so_where_the_eye_is = () => everywhere(async (sheet, name, width, locale) => {
  await sheet.keyboard.press("Enter");
  await sheet.waitForSelector("fieldset [data-wrong]:not([hidden])");
  const found = await sheet.evaluate(() => {
    const seen = (e) => { const { top, bottom } = e.getBoundingClientRect(); return bottom > top && top >= 0 && bottom <= innerHeight; };
    const message = document.getElementById("message"), set = document.activeElement.closest("fieldset"), wrong = set?.querySelector("[data-wrong]");
    return { message: message.textContent, seen: seen(message), marked: set && seen(wrong), focused: set && seen(document.activeElement), invalid: !!set && (set.matches("[aria-invalid]") || document.activeElement.matches("[aria-invalid]")), words: wrong?.textContent, live: message.getAttribute("role") };
  });
  check(found.seen && found.message && found.live === "status", `${name}: the word on the vote is out of sight: ${JSON.stringify(found)}`);
  check(found.marked && found.focused && found.invalid, `${name}: the field is not marked and focused: ${JSON.stringify(found)}`);
  check(/尚未回答/.test(found.words) === (locale !== "en") && /[一-鿿]/.test(found.message) === (locale !== "en"), `${name}: in another language than the page: ${found.message} ${found.words}`);
  await picture(sheet, `faulty-${name}`);
  // An answer takes the mark away.
  await sheet.evaluate(() => { const e = document.activeElement; if (e.matches("textarea")) { e.value = "x"; e.dispatchEvent(new Event("input", { bubbles: true })); } else e.click(); });
  check(await sheet.evaluate(() => document.activeElement.closest("fieldset").querySelector("[data-wrong]").hidden), `${name}: the mark stays on a field that is answered`);
});

const by_keys = (locale) => async (desks, browser, workspace) => {
  const sheet = await page(browser, { viewport: { width: 1280, height: 800 }, locale });
  const cast = () => { try { return workspace.read("raw/votes/000001.jsonl").trim().split("\n").length; } catch { return 0; } };
  const already = cast();
  for (const [name, address] of desks) {
    await sheet.goto(address);
    // Everything that is asked is asked in the language of the page; corrections to pick from are the item's own words.
    const foreign = await sheet.$$eval("legend, .option b, .option .soft, .subject h2, .asked, .button", (all, zh) => all.filter((e) => !e.closest("label")?.querySelector("[name='f.accepted']")).map((e) => e.textContent.trim()).filter((words) => /[a-z]{3}/i.test(words) !== !zh && /[一-鿿]/.test(words) !== zh), locale !== "en");
    check(locale === "en" || foreign.length === 0, `${name}: in another language: ${foreign.slice(0, 5).join(" | ")}`);
    const before = await sheet.getAttribute("#ballot", "data-key");
    check(await sheet.evaluate(() => [...document.querySelectorAll(".option kbd")].every((k) => k.dataset.key)), `${name}: an answer has no key`);
    const help = await sheet.textContent(".keys");
    for (const key of ["Ctrl", "Tab", "Enter", "↑", "Esc", ...(await sheet.$$eval(".option kbd", (all) => all.map((k) => k.textContent)))]) check(help.includes(key), `${name}: the help does not tell ${key}`);
    let keys = 0, answers = 0;
    const press = async (key) => { keys += 1; await sheet.keyboard.press(key); };
    // Everything that has to be answered, with the last key of every question, as the page shows it.
    for (let n = 0; n < 12; n++) {
      const next = await sheet.evaluate(() => {
        const set = [...document.querySelectorAll("fieldset[data-group][data-required]")].filter((s) => s.dataset.group && !s.hidden).find((s) => s.querySelectorAll(":checked").length < (s.dataset.kind === "one" || s.querySelector("[value=keep]") ? 1 : Number(s.dataset.max) === 3 ? 3 : 1));
        if (!set) return null;
        const free = [...set.querySelectorAll(".option")].filter((o) => !o.querySelector(":checked"));
        // Where the draft can be rewritten it is accepted here; rewriting is walked below.
        const at = set.querySelector("[value=accept], [value=keep]") ? free.find((o) => o.querySelector("[value=accept], [value=keep]")) : free.at(-1);
        return { now: set.classList.contains("now"), key: at.querySelector("kbd").dataset.key };
      });
      if (!next) break;
      check(next.now, `${name}: the next question does not take the keys`);
      answers += 1;
      await press(next.key);
    }
    const texts = await sheet.evaluate(() => [...document.querySelectorAll("fieldset[data-kind=text][data-required]")].filter((s) => !s.hidden).length);
    for (let n = 0; n < texts; n++) {
      // After one answer the cursor is there; several answers are ended by Tab.
      if (n || !(await sheet.evaluate(() => document.activeElement.matches("textarea")))) await press("Tab");
      check(await sheet.evaluate(() => document.activeElement.matches("textarea")), `${name}: a text takes more than one Tab`);
      answers += 1;
      await sheet.keyboard.type(`写下第 ${n + 1} 个回答。`);
    }
    const meant = await sheet.$("[name=anyway]");
    check(!meant || !(await meant.isVisible()), `${name}: one may overrule what nobody has answered yet`);
    await press(texts ? "Control+Enter" : "Enter");
    check(keys <= answers + 1, `${name}: ${keys} keys for ${answers} answers`);
    // A choice that gives the right option away is asked about once: it is meant, here.
    if (meant) {
      await sheet.waitForFunction((before) => document.getElementById("ballot")?.dataset.key !== before || document.getElementById("message").textContent, before, { timeout: 15000 });
      if ((await sheet.getAttribute("#ballot", "data-key")) === before) {
        await meant.check();
        await sheet.keyboard.press("Enter");
      }
    }
    await sheet.waitForFunction((before) => document.readyState === "complete" && document.getElementById("ballot")?.dataset.key !== before, before, { timeout: 15000 }).catch(async () => { throw new Error(`${name}: not saved: ${await sheet.textContent("#message")}`); });
    if (process.env.RIDDLEMILL_SHOTS) console.log(`| ${name} | ${answers} | ${keys} |`);
  }
  check(cast() - already === desks.size, "one vote a ballot");
  check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
};
export const every_ballot_takes_one_key_an_answer_and_one_to_send = () => walked(async (desks, browser, workspace) => {
  // Whatever a benchmark declares is walked here or below, and is in docs/ballots.md.
  const benchmarks = new URL("../../src/benchmarks/", import.meta.url);
  const documented = readFileSync(new URL("../../docs/ballots.md", import.meta.url), "utf8");
  for (const benchmark of readdirSync(benchmarks)) {
    let ballots;
    try { ballots = readFileSync(new URL(`${benchmark}/ballots.toml`, benchmarks), "utf8"); } catch { continue; }
    for (const [, name] of ballots.matchAll(/^\[ballot\.([a-z-]+)\]$/gm)) {
      // The sample has no new situation for which all distractors were refused; the ballot is that of `again`.
      const elsewhere = ON_DEMAND.includes(name) || name === "context-again";
      check(elsewhere || desks.has(`${benchmark}.${name}.vote`), `${benchmark} ${name} is not walked`);
      check(new RegExp(`^\\| ${benchmark} \\|[^|]*\\b${name}\\b`, "m").test(documented), `${benchmark} ${name} is not in docs/ballots.md`);
    }
  }
  await by_keys("en")(desks, browser, workspace);
});
export const ballots_on_demand_take_as_few_keys = () => on_demand(by_keys("zh-CN"));
export const disputes_and_second_looks_take_as_few_keys = () => later_rounds(by_keys("zh-CN"));
export const every_ballot_takes_as_few_keys_in_chinese = () => walked(by_keys("zh-CN"));
export const every_ballot_takes_as_few_keys_in_firefox = async () => {
  const browser = await openFirefox();
  if (!browser) return "no Firefox, or no driver for it";
  await browser.close();
  await walked(by_keys("zh-CN"), openFirefox);
};

export const digits_go_on_to_the_next_question = () => walked(async (desks, browser) => {
  const sheet = await page(browser, { viewport: { width: 1280, height: 800 } });
  const marked = () => sheet.$$eval("fieldset:not([hidden]) :checked", (all) => all.map((e) => e.name.slice(2) + "=" + e.value).join(" "));
  await sheet.goto(desks.get("flub.clean.vote"));
  await sheet.keyboard.press("3");
  await sheet.keyboard.press("1");
  check((await marked()) === "verdict=reject reasons=irrelevant", `the second digit answers the second question: ${await marked()}`);
  await sheet.keyboard.press("Backspace");
  await sheet.keyboard.press("1");
  await sheet.keyboard.press("2");
  check((await marked()) === "verdict=keep is_question=no", `one can go back: ${await marked()}`);
  await sheet.goto(desks.get("brainteaser.validity.vote"));
  for (const key of ["1", "2", "1"]) await sheet.keyboard.press(key);
  check((await marked()) === "original=yes semantic=no context=yes", await marked());
  // Several answers to one question, and the next question without a key to say that one is done.
  await sheet.goto(desks.get("ruozhibench-gen.category.vote"));
  for (const key of ["1", "3", "8"]) await sheet.keyboard.press(key);
  check((await marked()) === "categories=1 categories=3 sure=no", await marked());
  // The tenth answer.
  await sheet.goto(desks.get("chumor.errors.vote"));
  await sheet.keyboard.press("0");
  check((await marked()) === "errors=sensitivity", await marked());
  // A rewrite leads into the text, and Ctrl+Enter out of it.
  await sheet.goto(desks.get("ruozhibench-gen.translation.vote"));
  await sheet.keyboard.press("2");
  check(await sheet.evaluate(() => document.activeElement.matches("textarea[name='f.question_en']")), "the text that is asked for has the cursor");
  const item = await sheet.inputValue("#ballot [name=item]");
  await sheet.keyboard.type("Is it? ");
  await sheet.keyboard.press("Control+Enter");
  await sheet.waitForFunction((item) => document.querySelector("#ballot [name=item]")?.value !== item, item);
  check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
});

const task_first = async (sheet, name, width) => {
  const found = await sheet.evaluate(() => {
    const top = (e) => Math.round(e.getBoundingClientRect().top);
    const shown = (e) => e.getClientRects().length > 0;
    const texts = [...document.querySelectorAll(".subject .post:not(.cast *)")].map((e) => e.textContent.trim()).filter((words) => words.length > 12);
    const meanings = [...document.querySelectorAll(".option .soft, .means dd")].filter(shown).map((e) => e.textContent.trim());
    return {
      asked: top(document.querySelector("h1.asked")), text: top(document.querySelector(".subject .post")), choice: top(document.querySelector("fieldset:not([hidden])")), high: document.documentElement.scrollHeight,
      wide: document.documentElement.scrollWidth - innerWidth, twice: meanings.filter((words, at) => meanings.indexOf(words) !== at && words.length > 12).concat(texts.filter((words, at) => texts.indexOf(words) !== at)),
      folded: !document.querySelector(".guideline").open, guide: top(document.querySelector(".guideline summary")), thumb: !!document.querySelector(".thumb"),
      // The name of an answer, as of a type, may be above: it is not among the texts that one chooses from.
      below: [...document.querySelectorAll(".subject .post")].filter((p) => [...document.querySelectorAll(".option:not(:has(.soft)) b, .option .post")].some((o) => o.textContent.trim() && o.textContent.trim() === p.textContent.trim())).length,
    };
  });
  if (process.env.RIDDLEMILL_SHOTS) console.log(name, JSON.stringify(found));
  check(found.wide <= 0, `${name} is ${found.wide} px too wide`);
  check(found.twice.length === 0, `${name}: twice on the page: ${found.twice.join(" | ")}`);
  check(found.below === 0, `${name}: a text stands apart from its choice`);
  if (width === 390) {
    // What is to be decided is before the text.
    check(found.asked < 64 && found.text < (name.includes(".vote-") ? 200 : 340), `${name}: the task begins at ${found.asked} and ${found.text} px`);
    check(found.folded && found.guide < 64, `${name}: the guideline is folded and at hand`);
    if (found.thumb) check(found.choice < 844, `${name}: the choice is out of reach at ${found.choice} px`);
    await sheet.locator(".guideline summary").click();
    check((await sheet.locator(".guideline p").first().boundingBox()).y < 120, `${name}: the guideline opens where it is asked for`);
    await picture(sheet, `guide-${name}`);
    await sheet.locator(".guideline summary").click();
  }
  await picture(sheet, `ballot-${name}`);
  await accessible(sheet, name);
};
export const the_task_comes_first_on_every_screen = () => everywhere(task_first);
export const the_task_comes_first_of_what_is_asked_on_demand = () => everywhere(task_first, on_demand);
export const the_task_comes_first_where_votes_are_looked_at = () => everywhere(task_first, later_rounds);

export const a_remark_a_history_and_a_guideline_are_at_hand = () => walked(async (desks, browser, workspace) => {
  for (const [width, height, locale] of SIZES) {
    const sheet = await page(browser, { viewport: { width, height }, locale });
    const address = desks.get("flub.clean.vote"), name = `${width}-${locale.slice(0, 2)}`;
    await sheet.goto(address);
    const item = await sheet.inputValue("#ballot [name=item]");
    // By keys alone: comment, flag, both answers, and off it goes.
    await sheet.keyboard.press("c");
    check(await sheet.evaluate(() => document.activeElement.name === "n.text"), `${name}: the comment has the cursor`);
    await sheet.keyboard.type(`remark ${name}`);
    await sheet.keyboard.press("Escape");
    for (const key of ["f", "3", "1"]) await sheet.keyboard.press(key);
    check(await sheet.isChecked("[name='n.flag']"), `${name}: the flag has a key`);
    await picture(sheet, `remark-${name}`);
    await accessible(sheet, `remark ${name}`);
    await sheet.keyboard.press("Enter");
    await sheet.waitForFunction((item) => document.querySelector("#ballot [name=item]")?.value !== item, item);
    const who = new URL(address).searchParams.get("as");
    await sheet.goto(new URL(`/review/mine?as=${who}`, address).href);
    await sheet.fill("main input[name=q]", `remark ${name}`);
    await sheet.keyboard.press("Enter");
    await sheet.waitForURL(/q=remark/);
    check((await sheet.locator(".mine > li").count()) === 1, `${name}: the vote is found by its comment`);
    check((await sheet.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, `${name}: the list is too wide`);
    await picture(sheet, `history-${name}`);
    await accessible(sheet, `history ${name}`);
    await sheet.click(".mine > li a.button");
    check((await sheet.inputValue("#ballot [name=item]")) === item && (await sheet.inputValue("[name='n.text']")) === `remark ${name}`, `${name}: the vote can be corrected`);
    await sheet.goto(new URL(`/review/flub/clean/guideline?as=${who}`, address).href);
    await picture(sheet, `guideline-${name}`);
    await accessible(sheet, `guideline ${name}`);
    check((await sheet.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, `${name}: the guideline is too wide`);
    check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
    await sheet.context().close();
  }
  check(workspace.read("raw/votes/notes/flub.clean.jsonl").trim().split("\n").length === SIZES.length, "one remark a vote");
});

// Answers whatever has to be answered on the page, with the first answer of each question, or the last.
const answered = (sheet, last = false) => sheet.evaluate((last) => {
  for (let n = 0; n < 12; n++) {
    const sets = [...document.querySelectorAll("fieldset[data-group][data-required]")].filter((s) => s.dataset.group && !s.hidden);
    const set = sets.find((s) => s.querySelectorAll(":checked").length < (s.dataset.kind === "one" || s.querySelector("[value=keep]") ? 1 : Number(s.dataset.max) === 3 ? 3 : 1));
    if (!set) break;
    const free = [...set.querySelectorAll("input:not(:checked):not([name=anyway])")];
    (last ? free.at(-1) : free[0]).click();
  }
  for (const [n, text] of document.querySelectorAll("fieldset[data-kind=text][data-required]:not([hidden]) textarea").entries()) {
    text.value = `写给这一条的第 ${n + 1} 个回答，不是下一条的。`;
    text.dispatchEvent(new Event("input", { bubbles: true }));
  }
  document.querySelectorAll("[name=anyway]").forEach((box) => { box.checked = true; });
}, last);

// What the form holds, by the names of its fields.
const form_state = (sheet) => sheet.evaluate(() => JSON.stringify([...document.getElementById("ballot").elements].filter((e) => /^f\./.test(e.name) && !e.closest("fieldset").hidden).map((e) => [e.name, e.type === "radio" || e.type === "checkbox" ? [e.value, e.checked] : e.value])));

// Twice voted and once back: the item just voted on stands there with its answers, and the next one is untouched.
const going_back = async (desks, browser) => {
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    const kinds = new Set();
    for (const [name, address] of desks) {
      const sheet = await page(browser, { viewport: { width, height } });
      await sheet.goto(address);
      const item = () => sheet.evaluate(() => document.querySelector("#ballot [name=item]")?.value || "");
      const moved = (from) => sheet.waitForFunction((from) => document.readyState === "complete" && document.querySelector("#ballot [name=item]")?.value !== from, from, { timeout: 15000 });
      const first = await item();
      if (!first) { await sheet.context().close(); continue; }
      check(new URL(sheet.url()).searchParams.get("item") === first, `${name}: the address does not name the item: ${sheet.url()}`);
      check(await sheet.evaluate(() => document.getElementById("ballot").autocomplete === "off"), `${name}: the browser may fill the form in`);
      await answered(sheet);
      const given = await form_state(sheet);
      await sheet.keyboard.press("Control+Enter");
      await moved(first);
      const second = await item();
      if (!second) { await sheet.context().close(); continue; }
      check(new URL(sheet.url()).searchParams.get("item") === second, `${name}: the address does not name the next item: ${sheet.url()}`);
      const untouched = await form_state(sheet);
      await sheet.evaluate(() => { setTimeout(() => history.back()); });
      await moved(second);
      check((await item()) === first, `${name} at ${width}: Back shows ${await item()} instead of ${first}`);
      check((await sheet.textContent("main")).includes("You have voted on this"), `${name}: the page does not say that one has voted`);
      check((await form_state(sheet)) === given, `${name}: the answers are others: ${await form_state(sheet)} instead of ${given}`);
      await sheet.evaluate(() => { setTimeout(() => history.forward()); });
      await moved(first);
      check((await item()) === second && (await form_state(sheet)) === untouched, `${name}: the next item has the answers of the one before it`);
      for (const kind of await sheet.evaluate(() => [document.querySelector(".option .post") ? "preference" : document.querySelector(".option") ? "choice" : "", document.querySelector("fieldset[data-kind=text]:not([hidden])") ? "text" : ""])) kinds.add(kind);
      check(sheet.wrong.length === 0, `${name}: ${sheet.wrong.join("\n")}`);
      await sheet.context().close();
    }
    for (const kind of ["choice", "preference", "text"]) check(kinds.has(kind), `no ${kind} was gone back to at ${width}`);
  }
};
export const back_shows_the_item_just_voted_on = () => walked(going_back);
export const back_shows_the_item_just_voted_on_in_firefox = async () => {
  const browser = await openFirefox();
  if (!browser) return "no Firefox, or no driver for it";
  await browser.close();
  await walked(going_back, openFirefox);
};

// How many answers of a ballot one sees without scrolling, of those that are asked at first: above what sticks to the lower
// edge, and under nothing.
const SEEN = [[1280, 800, 8], [1440, 900, 8], [390, 844, 1]];
const in_sight = async (desks, browser) => {
  for (const [width, height, least] of SEEN) {
    for (const [name, address] of desks) {
      const sheet = await page(browser, { viewport: { width, height } });
      await sheet.goto(address);
      const found = await sheet.evaluate(() => {
        const answers = [...document.querySelectorAll("#ballot fieldset:not([hidden]) .option, #ballot fieldset:not([hidden]) > textarea")];
        const edge = document.querySelector("#ballot .actions").getBoundingClientRect().top;
        const seen = answers.filter((answer) => { const box = answer.getBoundingClientRect(); return box.height > 0 && box.top >= 0 && box.bottom <= edge + 1; });
        const text = document.querySelector(".subject .post, .subject h2")?.getBoundingClientRect();
        return { seen: seen.length, of: answers.length, text: !text || (text.top >= 0 && text.top < innerHeight), folded: ![...document.querySelectorAll(".guide details")].some((fold) => fold.open), thumb: !!document.querySelector(".thumb"), wide: document.documentElement.scrollWidth - innerWidth };
      });
      if (process.env.RIDDLEMILL_SHOTS) console.log(`| ${name} | ${width}×${height} | ${found.seen} of ${found.of} |`);
      check(found.folded && found.wide <= 0, `${name} at ${width}: ${JSON.stringify(found)}`);
      check(found.text, `${name} at ${width}×${height}: the text is out of sight`);
      // On a phone the text comes first; few answers stay under the thumb.
      if (width > 390 || found.thumb) check(found.seen >= Math.min(found.of, least), `${name} at ${width}×${height}: ${found.seen} of ${found.of} answers are in sight`);
      // At the last answer the text is still there.
      if (width > 390) {
        await sheet.evaluate(() => { [...document.querySelectorAll("#ballot fieldset:not([hidden]) .option")].at(-1)?.scrollIntoView({ block: "end" }); });
        const text = await sheet.evaluate(() => { const box = document.querySelector(".reads").getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; });
        check(text, `${name} at ${width}×${height}: the text leaves while one answers`);
      }
      await sheet.context().close();
    }
  }
};
export const answers_are_in_sight_beside_the_text = () => walked(in_sight);
