// The script of all pages. Without it everything can be read and every form sent.
"use strict";

// A login's code stands behind `#`, where no server and no log sees it.
const login = document.getElementById("login");
if (login && location.hash.length > 1) {
  document.getElementById("code").value = location.hash.slice(1);
  history.replaceState(null, "", "/login");
  login.submit();
}

// What happens elsewhere is shown here: the page is fetched again, and what differs is replaced.
const live = document.getElementById("live");
const main = document.getElementById("main");

function isInUse(element) {
  const typed = [...element.querySelectorAll("textarea, input:not([type=hidden])")]
    .some((field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked);
  const selected = getSelection();
  return typed || element.contains(document.activeElement)
    || (!selected.isCollapsed && element.contains(selected.anchorNode));
}

function renew() {
  const request = new XMLHttpRequest();
  request.open("GET", location.href);
  request.responseType = "document";
  request.onload = () => {
    const fresh = request.response && request.response.getElementById("main");
    if (request.status !== 200 || !fresh || fresh.isEqualNode(main)) { return; }
    if (isInUse(main)) {
      live.textContent = "changed: load the page again";
      return;
    }
    main.replaceChildren(...fresh.childNodes);
    live.textContent = "live";
  };
  request.send();
}

if (live && window.EventSource) {
  const events = new EventSource("/api/v1/events?from=" + document.body.dataset.place);
  let due = 0;
  const soon = () => {
    clearTimeout(due);
    due = setTimeout(renew, 50);
  };
  const names = ["agent", "commit", "trace", "session", "hold", "decision", "relation", "reset"];
  for (const name of names) { events.addEventListener(name, soon); }
  events.onopen = () => { live.textContent = "live"; };
  events.onerror = () => { live.textContent = "not live: the server is away"; };
}
