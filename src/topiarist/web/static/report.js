// The filter over the words of topics, and the texts of documents, which are packed until somebody opens one.
const field = document.getElementById("filter");
const cards = [...document.querySelectorAll(".topic-card")];
document.querySelector(".filter").hidden = false;

function filter() {
  const wanted = field.value.trim().toLowerCase().split(/\s+/);
  let shown = 0;
  for (const card of cards) {
    card.hidden = !wanted.every((word) => card.dataset.words.includes(word));
    shown += card.hidden ? 0 : 1;
  }
  document.getElementById("shown").textContent = wanted[0] ? `${shown} of ${cards.length} topics` : "";
}
field.addEventListener("input", filter);
field.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { field.value = ""; filter(); }
  if (event.key === "Enter") cards.find((card) => !card.hidden)?.focus();
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
});

const reading = document.getElementById("reading");
const blocks = [...document.querySelectorAll("script.texts")];
let opened = { place: -1, block: null };

async function unpacked(row) {
  let place = blocks.length - 1;
  while (place > 0 && Number(blocks[place].dataset.first) > row) place -= 1;
  if (opened.place !== place) {
    const bytes = Uint8Array.from(atob(blocks[place].textContent), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    opened = { place, block: JSON.parse(await new Response(stream).text()) };
  }
  const { looks, documents } = opened.block;
  const [id, date, topic, text, runs, most] = documents[row - Number(blocks[place].dataset.first)];
  return { id, date, topic, text, runs, looks, most };
}

const nameOf = (topic) => document.getElementById(`name-${topic}`)?.textContent ?? "";

function drawn(body, { text, runs, looks }) {
  const levels = [];
  let here = 0;
  for (let at = 0; at < runs.length; at += 3) {
    const [level, topic, unsure] = looks[runs[at + 2]];
    const start = here + runs[at], word = document.createElement("span");
    body.append(text.slice(here, start));
    here = start + runs[at + 1];
    word.className = `l${level}${unsure ? " unsure" : ""}`;
    word.textContent = text.slice(start, here);
    word.title = `${word.textContent}: level ${level}, topic ${nameOf(topic)}${unsure ? ", less than half certain" : ""}`;
    body.append(word);
    levels[level] = (levels[level] ?? 0) + 1;
  }
  body.append(text.slice(here));
  return levels;
}

function link(href, text) {
  const made = document.createElement("a");
  made.href = href;
  made.textContent = text;
  return made;
}

function legend(list, levels, path, most) {
  const of = most ? `the counted words among the first ${most[0].toLocaleString("en")}` : "its counted words";
  const total = levels.reduce((sum, number) => sum + number, 0);
  list.replaceChildren(...levels.map((number, level) => {
    const item = document.createElement("li"), swatch = document.createElement("span");
    swatch.className = `l${level} swatch`;
    swatch.textContent = `level ${level}`;
    item.append(swatch, ` ${level ? path[level]?.textContent ?? "deeper" : "general"}, ${Math.round((100 * number) / total)}% of ${of}`);
    return item;
  }).filter((item) => item));
}

function neighbour(button, item) {
  const found = item?.querySelector("a");
  button.hidden = !found;
  if (found) button.href = found.hash;
}

async function read(row) {
  const own = document.querySelector(`[data-row="${row}"]`), body = document.getElementById("reading-text");
  const facts = document.getElementById("reading-facts"), list = document.getElementById("reading-levels");
  if (!own) return;
  document.getElementById("reading-title").textContent = own.textContent;
  body.replaceChildren();
  facts.replaceChildren();
  list.replaceChildren();
  neighbour(document.getElementById("before"), own.closest("li").previousElementSibling);
  neighbour(document.getElementById("after"), own.closest("li").nextElementSibling);
  if (!reading.open) reading.showModal();
  try {
    const found = await unpacked(row);
    const card = document.getElementById(`topic-${found.topic}`);
    const path = [...card.querySelectorAll(".crumbs a"), link(`#topic-${found.topic}`, nameOf(found.topic))];
    facts.append(found.date ? `${found.id} · ${found.date} · lies mostly under ` : `${found.id} · lies mostly under `);
    path.forEach((step, place) => facts.append(place ? " ▸ " : "", link(step.hash, step.textContent)));
    legend(list, drawn(body, found), path, found.most);
    reading.scrollTop = 0;
  } catch {
    body.textContent = "This browser cannot unpack the text. Any browser of 2023 or later can.";
  }
}

function arrived() {
  const found = /^#doc-(\d+)$/.exec(location.hash);
  if (found && reading) read(Number(found[1]));
  else if (reading?.open) reading.close();
}
reading?.addEventListener("close", () => {
  if (location.hash.startsWith("#doc-")) history.replaceState(null, "", "#topics");
});
addEventListener("hashchange", arrived);
arrived();
