// The list of topics as a tree in the sense of ARIA: one tab stop, arrow keys, branches that load when they are opened.
import { data, gone, root, say } from "./explorer.js";

const STORE = "topiarist-open";
const FORGET = 600; // ms between letters of a type-ahead

let tree;
let typed = "";
let timer;

const items = () => [...tree.querySelectorAll('[role="treeitem"]')].filter((item) => item.offsetParent !== null);
const group = (item) => item.parentElement.querySelector(":scope > ul");
const expanded = (item) => item.getAttribute("aria-expanded") === "true";

export function startTree() {
  tree = document.querySelector(".tree .rows");
  if (!tree) return;
  tree.setAttribute("role", "tree");
  tree.setAttribute("aria-label", "Topics");
  dress(tree, 1);
  const current = tree.querySelector("[aria-current]") || tree.querySelector("[role=treeitem]");
  rove(current);
  tree.addEventListener("keydown", pressed);
  tree.addEventListener("click", clicked);
  reopen();
}

function dress(list, level) {
  const rows = [...list.children];
  rows.forEach((row, place) => {
    row.setAttribute("role", "none");
    const item = row.querySelector(":scope > a");
    item.setAttribute("role", "treeitem");
    item.setAttribute("aria-level", level);
    item.setAttribute("aria-setsize", rows.length);
    item.setAttribute("aria-posinset", place + 1);
    item.tabIndex = -1;
    const below = group(item);
    if (Number(item.dataset.below)) item.setAttribute("aria-expanded", String(Boolean(below)));
    if (item.hasAttribute("aria-current")) item.setAttribute("aria-selected", "true");
    if (below) {
      below.setAttribute("role", "group");
      dress(below, level + 1);
    }
  });
}

function rove(item) {
  for (const one of tree.querySelectorAll('[tabindex="0"]')) one.tabIndex = -1;
  if (item) item.tabIndex = 0;
}

function go(item) {
  if (!item) return;
  rove(item);
  item.focus();
}

function remember() {
  const open = [...tree.querySelectorAll('[aria-expanded="true"]')].map((item) => item.dataset.topic);
  try {
    sessionStorage.setItem(STORE, JSON.stringify(open));
  } catch {
    // a browser that keeps nothing: the tree opens as the server sends it
  }
}

async function reopen() {
  let open = [];
  try {
    open = JSON.parse(sessionStorage.getItem(STORE) || "[]");
  } catch {
    return;
  }
  for (const topic of open.slice(0, 50)) {
    const item = tree.querySelector(`[data-topic="${CSS.escape(topic)}"]`);
    if (item && item.hasAttribute("aria-expanded") && !expanded(item)) await show(item, true);
  }
}

function row(line) {
  const entry = document.createElement("li");
  const link = document.createElement("a");
  link.href = root + line.topic.address;
  link.dataset.topic = line.topic.id;
  link.dataset.below = line.topic.subtopics;
  const label = document.createElement("span");
  label.className = "label";
  label.textContent = line.topic.name;
  const count = document.createElement("span");
  count.className = "count";
  count.textContent = line.topic.documents.toLocaleString("en");
  link.append(label, count);
  entry.append(link);
  return entry;
}

async function show(item, quiet) {
  if (!item.hasAttribute("aria-expanded") || expanded(item)) return;
  let below = group(item);
  if (!below) {
    try {
      const page = await data(`${root}/tree.json?topic=${item.dataset.topic}&depth=1`);
      below = document.createElement("ul");
      below.append(...page.row.below.map(row));
      item.parentElement.append(below);
      below.setAttribute("role", "group");
      dress(below, Number(item.getAttribute("aria-level")) + 1);
    } catch {
      gone();
      return;
    }
  }
  below.hidden = false;
  item.setAttribute("aria-expanded", "true");
  remember();
  if (!quiet) say(`${below.children.length} subtopics`);
}

function hide(item) {
  const below = group(item);
  if (below) below.hidden = true;
  item.setAttribute("aria-expanded", "false");
  remember();
}

function clicked(event) {
  const item = event.target.closest('[role="treeitem"][aria-expanded]');
  if (!item || event.offsetX > 18 || !event.target.classList.contains("label")) return;
  event.preventDefault(); // a click on the triangle opens, one on the name goes there
  expanded(item) ? hide(item) : show(item);
}

function parent(item) {
  return item.closest("ul").parentElement.querySelector(":scope > [role=treeitem]");
}

async function pressed(event) {
  const item = event.target.closest('[role="treeitem"]');
  if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = items();
  const here = all.indexOf(item);
  const moves = { ArrowDown: all[here + 1], ArrowUp: all[here - 1], Home: all[0], End: all[all.length - 1] };
  if (event.key in moves) go(moves[event.key]);
  else if (event.key === "ArrowRight") expanded(item) ? go(group(item)?.querySelector("a")) : await show(item);
  else if (event.key === "ArrowLeft") expanded(item) ? hide(item) : go(parent(item));
  else if (event.key === "*") for (const one of item.closest("ul").querySelectorAll(":scope > li > a")) await show(one, true);
  else if (event.key === "Escape") {
    document.getElementById("main").focus();
    return; // a drawer wants to hear of it too
  }
  else if (event.key.length === 1 && /\p{L}/u.test(event.key)) ahead(event.key, all, here);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function ahead(letter, all, here) {
  clearTimeout(timer);
  typed += letter.toLowerCase();
  timer = setTimeout(() => (typed = ""), FORGET);
  const order = [...all.slice(here + (typed.length === 1 ? 1 : 0)), ...all.slice(0, here)];
  go(order.find((item) => (item.querySelector(".label") || item).textContent.trim().toLowerCase().startsWith(typed)));
}

export async function openToLevel(level) {
  for (let depth = 1; depth < level; depth += 1) {
    for (const item of tree.querySelectorAll(`[aria-level="${depth}"][aria-expanded="false"]`)) await show(item, true);
  }
  for (const item of tree.querySelectorAll('[aria-expanded="true"]')) {
    if (Number(item.getAttribute("aria-level")) >= level) hide(item);
  }
  say(`The tree is shown to level ${level}`);
}
