const panels = [];
const MASK_SIDE = 1024; // as much as is seen of a mask on a screen
const OWN_PHOTOS = 8; // of those that were taken, the last ones can be clicked on
let about = null, turn = 0;

/* A server for other machines wants the token that this page was opened with: in a header, or in the
   address where a browser sends no header of ours. */
const token = new URLSearchParams(location.search).get("token");
const query = token ? `?token=${encodeURIComponent(token)}` : "";
const askServer = (url, options = {}) =>
  fetch(url, token ? { ...options, headers: { Authorization: `Bearer ${token}` } } : options);

function stepLabel(step) {
  const names = step.new.length > 3 ? `${step.new.length} classes` : step.new.join(", ");
  if (!step.new.length) return `step ${step.step}: more of ${step.refined.join(", ")}`;
  return step.step === 0 ? `step 0: ${names}` : `step ${step.step}: + ${names}`;
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
    $("look").hidden = false;
    chooseStep();
    return true;
  } catch (error) {
    if (mine !== turn) return;
    for (const panel of panels) panel.clear();
    $("look").hidden = true;
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
  take(file).then((shown) => { if (shown) remember(file); });
}

/* A photo that was taken is one click away from then on; it stays in this page. */
function remember(file) {
  const address = URL.createObjectURL(file);
  const button = addSample(address, file.name || "pasted photo", "first", async () => file);
  button.setAttribute("aria-pressed", "true");
  const own = $("samples").querySelectorAll(".own");
  if (own.length > OWN_PHOTOS) {
    const oldest = own[own.length - 1];
    URL.revokeObjectURL(oldest.querySelector("img").src);
    oldest.remove();
  }
}

function addSample(address, name, place, open) {
  const button = make("button", { type: "button", title: name },
    make("img", { src: address, alt: `photo ${name}`, loading: "lazy", width: 96, height: 72 }));
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("click", async () => {
    unpress();
    button.setAttribute("aria-pressed", "true");
    take(await open());
  });
  const item = make("li", { className: place === "first" ? "own" : "" }, button);
  place === "first" ? $("samples").prepend(item) : $("samples").append(item);
  return button;
}

async function begin() {
  for (const link of document.links) link.search = query;
  about = await (await askServer("model")).json();
  const steps = longestLife();
  for (const run of about.runs) panels.push(new Panel(run, about.runs.length === 1));
  $("panels").append(...panels.map((panel) => panel.root));
  document.title = `${about.runs.map((run) => run.name).join(" and ")}: what the model sees`;
  $("step").max = $("step").value = steps.length - 1;
  $("ticks").append(...steps.map((step) => make("li", {}, make("b", { textContent: step.step }),
    make("span", { textContent: stepLabel(step).replace(/^step \d+: /, "") }))));
  $("ticks").classList.toggle("brief", steps.length > 11);
  $("ticks").hidden = steps.length > 21 || steps.length === 1;
  $("life").hidden = false;
  $("step").hidden = steps.length === 1;
  chooseStep();
  for (const sample of about.samples) {
    addSample(sample.url + query, sample.name, "last", async () => (await askServer(sample.url)).blob());
  }
}

$("step").addEventListener("input", chooseStep);
$("opacity").addEventListener("input", () => {
  $("percent").textContent = `${$("opacity").value} %`;
  for (const panel of panels) if (panel.step) panel.paint();
});
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
