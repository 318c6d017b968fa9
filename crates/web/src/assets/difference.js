// What an edit changed, for the text below a draft.

/**
 * A piece of two texts: in both ("") or in one of them.
 * @typedef {["" | "del" | "ins", string]} Piece
 */

/** Above so many comparisons a middle that differs is shown as a whole. */
const MOST = 250000;

/**
 * Two texts as one: the middle that differs, character by character where it is short.
 * @param {string} before
 * @param {string} after
 * @returns {Piece[]}
 */
export function pieces(before, after) {
  const a = [...before];
  const b = [...after];
  let head = 0;
  let tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  const shorter = Math.min(a.length, b.length) - head;
  while (tail < shorter && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  /** @type {Piece[]} */
  const out = [];
  /** @type {(kind: Piece[0], text: string) => void} */
  const put = (kind, text) => {
    const last = out.at(-1);
    if (!text) return;
    if (last?.[0] === kind) last[1] += text;
    else out.push([kind, text]);
  };
  put("", a.slice(0, head).join(""));
  middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail), put);
  put("", a.slice(a.length - tail).join(""));
  return out;
}

/**
 * The pieces of two texts by their longest common subsequence.
 * @param {string[]} a
 * @param {string[]} b
 * @param {(kind: Piece[0], text: string) => void} put
 */
function middle(a, b, put) {
  if (a.length * b.length > MOST) {
    put("del", a.join(""));
    put("ins", b.join(""));
    return;
  }
  // How long the longest common subsequence from here on is.
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const skipped = Math.max(longest[i + 1][j], longest[i][j + 1]);
      longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : skipped;
    }
  }
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      put("", a[i++]);
      j++;
    } else if (i < a.length && (j >= b.length || longest[i + 1][j] >= longest[i][j + 1])) {
      put("del", a[i++]);
    } else put("ins", b[j++]);
  }
}
