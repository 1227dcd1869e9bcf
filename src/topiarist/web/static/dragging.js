// Moving a topic by hand: dropped on another, it hangs below that one. One step, which Undo takes back; the form of the
// topic does the same without a mouse.
import { ask, gone, root, say } from "./explorer.js";
import { swap } from "./swap.js";

const meta = (name) => document.querySelector(`meta[name="topiarist-${name}"]`)?.content;
const nameAt = (event) => event.target.closest?.("form.picture .what")?.querySelector(".name");
let dragged;

export function startDragging() {
  document.addEventListener("dragstart", (event) => {
    dragged = undefined;
    const name = event.target.closest?.("form.picture .name");
    if (!name || name.closest("li").classList.contains("trunk")) return;
    dragged = name;
    event.dataTransfer.effectAllowed = "move";
  });
  document.addEventListener("dragover", (event) => {
    const name = nameAt(event);
    mark(name && takes(name) ? name : undefined);
    if (!name || !takes(name)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "move";
  });
  document.addEventListener("drop", (event) => {
    const name = nameAt(event);
    if (!name || !takes(name)) return;
    event.preventDefault();
    move(dragged, name);
  });
  document.addEventListener("dragend", () => {
    mark();
    dragged = undefined;
  });
}

/** Whether the dragged topic may hang there: not below itself, and not where it is. */
function takes(name) {
  if (!dragged || dragged.closest("li").contains(name)) return false;
  return dragged.closest("li").parentElement.closest("li") !== name.closest("li");
}

function mark(name) {
  for (const one of document.querySelectorAll(".picture .onto")) one.classList.remove("onto");
  name?.closest(".what").classList.add("onto");
}

async function move(topic, onto) {
  const [what, where] = [topic.textContent.trim(), onto.textContent.trim()];
  const state = document.querySelector('form.picture input[name="state"]').value;
  try {
    await ask(`${root}/shape`, {
      method: "POST",
      headers: { "X-Topiarist-Token": meta("token"), Accept: "application/json" },
      body: new URLSearchParams({ edit: "move", topic: topic.id.slice(1), other: onto.id.slice(1), state }),
    });
  } catch (error) {
    if (!error.offline) await swap(location.href, false, {});
    return gone(error);
  }
  await swap(location.href, false, { focus: onto.id });
  return say(`${what} hangs below ${where} now; Undo takes it back`);
}
