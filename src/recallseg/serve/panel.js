
"use strict";
const $ = (id) => document.getElementById(id);
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const percent = (share) => (share < 0.005 ? "<1" : Math.round(100 * share)) + " %";

/* Masks come in VOC's palette, which deals the bits of a class id out to red, green and blue in turn. */
const idOf = (red, green, blue) => [red, green, blue].reduce((id, value, channel) =>
  [0, 1, 2].reduce((sum, level) => sum | (((Math.min(255, value + 16) >> (7 - level)) & 1) << (3 * level + channel)), id), 0);

/* On a photo, classes have few colours that everybody tells apart, and stripes once those are used up. */
const COLOURS = /*colours*/[];
const GAP = 0.35; // between stripes, this part of the opacity
const LABELLED_SHARE = 0.01;
const PLACES = [
  (x, y) => x + y, (x, y) => y - x, (x, y) => y, (x, y) => x, (x, y, half) => Math.floor(y / half) * half + x,
];
const colourOf = (id) => COLOURS[(id - 1) % COLOURS.length];
const placeOf = (id) => PLACES[(Math.floor((id - 1) / COLOURS.length) % (1 + PLACES.length)) - 1];
const isGap = (id, x, y, half) => {
  const place = placeOf(id);
  return place !== undefined && (Math.floor(place(x, y, half) / half) & 1) === 1;
};
const opacity = () => Number($("opacity").value) / 100;

function swatchOf(id) {
  const swatch = make("canvas", { className: "swatch", width: 16, height: 16 });
  if (!id) return swatch;
  const context = swatch.getContext("2d");
  for (let y = 0; y < 16; y++) {
    for (let x = 0; x < 16; x++) {
      context.fillStyle = `rgb(${colourOf(id).join(" ")} / ${isGap(id, x, y, 4) ? GAP : 1})`;
      context.fillRect(x, y, 1, 1);
    }
  }
  return swatch;
}

/* One run: its photo, the classes over it, and their legend. */
class Panel {
  constructor(run, alone) {
    this.run = run;
    this.pressed = new Set();
    this.photo = make("canvas", { width: 1, height: 1 });
    this.veil = make("canvas", { width: 1, height: 1 });
    this.veil.setAttribute("role", "img");
    this.names = make("div", { className: "names" });
    this.names.setAttribute("aria-hidden", "true");
    this.stage = make("div", { className: "stage" }, this.photo, this.names, this.veil);
    this.legend = make("ul", { className: "legend", ariaLabel: `Classes seen by ${run.name}` });
    this.root = make("article", { className: alone ? "panel alone" : "panel", hidden: true },
      make("h2", { textContent: run.name }), make("p", { className: "run", textContent: `method ${run.method}` }),
      this.stage, this.legend);
    this.root.setAttribute("aria-label", run.name);
    for (const kind of ["pointermove", "pointerdown"]) this.veil.addEventListener(kind, (event) => this.point(event));
    for (const kind of ["pointerleave", "pointercancel"]) this.veil.addEventListener(kind, () => { $("tip").hidden = true; });
  }

  async show(answer, bitmap) {
    this.answer = answer;
    this.steps = await Promise.all(answer.steps.map(async (step) => ({ ...step, ids: await this.read(step.mask) })));
    for (const canvas of [this.photo, this.veil]) Object.assign(canvas, { width: answer.width, height: answer.height });
    this.photo.getContext("2d").drawImage(bitmap, 0, 0, answer.width, answer.height);
    this.pressed.clear();
    this.root.hidden = false;
  }

  /* Nothing of an earlier photo stays when a new one fails. */
  clear() {
    this.steps = this.step = null;
    this.root.hidden = true;
  }

  async read(url) {
    const bitmap = await createImageBitmap(await (await fetch(url)).blob());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const ids = new Uint8Array(data.length / 4);
    for (let i = 0; i < ids.length; i++) ids[i] = idOf(data[4 * i], data[4 * i + 1], data[4 * i + 2]);
    return ids;
  }

  /* The last step of this run that is not later than the one asked for. */
  choose(number) {
    if (!this.steps) return "";
    this.step = this.steps.filter((step) => step.step <= number).pop() || this.steps[0];
    this.edges = this.findEdges();
    this.middles = this.findMiddles();
    this.list();
    this.paint();
    const seen = this.step.classes.filter((each) => each.channel > 0);
    const words = seen.map((each) => `${each.name} ${percent(each.share)}`).join(", ") || "nothing but background";
    this.veil.setAttribute("aria-label", `Segmentation after step ${this.step.step}: ${words}`);
    return `${this.run.name} after step ${this.step.step}: ${words}.`;
  }

