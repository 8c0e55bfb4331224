// Ask a tool for every value of the suite: node run.js ./adapter.js
//
// The adapter exports compute(definition, conventions, qrels, run): judgments {query: {item: grade}}, results
// {query: [[item, score], …]}. It returns {query: value}, or null for what the tool does not have. The exit status is 1 if a value differs.
"use strict";
const fs = require("fs");
const path = require("path");

const suite = JSON.parse(fs.readFileSync(path.join(__dirname, "suite.json"), "utf8"));

function isEqual(got, wanted) {
  const queries = Object.entries(wanted.queries);
  const near = (a, b) => Math.abs(a - b) <= Math.max(1e-12, 1e-9 * Math.abs(b));
  return Object.keys(got).length === queries.length && queries.every(([query, value]) => near(got[query], value.double));
}

function runSuite(compute) {
  const differences = [];
  let asked = 0;
  for (const { name: title, shows, qrels, run, answers } of suite.cases) {
    for (const { conventions, values } of answers) {
      for (const [name, wanted] of Object.entries(values)) {
        const got = compute({ name, ...suite.definitions[name] }, { ...suite.defaults, ...conventions }, qrels, run);
        if (got === null || got === undefined) continue;
        asked += 1;
        if (isEqual(got, wanted)) continue;
        const numbers = Object.entries(wanted.queries).map(([query, value]) => [query, value.double]);
        differences.push(`${title} ${JSON.stringify(conventions)}: ${name} is ${JSON.stringify(got)}, not ${JSON.stringify(Object.fromEntries(numbers))}\n  ${shows}`);
      }
    }
  }
  return { asked, differences };
}

if (require.main === module && process.argv.length !== 3) {
  console.error("usage: node run.js ./adapter.js; see README.md");
  process.exitCode = 2;
} else if (require.main === module) {
  const { asked, differences } = runSuite(require(path.resolve(process.argv[2])).compute);
  differences.forEach((one) => console.log(one));
  console.log(`version ${suite.version}: ${asked} values asked, ${differences.length} differ`);
  process.exitCode = differences.length || !asked ? 1 : 0;
}
module.exports = { runSuite };
