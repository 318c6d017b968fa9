// The review page, by keyboard: votes, a lost connection, a server that is killed, a dispute.
import { Server, Workspace, check, open, page, picture } from "./harness.mjs";

const votes = (workspace) => {
  try {
    return workspace.read("raw/votes/000001.jsonl").trim().split("\n").map((line) => JSON.parse(line));
  } catch {
    return [];
  }
};

async function vote(sheet, key) {
  const before = sheet.url() + (await sheet.getAttribute("#ballot", "data-key"));
  await sheet.keyboard.press(key);
  await sheet.keyboard.press("Enter");
  await sheet.waitForFunction((before) => {
    const form = document.getElementById("ballot");
    return form && location.href + form.dataset.key !== before && document.readyState === "complete";
  }, before, { timeout: 30000 });
}

export const an_annotator_votes_twenty_items_through_a_lost_connection = async () => {
  const workspace = Workspace.sample();
  let server = await Server.start(workspace);
  const browser = await open();
  try {
    const sheet = await page(browser);
    // A first-time user: the start leads to a desk, the desk says what to press.
    await sheet.goto(server.url);
    await sheet.click(".places a[href='/review']");
    await sheet.selectOption("select[name=as]", "annotator-1");
    await sheet.click("text=Choose");
    await picture(sheet, "review-queue");
    await sheet.click(".desk >> nth=0");
    check((await sheet.textContent(".guide")).includes("choose an answer"), "the keys are named");
    await picture(sheet, "review-item");
    for (let n = 0; n < 10; n++) await vote(sheet, n % 3 ? "1" : "3");
    check(votes(workspace).length === 10, "ten votes are on disk");

    // The line is cut while a vote is under way, and comes back.
    await sheet.context().setOffline(true);
    const key = await sheet.getAttribute("#ballot", "data-key");
    await sheet.keyboard.press("1");
    await sheet.keyboard.press("Enter");
    await sheet.waitForFunction(() => document.getElementById("message").textContent.startsWith("Not saved yet"));
    await picture(sheet, "review-offline");
    check(votes(workspace).length === 10, "nothing pretends to be saved");
    await sheet.context().setOffline(false);
    await sheet.waitForFunction((key) => document.getElementById("ballot")?.dataset.key !== key, key, { timeout: 30000 });
    check(votes(workspace).length === 11, "the vote came through once");

    // The server is killed and started again at the same place.
    const { port } = server;
    await server.kill();
    const then = await sheet.getAttribute("#ballot", "data-key");
    await sheet.keyboard.press("1");
    await sheet.keyboard.press("Enter");
    await sheet.waitForFunction(() => document.getElementById("message").textContent.startsWith("Not saved yet"));
    server = await Server.start(workspace, port);
    await sheet.waitForFunction((then) => document.getElementById("ballot")?.dataset.key !== then, then, { timeout: 30000 });
    for (let n = 12; n < 20; n++) await vote(sheet, "1");
    const all = votes(workspace);
    check(all.length === 20 && new Set(all.map((v) => v.item)).size === 20, `twenty votes, each once: ${all.length}`);
    check(all.every((v) => v.seconds > 0 && v.annotator === "annotator-1"), "times are kept");

    // An item is passed over with a reason, and comes again at the end.
    const passed = await sheet.inputValue("#ballot [name=item]");
    await sheet.keyboard.press("s");
    await sheet.keyboard.type("I know where it comes from");
    await sheet.keyboard.press("Enter");
    await sheet.waitForFunction((passed) => document.querySelector("#ballot [name=item]")?.value !== passed && document.readyState === "complete", passed);
    check(votes(workspace).length === 20, "passing over is no vote");
    check(workspace.read("raw/votes/skipped/ruozhibench-gen.screen.jsonl").includes("where it comes from"), "the reason is kept");

    // Back, and another mind: a new vote that replaces the old one.
    await sheet.keyboard.press("u");
    await sheet.waitForSelector("text=You have voted on this");
    await sheet.keyboard.press("4");
    await sheet.keyboard.press("Enter");
    await sheet.waitForFunction(() => document.readyState === "complete" && !document.body.textContent.includes("You have voted on this"));
    const changed = votes(workspace);
    check(changed.length === 21 && changed[20].supersedes, "the vote before stays on record");
    check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
  } finally {
    await browser.close();
    await server.kill();
    workspace.remove();
  }
};

