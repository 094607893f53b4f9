// What the page shows; all that is computed is asked of the worker.
"use strict";

const $ = (id) => document.getElementById(id);
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const EXAMPLE = `unit,rater,labels
text01,ann,"joy, surprise"
text01,ben,joy
text01,cem,"joy, surprise"
text02,ann,anger
text02,ben,"anger, fear"
text02,cem,fear
text03,ann,[]
text03,ben,[]
text03,cem,sadness
text04,ann,joy
text04,ben,joy
text04,cem,joy
text05,ann,"fear, sadness"
text05,ben,sadness
text05,cem,"fear, sadness"
text06,ann,surprise
text06,ben,"joy, surprise"
text06,cem,joy
`;

/* Make an element with text, attributes and children; text is never read as HTML. */
function make(tag, text = "", attributes = {}, ...children) {
  const one = document.createElement(tag);
  one.textContent = text;
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  one.append(...children);
  return one;
}

const fill = (select, names, chosen, none) =>
  select.replaceChildren(
    ...(none === undefined ? [] : [make("option", none, { value: "" })]),
    ...names.map(([value, text]) => {
      const option = make("option", text, { value });
      option.selected = String(value) === String(chosen);
      return option;
    }),
  );

/* Put a box to tick for each name into a fieldset, all ticked but those that are not among `on`. */
function ticks(fieldset, names, on = names) {
  const boxes = names.map((name, place) => {
    const box = make("input", "", { type: "checkbox", value: place });
    box.checked = on.includes(name);
    const label = make("label", "", {}, box);
    label.append(make("bdi", name));
    return label;
  });
  fieldset.replaceChildren(fieldset.querySelector("legend"), ...boxes);
}

// ---- The worker ---------------------------------------------------------------------------------

let worker, number = 0;
const waiting = new Map();

function ask(action, given, transfer = []) {
  return new Promise((resolve, reject) => {
    waiting.set(++number, { resolve, reject });
    worker.postMessage({ id: number, action, given }, transfer);
  });
}

/* Say what goes on, and how far it is where that is known. */
function show(text, part) {
  $("state").textContent = text;
  $("progress").hidden = part === undefined;
  if (part !== undefined) $("progress").value = part;
}

let tell = show; // what hears from the worker how far it is

function heard({ data: { id, answer, failed, stage, part } }) {
  if (stage !== undefined) return tell(stage, part);
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  return failed === undefined ? resolve(answer) : reject(new Error(failed));
}

/* Load the runtime; say whether it is there. */
async function start() {
  if (location.protocol === "file:") return false; // what the page says first then stays
  const giving = (isOff) => { for (const id of ["file", "paste", "example"]) $(id).disabled = isOff; };
  giving(false); // what is given waits
  $("again").hidden = true;
  $("state").classList.remove("problem");
  const began = performance.now();
  const { runtime, wheel, numbers, drawing } = document.body.dataset;
  const whole = (address) => new URL(address, location.href).href;
  show("Loading …", 0);
  try {
    const code = await (await fetch("worker.js")).blob();
    worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    worker.onmessage = heard;
    await ask("start", {
      runtime: whole(runtime), wheel: whole(wheel), numbers: numbers.split(" "), drawing: drawing.split(" "),
    });
  } catch (error) {
    show(error.message);
    $("state").classList.add("problem");
    giving(true); // nothing could be read
    $("again").hidden = false;
    return false;
  }
  show(`Ready, after ${((performance.now() - began) / 1000).toFixed(1)} seconds.`);
  return true;
}

// ---- What was recognised ------------------------------------------------------------------------

const file = { path: "", how: {}, columns: [], labels: [], merged: [] };

/* Read a new file, with nothing chosen yet, as soon as the runtime is there. */
async function give(name, bytes) {
  if (!(await started)) return;
  const safe = name.replace(/[/\\]/g, "_") || "table.csv";
  Object.assign(file, { path: `/data/${safe}`, how: {}, merged: [] });
  $("how").reset();
  for (const id of ["coefficient", "distance"]) $(id).replaceChildren();
  await ask("give", { name: safe, bytes }, [bytes]);
  await read();
  $("seen-title").focus();
}

async function read() {
  show(`Reading ${file.path.slice(6)} …`, 0.5);
  let found;
  try {
    found = await ask("ask", { what: "read", path: file.path, how: file.how });
  } catch (error) {
    found = { error: error.message, columns: [], notes: [] };
  }
  recognised(found);
  show(found.error ? "The file could not be read as it is." : "Read.");
  if (found.error) return;
  Object.assign(file, { labels: found.labels, merged: [] });
  const distances = found.distances.map((name) => [name, name.replaceAll("_", " ")]);
  fill($("coefficient"), found.coefficients, $("coefficient").value, "alpha and kappa");
  fill($("distance"), distances, $("distance").value);
  ticks($("raters"), found.raters);
  $("merging").hidden = found.labels.length < 2;
  for (const id of ["from", "to"]) fill($(id), found.labels.map((label, place) => [place, label]), id === "to" ? 1 : 0);
  await table();
}

