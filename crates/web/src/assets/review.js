// The keyboard, what is kept while the line is down, and the word on what became of a vote.
import { pieces } from "./difference.js";
import { Queue, Store } from "./queue.js";

/** @typedef {import("./queue.js").Entry} Entry */
/** @typedef {import("./queue.js").Sent} Sent */

/** Pages that are fetched ahead. */
const AHEAD = 5;

const store = new Store(() => localStorage);

/**
 * The element that a page of votes has.
 * @template {Element} T
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => T} kind
 * @returns {T}
 */
function part(root, selector, kind) {
  const found = root.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`no ${selector}`);
  return found;
}

/**
 * The element if it is on the page.
 * @template {Element} T
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => T} kind
 * @returns {T | null}
 */
function partOf(root, selector, kind) {
  const found = root.querySelector(selector);
  return found instanceof kind ? found : null;
}

/** @param {ParentNode} [root] */
const ballot = (root = document) => partOf(root, "#ballot", HTMLFormElement);

/** The words of the page, and whose votes it takes. */
const words = () => (ballot() ?? part(document, "#queue", HTMLElement)).dataset;

/** A word of the page; none that it lacks. @param {DOMStringMap} data @param {string} name */
const word = (data, name) => data[name] ?? "";

const queue = () => new Queue(store, word(words(), "who"));

/** The page to go to when nothing waits any more. */
let stuck = "";
let timer = 0;
let flushing = false;

function list() {
  const place = partOf(document, "#queue", HTMLElement);
  if (!place) return;
  const { queued, refused, dismiss } = place.dataset;
  const waiting = queue().waiting().length;
  const parts = queue()
    .refused()
    .map((entry) => {
      const link = document.createElement("a");
      link.href = entry.here;
      link.textContent = entry.item;
      const forget = document.createElement("button");
      forget.type = "button";
      forget.className = "button quiet";
      forget.textContent = dismiss ?? "";
      forget.addEventListener("click", () => {
        queue().forget(entry.key);
        store.drop(entry.key);
        list();
      });
      const line = document.createElement("p");
      line.append(`${refused} `, link, ` ${entry.why} `, forget);
      return line;
    });
  if (waiting) {
    const line = document.createElement("p");
    line.append(`${queued} ${waiting}`);
    parts.unshift(line);
  }
  place.replaceChildren(...parts);
  place.hidden = !parts.length;
}

/**
 * What the server answers: null where it cannot be reached.
 * @param {string} action
 * @param {[string, string][]} fields
 * @returns {Promise<Sent | null>}
 */
async function post(action, fields) {
  try {
    const answer = await fetch(action, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers: { Accept: "application/json" },
      signal: AbortSignal.timeout(20000),
    });
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    const found = isJson ? await answer.json() : {};
    return {
      status: answer.status,
      found,
      saved: answer.ok && found.status === "saved",
      over: answer.status === 401 || answer.url.includes("/login"),
    };
  } catch {
    return null;
  }
}

/** The fields of a form as texts; it has no files. @param {HTMLFormElement} form */
const fieldsOf = (form) =>
  [...new FormData(form)].map(
    ([name, value]) => /** @type {[string, string]} */ ([name, String(value)]),
  );

/** @param {Entry} entry */
function sendAgain(entry) {
  // A session that was opened anew has another mark.
  const csrf = partOf(document, "input[name=csrf]", HTMLInputElement)?.value;
  /** @type {[string, string][]} */
  const fields = entry.fields.map(([name, value]) => [
    name,
    name === "csrf" && csrf ? csrf : value,
  ]);
  return post(entry.action, fields);
}

/** @param {Sent} sent */
function reason(sent) {
  const data = words();
  return data[sent.status === 403 ? "stale" : (sent.found.status ?? "")] || word(data, "faulty");
}

