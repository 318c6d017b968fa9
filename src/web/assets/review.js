// The keyboard, what is kept while the line is down, and the word on what became of a vote.
"use strict";
(() => {
  const form = document.getElementById("ballot");
  if (!form) return;
  const told = document.getElementById("told");
  const say = (words, mood) => { told.textContent = words; told.className = mood; };
  const key = "riddlemill " + form.dataset.key;
  const fieldsets = [...form.querySelectorAll("fieldset")];
  const values = (name) => [...form.elements].filter((e) => e.name === "f." + name && e.checked).map((e) => e.value);

  // Fields that an earlier answer asks for.
  function conditions() {
    for (const set of fieldsets) {
      if (!set.dataset.when) continue;
      const asked = values(set.dataset.when).some((v) => set.dataset.answers.split(" ").includes(v));
      set.hidden = !asked;
      set.disabled = !asked;
    }
  }

  // What an edit changed: the middle that differs, character by character where it is short.
  function pieces(a, b) {
    a = [...a]; b = [...b];
    let head = 0, tail = 0;
    while (head < a.length && head < b.length && a[head] === b[head]) head++;
    while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
    const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail), out = [];
    const put = (kind, text) => { if (!text) return; const last = out.at(-1); if (last && last[0] === kind) last[1] += text; else out.push([kind, text]); };
    put("", a.slice(0, head).join(""));
    if (x.length * y.length > 250000) { put("del", x.join("")); put("ins", y.join("")); }
    else {
      const t = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
      for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--) t[i][j] = x[i] === y[j] ? t[i + 1][j + 1] + 1 : Math.max(t[i + 1][j], t[i][j + 1]);
      for (let i = 0, j = 0; i < x.length || j < y.length;) {
        if (i < x.length && j < y.length && x[i] === y[j]) { put("", x[i]); i++; j++; }
        else if (i < x.length && (j >= y.length || t[i + 1][j] >= t[i][j + 1])) put("del", x[i++]);
        else put("ins", y[j++]);
      }
    }
    put("", a.slice(a.length - tail).join(""));
    return out;
  }
  function diffs() {
    for (const area of form.querySelectorAll("textarea[data-draft]")) {
      const place = area.parentElement.querySelector("[data-diff]");
      place.hidden = area.value.trim() === area.dataset.draft.trim() || !area.value.trim();
      place.replaceChildren(...pieces(area.dataset.draft, area.value).map(([kind, text]) => {
        if (!kind) return document.createTextNode(text);
        const mark = document.createElement(kind);
        mark.textContent = text;
        return mark;
      }));
    }
  }

  // What is filled in stays in this browser until it is saved, and no longer.
  const keep = () => {
    const state = [...form.elements].filter((e) => e.name.startsWith("f.")).map((e) => [e.name, e.type === "radio" || e.type === "checkbox" ? [e.value, e.checked] : e.value]);
    try { localStorage.setItem(key, JSON.stringify(state)); } catch { /* a full or forbidden store keeps nothing */ }
  };
  const forget = () => { try { localStorage.removeItem(key); } catch { /* nothing was kept */ } };
  function restore() {
    let state;
    try { state = JSON.parse(localStorage.getItem(key) || "null"); } catch { return; }
    if (!Array.isArray(state)) return;
    for (const [name, value] of state) {
      for (const e of form.elements) {
        if (e.name !== name) continue;
        if (Array.isArray(value)) { if (e.value === value[0]) e.checked = value[1]; } else e.value = value;
      }
    }
    say(form.dataset.kept, "late");
  }

  // One answer of several is the opposite of the others.
  function opposites(input) {
    if (input.type !== "checkbox" || !input.checked) return;
    const others = [...form.elements].filter((e) => e.name === input.name && e !== input);
    const keepOne = [input, ...others].some((e) => e.value === "keep");
    if (keepOne) for (const e of others) if (input.value === "keep" || e.value === "keep") e.checked = false;
  }

  form.addEventListener("input", (event) => { opposites(event.target); conditions(); diffs(); keep(); });

  // Time in front of the item, without the time in which the page was out of sight.
  let seconds = 0, since = performance.now();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) seconds += (performance.now() - since) / 1000; else since = performance.now();
  });

  let sending = false;
  async function send(again = 0) {
    if (sending) return;
    sending = true;
    for (const wrong of form.querySelectorAll("[data-wrong]")) wrong.hidden = true;
    if (!again) say(form.dataset.saving, "late");
    // A time that is written as 0.0 would be none.
    form.elements.seconds.value = Math.max(0.1, seconds + (performance.now() - since) / 1000).toFixed(1);
    let answer, found;
    try {
      answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "application/json" }, signal: AbortSignal.timeout(20000) });
      found = answer.headers.get("content-type")?.startsWith("application/json") ? await answer.json() : {};
    } catch {
      // The line is down: the vote stays here and is sent until it is taken. Sent twice, it counts once.
      say(form.dataset.offline, "late");
      setTimeout(() => { sending = false; send(again + 1); }, Math.min(1000 * (again + 1), 5000));
      return;
    }
    sending = false;
    if (answer.ok && found.told === "saved") {
      forget();
      say(form.dataset.saved, "good");
      location.assign(form.dataset.next);
      return;
    }
    if (answer.status === 503) { say(form.dataset.not_saved, "bad"); return; }
    if (answer.status === 403 || answer.status === 401) { say(form.dataset.stale, "bad"); return; }
    say(form.dataset[found.told] || form.dataset.faulty, "bad");
    for (const [name, words] of found.faults || []) {
      const wrong = form.querySelector(`[data-field="${CSS.escape(name)}"] [data-wrong]`);
      if (wrong) { wrong.textContent = words; wrong.hidden = false; }
    }
  }
  form.addEventListener("submit", (event) => { event.preventDefault(); send(); });

  const focused = () => fieldsets.find((set) => set.contains(document.activeElement) && !set.hidden);
  const current = () => focused() || fieldsets.find((set) => !set.hidden && set.dataset.kind !== "text" && !set.querySelector(":checked")) || fieldsets.find((set) => !set.hidden && set.dataset.kind !== "text");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
      return;
    }
    const typing = event.target.matches("textarea, input:not([type=radio]):not([type=checkbox]), select");
    if (typing) { if (event.key === "Escape") event.target.blur(); return; }
    const options = () => [...(current()?.querySelectorAll("input") || [])];
    if (/^[1-9]$/.test(event.key)) {
      const input = options()[Number(event.key) - 1];
      if (!input) return;
      event.preventDefault();
      input.focus();
      input.click();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const all = fieldsets.filter((set) => !set.hidden).flatMap((set) => [...set.querySelectorAll("input, textarea")]);
      const at = all.indexOf(document.activeElement), step = event.key === "ArrowDown" ? 1 : -1;
      const next = all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)];
      if (next) { event.preventDefault(); next.focus(); }
    } else if (event.key === "Enter" && !event.target.matches("a, button, summary")) {
      event.preventDefault();
      form.requestSubmit();
    } else if (event.key === "u" && form.dataset.previous) location.assign(form.dataset.previous);
    else if (event.key === "s") {
      const later = document.querySelector(".later");
      event.preventDefault();
      later.open = true;
      later.querySelector("input[name=reason]").focus();
    }
  });

  restore();
  conditions();
  diffs();
})();
