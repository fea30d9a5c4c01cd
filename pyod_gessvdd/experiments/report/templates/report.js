"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);

  // Light and dark: the system's choice until the reader makes another.
  const root = document.documentElement;
  const remember = (theme) => { try { localStorage.setItem("gessvdd-theme", theme); } catch { /* private mode */ } };
  try { root.dataset.theme = localStorage.getItem("gessvdd-theme") || ""; } catch { /* private mode */ }
  byId("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember(root.dataset.theme);
  });

  byId("metric").addEventListener("change", (event) => {
    for (const part of all("[data-metric]")) part.hidden = part.dataset.metric !== event.target.value;
  });

  // Sorting: numbers by their value, the rest as words; what is missing stays last.
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
  const ordered = (rows, key, descending) => rows
    .map((row, i) => [key(row), i, row])
    .sort(([a, i], [b, j]) => {
      if (a === null || b === null) return (a === null) - (b === null) || i - j;
      return (descending ? compare(b, a) : compare(a, b)) || i - j;
    })
    .map(([, , row]) => row);
  const turn = (heading) => {
    // Better values first: high numbers, but the first letters.
    const first = heading.classList.contains("n") ? "descending" : "ascending";
    const other = first === "descending" ? "ascending" : "descending";
    const next = heading.getAttribute("aria-sort") === first ? other : first;
    for (const sibling of heading.parentElement.children) sibling.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", next);
    return next === "descending";
  };
  const valueOf = (cell) => {
    const text = cell.dataset.v ?? cell.textContent.trim().replace("−", "-");
    if (text === "" || text === "–") return null;
    return cell.classList.contains("n") && !Number.isNaN(Number(text)) ? Number(text) : text;
  };
  for (const table of all("table.sortable")) {
    table.tHead.addEventListener("click", (event) => {
      const heading = event.target.closest("th");
      if (!heading) return;
      const descending = turn(heading);
      const body = table.tBodies[0];
      body.append(...ordered([...body.rows], (row) => valueOf(row.cells[heading.cellIndex]), descending));
    });
  }

  // Curves: one data set at a time, and one detector out of many.
  const axes = JSON.parse(byId("axes-data").textContent);
  for (const section of all("section.setting")) {
    const panels = JSON.parse(section.querySelector(".panels-data").textContent);
    const chooser = section.querySelector("select.dataset");
    const curves = section.querySelector(".curves");
    const kept = new Set();
    const highlight = (extra) => {
      const on = new Set(extra === undefined ? kept : [...kept, extra]);
      curves.classList.toggle("focus", on.size > 0);
      for (const line of all("[data-series]", curves)) line.classList.toggle("on", on.has(line.dataset.series));
      for (const button of all("button[data-for]", curves)) button.setAttribute("aria-pressed", kept.has(button.dataset.for));
    };
    const show = () => {
      charts.drawPanel(section.querySelector(".panel"), panels[chooser.selectedIndex], axes);
      highlight();
    };
    chooser.addEventListener("change", show);
    for (const button of all(".step", section)) {
      button.addEventListener("click", () => {
        const n = chooser.options.length;
        chooser.selectedIndex = (chooser.selectedIndex + Number(button.dataset.step) + n) % n;
        show();
      });
    }
    const legend = curves.querySelector(".legend");
    const pointed = (event) => event.target.closest("button[data-for]")?.dataset.for;
    legend.addEventListener("click", (event) => {
      const series = pointed(event);
      if (series === undefined) return;
      if (!kept.delete(series)) kept.add(series);
      highlight();
    });
    for (const event of ["mouseover", "focusin"]) legend.addEventListener(event, (happened) => highlight(pointed(happened)));
    for (const event of ["mouseleave", "focusout"]) legend.addEventListener(event, () => highlight());
    let width = 0;
    new ResizeObserver(([entry]) => {
      const now = Math.round(entry.contentRect.width);
      if (now !== width) { width = now; show(); }
    }).observe(section);
  }

  // All jobs: drawn from the data in the page, some hundred rows at a time.
  const { columns, headings, numeric, decimals, rows } = JSON.parse(byId("jobs-data").textContent);
  const table = byId("all-jobs");
  const page = 200;
  const words = new Map(rows.map((row) => [row, row.filter((value) => typeof value === "string").join(" ").toLowerCase()]));
  const statusColumn = columns.indexOf("status");
  let sorted = rows;
  let limit = page;
  const written = (value, i) => value === null ? "–" : columns[i] in decimals ? value.toFixed(decimals[columns[i]]) : String(value);
  const cellOf = (value, i) => {
    const cell = document.createElement("td");
    cell.textContent = written(value, i);
    if (numeric[i]) cell.className = "n";
    if (i === statusColumn && value !== "done") cell.className = "status";
    return cell;
  };
  const draw = () => {
    const wanted = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const status = byId("status").value;
    const found = sorted.filter((row) => (!status || row[statusColumn] === status) && wanted.every((word) => words.get(row).includes(word)));
    const body = found.slice(0, limit).map((row) => {
      const line = document.createElement("tr");
      line.append(...row.map(cellOf));
      return line;
    });
    table.tBodies[0].replaceChildren(...body);
    byId("shown").textContent = `${body.length} of ${found.length} rows${found.length < rows.length ? ` (${rows.length} in all)` : ""}`;
    byId("more").hidden = found.length <= limit;
  };
  const head = document.createElement("tr");
  headings.forEach((text, i) => {
    const heading = document.createElement("th");
    const button = document.createElement("button");
    heading.scope = "col";
    heading.setAttribute("aria-sort", "none");
    if (numeric[i]) heading.className = "n";
    button.type = "button";
    button.textContent = text;
    heading.append(button);
    head.append(heading);
  });
  table.tHead.append(head);
  table.tHead.addEventListener("click", (event) => {
    const heading = event.target.closest("th");
    if (!heading) return;
    const i = heading.cellIndex;
    sorted = ordered(rows, (row) => row[i], turn(heading));
    draw();
  });
  for (const [id, happens] of [["filter", "input"], ["status", "change"]]) {
    byId(id).addEventListener(happens, () => { limit = page; draw(); });
  }
  byId("more").addEventListener("click", () => { limit += page; draw(); });
  draw();
})();
