// A run as it goes: the server sends its part of the page whenever there is something new.
"use strict";
(() => {
  const place = document.getElementById("running");
  const events = place?.dataset.events;
  if (!place || !events) return;
  const source = new EventSource(events);
  let last = "";
  /** @param {MessageEvent<string>} event */
  const show = (event) => {
    if (event.data === last) return;
    last = event.data;
    place.innerHTML = event.data;
  };
  source.addEventListener("progress", show);
  source.addEventListener("over", (event) => {
    show(event);
    source.close();
    setTimeout(() => location.reload(), 800);
  });
})();
