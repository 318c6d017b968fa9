// A run as it goes: the server sends its part of the page whenever there is something new.
"use strict";
(() => {
  const place = document.querySelector("#running[data-events]");
  if (!place) return;
  const source = new EventSource(place.dataset.events);
  let last = "";
  const show = (event) => { if (event.data !== last) { last = event.data; place.innerHTML = event.data; } };
  source.addEventListener("progress", show);
  source.addEventListener("over", (event) => { show(event); source.close(); setTimeout(() => location.reload(), 800); });
})();
