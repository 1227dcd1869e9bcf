// Choices and pages of a list change the page without loading all of it again; its address changes as with any link.
import { gone, say } from "./explorer.js";

const PATIENCE = 300; // ms before the old content dims
const REST = 150; // ms that a slider rests before its answer is asked for
let latest = 0;
let timer;

export function startSwapping() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("main .choices a, main .pager a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    const heading = link.closest("section")?.querySelector("h2[id]");
    swap(link.href, true, { focus: heading ? heading.id : "main" });
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
  addEventListener("popstate", () => swap(location.href, false, {}));
}

function put(old, fresh) {
  old.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
}

function focused(id) {
  const place = document.getElementById(id);
  if (!place) return;
  place.tabIndex = -1;
  place.focus({ preventScroll: true });
  if (id !== "main") place.scrollIntoView({ block: "nearest" });
}

async function swap(address, push, { focus, only }) {
  const number = (latest += 1);
  const main = document.getElementById("main");
  const dim = setTimeout(() => main.setAttribute("aria-busy", "true"), PATIENCE);
  try {
    const answer = await fetch(address);
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
    } else put(main, fresh);
    document.title = page.title;
    if (push) history.pushState({}, "", address);
    else history.replaceState({}, "", address);
    if (focus) focused(focus);
    say((focus && main.querySelector("[data-said]")?.dataset.said) || page.title);
  } catch {
    gone();
  } finally {
    clearTimeout(dim);
    main.removeAttribute("aria-busy");
  }
}