  list() {
    this.legend.replaceChildren(...this.step.classes.map((each) => {
      const button = make("button", { type: "button" }, swatchOf(each.channel), make("span", { textContent: each.name }),
        make("span", { className: "share", textContent: percent(each.share) }));
      button.setAttribute("aria-pressed", this.pressed.has(each.channel));
      button.title = `mean probability ${percent(each.confidence)}`;
      button.addEventListener("click", () => {
        if (!this.pressed.delete(each.channel)) this.pressed.add(each.channel);
        button.setAttribute("aria-pressed", this.pressed.has(each.channel));
        this.paint();
      });
      for (const kind of ["pointerenter", "focus"]) button.addEventListener(kind, () => this.paint(each.channel));
      for (const kind of ["pointerleave", "blur"]) button.addEventListener(kind, () => this.paint());
      return make("li", {}, button);
    }));
  }

  /* Pixels beside one of another class. */
  findEdges() {
    const { width, height } = this.veil, { ids } = this.step, edges = new Uint8Array(ids.length);
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at++) {
        if (x + 1 < width && ids[at] !== ids[at + 1]) edges[at] = edges[at + 1] = 1;
        if (y + 1 < height && ids[at] !== ids[at + width]) edges[at] = edges[at + width] = 1;
      }
    }
    return edges;
  }

  /* Where each class has its longest row of pixels, there is room for its name. */
  findMiddles() {
    const { width, height } = this.veil, { ids } = this.step, longest = new Map();
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0, start = 0; x < width; x++, at++) {
        if (x + 1 < width && ids[at] === ids[at + 1]) continue;
        const length = x + 1 - start;
        if (length > (longest.get(ids[at])?.length || 0)) longest.set(ids[at], { length, x: (start + x + 1) / 2, y });
        start = x + 1;
      }
    }
    return longest;
  }

  /* Lay the classes over the photo; chosen ones stand out, the rest of the photo is dimmed. */
  paint(hinted = null) {
    const { width, height } = this.veil, { ids } = this.step;
    const context = this.veil.getContext("2d");
    const image = context.createImageData(width, height);
    const chosen = new Set(this.pressed), half = Math.max(3, Math.floor(Math.max(width, height) / 96));
    if (hinted !== null) chosen.add(hinted);
    const full = Math.floor(255 * opacity()), gap = Math.floor(255 * opacity() * GAP);
    const isDim = (id) => chosen.size > 0 && !chosen.has(id);
    const table = [...Array(256).keys()].map((id) => ({ dim: isDim(id), colour: id ? colourOf(id) : null }));
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at++) {
        const { dim, colour } = table[ids[at]];
        if (dim) image.data[4 * at + 3] = 165;
        else if (colour) {
          const alpha = this.edges[at] ? 255 : isGap(ids[at], x, y, half) ? gap : full;
          image.data.set([...colour, alpha], 4 * at);
        }
      }
    }
    context.putImageData(image, 0, 0);
    this.write(isDim);
  }

  write(isDim) {
    const named = this.step.classes.filter((each) => each.channel && each.share >= LABELLED_SHARE && !isDim(each.channel));
    this.names.replaceChildren(...named.map((each) => {
      const { x, y } = this.middles.get(each.channel), label = make("span", { textContent: each.name });
      label.style.left = `clamp(2.5rem, ${100 * x / this.veil.width}%, 100% - 2.5rem)`;
      label.style.top = `clamp(.8rem, ${100 * y / this.veil.height}%, 100% - .8rem)`;
      return label;
    }));
  }

  point(event) {
    if (!this.step) return;
    const box = this.veil.getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left) / box.width * this.veil.width);
    const y = Math.floor((event.clientY - box.top) / box.height * this.veil.height);
    const tip = $("tip");
    tip.hidden = x < 0 || y < 0 || x >= this.veil.width || y >= this.veil.height;
    if (tip.hidden) return;
    tip.textContent = this.answer.class_names[this.step.ids[y * this.veil.width + x]];
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.max(8, event.clientY - 40)}px`;
  }
}
