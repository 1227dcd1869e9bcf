// Reviewing with keys: a judgement is sent, and the next document takes the place of this one.
import { swap } from "./swap.js";

let busy = false; // whoever types faster than the server answers judges nothing unseen

export function startReview() {
  document.addEventListener("submit", async (event) => {
    const form = event.target.closest?.("form[data-review]");
    if (!form) return;
    event.preventDefault();
    if (busy) return;
    busy = true;
    const body = new URLSearchParams(new FormData(form, event.submitter));
    await swap(form.action, false, { focus: "proposed", body });
    scrollTo(0, 0);
    busy = false;
  });
}

/** The button of a key, pressed; a key that is held down judges once. */
export function judged(event) {
  const button = document.querySelector(`main [data-judge="${CSS.escape(event.key)}"]`);
  if (!button) return false;
  if (!event.repeat) button.click();
  return true;
}
