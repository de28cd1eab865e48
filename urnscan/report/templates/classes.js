// The table of classes: search, sort and page through. Of all the rows only those of one page are ever in the document.
"use strict";
(async () => {
  const element = (id) => document.getElementById(id);
  const told = element("told");
  if (typeof DecompressionStream === "undefined") {
    told.textContent += "; this browser is too old to show the others";
    return;
  }
  const packed = Uint8Array.from(atob(element("data").textContent), (octet) => octet.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = JSON.parse(await new Response(unpacked).text());
  element("data").remove();
  const size = data.urn.length;

  // What cannot be seen, or commands, becomes a sign that is seen, as in the rest of the page.
  const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;
  const visible = (text) =>
    text.replace(unseen, (one) => `[U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
  const number = new Intl.NumberFormat("en");
  const verdictOf = (row) => (data.valid[row] === null ? "unknown" : data.valid[row] ? "valid" : "invalid");
  const problemOf = (row) => data.problem.values[data.problem.at[row]] ?? "";
  const sourceOf = (row) => data.first_source.values[data.first_source.at[row]];

  // Rows come in the order of their names, so a row's own number is its place by name.
  const ranked = (values) => {
    const places = values.map((_, at) => at).sort((one, other) => (values[one] < values[other] ? -1 : 1));
    const ranks = [];
    places.forEach((at, rank) => { ranks[at] = rank; });
    return ranks;
  };
  const sourceRanks = ranked(data.first_source.values);
  const problemRanks = ranked(data.problem.values.map((problem) => problem ?? ""));
  const verdictRanks = { invalid: 0, unknown: 1, valid: 2 };
  const keys = {
    urn: (row) => row,
    count: (row) => data.count[row],
    sources: (row) => data.sources[row],
    variants: (row) => data.variants[row],
    verdict: (row) => verdictRanks[verdictOf(row)] * problemRanks.length - problemRanks[data.problem.at[row]],
    from: (row) => sourceRanks[data.first_source.at[row]],
  };
  const orders = new Map();
  const ordered = (column, descending) => {
    const name = `${column} ${descending}`;
    if (!orders.has(name)) {
      const key = Float64Array.from({ length: size }, (_, row) => keys[column](row));
      const sign = descending ? -1 : 1;
      orders.set(name, Uint32Array.from(key.keys()).sort((one, other) => sign * (key[one] - key[other]) || one - other));
    }
    return orders.get(name);
  };

  let texts = null; // what is searched, made when it is first needed
  const state = { column: "count", descending: true, page: 0, length: 25, terms: [], nid: "", verdict: "" };
  let shown = ordered("count", true);

  const select = () => {
    const order = ordered(state.column, state.descending);
    const { terms, nid, verdict } = state;
    if (terms.length) texts ??= data.urn.map((urn, row) => `${urn}\n${sourceOf(row)}`.toLowerCase());
    const place = nid && data.nid.values.indexOf(nid);
    const problem = verdict.startsWith("problem ") && verdict.slice(8);
    shown = !terms.length && !nid && !verdict ? order : order.filter((row) =>
      (!nid || data.nid.at[row] === place)
      && (!verdict || (problem ? problemOf(row).split("; ").includes(problem) : verdictOf(row) === verdict))
      && terms.every((term) => texts[row].includes(term)));
  };

  const cell = (kind, name, label) => {
    const made = document.createElement(kind);
    made.setAttribute("role", kind === "th" ? "rowheader" : "cell");
    if (kind === "th") made.scope = "row";
    made.className = name;
    if (label) made.dataset.label = label;
    return made;
  };
  const inside = (parent, kind, text, name = "") => {
    const made = document.createElement(kind);
    made.textContent = text;
    if (name) made.className = name;
    parent.append(made);
    return made;
  };
  const line = (row) => {
    const made = document.createElement("tr");
    made.setAttribute("role", "row");
    const name = cell("th", "name");
    inside(inside(name, "bdi", ""), "code", visible(data.urn[row]));
    const numbers = [["Occurrences", data.count], ["Sources", data.sources], ["Spellings", data.variants]].map(([label, values]) => {
      const made = cell("td", "number", label);
      made.textContent = number.format(values[row]);
      return made;
    });
    const verdict = cell("td", "verdict", "Verdict");
    inside(verdict, "span", verdictOf(row), { valid: "good", invalid: "bad", unknown: "quiet" }[verdictOf(row)]);
    if (problemOf(row)) inside(verdict, "small", visible(problemOf(row)));
    const from = cell("td", "from", "First found in");
    inside(from, "bdi", visible(sourceOf(row)));
    made.append(name, ...numbers, verdict, from);
    return made;
  };

  const draw = () => {
    const pages = Math.max(1, Math.ceil(shown.length / state.length));
    state.page = Math.min(Math.max(0, state.page), pages - 1);
    const start = state.page * state.length;
    const rows = Array.from(shown.subarray(start, start + state.length), line);
    element("rows").replaceChildren(...rows);
    const of = shown.length === size ? `${number.format(size)}` : `${number.format(shown.length)} (of ${number.format(size)})`;
    told.textContent = rows.length
      ? `${number.format(start + 1)} to ${number.format(start + rows.length)} of ${of}`
      : "Nothing fits what you look for";
    element("page").value = state.page + 1;
    element("page").max = pages;
    element("pages").textContent = `of ${number.format(pages)}`;
    element("previous").disabled = state.page === 0;
    element("next").disabled = state.page === pages - 1;
    for (const head of document.querySelectorAll("#classes th[data-column]")) {
      if (head.dataset.column === state.column) head.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  };
  const change = (changes) => {
    Object.assign(state, { page: 0 }, changes);
    select();
    draw();
  };

  for (const head of document.querySelectorAll("#classes th[data-column]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const { column } = head.dataset;
      // Of numbers one looks for the greatest first.
      const first = ["count", "sources", "variants"].includes(column);
      change({ column, descending: column === state.column ? !state.descending : first });
    });
  }
  let waiting;
  element("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      change({ terms: element("search").value.toLowerCase().split(/\s+/u).filter(Boolean) });
    }, 80);
  });
  for (const id of ["nid", "verdict"]) element(id).addEventListener("change", () => change({ [id]: element(id).value }));
  element("length").addEventListener("change", () => change({ length: Number(element("length").value) }));
  element("page").addEventListener("change", () => change({ page: Math.trunc(Number(element("page").value)) - 1 || 0 }));
  element("previous").addEventListener("click", () => change({ page: state.page - 1 }));
  element("next").addEventListener("click", () => change({ page: state.page + 1 }));
  for (const id of ["controls", "pager"]) {
    element(id).addEventListener("submit", (event) => event.preventDefault());
    element(id).hidden = false;
  }
  draw();
})();
