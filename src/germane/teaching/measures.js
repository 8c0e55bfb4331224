// The measures of the explorer: terms at ranks, divided by a norm, as germane computes them. The page gives each
// its definition in words. list.js and boxes.js show them; tests run this file in Node, too.
"use strict";
/**
 * @typedef {{grade: number|null, tie: boolean, id: string}} Item  an item; null: unjudged; tie: scored as the one above
 * @typedef {{items: Item[], total: number, k: number}} State  total: all relevant items (R); k: 0 is no cutoff
 * @typedef {{grades: (number|null)[], hits: number[], N: number, R: number, k: number, depth: number, ideal: number[], cut: boolean}} List
 *   grades and hits (so far) by rank from 1 (place 0 is unused)
 * @typedef {{terms: (l: List, i: number) => number, text?: (l: List, i: number) => string, norm?: (l: List) => number,
 *   under?: (l: List) => string, rest?: (l: List) => number}} Row  rest: the part of the sum that no rank has
 */
const LEVEL = 1, STAY = 0.8, TOP = 4;

/** @param {List} l @param {number} i */
const relevant = (l, i) => (l.grades[i] ?? -1) >= LEVEL;
/** @param {number} grade */
const exp = (grade) => 2 ** grade - 1;
/** @param {number} i */
const discount = (i) => 1 / Math.log2(i + 1);
/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
/** @param {number} n */
const upto = (n) => Array.from({ length: n }, (_, i) => i + 1);
/** @param {number} a @param {number} b */
const share = (a, b) => (a === b ? "1" : `${a}/${b}`);
/** @param {List} l */
const found = (l) => l.hits[Math.min(l.depth, l.N)];
/** @param {List} l */
const possible = (l) => Math.min(l.R, l.N, l.depth);

/** The list that a state describes. @param {State} state @returns {List} */
function makeList(state) {
  const grades = [null, ...state.items.map((item) => item.grade)], hits = [0];
  for (let i = 1; i < grades.length; i++) hits.push(hits[i - 1] + ((grades[i] ?? -1) >= LEVEL ? 1 : 0));
  const N = state.items.length, R = Math.max(state.total, hits[N]), missed = Array(R - hits[N]).fill(1);
  const judged = state.items.map((item) => item.grade ?? 0);
  const ideal = [...judged, ...missed].sort((a, b) => b - a);
  return { grades, hits, N, R, k: state.k, depth: state.k || N, ideal, cut: state.k > 0 };
}

/** The best precision at each relevant rank or beyond it. @param {List} l @returns {number[]} */
function envelope(l) {
  const best = Array(l.N + 2).fill(0), last = l.cut ? Math.min(l.k, l.N) : l.N;
  for (let i = last; i > 0; i--) best[i] = relevant(l, i) ? Math.max(best[i + 1], l.hits[i] / i) : best[i + 1];
  return best;
}

/** The fewest of R items that reach a level of recall. @type {(level: number, steps: number, R: number) => number} */
const roundUp = (level, steps, R) => Math.ceil((level * R) / steps);
/** The same where h/R is compared with the level in double precision. @type {typeof roundUp} */
const compare = (level, steps, R) => upto(R).find((h) => h / R >= level * (1 / steps)) ?? Infinity;
/** The same where the level is a number in single precision, counted from the nearer end. @type {typeof roundUp} */
function compareSingle(level, steps, R) {
  const step = Math.fround(1 / steps), at = 2 * level <= steps ? step * level : 1 - step * (steps - level);
  return upto(R).find((h) => h / R >= Math.fround(at)) ?? Infinity;
}

/** Interpolated precision at levels of recall, by the rank that holds it. @param {List} l @param {number} steps @param {typeof roundUp} reach @param {number} lowest */
function levels(l, steps, reach, lowest) {
  const terms = Array(l.N + 1).fill(0), best = envelope({ ...l, cut: false });
  const ranks = upto(l.N).filter((i) => relevant(l, i));
  for (let level = lowest; level <= steps; level++) {
    const place = ranks[Math.max(1, reach(level, steps, l.R)) - 1];
    if (place === undefined) continue;
    terms[ranks.find((i) => i >= place && l.hits[i] / i === best[place]) ?? 0] += best[place];
  }
  return terms;
}

/** @param {number} steps @param {typeof roundUp} [reach] @param {0 | 1} [lowest] @returns {Row} */
const interpolated = (steps, reach = roundUp, lowest = 0) => ({
  terms: (l, i) => levels(l, steps, reach, lowest)[i], norm: () => steps + 1 - lowest,
});

/** Read a curve of points at x, as numpy.interp does. @param {number[][]} points @param {number} x */
function read(points, x) {
  const j = points.findLastIndex(([at]) => at <= x), [at, y] = points[j];
  if (at === x || j === points.length - 1) return y;
  return ((points[j + 1][1] - y) / (points[j + 1][0] - at)) * (x - at) + y;
}

