// Shows the values of single queries: two charts, a table to sort and search, and for each query the
// rankings of the runs. It computes no measure: all numbers and explanations are in the page. This file
// has the table; rankings.js, charts.js and controls.js follow it inside the same function.
(function () {
  "use strict";
  const { isNaN } = Number, space = document.querySelector("svg").namespaceURI;
  const at = (id) => document.getElementById(id);
  const data = JSON.parse(at("data").textContent);
  const { runs, measures, queries, details, said } = data;
  const texts = data.texts || {};
  const many = runs.length > 1, STEP = 50, BINS = 20, COLORS = 8;
  const columns = measures.map((m, i) => data.values[i].map((text) => unpack(text, m)));
  const folded = queries.map((query, q) => (said ? query + "\n" + said[q] : query).toLowerCase());
  const [system, baseline = 0] = data.pair;
  const start = { m: 0, system, baseline, by: many ? runs.length : 0, down: many };
  const state = { ...start, shown: STEP, open: -1 };

  function unpack(text, m) { // whole numbers of 2 or 4 bytes; the highest one stands for no value
    const bytes = atob(text), none = 256 ** m.bytes - 1;
    return Float64Array.from({ length: bytes.length / m.bytes }, (_, i) => {
      let n = 0;
      for (let b = m.bytes - 1; b >= 0; b--) n = n * 256 + bytes.charCodeAt(i * m.bytes + b);
      return n === none ? NaN : (m.low + n) / 10 ** m.digits;
    });
  }

  function make(name, attributes, ...children) {
    const shape = /^(svg|path|text)$/.test(name);
    const element = shape ? document.createElementNS(space, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const bdi = (text) => make("bdi", {}, text);
  const value = (run, q, m = state.m) => columns[m][run][q];
  const difference = (q, m = state.m) => { // a whole number of units, so that equal ones are equal
    const unit = 10 ** measures[m].digits;
    return Math.round((value(state.system, q, m) - value(state.baseline, q, m)) * unit) / unit;
  };
  const digits = (m = state.m) => Math.max(0, measures[m].digits);
  const shown = (x, m) => isNaN(x) ? "–" : x.toFixed(digits(m));
  const signed = (x, m) => {
    const text = shown(Math.abs(x), m);
    return isNaN(x) || !+text ? text : (x > 0 ? "+" : "−") + text;
  };
  const key = (q) => state.by < 0 ? q : state.by < runs.length ? value(state.by, q) : difference(q);

  function search() { // the queries that match the search, sorted
    const wanted = at("search").value.toLowerCase();
    const sign = state.down ? -1 : 1;
    const some = queries.map((_, q) => q).filter((q) => folded[q].includes(wanted));
    if (state.by < 0) return some.sort((a, b) => sign * (folded[a] < folded[b] ? -1 : folded[a] > folded[b] ? 1 : a - b));
    return some.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      return isNaN(x) - isNaN(y) || sign * (x - y) || a - b;
    });
  }

  // --- The table ---

  function heading() {
    const names = ["query", ...runs, ...(many ? ["difference"] : [])];
    at("rows").tHead.replaceChildren(make("tr", {}, ...names.map((name, i) => {
      const by = i - 1, on = state.by === by;
      const button = make("button", { type: "button" }, bdi(name), on ? (state.down ? " ↓" : " ↑") : "");
      button.onclick = () => {
        state.down = on ? !state.down : by >= 0;
        state.by = by;
        table();
        keep();
        at("rows").tHead.querySelectorAll("button")[i].focus();
      };
      const sort = on ? { "aria-sort": state.down ? "descending" : "ascending" } : {};
      return make("th", { scope: "col", class: kind(by), ...sort }, button);
    })));
  }

  const kind = (by) => by < 0 ? "" : `n${by === state.by ? " by" : ""}${many && (by === state.system || by === state.baseline) ? " chosen" : ""}`;

  function table() {
    heading();
    const order = search();
    at("rows").tBodies[0].replaceChildren(...order.slice(0, state.shown).map(row));
    const left = order.length - state.shown;
    at("more").hidden = left <= 0;
    at("more").textContent = `Show ${Math.min(STEP, left)} more`;
    at("count").textContent = `${order.length} of ${queries.length} queries` +
      (left > 0 ? `, ${state.shown} shown` : "");
  }

  const pair = () => many && state.system !== state.baseline ? [state.system, state.baseline] : [state.system];
  const lacks = (q) => !data.block && pair().some((run) => !(details[q] && details[q][run]) && !isNaN(value(run, q)));

  function row(q) {
    const button = make("button", { type: "button", "aria-expanded": "false" }, bdi(queries[q] || "(empty)"));
    const head = make("th", { scope: "row" }, button);
    if (lacks(q)) head.append(make("span", { class: "bare", title: "no ranking of both runs on this page" }, " ○"));
    if (said && said[q]) head.append(make("small", {}, bdi(said[q])));
    const tr = make("tr", {}, head, ...runs.map((_, run) => make("td", { class: kind(run) }, shown(value(run, q)))));
    if (many) {
      const d = difference(q);
      tr.append(make("td", { class: `${kind(runs.length)} ${d > 0 ? "gain" : d < 0 ? "loss" : ""} r${(d < 0 ? state.baseline : state.system) % COLORS}` }, signed(d)));
    }
    tr.onclick = () => {
      const open = toggle(tr, button, q);
      if (open || state.open === q) state.open = open ? q : -1;
      keep();
    };
    return tr;
  }

  function toggle(tr, button, q) {
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(open));
    if (!open) tr.nextSibling.remove();
    else {
      const cell = make("td", { colspan: tr.children.length });
      tr.after(make("tr", { class: "detail" }, cell));
      fill(cell, q);
    }
    return open;
  }

  function reveal(q) { // opens a query, wherever it stands in the table
    let place = search().indexOf(q);
    if (place < 0) {
      at("search").value = "";
      place = search().indexOf(q);
    }
    state.shown = Math.max(state.shown, place + 1);
    table();
    const tr = at("rows").tBodies[0].rows[place], button = tr.querySelector("button");
    toggle(tr, button, q);
    state.open = q;
    keep();
    tr.scrollIntoView({ block: "start" });
    button.focus({ preventScroll: true });
  }
