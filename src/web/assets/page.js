// Draws the charts, copies links, and shows what a slider says. Pages work without it.
"use strict";
(() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  // `light-dark(a, b)` as a canvas takes it.
  const resolved = (name) => {
    const probe = document.createElement("i");
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found || colour(name);
  };
  const kinds = { kept: "kept", changed: "changed", expanded: "changed", joined: "changed", dropped: "dropped", merged: "merged", held: "held", failed: "failed" };
  const shade = (kind) => resolved(kinds[kind] || "main");
  const soft = (css, alpha) => css.replace(/^rgb\(([^)]+)\)$/, `rgba($1, ${alpha})`);

  function plan(spec) {
    const bars = uPlot.paths.bars({ size: [0.86, 40], align: 1 });
    const line = (s) => ({ label: s.label, stroke: shade(s.kind), width: 2, points: { show: false } });
    const block = (s) => ({ label: s.label, stroke: shade(s.kind), fill: soft(shade(s.kind), 0.75), width: 0, paths: bars, points: { show: false } });
    const count = (at, step) => at.map((_, i) => i * step);
    // An axis goes as far as there is something, and a little further.
    if (spec.kind === "stacked" || spec.kind === "bins") {
      const last = Math.max(0, ...spec.series.map((s) => s.values.findLastIndex((v) => v > 0)));
      spec.series = spec.series.map((s) => ({ ...s, values: s.values.slice(0, last + 2) }));
    }
    switch (spec.kind) {
      case "stacked": {
        // Each layer is drawn over the sum of those under it, the highest sum first.
        let sum = spec.series.length ? spec.series[0].values.map(() => 0) : [];
        const layers = spec.series.map((s) => { sum = sum.map((v, i) => v + s.values[i]); return { s, sum }; }).reverse();
        return { xs: count(sum, 1), data: layers.map((l) => l.sum), series: layers.map((l) => ({ ...block(l.s), fill: shade(l.s.kind), value: (u, v, si, i) => (i == null ? "–" : l.s.values[i]) })) };
      }
      case "bins":
        return { xs: count(spec.series[0].values, spec.bin), data: spec.series.map((s) => s.values), series: spec.series.map(block) };
      case "lines":
        return { xs: count(spec.series[0].values, 1), data: spec.series.map((s) => s.values), series: spec.series.map(line) };
      case "pairs":
        return { xs: spec.bars.map((b) => Number(b.label)), data: [spec.bars.map((b) => b.value + b.other), spec.bars.map((b) => b.value)],
          series: [{ ...block({ label: spec.labels[1], kind: "held" }), value: (u, v, si, i) => (i == null ? "–" : spec.bars[i].other) }, block({ label: spec.labels[0], kind: "merged" })] };
      default:
        return { xs: spec.bars.map((b) => Number(b.label)), data: [spec.bars.map((b) => b.value)], series: [line({ label: spec.labels[0], kind: "merged" })] };
    }
  }

  // Records are counted: no axis has a half of one.
  const WHOLE = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].flatMap((n) => [n, 2 * n, 5 * n]);
  const drawn = new Map();
  function draw(place) {
    const spec = JSON.parse(place.dataset.chart);
    const { xs, data, series } = plan(spec);
    const axis = { stroke: resolved("soft"), grid: { stroke: resolved("line"), width: 1 }, ticks: { stroke: resolved("line"), width: 1 }, font: "12px system-ui, sans-serif" };
    place.replaceChildren();
    const chart = new uPlot({
      width: place.clientWidth, height: 190, cursor: { y: false }, scales: { x: { time: false } }, padding: [8, 18, 0, 0],
      series: [{ label: spec.x }, ...series], axes: [axis, { ...axis, size: 52, incrs: WHOLE }],
    }, [xs, ...data], place);
    drawn.set(place, chart);
    // With the keyboard: arrows go from value to value, and each is read out.
    let at = -1;
    place.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -xs.length, End: xs.length }[event.key];
      if (!step) return;
      event.preventDefault();
      at = Math.min(Math.max(at + step, 0), xs.length - 1);
      chart.setCursor({ left: chart.valToPos(xs[at], "x"), top: 0 });
      const values = chart.series.slice(1).map((s, n) => `${s.label} ${typeof s.value === "function" ? s.value(chart, data[n][at], n + 1, at) : data[n][at]}`);
      const words = `${spec.x} ${xs[at]}: ${values.join(", ")}`, line = place.nextElementSibling;
      if (line?.classList.contains("at")) line.textContent = words;
      place.setAttribute("aria-label", `${place.dataset.label}. ${words}`);
    };
  }
  function all(root) {
    if (typeof uPlot === "undefined") return;
    for (const place of root.querySelectorAll(".chart[data-chart]")) if (!drawn.has(place)) draw(place);
  }
  const again = () => { for (const place of [...drawn.keys()]) { drawn.get(place).destroy(); drawn.delete(place); if (place.isConnected) draw(place); } };

  function ready(root) {
    all(root);
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
  let later;
  addEventListener("resize", () => { clearTimeout(later); later = setTimeout(again, 150); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
})();
