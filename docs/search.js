/* How the site's search weighs what it finds: first what docs/search_words.json answers, then a heading that has the whole
   query, then a page whose title begins with it, and guides before the reference, and that before the records of tools,
   benchmarks and changes. */
const GUIDES = /^docs\/[^/]+$/;
const RECORDS = /^(docs\/dialects\/|bench\/|fuzz\/|CHANGELOG|docs\/decisions)/;
const OF_KIND = { title: 3, index: 3 };

const asked = new URLSearchParams(location.search).get("q")?.toLowerCase().trim();
const weigh = (page) => (RECORDS.test(page) ? 1 / 4 : GUIDES.test(page) ? 3 / 2 : 1);
const begins = (title) => asked && title.toLowerCase().startsWith(asked);

var Scorer = {
  score: ([page, title, , , score, , kind]) =>
    weigh(page) * (OF_KIND[kind] ?? (begins(title) ? 2 : 1)) * score,
  objNameMatch: 40,
  objPartialMatch: 20,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