export const an_edit_shows_its_difference_and_survives_a_reload = async () => {
  const workspace = Workspace.sample();
  const server = await Server.start(workspace);
  const browser = await open();
  try {
    const sheet = await page(browser);
    await sheet.goto(server.url + "/review/ruozhibench-gen/translation/vote?as=annotator-1");
    check(await sheet.locator("fieldset textarea").isHidden(), "a text is asked for only where the draft is not taken");
    await sheet.locator("input[value=rewrite]").check();
    const draft = await sheet.inputValue("fieldset textarea");
    await sheet.fill("fieldset textarea", draft + " Really?");
    check((await sheet.textContent("[data-diff]")).includes("Really?"), "the edit shows its difference");
    await picture(sheet, "review-edit");
    await sheet.reload();
    check((await sheet.inputValue("fieldset textarea")).includes("Really?"), "what was typed is still there");
    // The text differs from the draft before it is saved, too: the next item is waited for.
    const before = await sheet.getAttribute("#ballot", "data-key");
    await sheet.click("text=Save and next");
    await sheet.waitForFunction((before) => document.readyState === "complete" && document.getElementById("ballot")?.dataset.key !== before, before);
    check(votes(workspace)[0].values.question_en.includes("Really?"), "the edited text is stored");
    check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
  } finally {
    await browser.close();
    await server.kill();
    workspace.remove();
  }
};

export const a_dispute_is_settled_and_the_run_uses_it = async () => {
  const workspace = Workspace.sample();
  const server = await Server.start(workspace);
  const browser = await open();
  try {
    for (const [name, key] of [["annotator-1", "1"], ["annotator-2", "2"]]) {
      const sheet = await page(browser);
      await sheet.goto(`${server.url}/review/ruozhibench-gen/category/vote?as=${name}`);
      check((await sheet.locator(":checked").count()) === 0, "no draft is marked as an answer");
      await sheet.locator("input[name='f.sure'][value=yes]").check();
      await sheet.locator("input[name='f.categories']").first().focus();
      await vote(sheet, key);
    }
    const sheet = await page(browser);
    await sheet.goto(server.url + "/review?as=meta-1");
    await sheet.click(".desk[href*='category/adjudication']");
    check((await sheet.textContent(".subject")).includes("Votes so far: 2"), "the votes stand apart");
    check(!(await sheet.textContent("main")).includes("annotator-"), "and name nobody");
    await sheet.keyboard.press("1");
    await sheet.click("text=Save and next");
    await sheet.waitForSelector("[data-field=reason] .wrong:not([hidden])");
    await sheet.fill("textarea", "The question takes a figure of speech for a fact.");
    await picture(sheet, "review-dispute");
    await sheet.click("text=Save and next");
    await sheet.waitForSelector("text=All done");
    const decided = votes(workspace).at(-1);
    check(decided.round === "adjudication" && decided.values.reason, "the decision is stored with its reason");
    workspace.call("run", "--offline", "-q", "--recipe", "ruozhibench-gen");
    const explained = workspace.call("explain", decided.item, "--recipe", "ruozhibench-gen", "--json");
    check(explained.includes("meta-1"), "the run rests on the decision");
    await sheet.goto(server.url + "/curate");
    check((await sheet.textContent("main")).includes("meta-1"), "the curator sees who did what");
    await picture(sheet, "curate");
    check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
  } finally {
    await browser.close();
    await server.kill();
    workspace.remove();
  }
};

export const two_tabs_and_an_item_that_changed_are_told = async () => {
  const workspace = Workspace.sample();
  const server = await Server.start(workspace);
  const browser = await open();
  try {
    const place = server.url + "/review/ruozhibench-gen/translation/vote?as=annotator-1";
    const first = await page(browser);
    const second = await first.context().newPage();
    await first.goto(place);
    await second.goto(place);
    const item = await first.inputValue("#ballot [name=item]");
    check(item === (await second.inputValue("#ballot [name=item]")), "both tabs hold one item");
    await first.locator("input[value=accept]").check();
    // A double click is one vote.
    await first.evaluate(() => { const form = document.getElementById("ballot"); form.requestSubmit(); form.requestSubmit(); });
    await first.waitForFunction((item) => document.querySelector("#ballot [name=item]")?.value !== item, item);
    check(votes(workspace).length === 1, "a double click is one vote");
    await second.locator("input[value=rewrite]").check();
    await second.fill("textarea", "Is this the second tab?");
    await second.click("text=Save and next");
    await second.waitForFunction(() => document.getElementById("message").textContent.startsWith("You have voted on this in another tab"));
    check(votes(workspace).length === 1, "the first vote stands");

    // The item of the first tab becomes another while it is open.
    const changing = await first.inputValue("#ballot [name=item]");
    const before = await first.textContent(".subject .post");
    const words = before.trim().slice(0, 6);
    const dump = ["titles.json", "annual.json", "thread.jsonl"].map((name) => "raw/sample/dumps/" + name).find((path) => workspace.read(path).includes(words));
    check(dump, "the text stands in a dump");
    workspace.write(dump, workspace.read(dump).replaceAll(words, "后来" + words));
    workspace.call("run", "--offline", "-q", "--recipe", "ruozhibench-gen");
    await first.locator("input[value=accept]").check();
    await first.click("text=Save and next");
    await first.waitForFunction(() => document.getElementById("message").textContent.startsWith("The item has changed"));
    check(votes(workspace).length === 1, "nothing is stored on a text that nobody saw");
    check(first.wrong.length === 0, first.wrong.join("\n"));
  } finally {
    await browser.close();
    await server.kill();
    workspace.remove();
  }
};

