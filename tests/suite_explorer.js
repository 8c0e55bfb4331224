// The explorer's measures, as conformance/run.js asks them.
"use strict";
const fs = require("fs");
const path = require("path");

const source = fs.readFileSync(path.join(__dirname, "../src/germane/teaching/measures.js"), "utf8");
const { MEASURES, makeList, compute, reorder } = new Function(`${source}\nreturn { MEASURES, makeList, compute, reorder };`)();
const SIGNS = { best: 1, worst: -1 };
const CHOSEN = { duplicates: "error", unjudged: "nonrelevant", depth: "all", no_relevant: "zero", missing: "zero" };

function compareText(a, b) {
  return Buffer.compare(Buffer.from(b), Buffer.from(a));
}

/** The state of the page for one query; null where its list cannot hold the judgments. */
function makeState(judged, ranked, ties, k) {
  const order = (a, b) => b[1] - a[1] || (ties === "trec" ? compareText(a[0], b[0]) : 0);
  const rows = [...ranked].sort(order);
  const retrieved = new Set(rows.map(([item]) => item));
  const missed = Object.keys(judged).filter((item) => !retrieved.has(item));
  if (missed.some((item) => judged[item] !== 1)) return null; // the page knows the number of missed items only
  const items = rows.map(([id, score], i) => ({ id, grade: judged[id] ?? null, tie: i > 0 && rows[i - 1][1] === score }));
  const total = Object.values(judged).filter((grade) => grade >= 1).length;
  const state = { items, total, k };
  return ties in SIGNS ? reorder(state, SIGNS[ties]) : state;
}

exports.compute = (definition, conventions, qrels, run) => {
  const name = definition.k ? definition.name.replace(/@\d+$/, "@k") : definition.name;
  const key = [name, `${name}@k`].find((each) => each in MEASURES);
  const { ties, ...others } = conventions;
  if (!key || ties === "expected" || Object.entries(others).some(([word, choice]) => CHOSEN[word] !== choice)) return null;
  const states = Object.entries(qrels).map(([query, judged]) => [query, makeState(judged, run[query] ?? [], ties, definition.k ?? 0)]);
  if (states.some(([, state]) => state === null)) return null;
  return Object.fromEntries(states.map(([query, state]) => [query, compute(key, makeList(state))]));
};
