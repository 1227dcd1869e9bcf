// The numbers beside the slider of the categories follow it at once: they are in the table of the page.
export function startThresholds() {
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form.threshold");
    if (!form) return;
    const at = Number(event.target.value).toFixed(2);
    const row = document.querySelector(`[data-thresholds] tr[data-at="${at}"]`);
    for (const figure of form.querySelectorAll("[data-figure]")) {
      figure.textContent = row?.querySelector(`[data-is="${figure.dataset.figure}"]`)?.textContent ?? "";
    }
  });
}
