// What scripts add to pages that are complete without them: keys, the tree as a widget, cards, quicker panels.
import { startCards } from "./cards.js";
import { startKeys } from "./keys.js";
import { startSwapping } from "./swap.js";
import { startThresholds } from "./thresholds.js";
import { startTree } from "./tree.js";
import { startWords } from "./words.js";

export const root = document.querySelector('meta[name="topiarist-root"]').content;

export function say(text) {
  document.getElementById("said").textContent = text;
}

export async function data(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
}

export function gone() {
  if (document.querySelector(".strip.gone")) return;
  const strip = document.createElement("div");
  strip.className = "strip bad gone";
  strip.setAttribute("role", "status");
  strip.textContent = "topiarist is not running any more. Start it again with: topiarist explore";
  document.querySelector("header").after(strip);
}

function copyLinks() {
  document.addEventListener("click", async (event) => {
    const link = event.target.closest?.("a.copy");
    if (!link) return;
    event.preventDefault();
    if (!(await copied(location.href))) return;
    say("The link is copied");
    link.textContent = "Copied";
    setTimeout(() => (link.textContent = "Copy link"), 2000);
  });
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text); // browsers have no clipboard for pages that come over plain http
    return true;
  } catch {
    return byHand(text);
  }
}

/** The address in a field, selected; copied in the old way, or left for the reader to copy. */
function byHand(text) {
  document.querySelector(".copied")?.remove();
  const box = document.createElement("div");
  const label = document.createElement("label");
  const field = document.createElement("input");
  const before = document.activeElement;
  box.className = "copied";
  label.textContent = "Link to this page: press Ctrl-C ";
  field.readOnly = true;
  field.value = text;
  label.append(field);
  box.append(label);
  document.body.append(box);
  field.focus();
  field.select();
  const done = () => {
    box.remove();
    before?.focus();
  };
  let worked = false;
  try {
    worked = document.execCommand("copy");
  } catch {
    worked = false;
  }
  if (worked) {
    done();
    return true;
  }
  field.addEventListener("copy", () => setTimeout(() => (done(), say("The link is copied"))));
  field.addEventListener("blur", () => box.remove());
  field.addEventListener("keydown", (event) => event.key === "Escape" && done());
  say("Press Ctrl-C to copy the link");
  return false;
}

function watchJob() {
  const strip = document.querySelector("[data-job]");
  if (!strip) return;
  strip.removeAttribute("role"); // seconds are to be seen, not read aloud one after the other
  const timer = setInterval(async () => {
    try {
      const job = await data(`${root}/job.json`);
      if (job.running) {
        strip.textContent = `Refitting since ${Math.round(job.seconds)} s. These pages show the tree as it was.`;
        return;
      }
      clearInterval(timer);
      strip.textContent = job.error ? `The fit did not work: ${job.error}` : "The tree is fitted. ";
      const link = document.createElement("a");
      link.href = location.href;
      link.textContent = "Show it";
      if (!job.error) strip.append(link);
      say(strip.textContent);
    } catch {
      clearInterval(timer);
      gone();
    }
  }, 1000);
}

function drawer() {
  const button = document.querySelector(".topics-button");
  const tree = document.getElementById("tree");
  if (!button || !tree) return;
  button.setAttribute("role", "button");
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-controls", "tree");
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

copyLinks();
watchJob();
drawer();
menus();
dropFiles();
startTree();
startKeys();
startCards();
startWords();
startSwapping();
startThresholds();
