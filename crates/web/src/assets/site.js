// The search of a site: loads the index in pieces, as scripts, because a page from a disk may fetch
// nothing.
"use strict";
(() => {
  /**
   * A row of the index: its page, its id, its text, the values of each label.
   * @typedef {[string, string, string, string[][]]} Listed
   */
  /** @typedef {{ page: string, id: string, text: string, labels: string[][], low: string }} Row */

  /** Rows that are shown at first, and with each press of the button. */
  const SHOWN = 100;

  const form = document.getElementById("search");
  const body = document.querySelector("#table tbody");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  const pages = document.getElementById("pages");
  if (!(form instanceof HTMLFormElement) || !body || !count || !more) return;
  const { pieces, index, home, all, loading, failed, found: words } = form.dataset;
  const first = [...body.children];
  /** @type {Row[]} */
  const rows = [];
  /** @type {Promise<void> | null} */
  let loaded = null;
  let limit = SHOWN;

  // Each piece of the index calls this.
  /** @param {Listed[]} piece */
  const take = (piece) => {
    for (const [page, id, text, labels] of piece) {
      rows.push({ page, id, text, labels, low: `${id} ${text}`.toLowerCase() });
    }
  };
  Object.assign(window, { riddlemill: take });

  /** @param {string} address @returns {Promise<void>} */
  const script = (address) =>
    new Promise((done, failed) => {
      const element = document.createElement("script");
      element.src = address;
      element.onload = () => {
        element.remove();
        done();
      };
      element.onerror = failed;
      document.head.append(element);
    });
  // One after the other, so that the rows keep their order.
  const load = async () => {
    for (let n = 0; n < Number(pieces); n++) {
      count.textContent = loading ?? "";
      await script(`${index}${n}.js`);
    }
  };
  /** @param {string} text */
  const cell = (text) => {
    const element = document.createElement("td");
    element.dir = "auto";
    element.textContent = text;
    return element;
  };
  /** @param {Row} row */
  const line = (row) => {
    const tr = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    const link = document.createElement("a");
    link.className = "id";
    link.href = home + row.page;
    link.textContent = row.id;
    head.append(link);
    const text = row.text.length > 100 ? `${row.text.slice(0, 100)}…` : row.text;
    tr.append(head, cell(text), ...row.labels.map((values) => cell(values.join(", "))));
    return tr;
  };
  const show = async () => {
    const sought = String(new FormData(form).get("q") ?? "");
    const parts = sought.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = [...form.querySelectorAll("select")]
      .filter((select) => select.value)
      .map((select) => ({ label: Number(select.dataset.label), value: select.value }));
    const isSearch = parts.length > 0 || wanted.length > 0;
    if (pages) pages.hidden = isSearch;
    if (!isSearch) {
      body.replaceChildren(...first);
      count.textContent = "";
      more.hidden = true;
      return;
    }
    loaded ??= load();
    try {
      await loaded;
    } catch {
      count.textContent = failed ?? "";
      loaded = null;
      rows.length = 0;
      return;
    }
    /** @param {Row} row */
    const matches = (row) =>
      parts.every((part) => row.low.includes(part)) &&
      wanted.every(({ label, value }) => row.labels[label].includes(value));
    const found = rows.filter(matches);
    body.replaceChildren(...found.slice(0, limit).map(line));
    const said = (words ?? "").replace("{}", String(found.length));
    count.textContent = said.replace("{}", all ?? "");
    more.hidden = found.length <= limit;
  };
  let timer = 0;
  form.addEventListener("input", () => {
    limit = SHOWN;
    clearTimeout(timer);
    timer = setTimeout(show, 120);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  more.querySelector("button")?.addEventListener("click", () => {
    limit += SHOWN;
    show();
  });
  form.hidden = false;
})();
