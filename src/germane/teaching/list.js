// The tab of the list: items to rearrange, and a card for each measure.
/** @type {State & {gain: number, chosen: string}} */
let state = { items: [], total: 0, k: 0, gain: 0, chosen: "AP(norm=R)@k" };  // gain: a place in GAINS' pairs
const MOST = 30;

/** Read a pasted list: grades, JSON, or lines of a run, which have a word that is not a number. @param {string} pasted @returns {Item[]} */
function readList(pasted) {
  const text = pasted.trim(), words = text.split(/[\s,]+/).filter(Boolean);
  const lines = text.split("\n").map((line) => line.trim().split(/\s+/));
  if (/^[[{]/.test(text)) return readJson(text);
  if (lines.every((line) => line.length === 6) && words.some((word) => !/^(u|[-\d.?]+)t?$/.test(word))) return readRun(lines);
  return words.map((word) => readWord(word));
}

/** A grade, with t after it if the item has the score of the one above. @param {string} word @param {string} [id] */
const readWord = (word, id) => makeItem(word.replace(/t$/, ""), id, word.endsWith("t"));

/** Lines of a run, by score; their items are unjudged. @param {string[][]} lines */
function readRun(lines) {
  const rows = lines.map((line) => ({ query: line[0], id: line[2], score: Number(line[4]) }));
  const other = rows.find((row) => row.query !== rows[0].query);
  if (other) throw new Error(`Paste the lines of one query; got ${clip(rows[0].query)} and ${clip(other.query)}`);
  if (rows.some((row) => !Number.isFinite(row.score))) throw new Error("The fifth field of a run's line is its score");
  rows.sort((a, b) => b.score - a.score);
  return rows.map((row, i) => makeItem(null, row.id, i > 0 && rows[i - 1].score === row.score));
}

/** JSON: a list of grades or of items, or grades by id. Keys get a number: those that are one would move to the front. @param {string} text */
function readJson(text) {
  let n = 0;
  const named = text.replace(/("(?:[^"\\]|\\.)*")(\s*:)?/g, (all, word, colon) => (colon ? `"${n++}=${word.slice(1)}:` : all));
  const given = parseJson(text);
  if (!Array.isArray(given)) return Object.entries(parseJson(named)).map(([key, grade]) => makeItem(grade, key.replace(/^\d+=/, "")));
  return given.map((each) => {
    if (!each || typeof each !== "object") return makeItem(each);
    if (!("grade" in each)) throw new Error(`An item has a grade, which may be null; got ${clip(JSON.stringify(each))}`);
    return makeItem(each.grade, each.id, each.tie);
  });
}

/** @param {string} text @returns {any} */
function parseJson(text) {
  try { return JSON.parse(text); } catch (error) { throw new Error(`This is not JSON: ${/** @type {Error} */ (error).message}`); }
}

/** @param {any} given */
const clip = (given) => String(given).slice(0, 40);

/** @param {any} grade @param {any} [id] @param {any} [tie] @returns {Item} */
function makeItem(grade, id = "", tie = false) {
  const none = grade === null || grade === undefined || grade === "u" || grade === "?";
  const number = none ? null : typeof grade === "object" || !`${grade}`.trim() ? NaN : Number(grade);
  if (number !== null && !(Number.isInteger(number) && number >= 0 && number <= TOP)) {
    throw new Error(`A grade is a whole number from 0 to ${TOP}, or u for unjudged; got ${clip(grade)}`);
  }
  if (typeof tie !== "boolean") throw new Error(`A tie is true or false; got ${clip(tie)}`);
  return { grade: number, tie, id: String(id ?? "").slice(0, 200) };
}

/** The state as the address's fragment: grades, u for unjudged, t for a tie with the item above. */
function writeAddress() {
  const list = state.items.map((item) => `${item.grade ?? "u"}${item.tie ? "t" : ""}`).join(".");
  const ids = state.items.some((item) => item.id) ? `&ids=${state.items.map((item) => encodeURIComponent(item.id)).join(",")}` : "";
  return `#l=${list}&R=${makeList(state).R}&k=${state.k}${state.gain ? "&gain=exp" : ""}${ids}`;
}

/** @param {Record<string, string>} found */
function readAddress(found) {
  const ids = (found.ids ?? "").split(",").map(decodeURIComponent);
  setList(found.l.split(".").filter(Boolean).map((word, i) => readWord(word, ids[i])), Number(found.R ?? 0), Number(found.k ?? 0));
  setGain(found.gain === "exp" ? 1 : 0);
  return found.R ? sayTotal("Read the address.") : "Read the address.";
}

/** Say that R is not as asked, if the list has more relevant items. @param {string} said */
function sayTotal(said) {
  const { R } = makeList(state);
  return R === state.total ? said : `R counts the ${R} relevant items of the list.`;
}

/** @param {Item[]} items @param {number} [total] @param {number} [k] */
function setList(items, total = 0, k = state.k) {
  if (!items.length || items.length > MOST) throw new Error(`A list has 1 to ${MOST} items; got ${items.length}`);
  const ids = items.map((item) => item.id).filter(Boolean), twice = ids.find((id, i) => ids.indexOf(id) < i);
  if (twice) throw new Error(`${clip(twice)} is in the list twice`);
  for (const [name, n] of Object.entries({ R: total, k })) {
    if (!(Number.isInteger(n) && n >= 0 && n <= 1000)) throw new Error(`${name} is a whole number from 0 to 1000`);
  }
  items[0].tie = false;
  state = { ...state, items, total, k };
}

/** @param {number} gain */
function setGain(gain) {
  const pair = GAINS.find((pair) => pair.includes(state.chosen));
  state = { ...state, gain, chosen: pair ? pair[gain] : state.chosen };
}

/** The measures whose gain is the one chosen, and those without a gain. */
const listShown = () => data.measures.filter((one) => !GAINS.some((pair) => pair[1 - state.gain] === one.name));

/** Say what the list's measure is. */
function sayList() {
  const list = makeList(state), none = list.R ? "" : " Nothing is relevant, which counts as 0.";
  return `${none} ${writeName(state.chosen, state.k)} is ${writeValue(compute(state.chosen, list))}.`;
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

/** @param {number} i @param {number|null} grade @param {boolean} tie @param {string} said */
function edit(i, grade, tie, said) {
  state = { ...state, items: state.items.map((item, j) => (j === i ? { ...item, grade, tie } : item)) };
  return said;
}

/** @param {number} i */
function remove(i) {
  const others = (/** @type {any} */ _, /** @type {number} */ j) => j !== i;
  setList(tieGroups(state.items.filter(others), numberGroups(state.items).filter(others)), state.total);
  return `Removed rank ${i + 1}.`;
}

/** Move by a button or a key, and keep the focus on it. @param {number} i @param {number} step @param {string} name */
const step = (i, step, name) => change(() => move(i, i + step), [name, Math.max(0, Math.min(i + step, state.items.length - 1))]);

/** @param {Item} item @param {number} i */
function makeRow(item, i) {
  const rank = `rank ${i + 1}`, words = ["u", ..."01234"], own = `${item.grade ?? "u"}`;
  const grade = make("select", { "data-name": "grade", "data-at": i, "aria-label": `grade at ${rank}`,
    onchange: (/** @type {any} */ e) => change(() => edit(i, readWord(e.target.value, item.id).grade, item.tie, `Graded ${rank}.`)) },
  ...words.map((word) => make("option", { value: word, selected: word === own }, word === "u" ? "?" : word)));
  const tie = make("input", { type: "checkbox", "data-name": "tie", "data-at": i, checked: item.tie, disabled: i === 0,
    "aria-label": `${rank} has the score of the item above`,
    onchange: (/** @type {any} */ e) => change(() => edit(i, item.grade, e.target.checked, `Changed the tie at ${rank}.`)) });
  return make("li", { class: [(item.grade ?? -1) >= LEVEL && "hit", item.tie && "tied"].filter(Boolean).join(" "),
    onkeydown: (/** @type {any} */ e) => moveByKey(e, i) },
  make("span", { class: "grip", "aria-hidden": "true", onpointerdown: (/** @type {any} */ e) => drag(e, i) }, "⠿"),
  make("span", { class: "rank" }, `${i + 1}`), make("label", {}, grade), make("label", {}, tie, "tied"),
  make("bdi", { class: "id" }, item.id), make("span", { class: "term" }),
  makeButton("up", i, "↑", `move ${rank} up`, () => step(i, -1, "up")),
  makeButton("down", i, "↓", `move ${rank} down`, () => step(i, 1, "down")),
  makeButton("remove", i, "×", `remove ${rank}`, () => change(() => remove(i))));
}

/** @param {KeyboardEvent} event @param {number} i */
function moveByKey(event, i) {
  const by = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : undefined;
  if (!by) return;
  event.preventDefault();
  const { name } = /** @type {any} */ (event.target).dataset;
  step(i, by, name === "tie" ? "grade" : name);  // the first item has no tie
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
  grip.addEventListener("pointercancel", showList, { once: true });
}

/** @param {number[]} terms */
function drawBars(terms) {
  const most = Math.max(...terms, 1e-9), width = 300 / Math.max(terms.length, 1);
  const bars = terms.flatMap((term, i) => [
    make("rect", { class: "base", x: i * width, y: 39, width: width - 1, height: 1 }),
    make("rect", { x: i * width, y: 39 - (36 * term) / most, width: width - 1, height: (36 * term) / most }, make("title", {}, `rank ${i + 1}: ${shorten(term)}`)),
  ]);
  return make("svg", { viewBox: "0 0 300 40", preserveAspectRatio: "none", role: "img", "aria-label": `terms: ${terms.map(shorten).join(", ")}` }, ...bars);
}

/** @param {string} title @param {number} value @param {Record<string, any>} more @param {...any} children */
const makeCard = (title, value, more, ...children) =>
  make("div", { class: "card", tabindex: "0", role: "group", "aria-label": `${title}: ${writeValue(value)}`, ...more },
    make("h3", {}, make("span", {}, title), make("span", {}, writeValue(value))), ...children);

/** The tools that report a measure, by their names of it. @param {Names} names */
function listTools(names) {
  const count = Object.values(names).flat().length;
  const written = Object.entries(names).map(([name, places]) => `${name}: ${places.map((i) => data.tools[i]).join(", ")}`).join("; ");
  return count ? [make("details", {}, make("summary", {}, `reported by ${count} ${count > 1 ? "tools" : "tool"}`), written)] : [];
}

/** @param {Described} one @param {List} list */
function makeListCard(one, list) {
  const [value, best, worst] = range(one.name, state), tied = writeValue(best) !== writeValue(worst);
  const terms = listTerms(one.name, list), look = () => choose(one.name, list);
  const other = GAINS.find((pair) => pair[state.gain] === one.name)?.[1 - state.gain];
  return makeCard(writeName(one.name, state.k), value, { "data-measure": one.name, onfocus: look, onmouseenter: look },
    drawBars(upto(list.N).map((i) => terms[i - 1] ?? 0)), make("p", { class: "formula" }, writeFormula(one.name, list)),
    make("p", {}, one.words), make("p", {}, one.formula),
    ...(other ? [make("p", {}, `The other gain: ${writeName(other, state.k)} is ${writeValue(compute(other, list))}`)] : []),
    ...(tied ? [make("p", {}, `Ties: worst ${writeValue(worst)}, best ${writeValue(best)}`)] : []),
    ...listTools(state.k ? one.tools : one.whole ?? one.tools));
}

/** Show the terms of a measure in the list. @param {string} name @param {List} list */
function choose(name, list) {
  state = { ...state, chosen: name };
  at("looked").textContent = `Terms at the right of the list: ${writeName(name, state.k)}`;
  const terms = listTerms(name, list);
  [...at("items").querySelectorAll(".term")].forEach((cell, i) => { cell.textContent = terms[i] ? writeValue(terms[i]) : ""; });
  for (const card of at("cards").children) card.classList.toggle("chosen", card.dataset.measure === name);
}

/** @param {List} l */
function drawCurve(l) {
  const reached = upto(l.N).filter((i) => relevant(l, i)).map((i) => `${writeValue(l.hits[i] / i)} at ${writeValue(l.hits[i] / l.R)}`);
  const x = (/** @type {number} */ i) => 50 + 430 * (l.R ? l.hits[i] / l.R : 0), y = (/** @type {number} */ p) => 20 + 250 * (1 - p);
  const best = envelope({ ...l, cut: false }), ranks = upto(l.N), hits = ranks.filter((i) => relevant(l, i));
  const raw = ranks.map((i) => `${x(i)} ${y(l.hits[i] / i)}`).join("L");
  const filled = hits.map((i) => `M${x(i - 1)} ${y(best[i])}H${x(i)}`).join("");
  const grid = [0, 0.5, 1].flatMap((t) => [make("path", { class: "grid", d: `M50 ${y(t)}H480M${50 + 430 * t} 20V270` }),
    make("text", { x: 44, y: y(t) + 4, "text-anchor": "end" }, `${t}`), make("text", { x: 50 + 430 * t, y: 288, "text-anchor": "middle" }, `${t}`)]);
  return make("svg", { viewBox: "0 0 500 310", class: "chart curve", role: "img", "aria-label": `precision over recall; ${reached.join(", ")}` },
    ...grid, make("text", { x: 265, y: 306, "text-anchor": "middle" }, "recall"), make("text", { x: 50, y: 12 }, "precision"),
    make("path", { class: "raw", d: raw ? `M${raw}` : "M0 0" }), make("path", { class: "filled", d: filled || "M0 0" }),
    ...hits.map((i) => make("circle", { cx: x(i), cy: y(l.hits[i] / i), r: 4 })));
}

function showList() {
  const list = makeList(state);
  at("items").replaceChildren(...state.items.map(makeRow));
  at("total").value = list.R;
  at("k").value = state.k || "";
  at("gain").value = state.gain;
  at("cards").replaceChildren(...listShown().map((one) => makeListCard(one, list)));
  at("curve").replaceChildren(drawCurve(list));
  choose(state.chosen, list);
}

function startList() {
  const [text, total, k, gain] = ["text", "total", "k", "gain"].map(at);
  offer("preset", data.presets, (each) => { setList(readList(each.list), each.total, each.k); setGain(each.gain ?? 0); });
  at("paste").addEventListener("click", () => change(() => { setList(readList(text.value)); return `Items read: ${state.items.length}.`; }));
  total.addEventListener("change", () => change(() => {
    setList(state.items, Number(total.value));
    return sayTotal("Changed R.");
  }));
  k.addEventListener("change", () => change(() => { setList(state.items, state.total, Number(k.value)); return "Changed k."; }));
  gain.addEventListener("change", () => change(() => { setGain(Number(gain.value)); return "Changed the gain."; }));
  at("add").addEventListener("click", () => change(() => { setList([...state.items, makeItem(0)], state.total); return "Added an item."; }));
}
