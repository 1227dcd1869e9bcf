// A note on a passage: select it in the text, and the form of the page has it already.
const BEFORE = 60; // letters in front of a passage, which tell which of two it is

function chosen() {
  const body = document.querySelector("#text .body");
  const selection = document.getSelection();
  if (!body || !selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!body.contains(range.commonAncestorContainer)) return null;
  const quote = range.toString();
  if (!quote.trim()) return null;
  const lead = document.createRange();
  lead.setStart(body, 0);
  lead.setEnd(range.startContainer, range.startOffset);
  const said = lead.toString(), near = Number(body.dataset.from) + [...said].length; // letters, as the server counts them
  return { quote, near, before: said.slice(-BEFORE), place: range.getBoundingClientRect() };
}

/** Open the form, with the passage that is selected if one is. */
export function noteOn(found = chosen()) {
  const box = document.querySelector(".noting");
  if (!box) return;
  const { quote, before, near, note } = box.querySelector("form").elements;
  if (found) [quote.value, before.value, near.value] = [found.quote, found.before, found.near];
  box.open = true;
  (quote.value ? note : quote).focus();
  box.scrollIntoView({ block: "nearest" });
}

export function startNoting() {
  const box = document.querySelector(".noting");
  if (!box) return;
  const form = box.querySelector("form").elements;
  form.quote.addEventListener("input", () => ([form.before.value, form.near.value] = ["", "0"])); // what was typed is looked for
  const button = document.createElement("button");
  button.type = "button";
  button.className = "note-here";
  button.textContent = box.querySelector("summary").textContent;
  button.hidden = true;
  let found;
  button.addEventListener("pointerdown", (event) => event.preventDefault()); // what is selected stays so
  button.addEventListener("click", () => {
    button.hidden = true;
    noteOn(found);
  });
  document.body.append(button);
  document.addEventListener("selectionchange", () => {
    const now = chosen();
    if (now) found = now;
    button.hidden = !now;
    if (!now) return;
    button.style.top = `${window.scrollY + now.place.bottom + 6}px`;
    button.style.left = `${Math.min(window.scrollX + now.place.left, window.scrollX + window.innerWidth - 90)}px`;
  });
}