async function flush() {
  if (flushing || !document.querySelector("#ballot, #queue")) return;
  flushing = true;
  clearTimeout(timer);
  const own = queue();
  let saved = 0;
  try {
    const flushed = await own.flush(sendAgain, reason, list);
    saved = flushed.saved;
    if (flushed.ended === "down") timer = setTimeout(flush, 3000);
    if (flushed.ended === "over") document.dispatchEvent(new CustomEvent("riddlemill-over"));
  } finally {
    flushing = false;
  }
  list();
  const message = document.getElementById("message");
  const data = words();
  const isEmpty = !own.waiting().length;
  if (saved && isEmpty && message?.textContent === data.offline && message) {
    message.textContent = word(data, "saved");
    message.className = "good";
  }
  if (stuck && isEmpty) {
    const next = stuck;
    stuck = "";
    location.assign(next);
  }
}
addEventListener("online", flush);
// Pages shown without the server are not in the browser's own history.
addEventListener("popstate", () => location.reload());

/**
 * The next pages by their address, so that one can go on without a network.
 * @type {Map<string, string>}
 */
const pages = new Map();

/** @param {string} html */
const parsed = (html) => new DOMParser().parseFromString(html, "text/html");

/** Fetches the next pages; looking ahead reserves no item. */
async function lookAhead() {
  let at = ballot()?.dataset.next;
  for (let n = 0; at && n < AHEAD; n++) {
    if (!pages.has(at)) {
      try {
        const answer = await fetch(`${at}&ahead=1`);
        const html = await answer.text();
        if (!answer.ok) return;
        pages.set(at, html);
      } catch {
        return;
      }
    }
    at = ballot(parsed(pages.get(at) ?? ""))?.dataset.next;
  }
}

/** Ends what listens for the ballot that is shown. */
let end = () => {};

/**
 * Shows a page that was fetched ahead; whether it was.
 * @param {string} from
 * @param {string} said
 */
function goOn(from, said) {
  const html = pages.get(from);
  const doc = html && parsed(html);
  const voted = doc && ballot(doc)?.dataset.key;
  // An item whose vote already waits is not asked again.
  const key = `riddlemill ${voted}`;
  if (
    !voted ||
    queue()
      .waiting()
      .some((entry) => entry.key === key)
  ) {
    return false;
  }
  end();
  const next = document.adoptNode(part(doc, ".ballot", HTMLElement));
  part(document, ".ballot", HTMLElement).replaceWith(next);
  document.title = doc.title;
  history.pushState(null, "", word(words(), "here"));
  scrollTo(0, 0);
  start();
  const message = part(document, "#message", HTMLElement);
  message.textContent = said;
  message.className = "late";
  return true;
}

function start() {
  const form = ballot();
  if (form) new Ballot(form);
  else {
    list();
    flush();
  }
}

/** A control of the ballot. @typedef {HTMLInputElement | HTMLTextAreaElement} Control */

/** @param {Element | EventTarget | null} element @returns {element is Control} */
const isControl = (element) =>
  element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;

/** Whether one of a question's answers is marked. @param {Element} set */
const isMarked = (set) => !!set.querySelector(":checked");

/** @param {HTMLElement} set */
const isRequired = (set) => "required" in set.dataset;

