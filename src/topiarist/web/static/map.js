// The map: points on a canvas, circles of topics with their names, near and far. Without scripts the circles are drawn.
import { data, root } from "./explorer.js";
import { placed, readout } from "./readouts.js";

const LEAST = 34, MOST = 260, CLOSEST = 400, NEAR = 7, APART = 3, CELLS = 64, FILLED = 0.97, AGAIN = 1500;

function pixel(text) {
  const hex = text.trim().replace("#", ""), whole = hex.length === 3 ? hex.replace(/./g, "$&$&") : hex;
  const [red, green, blue] = [0, 2, 4].map((at) => parseInt(whole.slice(at, at + 2), 16) || 0);
  return (255 << 24) | (blue << 16) | (green << 8) | red;
}

function colours() {
  const style = getComputedStyle(document.documentElement), named = (name) => style.getPropertyValue(name);
  const points = ["--dim", ...Array.from({ length: 9 }, (_, n) => `--b${n + 1}`)].map((name) => pixel(named(name)));
  return { branches: Array.from({ length: 9 }, (_, n) => named(`--b${n + 1}`)), points: new Uint32Array(points), ground: pixel(named("--back")), text: named("--text"), back: named("--back"), line: named("--dim") };
}

const cell = (place) => Math.max(0, Math.min(CELLS - 1, Math.floor((place + 1) / 2 * CELLS)));

/** Points by the cells of a grid, row by row: those of a part of the map lie beside each other. */
class Points {
  constructor(bytes) {
    const view = new DataView(bytes), number = Math.floor(bytes.byteLength / 5);
    const at = (n, byte) => view.getUint16(5 * n + byte, true) / 32767.5 - 1;
    this.number = number; this.starts = new Uint32Array(CELLS * CELLS + 1);
    const cells = new Uint16Array(number);
    for (let n = 0; n < number; n++) {
      cells[n] = CELLS * cell(at(n, 2)) + cell(at(n, 0));
      this.starts[cells[n] + 1]++;
    }
    for (let n = 0; n < CELLS * CELLS; n++) this.starts[n + 1] += this.starts[n];
    const next = this.starts.slice();
    this.xs = new Float32Array(number); this.ys = new Float32Array(number); this.hues = new Uint8Array(number);
    this.rows = new Uint32Array(number);
    for (let n = 0; n < number; n++) {
      const place = next[cells[n]]++, branch = view.getUint8(5 * n + 4);
      this.xs[place] = at(n, 0); this.ys[place] = at(n, 2); this.rows[place] = n;
      this.hues[place] = branch ? (branch - 1) % 9 + 1 : 0;
    }
  }

  /** Do something with the points from one place on up to another, for each row of cells in a part of the map. */
  within(left, top, right, bottom, act) {
    if (right < -1 || left > 1) return;
    for (let row = cell(top), last = cell(bottom); row <= last; row++) {
      act(this.starts[CELLS * row + cell(left)], this.starts[CELLS * row + cell(right) + 1]);
    }
  }
}

