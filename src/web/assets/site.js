// The search of a site: loads the index in pieces, as scripts, because a page from a disk may fetch nothing.
"use strict";
(() => {
  const form = document.getElementById("search");
  if (!form) return;
  const [body, count, more, pages] = ["#table tbody", "#count", "#more", "#pages"].map((at) => document.querySelector(at));
  const shown = 100;
  const first = [...body.children];
  const rows = [];
  let loading = null;
  let limit = shown;

  window.riddlemill = (piece) => { for (const [page, id, text, labels] of piece) rows.push({ page, id, text, labels, low: (id + " " + text).toLowerCase() }); };

  const script = (address) => new Promise((done, failed) => {
    const element = document.createElement("script");
    element.src = address;
    element.onload = () => { element.remove(); done(); };
    element.onerror = failed;
    document.head.append(element);
  });
  // One after the other, so that the rows keep their order.
  const load = async () => {
    for (let n = 0; n < Number(form.dataset.pieces); n += 1) {
      count.textContent = form.dataset.loading;
      await script(`${form.dataset.index}${n}.js`);
    }
  };
  const cell = (name, text) => {
    const element = document.createElement(name);
    element.dir = "auto";
    element.textContent = text;
    return element;
  };
  const line = (row) => {
    const tr = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    const link = document.createElement("a");
    link.className = "id";
    link.href = form.dataset.home + row.page;
    link.textContent = row.id;
    head.append(link);
    const text = row.text.length > 100 ? row.text.slice(0, 100) + "…" : row.text;
    tr.append(head, cell("td", text), ...row.labels.map((values) => cell("td", values.join(", "))));
    return tr;
  };
  const show = async () => {
    const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = [...form.querySelectorAll("select")].filter((select) => select.value).map((select) => [Number(select.dataset.label), select.value]);
    const searching = words.length > 0 || wanted.length > 0;
    if (pages) pages.hidden = searching;
    if (!searching) {
      body.replaceChildren(...first);
      count.textContent = "";
      more.hidden = true;
      return;
    }
    loading ??= load();
    try { await loading; } catch { count.textContent = form.dataset.failed; loading = null; rows.length = 0; return; }
    const found = rows.filter((row) => words.every((word) => row.low.includes(word)) && wanted.every(([label, value]) => row.labels[label].includes(value)));
    body.replaceChildren(...found.slice(0, limit).map(line));
    count.textContent = form.dataset.found.replace("{}", String(found.length)).replace("{}", form.dataset.all);
    more.hidden = found.length <= limit;
  };
  let waiting = 0;
  const soon = () => { limit = shown; clearTimeout(waiting); waiting = setTimeout(show, 120); };
  form.addEventListener("input", soon);
  form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
  more.querySelector("button").addEventListener("click", () => { limit += shown; show(); });
  form.hidden = false;
})();
