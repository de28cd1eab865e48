// The table of classes: search, sort, page through, open one. Of all the rows only those of one page are ever in the document.
"use strict";
(async () => {
  {% include "parts.js" %}
  if (!canUnpack) {
    told.textContent += "; this browser is too old to show the others";
    return;
  }
  const data = JSON.parse(await unpacked(element("data")));
  element("data").remove();
  const size = data.urn.length;

  const verdictOf = (row) => (data.valid[row] === null ? "unknown" : data.valid[row] ? "valid" : "invalid");
  const repeated = (name, row) => data[name].values[data[name].at[row]];
  const problemsOf = (row) => repeated("problem", row)?.split("; ") ?? [];
  const tones = { valid: "good", invalid: "bad", unknown: "quiet" };

  // Rows come in the order of their names, so a row's own number is its place by name.
  const ranked = (values) => {
    const places = values.map((_, at) => at).sort((one, other) => (values[one] < values[other] ? -1 : 1));
    const ranks = [];
    places.forEach((at, rank) => { ranks[at] = rank; });
    return ranks;
  };
  const sourceRanks = ranked(data.source.values);
  const problemRanks = ranked(data.problem.values.map((problem) => problem ?? ""));
  const verdictRanks = { invalid: 0, unknown: 1, valid: 2 };
  const keys = {
    urn: (row) => row,
    occurrence_count: (row) => data.occurrence_count[row],
    source_count: (row) => data.source_count[row],
    spelling_count: (row) => data.spelling_count[row],
    verdict: (row) => verdictRanks[verdictOf(row)] * problemRanks.length - problemRanks[data.problem.at[row]],
    source: (row) => sourceRanks[data.source.at[row]],
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
  const state = { column: "occurrence_count", descending: true, page: 0, length: 25, terms: [], nid: "", verdict: "" };
  let shown = ordered("occurrence_count", true);

  const select = () => {
    const order = ordered(state.column, state.descending);
    const { terms, nid, verdict } = state;
    if (terms.length) texts ??= data.urn.map((urn, row) => `${urn}\n${data.folder}${repeated("source", row)}`.toLowerCase());
    const place = nid && data.nid.values.indexOf(nid);
    const problem = verdict.startsWith("problem ") && verdict.slice(8);
    shown = !terms.length && !nid && !verdict ? order : order.filter((row) =>
      (!nid || data.nid.at[row] === place)
      && (!verdict || (problem ? problemsOf(row).includes(problem) : verdictOf(row) === verdict))
      && terms.every((term) => texts[row].includes(term)));
  };

  const nameSource = (made, source) => {
    made.textContent = visible(source);
    made.title = visible(data.folder + source);
  };

  // A row is a copy of the first, whose name becomes a button.
  const model = element("rows").firstElementChild.cloneNode(true);
  const button = inside(model.firstElementChild, "button");
  button.type = "button";
  button.append(model.firstElementChild.firstElementChild);
  const line = (row) => {
    const made = model.cloneNode(true);
    const [name, count, sources, spellings, verdict, source] = made.children;
    name.querySelector("code").textContent = visible(data.urn[row]);
    name.firstElementChild.setAttribute("aria-expanded", "false");
    count.textContent = number(data.occurrence_count[row]);
    sources.textContent = number(data.source_count[row]);
    spellings.textContent = number(data.spelling_count[row]);
    verdict.firstElementChild.textContent = verdictOf(row);
    verdict.firstElementChild.className = tones[verdictOf(row)];
    verdict.lastElementChild.textContent = visible(problemsOf(row).join("; "));
    nameSource(source.firstElementChild, repeated("source", row));
    made.dataset.row = row;
    return made;
  };

  // What is known of a class, in a row of its own below it.
  const code = (parent, text) => inside(inside(parent, "bdi"), "code", text);
  const spellingsOf = (row) => {
    const parts = data.spellings[row];
    return Array.from({ length: parts.length / 2 }, (_, at) => [parts[2 * at] ?? data.urn[row], parts[2 * at + 1]]);
  };
  const placesOf = (row) => {
    const parts = data.places?.[row] ?? [data.source.at[row], data.member.at[row], null, data.start[row], null];
    return Array.from({ length: parts.length / 5 }, (_, at) => parts.slice(5 * at, 5 * at + 5));
  };
  const listed = (parent, values, all, each, note = "") => {
    const list = inside(parent, "ul");
    for (const value of values) each(list, value);
    if (all > values.length) inside(list, "li", `and ${number(all - values.length)} more${note}`, "quiet");
  };
  const known = (row) => {
    const made = document.createElement("tr");
    made.setAttribute("role", "row");
    const cell = inside(made, "td", "", "about");
    cell.setAttribute("role", "cell");
    cell.colSpan = model.children.length;
    // A name that is cut here is none, and some browsers let no page copy.
    if (navigator.clipboard && !data.urn[row].endsWith("…")) {
      const copy = inside(cell, "button", "Copy the name");
      copy.type = "button";
      copy.addEventListener("click", async () => {
        const copied = await navigator.clipboard.writeText(data.urn[row]).then(() => true, () => false);
        copy.textContent = copied ? "Copied" : "The browser does not let this page copy";
      });
    }
    const facts = inside(cell, "dl");
    const fact = (name) => {
      inside(facts, "dt", name);
      return inside(facts, "dd");
    };
    const verdict = fact("Verdict");
    const problems = problemsOf(row);
    inside(verdict, "span", verdictOf(row), tones[verdictOf(row)]);
    if (data.valid[row] !== false || !problems.length) verdict.append(`: ${data.verdicts[verdictOf(row)]}`);
    for (const problem of problems) {
      verdict.append("; ");
      code(verdict, problem);
      if (data.problems[problem]) verdict.append(`: ${data.problems[problem]}`);
    }
    const nid = repeated("nid", row);
    const namespace = fact("Namespace");
    code(namespace, nid);
    namespace.append(` ${Object.hasOwn(data.titles, nid) ? data.titles[nid] : ""} (${visible(repeated("status", row))})`);
    if (data.link[row] !== null) {
      const link = inside(fact("Resolver"), "a", data.link[row]);
      link.href = data.link[row];
      link.rel = "noopener noreferrer";
    }
    listed(fact("Spellings"), spellingsOf(row), data.spelling_count[row], (list, [text, count]) => {
      const item = inside(list, "li");
      code(item, text);
      item.append(` × ${number(count)}`);
    });
    const places = placesOf(row);
    const remedy = data.places ? "" : "; a page made with --occurrences shows them";
    let item, before = [];
    listed(fact("Places"), places, data.occurrence_count[row], (list, place) => {
      const [source, member, at, begins, text] = place;
      const goesOn = source === before[0] && member === before[1];
      if (!goesOn) {
        item = inside(list, "li");
        nameSource(inside(item, "bdi"), data.source.values[source]);
        if (data.member.values[member] !== null) inside(item, "bdi", `!/${data.member.values[member]}`);
      }
      item.append(`${goesOn ? ";" : ":"} ${at === null ? "" : `line ${number(at)}, `}octet ${number(begins)}`);
      const spelling = typeof text === "number" ? spellingsOf(row)[text][0] : text;
      if (spelling !== null && spelling !== data.urn[row]) {
        item.append(" as ");
        code(item, spelling);
      }
      before = place;
    }, remedy);
    return made;
  };
  element("rows").addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-row]");
    if (!row || (getSelection().toString() && !event.target.closest("button"))) return;
    const opener = row.querySelector("button");
    const opens = opener.getAttribute("aria-expanded") === "false";
    opener.setAttribute("aria-expanded", opens);
    if (opens) row.after(known(Number(row.dataset.row)));
    else row.nextElementSibling.remove();
  });

  const draw = () => {
    const start = turn(shown.length);
    const rows = Array.from(shown.subarray(start, start + state.length), line);
    element("rows").replaceChildren(...rows);
    const of = shown.length === size ? number(size) : `${number(shown.length)} (of ${number(size)})`;
    const others = data.all - size;
    told.textContent = rows.length
      ? `${number(start + 1)} to ${number(start + rows.length)} of ${of}`
      : `Nothing fits what you look for${others ? `; ${number(others)} classes are not in this page` : ""}`;
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
    const sorter = document.createElement("button");
    sorter.type = "button";
    sorter.textContent = head.textContent;
    head.replaceChildren(sorter);
    sorter.addEventListener("click", () => {
      const { column } = head.dataset;
      // Of numbers one looks for the greatest first.
      const first = column.endsWith("_count");
      change({ column, descending: column === state.column ? !state.descending : first });
    });
  }
  const turn = listens(state, change, ["nid", "verdict"]);
  draw();
})();
