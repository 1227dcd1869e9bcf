// Single keys for people who would rather not reach for the mouse. They rest while a field has the focus, and can be
// turned off for good.
import { data, root, say, to } from "./explorer.js";
import { keepDocument, markItem, readOn, tagItem } from "./marking.js";
import { noteOn } from "./noting.js";
import { judged } from "./review.js";
import { openToLevel } from "./tree.js";
import { nextWord } from "./words.js";

const OFF = "topiarist-no-keys";
const PATIENCE = 1500; // ms that a first key waits for the second
let waiting = "";
let timer;

const off = () => {
  try {
    return localStorage.getItem(OFF) === "yes";
  } catch {
    return false;
  }
};

export function startKeys() {
  document.addEventListener("keydown", pressed);
  const box = document.getElementById("no-keys");
  if (!box) return;
  document.getElementById("keys-off").hidden = false;
  box.checked = off();
  box.addEventListener("change", () => localStorage.setItem(OFF, box.checked ? "yes" : "no"));
}

const inField = (node) => node.closest("input, textarea, select, [contenteditable]") !== null;
const follow = (selector) => document.querySelector(selector)?.click();

/** What one goes through on a page: documents of a list, else rows of its tables of topics, else the outline. */
function entries() {
  const kinds = [".items .item", ".headings tbody tr, .branches tbody tr, #rows tbody tr", ".outline a"];
  const lists = kinds.map((kind) => [...document.querySelectorAll(`main :is(${kind})`)]);
  const shown = lists.map((list) => list.filter((one) => !one.closest("details:not([open])")));
  return shown.find((list) => list.length) ?? [];
}

function step(by) {
  const around = document.querySelector(`.around a[rel="${by > 0 ? "next" : "prev"}"]`);
  if (document.querySelector(".around")) return around?.click();
  const list = entries();
  if (!list.length) return undefined;
  const here = [".at", ":focus-within", ":target"].reduce((at, kind) => (at < 0 ? list.findIndex((item) => item.matches(kind)) : at), -1);
  const next = list[Math.min(Math.max(here + by, 0), list.length - 1)];
  list[here]?.classList.remove("at");
  next.classList.add("at");
  const link = next.matches("a") ? next : next.querySelector("h3 a, th a");
  link.focus();
  return link.scrollIntoView({ block: "nearest" });
}

function up() {
  const links = [...document.querySelectorAll(".crumbs a")];
  const link = document.querySelector('.around a[rel="up"]') || links[links.length - 1];
  if (link) link.click();
  else location.href = to("/");
}

function sibling(by) {
  const here = document.querySelector(".tree [aria-current]");
  const rows = here ? [...here.closest("ul").querySelectorAll(":scope > li > a")] : [];
  rows[rows.indexOf(here) + by]?.click();
}

function colour() {
  const list = [...document.querySelectorAll('.choices[data-kind="colour"] a')];
  if (!list.length) return follow("#why.tick"); // colours come with the reasons
  const here = list.findIndex((link) => link.hasAttribute("aria-current"));
  return list[(here + 1) % list.length]?.click();
}

export async function help() {
  const page = await data(`${root}/help.json`);
  const box = document.createElement("dialog");
  const title = document.createElement("h2");
  title.textContent = "Keys";
  const list = document.createElement("dl");
  list.className = "keys";
  for (const [key, does] of page.keys) {
    const pair = document.createElement("div");
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    for (const one of key.split(" ")) {
      const cap = document.createElement("kbd");
      cap.textContent = one;
      term.append(cap, " ");
    }
    text.textContent = does;
    pair.append(term, text);
    list.append(pair);
  }
  const close = document.createElement("button");
  close.textContent = "Close";
  close.addEventListener("click", () => box.close());
  box.addEventListener("close", () => box.remove());
  box.setAttribute("aria-label", "Keys");
  box.append(title, list, close);
  document.body.append(box);
  box.showModal();
}

function level(number) {
  const details = document.querySelectorAll('.alone .choices[data-kind="detail"] a');
  return details.length ? details[number - 1]?.click() : openToLevel(number);
}

function tag() {
  if (!document.querySelector('[data-key="t"]')) return tagItem();
  follow('[data-key="t"]');
  return document.querySelector("details[open] input[name=tag]")?.focus();
}

function wait() {
  waiting = "g";
  timer = setTimeout(() => (waiting = ""), PATIENCE);
  say("g: then h home, m model, n new");
}

const PLACES = { h: "/", m: "/model", n: "/new" };

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const field = inField(event.target);
  if (event.key === "Escape" && field) {
    if (event.target.value && event.target.id === "q") event.target.value = "";
    else event.target.blur();
    return;
  }
  if (event.key === "x" && event.target.closest?.(".picture")) return; // there it chooses a topic
  if (field || off() || document.querySelector("dialog[open]")) return;
  if (waiting === "g") {
    clearTimeout(timer);
    waiting = "";
    if (event.key in PLACES) location.href = to(PLACES[event.key]);
    return;
  }
  if (judged(event)) return event.preventDefault();
  const does = {
    "/": () => document.getElementById("q")?.focus(), j: () => step(1), k: () => step(-1), u: up,
    o: () => follow('[data-key="o"]'), r: () => (document.querySelector('[data-key="r"]') ? follow('[data-key="r"]') : markItem()), t: tag,
    c: colour, "[": () => sibling(-1), "]": () => sibling(1), "?": help, g: wait,
    n: () => nextWord(1), p: () => nextWord(-1), x: () => readOn(step), s: keepDocument, m: () => noteOn(), w: () => follow("#why.tick"),
  };
  if (/^[1-9]$/.test(event.key)) level(Number(event.key));
  else if (event.key in does) does[event.key]();
  else return;
  event.preventDefault();
}