/** The ballot that is shown. */
class Ballot {
  /** @param {HTMLFormElement} form */
  constructor(form) {
    this.form = form;
    this.data = form.dataset;
    this.key = `riddlemill ${form.dataset.key}`;
    this.message = part(document, "#message", HTMLElement);
    this.fieldsets = [...form.querySelectorAll("fieldset")];
    this.remark = part(form, ".remark", HTMLDetailsElement);
    this.flag = part(this.remark, "[name='n.flag']", HTMLInputElement);
    this.anyway = partOf(form, "[name=anyway]", HTMLInputElement)?.closest("label");
    this.sends = part(form, ".actions .button kbd", HTMLElement);
    /** The questions whose answers have the keys. */
    this.group = "";
    this.sending = false;
    // Time in front of the item, without the time in which the page was out of sight.
    this.seconds = 0;
    this.since = performance.now();

    const off = new AbortController();
    end = () => off.abort();
    // The item is in the address, so that Back shows this item again, and never the next one with
    // these answers.
    if (location.pathname + location.search !== this.data.here) {
      history.replaceState(null, "", word(this.data, "here"));
    }
    this.listen(off.signal);
    if (this.anyway) this.anyway.hidden = true;
    this.restore();
    if (part(this.remark, "textarea", HTMLTextAreaElement).value || this.flag.checked) {
      this.remark.open = true;
    }
    this.showConditions();
    this.showDifferences();
    this.groupNow();
    this.measure(off.signal);
    // The first Tab leads into the ballot, not through the page's head.
    if (document.activeElement === document.body) form.focus({ preventScroll: true });
    list();
    flush();
    const idle = setTimeout(lookAhead, 2000);
    off.signal.addEventListener("abort", () => clearTimeout(idle));
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    // A page that the browser kept whole is as old as what it shows.
    addEventListener("pageshow", (event) => event.persisted && location.reload(), { signal });
    this.form.addEventListener("input", (event) => this.changed(event));
    this.form.addEventListener("focusin", (event) => {
      if (!(event.target instanceof Element)) return;
      const set = event.target.closest("fieldset");
      // In a text, Enter is a new line.
      this.sends.textContent = event.target.matches("textarea") ? "Ctrl+Enter" : "Enter";
      if (set?.dataset.group) this.turn(set.dataset.group);
    });
    this.form.addEventListener("focusout", () => {
      this.sends.textContent = "Enter";
    });
    const seen = () => {
      if (document.hidden) this.seconds += (performance.now() - this.since) / 1000;
      else this.since = performance.now();
    };
    document.addEventListener("visibilitychange", seen, { signal });
    document.addEventListener("riddlemill-over", () => this.sayOver(), { signal });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    document.addEventListener("keydown", (event) => this.press(event), { signal });
  }

  /** @param {string} said @param {string} mood */
  say(said, mood) {
    this.message.textContent = said;
    this.message.className = mood;
  }

  controls() {
    return [...this.form.elements].filter(isControl);
  }

  /** @param {Event} event */
  changed(event) {
    if (!isControl(event.target)) return;
    this.opposites(event.target);
    this.showConditions();
    this.showDifferences();
    this.keep();
    const set = event.target.closest("fieldset");
    if (!set) return;
    this.mark(set, "");
    if (event.target.type === "radio") this.after(set);
  }

  /** Shows the fields that an earlier answer asks for. */
  showConditions() {
    for (const set of this.fieldsets) {
      const { when, answers } = set.dataset;
      if (!when) continue;
      const given = this.controls().filter(
        (e) => e.name === `f.${when}` && e instanceof HTMLInputElement && e.checked,
      );
      const asked = given.some((e) => answers?.split(" ").includes(e.value));
      set.hidden = !asked;
      set.disabled = !asked;
    }
  }

  /** Shows what was changed in drafts. */
  showDifferences() {
    for (const area of this.form.querySelectorAll("textarea")) {
      const { draft } = area.dataset;
      if (draft === undefined || !area.parentElement) continue;
      const place = part(area.parentElement, "[data-diff]", HTMLElement);
      place.hidden = area.value.trim() === draft.trim() || !area.value.trim();
      const shown = pieces(draft, area.value).map(([kind, text]) => {
        if (!kind) return document.createTextNode(text);
        const mark = document.createElement(kind);
        mark.textContent = text;
        return mark;
      });
      place.replaceChildren(...shown);
    }
  }

  /** What is filled in stays in this browser until it is saved, and no longer. */
  keep() {
    const state = this.controls()
      .filter((e) => /^[fn]\./.test(e.name))
      .map((e) => {
        const isChoice = e instanceof HTMLInputElement && ["radio", "checkbox"].includes(e.type);
        return [e.name, isChoice ? [e.value, e.checked] : e.value];
      });
    store.set(this.key, state);
  }

