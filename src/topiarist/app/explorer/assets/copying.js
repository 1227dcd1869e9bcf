// Buttons that copy a text of the page; without scripts it can be selected.
import { say } from "./explorer.js";

export function startCopying() {
  for (const button of document.querySelectorAll("[data-copies]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
      say("Copied");
      button.textContent = "Copied";
    });
  }
}