class Map {
  constructor(box, circles, bytes) {
    this.box = box; this.circles = circles; this.points = new Points(bytes);
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `Map of ${this.points.number} documents. Arrow keys move, plus and minus zoom. The tree lists the same topics.`);
    this.context = this.canvas.getContext("2d", { alpha: false, willReadFrequently: true });  // its pixels are ours: no detour by the graphics card
    this.said = box.querySelector(".map-said");
    this.loose = circles.every((one) => one.between);  // by neighbours: names among points
    this.waiting = false; this.drawn = 0;
    box.querySelector("svg").replaceWith(this.canvas);
    box.querySelector(".map-bar").hidden = false;
    this.read = readout();
    this.canvas.addEventListener("pointerleave", () => { this.read.hidden = true; });
    this.listen();
    new ResizeObserver(() => this.sized()).observe(this.canvas);
    for (const asked of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"]) {
      window.matchMedia(asked).addEventListener("change", () => { this.paint = colours(); this.ask(); });
    }
    this.paint = colours();
    this.all();
    this.sized();
  }

  sized() {
    const much = Math.min(window.devicePixelRatio || 1, 2);
    this.canvas.width = Math.max(1, Math.round(this.canvas.clientWidth * much));
    this.canvas.height = Math.max(1, Math.round(this.canvas.clientHeight * much));
    this.much = much;
    this.image = this.context.createImageData(this.canvas.width, this.canvas.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.ask();
  }

  /** All headings, as large as there is room. */
  all() {
    const tops = this.loose ? [] : this.circles.filter((one) => one.level === 1), reach = (sign, way) => Math.max(...tops.map((one) => sign * one[way] + one.radius));
    const [left, right, top, bottom] = tops.length ? [-reach(-1, "x"), reach(1, "x"), -reach(-1, "y"), reach(1, "y")] : [-1, 1, -1, 1];
    const wide = Math.max(1, this.canvas.clientWidth), high = Math.max(1, this.canvas.clientHeight);
    this.x = (left + right) / 2; this.y = (top + bottom) / 2;
    this.near = 2 * FILLED * Math.min(wide / (right - left), high / (bottom - top)) / Math.min(wide, high);
    this.ask();
  }

  get scale() { return this.near * Math.min(this.canvas.width, this.canvas.height) / 2; }

  ask() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  draw() {
    const { canvas, context, pixels, paint } = this, wide = canvas.width, high = canvas.height;
    const scale = this.scale, left = wide / 2 - this.x * scale, top = high / 2 - this.y * scale;
    const { number, xs, ys, hues } = this.points;
    pixels.fill(paint.ground);
    const size = Math.max(1, Math.min(5, Math.round(this.much * Math.sqrt(this.near) * Math.min(3, 240 / Math.sqrt(number)))));
    this.points.within(-left / scale, -top / scale, (wide - left) / scale, (high - top) / scale, (first, end) => {
      for (let n = first; n < end; n++) {
        const x = (xs[n] * scale + left) | 0, y = (ys[n] * scale + top) | 0;
        if (x < 0 || y < 0 || x + size > wide || y + size > high) continue;
        const colour = paint.points[hues[n]];
        for (let row = y * wide, last = (y + size) * wide; row < last; row += wide) {
          for (let column = x; column < x + size; column++) pixels[row + column] = colour;
        }
      }
    });
    context.putImageData(this.image, 0, 0);
    this.names(paint, scale, left, top);
    this.drawn += 1;
    canvas.dataset.drawn = this.drawn; canvas.dataset.place = `${this.x} ${this.y} ${scale / this.much}`;
  }

  names(paint, scale, left, top) {
    const { context } = this, taken = [], much = this.much;
    context.lineWidth = much; context.textAlign = "center"; context.textBaseline = "middle";
    this.shown = [];
    for (const one of this.circles) {
      const radius = one.radius * scale, x = one.x * scale + left, y = one.y * scale + top;
      if (radius < LEAST * much || x + radius < 0 || y + radius < 0 || x - radius > this.canvas.width || y - radius > this.canvas.height) continue;
      this.shown.push(one);
      if (!one.between) {
        context.globalAlpha = 0.35; context.strokeStyle = paint.line;
        context.beginPath(); context.arc(x, y, radius, 0, 2 * Math.PI); context.stroke();
        if (one.branch) { context.globalAlpha = 0.05; context.fillStyle = paint.branches[(one.branch - 1) % 9]; context.fill(); }
        context.globalAlpha = 1;
      }
      if (radius > MOST * much && !one.last) continue;
      const letters = Math.max(11, Math.min(16, radius / much / 6)) * much;
      context.font = `600 ${letters}px system-ui, sans-serif`;
      const width = context.measureText(one.name).width, at = y - (one.last || this.loose ? 0 : radius * 0.86);
      const place = [x - width / 2 - APART * much, at - letters / 2 - APART * much, x + width / 2 + APART * much, at + letters / 2 + APART * much];
      if (taken.some((other) => place[0] < other[2] && place[2] > other[0] && place[1] < other[3] && place[3] > other[1])) continue;
      taken.push(place);
      context.lineWidth = 4 * much; context.strokeStyle = paint.back; context.lineJoin = "round";
      context.strokeText(one.name, x, at);
      context.fillStyle = paint.text; context.fillText(one.name, x, at);
      context.lineWidth = much;
    }
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left) * this.much, y = (event.clientY - box.top) * this.much;
    return [(x - this.canvas.width / 2) / this.scale + this.x, (y - this.canvas.height / 2) / this.scale + this.y];
  }

  over([x, y], circles = this.shown || []) {
    let found = null;
    for (const one of circles) if (!one.between && (one.x - x) ** 2 + (one.y - y) ** 2 <= one.radius ** 2 && (!found || one.level > found.level)) found = one;
    return found;
  }

  nearest([x, y]) {
    const far = NEAR * this.much / this.scale, { xs, ys, rows } = this.points;
    let found = -1, least = far ** 2;
    this.points.within(x - far, y - far, x + far, y + far, (first, end) => {
      for (let n = first; n < end; n++) {
        const away = (xs[n] - x) ** 2 + (ys[n] - y) ** 2;
        if (away < least) { least = away; found = rows[n]; }
      }
    });
    return found;
  }

  tell(text, address) {
    this.said.replaceChildren();
    if (!text) return;
    const link = document.createElement("a");
    link.href = root + address; link.textContent = text;
    this.said.append(link);
  }

  /** The topic below the pointer, in its smallest circle; its name may have no room on the map. */
  point(event) {
    const inside = event.pointerType === "touch" ? null : this.over(this.at(event), this.circles);
    this.read.hidden = !inside;
    if (!inside) return;
    this.read.textContent = `${inside.name} · ${inside.documents.toLocaleString(document.documentElement.lang)}`;
    placed(this.read, event);
  }

  zoom(times, place = [this.x, this.y]) {
    const near = Math.max(0.8, Math.min(CLOSEST, this.near * times));
    this.x = place[0] + (this.x - place[0]) * this.near / near;
    this.y = place[1] + (this.y - place[1]) * this.near / near;
    this.near = near;
    this.ask();
  }

  async choose(place) {
    const inside = this.over(place), row = this.near > 3 || this.loose ? this.nearest(place) : -1;
    if (row >= 0 && (!inside || inside.last)) {
      const known = await data(`${this.box.dataset.point}?row=${row}`);
      this.tell(known.title, known.address);
    } else if (inside) {
      this.tell(`${inside.name}: ${inside.documents.toLocaleString("en")} documents`, inside.address);
      this.x = inside.x; this.y = inside.y;
      this.near = Math.max(this.near, Math.min(CLOSEST, 0.9 / inside.radius));
      this.ask();
    }
  }

  listen() {
    const held = new globalThis.Map();
    let moved = 0;
    this.canvas.addEventListener("pointerdown", (event) => { held.set(event.pointerId, event); moved = 0; this.canvas.setPointerCapture(event.pointerId); });
    this.canvas.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) return this.point(event);
      this.read.hidden = true;
      const other = [...held.values()].find((one) => one.pointerId !== event.pointerId);
      if (other) {
        const far = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
        this.zoom(far(event) / far(before), this.at(other));
      } else {
        this.x -= (event.clientX - before.clientX) * this.much / this.scale;
        this.y -= (event.clientY - before.clientY) * this.much / this.scale;
      }
      moved += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
      held.set(event.pointerId, event);
      this.ask();
    });
    for (const end of ["pointerup", "pointercancel"]) {
      this.canvas.addEventListener(end, (event) => {
        if (held.delete(event.pointerId) && end === "pointerup" && moved < 5) this.choose(this.at(event));
      });
    }
    this.canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(2 ** (-event.deltaY / 300), this.at(event)); }, { passive: false });
    this.canvas.addEventListener("keydown", (event) => {
      const step = 0.15 / this.near, way = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
      if (event.key === "Enter") this.choose([this.x, this.y]);
      else if (event.key === "+" || event.key === "=") this.zoom(1.5);
      else if (event.key === "-") this.zoom(1 / 1.5);
      else if (way) { this.x += way[0]; this.y += way[1]; this.ask(); } else return;
      event.preventDefault(); event.stopPropagation();
    });
    for (const button of this.box.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => {
        const times = Number(button.dataset.zoom);
        if (times) this.zoom(times); else { this.tell(""); this.all(); }
      });
    }
  }
}

export async function startMap() {
  const box = document.querySelector("[data-map]");
  if (!box) return;
  let answer = await fetch(box.dataset.points);
  while (answer.status === 202) {
    await new Promise((done) => setTimeout(done, AGAIN));
    answer = await fetch(box.dataset.points);
  }
  if (!answer.ok) return;
  const page = await data(box.dataset.map);
  document.querySelector(".map-wait")?.remove();
  new Map(box, page.circles, await answer.arrayBuffer());
}
