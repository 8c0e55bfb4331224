// The tab of the list: items to rearrange, and a card for each measure.
/** @type {State & {gain: number, chosen: string, pinned: boolean}} */
let state = { items: [], total: 0, k: 0, gain: 0, chosen: "AP@k", pinned: false };  // gain: a place in GAINS' pairs
const MOST = 30, CELLS = 40;  // a track of more units has no cells
const FIRST = ["AP@k", "nDCG@k", "nDCG(gain=exp)@k", "RR@k"];  // one of the two nDCGs is shown
/** The divisors of AP in words, with a cutoff and without. @type {Record<string, string[]>} */
const NORMS = {
  "AP(norm=R)@k": ["R", "R"], "AP@k": ["min(R,k)", "R"], "AP(norm=possible)@k": ["min(R,k,N)", "min(R,N)"],
  "AP(norm=found)@k": ["found", "found"], "AP(norm=k)@k": ["k", "N"],
};

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

/** @param {Item} item */
const isHit = (item) => (item.grade ?? -1) >= LEVEL;

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
  return `#l=${list}&R=${makeList(state).R}&k=${state.k}${state.gain ? "&gain=exp" : ""}${state.pinned ? "&pin" : ""}${ids}`;
}

/** @param {Record<string, string>} found */
function readAddress(found) {
  const ids = (found.ids ?? "").split(",").map(decodeURIComponent);
  setList(found.l.split(".").filter(Boolean).map((word, i) => readWord(word, ids[i])), Number(found.R ?? 0), Number(found.k ?? 0), "pin" in found);
  setGain(found.gain === "exp" ? 1 : 0);
  return found.R ? sayTotal("Read the address.") : "Read the address.";
}

/** Say that R is not as asked, if the list has more relevant items. @param {string} said */
function sayTotal(said) {
  const { R } = makeList(state);
  return R === state.total ? said : `R counts the ${R} relevant items of the list.`;
}

