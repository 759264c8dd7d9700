"use strict";
// The page is complete without this script; it adds sorting, search, hiding of runs, and the choice of light or dark.
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  root.classList.add("js");

  for (const key of all(".key")) {
    key.addEventListener("click", () => {
      const shown = key.getAttribute("aria-pressed") !== "true";
      key.setAttribute("aria-pressed", String(shown));
      root.classList.toggle(`hide-m${key.dataset.run}`, !shown);
    });
  }

  const theme = document.getElementById("theme");
  const themes = ["auto", "light", "dark"];
  const wear = (name) => {
    if (name === "auto") delete root.dataset.theme;
    else root.dataset.theme = name;
    theme.dataset.now = name;
    theme.textContent = `Colours: ${name}`;
  };
  let kept = "auto";
  // A browser may forbid storage to a file; the choice then lasts as long as the page.
  try { kept = localStorage.getItem("dsb2-theme") || "auto"; } catch { kept = "auto"; }
  wear(themes.includes(kept) ? kept : "auto");
  theme.addEventListener("click", () => {
    const next = themes[(themes.indexOf(theme.dataset.now) + 1) % themes.length];
    wear(next);
    try { localStorage.setItem("dsb2-theme", next); } catch { /* as above */ }
  });

  // Cells carry what they are sorted by in data-v: a number, a text, or nothing, which comes last in both directions.
  const compare = (a, b, turn) => {
    if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
    const [x, y] = [Number(a), Number(b)];
    return turn * (Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y);
  };
  for (const button of all("th button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const table = head.closest("table");
      const column = Number(button.dataset.column);
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of all("th[aria-sort]", table)) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const value = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent.trim();
      const rows = [...body.rows].map((row, place) => ({ row, place, v: value(row) }));
      rows.sort((a, b) => compare(a.v, b.v, up ? 1 : -1) || a.place - b.place);
      body.append(...rows.map((item) => item.row));
    });
  }

  const query = document.getElementById("search");
  const filters = all("select[data-filter]");
  const count = document.getElementById("count");
  const entries = all("[data-q]");
  const filter = () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const entry of entries) {
      const fits = words.every((word) => entry.dataset.q.includes(word))
        && filters.every((select) => !select.value || entry.dataset[select.dataset.filter] === select.value);
      entry.hidden = !fits;
      if (fits && entry.tagName === "TR") shown += 1;
    }
    for (const part of all(".part")) part.hidden = !part.querySelector("[data-q]:not([hidden])");
    count.textContent = `${shown} of ${count.dataset.of} tasks`;
  };
  query.addEventListener("input", filter);
  for (const select of filters) select.addEventListener("change", filter);
  for (const link of all("a[data-domain-link]")) {
    link.addEventListener("click", () => {
      document.querySelector('select[data-filter="domain"]').value = link.dataset.domainLink;
      filter();
    });
  }

  const details = all("details.task");
  document.getElementById("open-all").addEventListener("click", (event) => {
    const open = event.target.getAttribute("aria-pressed") !== "true";
    event.target.setAttribute("aria-pressed", String(open));
    event.target.textContent = open ? "Close all" : "Open all";
    for (const item of details) item.open = open;
  });
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.matches("details.task")) return;
    if (target.hidden) {
      query.value = "";
      for (const select of filters) select.value = "";
      filter();
    }
    target.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