export const several_votes_without_a_network_wait_in_order = async () => {
  const workspace = Workspace.sample();
  const server = await Server.start(workspace);
  const browser = await open();
  try {
    const sheet = await page(browser);
    await sheet.goto(server.url + "/review/chumor/screen/vote?as=annotator-1");
    const item = () => sheet.inputValue("#ballot [name=item]");
    const cast = async (key, less = 0) => {
      const before = await item();
      if (key) await sheet.keyboard.press(key);
      await sheet.keyboard.press("Enter");
      if (!less) await sheet.waitForFunction((before) => document.querySelector("#ballot [name=item]")?.value !== before && document.readyState === "complete", before, { timeout: 30000 });
      return before;
    };
    const first = await cast("1");
    check(votes(workspace).length === 1, "one vote is on disk");
    // The pages after this one are fetched while there is a network.
    await sheet.waitForTimeout(6000);
    await sheet.context().setOffline(true);
    const held = [];
    for (let n = 0; n < 3; n++) held.push(await cast("1"));
    check(new Set([first, ...held, await item()]).size === 5, `every item is another: ${held}`);
    check(sheet.url().includes(encodeURIComponent(await item())) || sheet.url().includes(await item()), `the address names the item: ${sheet.url()}`);
    check((await sheet.textContent("#queue")).includes("3"), await sheet.textContent("#queue"));
    check((await sheet.textContent("#message")).startsWith("Not saved yet"), "it says that nothing is saved yet");
    await picture(sheet, "review-queue-offline");
    // Without an answer one does not go on.
    await cast("", 1);
    check((await sheet.locator("fieldset [data-wrong]:not([hidden])").count()) > 0, "what is missing is named without the server");
    check(votes(workspace).length === 1, "nothing pretends to be saved");
    // One of them changes meanwhile and cannot be taken: it is shown, and the others come through in order.
    await sheet.evaluate((id) => {
      const name = Object.keys(localStorage).find((name) => name.startsWith("riddlemill queue"));
      const queue = JSON.parse(localStorage.getItem(name));
      for (const entry of queue) if (entry.item === id) entry.fields = entry.fields.map(([field, value]) => [field, field === "hash" ? "00" : value]);
      localStorage.setItem(name, JSON.stringify(queue));
    }, held[1]);
    await sheet.context().setOffline(false);
    await sheet.waitForFunction(() => document.getElementById("queue").querySelector("a"), null, { timeout: 30000 });
    await sheet.waitForFunction(() => !Object.keys(localStorage).some((name) => name.startsWith("riddlemill queue")), null, { timeout: 30000 });
    const stored = votes(workspace).map((vote) => vote.item);
    check(stored.join() === [first, held[0], held[2]].join(), `in order, without the one that changed: ${stored}`);
    const shown = await sheet.textContent("#queue");
    check(shown.includes("Not taken:") && shown.includes(held[1]), shown);
    // Its link leads to the item with its answers; saved from there, it is shown no more.
    await sheet.click("#queue a");
    await sheet.waitForFunction((id) => document.querySelector("#ballot [name=item]")?.value === id, held[1]);
    check((await sheet.locator("#ballot :checked").count()) > 0, "the answers are still there");
    await cast("");
    check(votes(workspace).length === 4 && (await sheet.locator("#queue").isHidden()), "all of them are stored");
    check(sheet.wrong.length === 0, sheet.wrong.join("\n"));
  } finally {
    await browser.close();
    await server.kill();
    workspace.remove();
  }
};
