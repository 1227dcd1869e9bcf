// What scripts add to pages that are complete without them: keys, the tree as a widget, cards, quicker panels.
import { startCards } from "./cards.js";
import { startCopying } from "./copying.js";
import { startDragging } from "./dragging.js";
import { startJob } from "./job.js";
import { startKeys } from "./keys.js";
import { startLanding } from "./landing.js";
import { startNoting } from "./noting.js";
import { startPicture } from "./picture.js";
import { startShaping } from "./shaping.js";
import { startReadouts } from "./readouts.js";
import { startReview } from "./review.js";
import { startMap } from "./map.js";
import { startSwapping } from "./swap.js";
import { startThresholds } from "./thresholds.js";
import { startTree } from "./tree.js";
import { startWords } from "./words.js";

export const root = document.querySelector('meta[name="topiarist-root"]').content;

const detail = document.querySelector('meta[name="topiarist-detail"]')?.content;

/** Where a link to one of our pages leads: with as much of the tree open as here, as the server writes them. */
export function to(address) {
  if (!detail) return root + address;
  return `${root}${address}${address.includes("?") ? "&" : "?"}detail=${detail}`;
}

export function say(text) {
  document.getElementById("said").textContent = text;
}

/**
 * The answer of the server, or an error: offline if there is none, otherwise with the reason. If the collection has
 * changed, the reason has both versions, and state is that in which the change can still be applied.
 */
export async function ask(address, options) {
  let answer;
  try {
    answer = await fetch(address, options);
  } catch {
    throw Object.assign(new Error("no answer"), { offline: true });
  }
  if (answer.ok) {
    clearFailure(options?.method === "POST");
    return answer;
  }
  const failure = await answer.json().catch(() => ({}));
  const next = failure.yours ? `Your change: ${failure.yours}` : failure.hint;
  const parts = [failure.message || `The request failed (${answer.status})`, next];
  const reason = parts.filter(Boolean).map(sentence).join(" ");
  throw Object.assign(new Error(reason), { state: failure.button && failure.state });
}

function sentence(text) {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export async function data(address) {
  return (await ask(address, { headers: { Accept: "application/json" } })).json();
}

/** Show why a request failed; without any answer, that the program has ended. */
export function gone(error) {
  const strip = document.querySelector(".strip.gone") ?? document.createElement("div");
  strip.className = "strip bad gone";
  strip.setAttribute("role", "status");
  strip.toggleAttribute("data-offline", Boolean(error.offline));
  strip.textContent = error.offline
    ? "topiarist is not running any more. Start it again with: topiarist explore"
    : error.message;
  document.querySelector("header").after(strip);
}

/** Remove the strip about a failure: any answer shows that the program runs, a reason stays until a change succeeds. */
export function clearFailure(changed) {
  const strip = document.querySelector(".strip.gone");
  if (strip && (changed || strip.hasAttribute("data-offline"))) strip.remove();
}

function drawer() {
  const button = document.querySelector(".topics-button");
  const tree = document.getElementById("tree");
  if (!button || !tree) return;
  button.setAttribute("role", "button");
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-controls", "tree");
  const close = document.createElement("button");
  close.type = "button";
  close.className = "drawer-close";
  close.textContent = "Close ×";
  close.addEventListener("click", () => {
    toggle(false);
    button.focus();
  });
  tree.prepend(close);
  const toggle = (open) => {
    tree.classList.toggle("drawer", open);
    button.setAttribute("aria-expanded", String(open));
    if (open) (tree.querySelector('[role="treeitem"][tabindex="0"]') || tree.querySelector("a")).focus();
  };
  button.addEventListener("click", (event) => {
    event.preventDefault();
    toggle(!tree.classList.contains("drawer"));
  });
  button.addEventListener("keydown", (event) => {
    if (event.key !== " ") return; // what is called a button is pressed like one
    event.preventDefault();
    button.click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && tree.classList.contains("drawer")) {
      toggle(false);
      button.focus();
    }
  });
  document.addEventListener("click", (event) => {
    if (!tree.contains(event.target) && event.target !== button) toggle(false);
  });
}

function menus() {
  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && document.querySelector(".menu-details[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

function dropFiles() {
  const input = document.getElementById("files");
  if (!input) return;
  const form = input.form;
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    input.files = event.dataTransfer.files;
    say(`${input.files.length} files chosen`);
  });
}

startCopying();
startJob();
drawer();
menus();
dropFiles();
startTree();
startKeys();
startCards();
startWords();
startSwapping();
startPicture();
startShaping();
startDragging();
startReadouts();
startReview();
startThresholds();
startLanding();
startMap();
startNoting();
