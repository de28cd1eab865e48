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

  // Hyphens make no difference to a search, and both numbers of a book (ISO 2108) are one.
  const joined = (text) => text.toLowerCase().replace(/[-\u00ad\u2010-\u2015]/gu, "");
  const sum = (digits, weight) => Array.from(digits).reduce((all, digit, at) => all + digit * weight(at), 0);
  const isbn = /^((?:urn:)?isbn:)?(?:978)?(\d{9})[\dx]$/u;
  const spelled = (term) => {
    const [, label = "", digits] = isbn.exec(term) ?? [];
    if (!digits) return [term];
    const ten = digits + "0123456789x"[sum(digits, (at) => at + 1) % 11];
    const thirteen = `978${digits}${(10 - (sum(`978${digits}`, (at) => (at % 2 ? 3 : 1)) % 10)) % 10}`;
    const numbers = [label + ten, label + thirteen];
    return numbers.includes(term) ? numbers : [term];
  };
  // A number with blanks in it is one term.
  const wanted = (text) => {
    const whole = joined(text).replace(/\s/gu, "");
    return (isbn.test(whole) ? [whole] : termsOf(joined(text))).map(spelled);
  };

  let texts = null; // what is searched, made when it is first needed
  const defaults = {
    search: "", nid: "", verdict: "", status: "", source: "", count: "", sort: "-occurrence_count", page: 1, length: 25,
  };
  const state = { ...defaults };
  let shown;

  // For each filter: a value -> whether a row fits it.
  const isEqual = (name) => (value) => {
    const at = data[name].values.indexOf(value);
    return (row) => data[name].at[row] === at;
  };
  const filters = {
    nid: isEqual("nid"),
    status: isEqual("status"),
    source: isEqual("source"),
    count: (value) => {
      const [least, most = least] = value.split("-").map(Number);
      return (row) => data.occurrence_count[row] >= least && data.occurrence_count[row] <= most;
    },
    verdict: (value) => {
      const [, problem] = /^problem (.*)$/su.exec(value) ?? [];
      return problem ? (row) => problemsOf(row).includes(problem) : (row) => verdictOf(row) === value;
    },
    search: (value) => {
      const terms = wanted(value);
      texts ??= data.urn.map((urn, row) => joined(
        [urn, ...spellingsOf(row).map(([text]) => text), data.folder + repeated("source", row)].join("\n")));
      return (row) => terms.every((term) => term.some((spelling) => texts[row].includes(spelling)));
    },
  };
  const select = () => {
    const order = ordered(state.sort.replace("-", ""), state.sort.startsWith("-"));
    const tests = Object.keys(filters).filter((name) => state[name]).map((name) => filters[name](state[name]));
    shown = tests.length ? order.filter((row) => tests.every((test) => test(row))) : order;
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
    const verdict = fact("Result");
    const problems = problemsOf(row);
    inside(verdict, "span", verdictOf(row), tones[verdictOf(row)]);
    if (data.valid[row] !== false || !problems.length) verdict.append(`: ${data.verdicts[verdictOf(row)]}`);
    for (const problem of problems) {
      verdict.append("; ");
      code(verdict, problem);
      if (data.problems[problem]) verdict.append(`: ${data.problems[problem]}`);
      if (problem === "check-digit" && repeated("hint", row)) verdict.append(`; ${repeated("hint", row)}`);
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
      item.append(`${goesOn ? ";" : ":"} ${at === null ? "" : `line ${number(at)}, `}byte ${number(begins)}`);
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

  const facets = { status: "Registration", source: "First found in", count: "Occurrences" };
  const draw = () => {
    const start = turn(shown.length);
    const rows = Array.from(shown.subarray(start, start + state.length), line);
    element("rows").replaceChildren(...rows);
    const of = shown.length === size ? number(size) : `${number(shown.length)} (of ${number(size)})`;
    const others = data.all - size;
    element("only").textContent = Object.keys(facets).filter((name) => state[name])
      .map((name) => visible(`${facets[name]}: ${state[name]}`)).join("; ");
    element("all").hidden = !Object.keys(filters).some((name) => state[name]);
    element("save").disabled = !rows.length;
    told.textContent = rows.length
      ? `${number(start + 1)} to ${number(start + rows.length)} of ${of}`
      : `Nothing fits what you look for${others ? `; ${number(others)} classes are not in this page` : ""}`;
    for (const head of document.querySelectorAll("#classes th[data-column]")) {
      if (state.sort.replace("-", "") === head.dataset.column)
        head.setAttribute("aria-sort", state.sort.startsWith("-") ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  };

  // The address holds what is chosen, after the name of a section: #classes?nid=isbn&page=2. So the button Back works, and
  // an address can be sent to others. Texts in it are only compared with those of the page.
  const inAddress = () =>
    String(new URLSearchParams(Object.entries(state).filter(([name, value]) => value !== defaults[name])));
  const fromAddress = () => {
    const given = new URLSearchParams(location.hash.split("?").slice(1).join("?"));
    for (const [name, value] of Object.entries(defaults)) {
      const text = given.get(name) ?? "";
      state[name] = typeof value === "number" ? Math.trunc(Number(text)) || value : text || value;
    }
    if (!Object.hasOwn(keys, state.sort.replace("-", ""))) state.sort = defaults.sort;
    if (![...element("length").options].some((option) => Number(option.value) === state.length)) state.length = defaults.length;
  };
  const inControls = () => {
    for (const name of ["nid", "verdict"]) {
      const { options } = element(name);
      if (![...options].some((option) => option.value === state[name]))
        options.add(new Option(visible(state[name].replace(/^problem /u, "")), state[name]));
    }
    for (const name of ["search", "nid", "verdict", "length"]) element(name).value = state[name];
  };
  // An entry of the history that the page made itself is marked. A link to a section makes an entry without a mark.
  const toAddress = (section, replaces) => {
    const query = inAddress();
    const address = section || query ? `#${section || "classes"}${query && `?${query}`}` : location.pathname + location.search;
    try {
      history[replaces ? "replaceState" : "pushState"]("urnscan", "", address);
    } catch {} // A browser may refuse too many changes.
  };
  const section = () => location.hash.slice(1).split("?")[0];
  const reveal = () => {
    const target = document.getElementById(section());
    if (!target) return;
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
    target.scrollIntoView();
  };
  let isTyping = false;
  const change = (changes) => {
    const types = Object.hasOwn(changes, "search");
    Object.assign(state, { page: 1 }, changes);
    select();
    draw();
    toAddress(section() && "classes", types && isTyping);
    isTyping = types;
  };
  const restore = () => {
    isTyping = false;
    fromAddress();
    inControls();
    select();
    draw();
  };
  addEventListener("popstate", (event) => {
    const isOwn = event.state === "urnscan";
    if (isOwn || location.hash.includes("?")) restore();
    if (isOwn) return;
    if (location.hash.includes("?")) reveal();
    toAddress(section(), true);
  });
  for (const link of document.querySelectorAll("a[data-filter]")) link.hash = `classes?${link.dataset.filter}`;
  element("all").addEventListener("click", () => {
    change({ ...defaults, sort: state.sort, length: state.length });
    inControls();
    element("search").focus();
  });

  // The list as a table that urnscan reads again, with the columns of urnscan -o. A text that would be a formula gets an
  // apostrophe before it.
  const cell = (value) => {
    if (value === null) return "";
    if (typeof value !== "string") return String(value);
    return `"${value.replace(/^[=+@\-\t\r\n\uff1d\uff0b\uff0d\uff20]/u, "'$&").replaceAll('"', '""')}"`;
  };
  const columns = {
    urn: (row) => data.urn[row],
    nid: (row) => repeated("nid", row),
    nss: (row) => data.urn[row].split(":").slice(2).join(":"),
    nid_status: (row) => repeated("status", row),
    occurrence_count: (row) => data.occurrence_count[row],
    source_count: (row) => data.source_count[row],
    spelling_count: (row) => data.spelling_count[row],
    spellings: (row) => JSON.stringify(spellingsOf(row).map(([text, count]) => ({ text, count }))),
    first_source: (row) => data.folder + repeated("source", row),
    first_member: (row) => repeated("member", row),
    first_start: (row) => data.start[row],
    valid: (row) => data.valid[row],
    problem: (row) => repeated("problem", row),
  };
  element("save").addEventListener("click", () => {
    const lines = Array.from(shown, (row) => `${Object.values(columns).map((value) => cell(value(row))).join(",")}\n`);
    download("classes.csv", [`\ufeff${Object.keys(columns).join(",")}\n`, ...lines]);
  });

  for (const head of document.querySelectorAll("#classes th[data-column]")) {
    const sorter = document.createElement("button");
    sorter.type = "button";
    sorter.textContent = head.textContent;
    head.replaceChildren(sorter);
    sorter.addEventListener("click", () => {
      const { column } = head.dataset;
      // Of numbers one looks for the greatest first.
      const signs = column.endsWith("_count") ? ["-", ""] : ["", "-"];
      change({ sort: state.sort === signs[0] + column ? signs[1] + column : signs[0] + column });
    });
  }
  const turn = listens(state, change, ["nid", "verdict"]);
  element("list").hidden = false;
  restore();
  if (location.hash.includes("?") && history.state === null) reveal();
  toAddress(section(), true);
})();