/** Areas between 101 points of the lines through the best precisions. @param {List} l @param {boolean} slope */
function lines(l, slope) {
  const best = envelope({ ...l, cut: false }), hits = upto(l.N).filter((i) => relevant(l, i));
  const points = [[0, 1]], last = hits.at(-1);
  if (last === undefined) return 0;
  hits.forEach((i, n) => {
    if (i > (hits[n - 1] ?? 0) + 1) points.push([n / l.R, best[i]]);
    points.push([(n + 1) / l.R, best[i]]);
  });
  points.push([hits.length / l.R, slope ? hits.length / l.N : 0], [1, 0]);
  const heights = upto(101).map((n) => read(points, n === 101 ? 1 : (n - 1) * 0.01));
  return sum(heights.slice(1).map((height, n) => (height + heights[n]) / 2));
}

/** @param {boolean} slope @returns {Row} */
const joined = (slope) => ({ terms: () => 0, rest: (l) => lines(l, slope), norm: () => 100 });

/** @param {List} l @param {(grade: number) => number} gain */
const idealGain = (l, gain) => sum(l.ideal.slice(0, l.cut ? l.k : undefined).map((g, i) => gain(g) * discount(i + 1)));

/** AP's terms over a norm. @param {(l: List) => number} norm @param {(l: List) => string} [under] @returns {Row} */
function ap(norm, under) {
  return { terms: (l, i) => (relevant(l, i) ? l.hits[i] / i : 0), text: (l, i) => share(l.hits[i], i), norm, under };
}

/** @param {(grade: number) => number} gain @param {((l: List) => number)} [norm] @returns {Row} */
function cumulated(gain, norm) {
  return {
    terms: (l, i) => gain(Math.max(0, l.grades[i] ?? 0)) * discount(i),
    text: (l, i) => (i === 1 ? `${gain(l.grades[i] ?? 0)}` : `${gain(l.grades[i] ?? 0)}/log2(${i + 1})`),
    norm,
  };
}

/** The probability of stopping at a rank, if it is reached. @param {List} l @param {number} i */
const chance = (l, i) => exp(Math.max(0, l.grades[i] ?? 0)) / 2 ** TOP;

/** @param {List} l @param {number} i */
function preference(l, i) {
  const bad = l.grades.filter((g) => g === 0).length;
  const before = l.grades.slice(1, i).filter((g) => g === 0).length;
  return relevant(l, i) ? 1 - Math.min(before, l.R) / Math.max(1, Math.min(bad, l.R)) : 0;
}

/** @type {(l: List) => number} */
const R = (l) => l.R;
/** @type {(l: List) => number} */
const depth = (l) => l.depth;
/** @type {(l: List, i: number) => number} */
const hit = (l, i) => (relevant(l, i) ? 1 : 0);
/** @type {(l: List, i: number) => number} */
const first = (l, i) => (relevant(l, i) && l.hits[i] === 1 ? 1 : 0);
/** @type {(grade: number) => number} */
const linear = (grade) => grade;

/** @type {Row} */
const best = { terms: (l, i) => (relevant(l, i) ? envelope(l)[i] : 0), norm: R };

/**
 * Every measure by germane's name; @k is left out where there is no cutoff. The last ones are those of detections.
 * @type {Record<string, Row>}
 */
