// Marks of one document of a list, without leaving the list.
import { ask, gone, root, say } from "./explorer.js";

const READING = "reading list";
const token = () => document.querySelector('meta[name="topiarist-token"]').content;

const state = () => document.querySelector('meta[name="topiarist-state"]').content; // of the collection that is shown

const selected = () => document.activeElement?.closest(".items .item") || document.querySelector(".items .item.at");

async function send(path, values) {
  await ask(`${root}${path}`, {
    method: "POST",
    headers: { "X-Topiarist-Token": token(), Accept: "application/json" },
    body: new URLSearchParams({ ...values, state: state() }),
  });
}

function show(item, kind, text) {
  const mark = document.createElement("span");
  mark.className = kind;
  mark.textContent = text;
  item.querySelector(kind === "read" ? "h3" : ".facts").append(" ", mark);
}

/** Read, or not again; ``only``: what is read stays so. */
export async function markItem(only = false) {
  const item = selected();
  if (!item) return say("Choose a document first: j and k go through the list");
  if (!token()) return say("This explorer is read-only");
  const mark = item.querySelector(".read");
  if (mark && only) return undefined;
  try {
    await send("/read", { document: item.dataset.document, ...(mark ? { unread: "1" } : {}) });
  } catch (error) {
    return gone(error);
  }
  if (mark) mark.remove();
  else show(item, "read", "✓ read");
  return say(mark ? "Not read" : "Read; r takes it back");
}

const shown = () => document.querySelector("#text[data-document]")?.dataset.document;

/** The document that is read is marked as read, and the next one of its list comes; in a list, the chosen one. */
export async function readOn(step) {
  const [document_, next] = [shown(), document.querySelector('.around a[rel="next"]')];
  if (!document_) {
    await markItem(true);
    return step(1);
  }
  if (!token()) return next?.click();
  try {
    await send("/read", { document: document_ });
  } catch (error) {
    return gone(error);
  }
  if (next) return next.click();
  return say("Read; it was the last of the list");
}

/** The document that is read, or chosen in a list, goes on the reading list, which is a tag. */
export async function keepDocument() {
  const item = selected();
  const id = shown() ?? item?.dataset.document;
  if (!id) return say("Choose a document first: j and k go through the list");
  if (!token()) return say("This explorer is read-only");
  try {
    await send("/tag", { document: id, tag: READING });
  } catch (error) {
    return gone(error);
  }
  const facts = shown() ? document.querySelector(".page .facts") : item.querySelector(".facts");
  if (![...facts.querySelectorAll(".chip.tag")].some((one) => one.textContent.includes(READING))) {
    facts.append(" ", Object.assign(document.createElement("span"), { className: "chip tag", textContent: READING }));
  }
  return say(`On the ${READING}`);
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
