// The tab of boxes: an image whose boxes are moved and resized, the outcome of each detection, and AP by every rule.
/** @type {Scene} */
let scene = { truths: [], found: [], iou: 0.5, rules: { overlap: "iou", candidate: "fallback", reach: "at_least", equal_overlaps: "last" } };
const WIDTH = 640, HEIGHT = 480, MARGIN = 6, MOST_BOXES = 15, SIDES = ["x", "y", "width", "height", "score"], STEP = 5;
const RULES = /** @type {const} */ (["overlap", "candidate", "reach", "equal_overlaps"]);
const CARDS = ["101", "11", "all", "lines"];

/** Is it a number of at most 4 digits after the point, from low to 1? @param {number} n @param {number} low */
const isShare = (n, low) => n >= low && n <= 1 && Number(n.toFixed(4)) === n;

/** Take a scene if it is one that germane would take. @param {Scene} given */
function setScene(given) {
  for (const [box, name] of [...given.truths.map((box) => [box, "A truth"]), ...given.found.map((one) => [one.box, "A detection"])]) {
    const [x, y, w, h] = /** @type {Box} */ (box);
    if (box.length !== 4 || ![x, y, w, h].every(Number.isInteger) || x < 0 || y < 0 || w < 1 || h < 1 || x + w > WIDTH || y + h > HEIGHT) {
      throw new Error(`${name} has x, y, width and height in whole pixels, within ${WIDTH} × ${HEIGHT}; got ${clip(box)}`);
    }
  }
  const odd = given.found.find((one) => !isShare(one.score, 0));
  if (odd) throw new Error(`A score is a number from 0 to 1 of at most 4 digits; got ${clip(odd.score)}`);
  if (!isShare(given.iou, 0.0001)) {
    throw new Error(`The threshold is a number above 0 and at most 1, of at most 4 digits; got ${clip(given.iou)}`);
  }
  const { length } = given.truths;
  if (!length || length > MOST_BOXES || given.found.length > MOST_BOXES) {
    throw new Error(`There are 1 to ${MOST_BOXES} truths and at most ${MOST_BOXES} detections`);
  }
  for (const name of RULES) {
    const word = given.rules[name], words = [...at(name).options].map((option) => option.value);
    if (!words.includes(word)) throw new Error(`${name} is ${words.join(" or ")}; got ${clip(word)}`);
  }
  scene = given;
}

/** The scene as the address's fragment. */
function writeScene() {
  const truths = scene.truths.join(";"), found = scene.found.map((one) => [...one.box, one.score]).join(";");
  return `#t=${truths}&d=${found}&iou=${scene.iou}${writeRules(scene.rules)}`;
}

/** @param {Record<string, string>} found */
function readScene(found) {
  const read = (/** @type {string} */ box) => box.split(",").map((word) => (word ? Number(word) : NaN));
  const list = (/** @type {string} */ text) => text.split(";").filter(Boolean).map(read);
  const rules = { ...scene.rules };
  for (const name of RULES) if (name in found) rules[name] = decodeURIComponent(found[name]);
  setScene({ truths: /** @type {Box[]} */ (list(found.t)), iou: Number(found.iou ?? 0.5), rules,
    found: list(found.d ?? "").map((each) => ({ box: /** @type {Box} */ (each.slice(0, -1)), score: each[each.length - 1] })) });
  return "Read the address.";
}

/** Say how many truths are found. */
function sayScene() {
  const list = listOutcomes(sortFound(scene)[0]), value = writeValue(compute("AP(points=101)", list));
  return ` ${list.hits[list.N]} of ${list.R} truths found. ${writeBoxName(scene.iou, "101")} is ${value}.`;
}

/** The numbers of a box: its sides, and of a detection its score. @param {string} kind @param {number} i */
const getNumbers = (kind, i) => (kind === "truth" ? [...scene.truths[i]] : [...scene.found[i].box, scene.found[i].score]);

/** @param {string} kind @param {number} i @param {number[]} numbers */
function setNumbers(kind, i, numbers) {
  const box = /** @type {Box} */ (numbers.slice(0, 4));
  if (kind === "truth") setScene({ ...scene, truths: scene.truths.with(i, box) });
  else setScene({ ...scene, found: scene.found.with(i, { box, score: numbers[4] }) });
  return `Changed ${kind} ${i + 1}.`;
}

/** @param {number} n @param {number} low @param {number} high */
const hold = (n, low, high) => Math.max(low, Math.min(high, n));

/**
 * Move a box, or its corner, as far as the image allows.
 * @param {string} kind @param {number} i @param {number[]} from @param {number[]} by @param {boolean} corner
 */
function shift(kind, i, [x, y, w, h, ...score], [dx, dy], corner) {
  const sides = corner
    ? [x, y, hold(w + dx, 1, WIDTH - x), hold(h + dy, 1, HEIGHT - y)]
    : [hold(x + dx, 0, WIDTH - w), hold(y + dy, 0, HEIGHT - h), w, h];
  return setNumbers(kind, i, [...sides, ...score]);
}

