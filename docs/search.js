/* How the site's search weighs what it finds: a heading that has the whole query first, and guides before
   the records of tools, benchmarks and changes. */
const RECORDS = /^(docs\/dialects\/|bench\/|fuzz\/|CHANGELOG|docs\/decisions)/;

var Scorer = {
  score: ([page, , , , score, , kind]) =>
    (RECORDS.test(page) ? 1 / 4 : 1) * (kind === "title" ? 3 : 1) * score,
  objNameMatch: 40,
  objPartialMatch: 20,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
