// A small card for a word: where in the tree it is at home, and a way to its documents.
import { data, root } from "./explorer.js";

const WAIT = 250; // ms before a card shows
const known = new Map();
let card;
let timer;

export function startCards() {
  document.addEventListener("pointerover", (event) => later(event.target.closest?.("[data-word]")));
  document.addEventListener("focusin", (event) => later(event.target.closest?.("a[data-word]")));
  document.addEventListener("click", (event) => {
    const word = event.target.closest("span[data-word]");
    if (word) show(word);
    else if (card && !card.contains(event.target)) close();
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && close());
}

function later(target) {
  clearTimeout(timer);
  if (target) timer = setTimeout(() => show(target), WAIT);
  else if (card && !card.matches(":hover")) timer = setTimeout(close, WAIT);
}

function close() {
  card?.remove();
  card = undefined;
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

async function show(target) {
  const word = target.dataset.word;
  if (!word) return;
  let page;
  try {
    page = await facts(word);
  } catch {
    return;
  }
  close();
  card = document.createElement("aside");
  card.className = "card";
  card.setAttribute("aria-label", `About the word ${word}`);
  card.append(line("p", page.word, "given"));
  if (target.title) card.append(line("p", target.title, "dim"));
  const list = document.createElement("ul");
  for (const home of page.homes.slice(0, 5)) {
    const entry = document.createElement("li");
    const link = line("a", home.name);
    link.href = root + home.address;
    entry.append(link, ` ${Math.round(100 * home.share)} %`);
    list.append(entry);
  }
  const find = line("a", "Find in the collection");
  find.href = root + page.search;
  card.append(line("p", page.homes.length ? "At home in:" : page.sentence), list, find);
  document.body.append(card);
  const box = target.getBoundingClientRect();
  const left = Math.min(box.left, innerWidth - card.offsetWidth - 12);
  const below = box.bottom + card.offsetHeight + 8 < innerHeight;
  // positions are set through the object model, which the content policy allows
  card.style.left = `${Math.max(8, left) + scrollX}px`;
  card.style.top = `${(below ? box.bottom + 6 : box.top - card.offsetHeight - 6) + scrollY}px`;
}
