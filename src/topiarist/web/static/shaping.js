// Shaping in place: a click on a name opens a field beside it with names to choose from; the page stays where it is.
import { ask, data, gone, root, say } from "./explorer.js";
import { swap } from "./swap.js";

const meta = (name) => document.querySelector(`meta[name="topiarist-${name}"]`).content;
let box;
let owner;

export function startShaping() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-rename]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) {
      if (box && !box.contains(event.target)) close();
      return;
    }
    event.preventDefault();
    open(link);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && box) {
      event.preventDefault();
      close(true);
    }
  });
  document.addEventListener("topiarist:swapped", () => close());
}

function close(back) {
  box?.remove();
  box = undefined;
  if (back) owner?.focus();
}

function made(tag, values) {
  return Object.assign(document.createElement(tag), values);
}

async function open(link) {
  close();
  owner = link.closest("li")?.querySelector(".name") ?? link;
  const topic = link.dataset.rename;
  let page;
  try {
    page = await data(`${root}/shape.json?${new URLSearchParams({ edit: "rename", topic })}`);
  } catch (error) {
    return gone(error);
  }
  const form = made("form", { className: "naming" });
  const field = made("input", { value: page.name, maxLength: 200, autocomplete: "off", placeholder: page.current });
  field.setAttribute("aria-label", `Name of ${page.current}`);
  const list = made("div", { className: "word-chips" });
  for (const one of page.candidates) {
    const button = made("button", { type: "button", className: "chip word", textContent: one.name });
    button.addEventListener("click", () => rename(topic, one.name, page.state));
    list.append(button);
  }
  if (page.name) {
    const button = made("button", { type: "button", className: "chip", textContent: "by its words" });
    button.addEventListener("click", () => rename(topic, "", page.state));
    list.append(button);
  }
  form.append(field, made("button", { className: "main", textContent: "Rename" }), list);
  form.setAttribute("role", "dialog");
  form.setAttribute("aria-label", `Rename ${page.current}`);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    rename(topic, field.value, page.state);
  });
  box = form;
  document.body.append(form);
  place(owner.getBoundingClientRect());
  field.focus();
  return field.select();
}

function place(around) {
  const left = Math.min(around.left, innerWidth - box.offsetWidth - 12);
  const below = around.bottom + box.offsetHeight + 8 < innerHeight;
  box.style.left = `${Math.max(8, left) + scrollX}px`;
  box.style.top = `${(below ? around.bottom + 6 : Math.max(8, around.top - box.offsetHeight - 6)) + scrollY}px`;
}

async function rename(topic, name, state) {
  const focus = owner.id || "main";
  try {
    await ask(`${root}/shape`, {
      method: "POST",
      headers: { "X-Topiarist-Token": meta("token"), Accept: "application/json" },
      body: new URLSearchParams({ edit: "rename", topic, name, state }),
    });
  } catch (error) {
    return error.offline ? gone(error) : refused(error, (state) => rename(topic, name, state));
  }
  close();
  await swap(location.href, false, { focus });
  return say(name ? `Renamed to ${name}; Undo takes it back` : "Called by its words again");
}

/** Why a name was not kept; if the topic has changed, with both versions and a button for the new one. */
function refused(error, again) {
  let line = box.querySelector(".notice");
  if (!line) box.append((line = made("p", { className: "notice" })));
  line.setAttribute("role", "alert");
  line.textContent = error.message;
  if (!error.state) return;
  const button = made("button", { type: "button", className: "chip", textContent: "Apply my edit" });
  button.addEventListener("click", () => again(error.state));
  line.append(" ", button);
}
