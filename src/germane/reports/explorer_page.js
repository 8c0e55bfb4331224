// The explorer's page: a list to rearrange, and a card for each measure. It writes texts as text, never as markup.
/** @type {State & {chosen: string}} */
let state = { items: [], total: 0, k: 0, chosen: "AP(norm=R)@k" };
const MOST = 30, SVG = "http://www.w3.org/2000/svg";

/** @param {string} id @returns {any} */
const at = (id) => document.getElementById(id);

/** @param {string} name @param {Record<string, any>} [attributes] @param {...any} children @returns {any} */
function make(name, attributes = {}, ...children) {
  const shape = /^(svg|rect|path|circle|text)$/.test(name);
  const element = shape ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** Read a pasted list: grades, JSON, or lines of a run with their labels. @param {string} text @returns {Item[]} */
function readList(text) {
  const lines = text.trim().split(/\n/).map((line) => line.trim().split(/\s+/));
  if (/^[[{]/.test(text.trim())) return readJson(JSON.parse(text));
  if (lines.length && lines.every((line) => line.length === 6)) return readRun(lines);
  return text.trim().split(/[\s,]+/).filter(Boolean).map((word) => makeItem(word));
}

/** Lines of a run, by score; their items are unjudged. @param {string[][]} lines */
function readRun(lines) {
  const rows = lines.map((line) => ({ id: line[2], score: Number(line[4]) }));
  if (rows.some((row) => !Number.isFinite(row.score))) throw new Error("The fifth field of a run's line is its score.");
  rows.sort((a, b) => b.score - a.score);
  return rows.map((row, i) => ({ id: row.id, grade: null, tie: i > 0 && rows[i - 1].score === row.score }));
}

/** @param {any} given */
function readJson(given) {
  const pairs = Array.isArray(given) ? given.map((each) => [each, ""]) : Object.entries(given).map(([id, grade]) => [grade, id]);
  return pairs.map(([each, id]) => (each && typeof each === "object" ? makeItem(each.grade, each.id, each.tie) : makeItem(each, id)));
}

/** @param {any} grade @param {any} [id] @param {any} [tie] @returns {Item} */
function makeItem(grade, id = "", tie = false) {
  const none = grade === null || grade === undefined || grade === "u" || grade === "?";
  const number = none ? null : Number(grade);
  if (number !== null && !(Number.isInteger(number) && number >= 0 && number <= TOP)) {
    throw new Error(`A grade is a whole number from 0 to ${TOP}, or u for unjudged; got ${String(grade).slice(0, 40)}`);
  }
  return { grade: number, tie: tie === true, id: String(id).slice(0, 200) };
}

/** The state as the address's fragment: grades, u for unjudged, t for a tie with the item above. */
function writeAddress() {
  const list = state.items.map((item) => `${item.grade ?? "u"}${item.tie ? "t" : ""}`).join(".");
  const ids = state.items.some((item) => item.id) ? `&ids=${state.items.map((item) => encodeURIComponent(item.id)).join(",")}` : "";
  return `#l=${list}&R=${state.total}&k=${state.k}${ids}`;
}

/** @param {string} hash */
function readAddress(hash) {
  const found = Object.fromEntries(hash.slice(1).split("&").map((each) => each.split("=")));
  const ids = (found.ids ?? "").split(",");
  const items = found.l.split(".").filter(Boolean).map((/** @type {string} */ word, /** @type {number} */ i) =>
    makeItem(word.replace("t", ""), decodeURIComponent(ids[i] ?? ""), word.endsWith("t")));
  setList(items, Number(found.R), Number(found.k));
}

/** @param {Item[]} items @param {number} [total] @param {number} [k] */
function setList(items, total = 0, k = state.k) {
  if (!items.length || items.length > MOST) throw new Error(`A list has 1 to ${MOST} items; got ${items.length}`);
  items[0].tie = false;
  const whole = (/** @type {number} */ n) => (Number.isInteger(n) && n >= 0 && n <= 1000 ? n : 0);
  state = { ...state, items, total: whole(total), k: whole(k) };
}

/** Do what may fail, say it in the live region, and show the page. @param {() => string} act */
function change(act) {
  let said = "";
  at("preset").value = "";
  try { said = act(); } catch (error) { said = /** @type {Error} */ (error).message; }
  show();
  const none = makeList(state).R ? "" : " Nothing is relevant, which counts as 0.";
  at("says").textContent = `${said}${none} ${writeName(state.chosen, state.k)} is ${writeValue(compute(state.chosen, makeList(state)))}.`;
  history.replaceState(null, "", writeAddress());
}

/** Number the groups of equal scores, one number an item. @param {Item[]} items */
function numberGroups(items) {
  let group = 0;
  return items.map((item) => (item.tie ? group : ++group));
}

/** Tie the neighbors of one group. @param {Item[]} items @param {number[]} groups @returns {Item[]} */
const tieGroups = (items, groups) => items.map((item, i) => ({ ...item, tie: i > 0 && groups[i] === groups[i - 1] }));

/** Move an item. Beside its group it stays tied; amid another group it joins that. @param {number} from @param {number} to */
function move(from, to) {
  if (to < 0 || to >= state.items.length || to === from) return "";
  const items = [...state.items], groups = numberGroups(items);
  const [item] = items.splice(from, 1), [own] = groups.splice(from, 1), before = groups[to - 1], after = groups[to];
  items.splice(to, 0, item);
  groups.splice(to, 0, own === before || own === after ? own : before === after ? before : 0);
  state = { ...state, items: tieGroups(items, groups) };
  return `Moved from rank ${from + 1} to ${to + 1}.`;
}

/** @param {number} i @param {Partial<Item>} part @param {string} said */
function edit(i, part, said) {
  state = { ...state, items: state.items.map((item, j) => (j === i ? { ...item, ...part } : item)) };
  return said;
}

/** @param {number} i */
function remove(i) {
  const others = (/** @type {any} */ _, /** @type {number} */ j) => j !== i;
  setList(tieGroups(state.items.filter(others), numberGroups(state.items).filter(others)), state.total);
  return `Removed rank ${i + 1}.`;
}

/** Move by a button, and keep the focus on it. @param {number} i @param {number} step @param {string} name */
function step(i, step, name) {
  change(() => move(i, i + step));
  const row = at("items").children[Math.max(0, Math.min(i + step, state.items.length - 1))];
  row.querySelector(`[data-name=${name}]`)?.focus();
}

/** @param {Item} item @param {number} i */
function makeRow(item, i) {
  const rank = `rank ${i + 1}`, hit = (item.grade ?? -1) >= LEVEL;
  const grade = make("select", { "data-name": "grade", "aria-label": `grade at ${rank}`, onchange: (/** @type {any} */ e) =>
    change(() => edit(i, { grade: e.target.value === "u" ? null : Number(e.target.value) }, `Graded ${rank}.`)) },
  ...["u", ..."01234"].map((word) => make("option", { value: word, selected: word === `${item.grade ?? "u"}` }, word === "u" ? "? unjudged" : word)));
  const tie = make("input", { type: "checkbox", checked: item.tie, disabled: i === 0, "aria-label": `${rank} has the score of the item above`,
    onchange: (/** @type {any} */ e) => change(() => edit(i, { tie: e.target.checked }, `Changed the tie at ${rank}.`)) });
  return make("li", { class: [hit && "hit", item.tie && "tied"].filter(Boolean).join(" "),
    onkeydown: (/** @type {any} */ e) => moveByKey(e, i) },
  make("span", { class: "grip", "aria-hidden": "true", onpointerdown: (/** @type {any} */ e) => drag(e, i) }, "⠿"),
  make("span", { class: "rank" }, `${i + 1}`), make("label", {}, grade), make("label", {}, tie, "tied"),
  make("bdi", { class: "id" }, item.id), make("span", { class: "term" }),
  makeButton("up", "↑", `move ${rank} up`, () => step(i, -1, "up")),
  makeButton("down", "↓", `move ${rank} down`, () => step(i, 1, "down")),
  makeButton("remove", "×", `remove ${rank}`, () => change(() => remove(i))));
}

/** @param {string} name @param {string} sign @param {string} label @param {() => void} act */
const makeButton = (name, sign, label, act) => make("button", { type: "button", "data-name": name, "aria-label": label, onclick: act }, sign);

/** @param {KeyboardEvent} event @param {number} i */
function moveByKey(event, i) {
  const by = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : undefined;
  if (!by) return;
  event.preventDefault();
  step(i, by, /** @type {any} */ (event.target).dataset.name ?? "grade");
}

/** Drag with a mouse, a pen or a finger. @param {PointerEvent} event @param {number} from */
function drag(event, from) {
  event.preventDefault();
  const rows = [...at("items").children], grip = /** @type {Element} */ (event.target);
  let to = from;
  grip.setPointerCapture(event.pointerId);
  const follow = (/** @type {any} */ e) => {
    const place = rows.findIndex((row) => e.clientY < row.getBoundingClientRect().bottom);
    to = place < 0 ? rows.length - 1 : place;
    rows.forEach((row, j) => row.classList.toggle("moving", j === to));
  };
  grip.addEventListener("pointermove", follow);
  grip.addEventListener("pointerup", () => change(() => move(from, to)), { once: true });
  grip.addEventListener("pointercancel", show, { once: true });
}

/** @param {number[]} terms */
function drawBars(terms) {
  const most = Math.max(...terms, 1e-9), width = 300 / Math.max(terms.length, 1);
  const bars = terms.flatMap((term, i) => [
    make("rect", { class: "base", x: i * width, y: 39, width: width - 1, height: 1 }),
    make("rect", { x: i * width, y: 39 - (36 * term) / most, width: width - 1, height: (36 * term) / most }),
  ]);
  return make("svg", { viewBox: "0 0 300 40", preserveAspectRatio: "none", role: "img", "aria-label": `terms: ${terms.map(shorten).join(", ")}` }, ...bars);
}

/** @param {any} one @param {List} list */
function makeCard(one, list) {
  const [value, best, worst] = range(one.name, state), tied = writeValue(best) !== writeValue(worst);
  const tools = state.k ? one.tools : one.whole ?? one.tools;
  const words = tools.map((/** @type {string[]} */ tool) => tool.join(": ")).join("; ");
  const look = () => choose(one.name, list);
  return make("div", { class: "card", tabindex: "0", role: "group", "aria-label": `${writeName(one.name, state.k)}: ${writeValue(value)}`, onfocus: look, onmouseenter: look },
    make("h3", {}, make("span", {}, writeName(one.name, state.k)), make("output", {}, writeValue(value))),
    drawBars(upto(list.N).map((i) => listTerms(one.name, list)[i - 1] ?? 0)), make("p", { class: "formula" }, writeFormula(one.name, list)),
    make("p", {}, one.title), make("p", {}, one.formula),
    ...(tied ? [make("p", {}, `Ties: worst ${writeValue(worst)}, best ${writeValue(best)}`)] : []),
    ...(words ? [make("details", {}, make("summary", {}, `reported by ${tools.length} ${tools.length > 1 ? "tools" : "tool"}`), words)] : []));
}

/** Show the terms of a measure in the list. @param {string} name @param {List} list */
function choose(name, list) {
  state = { ...state, chosen: name };
  at("looked").textContent = `Terms at the right of the list: ${writeName(name, state.k)}`;
  const terms = listTerms(name, list);
  [...at("items").querySelectorAll(".term")].forEach((cell, i) => { cell.textContent = terms[i] ? writeValue(terms[i]) : ""; });
}

/** @param {List} l */
function drawCurve(l) {
  const x = (/** @type {number} */ i) => 50 + 430 * (l.R ? l.hits[i] / l.R : 0), y = (/** @type {number} */ p) => 20 + 250 * (1 - p);
  const best = envelope({ ...l, cut: false }), ranks = upto(l.N), hits = ranks.filter((i) => relevant(l, i));
  const raw = ranks.map((i) => `${x(i)} ${y(l.hits[i] / i)}`).join("L");
  const filled = hits.map((i) => `M${x(i - 1)} ${y(best[i])}H${x(i)}`).join("");
  const grid = [0, 0.5, 1].flatMap((t) => [make("path", { class: "grid", d: `M50 ${y(t)}H480M${50 + 430 * t} 20V270` }),
    make("text", { x: 44, y: y(t) + 4, "text-anchor": "end" }, `${t}`), make("text", { x: 50 + 430 * t, y: 288, "text-anchor": "middle" }, `${t}`)]);
  return make("svg", { viewBox: "0 0 500 310", class: "chart curve", role: "img", "aria-label": `precision over recall; ${hits.map((i) => `${writeValue(l.hits[i] / i)} at ${writeValue(l.hits[i] / l.R)}`).join(", ")}` },
    ...grid, make("text", { x: 265, y: 306, "text-anchor": "middle" }, "recall"), make("text", { x: 50, y: 12 }, "precision"),
    make("path", { class: "raw", d: `M${raw}` }), make("path", { class: "filled", d: filled || "M0 0" }),
    ...hits.map((i) => make("circle", { cx: x(i), cy: y(l.hits[i] / i), r: 4 })));
}

function show() {
  const list = makeList(state);
  at("items").replaceChildren(...state.items.map(makeRow));
  at("total").value = list.R;
  at("k").value = state.k || "";
  at("cards").replaceChildren(...data.measures.map((/** @type {any} */ one) => makeCard(one, list)));
  at("curve").replaceChildren(drawCurve(list));
  choose(state.chosen, list);
}

/** @type {any} */
let data;

function start() {
  data = JSON.parse(at("data").textContent);
  const [preset, text, total, k] = ["preset", "text", "total", "k"].map(at);
  preset.append(make("option", { value: "" }, "a list of your own"), ...data.presets.map((/** @type {any} */ each, /** @type {number} */ i) => make("option", { value: i }, each.name)));
  const load = (/** @type {any} */ each) => setList(readList(each.list), each.total, each.k);
  preset.addEventListener("change", () => {
    const number = preset.value, each = data.presets[number];
    if (each) change(() => { load(each); return `Loaded ${each.name}.`; });
    preset.value = number;
  });
  at("paste").addEventListener("click", () => change(() => { setList(readList(text.value)); return `Read ${state.items.length} items.`; }));
  total.addEventListener("change", () => change(() => { setList(state.items, Number(total.value)); return "Changed R."; }));
  k.addEventListener("change", () => change(() => { setList(state.items, state.total, Number(k.value)); return "Changed k."; }));
  at("add").addEventListener("click", () => change(() => { setList([...state.items, makeItem(0)], state.total); return "Added an item."; }));
  load(data.presets[0]);
  preset.value = "0";
  const follow = () => location.hash.startsWith("#l=") && change(() => { readAddress(location.hash); return "Read the address."; });
  window.addEventListener("hashchange", follow);
  if (!follow()) show();
  at("explorer").hidden = false;
}
if (typeof document !== "undefined") start();
