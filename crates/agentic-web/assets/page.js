// The script of all pages. Without it everything can be read and every form sent.
"use strict";

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const make = (name, text, more = {}) =>
  Object.assign(document.createElement(name), { textContent: text }, more);
const kept = {
  get(name) { try { return localStorage.getItem(name); } catch { return null; } },
  set(name, value) { try { localStorage.setItem(name, value); } catch { /* It is for this page alone. */ } },
};

// A login's code stands behind `#`, where no server and no log sees it.
const login = one("#login");
if (login && location.hash.length > 1) {
  one("#code").value = location.hash.slice(1);
  history.replaceState(null, "", "/login");
  login.submit();
}

// Light or dark, and keys or none: as the person chose here, else as the system says.
const SCHEMES = ["system", "light", "dark"];
const showScheme = () => {
  const scheme = kept.get("scheme");
  if (scheme && scheme !== "system") document.documentElement.dataset.scheme = scheme;
  else delete document.documentElement.dataset.scheme;
};
const hasKeys = () => kept.get("keys") !== "off";
showScheme();
const footer = one("footer");
if (footer) {
  const scheme = make("button", "", { type: "button", className: "quiet", id: "scheme" });
  const keys = make("button", "", { type: "button", className: "quiet", id: "keys" });
  const say = () => {
    scheme.textContent = "Colours: " + (kept.get("scheme") || "system");
    keys.textContent = "Keys: " + (hasKeys() ? "on" : "off");
  };
  scheme.onclick = () => {
    const next = SCHEMES.indexOf(kept.get("scheme") || "system") + 1;
    kept.set("scheme", SCHEMES[next % SCHEMES.length]);
    showScheme();
    say();
  };
  keys.onclick = () => { kept.set("keys", hasKeys() ? "off" : "on"); say(); };
  say();
  footer.append(scheme, keys);
}

