
"use strict";
const $ = (id) => document.getElementById(id);
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const percent = (share) => (share < 0.005 ? "<1" : Math.round(100 * share)) + " %";
const panels = [];
const MASK_SIDE = 1024; // as much as is seen of a mask on a screen
let about = null, turn = 0;

/* A server for other machines wants the token that this page was opened with: in a header, or in the
   address where a browser sends no header of ours. */
const token = new URLSearchParams(location.search).get("token");
const query = token ? `?token=${encodeURIComponent(token)}` : "";
const askServer = (url, options = {}) =>
  fetch(url, token ? { ...options, headers: { Authorization: `Bearer ${token}` } } : options);

/* VOC's palette deals the bits of a class id out to red, green and blue in turn. */
const colourOf = (id) => [0, 1, 2].map((channel) =>
  [0, 1, 2].reduce((sum, level) => sum | (((id >> (3 * level + channel)) & 1) << (7 - level)), 0));
const idOf = (red, green, blue) => [red, green, blue].reduce((id, value, channel) =>
  [0, 1, 2].reduce((sum, level) => sum | (((Math.min(255, value + 16) >> (7 - level)) & 1) << (3 * level + channel)), id), 0);

function stepLabel(step) {
  const names = step.new.length > 3 ? `${step.new.length} classes` : step.new.join(", ");
  return step.step === 0 ? `step 0: ${names}` : `step ${step.step}: + ${names}`;
}

/* One run: its photo, the classes over it, and their legend. */
class Panel {
  constructor(run, alone) {
    this.run = run;
    this.pressed = new Set();
    this.photo = make("canvas", { width: 1, height: 1 });
    this.veil = make("canvas", { width: 1, height: 1 });
    this.veil.setAttribute("role", "img");
    this.stage = make("div", { className: "stage" }, this.photo, this.veil);
    this.legend = make("ul", { className: "legend", ariaLabel: `Classes seen by ${run.method}` });
    this.root = make("article", { className: alone ? "panel alone" : "panel", hidden: true },
      make("h2", { textContent: run.method }), make("p", { className: "run", textContent: run.name }),
      this.stage, this.legend);
    this.root.setAttribute("aria-label", run.method);
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
    this.list();
    this.paint();
    const seen = this.step.classes.filter((each) => each.channel > 0);
    const words = seen.map((each) => `${each.name} ${percent(each.share)}`).join(", ") || "nothing but background";
    this.veil.setAttribute("aria-label", `Segmentation after step ${this.step.step}: ${words}`);
    return `${this.run.method} after step ${this.step.step}: ${words}.`;
  }

  list() {
    this.legend.replaceChildren(...this.step.classes.map((each) => {
      const swatch = make("span", { className: "swatch" });
      swatch.style.background = each.channel ? `rgb(${colourOf(each.channel)})` : "transparent";
      const button = make("button", { type: "button" }, swatch, make("span", { textContent: each.name }),
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

  /* Lay the classes over the photo; chosen ones stand out, the rest of the photo is dimmed. */
  paint(hinted = null) {
    const context = this.veil.getContext("2d");
    const image = context.createImageData(this.veil.width, this.veil.height);
    const chosen = new Set(this.pressed);
    if (hinted !== null) chosen.add(hinted);
    const table = [...Array(256).keys()].map((id) => {
      if (chosen.size && !chosen.has(id)) return [0, 0, 0, 165];
      return [...colourOf(id), id === 0 ? 0 : 165];
    });
    this.step.ids.forEach((id, place) => image.data.set(table[id], 4 * place));
    context.putImageData(image, 0, 0);
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

const longestLife = () => about.runs.reduce((a, b) => (b.steps.length > a.steps.length ? b : a)).steps;

function chooseStep() {
  const steps = longestLife();
  const place = Number($("step").value), label = stepLabel(steps[place]);
  $("label").textContent = label;
  $("step").setAttribute("aria-valuetext", label);
  [...$("ticks").children].forEach((tick, number) => tick.classList.toggle("now", number === place));
  const known = steps.slice(0, place + 1).flatMap((step) => step.new);
  $("known").textContent = `Taught so far, ${known.length} classes: ${known.join(", ")}.`;
  const words = panels.map((panel) => panel.choose(steps[place].step)).filter(Boolean);
  if (words.length) $("status").textContent = words.join(" ");
}

async function ask(run, blob, tries = 4) {
  const form = new FormData();
  form.append("run", run.key);
  form.append("step", "all");
  form.append("mask_side", Math.min(MASK_SIDE, Math.floor(Math.sqrt(about.mask_pixels / run.steps.length))));
  form.append("file", blob, "photo");
  const response = await askServer("predict", { method: "POST", body: form });
  if (response.ok) return response.json();
  if (response.status === 503 && tries > 1) {
    $("status").textContent = "The server is busy; trying again …";
    await new Promise((done) => setTimeout(done, 1000 * Number(response.headers.get("Retry-After") || 2)));
    return ask(run, blob, tries - 1);
  }
  throw new Error((await response.json().catch(() => ({}))).detail || `The server answered ${response.status}.`);
}

async function take(blob) {
  const mine = ++turn;
  $("problem").hidden = true;
  $("panels").classList.add("busy");
  $("status").textContent = "Looking …";
  try {
    if (blob.size > about.upload_bytes) throw new Error(`The photo is larger than ${about.upload_bytes / 1e6} MB.`);
    const answers = await Promise.all(panels.map((panel) => ask(panel.run, blob)));
    const bitmap = await createImageBitmap(blob);
    if (mine !== turn) return;
    await Promise.all(panels.map((panel, place) => panel.show(answers[place], bitmap)));
    chooseStep();
  } catch (error) {
    if (mine !== turn) return;
    $("problem").textContent = error.message;
    $("problem").hidden = false;
    $("status").textContent = "";
  } finally {
    if (mine === turn) $("panels").classList.remove("busy");
  }
}

function unpress() {
  for (const button of $("samples").querySelectorAll("button")) button.setAttribute("aria-pressed", "false");
}

function offer(files) {
  const file = [...files].find((each) => each.type.startsWith("image/")) || files[0];
  if (!file) return;
  unpress();
  take(file);
}

async function begin() {
  for (const link of document.links) link.search = query;
  about = await (await askServer("model")).json();
  const steps = longestLife();
  for (const run of about.runs) panels.push(new Panel(run, about.runs.length === 1));
  $("panels").append(...panels.map((panel) => panel.root));
  $("step").max = $("step").value = steps.length - 1;
  $("ticks").append(...steps.map((step) => make("li", {}, make("b", { textContent: step.step }),
    make("span", { textContent: stepLabel(step).replace(/^step \d+: /, "") }))));
  $("ticks").classList.toggle("brief", steps.length > 11);
  $("ticks").hidden = steps.length > 21;
  $("life").hidden = false;
  $("step").disabled = steps.length === 1;
  chooseStep();
  for (const sample of about.samples) {
    const button = make("button", { type: "button" },
      make("img", { src: sample.url + query, alt: `sample ${sample.name}`, loading: "lazy", width: 96, height: 72 }));
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", async () => {
      unpress();
      button.setAttribute("aria-pressed", "true");
      take(await (await askServer(sample.url)).blob());
    });
    $("samples").append(make("li", {}, button));
  }
}

$("step").addEventListener("input", chooseStep);
$("file").addEventListener("change", () => { offer($("file").files); $("file").value = ""; });
document.addEventListener("paste", (event) => offer(event.clipboardData.files));
document.addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
document.addEventListener("dragleave", () => $("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  offer(event.dataTransfer.files);
});
begin();
