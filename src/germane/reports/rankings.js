
  // --- One query ---

  const waiting = {};

  window.showRankings = (block, got) => { // called by the files of a folder
    Object.assign(details, got.details);
    Object.assign(texts, got.texts);
  };

  function fetchRankings(q, then) { // a page without a server loads files as scripts
    if (details[q] || !data.block) return then();
    const block = Math.floor(q / data.block);
    if (waiting[block]) return waiting[block].push(then);
    waiting[block] = [then];
    const script = make("script", { src: `rankings/${String(block).padStart(4, "0")}.js` });
    script.onload = script.onerror = () => waiting[block].splice(0).forEach((each) => each());
    document.head.append(script);
  }

  function fill(cell, q) {
    cell.replaceChildren(make("p", { class: "small" }, "loading …"));
    fetchRankings(q, () => {
      cell.replaceChildren(detail(q));
      cell.querySelectorAll(".beside").forEach(connect);
    });
  }

  function grid(names, lines, kinds, title) {
    const body = lines.map((cells, i) => make("tr", { class: kinds ? kinds[i] : "" },
      ...cells.map((cell, c) => make("td", { class: c && !/^(item|missed)$/.test(names[c]) ? "n" : "" }, bdi(cell)))));
    const head = names.map((name, c) => make("th", { scope: "col", class: c && name !== "item" ? "n" : "" }, bdi(name)));
    const wide = make("div", { class: "wide", tabindex: "0" },
      make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body)));
    return make("div", {}, offer(title, () => [names, ...lines]), wide);
  }

  function detail(q) {
    const lines = measures.map((measure, m) => [measure.name, ...runs.map((_, run) => shown(value(run, q, m), m)),
      ...(many ? [signed(difference(q, m), m)] : [])]);
    const box = make("div", { class: "inside" });
    if (said && said[q]) box.append(make("p", { class: "asked" }, bdi(said[q])));
    const of = details[q] || [], pairs = pair().filter((run) => of[run]);
    if (pairs.length) box.append(beside(pairs.map((run) => [run, list(of[run][0])]), of));
    box.append(grid(["measure", ...runs, ...(many ? ["difference"] : [])], lines, null, "measures"));
    if (data.block && !details[q]) box.append(make("p", { class: "small" }, "The file of its rankings cannot be read."));
    else if (pairs.length < pair().length) box.append(make("p", { class: "small" }, data.note));
    const others = runs.map((_, run) => run).filter((run) => of[run] && !pairs.includes(run));
    if (pairs.length) box.append(fold("Rank by rank, with the terms of each measure", () => systems(pairs, of)));
    if (others.length) box.append(fold(`The rankings of ${others.length} other ${others.length > 1 ? "runs" : "run"}`, () => systems(others, of)));
    return box;
  }

  function fold(title, inside) { // what is below is made when somebody looks, or prints
    const box = make("details", {}, make("summary", {}, title));
    box.append(inside());
    return box;
  }

  const systems = (some, of) => make("div", { class: "systems" }, ...some.map((run) =>
    make("div", { class: `r${run % COLORS}` }, make("h3", {}, bdi(runs[run])), ...of[run].flatMap(ranking))));

  function ranking(one) {
    const cells = parse(one);
    const hit = one.columns.indexOf("hit"), item = one.columns.indexOf("item"), grade = one.columns.indexOf("relevance");
    const kinds = cells.map((row) => row[hit] ? "hit" : "quiet");
    cells.forEach((row) => { if (row[item] === "?" && row[grade] === "–") row[item] = "not judged"; });
    const parts = [make("p", { class: "small" }, !one.answered ? "Not answered by this run."
      : `${one.relevant} relevant, ${one.retrieved} retrieved, ${one.missed} missed`)];
    if (cells.length) parts.push(grid(one.columns, cells, kinds, "ranking"));
    if (one.more) parts.push(make("p", { class: "small" }, `… and ${one.more} more rows`));
    parts.push(...one.formulas.map((text) => make("p", { class: "formula" }, bdi(text))));
    if (one.names.length) {
      const more = one.missed > one.names.length ? `, and ${one.missed - one.names.length} more` : "";
      const names = one.names.flatMap((name, i) => [i ? ", " : "", bdi(name), ...gloss(name)]);
      parts.push(make("p", { class: "small" }, "Missed: ", ...names, more));
    }
    return parts;
  }

  const parse = (one) => one.rows ? one.rows.split("\n").map((line) => line.split("\u00a0")) : [];

  function gloss(name) { // the title, or the beginning of the text, behind an id
    const text = texts[name], words = text && (text.title || text.text || (typeof text === "string" ? text : ""));
    return words ? [" (", bdi(words.length > 60 ? words.slice(0, 59) + "…" : words), ")"] : [];
  }

  // --- Two runs side by side ---

  function list(one) { // the ranks that are rows of their own
    const column = (name) => one.columns.indexOf(name), item = column("item"), grade = column("relevance"), hit = column("hit");
    const rows = parse(one).filter((row) => /^[0-9]+$/.test(row[0])).map((row) => ({
      rank: +row[0], name: item < 0 || row[item] === "?" ? "" : row[item], grade: row[grade], hit: !!row[hit] }));
    return { rows, one, ranks: new Map(rows.filter((row) => row.name).map((row) => [row.name, row.rank])) };
  }

  function beside(lists) {
    const columns = lists.map(([run, given], i) => {
      const [, other] = lists[1 - i] || [], name = other && runs[lists[1 - i][0]];
      const cards = given.rows.slice(0, 10).map((row) => card(row, other, name));
      const head = make("h3", {}, bdi(runs[run]), make("span", {}, ` ${given.one.retrieved} retrieved`));
      const empty = given.one.answered ? [] : [make("p", { class: "small" }, "Not answered by this run.")];
      return make("div", { class: `column r${run % COLORS}` }, head, ...empty, make("ol", {}, ...cards));
    });
    const lines = make("svg", { class: "lines", "aria-hidden": "true" });
    return make("div", { class: `beside${columns.length > 1 ? "" : " single"}` }, ...(columns.length > 1 ? [columns[0], lines, columns[1]] : columns));
  }

  function card(row, other, name) {
    const judged = row.grade !== "–", mark = row.hit ? `● relevant, grade ${row.grade}` : judged ? `○ judged, grade ${row.grade}` : "not judged";
    const text = texts[row.name], shownText = typeof text === "string" ? { text } : text || {};
    const parts = [make("span", { class: "rank" }, String(row.rank)), make("span", { class: "mark" }, mark),
      ...(row.name ? [make("span", { class: "id" }, bdi(row.name))] : [])];
    if (shownText.image && shownText.image.startsWith("data:image/jpeg;base64,")) parts.push(make("img", { src: shownText.image, alt: shownText.title || row.name }));
    if (shownText.title) parts.push(make("strong", {}, bdi(shownText.title)));
    if (shownText.text) parts.push(make("p", {}, bdi(shownText.text)));
    if (/^https?:\/\//i.test(shownText.link || "")) parts.push(make("a", { href: shownText.link, rel: "noopener noreferrer", target: "_blank" }, bdi(shownText.link)));
    if (other && row.name) parts.push(make("small", { class: "moved" }, ...move(row, other, name)));
    const item = make("li", { class: row.hit ? "hit" : judged ? "no" : "open" }, ...parts);
    item.dataset.item = row.name;
    return item;
  }

  function move(row, other, name) {
    const there = other.ranks.get(row.name);
    if (there) return [there === row.rank ? "the same rank in " : `rank ${there} in `, bdi(name)];
    if (row.hit || other.one.retrieved <= other.rows.length) return ["not retrieved by ", bdi(name)];
    return ["not among the first ranks of ", bdi(name)];
  }

  function connect(box) { // joins the cards of each item that both columns have
    const svg = box.querySelector(".lines");
    if (!svg) return;
    const draw = () => {
      const [left, right] = [...box.querySelectorAll("ol")].map((each) => new Map([...each.children].map((card) => [card.dataset.item, card])));
      const top = svg.getBoundingClientRect().top, width = svg.clientWidth;
      const middle = (card) => { const r = card.getBoundingClientRect(); return r.top - top + Math.min(r.height / 2, 24); };
      svg.replaceChildren(...[...left].filter(([name]) => name && right.has(name)).map(([name, card]) => {
        const [a, b] = [middle(card), middle(right.get(name))];
        return make("path", { class: card.className, d: `M0 ${a}C${width / 2} ${a} ${width / 2} ${b} ${width} ${b}` });
      }));
    };
    new ResizeObserver(draw).observe(box);
  }
