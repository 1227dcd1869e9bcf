// The coloured words of a document without a mouse: one tab stop into the text, keys from word to word, Enter for the card.
import { openCard } from "./cards.js";
import { say } from "./explorer.js";

const HOW = "Arrow keys go from word to word, n and p to the next special one, Enter shows where a word is at home";
let told = false;

const words = () => [...document.querySelectorAll("#text .body span[data-word]")];
const special = (word) => !word.classList.contains("l0") && !word.classList.contains("t0");
const stop = () => document.querySelector('#text .body [tabindex="0"]');

export function startWords() {
  dress();
  document.addEventListener("topiarist:swapped", dress);
  document.addEventListener("keydown", pressed);
  document.addEventListener("focusin", (event) => {
    const word = event.target.closest?.("#text .body span[data-word]");
    if (!word) return;
    rove(word);
    if (!told) say(HOW);
    told = true;
  });
}

/** Only the word with the tab stop is a button: a text in which every word is one cannot be listened to. */
function rove(word) {
  const old = stop();
  if (old === word) return;
  old?.removeAttribute("tabindex");
  old?.removeAttribute("role");
  word.tabIndex = 0;
  word.setAttribute("role", "button");
  word.setAttribute("aria-haspopup", "dialog");
}

function dress() {
  const all = words();
  if (all.length && !stop()) rove(all.find(special) || all[0]);
}

function go(word) {
  if (!word) return;
  rove(word);
  word.focus();
  word.scrollIntoView({ block: "nearest" });
}

export function nextWord(by) {
  const all = words();
  const here = all.indexOf(stop());
  if (here < 0) return;
  const fresh = document.activeElement !== all[here] && special(all[here]);
  const rest = by > 0 ? all.slice(here + 1) : all.slice(0, here).reverse();
  go(fresh ? all[here] : rest.find(special));
}

/** The nearest word of the line above or below. */
function line(all, word, by) {
  const box = word.getBoundingClientRect();
  const middle = (box.left + box.right) / 2;
  let [best, far] = [undefined, Infinity];
  for (const other of by > 0 ? all.slice(all.indexOf(word)) : all.slice(0, all.indexOf(word)).reverse()) {
    const place = other.getBoundingClientRect();
    const lines = Math.round((by * (place.top - box.top)) / box.height);
    if (lines < 1) continue;
    if (lines > 2 && best) break;
    const distance = 1000 * lines + Math.abs((place.left + place.right) / 2 - middle);
    if (distance < far) [best, far] = [other, distance];
  }
  return best;
}

function pressed(event) {
  const word = event.target.closest?.("#text .body span[data-word]");
  if (!word || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = words();
  const here = all.indexOf(word);
  if (event.key === "ArrowRight") go(all[here + 1]);
  else if (event.key === "ArrowLeft") go(all[here - 1]);
  else if (event.key === "ArrowDown") go(line(all, word, 1));
  else if (event.key === "ArrowUp") go(line(all, word, -1));
  else if (event.key === "Home") go(all[0]);
  else if (event.key === "End") go(all[all.length - 1]);
  else if (event.key === "Enter" || event.key === " ") openCard(word);
  else return;
  event.preventDefault();
}