/* Show what the file was taken for, and what may be chosen instead. */
function recognised({ error, counts = [], notes, columns, rows = [], roles = {} }) {
  $("seen").hidden = false;
  $("error").hidden = !error;
  $("error").textContent = error ? `${error}${columns.length ? " Correct it here:" : ""}` : "";
  $("counts").textContent = [file.path.slice(6), ...counts].join(" · ");
  $("notes").replaceChildren(...notes.map((note) => make("li", note)));
  $("result").hidden = Boolean(error);
  const form = $("how").elements;
  const wide = Boolean(roles.wide);
  form.layout.value = wide ? "wide" : "long";
  form.scalars.value = roles.scalars ? "yes" : "";
  for (const role of ["unit", "rater", "labels"]) fill(form[role], columns.map((name) => [name, name]), roles[role], "choose …");
  if (wide) ticks($("columns"), columns.filter((name) => name !== roles.unit), roles.raters);
  for (const one of all(".of-table", $("how"))) one.hidden = !columns.length;
  for (const one of all(columns.length && wide ? ".of-long" : ".of-wide", $("how"))) one.hidden = true;
  const head = make("tr", "", {}, ...columns.map((name) => make("th", name, { scope: "col" })));
  const body = rows.map((row) => make("tr", "", {}, ...row.map((cell) => make("td", cell))));
  $("preview").replaceChildren(
    make("table", "", {}, make("thead", "", {}, head), make("tbody", "", {}, ...body)),
  );
  $("preview").hidden = !columns.length;
  Object.assign(file, { columns });
}

/* Read the file again, as it is now chosen; of another layout nothing is known yet. */
function chosen(event) {
  const form = $("how").elements, cells = ["label_sep", "blank", "duplicates", "case"];
  const how = Object.fromEntries(cells.map((name) => [name, form[name].value]));
  const wide = form.layout.value === "wide";
  if (event.target === form.layout) file.how = { ...how, wide, ...(wide ? {} : { unit: form.unit.value }) };
  else if (file.columns.length && !cells.includes(event.target.name)) {
    Object.assign(how, { unit: form.unit.value, scalars: form.scalars.value === "yes", wide });
    if (wide) {
      how.raters = all("input:checked", $("columns")).map((box) => box.parentElement.textContent);
      if (event.target === form.unit) delete how.raters;
    } else Object.assign(how, { rater: form.rater.value, labels: form.labels.value });
    file.how = how;
  } else Object.assign(file.how, how);
  read();
}

// ---- The table ----------------------------------------------------------------------------------

const asked = () => ({
  coefficient: $("coefficient").value,
  distance: $("distance").value,
  without: all("input:not(:checked)", $("raters")).map((box) => Number(box.value)),
  merged: file.merged,
});

async function table() {
  const mine = ++table.last;
  $("result").setAttribute("aria-busy", "true");
  $("moved").textContent = "Computing …";
  let found;
  try {
    found = await ask("ask", { what: "table", ...asked() });
  } catch (error) {
    found = { error: error.message, notes: [] };
  }
  if (mine !== table.last) return; // something else was asked meanwhile
  answered(found);
  $("result").removeAttribute("aria-busy");
}
table.last = 0;

function answered({ error, rows = [], headline = {}, before, notes }) {
  $("symbol").textContent = headline.symbol ?? "";
  $("estimate").textContent = headline.estimate ?? "–";
  $("what").replaceChildren(headline.what ?? "");
  if (headline.interval) $("what").append(make("br"), `${headline.interval_name} `, make("b", headline.interval), ` (for ${headline.about})`);
  const sentences = [error, headline.reason && `Undefined, because ${headline.reason}.`, before, ...notes];
  $("moved").textContent = sentences.filter(Boolean).join(" ");
  $("moved").classList.toggle("problem", Boolean(error));
  const cell = ({ name, value, text }) => make("td", "", { class: "n" }, make("data", text, { value, "data-name": name }));
  const lines = rows.map(({ coefficient, distance, cells }) =>
    make("tr", "", {}, make("th", coefficient, { scope: "row" }),
      make("td", distance), ...cells.map(cell)));
  $("table").tBodies[0].replaceChildren(...lines);
}

function merge() {
  const [one, other] = [Number($("from").value), Number($("to").value)];
  if (one === other || file.merged.some(([from, to]) => from === one || to === one)) return;
  file.merged.push([one, other]);
  merges();
}

/* List what is merged, each with a button that takes it back. */
function merges() {
  const lines = file.merged.map(([one, other], place) => {
    const back = make("button", "Take back", { type: "button" });
    back.addEventListener("click", () => { file.merged.splice(place, 1); merges(); });
    return make("li", "", {}, make("bdi", file.labels[one]), " counts as ", make("bdi", file.labels[other]), " ", back);
  });
  $("merged").replaceChildren(...lines);
  table();
}

/* Let the browser save a file that the worker writes. */
async function keep({ target: { dataset } }) {
  tell = (text) => { $("kept").textContent = text; };
  tell("Writing the file …");
  try {
    const bytes = await ask("keep", { what: dataset.what, ...asked() });
    const type = dataset.what === "report" ? "text/html" : "text/csv";
    const href = URL.createObjectURL(new Blob([bytes], { type }));
    make("a", "", { href, download: dataset.file }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
    tell(`Saved ${dataset.file}.`);
  } catch (error) {
    tell(error.message);
  }
  tell = show;
}

// ---- What a person does -------------------------------------------------------------------------

const encoded = (text) => new TextEncoder().encode(text).buffer;
const taken = async (one) => one && give(one.name, await one.arrayBuffer());

$("file").addEventListener("change", ({ target }) => taken(target.files[0]));
$("paste").addEventListener("click", () => give("pasted.csv", encoded($("text").value)));
$("example").addEventListener("click", () => give("example.csv", encoded(EXAMPLE)));
$("how").addEventListener("change", chosen);
$("how").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["coefficient", "distance", "raters"]) $(id).addEventListener("change", table);
$("merge").addEventListener("click", merge);
for (const button of all("[data-what]")) button.addEventListener("click", keep);
for (const name of ["dragover", "dragleave", "drop"])
  document.addEventListener(name, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", name === "dragover");
    if (name === "drop") taken(event.dataTransfer.files[0]);
  });
$("again").addEventListener("click", () => { started = start(); });
let started = start();
