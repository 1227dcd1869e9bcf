// Where one is after coming back: at the document that one came from, or at what was just said.
export function startLanding() {
  if (document.readyState === "complete") land();
  else addEventListener("load", land); // the browser goes to the place in the address before
}

function land() {
  const item = document.getElementById(location.hash.slice(1));
  item?.closest(".item")?.querySelector("h3 a")?.focus({ preventScroll: true });
  const told = new URLSearchParams(location.search).has("done") && document.querySelector('main .notice[role="status"]');
  if (!told) return;
  told.tabIndex = -1;
  told.focus();
}
