// What this browser keeps: answers that are not saved, and votes cast while the line was down.

/**
 * A vote that waits. Its key is also the one under which its answers are kept.
 * @typedef {object} Entry
 * @property {string} key
 * @property {string} item
 * @property {string} here The address of its page.
 * @property {string} action Where it is sent.
 * @property {[string, string][]} fields
 * @property {string} [why] Why the server refused it.
 */

/**
 * What the server answered.
 * @typedef {object} Sent
 * @property {number} status
 * @property {{ status?: string, faults?: [string, string][] }} found
 * @property {boolean} saved
 * @property {boolean} over Whether the session is over.
 */

/** A store of the browser; one that is full or forbidden keeps nothing. */
export class Store {
  /** @param {() => Storage} open May throw, as `localStorage` does where it is forbidden. */
  constructor(open) {
    this.open = open;
  }

  /**
   * @param {string} name
   * @returns {unknown}
   */
  get(name) {
    try {
      return JSON.parse(this.open().getItem(name) || "null");
    } catch {
      return null;
    }
  }

  /**
   * Whether it was kept.
   * @param {string} name
   * @param {unknown} value
   */
  set(name, value) {
    try {
      this.open().setItem(name, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  }

  /** @param {string} name */
  drop(name) {
    try {
      this.open().removeItem(name);
    } catch {
      // Nothing was kept.
    }
  }
}

/** Votes of a person in this browser: those that wait for the line, and those that were refused. */
export class Queue {
  /**
   * @param {Store} store
   * @param {string} who
   */
  constructor(store, who) {
    this.store = store;
    this.waits = `riddlemill queue ${who}`;
    this.refusals = `riddlemill refused ${who}`;
  }

  waiting() {
    return this.#list(this.waits);
  }

  refused() {
    return this.#list(this.refusals);
  }

  /**
   * Whether the vote could be kept; an earlier one on the same item gives way.
   * @param {Entry} entry
   */
  add(entry) {
    return this.#put(this.waits, entry);
  }

  /**
   * Forgets a refused vote.
   * @param {string} key
   */
  forget(key) {
    this.#take(this.refusals, key);
  }

  /**
   * Sends what waits, in order, until there is none or the line is down. What the server does not
   * take is set aside with the reason and does not stop those after it.
   * @param {(entry: Entry) => Promise<Sent | null>} send Null where the server cannot be reached.
   * @param {(sent: Sent) => string} why
   * @param {() => void} changed Called after each vote.
   * @returns {Promise<{ saved: number, ended: "empty" | "down" | "over" }>}
   */
  async flush(send, why, changed) {
    let saved = 0;
    for (let [entry] = this.waiting(); entry; [entry] = this.waiting()) {
      const sent = await send(entry);
      if (!sent || sent.status === 503) return { saved, ended: "down" };
      if (sent.over) return { saved, ended: "over" };
      if (sent.saved) {
        this.store.drop(entry.key);
        saved++;
      } else this.#put(this.refusals, { ...entry, why: why(sent) });
      this.#take(this.waits, entry.key);
      changed();
    }
    return { saved, ended: "empty" };
  }

  /**
   * @param {string} name
   * @returns {Entry[]}
   */
  #list(name) {
    const found = this.store.get(name);
    return Array.isArray(found) ? found : [];
  }

  /**
   * @param {string} name
   * @param {Entry} entry
   */
  #put(name, entry) {
    return this.store.set(name, [...this.#without(name, entry.key), entry]);
  }

  /**
   * @param {string} name
   * @param {string} key
   */
  #take(name, key) {
    const left = this.#without(name, key);
    if (left.length) this.store.set(name, left);
    else this.store.drop(name);
  }

  /**
   * @param {string} name
   * @param {string} key
   */
  #without(name, key) {
    return this.#list(name).filter((other) => other.key !== key);
  }
}
