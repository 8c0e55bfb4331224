// Shows the values of single queries: two charts, a table to sort and search, and for each query the
// ranking of every run. It computes no measure: all numbers and explanations are in the page.
(function () {
  "use strict";
  const { isNaN } = Number, space = document.querySelector("svg").namespaceURI;
  const at = (id) => document.getElementById(id);
  const data = JSON.parse(at("data").textContent);
  const { runs, measures, queries, details } = data;
  const many = runs.length > 1, STEP = 50, BINS = 20, COLORS = 8;
  const columns = measures.map((m, i) => data.values[i].map((text) => unpack(text, m)));
  const folded = queries.map((query) => query.toLowerCase());
  const state = { m: 0, system: many ? 1 : 0, baseline: 0, by: many ? runs.length : 0, down: many, shown: STEP };

  function unpack(text, m) { // whole numbers of 2 or 4 bytes; the highest one stands for no value
    const bytes = atob(text), none = 256 ** m.bytes - 1;
    return Float64Array.from({ length: bytes.length / m.bytes }, (_, i) => {
      let n = 0;
      for (let b = m.bytes - 1; b >= 0; b--) n = n * 256 + bytes.charCodeAt(i * m.bytes + b);
      return n === none ? NaN : (m.low + n) / 10 ** m.digits;
    });
  }

  function make(name, attributes, ...children) {
    const shape = /^(svg|path|text|title)$/.test(name);
    const element = shape ? document.createElementNS(space, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const bdi = (text) => make("bdi", {}, text);
  const value = (run, q, m = state.m) => columns[m][run][q];
  const difference = (q, m) => value(state.system, q, m) - value(state.baseline, q, m);
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
        at("rows").tHead.querySelectorAll("button")[i].focus();
      };
      const sort = on ? { "aria-sort": state.down ? "descending" : "ascending" } : {};
      return make("th", { scope: "col", class: i ? "n" : "", ...sort }, button);
    })));
  }

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

  function row(q) {
    const button = make("button", { type: "button", "aria-expanded": "false" }, bdi(queries[q] || "(empty)"));
    const tr = make("tr", {}, make("th", { scope: "row" }, button),
      ...runs.map((_, run) => make("td", { class: "n" }, shown(value(run, q)))));
    if (many) {
      const d = difference(q);
      tr.append(make("td", { class: `n ${d > 0 ? "gain" : d < 0 ? "loss" : ""} r${(d < 0 ? state.baseline : state.system) % COLORS}` }, signed(d)));
    }
    tr.onclick = () => toggle(tr, button, q);
    return tr;
  }

  function toggle(tr, button, q) {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) tr.nextSibling.remove();
    else tr.after(make("tr", { class: "detail" }, make("td", { colspan: tr.children.length }, detail(q))));
  }

  // --- One query ---

  function grid(names, lines, kinds) {
    const body = lines.map((cells, i) => make("tr", { class: kinds ? kinds[i] : "" },
      ...cells.map((cell, c) => make("td", { class: c && !/^(item|missed)$/.test(names[c]) ? "n" : "" }, bdi(cell)))));
    const head = names.map((name, c) => make("th", { scope: "col", class: c && name !== "item" ? "n" : "" }, bdi(name)));
    return make("div", { class: "wide", tabindex: "0" },
      make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body)));
  }

  function detail(q) {
    const lines = measures.map((measure, m) => [measure.name, ...runs.map((_, run) => shown(value(run, q, m), m)),
      ...(many ? [signed(difference(q, m), m)] : [])]);
    const box = make("div", { class: "inside" }, grid(["measure", ...runs, ...(many ? ["difference"] : [])], lines));
    if (!details[q]) box.append(make("p", { class: "small" }, data.note));
    else box.append(make("div", { class: "systems" }, ...details[q].map((each, run) => make("div", { class: `r${run % COLORS}` },
      make("h3", {}, bdi(runs[run])), ...each.flatMap(ranking)))));
    return box;
  }

  function ranking(one) {
    const cells = one.rows ? one.rows.split("\n").map((line) => line.split("\u00a0")) : [];
    const hit = one.columns.indexOf("hit"), item = one.columns.indexOf("item"), grade = one.columns.indexOf("relevance");
    const kinds = cells.map((row) => row[hit] ? "hit" : "quiet");
    cells.forEach((row) => { if (row[item] === "?" && row[grade] === "–") row[item] = "not judged"; });
    const parts = [make("p", { class: "small" }, !one.answered ? "Not answered by this run."
      : `${one.relevant} relevant, ${one.retrieved} retrieved, ${one.missed} missed`)];
    if (cells.length) parts.push(grid(one.columns, cells, kinds));
    if (one.more) parts.push(make("p", { class: "small" }, `… and ${one.more} more rows`));
    parts.push(...one.formulas.map((text) => make("p", { class: "formula" }, bdi(text))));
    if (one.names.length) {
      const more = one.missed > one.names.length ? `, and ${one.missed - one.names.length} more` : "";
      const names = one.names.flatMap((name, i) => [i ? ", " : "", bdi(name)]);
      parts.push(make("p", { class: "small" }, "Missed: ", ...names, more));
    }
    return parts;
  }

  // --- Charts ---

  const text = (x, y, words, more) => make("text", { x, y, ...more }, words);
  const drawing = (height, label, ...parts) =>
    make("svg", { viewBox: `-14 0 668 ${height}`, role: "img", class: "chart" }, make("title", {}, label), ...parts);

  function differences() {
    const all = queries.map((_, q) => difference(q)).filter((d) => !isNaN(d)).sort((a, b) => b - a);
    const most = Math.max(...all.map(Math.abs)) || 1, gains = all.filter((d) => d > 0).length, losses = all.filter((d) => d < 0).length;
    const bars = Math.min(all.length, 560), step = 576 / bars, zero = 110, paths = ["", ""];
    for (let i = 0; i < bars; i++) {
      const d = all[Math.floor((i + 0.5) * all.length / bars)];
      const x = (52 + i * step).toFixed(1), end = (52 + (i + (bars > 140 ? 1 : 0.85)) * step).toFixed(1);
      if (d) paths[+(d < 0)] += `M${x} ${zero}V${(zero - 90 * d / most).toFixed(1)}H${end}V${zero}Z`;
    }
    const said = `${measures[state.m].name}: ${runs[state.system]} is better on ${gains}, worse on ${losses}, the same on ${all.length - gains - losses} of ${all.length} queries`;
    at("differences").replaceChildren(
      drawing(228, said,
        make("path", { class: "grid", d: "M52 20H628M52 200H628" }), make("path", { class: "axis", d: `M52 ${zero}H628` }),
        text(44, 24, "+" + most.toFixed(2), { "text-anchor": "end" }), text(44, 114, "0", { "text-anchor": "end" }),
        text(44, 204, "−" + most.toFixed(2), { "text-anchor": "end" }),
        make("path", { class: `bar r${state.system % COLORS}`, d: paths[0] }), make("path", { class: `bar r${state.baseline % COLORS}`, d: paths[1] }),
        text(340, 224, "queries, from the largest gain to the largest loss", { "text-anchor": "middle" })),
      make("figcaption", {}, bdi(said + ".")));
  }

  function spread() {
    const all = columns[state.m];
    let low = 0, high = 1;
    all.forEach((column) => column.forEach((x) => { low = x < low ? x : low; high = x > high ? x : high; }));
    const counts = all.map((column) => {
      const bins = new Array(BINS).fill(0);
      column.forEach((x) => { if (!isNaN(x)) bins[Math.min(BINS - 1, Math.floor(BINS * (x - low) / (high - low) + 1e-9))]++; });
      return bins;
    });
    const most = Math.max(1, ...counts.flat()), tall = 84, end = tall * runs.length;
    const parts = counts.flatMap((bins, run) => {
      const base = tall * (run + 1), width = 576 / BINS;
      const path = bins.map((n, i) => n ? `M${52 + i * width + 1} ${base}v${(-52 * n / most).toFixed(1)}h${width - 2}V${base}Z` : "").join("");
      return [make("path", { class: "axis", d: `M52 ${base}H628` }), make("path", { class: `bar r${run % COLORS}`, d: path }),
        text(52, base - 62, runs[run].slice(0, 60), { class: "name" })];
    });
    for (let i = 0; i <= 4; i++) {
      const x = low + (high - low) * i / 4;
      parts.push(text(52 + 144 * i, end + 18, high > 4 ? Math.round(x) : x.toFixed(2), { "text-anchor": "middle" }));
    }
    const said = `How many queries have which ${measures[state.m].name}; the highest bar stands for ${most}`;
    at("spread").replaceChildren(drawing(end + 24, said, ...parts), make("figcaption", {}, said + "."));
  }

  // --- The controls ---

  function all() {
    if (many) differences();
    spread();
    table();
  }

  function choice(id, names, name) {
    const select = at(id);
    if (!select) return;
    select.append(...names.map((each, i) => make("option", { value: i }, each)));
    select.value = state[name];
    select.onchange = () => { state[name] = +select.value; state.shown = STEP; all(); };
  }

  choice("measure", measures.map((m) => m.name), "m");
  choice("system", runs, "system");
  choice("baseline", runs, "baseline");
  at("search").oninput = () => { state.shown = STEP; table(); };
  at("more").onclick = () => {
    const next = state.shown;
    state.shown += STEP;
    table();
    at("rows").tBodies[0].rows[next].querySelector("button").focus();
  };
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
  at("note").textContent = data.note;
  at("app").hidden = false;
  all();
})();
