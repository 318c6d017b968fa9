// The keyboard, what is kept while the line is down, and the word on what became of a vote.
"use strict";
(() => {
  // What is kept in this browser; a full or forbidden store keeps nothing.
  const read = (name) => { try { return JSON.parse(localStorage.getItem(name) || "[]"); } catch { return []; } };
  const write = (name, list) => {
    try { if (list.length) localStorage.setItem(name, JSON.stringify(list)); else localStorage.removeItem(name); return true; } catch { return false; }
  };
  const drop = (name) => { try { localStorage.removeItem(name); } catch { /* nothing was kept */ } };
  const now = () => document.getElementById("ballot") || document.getElementById("queue");

  // Votes cast while the line is down wait here, each of its person, and are sent in order. What the server does not
  // take is shown with a link to its item, where the answers still are, and does not stop those after it.
  const waiting = () => "riddlemill queue " + now().dataset.who;
  const refused = () => "riddlemill refused " + now().dataset.who;
  const put = (name, entry) => write(name, [...read(name).filter((other) => other.key !== entry.key), entry]);
  const take = (name, key) => write(name, read(name).filter((other) => other.key !== key));
  let stuck = "", timer = 0, flushing = false;
  function list() {
    const place = document.getElementById("queue");
    if (!place) return;
    const words = place.dataset, parts = [];
    const line = (text) => { const p = document.createElement("p"); p.append(text); parts.push(p); return p; };
    if (read(waiting()).length) line(words.queued + " " + read(waiting()).length);
    for (const entry of read(refused())) {
      const p = line(words.refused + " "), link = document.createElement("a"), forget = document.createElement("button");
      link.href = entry.here; link.textContent = entry.item;
      forget.type = "button"; forget.className = "button quiet"; forget.textContent = words.dismiss;
      forget.addEventListener("click", () => { take(refused(), entry.key); drop(entry.key); list(); });
      p.append(link, " " + entry.why + " ", forget);
    }
    place.replaceChildren(...parts);
    place.hidden = !parts.length;
  }
  // What the server answers: null where it cannot be reached.
  async function post(action, fields) {
    try {
      const answer = await fetch(action, { method: "POST", body: new URLSearchParams(fields), headers: { Accept: "application/json" }, signal: AbortSignal.timeout(20000) });
      const found = answer.headers.get("content-type")?.startsWith("application/json") ? await answer.json() : {};
      return { answer, found, saved: answer.ok && found.status === "saved", over: answer.status === 401 || answer.url.includes("/login") };
    } catch { return null; }
  }
  async function flush() {
    if (flushing || !now()) return;
    flushing = true;
    clearTimeout(timer);
    const name = waiting();
    let saved = 0;
    try {
      for (let [entry] = read(name); entry; [entry] = read(name)) {
        // A session that was opened anew has another mark.
        const csrf = document.querySelector("input[name=csrf]")?.value;
        const fields = entry.fields.map(([field, value]) => [field, field === "csrf" && csrf ? csrf : value]);
        const sent = await post(entry.action, fields);
        if (!sent || sent.answer.status === 503) { timer = setTimeout(flush, 3000); break; }
        if (sent.over) { document.dispatchEvent(new CustomEvent("riddlemill-over")); break; }
        if (sent.saved) { drop(entry.key); saved++; }
        else put(refused(), { ...entry, why: now().dataset[sent.answer.status === 403 ? "stale" : sent.found.status] || now().dataset.faulty });
        take(name, entry.key);
        list();
      }
    } finally { flushing = false; }
    list();
    const message = document.getElementById("message"), words = now().dataset;
    if (saved && !read(name).length && message?.textContent === words.offline) { message.textContent = words.saved; message.className = "good"; }
    if (stuck && !read(name).length) { const next = stuck; stuck = ""; location.assign(next); }
  }
  addEventListener("online", flush);
  // Pages shown without the server are not in the browser's own history.
  addEventListener("popstate", () => location.reload());

  // The next pages, so that one can go on without a network; looking ahead reserves no item.
  const AHEAD = 5, pages = new Map();
  async function look_ahead() {
    let at = document.getElementById("ballot")?.dataset.next;
    for (let n = 0; at && n < AHEAD; n++) {
      if (!pages.has(at)) {
        let answer, html;
        try { answer = await fetch(at + "&ahead=1"); html = await answer.text(); } catch { return; }
        if (!answer.ok) return;
        pages.set(at, html);
      }
      at = new DOMParser().parseFromString(pages.get(at), "text/html").getElementById("ballot")?.dataset.next;
    }
  }
  let end = () => {};
  function go_on(from, words) {
    const html = pages.get(from);
    const doc = html && new DOMParser().parseFromString(html, "text/html");
    const voted = doc?.getElementById("ballot")?.dataset.key;
    // An item whose vote already waits is not asked again.
    if (!voted || read(waiting()).some((entry) => entry.key === "riddlemill " + voted)) return false;
    end();
    document.querySelector(".ballot").replaceWith(document.adoptNode(doc.querySelector(".ballot")));
    document.title = doc.title;
    history.pushState(null, "", document.getElementById("ballot").dataset.here);
    scrollTo(0, 0);
    start();
    const message = document.getElementById("message");
    message.textContent = words; message.className = "late";
    return true;
  }

  function start() {
    const form = document.getElementById("ballot");
    if (!form) { list(); flush(); return; }
    const off = new AbortController(), { signal } = off;
    end = () => off.abort();
    const message = document.getElementById("message");
    const say = (words, mood) => { message.textContent = words; message.className = mood; };
    // The item is in the address, so that Back shows this item again, and never the next one with these answers.
    if (location.pathname + location.search !== form.dataset.here) history.replaceState(null, "", form.dataset.here);
    // A page that the browser kept whole is as old as what it shows.
    addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); }, { signal });
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
      const state = [...form.elements].filter((e) => /^[fn]\./.test(e.name)).map((e) => [e.name, e.type === "radio" || e.type === "checkbox" ? [e.value, e.checked] : e.value]);
      try { localStorage.setItem(key, JSON.stringify(state)); } catch { /* a full or forbidden store keeps nothing */ }
    };
    const forget = () => drop(key);
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

    // What is wrong with a field stands beside it, until it is answered anew.
    function mark(set, words) {
      const wrong = set.querySelector("[data-wrong]");
      wrong.textContent = words;
      wrong.hidden = !words;
      // A group of radio buttons is wrong as a whole; boxes and texts each for themselves.
      for (const place of set.dataset.kind === "one" ? [set] : set.querySelectorAll("input, textarea")) {
        if (words) { place.setAttribute("aria-invalid", "true"); place.setAttribute("aria-describedby", wrong.id); }
        else { place.removeAttribute("aria-invalid"); place.removeAttribute("aria-describedby"); }
      }
    }
    function blame(faults) {
      const wrong = [];
      for (const [name, words] of faults) {
        const set = fieldsets.find((set) => set.dataset.field === name);
        if (set) { mark(set, words); wrong.push(set); }
      }
      const first = fieldsets.find((set) => wrong.includes(set) && !set.hidden);
      if (!first) return;
      (first.querySelector("textarea, :checked") || first.querySelector("input")).focus({ preventScroll: true });
      first.scrollIntoView({ block: first.offsetHeight > innerHeight / 2 ? "start" : "center" });
      say(form.dataset.faulty + form.dataset.colon + wrong.map((set) => set.dataset.label).join(form.dataset.comma), "bad");
    }

    // Questions whose answers have keys of their own share a group; the keys of one group hold at a time.
    const choices = () => fieldsets.filter((set) => !set.hidden && set.dataset.group);
    const open = (set) => !set.querySelector(":checked");
    let group = "";
    function turn(to) {
      group = to;
      for (const set of fieldsets) set.classList.toggle("now", set.dataset.group === to && !!to);
    }
    const groupNow = () => {
      const all = choices();
      if (!all.some((set) => set.dataset.group === group)) turn((all.find((set) => open(set) && "required" in set.dataset) || all[0])?.dataset.group || "");
      return group;
    };
    // After the last answer of a group the keys are the next question's.
    function goOn(set) {
      const all = choices(), last = all.filter((other) => other.dataset.group === set.dataset.group).at(-1);
      const full = set.dataset.kind === "one" ? !open(set) : set.querySelectorAll(":checked").length >= Number(set.dataset.max);
      if (last !== set || !full) return null;
      const next = all[all.indexOf(set) + 1];
      if (next) turn(next.dataset.group);
      return next || fieldsets.find((other) => !other.hidden && other.dataset.kind === "text" && "required" in other.dataset);
    }

    form.addEventListener("input", (event) => {
      opposites(event.target); conditions(); diffs(); keep();
      const set = event.target.closest("fieldset");
      if (!set) return;
      mark(set, "");
      if (event.target.type === "radio") goOn(set);
    });
    const sends = form.querySelector(".actions .button kbd");
    form.addEventListener("focusin", (event) => {
      const set = event.target.closest("fieldset");
      // In a text, Enter is a new line.
      sends.textContent = event.target.matches("textarea") ? "Ctrl+Enter" : "Enter";
      if (set?.dataset.group) turn(set.dataset.group);
    });

    form.addEventListener("focusout", () => { sends.textContent = "Enter"; });

    // Time in front of the item, without the time in which the page was out of sight.
    let seconds = 0, since = performance.now();
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) seconds += (performance.now() - since) / 1000; else since = performance.now();
    }, { signal });

    const anyway = form.querySelector("[name=anyway]")?.closest("label");
    if (anyway) anyway.hidden = true;
    let sending = false;
    function session_over() {
      keep();
      const link = document.createElement("a");
      link.href = form.dataset.login;
      link.textContent = form.dataset.login_again;
      say(form.dataset.session_over + " ", "bad");
      message.append(link);
    }
    document.addEventListener("riddlemill-over", session_over, { signal });
    // The line is down: the vote waits, and one goes on where the next page is here.
    function hold() {
      // The server cannot be asked what is missing.
      const empty = (set) => set.dataset.kind === "text" ? ![...set.querySelectorAll("textarea")].some((area) => area.value.trim()) : open(set);
      const missing = fieldsets.filter((set) => !set.hidden && "required" in set.dataset && empty(set));
      if (missing.length) { sending = false; blame(missing.map((set) => [set.dataset.field, form.dataset.faulty])); return; }
      const entry = { key, item: form.elements.namedItem("item").value, here: form.dataset.here, action: form.getAttribute("action"), fields: [...new FormData(form)] };
      if (!put(waiting(), entry)) {
        // Nothing can be kept here, so the page stays and sends again.
        say(form.dataset.offline, "late");
        setTimeout(() => { sending = false; send(); }, 2000);
        return;
      }
      keep();
      stuck = form.dataset.next;
      if (go_on(stuck, form.dataset.offline)) stuck = "";
      else { say(form.dataset.offline, "late"); sending = false; }
      list();
      clearTimeout(timer);
      timer = setTimeout(flush, 1000);
    }
    async function send() {
      if (sending) return;
      sending = true;
      for (const set of fieldsets) mark(set, "");
      say(form.dataset.saving, "late");
      // A time that is written as 0.0 would be none.
      form.elements.seconds.value = Math.max(0.1, seconds + (performance.now() - since) / 1000).toFixed(1);
      // What waits comes first.
      const sent = read(waiting()).length ? null : await post(form.action, new FormData(form));
      if (!sent) { hold(); return; }
      const { answer, found } = sent;
      sending = false;
      if (sent.saved) {
        forget();
        take(refused(), key);
        say(form.dataset.saved, "good");
        location.assign(form.dataset.next);
        return;
      }
      if (answer.status === 503) { say(form.dataset.not_saved, "bad"); return; }
      if (sent.over) { session_over(); return; }
      if (answer.status === 403) { keep(); say(form.dataset.stale, "bad"); return; }
      say(form.dataset[found.status] || form.dataset.faulty, "bad");
      blame(found.faults || []);
      // Nothing is wrong with such a vote: the words say what may be done.
      if (found.status === "gives_away") {
        anyway.hidden = false;
        say(form.dataset.gives_away, "bad");
      }
    }
    form.addEventListener("submit", (event) => { event.preventDefault(); send(); });

    document.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.ctrlKey || event.metaKey || event.altKey) {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
        return;
      }
      const typing = event.target.matches("textarea, input:not([type=radio]):not([type=checkbox]), select");
      if (typing) { if (event.key === "Escape") event.target.blur(); return; }
      const place = event.key.length === 1 && form.querySelector(`fieldset[data-group="${groupNow()}"]:not([hidden]) kbd[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
      if (place) {
        const set = place.closest("fieldset"), input = place.closest("label").querySelector("input");
        event.preventDefault();
        input.focus({ preventScroll: true });
        input.click();
        const next = goOn(set) || set;
        next.scrollIntoView({ block: "nearest" });
        if (next.dataset.kind === "text") next.querySelector("textarea").focus();
      } else if (event.key === "Backspace" && choices().length) {
        const all = [...new Set(choices().map((set) => set.dataset.group))], before = all[Math.max(all.indexOf(groupNow()) - 1, 0)];
        const set = choices().find((set) => set.dataset.group === before);
        event.preventDefault();
        (set.querySelector(":checked") || set.querySelector("input")).focus();
        turn(before);
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        const all = fieldsets.filter((set) => !set.hidden).flatMap((set) => [...set.querySelectorAll("input, textarea")]);
        const at = all.indexOf(document.activeElement), step = event.key === "ArrowDown" ? 1 : -1;
        const next = all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)];
        if (next) { event.preventDefault(); next.focus(); }
      } else if (event.key === "Enter" && !event.target.matches("a, button, summary")) {
        event.preventDefault();
        form.requestSubmit();
      } else if (event.key === "u" && form.dataset.previous) location.assign(form.dataset.previous);
      else if (event.key === "c" || event.key === "f") {
        const remark = form.querySelector(".remark"), flag = remark.querySelector("[name='n.flag']");
        event.preventDefault();
        remark.open = true;
        if (event.key === "f") flag.click(); else remark.querySelector("textarea").focus();
      } else if (event.key === "g" || event.key === "?") {
        const fold = document.querySelector(event.key === "g" ? ".guideline" : ".keys");
        fold.open = !fold.open;
        if (fold.open) fold.scrollIntoView({ block: "nearest" });
      } else if (event.key === "s") {
        const later = document.querySelector(".later");
        event.preventDefault();
        later.open = true;
        later.querySelector("input[name=reason]").focus();
      }
    }, { signal });

    restore();
    if (form.elements["n.text"].value || form.elements["n.flag"].checked) form.querySelector(".remark").open = true;
    conditions();
    diffs();
    groupNow();
    // The text stays in sight beside the answers; one that is higher than the window is scrolled to its end first.
    const reads = form.querySelector(".reads"), top = document.querySelector(".top");
    const stick = () => reads.style.setProperty("--reads", Math.min((top?.offsetHeight || 0) + 12, innerHeight - reads.offsetHeight - 12) + "px");
    const sizes = [new ResizeObserver(stick)];
    sizes[0].observe(reads);
    addEventListener("resize", stick, { signal });
    // What is stuck to the lower edge hides nothing: neither an answer above it nor what is scrolled to.
    const actions = form.querySelector(".actions");
    sizes.push(new ResizeObserver(() => document.documentElement.style.setProperty("--actions", actions.offsetHeight + "px")));
    sizes[1].observe(actions);
    signal.addEventListener("abort", () => sizes.forEach((size) => size.disconnect()));
    // The first Tab leads into the ballot, not through the page's head.
    if (document.activeElement === document.body) form.focus({ preventScroll: true });
    list();
    flush();
    const idle = setTimeout(look_ahead, 2000);
    signal.addEventListener("abort", () => clearTimeout(idle));
  }
  start();
})();
