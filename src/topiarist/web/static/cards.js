// A small card for a word: where in the tree it is at home, and a way to its documents.
import { data, root, say, to } from "./explorer.js";

const WAIT = 250; // ms before a card shows
const known = new Map();
let card;
let owner; // the word that the card is about
let timer;
let latest = 0;

export function startCards() {
  document.addEventListener("pointerover", (event) => later(event.target.closest?.("[data-word]")));
  document.addEventListener("focusin", (event) => {
    if (!card?.contains(event.target)) later(event.target.closest?.("a[data-word]"));
  });
  document.addEventListener("click", (event) => {
    const word = event.target.closest("span[data-word]");
    if (word) show(word);
    else if (card && !card.contains(event.target)) close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !card) return;
    event.preventDefault();
    leave();
  });
  document.addEventListener("topiarist:swapped", close);
}

/** For the keyboard: the card shows at once, and the focus goes into it. */
export async function openCard(word) {
  if (await show(word)) card.querySelector("a").focus();
  else say("Nothing is known about this word");
}

function later(target) {
  clearTimeout(timer);
  if (target) timer = setTimeout(() => show(target), WAIT);
  else if (card && !card.matches(":hover, :focus-within")) timer = setTimeout(close, WAIT);
}

function close() {
  latest += 1; // what is still on its way does not show any more
  card?.remove();
  card = undefined;
}

/** Back to where one was in the text. */
function leave() {
  const inside = card.contains(document.activeElement);
  close();
  if (inside) owner.focus();
}

async function facts(word) {
  if (!known.has(word)) known.set(word, await data(`${root}/word.json?${new URLSearchParams({ word })}`));
  return known.get(word);
}

function line(tag, text, name) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

function homes(page) {
  const list = document.createElement("ul");
  for (const home of page.homes.slice(0, 5)) {
    const entry = document.createElement("li");
    const link = line("a", home.name);
    link.href = to(home.address);
    entry.append(link, ` ${Math.round(100 * home.share)}%`);
    list.append(entry);
  }
  return list;
}

function times(word) {
  const number = document.querySelectorAll(`#text [data-word="${CSS.escape(word)}"]`).length;
  return number > 1 ? `${number} times on this page` : "once on this page";
}

async function show(target) {
  const word = target.dataset.word;
  if (!word) return false;
  const number = (latest += 1);
  let page;
  try {
    page = await facts(word);
  } catch {
    return false;
  }
  if (number !== latest || !target.isConnected) return false;
  card?.remove();
  owner = target;
  card = document.createElement("aside");
  card.className = "card";
  card.setAttribute("role", "dialog");
  card.setAttribute("aria-label", `About the word ${word}`);
  const button = line("button", "×", "close");
  button.setAttribute("aria-label", "Close");
  button.addEventListener("click", leave);
  card.append(button, line("p", page.word, "given"));
  const said = target.title.replace(`${word}: `, "");
  if (said) card.append(line("p", `${said}; ${times(word)}`, "dim"));
  const find = line("a", "Find in the collection");
  find.href = to(page.search);
  card.append(line("p", page.homes.length ? "At home in:" : page.sentence), homes(page), find);
  card.addEventListener("keydown", stay);
  document.body.append(card);
  place(target.getBoundingClientRect());
  return true;
}

/** With Tab past its ends one is back in the text, not at the end of the page. */
function stay(event) {
  if (event.key !== "Tab") return;
  const stops = [...card.querySelectorAll("button, a")];
  const edge = event.shiftKey ? stops[0] : stops[stops.length - 1];
  if (document.activeElement !== edge) return;
  event.preventDefault();
  leave();
}

function place(box) {
  const left = Math.min(box.left, innerWidth - card.offsetWidth - 12);
  const below = box.bottom + card.offsetHeight + 8 < innerHeight;
  // positions are set through the object model, which the content policy allows
  card.style.left = `${Math.max(8, left) + scrollX}px`;
  card.style.top = `${(below ? box.bottom + 6 : Math.max(8, box.top - card.offsetHeight - 6)) + scrollY}px`;
}
