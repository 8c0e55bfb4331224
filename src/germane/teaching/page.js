// The page: two tabs, the live region, and the address. It writes texts as text, never as markup.
/**
 * @typedef {Record<string, number[]>} Names  names of a measure, and the places of the tools that have them
 * @typedef {{name: string, words: string, formula: string, tools: Names, whole?: Names}} Described
 * @typedef {{name: string, list: string, total: number, k: number, gain?: number}} Preset
 * @typedef {{tool: string, words: string[], names: Record<string, string>, more?: Partial<Rules>}} Tool  names: by points of the curve
 * @typedef {{name: string, address: string}} Example
 */
/** @type {{measures: Described[], presets: Preset[], scenes: Example[], points: Record<string, string>, tools: string[], detection: Tool[]}} */
let data;
let tab = "list";
/** @typedef {{tab: string, state: typeof state, scene: Scene, address: string}} Moment  the page between two changes */
/** @type {Moment[]} */
const past = [];  // what undo goes back to, the newest last
/** @type {Moment | undefined} */
let present;
const SVG = "http://www.w3.org/2000/svg", SHAPES = /^(svg|rect|path|circle|text|title)$/;

/** @param {string} id @returns {any} */
const at = (id) => document.getElementById(id);

/** @param {string} name @param {Record<string, any>} [attributes] @param {...any} children @returns {any} */
function make(name, attributes = {}, ...children) {
  const element = SHAPES.test(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** @param {string} name @param {number} i @param {string} sign @param {string} label @param {() => void} act */
const makeButton = (name, i, sign, label, act) =>
  make("button", { type: "button", "data-name": name, "data-at": i, "aria-label": label, onclick: act }, sign);

/** The name and place of the control that has the focus, if it is one that is made anew. @returns {[string, number]} */
function findFocus() {
  const { name = "", at = 0 } = /** @type {any} */ (document.activeElement)?.dataset ?? {};
  return [name, Number(at)];
}

/** Do what may fail, say it in the live region, and show the tab. @param {() => string} act @param {[string, number]} [focus] */
function change(act, focus = findFocus()) {
  let said = "";
  at(tab === "list" ? "preset" : "scene").value = "";
  try { said = act(); } catch (error) { said = `${/** @type {Error} */ (error).message}.`; }
  remember();
  show();
  const [name, place] = focus;
  const find = (/** @type {number} */ i) => document.querySelector(`[data-name="${name}"][data-at="${i}"]`);
  if (name) /** @type {any} */ (find(place) ?? find(place - 1))?.focus();
  at("says").textContent = `${said}${tab === "list" ? sayList() : sayScene()}`;
  history.replaceState(null, "", tab === "list" ? writeAddress() : writeScene());
}

/** Keep what undo goes back to, if a list or boxes changed. */
function remember() {
  const address = writeAddress() + writeScene();
  if (present && present.address !== address) past.push(present);
  present = { tab, state, scene, address };
}

/** Go back by one change, on the tab on which it was made. */
function undo() {
  const moment = past.pop();
  if (!moment) return "There is nothing to undo.";
  present = moment;
  ({ tab, state, scene } = moment);
  return "Undone.";
}

/** Undo by key, except where a field undoes what was typed. @param {KeyboardEvent} event */
function undoByKey(event) {
  const typing = /** @type {Element} */ (event.target).matches("textarea, [type=number]");
  if (typing || event.shiftKey || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
  event.preventDefault();
  change(undo);
}

/** Offer examples in a select; choosing one loads it. @template T @param {string} id @param {(T & {name: string})[]} examples @param {(one: T) => void} load */
function offer(id, examples, load) {
  const select = at(id);
  select.append(make("option", { value: "" }, "your own"), ...examples.map((each, i) => make("option", { value: i }, each.name)));
  select.addEventListener("change", () => {
    const number = select.value, each = examples[number];
    if (each) change(() => { load(each); return `Loaded ${each.name}.`; });
    select.value = number;
  });
  load(examples[0]);
  select.value = "0";
}

function show() {
  for (const name of ["list", "boxes"]) {
    at(name).hidden = name !== tab;
    at(`${name}-tab`).setAttribute("aria-selected", `${name === tab}`);
    at(`${name}-tab`).tabIndex = name === tab ? 0 : -1;
  }
  if (tab === "list") showList();
  else showScene();
}

/** @param {string} name */
function openTab(name) {
  tab = name;
  const select = at(tab === "list" ? "preset" : "scene"), chosen = select.value;
  change(() => "");
  select.value = chosen;
}

/** @param {string} address @returns {Record<string, string>} */
const splitAddress = (address) =>
  Object.fromEntries(address.replace("#", "").split("&").map((part) => [...part.split(/=(.*)/s), ""]));

/** Read the address: #l= is a list, #t= are the boxes of an image. */
function readHash() {
  const found = splitAddress(location.hash);
  const name = "l" in found ? "list" : "t" in found ? "boxes" : "";
  if (!name) return openTab(tab);
  tab = name;
  change(() => (name === "list" ? readAddress(found) : readScene(found)));
}

/** @param {string} selector @param {boolean} open */
const openDetails = (selector, open) => document.querySelectorAll(selector).forEach((each) => { /** @type {any} */ (each).open = open; });

function start() {
  data = JSON.parse(at("data").textContent);
  startList();
  startScene();
  for (const [name, other] of [["list", "boxes"], ["boxes", "list"]]) {
    at(`${name}-tab`).addEventListener("click", () => openTab(name));
    at(`${name}-tab`).addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
      if (/^Arrow(Left|Right)$/.test(e.key)) { openTab(other); at(`${other}-tab`).focus(); }
    });
  }
  at("undo").addEventListener("click", () => change(undo));
  document.addEventListener("keydown", undoByKey);
  openDetails("details.tables", innerWidth >= 1000);
  window.addEventListener("hashchange", readHash);
  window.addEventListener("beforeprint", () => openDetails("details:not(.own)", true));
  readHash();
  at("explorer").hidden = false;
}
if (typeof document !== "undefined") start();