// How long ago, or in how long, beside each instant.
const STEPS = [[60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"], [Infinity, 86400, "d"]];
function distance(millis) {
  const seconds = Math.round(Math.abs(millis) / 1000);
  const [, unit, name] = STEPS.find(([most]) => seconds < most);
  const text = Math.floor(seconds / unit) + " " + name;
  return millis < 0 ? "in " + text : text + " ago";
}
function showDistances() {
  for (const time of all("time[datetime]")) {
    const at = Date.parse(time.dateTime);
    if (Number.isNaN(at)) continue;
    let beside = time.nextElementSibling;
    if (!beside || beside.className !== "distance") {
      beside = make("span", "", { className: "distance" });
      time.after(beside);
    }
    const text = " (" + distance(Date.now() - at) + ")";
    if (beside.textContent !== text) beside.textContent = text;
  }
}
// What can be sent no more.
function putOut(place) {
  for (const button of all("form button[type=submit]", place)) button.disabled = true;
}
// Who comes too late is told so before they send anything.
function showDeadlines() {
  for (const time of all("time[data-deadline]")) {
    const left = Date.parse(time.dateTime) - Date.now();
    const home = time.closest("[data-row]") || time.closest("main"), form = one("form.decision", home);
    if (left > 0 || time.dataset.over) continue;
    time.dataset.over = "yes";
    time.after(make("strong", " too late", { className: "over" }));
    if (!form) continue;
    putOut(home);
    sayChanged(form, "It is too late to answer this.");
  }
}
// The button says what is missing.
function showMissing() {
  for (const form of all("form.decision")) {
    const radios = all("input[type=radio][name=action]", form), button = one("button[type=submit]", form);
    if (radios.length)
      button.textContent = radios.some((radio) => radio.checked) ? "Decide" : "Decide: choose an answer first";
  }
}
document.addEventListener("change", showMissing);
showMissing();
const tick = () => { showDistances(); showDeadlines(); };
tick();
setInterval(tick, 1000);

// An element that somebody is busy with is never replaced.
function isBusy(element) { return element.contains(document.activeElement) || isTouched(element); }
function isTouched(element) {
  const selection = getSelection();
  if (selection && !selection.isCollapsed && selection.containsNode(element, true)) return true;
  return all("input, textarea, select", element).some((field) =>
    field.type === "radio" || field.type === "checkbox" ? field.checked !== field.defaultChecked
      : "defaultValue" in field && field.type !== "hidden" && field.value !== field.defaultValue);
}
function sayChanged(element, said) {
  let line = element.previousElementSibling;
  if (!line || line.className !== "changed") {
    line = make("p", "", { className: "changed" });
    line.setAttribute("role", "status");
    element.before(line);
  }
  line.textContent = said || "This has changed: load the page again to see it.";
}
// What is decided or too late stays in its list, put out, until the page is left.
function keepGone(old, fresh) {
  const list = one(".holds", fresh);
  if (!list || one("a[rel=next]", fresh)) return;
  let before = null;
  for (const row of all(".holds > [data-row]", old)) {
    const found = fresh.getElementById(row.id);
    if (!found) {
      if (!row.classList.contains("gone"))
        row.append(make("p", "This is answered, or it is too late for it.", { className: "about" }));
      row.classList.add("gone");
      putOut(row);
      if (before) before.after(row); else list.prepend(row);
    }
    before = found || row;
  }
}
// Leads down to the link that has the focus, step by step beside its like on the fresh page; nowhere
// where somebody is busy with more than that link, or the fresh page has none.
function stepsToFocus(old, found) {
  const link = document.activeElement, steps = [[old, found]];
  if (!link.matches("a") || !old.contains(link) || isTouched(old)) return null;
  for (let [mine, like] = steps[0]; mine !== link; steps.push([mine, like])) {
    mine = [...mine.children].find((one) => one.contains(link));
    const name = (one) => [one.tagName, one.id, one.id ? "" : one.className, one.getAttribute("href")].join();
    const alike = [...like.children].filter((one) => name(one) === name(mine));
    if (alike.length !== 1) return null;
    like = alike[0];
  }
  return steps;
}
// Everything around that link becomes as on the fresh page.
function replaceAround(steps) {
  steps.slice(1).forEach(([kept, like], at) => {
    const [mine, found] = steps[at];
    for (const one of [...mine.childNodes]) if (one !== kept) one.remove();
    let isBefore = true;
    for (const one of [...found.childNodes]) {
      if (one === like) isBefore = false;
      else if (isBefore) kept.before(one);
      else mine.append(one);
    }
    if (found.dataset.rev) mine.dataset.rev = found.dataset.rev;
  });
}
function take(fresh) {
  for (const old of all("[id][data-rev]")) {
    const found = fresh.getElementById(old.id);
    if (!old.isConnected || (found && found.dataset.rev === old.dataset.rev)) continue;
    const steps = found && stepsToFocus(old, found);
    if (steps) {
      keepGone(old, fresh);
      replaceAround(steps);
    } else if (!found || isBusy(old)) {
      sayChanged(old, found && found.dataset.said);
      if (!found) old.classList.add("gone");
      if (!found || !one("form button[type=submit]", found)) putOut(old);
    } else {
      keepGone(old, fresh);
      old.replaceWith(document.adoptNode(found));
    }
  }
  tick();
  showMissing();
}
let isLoading = false, isStale = false;
function look() {
  // What answers a form that was refused has no address of its own.
  if (location.pathname.endsWith("/decision")) return;
  if (isLoading) { isStale = true; return; }
  isLoading = true;
  isStale = false;
  const request = new XMLHttpRequest();
  request.open("GET", location.pathname + location.search);
  request.responseType = "document";
  request.onloadend = () => {
    isLoading = false;
    if (request.status === 401) live("logged out");
    else if (request.response) take(request.response);
    if (isStale) look();
  };
  request.send();
}
const said = one("#live");
function live(text) { if (said.textContent !== text) said.textContent = text; }

// One tab holds the stream of events and tells the others.
const NAMES = ["agent", "commit", "trace", "session", "hold", "decision", "relation", "index", "reset"];
function listen(tell) {
  const stream = new EventSource("/api/v1/events?from=" + encodeURIComponent(document.body.dataset.place));
  stream.onopen = () => tell("live");
  stream.onerror = () => {
    // Who is refused, as after a logout, is told so; the browser would not try again.
    if (stream.readyState === EventSource.CLOSED) { tell("changed"); setTimeout(listen, 2000, tell); }
    else tell("as of " + new Date().toISOString().slice(11, 19) + " UTC");
  };
  for (const name of NAMES) stream.addEventListener(name, () => tell("changed"));
}
if (said) {
  const channel = new BroadcastChannel("agentic");
  const hear = (word) => word === "changed" ? look() : live(word);
  channel.onmessage = ({ data }) => data === "?" ? channel.postMessage(said.textContent) : hear(data);
  channel.postMessage("?");
  const begin = () => listen((word) => { channel.postMessage(word); hear(word); });
  // The lock is held until the tab goes away.
  if (navigator.locks) navigator.locks.request("agentic-events", () => { begin(); return new Promise(() => {}); });
  else begin();
}

// Keys. None sends by itself.
const ACTIONS = { a: "approve", r: "reject", e: "edit", p: "respond" };
const HELP = [["j k", "next, previous"], ["o", "open"], ["a r e p", "choose approve, reject, edit, respond"],
  ["c", "write the reason"], ["Ctrl+Enter", "send"], ["/", "search"], ["g then i a s t", "go to a page"], ["?", "this help"]];
let isGoing = false;
function move(by) {
  const links = all("[data-row] a:first-of-type");
  const at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by];
  if (next) next.focus();
}
function help() {
  let dialog = one("#help");
  if (!dialog) {
    dialog = make("dialog", "", { id: "help" });
    dialog.setAttribute("aria-label", "Keys");
    const list = make("dl", "");
    for (const [key, what] of HELP) list.append(make("dt", key), make("dd", what));
    const close = make("button", "Close", { type: "button", onclick: () => dialog.close() });
    dialog.append(list, close);
    document.body.append(dialog);
  }
  if (dialog.open) dialog.close(); else dialog.showModal();
}
// The form that keys mean: that of the row with the focus, or of the page; none before its text is unfolded.
function formHere() {
  const row = document.activeElement.closest("[data-row]");
  const form = row ? one("form.decision", row) : one("main > form.decision");
  return form && !form.closest("details:not([open])") ? form : null;
}
document.addEventListener("keydown", (event) => {
  const form = formHere();
  if (event.ctrlKey && event.key === "Enter" && form && hasKeys()) {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  const target = event.target;
  const isTyping = target.matches("textarea, select, [contenteditable]") ||
    (target.matches("input") && !["radio", "checkbox", "submit", "button"].includes(target.type));
  if (isTyping || event.ctrlKey || event.altKey || event.metaKey || !hasKeys()) return;
  const key = event.key;
  if (isGoing) {
    isGoing = false;
    const link = all("nav a[data-key]").find((link) => link.dataset.key === key);
    if (link) link.click();
    return;
  }
  const choice = ACTIONS[key] && form && one(`input[name=action][value=${ACTIONS[key]}]`, form);
  if (choice) { choice.checked = true; choice.focus(); choice.dispatchEvent(new Event("change", { bubbles: true })); }
  else if (key === "j" || key === "k") move(key === "j" ? 1 : -1);
  else if (key === "o") { if (target.matches("a")) target.click(); else return; }
  else if (key === "c" && form) one("[name=reason]", form).focus();
  else if (key === "/") one("#search") ? one("#search").focus() : location.assign("/search");
  else if (key === "g") isGoing = true;
  else if (key === "?") help();
  else return;
  event.preventDefault();
});
