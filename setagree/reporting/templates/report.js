"use strict";
// Everything is on the page without this; it lets tables be sorted and the paragraph be copied.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const original = [...body.rows];
  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.sort !== undefined) return Number(cell.dataset.sort);
    const text = cell.textContent.trim();
    return text === "" || text === "\u2013" ? null : text;
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  };
  const sort = (column, direction) => {
    const sign = direction === "ascending" ? 1 : -1;
    const keyed = original.map((row, place) => ({ row, place, key: key(row, column) }));
    keyed.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
      return sign * compare(a.key, b.key) || a.place - b.place;
    });
    body.append(...keyed.map((each) => each.row));
    heads.forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", direction);
      else head.removeAttribute("aria-sort");
    });
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.title = "Sort by " + head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const first = head.classList.contains("n") ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      sort(column, head.getAttribute("aria-sort") === first ? other : first);
    });
  });
}
for (const text of document.querySelectorAll("[id$=methods-text]")) {
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "copy";
  copy.textContent = "Copy the paragraph";
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.innerText);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      copy.textContent = "Selected: copy it with the keyboard";
    }
  });
  text.after(copy);
}
// A link into the page of a question opens that page, in older browsers as well.
const reveal = () => {
  const target = document.getElementById(location.hash.slice(1));
  const page = target?.closest(".question");
  if (page && !page.open) {
    page.open = true;
    target.scrollIntoView();
  }
};
addEventListener("hashchange", reveal);
reveal();
// Paper shows what a reader of the page would open.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const each of closed) each.open = true;
});
addEventListener("afterprint", () => { for (const each of closed) each.open = false; });