/** @param {string} kind */
function addBox(kind) {
  const box = /** @type {Box} */ ([WIDTH / 2 - 50, HEIGHT / 2 - 50, 100, 100]);
  setScene(kind === "truth" ? { ...scene, truths: [...scene.truths, box] } : { ...scene, found: [...scene.found, { box, score: 0.5 }] });
  return `Added a ${kind}.`;
}

/** @param {string} kind @param {number} i */
function removeBox(kind, i) {
  const others = (/** @type {any} */ _, /** @type {number} */ j) => j !== i;
  setScene(kind === "truth" ? { ...scene, truths: scene.truths.filter(others) } : { ...scene, found: scene.found.filter(others) });
  return `Removed ${kind} ${i + 1}.`;
}

/** Drag a box, or its corner, with a mouse, a pen or a finger. @param {any} event @param {string} kind @param {number} i @param {boolean} corner */
function dragBox(event, kind, i, corner) {
  event.preventDefault();
  const frame = at("image"), scale = (WIDTH + 2 * MARGIN) / frame.firstChild.getBoundingClientRect().width, numbers = getNumbers(kind, i);
  frame.setPointerCapture(event.pointerId);
  const pull = (/** @type {any} */ e) => {
    shift(kind, i, numbers, [Math.round((e.clientX - event.clientX) * scale), Math.round((e.clientY - event.clientY) * scale)], corner);
    showScene();
  };
  const end = () => { frame.removeEventListener("pointermove", pull); change(() => `Moved ${kind} ${i + 1}.`, [`${kind}-box`, i]); };
  frame.addEventListener("pointermove", pull);
  frame.addEventListener("lostpointercapture", end, { once: true });
}

/** Arrow keys move a box; with Shift they resize it. @param {KeyboardEvent} event @param {string} kind @param {number} i */
function moveBox(event, kind, i) {
  const by = { ArrowUp: [0, -STEP], ArrowDown: [0, STEP], ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0] }[event.key];
  if (!by) return;
  event.preventDefault();
  change(() => shift(kind, i, getNumbers(kind, i), by, event.shiftKey));
}

/** @param {string} says */
const isTrue = (says) => says === "true" || says.startsWith("found");

/** A box, its tag and its corner. @param {string} kind @param {number} i @param {Box} box @param {string} tag @param {string} says */
function drawBox(kind, i, [x, y, w, h], tag, says) {
  const hit = isTrue(says) ? "yes" : "no", corner = { cx: x + w, cy: y + h };
  const pull = (/** @type {boolean} */ corner) => (/** @type {any} */ e) => dragBox(e, kind, i, corner);
  return [
    make("rect", { class: `${kind} ${hit}`, x, y, width: w, height: h, tabindex: "0", role: "img", "data-name": `${kind}-box`, "data-at": i,
      "aria-label": `${kind} ${tag}, ${says}: x ${x}, y ${y}, width ${w}, height ${h}`,
      onpointerdown: pull(false), onkeydown: (/** @type {any} */ e) => moveBox(e, kind, i) }),
    make("text", kind === "truth" ? { x: x + w - 6, y: y + h - 8, "text-anchor": "end" } : placeTag(i, [x, y, w, h]), tag),
    make("circle", { class: "corner", ...corner, r: 22, onpointerdown: pull(true) }),
    make("circle", { class: `dot ${kind} ${hit}`, ...corner, r: 5 }),
  ];
}

/** The place of a detection's tag, beside those of detections in the same place. @param {number} i @param {Box} box */
function placeTag(i, [x, y, _, h]) {
  const near = scene.found.slice(0, i).filter(({ box }) => Math.abs(box[0] - x) < 22 && Math.abs(box[1] - y) < 22);
  return { x: x + 6 + 22 * near.length, y: h < 40 ? y - 6 : y + 20 };
}

/** What became of truths and detections, in the order of the page: the tag and the words of each. */
function describeBoxes() {
  const [sorted, order] = sortFound(scene), outcomes = judge(sorted);
  const took = outcomes.map(({ says, truth }) => (says === "true" ? truth : -1));
  const truths = scene.truths.map((_, g) => [`T${g + 1}`, took.includes(g) ? `found by ${took.indexOf(g) + 1}` : "missed"]);
  const found = order.map((_, i) => {
    const { says, truth, overlap } = outcomes[order.indexOf(i)];
    return [`${order.indexOf(i) + 1}`, says, truth < 0 ? "" : ` (T${truth + 1}, ${writeValue(overlap)})`];
  });
  return { truths, found };
}

/** @param {{truths: string[][], found: string[][]}} words */
function drawScene({ truths, found }) {
  const area = (/** @type {Box} */ box) => box[2] * box[3];
  const boxes = [
    ...scene.truths.map((box, i) => ({ kind: "truth", i, box, words: truths[i] })),
    ...scene.found.map(({ box }, i) => ({ kind: "detection", i, box, words: found[i] })),
  ].sort((a, b) => area(b.box) - area(a.box));
  const viewBox = [-MARGIN, -MARGIN, WIDTH + 2 * MARGIN, HEIGHT + 2 * MARGIN].join(" ");
  return make("svg", { viewBox, class: "scene", role: "group", "aria-label": "the image and its boxes" },
    make("rect", { class: "frame", width: WIDTH, height: HEIGHT }),
    ...boxes.flatMap(({ kind, i, box, words }) => drawBox(kind, i, box, words[0], words[1])));
}