/** @param {Item[]} items @param {number} [total] @param {number} [k] @param {boolean} [pinned] */
function setList(items, total = 0, k = state.k, pinned = state.pinned) {
  if (!items.length || items.length > MOST) throw new Error(`A list has 1 to ${MOST} items; got ${items.length}`);
  const ids = items.map((item) => item.id).filter(Boolean), twice = ids.find((id, i) => ids.indexOf(id) < i);
  if (twice) throw new Error(`${clip(twice)} is in the list twice`);
  for (const [name, n] of Object.entries({ R: total, k })) {
    if (!(Number.isInteger(n) && n >= 0 && n <= 1000)) throw new Error(`${name} is a whole number from 0 to 1000`);
  }
  const hits = items.filter(isHit).length;
  if (pinned && hits > total) throw new Error(`R is pinned at ${total}, and the list would have ${hits} relevant items. Unpin R, or make another item not relevant`);
  items[0].tie = false;
  state = { ...state, items, total, k, pinned };
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

/** Change an item, and say so if that changes R. @param {number} i @param {number|null} grade @param {boolean} tie @param {string} said */
function edit(i, grade, tie, said) {
  const before = makeList(state).R;
  setList(state.items.map((item, j) => (j === i ? { ...item, grade, tie } : item)), state.total);
  const { R } = makeList(state);
  if (R > before) return `${said} R rose from ${before} to ${R}, because the list has ${R} relevant items now.`;
  return R < before ? `${said} R fell from ${before} to ${R}.` : said;
}

/** Make an item relevant, or not relevant if it was. @param {number} i */
function toggle(i) {
  const item = state.items[i], hit = isHit(item);
  return edit(i, hit ? 0 : LEVEL, item.tie, `Rank ${i + 1} is ${hit ? "not relevant" : "relevant"}.`);
}

/** @param {boolean} pinned */
function pin(pinned) {
  const { R } = makeList(state);
  setList(state.items, R, state.k, pinned);
  return pinned ? `R is pinned at ${R}.` : "R is no longer pinned.";
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
  const is = item.grade === null ? "unjudged" : isHit(item) ? "relevant" : "not relevant", high = (item.grade ?? 0) > LEVEL;
  return make("li", { class: [isHit(item) && "hit", item.tie && "tied"].filter(Boolean).join(" "),
    onkeydown: (/** @type {any} */ e) => moveByKey(e, i) },
  make("span", { class: "grip", "aria-hidden": "true", onpointerdown: (/** @type {any} */ e) => drag(e, i) }, "⠿"),
  make("span", { class: "rank" }, `${i + 1}`),
  make("button", { type: "button", class: "dot", "data-name": "dot", "data-at": i, "aria-pressed": `${isHit(item)}`,
    "aria-label": `${rank}: ${is}${high ? `, grade ${own}` : ""}${item.tie ? ", tied" : ""}`, onclick: () => change(() => toggle(i)) },
  item.grade === null ? "?" : high ? own : ""),
  make("bdi", { class: "id" }, item.id), make("span", { class: "note" }, item.tie ? "tied" : ""),
  make("label", { class: "edit" }, grade), make("label", { class: "edit" }, tie, "tied"),
  make("span", { class: "precision" }), make("span", { class: "term" }),
  make("span", { class: "edit" }, makeButton("up", i, "↑", `move ${rank} up`, () => step(i, -1, "up")),
    makeButton("down", i, "↓", `move ${rank} down`, () => step(i, 1, "down")),
    makeButton("remove", i, "×", `remove ${rank}`, () => change(() => remove(i)))));
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

/**
 * The terms of a measure, end to end on a track as long as its divisor: the filled part is the value.
 * @param {string} name @param {List} l @param {number} [longest]  the divisor that has the whole width
 */
function drawTrack(name, l, longest = 0) {
  const terms = listTerms(name, l), norm = findNorm(name, l), most = Math.max(longest, norm, sum(terms)) || 1;
  const wide = (/** @type {number} */ n) => `${(100 * n) / most}%`, cells = Number.isInteger(norm) && norm <= CELLS ? upto(norm).slice(0, -1) : [];
  let x = 0;
  const blocks = terms.flatMap((term, i) => {
    if (term <= 0) return [];
    x += term;
    return [make("rect", { class: "block", x: wide(x - term), width: wide(term), y: 3, height: 14 }, make("title", {}, `rank ${i + 1}: ${shorten(term)}`))];
  });
  const words = `terms ${terms.filter((term) => term > 0).map(shorten).join(" + ") || "0"}, on a track of ${shorten(norm)}`;
  return make("svg", { class: "track", role: "img", "aria-label": words }, make("rect", { class: "base", width: wide(norm), height: 20, rx: 3 }),
    ...cells.map((n) => make("rect", { class: "cell", x: wide(n), width: 1, height: 20 })), ...blocks);
}

/** AP by five divisors, each as long as it is. @param {List} l */
function showNorms(l) {
  const names = Object.keys(NORMS), longest = Math.max(...names.map((name) => findNorm(name, l)));
  const total = sum(listTerms("AP@k", l)), parts = writeParts("AP@k", l);
  at("sum").textContent = `${parts.join(" + ") || "0"}${parts.length > 1 ? ` = ${shorten(total)}` : ""}`;
  at("norms").replaceChildren(...names.map((name) => make("li", {}, make("span", {}, writeName(name, l.k)),
    make("span", { class: "small" }, `÷ ${NORMS[name][l.cut ? 0 : 1]} = ${findNorm(name, l)}`), make("strong", {}, writeValue(compute(name, l))), drawTrack(name, l, longest))));
}

/** @param {string} title @param {number} value @param {Record<string, any>} more @param {...any} children */
const makeCard = (title, value, more, ...children) =>
  make("div", { class: "card", tabindex: "0", role: "group", "aria-label": `${title}: ${writeValue(value)}`, ...more },
    make("h3", {}, make("span", {}, title), make("span", {}, writeValue(value))), ...children);

/** The definition of a measure, the other gain, and the tools that report it by their names. @param {Described} one @param {List} list */
function makeDetails(one, list) {
  const names = state.k ? one.tools : one.whole ?? one.tools, count = Object.values(names).flat().length;
  const written = Object.entries(names).map(([name, places]) => `${name}: ${places.map((i) => data.tools[i]).join(", ")}`).join("; ");
  const other = GAINS.find((pair) => pair[state.gain] === one.name)?.[1 - state.gain];
  return make("details", {}, make("summary", {}, `definition${count ? `, ${count} tool${count > 1 ? "s" : ""}` : ""}`), make("p", {}, one.formula),
    ...(other ? [make("p", {}, `The other gain: ${writeName(other, state.k)} is ${writeValue(compute(other, list))}`)] : []), written);
}

/** @param {Described} one @param {List} list */
function makeListCard(one, list) {
  const [value, best, worst] = range(one.name, state), tied = writeValue(best) !== writeValue(worst);
  const look = () => choose(one.name, list);
  return makeCard(writeName(one.name, state.k), value, { "data-measure": one.name, onfocus: look, onmouseenter: look },
    drawTrack(one.name, list), make("p", { class: "formula" }, writeFormula(one.name, list)),
    make("p", {}, one.words), ...(tied ? [make("p", {}, `Ties: worst ${writeValue(worst)}, best ${writeValue(best)}`)] : []),
    makeDetails(one, list));
}

/** @returns {any[]} */
const listCards = () => [...at("cards").children, ...at("more").children];

/** Show the terms of a measure in the list. @param {string} name @param {List} list */
function choose(name, list) {
  state = { ...state, chosen: name };
  const terms = listTerms(name, list);
  [...at("items").querySelectorAll(".term")].forEach((cell, i) => { cell.textContent = terms[i] ? writeValue(terms[i]) : ""; });
  for (const card of listCards()) card.classList.toggle("chosen", card.dataset.measure === name);
}

/** @param {List} l */
function drawCurve(l) {
  const reached = upto(l.N).filter((i) => relevant(l, i)).map((i) => `${writeValue(l.hits[i] / i)} at ${writeValue(l.hits[i] / l.R)}`);
  const x = (/** @type {number} */ i) => 34 + 316 * (l.R ? l.hits[i] / l.R : 0), y = (/** @type {number} */ p) => 24 + 186 * (1 - p);
  const best = envelope({ ...l, cut: false }), ranks = upto(l.N), hits = ranks.filter((i) => relevant(l, i));
  const raw = ranks.map((i) => `${x(i)} ${y(l.hits[i] / i)}`).join("L");
  const filled = hits.map((i) => `M${x(i - 1)} ${y(best[i])}H${x(i)}`).join("");
  const grid = [0, 0.5, 1].flatMap((t) => [make("path", { class: "grid", d: `M34 ${y(t)}H350M${34 + 316 * t} 24V210` }),
    make("text", { x: 28, y: y(t) + 4, "text-anchor": "end" }, `${t}`), make("text", { x: 34 + 316 * t, y: 227, "text-anchor": "middle" }, `${t}`)]);
  return make("svg", { viewBox: "0 0 360 246", class: "chart curve", role: "img", "aria-label": `precision over recall; ${reached.join(", ")}` },
    ...grid, make("text", { x: 192, y: 242, "text-anchor": "middle" }, "recall"), make("text", { x: 34, y: 14 }, "precision"),
    make("path", { class: "raw", d: raw ? `M${raw}` : "M0 0" }), make("path", { class: "filled", d: filled || "M0 0" }),
    ...hits.map((i) => make("circle", { cx: x(i), cy: y(l.hits[i] / i), r: 4.5 })));
}

/** Say which relevant items the list does not have, or why R is more than was set. @param {List} l */
function sayMissed({ R, hits, N }) {
  if (state.total && R > state.total) return `R is ${R} and not ${state.total}, because the list has ${R} relevant items.`;
  const missed = R - hits[N];
  return missed ? `${missed} of the ${R} relevant items ${missed > 1 ? "are" : "is"} not in the list.` : R ? "All relevant items are in the list." : "";
}

function showList() {
  const list = makeList(state);
  at("items").replaceChildren(...state.items.map(makeRow));
  [...at("items").querySelectorAll(".precision")].forEach((cell, i) => { cell.textContent = `${list.hits[i + 1]}/${i + 1}`; });
  at("missed").textContent = sayMissed(list);
  at("total").value = list.R;
  at("k").value = state.k || "";
  at("gain").value = state.gain;
  at("pin").checked = state.pinned;
  at("curve").replaceChildren(drawCurve(list));
  showNorms(list);
  for (const [id, first] of /** @type {[string, boolean][]} */ ([["cards", true], ["more", false]])) {
    at(id).replaceChildren(...listShown().filter((one) => FIRST.includes(one.name) === first).map((one) => makeListCard(one, list)));
  }
  at("count").textContent = `${at("more").children.length} more measures`;
  choose(state.chosen, list);
}

function startList() {
  const [text, total, k, gain] = ["text", "total", "k", "gain"].map(at);
  offer("preset", data.presets, (each) => { setList(readList(each.list), each.total, each.k, false); setGain(each.gain ?? 0); });
  at("paste").addEventListener("click", () => change(() => { setList(readList(text.value), 0, state.k, false); return `Items read: ${state.items.length}.`; }));
  total.addEventListener("change", () => change(() => {
    setList(state.items, Number(total.value));
    return sayTotal("Changed R.");
  }));
  k.addEventListener("change", () => change(() => { setList(state.items, state.total, Number(k.value)); return "Changed k."; }));
  gain.addEventListener("change", () => change(() => { setGain(Number(gain.value)); return "Changed the gain."; }));
  at("pin").addEventListener("change", () => change(() => pin(at("pin").checked)));
  at("edit").addEventListener("click", () => {
    const editing = at("items").classList.toggle("editing");
    at("edit").setAttribute("aria-pressed", `${editing}`);
    at("grading").hidden = !editing;
  });
  at("add").addEventListener("click", () => change(() => { setList([...state.items, makeItem(0)], state.total); return "Added an item."; }));
}
