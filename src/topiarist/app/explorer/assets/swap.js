// Choices and pages of a list change the page without loading all of it again; its address changes as with any link.
import { gone, say } from "./explorer.js";

const PATIENCE = 300; // ms before the old content dims
let latest = 0;

export function startSwapping() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("main .choices a, main .pager a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    swap(link.href, true);
  });
  document.addEventListener("input", (event) => {
    if (event.target.type !== "range") return;
    const form = event.target.form;
    const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
    swap(address, false, event.target.id);
  });
  addEventListener("popstate", () => swap(location.href, false));
}

async function swap(address, push, focus) {
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
    main.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
    document.title = page.title;
    if (push) history.pushState({}, "", address);
    else history.replaceState({}, "", address);
    if (focus) document.getElementById(focus)?.focus();
    say(page.title);
  } catch {
    gone();
  } finally {
    clearTimeout(dim);
    main.removeAttribute("aria-busy");
  }
}
