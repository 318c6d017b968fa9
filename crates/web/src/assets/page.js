// Copies links, and shows what a slider says. Pages work without it.
"use strict";
(() => {
  /** @param {ParentNode} root */
  function ready(root) {
    for (const input of root.querySelectorAll("input")) {
      if (!("copy" in input.dataset)) continue;
      input.value = new URL(input.value, location.href).href;
      input.addEventListener("focus", () => input.select());
    }
    for (const button of root.querySelectorAll("button")) {
      if ("copies" in button.dataset) button.hidden = false;
    }
  }
  /** @param {Event} event */
  const targetOf = (event) => (event.target instanceof Element ? event.target : null);
  // A link is copied by the browser, or marked to be copied where a page without TLS may not.
  document.addEventListener("click", async (event) => {
    const button = targetOf(event)?.closest("button");
    const input = button?.parentElement?.querySelector("input[data-copy]");
    if (!button || !("copies" in button.dataset) || !(input instanceof HTMLInputElement)) return;
    input.focus();
    input.select();
    try {
      await navigator.clipboard.writeText(input.value);
    } catch {
      if (!document.execCommand("copy")) return;
    }
    button.textContent = button.dataset.done ?? "";
    button.focus();
  });
  // One key stands for the button or link that names it. A second press waits for the page that
  // the first asked for.
  let pressed = false;
  addEventListener("pageshow", () => {
    pressed = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || pressed) return;
    if (targetOf(event)?.closest("input, textarea, select, [contenteditable]")) return;
    const place = document.querySelector(`[data-press="${CSS.escape(event.key)}"]`);
    if (!(place instanceof HTMLElement)) return;
    event.preventDefault();
    pressed = true;
    place.click();
  });
  // A benchmark that a link names is a row that opens.
  const unfold = () => {
    const row = document.getElementById(location.hash.slice(1));
    if (row instanceof HTMLDetailsElement) row.open = true;
  };
  addEventListener("hashchange", unfold);
  document.addEventListener("DOMContentLoaded", () => {
    ready(document);
    unfold();
  });
  document.addEventListener("htmx:afterSettle", (event) => ready(targetOf(event) ?? document));
  document.addEventListener("input", (event) => {
    const slider = targetOf(event);
    if (!(slider instanceof HTMLInputElement)) return;
    const output = document.querySelector(`output[data-of="${CSS.escape(slider.id || "-")}"]`);
    if (output) output.textContent = Number(slider.value).toFixed(2);
  });
})();
