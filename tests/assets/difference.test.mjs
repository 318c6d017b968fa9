// What an edit of a draft shows: node --test tests/assets/*.test.mjs
import assert from "node:assert/strict";
import { test } from "node:test";
import { pieces } from "../../crates/web/src/assets/difference.js";

/** One side of a difference. @param {string} side @param {ReturnType<typeof pieces>} found */
const side = (side, found) =>
  found
    .filter(([kind]) => kind === "" || kind === side)
    .map(([, text]) => text)
    .join("");

test("equal texts are one piece, empty ones none", () => {
  assert.deepEqual(pieces("a lamp", "a lamp"), [["", "a lamp"]]);
  assert.deepEqual(pieces("", ""), []);
});

test("what was changed is marked by the character", () => {
  assert.deepEqual(pieces("雨伞会怕水？", "雨伞怕不怕水？"), [
    ["", "雨伞"],
    ["del", "会"],
    ["ins", "怕不"],
    ["", "怕水？"],
  ]);
  assert.deepEqual(pieces("ab", "abc"), [
    ["", "ab"],
    ["ins", "c"],
  ]);
  assert.deepEqual(pieces("abc", ""), [["del", "abc"]]);
});

test("a character of two units is not cut", () => {
  assert.deepEqual(pieces("😀", "😁"), [
    ["del", "😀"],
    ["ins", "😁"],
  ]);
});

test("a middle that is too long is replaced as a whole", () => {
  const before = `<${"ab".repeat(300)}>`;
  const after = `<${"cb".repeat(300)}>`;
  assert.deepEqual(
    pieces(before, after).map(([kind]) => kind),
    ["", "del", "ins", ""],
  );
});

test("the pieces of each side are its text, and neighbours differ in kind", () => {
  let seed = 7;
  const random = (/** @type {number} */ most) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % most;
  };
  const text = () => Array.from({ length: random(12) }, () => "ab灯😀"[random(4)]).join("");
  for (let round = 0; round < 2000; round++) {
    const [before, after] = [text(), text()];
    const found = pieces(before, after);
    assert.equal(side("del", found), before);
    assert.equal(side("ins", found), after);
    assert.ok(found.every(([kind, text], at) => text && kind !== found[at - 1]?.[0]));
  }
});