  restore() {
    const state = store.get(this.key);
    if (!Array.isArray(state)) return;
    for (const [name, value] of state) {
      for (const e of this.controls().filter((e) => e.name === name)) {
        if (!Array.isArray(value)) e.value = value;
        else if (e.value === value[0] && e instanceof HTMLInputElement) e.checked = value[1];
      }
    }
    this.say(word(this.data, "kept"), "late");
  }

  /** One answer of several is the opposite of the others. @param {Control} input */
  opposites(input) {
    if (!(input instanceof HTMLInputElement) || input.type !== "checkbox" || !input.checked) return;
    const all = this.controls()
      .filter((e) => e instanceof HTMLInputElement)
      .filter((e) => e.name === input.name);
    if (!all.some((e) => e.value === "keep")) return;
    for (const e of all) {
      if (e !== input && (input.value === "keep" || e.value === "keep")) e.checked = false;
    }
  }

  /**
   * What is wrong with a field stands beside it, until it is answered anew.
   * @param {HTMLElement} set
   * @param {string} said
   */
  mark(set, said) {
    const wrong = part(set, "[data-wrong]", HTMLElement);
    wrong.textContent = said;
    wrong.hidden = !said;
    // A group of radio buttons is wrong as a whole; boxes and texts each for themselves.
    const places = set.dataset.kind === "one" ? [set] : set.querySelectorAll("input, textarea");
    for (const place of places) {
      if (said) {
        place.setAttribute("aria-invalid", "true");
        place.setAttribute("aria-describedby", wrong.id);
      } else {
        place.removeAttribute("aria-invalid");
        place.removeAttribute("aria-describedby");
      }
    }
  }

  /** @param {[string | undefined, string][]} faults Fields and what is wrong with them. */
  blame(faults) {
    /** @type {HTMLFieldSetElement[]} */
    const wrong = [];
    for (const [name, said] of faults) {
      const set = this.fieldsets.find((set) => set.dataset.field === name);
      if (set) {
        this.mark(set, said);
        wrong.push(set);
      }
    }
    const first = this.fieldsets.find((set) => wrong.includes(set) && !set.hidden);
    if (!first) return;
    const place = first.querySelector("textarea, :checked") ?? first.querySelector("input");
    if (place instanceof HTMLElement) place.focus({ preventScroll: true });
    first.scrollIntoView({ block: first.offsetHeight > innerHeight / 2 ? "start" : "center" });
    const labels = wrong.map((set) => set.dataset.label).join(this.data.comma);
    this.say(word(this.data, "faulty") + word(this.data, "colon") + labels, "bad");
  }

  /**
   * Questions whose answers have keys of their own share a group; the keys of one group hold at a
   * time.
   */
  choices() {
    return this.fieldsets.filter((set) => !set.hidden && set.dataset.group);
  }

  /** @param {string} to */
  turn(to) {
    this.group = to;
    for (const set of this.fieldsets) {
      set.classList.toggle("now", set.dataset.group === to && !!to);
    }
  }

  groupNow() {
    const all = this.choices();
    if (!all.some((set) => set.dataset.group === this.group)) {
      const first = all.find((set) => !isMarked(set) && isRequired(set)) ?? all[0];
      this.turn(first?.dataset.group ?? "");
    }
    return this.group;
  }

  /**
   * After the last answer of a group the keys are the next question's, which is returned.
   * @param {HTMLElement} set
   */
  after(set) {
    const all = this.choices();
    const last = all.filter((other) => other.dataset.group === set.dataset.group).at(-1);
    const marked = set.querySelectorAll(":checked").length;
    const isFull = marked >= (set.dataset.kind === "one" ? 1 : Number(set.dataset.max));
    if (last !== set || !isFull) return null;
    const next = all[all.indexOf(last) + 1];
    if (next) this.turn(word(next.dataset, "group"));
    const isText = (/** @type {HTMLElement} */ other) => other.dataset.kind === "text";
    return next ?? this.fieldsets.find((set) => !set.hidden && isText(set) && isRequired(set));
  }

