// Copies links, and shows what a slider says. Pages work without it.
"use strict";
(() => {
  function ready(root) {
    for (const input of root.querySelectorAll("input[data-copy]")) {
      input.value = new URL(input.value, location.href).href;
      input.addEventListener("focus", () => input.select());
    }
    for (const button of root.querySelectorAll("button[data-copies]")) button.hidden = false;
  }
  // A link is copied by the browser, or marked to be copied where a page without TLS may not.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copies]");
    const input = button?.parentElement.querySelector("input[data-copy]");
    if (!input) return;
    input.focus();
    input.select();
    try { await navigator.clipboard.writeText(input.value); } catch { if (!document.execCommand("copy")) return; }
    button.textContent = button.dataset.done;
    button.focus();
  });
  // One key stands for the button or link that names it. A second press waits for the page that the first asked for.
  let pressed = false;
  addEventListener("pageshow", () => { pressed = false; });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || pressed) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
    const place = document.querySelector(`[data-press="${CSS.escape(event.key)}"]`);
    if (!place) return;
    event.preventDefault();
    pressed = true;
    place.click();
  });
  // A benchmark that a link names is a row that opens.
  const unfold = () => { const row = document.getElementById(location.hash.slice(1)); if (row instanceof HTMLDetailsElement) row.open = true; };
  addEventListener("hashchange", unfold);
  document.addEventListener("DOMContentLoaded", () => { ready(document); unfold(); });
  document.addEventListener("htmx:afterSettle", (event) => ready(event.target));
  document.addEventListener("input", (event) => {
    const output = document.querySelector(`output[data-of="${CSS.escape(event.target.id || "-")}"]`);
    if (output) output.textContent = Number(event.target.value).toFixed(2);
  });
})();
