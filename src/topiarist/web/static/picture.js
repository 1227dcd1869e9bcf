// The tree as a picture: it opens and closes in place, arrow keys go through it, and what is chosen is counted.
import { say } from "./explorer.js";
import { swap } from "./swap.js";

const picture = () => document.querySelector(".picture");
const names = () => [...document.querySelectorAll(".picture .name, .picture .more")];
const item = (name) => name.closest("li");
const twist = (name) => item(name).querySelector(":scope > .node .twist");
const isOpen = (name) => item(name).classList.contains("open");

export function startPicture() {
  dress();
  document.addEventListener("topiarist:swapped", dress);
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".picture .twist");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    turn(link, link.id);
  });
  document.addEventListener("keydown", pressed);
  document.addEventListener("change", (event) => event.target.matches(".picture .choose input") && counted());
  document.addEventListener("reset", (event) => event.target === picture() && setTimeout(counted));
}

/** One tab stop; arrow keys lead on from it. The buttons beside a name have keys of their own. */
function dress() {
  const all = names();
  if (!all.length) return;
  for (const one of document.querySelectorAll(".picture ul :is(a, input)")) one.tabIndex = -1;
  for (const one of document.querySelectorAll(".picture .twist")) {
    one.setAttribute("role", "button");
    one.setAttribute("aria-expanded", String(one.dataset.expanded === "yes"));
  }
  all[0].tabIndex = 0;
  counted();
}

function rove(name) {
  if (!name) return;
  for (const one of names()) one.tabIndex = -1;
  name.tabIndex = 0;
  name.focus();
}

async function turn(link, focus) {
  const kept = [...document.querySelectorAll(".picture .choose :checked")].map((box) => box.value);
  await swap(link.href, true, { focus });
  for (const topic of kept) {
    const box = document.querySelector(`.picture .choose input[value="${CSS.escape(topic)}"]`);
    if (box) box.checked = true;
  }
  counted();
  const name = document.querySelector(`#n${CSS.escape(link.id.slice(1))}`);
  if (name) for (const one of names()) one.tabIndex = one === name ? 0 : -1;
}

function counted() {
  const told = document.querySelector(".acts .chosen");
  if (!told) return;
  const boxes = [...document.querySelectorAll(".picture .choose :checked")];
  for (const act of document.querySelectorAll('.acts [value="group"], .acts [value="merge"]')) act.disabled = boxes.length < 2;
  told.textContent = boxes.length === 1 ? "1 topic" : `${boxes.length} topics`;
}

function pressed(event) {
  const name = event.target.closest?.(".picture .name, .picture .more");
  if (!name || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = names();
  const here = all.indexOf(name);
  const moves = { ArrowDown: all[here + 1], ArrowUp: all[here - 1], Home: all[0], End: all[all.length - 1] };
  if (event.key in moves) rove(moves[event.key]);
  else if (event.key === "ArrowRight" && isOpen(name)) rove(item(name).querySelector(":scope > ul .name"));
  else if (event.key === "ArrowRight" && twist(name)) turn(twist(name), name.id);
  else if (event.key === "ArrowLeft" && isOpen(name) && twist(name)) turn(twist(name), name.id);
  else if (event.key === "ArrowLeft") rove(item(name).parentElement.closest("li")?.querySelector(".name"));
  else if (event.key === "x" || event.key === " ") choose(name);
  else if (event.key === "F2") item(name).querySelector(":scope > .node .rename")?.click();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function choose(name) {
  const box = item(name).querySelector(":scope > .node .choose input");
  if (!box) return;
  box.checked = !box.checked;
  counted();
  say(`${box.getAttribute("aria-label").replace("Choose ", "")}: ${box.checked ? "chosen" : "not chosen"}`);
}
