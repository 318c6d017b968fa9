// Votes cast while the line is down: node --test tests/assets/*.test.mjs
import assert from "node:assert/strict";
import { test } from "node:test";
import { Queue, Store } from "../../crates/web/src/assets/queue.js";

/** @typedef {import("../../crates/web/src/assets/queue.js").Entry} Entry */
/** @typedef {import("../../crates/web/src/assets/queue.js").Sent} Sent */

/** A store of a browser that takes so many entries. */
function storage(most = 100) {
  const kept = new Map();
  const store = {
    kept,
    getItem: (/** @type {string} */ name) => kept.get(name) ?? null,
    setItem: (/** @type {string} */ name, /** @type {string} */ value) => {
      if (!kept.has(name) && kept.size >= most) throw new Error("full");
      kept.set(name, value);
    },
    removeItem: (/** @type {string} */ name) => kept.delete(name),
  };
  return /** @type {Storage & typeof store} */ (/** @type {unknown} */ (store));
}

/** @param {string} item @returns {Entry} */
const vote = (item) => ({
  key: `riddlemill ${item}`,
  item,
  here: `/review?item=${item}`,
  action: "/review",
  fields: [["item", item]],
});

/** @type {Sent} */
const saved = { status: 200, found: { status: "saved" }, saved: true, over: false };
/** @type {Sent} */
const faulty = { status: 422, found: { status: "faulty" }, saved: false, over: false };

/**
 * Flushes a queue against a server that answers in turn, and tells what was sent.
 * @param {Queue} queue
 * @param {(Sent | null)[]} answers
 */
async function flushed(queue, answers) {
  /** @type {string[]} */
  const sent = [];
  let changes = 0;
  const ended = await queue.flush(
    async (entry) => {
      sent.push(entry.item);
      return answers[sent.length - 1];
    },
    (answer) => answer.found.status ?? "",
    () => {
      changes++;
    },
  );
  return { ...ended, sent, changes };
}

const items = (/** @type {Entry[]} */ entries) => entries.map((entry) => entry.item);

test("votes are sent in order, and what was kept of them is dropped", async () => {
  const kept = storage();
  const store = new Store(() => kept);
  const queue = new Queue(store, "ann");
  for (const item of ["a", "b"]) {
    store.set(`riddlemill ${item}`, [["f.kind", "x"]]);
    assert.ok(queue.add(vote(item)));
  }
  const found = await flushed(queue, [saved, saved]);
  assert.deepEqual(found, { saved: 2, ended: "empty", sent: ["a", "b"], changes: 2 });
  assert.equal(kept.kept.size, 0);
});

test("a line that is down again, or a server that is busy, keeps what is left", async () => {
  for (const answer of [null, { ...faulty, status: 503 }]) {
    const kept = storage();
    const queue = new Queue(new Store(() => kept), "ann");
    for (const item of ["a", "b", "c"]) queue.add(vote(item));
    const found = await flushed(queue, [saved, answer]);
    assert.deepEqual(found, { saved: 1, ended: "down", sent: ["a", "b"], changes: 1 });
    assert.deepEqual(items(queue.waiting()), ["b", "c"]);
    assert.deepEqual(queue.refused(), []);
  }
});

test("a session that is over stops, and nothing is lost", async () => {
  const kept = storage();
  const queue = new Queue(new Store(() => kept), "ann");
  queue.add(vote("a"));
  const over = { ...faulty, status: 401, over: true };
  assert.equal((await flushed(queue, [over])).ended, "over");
  assert.deepEqual(items(queue.waiting()), ["a"]);
});

test("a refused vote is set aside with its reason and its answers, and the next ones go on", async () => {
  const kept = storage();
  const store = new Store(() => kept);
  const queue = new Queue(store, "ann");
  for (const item of ["a", "b"]) queue.add(vote(item));
  store.set("riddlemill a", [["f.kind", "x"]]);
  assert.deepEqual((await flushed(queue, [faulty, saved])).saved, 1);
  assert.deepEqual(queue.refused(), [{ ...vote("a"), why: "faulty" }]);
  assert.deepEqual(store.get("riddlemill a"), [["f.kind", "x"]]);
  queue.forget("riddlemill a");
  assert.deepEqual(queue.refused(), []);
});

test("a second vote on an item takes the place of the first", () => {
  const kept = storage();
  const queue = new Queue(new Store(() => kept), "ann");
  for (const item of ["a", "b"]) queue.add(vote(item));
  queue.add({ ...vote("a"), fields: [["item", "again"]] });
  assert.deepEqual(items(queue.waiting()), ["b", "a"]);
  assert.deepEqual(queue.waiting()[1].fields, [["item", "again"]]);
});

test("each person has a queue of their own", () => {
  const kept = storage();
  const store = new Store(() => kept);
  new Queue(store, "ann").add(vote("a"));
  assert.deepEqual(new Queue(store, "bo").waiting(), []);
});

test("a store that is full, forbidden or damaged keeps nothing and says so", () => {
  const full = new Queue(new Store(() => storage(0)), "ann");
  assert.equal(full.add(vote("a")), false);
  const forbidden = new Store(() => {
    throw new Error("forbidden");
  });
  assert.equal(new Queue(forbidden, "ann").add(vote("a")), false);
  assert.deepEqual(new Queue(forbidden, "ann").waiting(), []);
  forbidden.drop("riddlemill a");
  const damaged = storage();
  damaged.setItem("riddlemill queue ann", "{");
  assert.deepEqual(new Queue(new Store(() => damaged), "ann").waiting(), []);
});