  sayOver() {
    this.keep();
    const link = document.createElement("a");
    link.href = word(this.data, "login");
    link.textContent = word(this.data, "login_again");
    this.say(`${this.data.session_over} `, "bad");
    this.message.append(link);
  }

  /** The line is down: the vote waits, and one goes on where the next page is here. */
  hold() {
    const isEmpty = (/** @type {HTMLElement} */ set) =>
      set.dataset.kind === "text"
        ? ![...set.querySelectorAll("textarea")].some((area) => area.value.trim())
        : !isMarked(set);
    const missing = this.fieldsets.filter((set) => !set.hidden && isRequired(set) && isEmpty(set));
    // The server cannot be asked what is missing.
    if (missing.length) {
      this.sending = false;
      this.blame(missing.map((set) => [set.dataset.field, word(this.data, "faulty")]));
      return;
    }
    const offline = word(this.data, "offline");
    const isKept = queue().add({
      key: this.key,
      item: part(this.form, "[name=item]", HTMLInputElement).value,
      here: word(this.data, "here"),
      action: this.form.getAttribute("action") ?? "",
      fields: fieldsOf(this.form),
    });
    if (!isKept) {
      // Nothing can be kept here, so the page stays and sends again.
      this.say(offline, "late");
      setTimeout(() => {
        this.sending = false;
        this.send();
      }, 2000);
      return;
    }
    this.keep();
    stuck = word(this.data, "next");
    if (goOn(stuck, offline)) stuck = "";
    else {
      this.say(offline, "late");
      this.sending = false;
    }
    list();
    clearTimeout(timer);
    timer = setTimeout(flush, 1000);
  }

  async send() {
    if (this.sending) return;
    this.sending = true;
    for (const set of this.fieldsets) this.mark(set, "");
    this.say(word(this.data, "saving"), "late");
    const seconds = this.seconds + (performance.now() - this.since) / 1000;
    // A time that is written as 0.0 would be none.
    const time = Math.max(0.1, seconds).toFixed(1);
    part(this.form, "[name=seconds]", HTMLInputElement).value = time;
    // What waits comes first.
    const isFirst = !queue().waiting().length;
    const sent = isFirst ? await post(this.form.action, fieldsOf(this.form)) : null;
    if (!sent) {
      this.hold();
      return;
    }
    this.sending = false;
    this.answered(sent);
  }

