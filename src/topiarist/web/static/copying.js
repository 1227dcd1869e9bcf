// Copying: the address of a page, and texts that have a button for it. Without scripts both can be selected.
import { say } from "./explorer.js";

export function startCopying() {
  copyLinks();
  for (const button of document.querySelectorAll("[data-copies]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      if (!(await copied(document.getElementById(button.dataset.copies).textContent))) return;
      say("Copied");
      button.textContent = "Copied";
    });
  }
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
  label.textContent = "Press Ctrl-C to copy ";
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
  field.addEventListener("copy", () => setTimeout(() => (done(), say("Copied"))));
  field.addEventListener("blur", () => box.remove());
  field.addEventListener("keydown", (event) => event.key === "Escape" && done());
  say("Press Ctrl-C to copy");
  return false;
}
