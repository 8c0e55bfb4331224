// Matching the boxes of one image and class, as germane's boxes do: which detection found which truth, and why the
// others found none.
"use strict";
/**
 * @typedef {[number, number, number, number]} Box  x, y, width, height in pixels
 * @typedef {{box: Box, score: number}} Detection
 * @typedef {{overlap: string, candidate: string, reach: string, equal_overlaps: string, precision?: string,
 *   thresholds?: string, confidence?: number}} Rules  germane's conventions and their words
 * @typedef {{truths: Box[], found: Detection[], iou: number, rules: Rules}} Scene  found: by falling score
 * @typedef {{says: string, truth: number, overlap: number}} Outcome  truth: a place in truths, or -1
 */
const NEAR = 0.1, MOST_OVERLAP = 1 - 1e-10;

/** The area that two boxes share, divided by the area that they cover. @param {Box} a @param {Box} b @param {Rules} rules */
function measureOverlap([x, y, w, h], [X, Y, W, H], rules) {
  const one = rules.overlap === "iou+1" ? 1 : 0;
  const wide = Math.min(x + w, X + W) - Math.max(x, X), high = Math.min(y + h, Y + H) - Math.max(y, Y);
  if (wide <= -one || high <= -one) return 0;
  const shared = (wide + one) * (high + one);
  const overlap = shared / ((w + one) * (h + one) + (W + one) * (H + one) - shared);
  return rules.precision === "single" ? Math.fround(overlap) : overlap;
}

/** Does an overlap reach the threshold? @param {number} overlap @param {Scene} scene */
function reaches(overlap, { iou, rules }) {
  const floor = Math.min(rules.thresholds === "single" ? Math.fround(iou) : iou, MOST_OVERLAP);
  return rules.reach === "above" ? overlap > floor : overlap >= floor;
}

/** The truths that a detection overlaps, the best first. @param {Detection} one @param {Scene} scene */
function listNear(one, { truths, rules }) {
  const sign = rules.equal_overlaps === "last" ? -1 : 1;
  return truths.map((box, truth) => ({ truth, overlap: measureOverlap(one.box, box, rules) }))
    .sort((a, b) => b.overlap - a.overlap || sign * (a.truth - b.truth));
}

/** Which truth each detection takes, in the order of their scores; -1 is none. @param {Scene} scene @returns {number[]} */
function match(scene) {
  const taken = new Set();
  return scene.found.map((one) => {
    const near = listNear(one, scene).filter(({ overlap }) => reaches(overlap, scene));
    const tried = scene.rules.candidate === "best" ? near.slice(0, 1) : near;
    const truth = tried.find((each) => !taken.has(each.truth))?.truth ?? -1;
    taken.add(truth);
    return truth;
  });
}

/** What became of each detection, as germane's explain says it. @param {Scene} scene @returns {Outcome[]} */
function judge(scene) {
  const took = match(scene);
  return scene.found.map((one, d) => {
    const near = listNear(one, scene), [best] = near, own = near.find(({ truth }) => truth === took[d]);
    if (own) return { says: "true", ...own };
    if (reaches(best.overlap, scene)) return { says: `duplicate of ${took.indexOf(best.truth) + 1}`, ...best };
    if (best.overlap >= NEAR) return { says: `overlap below ${writeShare(scene.iou)}`, ...best };
    return { says: "background", truth: -1, overlap: 0 };
  });
}

/** The ranked list that the matched detections are. @param {Scene} scene @returns {List} */
function listOutcomes(scene) {
  const items = match(scene).map((truth) => ({ grade: truth < 0 ? 0 : 1, tie: false, id: "" }));
  return makeList({ items, total: scene.truths.length, k: 0 });
}

/** Sort detections by falling score, and give their places before. @param {Scene} scene @returns {[Scene, number[]]} */
function sortFound(scene) {
  const order = [...scene.found.keys()].sort((a, b) => scene.found[b].score - scene.found[a].score);
  return [{ ...scene, found: order.map((i) => scene.found[i]) }, order];
}

/** Leave out the detections that a tool does not look at. @param {Scene} scene @param {Rules} rules @returns {Scene} */
const follow = (scene, rules) => ({ ...scene, rules, found: scene.found.filter((one) => one.score >= (rules.confidence ?? 0)) });

/** A share as germane writes it: .5. @param {number} share */
const writeShare = (share) => `${Number(share.toPrecision(6))}`.replace(/^0(?=.)/, "");

/** germane's name of AP at a threshold. @param {number} iou @param {string} points */
function writeBoxName(iou, points) {
  const percent = (100 * iou).toFixed(0), short = percent.length === 2 && Number(`.${percent}`) === iou;
  const within = [...(short ? [] : [`iou=${writeShare(iou)}`]), ...(points === "101" ? [] : [`points=${points}`])];
  return `AP${short ? percent : ""}${within.length ? `(${within.join(",")})` : ""}`;
}
