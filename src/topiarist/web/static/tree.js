// The list of topics as a tree in the sense of ARIA: one tab stop, arrow keys, branches that load when they are opened.
import { data, gone, root, say, to } from "./explorer.js";

const OPEN = "topiarist-open"; // what somebody opened beyond what the server sends open
const CLOSED = "topiarist-closed"; // and what somebody closed of that
const PLACE = "topiarist-tree-at"; // how far the tree was scrolled
const FORGET = 600; // ms between letters of a type-ahead

let tree;
let typed = "";
let timer;

const items = () => [...tree.querySelectorAll('[role="treeitem"]')].filter((item) => item.offsetParent !== null);
const group = (item) => item.parentElement.querySelector(":scope > ul");
const expanded = (item) => item.getAttribute("aria-expanded") === "true";
const level = (item) => Number(item.getAttribute("aria-level"));

export function startTree() {
  tree = document.querySelector(".tree .rows");
  if (!tree) return;
  tree.addEventListener("keydown", pressed);
  tree.addEventListener("click", clicked);
  document.querySelector(".tree .levels")?.addEventListener("click", leveled);
  addEventListener("pagehide", () => keep(PLACE, document.getElementById("tree").scrollTop));
  begin();
}

async function begin() {
  tree.setAttribute("role", "tree");
  tree.setAttribute("aria-label", "Topics");
  dress(tree, 1);
  rove(tree.querySelector("[aria-current]") || tree.querySelector("[role=treeitem]"));
  await reopen();
  const box = document.getElementById("tree");
  box.scrollTop = kept(PLACE, 0);
  const current = tree.querySelector("[aria-current]");
  if (!current?.offsetParent) return;
  const [row, frame] = [current.getBoundingClientRect(), box.getBoundingClientRect()];
  if (row.top < frame.top) box.scrollTop -= frame.top - row.top;
  else if (row.bottom > frame.bottom) box.scrollTop += row.bottom - frame.bottom;
}

/** After a part of the page was exchanged: the tree of the new page, where it says something else. */
export function freshTree(page, changed) {
  const fresh = page.querySelector(".tree .rows");
  if (!tree || !fresh) return;
  const [facets, others] = [document, page].map((one) => one.querySelector(".tree .facets"));
  facets.replaceChildren(...[...others.childNodes].map((node) => document.importNode(node, true)));
  const here = (list) => list.querySelector("[aria-current]")?.dataset.topic;
  if (!changed && here(fresh) === here(tree) && fresh.dataset.query === tree.dataset.query && fresh.dataset.by === tree.dataset.by) return;
  keep(PLACE, document.getElementById("tree").scrollTop);
  tree.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
  for (const name of ["query", "by", "narrow"]) {
    if (fresh.dataset[name] === undefined) delete tree.dataset[name];
    else tree.dataset[name] = fresh.dataset[name];
  }
  const [title, now] = [document, page].map((one) => one.querySelector(".tree > h2"));
  title.replaceChildren(...[...now.childNodes].map((node) => document.importNode(node, true)));
  begin();
}

function dress(list, depth) {
  const rows = [...list.children];
  rows.forEach((row, place) => {
    row.setAttribute("role", "none");
    const item = row.querySelector(":scope > a");
    item.setAttribute("role", "treeitem");
    item.setAttribute("aria-level", depth);
    item.setAttribute("aria-setsize", rows.length);
    item.setAttribute("aria-posinset", place + 1);
    item.tabIndex = -1;
    const below = group(item);
    if (Number(item.dataset.below)) item.setAttribute("aria-expanded", String(Boolean(below)));
    if (item.hasAttribute("aria-current")) item.setAttribute("aria-selected", "true");
    if (below) own(item, below, depth);
  });
}

function own(item, below, depth) {
  below.id = `below-${item.dataset.topic}`;
  below.setAttribute("role", "group");
  item.setAttribute("aria-owns", below.id);
  dress(below, depth + 1);
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

function keep(name, value) {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // a browser that keeps nothing: the tree opens as the server sends it
  }
}

function kept(name, usual) {
  try {
    return JSON.parse(sessionStorage.getItem(name)) ?? usual;
  } catch {
    return usual;
  }
}

function remember() {
  const topics = (which) => [...tree.querySelectorAll(which)].map((item) => item.dataset.topic);
  keep(OPEN, topics('[aria-expanded="true"]:not([data-open])'));
  keep(CLOSED, topics('[aria-expanded="false"][data-open]'));
}

async function reopen() {
  for (const topic of kept(CLOSED, [])) {
    const item = tree.querySelector(`[data-topic="${CSS.escape(topic)}"][data-open]`);
    if (!item || group(item).querySelector("[aria-current]") || item.hasAttribute("aria-current")) continue;
    group(item).hidden = true; // the way to where one is stays open
    item.setAttribute("aria-expanded", "false");
  }
  for (const topic of kept(OPEN, []).slice(0, 50)) {
    const item = tree.querySelector(`[data-topic="${CSS.escape(topic)}"]`);
    if (item && item.hasAttribute("aria-expanded") && !expanded(item)) await show(item, true);
  }
}

