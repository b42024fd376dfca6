"use strict";
(() => {
  const make = (tag, props) => Object.assign(document.createElement(tag), props);

  // The theme lives as long as the page: nothing is stored.
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => { theme.textContent = isDark() ? "Light theme" : "Dark theme"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
  nameTheme();
  theme.hidden = false;

  // Links lead into sections that are folded: these open on the way.
  const openTarget = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    target.querySelector(":scope > details.part")?.setAttribute("open", "");
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", openTarget);
  openTarget();
  // A link to the section that is the address already changes no address.
  for (const link of document.querySelectorAll("nav a")) link.addEventListener("click", () => setTimeout(openTarget));

  const parts = [...document.querySelectorAll("details.part")];
  if (parts.length) {
    const all = make("button", { type: "button", id: "open-all", textContent: "Open all sections" });
    all.addEventListener("click", () => {
      const open = parts.some((part) => !part.open);
      for (const part of parts) part.open = open;
      all.textContent = open ? "Close all sections" : "Open all sections";
    });
    theme.before(all);
  }

  const cellValue = (row, at) => {
    const cell = row.cells[at];
    return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent;
  };
  const compare = (a, b) =>
    typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });

  const sortBy = (table, header, at) => {
    // Numbers start with the largest, names with A.
    const first = header.classList.contains("n") ? "descending" : "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = header.getAttribute("aria-sort") === first ? other : first;
    for (const each of header.parentElement.cells) each.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => sign * compare(cellValue(a, at), cellValue(b, at)));
    table.tBodies[0].append(...rows);
  };

  const makeSortable = (table) => {
    [...table.tHead.rows[0].cells].forEach((header, at) => {
      const button = make("button", { type: "button", className: "sort" });
      button.append(...header.childNodes);
      button.addEventListener("click", () => sortBy(table, header, at));
      header.setAttribute("aria-sort", "none");
      header.append(button);
    });
  };

  const makeFilter = (table) => {
    const rows = [...table.tBodies[0].rows];
    if (rows.length <= 8) return;
    const label = make("label", { className: "filter" });
    const input = make("input", { type: "search", autocomplete: "off", spellcheck: false });
    const count = make("output", { className: "small" });
    const apply = () => {
      const wanted = input.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
      const shown = rows.filter((row) => !row.hidden).length;
      count.textContent = `${shown} of ${rows.length} rows`;
    };
    input.addEventListener("input", apply);
    label.append(make("span", { textContent: "Filter" }), input, count);
    table.parentElement.before(label);
    apply();
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    makeSortable(table);
    makeFilter(table);
  }

  for (const line of document.querySelectorAll(".command")) {
    const button = make("button", { type: "button", textContent: "Copy" });
    const code = line.querySelector("code");
    button.setAttribute("aria-label", `Copy ${code.textContent}`);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        // Without the clipboard, leave the command selected for the keyboard.
        getSelection().selectAllChildren(code);
      }
    });
    line.append(button);
  }
})();
