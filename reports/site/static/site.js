// Filters the matrix and copies scripts. Pages are complete without it.
"use strict";

function filtering() {
  const form = document.getElementById("filter");
  if (!form) return;
  const headings = [...document.querySelectorAll("#matrix thead th")].map((th) => th.textContent.toLowerCase());
  const rows = [...document.querySelectorAll("#matrix tr.rule")].map((row) => ({
    row,
    book: row.parentElement.dataset.book,
    name: row.cells[0].textContent.toLowerCase(),
    items: [...row.cells].flatMap((cell, column) => [...cell.querySelectorAll("li")].map((item) => ({
      item,
      verdict: item.dataset.verdict,
      of: item.dataset.of.trim().split(" ").map((pair) => pair.split("/")),
      text: item.textContent.toLowerCase() + " " + headings[column],
    }))),
  }));

  function wanted() {
    return Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
  }

  function show() {
    const { search = "", book, dtype, engine, verdict } = wanted();
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { row, book: own, name, items } of rows) {
      let any = items.length === 0 && !dtype && !engine && !verdict && words.every((word) => name.includes(word));
      for (const { item, verdict: outcome, of, text } of items) {
        const fits =
          (!verdict || outcome === verdict) &&
          of.some(([d, e]) => (!dtype || d === dtype) && (!engine || e === engine)) &&
          words.every((word) => name.includes(word) || text.includes(word));
        if (item.hidden === fits) item.hidden = !fits;
        any = any || fits;
      }
      const hides = !any || Boolean(book && own !== book);
      if (row.hidden !== hides) row.hidden = hides;
      if (!hides) shown += 1;
    }
    for (const body of document.querySelectorAll("#matrix tbody")) {
      body.hidden = !body.querySelector("tr.rule:not([hidden])");
    }
    document.getElementById("shown").textContent = `${shown} of ${rows.length} rules`;
  }

  function remember() {
    const state = new URLSearchParams(wanted()).toString();
    history.replaceState(null, "", state ? `#?${state}` : location.pathname + location.search);
  }

  function recall() {
    if (!location.hash.startsWith("#?")) return;
    for (const [name, value] of new URLSearchParams(location.hash.slice(2))) {
      const field = form.elements.namedItem(name);
      if (field) field.value = value;
    }
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { show(); remember(); });
  form.addEventListener("reset", () => setTimeout(() => { show(); remember(); }));
  window.addEventListener("hashchange", () => { recall(); show(); });
  form.hidden = false;
  recall();
  show();
}

function copying() {
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);  // where a page may not write to the clipboard
        button.textContent = "Selected: press Ctrl+C";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
}

filtering();
copying();
