
  // --- Tables as CSV ---

  function offer(title, rows) { // the button that saves a table
    const button = make("button", { type: "button", class: "csv", title: `Save this table as ${title}.csv` }, "CSV");
    button.onclick = () => {
      const link = make("a", { download: `${title}.csv` });
      link.href = URL.createObjectURL(new Blob(["\ufeff", rows().map((row) => row.map(quote).join(",")).join("\r\n"), "\r\n"], { type: "text/csv" }));
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    };
    return button;
  }

  function quote(cell) { // a spreadsheet takes what begins with these signs for a formula
    const given = String(cell), inert = /^[=+\-@\t\r＝＋－＠]/.test(given) && !/^[+-]?[0-9.]+(e[+-]?[0-9]+)?$/.test(given) ? "'" + given : given;
    return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
  }

  function read(row, parts) { // a mean stands above its interval: three columns
    return [...row.cells].flatMap((cell, i) => {
      const name = cell.querySelector("bdi");
      if (!parts[i]) return [(name || cell).textContent.replace(/ ↓$/, "")];
      const ends = cell.querySelector("small");
      if (row.parentNode.tagName === "THEAD") return [cell.textContent.replace(/ ↓$/, ""), "low", "high"];
      return [cell.querySelector("strong, span").textContent, ...(ends ? ends.textContent.split(" – ") : ["", ""])];
    });
  }

  function offerAll() {
    document.querySelectorAll("section .wide > table:not(#rows)").forEach((table) => {
      const section = table.closest("section").id, kept = table.closest("details");
      const measure = kept && section === "dialects" ? ` ${kept.querySelector("summary").textContent.split(":")[0]}` : "";
      const parts = [...(table.tBodies[0].rows[0] || { cells: [] }).cells].map((cell) => cell.tagName === "TD" && !!cell.querySelector("small"));
      table.parentNode.before(offer(section + measure, () => [...table.rows].map((row) => read(row, parts))));
    });
    const number = (x, m) => isNaN(x) ? "" : x.toFixed(digits(m));
    at("rows").parentNode.before(offer(`queries`, () => [
      ["query", ...(said ? ["text"] : []), ...runs, ...(many ? ["difference"] : [])],
      ...search().map((q) => [queries[q], ...(said ? [said[q]] : []), ...runs.map((_, run) => number(value(run, q))), ...(many ? [number(difference(q))] : [])])]));
  }

  // --- The controls, and the address that keeps them ---

  const names = ["query", ...runs, "difference"];

  function keep() {
    const kept = { measure: measures[state.m].name, ...(many ? { run: runs[state.system], baseline: runs[state.baseline] } : {}),
      sort: (state.down ? "-" : "") + (state.by + 1), find: at("search").value, query: state.open < 0 ? "" : queries[state.open] };
    const filled = Object.entries(kept).filter(([, word]) => word !== "");
    history.replaceState(null, "", "#" + new URLSearchParams(filled));
  }

  function restore() {
    const kept = new URLSearchParams(location.hash.slice(1));
    const find = (some, name, or) => some.includes(kept.get(name)) ? some.indexOf(kept.get(name)) : or;
    if (!kept.get("measure") && !kept.get("query")) return false;
    state.m = find(measures.map((m) => m.name), "measure", start.m);
    state.system = find(runs, "run", start.system);
    state.baseline = find(runs, "baseline", start.baseline);
    const sort = /^(-?)([0-9]{1,5})$/.exec(kept.get("sort") || "");
    if (sort && +sort[2] < names.length - !many) [state.down, state.by] = [!!sort[1], +sort[2] - 1];
    at("search").value = kept.get("find") || "";
    state.open = find(queries, "query", -1);
    return true;
  }

  function all() {
    if (many) differences();
    spread();
    table();
  }

  function choice(id, names, name) {
    const select = at(id);
    if (!select) return;
    select.append(...names.map((each, i) => make("option", { value: i }, each)));
    select.onchange = () => { state[name] = +select.value; state.shown = STEP; state.open = -1; all(); keep(); };
  }

  const choices = [["measure", "m"], ["system", "system"], ["baseline", "baseline"]];
  const select = () => choices.forEach(([id, name]) => { if (at(id)) at(id).value = state[name]; });

  function apply() { // what the address says
    const kept = restore(), open = state.open;
    select();
    all();
    if (kept && open >= 0) reveal(open);
    else if (kept) at("queries").scrollIntoView();
  }

  choice("measure", measures.map((m) => m.name), "m");
  choice("system", runs, "system");
  choice("baseline", runs, "baseline");
  at("search").oninput = () => { state.shown = STEP; state.open = -1; table(); keep(); };
  at("more").onclick = () => {
    const next = state.shown;
    state.shown += STEP;
    table();
    at("rows").tBodies[0].rows[next].querySelector("button").focus();
  };
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => {
    each.open = each.querySelectorAll("tr").length < 100; // paper has no room for what nobody reads
  }));
  window.addEventListener("hashchange", () => { if (location.hash.includes("=")) apply(); });

  // A table that fits leaves scrolling to the page, where its heading stays at the top of the window.
  const fits = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    const box = target.closest(".wide");
    box.classList.toggle("fits", target.offsetWidth <= box.clientWidth + 1);
    box.style.setProperty("--first", `${(target.tHead.rows[0] || target).firstChild.offsetWidth}px`);
  }));

  at("note").textContent = data.note;
  at("app").hidden = false;
  document.body.append(make("div", { id: "tip", role: "status", hidden: "" }));
  offerAll();
  curves();
  apply();
  document.querySelectorAll("section .wide > table").forEach((table) => fits.observe(table));
})();
