// The filter over the words of topics, and documents that open when a link leads to them.
const field = document.getElementById("filter");
const cards = [...document.querySelectorAll(".topic-card")];
document.querySelector(".filter").hidden = false;
field.addEventListener("input", () => {
  const wanted = field.value.trim().toLowerCase();
  let shown = 0;
  for (const card of cards) {
    card.hidden = !card.dataset.words.includes(wanted);
    shown += card.hidden ? 0 : 1;
  }
  document.getElementById("shown").textContent = wanted ? `${shown} of ${cards.length} topics` : "";
});
const reveal = () => document.querySelector(location.hash || "#top")?.closest("details")?.setAttribute("open", "");
addEventListener("hashchange", reveal);
reveal();
