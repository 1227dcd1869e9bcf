// What a chart over time says where the pointer is. The numbers are those of the table below it; a click opens their documents.
const AWAY = 14; // pixels between the pointer and what is said

/** The cell of the table that a place in a chart stands for. */
function cellAt(event) {
  const chart = event.target.closest?.("svg.course, .streams a");
  const table = document.querySelector("table[data-numbers]");
  if (!chart || !table) return null;
  const [head, , ...rows] = table.rows; // the second has the documents of each period
  const drawn = chart.closest("svg.streams");
  const row = drawn ? [...drawn.querySelectorAll("a")].indexOf(chart) : [...document.querySelectorAll("svg.course")].indexOf(chart);
  const box = (drawn || chart).getBoundingClientRect(), periods = head.cells.length - 1;
  const at = 1 + Math.max(0, Math.min(periods - 1, Math.round(((event.clientX - box.left) / box.width) * (periods - 1))));
  if (!rows[row]) return null;
  const period = document.querySelectorAll(".when a")[at - 1];
  return { name: rows[row].cells[0].textContent, period: head.cells[at].textContent, cell: rows[row].cells[at], all: period?.title || "" };
}

/** A box that follows the pointer, for those who see it: what it says stands somewhere else on the page too. */
export function readout() {
  const said = document.createElement("div");
  said.className = "readout";
  said.setAttribute("aria-hidden", "true");
  said.hidden = true;
  document.body.append(said);
  return said;
}

export function placed(said, event) {
  const left = Math.min(event.pageX + AWAY, window.scrollX + document.documentElement.clientWidth - said.offsetWidth - 4);
  said.style.left = `${Math.max(4, left)}px`;
  said.style.top = `${event.pageY + AWAY}px`;
}

export function startReadouts() {
  if (!document.querySelector("svg.course, svg.streams")) return;
  const said = readout();
  document.addEventListener("pointermove", (event) => {
    const found = cellAt(event);
    said.hidden = !found;
    if (!found) return;
    const name = document.createElement("strong");
    name.textContent = found.name;
    const share = found.cell.textContent.trim() || "–";
    said.replaceChildren(name, `${found.period}: ${share} · ${found.all}`);
    placed(said, event);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("svg.course")) cellAt(event)?.cell.querySelector("a")?.click();
  });
}