/** A field for a number of a box. @param {string} kind @param {number} i @param {number} j */
function makeField(kind, i, j) {
  const put = (/** @type {any} */ e) => () => setNumbers(kind, i, getNumbers(kind, i).with(j, e.target.valueAsNumber));
  return make("input", { type: "number", "aria-label": `${SIDES[j]} of ${kind} ${i + 1}`, "data-name": `${kind}-${SIDES[j]}`, "data-at": i,
    min: j === 2 || j === 3 ? 1 : 0, max: j === 4 ? 1 : WIDTH, step: j === 4 ? 0.01 : 1,
    oninput: (/** @type {any} */ e) => change(put(e)), onchange: (/** @type {any} */ e) => { e.target.value = getNumbers(kind, i)[j]; } });
}

/** @param {string} kind @param {number} i */
const makeBoxRow = (kind, i) => make("li", {}, make("span", { class: "rank" }), ...getNumbers(kind, i).map((_, j) => makeField(kind, i, j)),
  makeButton(`remove-${kind}`, i, "×", `remove ${kind} ${i + 1}`, () => change(() => removeBox(kind, i))), make("span", { class: "says" }));

/** Fill the rows of boxes; they are made anew only where their number changed, so that typing goes on. @param {string} kind @param {string[][]} words */
function fillRows(kind, words) {
  const list = at(`${kind}s`);
  if (list.children.length !== words.length) list.replaceChildren(...words.map((_, i) => makeBoxRow(kind, i)));
  words.forEach(([tag, says, more = ""], i) => {
    const row = list.children[i], numbers = getNumbers(kind, i);
    row.className = isTrue(says) ? "hit" : "";
    row.firstChild.textContent = tag;
    row.lastChild.textContent = `${says}${more}`;
    [...row.querySelectorAll("input")].forEach((input, j) => { if (input !== document.activeElement) input.value = numbers[j]; });
  });
}

/** A tool, its names, AP by its rules, and these. @param {Tool} one @param {number} i */
function makeToolRows(one, i) {
  const own = Object.fromEntries(RULES.map((name, j) => [name, one.words[j]])), rules = { ...scene.rules, ...own };
  const same = writeRules(rules) === writeRules(scene.rules);
  const list = listOutcomes(follow(sortFound(scene)[0], { ...rules, ...one.more }));
  const take = () => change(() => { setScene({ ...scene, rules }); return `Took the rules of ${one.tool}.`; });
  return Object.entries(one.names).map(([points, name]) => make("tr", { class: same ? "hit" : "" },
    make("th", { scope: "row" }, makeButton("tool", i, one.tool, `${one.tool}: take its rules`, take)), make("td", {}, name),
    make("td", { class: "n" }, writeValue(compute(`AP(points=${points})`, list))), make("td", {}, `${one.words.join(" · ")} · points=${points}`)));
}

/** @param {Rules} rules */
const writeRules = (rules) => RULES.map((name) => `&${name}=${rules[name]}`).join("");

function showScene() {
  const words = describeBoxes(), list = listOutcomes(sortFound(scene)[0]);
  at("image").replaceChildren(drawScene(words));
  fillRows("truth", words.truths);
  fillRows("detection", words.found);
  for (const name of RULES) at(name).value = scene.rules[name];
  if (at("iou") !== document.activeElement) at("iou").value = scene.iou;
  at("box-cards").replaceChildren(...CARDS.map((points) => {
    const name = `AP(points=${points})`, title = writeBoxName(scene.iou, points);
    return makeCard(title, compute(name, list), {}, ...(MEASURES[name].rest ? [] : [drawTrack(name, list)]),
      make("p", { class: "formula" }, writeFormula(name, list, title)), make("p", {}, data.points[points]));
  }));
  at("box-curve").replaceChildren(drawCurve(list));
  at("tools").replaceChildren(...data.detection.flatMap(makeToolRows));
}

function startScene() {
  offer("scene", data.scenes, (each) => readScene(splitAddress(each.address)));
  const iou = at("iou"), put = (/** @type {Partial<Scene>} */ part, /** @type {string} */ said) => change(() => { setScene({ ...scene, ...part }); return said; });
  iou.addEventListener("input", () => put({ iou: iou.valueAsNumber }, "Changed the threshold."));
  iou.addEventListener("change", () => { iou.value = scene.iou; });
  for (const name of RULES) {
    at(name).addEventListener("change", () => put({ rules: { ...scene.rules, [name]: at(name).value } }, `Changed ${name}.`));
  }
  for (const kind of ["truth", "detection"]) at(`add-${kind}`).addEventListener("click", () => change(() => addBox(kind)));
}