  /** @param {Sent} sent */
  answered(sent) {
    if (sent.saved) {
      store.drop(this.key);
      queue().forget(this.key);
      this.say(word(this.data, "saved"), "good");
      location.assign(word(this.data, "next"));
    } else if (sent.status === 503) this.say(word(this.data, "not_saved"), "bad");
    else if (sent.over) this.sayOver();
    else if (sent.status === 403) {
      this.keep();
      this.say(word(this.data, "stale"), "bad");
    } else {
      this.say(reason(sent), "bad");
      this.blame(sent.found.faults ?? []);
      // Nothing is wrong with such a vote: the words say what may be done.
      if (sent.found.status === "gives_away") {
        if (this.anyway) this.anyway.hidden = false;
        this.say(word(this.data, "gives_away"), "bad");
      }
    }
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { target } = event;
    if (event.isComposing || !(target instanceof HTMLElement)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.form.requestSubmit();
      }
      return;
    }
    if (target.matches("textarea, input:not([type=radio]):not([type=checkbox]), select")) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (this.pressAnswer(event)) return;
    switch (event.key) {
      case "Backspace":
        this.pressBefore(event);
        break;
      case "ArrowDown":
      case "ArrowUp":
        this.pressArrow(event);
        break;
      case "Enter":
        if (target.matches("a, button, summary")) return;
        event.preventDefault();
        this.form.requestSubmit();
        break;
      case "u":
        if (this.data.previous) location.assign(this.data.previous);
        break;
      case "c":
      case "f":
        event.preventDefault();
        this.remark.open = true;
        if (event.key === "f") this.flag.click();
        else part(this.remark, "textarea", HTMLTextAreaElement).focus();
        break;
      case "g":
      case "?": {
        const fold = event.key === "g" ? ".guideline" : ".keys";
        const details = part(document, fold, HTMLDetailsElement);
        details.open = !details.open;
        if (details.open) details.scrollIntoView({ block: "nearest" });
        break;
      }
      case "s": {
        const later = part(document, ".later", HTMLDetailsElement);
        event.preventDefault();
        later.open = true;
        part(later, "input[name=reason]", HTMLInputElement).focus();
      }
    }
  }

  /** Marks the answer that has the key; whether there is one. @param {KeyboardEvent} event */
  pressAnswer(event) {
    if (event.key.length !== 1) return false;
    const key = CSS.escape(event.key.toLowerCase());
    const group = `fieldset[data-group="${this.groupNow()}"]:not([hidden])`;
    const place = this.form.querySelector(`${group} kbd[data-key="${key}"]`);
    const set = place?.closest("fieldset");
    const label = place?.closest("label");
    if (!set || !label) return false;
    const input = part(label, "input", HTMLInputElement);
    event.preventDefault();
    input.focus({ preventScroll: true });
    input.click();
    const next = this.after(set) ?? set;
    next.scrollIntoView({ block: "nearest" });
    if (next.dataset.kind === "text") part(next, "textarea", HTMLTextAreaElement).focus();
    return true;
  }

  /** Gives the keys to the question before. @param {KeyboardEvent} event */
  pressBefore(event) {
    const groups = [...new Set(this.choices().map((set) => word(set.dataset, "group")))];
    const before = groups[Math.max(groups.indexOf(this.groupNow()) - 1, 0)];
    const set = this.choices().find((set) => set.dataset.group === before);
    if (!set) return;
    event.preventDefault();
    const place = set.querySelector(":checked") ?? set.querySelector("input");
    if (place instanceof HTMLElement) place.focus();
    this.turn(before);
  }

  /** Moves between the answers. @param {KeyboardEvent} event */
  pressArrow(event) {
    const shown = this.fieldsets.filter((set) => !set.hidden);
    const all = shown.flatMap((set) =>
      [...set.querySelectorAll("input, textarea")].filter(isControl),
    );
    const at = isControl(document.activeElement) ? all.indexOf(document.activeElement) : -1;
    const step = event.key === "ArrowDown" ? 1 : -1;
    const next = all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  /**
   * The text stays in sight beside the answers; one that is higher than the window is scrolled to
   * its end first.
   * @param {AbortSignal} signal
   */
  measure(signal) {
    const reads = part(this.form, ".reads", HTMLElement);
    const top = partOf(document, ".top", HTMLElement);
    const stick = () => {
      const above = (top?.offsetHeight ?? 0) + 12;
      const place = Math.min(above, innerHeight - reads.offsetHeight - 12);
      reads.style.setProperty("--reads", `${place}px`);
    };
    addEventListener("resize", stick, { signal });
    // What is stuck to the lower edge hides nothing: neither an answer above it nor what is
    // scrolled to.
    const actions = part(this.form, ".actions", HTMLElement);
    const root = document.documentElement;
    const lift = () => root.style.setProperty("--actions", `${actions.offsetHeight}px`);
    /** @type {[() => void, Element][]} */
    const watched = [
      [stick, reads],
      [lift, actions],
    ];
    for (const [measure, element] of watched) {
      const observer = new ResizeObserver(measure);
      observer.observe(element);
      signal.addEventListener("abort", () => observer.disconnect());
    }
  }
}

start();
