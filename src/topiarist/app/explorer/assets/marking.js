// Marks of one document of a list, without leaving the list.
import { gone, root, say } from "./explorer.js";

const token = () => document.querySelector('meta[name="topiarist-token"]').content;

const state = () => document.querySelector('meta[name="topiarist-state"]').content; // of the collection that is shown

const selected = () => document.activeElement?.closest(".items .item") || document.querySelector(".items .item.at");

async function send(path, values) {
  const answer = await fetch(`${root}${path}`, {
    method: "POST",
    headers: { "X-Topiarist-Token": token() },
    body: new URLSearchParams({ ...values, state: state() }),
  });
  if (!answer.ok) throw new Error(answer.status);
}

function show(item, kind, text) {
  const mark = document.createElement("span");
  mark.className = kind;
  mark.textContent = text;
  item.querySelector(kind === "read" ? "h3" : ".facts").append(" ", mark);
}

function refused(error) {
  if (error.message === "409") return say("The collection was grown anew: reload the page");
  return error.message === "503" ? say("The collection is being written: try again in a moment") : gone();
}

export async function markItem() {
  const item = selected();
  if (!item) return say("Choose a document first: j and k go through the list");
  if (!token()) return say("This explorer is read-only");
  const mark = item.querySelector(".read");
  try {
    await send("/read", { document: item.dataset.document, ...(mark ? { unread: "1" } : {}) });
  } catch (error) {
    return refused(error);
  }
  if (mark) mark.remove();
  else show(item, "read", "✓ read");
  return say(mark ? "Not read" : "Read; r takes it back");
}

export function tagItem() {
  const item = selected();
  if (!item) return say("Choose a document first: j and k go through the list");
  if (!token()) return say("This explorer is read-only");
  const box = document.createElement("dialog");
  const form = document.createElement("form");
  const label = document.createElement("label");
  const field = document.createElement("input");
  const button = document.createElement("button");
  form.method = "dialog";
  label.textContent = "Tag ";
  field.required = true;
  field.maxLength = 100;
  button.textContent = "Add";
  label.append(field);
  form.append(label, button);
  box.append(form);
  box.setAttribute("aria-label", "Tag this document");
  form.addEventListener("submit", async () => {
    try {
      await send("/tag", { document: item.dataset.document, tag: field.value });
      show(item, "chip tag", field.value.trim());
      say(`Tagged ${field.value.trim()}`);
    } catch {
      say("The tag was not kept");
    }
  });
  box.addEventListener("close", () => {
    box.remove();
    item.querySelector("h3 a").focus();
  });
  document.body.append(box);
  return box.showModal();
}
