
  // --- Charts ---

  const text = (x, y, words, more) => make("text", { x, y, ...more }, words);
  const drawing = (height, label, ...parts) =>
    make("svg", { viewBox: `-24 0 678 ${height}`, role: "img", class: "chart", tabindex: "0", "aria-label": label }, ...parts);

  // Shows what a chart has at the pointer, or where the arrow keys lead; Enter opens it.
  function probe(svg, { left, width, top, bottom, count, describe, choose, centered }) {
    const guide = make("path", { class: "guide", d: "" });
    svg.append(guide);
    let i = -1;
    const show = (next) => {
      i = Math.max(0, Math.min(count - 1, next));
      const x = left + (centered ? i + 0.5 : i) * width / (centered ? count : count - 1);
      guide.setAttribute("d", `M${x.toFixed(1)} ${top}V${bottom}`);
      const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal, tip = at("tip");
      tip.replaceChildren(...describe(i).map((line) => make("div", {}, bdi(line))));
      tip.hidden = false;
      const place = box.left + (x - view.x) * box.width / view.width;
      tip.style.left = `${Math.max(8, Math.min(place + 12, innerWidth - tip.offsetWidth - 8))}px`;
      tip.style.top = `${Math.max(8, Math.min(box.top + 8, innerHeight - tip.offsetHeight - 8))}px`;
    };
    const hide = () => { at("tip").hidden = true; guide.setAttribute("d", ""); };
    const find = (event) => {
      const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
      const share = (view.x + (event.clientX - box.left) * view.width / box.width - left) / width;
      return centered ? Math.floor(share * count) : Math.round(share * (count - 1));
    };
    svg.onpointermove = (event) => show(find(event));
    svg.onpointerleave = svg.onblur = hide;
    svg.onclick = (event) => { if (choose) { show(find(event)); hide(); choose(i); } };
    svg.onkeydown = (event) => {
      const to = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: count - 1 }[event.key];
      if (to !== undefined) { show(to); event.preventDefault(); }
      if (event.key === "Escape") hide();
      if (event.key === "Enter" && choose && i >= 0) { event.preventDefault(); hide(); choose(i); }
    };
  }

  function differences() {
    const order = queries.map((_, q) => q).filter((q) => !isNaN(difference(q))).sort((a, b) => difference(b) - difference(a));
    const all = order.map((q) => difference(q));
    const most = Math.max(...all.map(Math.abs)) || 1, gains = all.filter((d) => d > 0).length, losses = all.filter((d) => d < 0).length;
    const bars = Math.min(all.length, 560), step = 576 / bars, zero = 110, paths = ["", ""];
    const place = (i) => Math.floor((i + 0.5) * all.length / bars);
    for (let i = 0; i < bars; i++) {
      const d = all[place(i)];
      const x = (52 + i * step).toFixed(1), end = (52 + (i + (bars > 140 ? 1 : 0.85)) * step).toFixed(1);
      if (d) paths[+(d < 0)] += `M${x} ${zero}V${(zero - 90 * d / most).toFixed(1)}H${end}V${zero}Z`;
    }
    const says = `${measures[state.m].name}: ${runs[state.system]} is higher on ${gains}, lower on ${losses}, the same on ${all.length - gains - losses} of ${all.length} queries`;
    const svg = drawing(228, says,
      make("path", { class: "grid", d: "M52 20H628M52 200H628" }), make("path", { class: "axis", d: `M52 ${zero}H628` }),
      text(44, 24, "+" + most.toFixed(2), { "text-anchor": "end" }), text(44, 114, "0", { "text-anchor": "end" }),
      text(44, 204, "−" + most.toFixed(2), { "text-anchor": "end" }),
      make("path", { class: `bar r${state.system % COLORS}`, d: paths[0] }), make("path", { class: `bar r${state.baseline % COLORS}`, d: paths[1] }),
      text(340, 224, "queries, from the largest gain to the largest loss", { "text-anchor": "middle" }));
    at("differences").replaceChildren(svg, make("figcaption", {}, bdi(says + ".")));
    if (bars) probe(svg, { left: 52, width: 576, top: 20, bottom: 200, count: bars, centered: true, choose: (i) => reveal(order[place(i)]),
      describe: (i) => {
        const q = order[place(i)], words = said ? [said[q]] : [];
        return [queries[q], ...words, `${signed(difference(q))}: ${shown(value(state.system, q))} and ${shown(value(state.baseline, q))}`];
      } });
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
    const most = Math.max(1, ...counts.flat()), tall = runs.length > 4 ? 52 : 84, end = tall * runs.length;
    const parts = counts.flatMap((bins, run) => {
      const base = tall * (run + 1), width = 576 / BINS, height = tall - 32;
      const path = bins.map((n, i) => n ? `M${52 + i * width + 1} ${base}v${(-height * n / most).toFixed(1)}h${width - 2}V${base}Z` : "").join("");
      return [make("path", { class: "axis", d: `M52 ${base}H628` }), make("path", { class: `bar r${run % COLORS}`, d: path }),
        text(52, base - height - 10, runs[run].slice(0, 60), { class: "name" })];
    });
    const edge = (i) => { const x = low + (high - low) * i / BINS; return high > 4 ? String(Math.round(x)) : x.toFixed(2); };
    for (let i = 0; i <= BINS; i += 5) parts.push(text(52 + 576 * i / BINS, end + 18, edge(i), { "text-anchor": "middle" }));
    const says = `How many queries have each value of ${measures[state.m].name}; the highest bar stands for ${most}`;
    const svg = drawing(end + 24, says, ...parts);
    at("spread").replaceChildren(svg, make("figcaption", {}, says + "."));
    probe(svg, { left: 52, width: 576, top: 0, bottom: end, count: BINS, centered: true,
      describe: (i) => [`${edge(i)} to ${edge(i + 1)}`, ...runs.map((name, run) => `${name}: ${counts[run][i]}`)] });
  }

  function curves() { // the chart is in the page; its values are those of the table below it
    const svg = document.querySelector("#curves .chart"), table = document.querySelector(".levels");
    if (!svg || !table) return;
    const [names, ...rows] = [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent));
    svg.setAttribute("tabindex", "0");
    probe(svg, { left: 62, width: 564, top: 12, bottom: 368, count: rows.length,
      describe: (i) => [`recall ${rows[i][0]}`, ...names.slice(1).map((name, run) => `${name}: ${rows[i][run + 1]}`)] });
  }
