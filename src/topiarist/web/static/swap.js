// Choices and pages of a list change the page without loading all of it again; its address changes as with any link.
import { clearFailure, gone, say } from "./explorer.js";
import { startJob } from "./job.js";
import { freshTree } from "./tree.js";

const PATIENCE = 300; // ms before the old content dims
const REST = 150; // ms that a slider rests before its answer is asked for
let latest = 0;
let timer;

export function startSwapping() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("main .choices:not([data-whole]) a, main .pager a, main .tick, main .densest, main .stacked a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    const heading = link.closest("section")?.querySelector("h2[id]");
    const there = link.matches(".densest, .stacked a") ? "text" : link.id || heading?.id || "main";
    swap(link.href.baseVal ?? link.href, true, { focus: there });
  });
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (event.target.type !== "range" || !form?.dataset.swap) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
      swap(address, false, { only: form.dataset.swap }); // what is being dragged stays
    }, REST);
  });
  document.addEventListener("keydown", (event) => {
    const box = event.key === " " && event.target.closest?.(".tick");
    if (!box) return; // what is called a checkbox is pressed like one
    event.preventDefault();
    box.click();
  });
  addEventListener("popstate", () => swap(location.href, false, {}));
  document.addEventListener("topiarist:swapped", boxes);
  boxes();
}

/** Links that turn something on or off are checkboxes where a script can make them so. */
function boxes() {
  for (const box of document.querySelectorAll(".tick")) {
    box.setAttribute("role", "checkbox");
    box.setAttribute("aria-checked", String(box.dataset.on === "yes"));
    box.querySelector(".when-plain")?.remove();
  }
}

/** What stands around the page and speaks of it: the footer, the ways back of forms, the search, the tree. */
function around(page) {
  const before = document.querySelector('meta[name="topiarist-state"]')?.content;
  for (const meta of document.querySelectorAll('meta[name^="topiarist-"]')) {
    meta.content = page.querySelector(`meta[name="${meta.name}"]`)?.content ?? meta.content;
  }
  const [footer, fresh] = [document, page].map((one) => one.querySelector("footer.bottom"));
  if (footer && fresh) put(footer, fresh);
  const [strips, now] = [document, page].map((one) => one.getElementById("strips"));
  if (strips && now && !strips.querySelector("[data-job]")) {
    put(strips, now); // a strip that tells how far a fit is goes on telling it
    startJob();
  }
  for (const form of document.querySelectorAll("body form")) {
    const other = [...page.querySelectorAll("form")].find((one) => one.getAttribute("action") === form.getAttribute("action"));
    if (!other || form.closest("main")) continue;
    for (const field of form.querySelectorAll("input[type=hidden]")) {
      const value = other.querySelector(`input[name="${field.name}"]`)?.value;
      if (value !== undefined) field.value = value;
    }
  }
  const [query, asked] = [document, page].map((one) => one.getElementById("q"));
  if (query && asked && document.activeElement !== query) query.value = asked.getAttribute("value");
  freshTree(page, before !== document.querySelector('meta[name="topiarist-state"]')?.content);
}

function put(old, fresh) {
  old.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
}

/** Where links and forms of the page lead to, when only a part of it was exchanged. */
function leads(main, fresh) {
  for (const [kind, name] of [['input[name="back"]', "value"], [".choices a, .pager a, .exports a", "href"]]) {
    const [olds, news] = [main.querySelectorAll(kind), fresh.querySelectorAll(kind)];
    if (olds.length === news.length) olds.forEach((old, place) => old.setAttribute(name, news[place].getAttribute(name)));
  }
}

function focused(id) {
  const place = document.getElementById(id);
  if (!place) return;
  if (!place.matches("a, button, input")) place.tabIndex = -1;
  place.focus({ preventScroll: true });
  if (id !== "main") place.scrollIntoView({ block: "nearest" });
}

/** The page at an address in place of this one, as far as it differs; what is told stays where it is. `body`: what is posted first. */
export async function swap(address, push, { focus, only, body }) {
  const number = (latest += 1);
  const main = document.getElementById("main");
  const dim = setTimeout(() => main.setAttribute("aria-busy", "true"), PATIENCE);
  try {
    const answer = await fetch(address, body ? { method: "POST", body } : {}).catch(() => {
      throw Object.assign(new Error("no answer"), { offline: true });
    });
    if (answer.ok) clearFailure(true);
    if (body) address = answer.url;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (number !== latest) return;
    const fresh = page.getElementById("main");
    if (!fresh) {
      location.href = address;
      return;
    }
    if (only) {
      const [olds, news] = [main.querySelectorAll(only), fresh.querySelectorAll(only)];
      olds.forEach((old, place) => news[place] && put(old, news[place]));
      leads(main, fresh);
    } else {
      const opened = [...main.querySelectorAll("details[open][id]")].map((one) => one.id);
      put(main, fresh);
      for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
    }
    around(page);
    document.title = page.title;
    if (push) history.pushState({}, "", address);
    else history.replaceState({}, "", address);
    document.dispatchEvent(new Event("topiarist:swapped"));
    if (focus) focused(focus);
    say((focus && main.querySelector("[data-said]")?.dataset.said) || page.title);
  } catch (error) {
    if (error.offline || body) gone(error);
    else location.href = address; // the server answers, so the page can be loaded
  } finally {
    clearTimeout(dim);
    main.removeAttribute("aria-busy");
  }
}