function span(name, text) {
  const made = document.createElement("span");
  made.className = name;
  made.textContent = text;
  return made;
}

/** A bar as the server draws it. */
function bar(share) {
  const [svg, rect] = ["svg", "rect"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  svg.setAttribute("class", "thin");
  svg.setAttribute("aria-hidden", "true");
  rect.setAttribute("width", `${(100 * share).toFixed(1)}%`);
  rect.setAttribute("height", "100%");
  svg.append(rect);
  return svg;
}

/** The classes of a heading's colour and sign, as the server names them. */
function hue(branch) {
  return branch ? `b${((branch - 1) % 9) + 1} s${((branch - 1) % 7) + 1}` : "";
}

/** A row as the server writes it, with what is open below it. */
function row(line) {
  const { topic } = line;
  const entry = document.createElement("li");
  const link = document.createElement("a");
  link.href = tree.dataset.narrow ? `${tree.dataset.narrow}&topic=${topic.id}` : to(topic.address);
  link.dataset.topic = topic.id;
  link.dataset.below = topic.subtopics;
  link.className = `${hue(topic.branch)}${topic.matching === 0 ? " unmatched" : ""}`;
  const twist = span("twist", "");
  twist.setAttribute("aria-hidden", "true");
  const label = span("label", "");
  const more = topic.below && !line.below.length ? `, ${topic.below.toLocaleString("en")} topic${topic.below === 1 ? "" : "s"} below` : "";
  label.title = topic.name + more;
  label.append(span(topic.named ? "given" : "words", topic.name));
  const matching = topic.matching === null ? "" : `${topic.matching.toLocaleString("en")} / `;
  link.append(twist, label, span("count", matching + (topic.waiting ? "new" : topic.documents.toLocaleString("en"))), bar(line.bar));
  entry.append(link);
  if (line.below.length) entry.append(rows(line));
  return entry;
}

function rows(line) {
  const list = document.createElement("ul");
  list.append(...line.below.map(row));
  if (!line.more) return list;
  const entry = document.createElement("li");
  const link = document.createElement("a");
  link.className = "more";
  link.href = to(`/tree?topic=${line.topic.id}`);
  link.textContent = `… ${line.more} smaller topics`;
  entry.append(link);
  list.append(entry);
  return list;
}

async function branch(topic, depth) {
  const query = tree.dataset.query ? { q: tree.dataset.query, by: tree.dataset.by } : {};
  return (await data(`${root}/tree.json?${new URLSearchParams({ topic, depth, ...query })}`)).row;
}

async function show(item, quiet) {
  if (!item.hasAttribute("aria-expanded") || expanded(item)) return;
  let below = group(item);
  if (!below) {
    try {
      below = rows(await branch(item.dataset.topic, 1));
    } catch (error) {
      gone(error);
      return;
    }
    if (!item.isConnected || group(item)) return; // somebody was faster
    item.parentElement.append(below);
    own(item, below, level(item));
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
  if (!item || !event.target.classList.contains("twist")) return;
  event.preventDefault(); // a click on the triangle opens, one on the name goes there
  expanded(item) ? hide(item) : show(item);
}

function leveled(event) {
  const link = event.target.closest("[data-level]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openToLevel(Number(link.dataset.level));
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

/** All branches down to a level, the headings being level 1, and none below it. One question to the server is enough. */
export async function openToLevel(deepest) {
  if (!tree) return;
  const first = tree.querySelector("[role=treeitem]");
  const closed = [...tree.querySelectorAll("[aria-expanded]")].some((item) => !group(item) && level(item) <= deepest);
  if (closed) {
    try {
      fill(first, await branch(first.dataset.topic, deepest));
    } catch (error) {
      gone(error);
      return;
    }
  }
  for (const item of tree.querySelectorAll("[aria-expanded]")) {
    const open = level(item) <= deepest && group(item) !== null;
    if (group(item)) group(item).hidden = !open;
    item.setAttribute("aria-expanded", String(open));
  }
  if (!tree.querySelector('[tabindex="0"]')?.offsetParent) rove(first);
  remember();
  say(`The tree is shown to level ${deepest}`);
}

/** What is not loaded yet below a topic, from what the server says about it. */
function fill(item, line) {
  if (!group(item)) {
    if (!line.below.length) return;
    item.parentElement.append(rows(line));
    own(item, group(item), level(item));
    return;
  }
  for (const one of line.below) {
    const child = group(item).querySelector(`:scope > li > [data-topic="${one.topic.id}"]`);
    if (child) fill(child, one);
  }
}