const MEASURES = {
  "AP(norm=R)@k": ap(R),
  "AP@k": ap((l) => Math.min(l.R, l.cut ? l.k : l.R), (l) => (l.cut ? `min(${l.R},${l.k})` : `${l.R}`)),
  "AP(norm=possible)@k": ap(possible, (l) => `min(${l.R},${l.depth},${l.N})`),
  "AP(norm=found)@k": ap(found),
  "AP(norm=k)@k": ap(depth),
  "MeanP@k": {
    terms: (l, i) => (relevant(l, i) ? sum(upto(l.depth).slice(i - 1).map((j) => 1 / j)) : 0), norm: depth,
    text: (l, i) => (i < l.depth ? `(1/${i} + … + 1/${l.depth})` : `1/${i}`),
  },
  "AUPR(rule=interpolated)@k": best,
  "AUPR(rule=trapezoid)@k": {
    terms: (l, i) => (relevant(l, i) ? ((i > 1 ? l.hits[i - 1] / (i - 1) : 1) + l.hits[i] / i) / 2 : 0), norm: R,
  },
  IAP: interpolated(10),
  "IAP(points=101)": interpolated(100),
  "nDCG@k": cumulated(linear, (l) => idealGain(l, linear)),
  "nDCG(gain=exp)@k": cumulated(exp, (l) => idealGain(l, exp)),
  "nDCG(norm=k)@k": cumulated(linear, (l) => sum(upto(l.depth).map(discount))),
  "nDCG(gain=exp,norm=k)@k": cumulated(exp, (l) => sum(upto(l.depth).map(discount))),
  "DCG@k": cumulated(linear),
  "DCG(gain=exp)@k": cumulated(exp),
  "P@k": { terms: hit, norm: depth },
  "R@k": { terms: hit, norm: R },
  "F@k": { terms: (l, i) => 2 * hit(l, i), norm: (l) => l.R + l.depth, under: (l) => `(${l.R} + ${l.depth})` },
  "RR@k": { terms: (l, i) => first(l, i) / i, text: (l, i) => share(1, i) },
  "Success@k": { terms: first },
  Rprec: { terms: (l, i) => (i <= l.R ? hit(l, i) : 0), norm: R },
  "RBP@k": {
    terms: (l, i) => (relevant(l, i) ? (1 - STAY) * STAY ** (i - 1) : 0), text: (l, i) => `0.2·0.8^${i - 1}`,
  },
  "ERR@k": {
    terms: (l, i) => upto(i - 1).reduce((left, j) => left * (1 - chance(l, j)), chance(l, i)) / i,
  },
  bpref: { terms: preference, norm: R },
  "Judged@k": { terms: (l, i) => (l.grades[i] === null ? 0 : 1), norm: depth },
  "AP(points=101)": interpolated(100, compare),
  "AP(points=101single)": interpolated(100, compareSingle),
  "AP(points=11)": interpolated(10, compare),
  "AP(points=all)": best,
  "AP(points=lines)": joined(false),
  "AP(points=slope)": joined(true),
  "AP(points=r40)": interpolated(40, compare, 1),
};
/** The measures that have a gain, with the grade as gain and with 2^grade - 1. */
const GAINS = [["nDCG@k", "nDCG(gain=exp)@k"], ["nDCG(norm=k)@k", "nDCG(gain=exp,norm=k)@k"], ["DCG@k", "DCG(gain=exp)@k"]];

/** The terms of a measure at the ranks that it counts. @param {string} name @param {List} l @returns {number[]} */
function listTerms(name, l) {
  const last = name.endsWith("@k") ? Math.min(l.depth, l.N) : l.N;
  return upto(last).map((i) => MEASURES[name].terms(l, i));
}

/** @param {string} name @param {List} l */
function findNorm(name, l) {
  return (MEASURES[name].norm ?? (() => 1))(l);
}

/** @param {string} name @param {List} l */
const findRest = (name, l) => MEASURES[name].rest?.(l) ?? 0;

/** The value of a measure; 0 where nothing is relevant. @param {string} name @param {List} l */
function compute(name, l) {
  const norm = findNorm(name, l);
  return norm === 0 ? 0 : (sum(listTerms(name, l)) + findRest(name, l)) / norm;
}

/** Write a number with four digits; a half goes to the even digit, as Python writes it. @param {number} x */
function writeValue(x) {
  const near = x.toFixed(4), exact = x.toFixed(20);
  if (!exact.endsWith("5" + "0".repeat(15))) return near;
  const down = exact.slice(0, -16);
  return Number(down.at(-1)) % 2 ? near : down;
}

/** Order equal scores in the best or the worst way; unjudged items stand last or first. @param {State} state @param {number} sign */
function reorder(state, sign) {
  /** @type {Item[][]} */
  const groups = [];
  for (const item of state.items) item.tie && groups.length ? groups[groups.length - 1].push(item) : groups.push([item]);
  const value = (/** @type {Item} */ item) => item.grade ?? -1;
  const items = groups.flatMap((group) => [...group].sort((a, b) => sign * (value(b) - value(a))));
  return { ...state, items };
}

/** The value as the list stands, and under the best and the worst order of ties. @param {string} name @param {State} state */
function range(name, state) {
  return [state, reorder(state, 1), reorder(state, -1)].map((each) => compute(name, makeList(each)));
}

/** A measure's name with the cutoff in it. @param {string} name @param {number} k */
const writeName = (name, k) => name.replace("@k", k ? `@${k}` : "");

/** The terms that are not 0, as they are written. @param {string} name @param {List} l */
function writeParts(name, l) {
  const terms = listTerms(name, l), text = MEASURES[name].text ?? ((_, i) => shorten(terms[i - 1]));
  return upto(terms.length).filter((i) => terms[i - 1] !== 0).map((i) => text(l, i));
}

/** The calculation with its numbers. @param {string} name @param {List} l @param {string} [title] */
function writeFormula(name, l, title = writeName(name, l.k)) {
  const row = MEASURES[name], parts = writeParts(name, l);
  if (row.rest) parts.push(shorten(findRest(name, l)));
  const over = row.norm ? ` / ${(row.under ?? ((l) => shorten(findNorm(name, l))))(l)}` : "";
  const added = parts.length ? parts.join(" + ") : "0";
  return `${title} = ${over && parts.length > 1 ? `(${added})` : added}${over} = ${writeValue(compute(name, l))}`;
}

/** @param {number} x */
const shorten = (x) => (Math.abs(x - Math.round(x)) < 1e-9 ? `${Math.round(x)}` : writeValue(x));
