// Groups of records in doubt, and pairs that may be the same: search, page through, open one, decide, save. The page holds the table
// of --review in CSV, in blocks, and the records of each block next to it. A row that names another record is a pair: a group of
// two records, about which there is one decision. A block of records is unpacked when a group of it is opened.
"use strict";
(async () => {
  {% include "parts.js" %}
  if (!canUnpack) {
    told.textContent = "This browser is too old: --review FILE.csv writes the same groups as a table";
    return;
  }

  // Rows of CSV: their cells, and `rest`, the text after the third cell.
  const parsed = (text, separator = ",") => {
    const rows = [];
    const plain = new RegExp(`[^${separator}\\r\\n]*`, "y");
    for (let at = 0; at < text.length;) {
      const cells = [];
      let rest = 0;
      for (;;) {
        if (text[at] === '"') {
          let end = text.indexOf('"', at + 1);
          while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
          if (end < 0) end = text.length;
          cells.push(text.slice(at + 1, end).replaceAll('""', '"'));
          at = end + 1;
        } else {
          plain.lastIndex = at;
          cells.push(plain.exec(text)[0]);
          at = plain.lastIndex;
        }
        if (cells.length === 3) rest = at;
        if (text[at] !== separator) break;
        at += 1;
      }
      const end = at;
      at += text.startsWith("\r\n", at) ? 2 : 1;
      if (cells.length > 1) rows.push({ cells, rest: text.slice(rest, end) });
    }
    return rows;
  };
  // A text that would be a formula has an apostrophe before it.
  const defused = /^'(?=[=+@\-\t\r\n\uff1d\uff0b\uff0d\uff20])/u;
  const named = (names, cells) =>
    Object.fromEntries(names.map((name, at) => [name, (cells[at] ?? "").replace(defused, "")]));

  const packedRecords = [...document.querySelectorAll("script.records")];
  const rows = [];
  const groups = [];
  let names, head;
  for (const [block, packed] of [...document.querySelectorAll("script.rows")].entries()) {
    const text = await unpacked(packed);  // eslint-disable-line no-await-in-loop
    packed.remove();
    const read = parsed(text);
    if (!names) {
      head = `\ufeff${text.slice(0, text.indexOf("\n") + 1)}`; // decoding has dropped the mark of UTF-8
      names = read.shift().cells;
    }
    let at = 0; // records of the block
    for (const { cells, rest } of read) {
      const isPair = Boolean(cells[names.indexOf("other_record")]);
      if (isPair || groups.at(-1)?.component !== cells[0]) {
        groups.push({ component: cells[0], isPair, first: rows.length, end: rows.length, number: groups.length });
      }
      for (const side of isPair ? ["", "other_"] : [""]) {
        rows.push({ cells, rest, side, block, at, group: groups.length - 1, word: cells[2], isDecided: false, isImplied: false });
        at += 1;
      }
      groups.at(-1).end = rows.length;
    }
  }
  const column = Object.fromEntries(names.map((name, at) => [name, at]));
  const cell = (row, name) => row.cells[column[row.side + name] ?? column[name]] ?? "";
  const value = (row, name) => cell(row, name).replace(defused, "");
  const listOf = (row, name) => JSON.parse(cell(row, name) || "[]");
  const rowsOf = (group) => rows.slice(group.first, group.end);
  const nameOf = (row) => value(row, "record_id") || `Record ${value(row, "record")}`;
  const meanings = {
    "chain": "fits several that contradict each other", "max-cluster": "too many are connected",
    "unsure": "the key alone is not enough", "never-join": "a pair that is never joined", "candidate": "may be the same",
    "removed": "shown because records are removed", "changed": "a record has changed since people decided",
  };
  for (const group of groups) {
    const own = rowsOf(group);
    group.title = own.map((row) => value(row, "title")).find(Boolean) || nameOf(own[0]);
    group.reasons = group.isPair ? ["candidate"] : [...new Set(own.flatMap((row) => value(row, "reason").split(" ").filter(Boolean)))];
    if (!group.reasons.length) group.reasons.push(own.some((row) => row.word === "apart") ? "changed" : "removed");
    group.similarity = group.isPair ? Number(value(own[0], "similarity")) : 0;
    group.state = "open"; // or "part", "decided": a value of the filter
    group.fault = "";
  }
  for (const reason of [...new Set(groups.flatMap((group) => group.reasons))].sort()) {
    const option = inside(element("reason"), "option", meanings[reason] ?? `other ${reason}`);
    option.value = reason;
  }

  // The list of groups.
  const collator = new Intl.Collator("en", { numeric: true });
  const orders = {
    title: (one, other) => collator.compare(one.title, other.title) || one.number - other.number,
    number: (one, other) => one.number - other.number,
    similarity: (one, other) => other.similarity - one.similarity || one.number - other.number,
    size: (one, other) => other.end - other.first - (one.end - one.first) || one.number - other.number,
  };
  const state = { order: "title", page: 1, length: 25, search: "", which: "", reason: "" };
  let shown = groups, open = null, unsaved = false;
  let isNew = false; // a decision was made after the last one was saved
  const say = (text) => { element("said").textContent = visible(text); };
  const searched = (group) => {
    group.text ??= rowsOf(group)
      .map((row) => ["title", "author", "publication_year", "edition", "part", "urns", "other_keys", "record_id", "source"].map((name) => value(row, name)).join("\n"))
      .join("\n").toLowerCase();
    return group.text;
  };
  const select = () => {
    const { which, reason } = state;
    const terms = termsOf(state.search);
    shown = groups.filter((group) =>
      (!which || group.state === which)
      && (!reason || group.reasons.includes(reason))
      && terms.every((term) => searched(group).includes(term)));
    shown.sort(orders[state.order]);
  };
  const why = (group) => group.reasons.map((reason) => meanings[reason] ?? `other ${reason}`).join(", ");
  const about = (group) => (group.isPair
    ? `2 records without a common identifier: ${why(group)}; titles ${Math.round(100 * group.similarity)}\u00a0% alike`
    : `${number(group.end - group.first)} records: ${why(group)}`);
  const mark = (button) => {
    const group = groups[button.dataset.group];
    if (group === open) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    const stateText = { open: "", part: "decided in part", decided: "decided" }[group.state];
    button.lastElementChild.textContent = group.fault ? "a decision is not applied" : stateText;
    button.lastElementChild.className = group.fault ? "bad" : "good";
  };
  const draw = () => {
    const start = turn(shown.length);
    const end = Math.min(start + state.length, shown.length);
    element("rows").replaceChildren();
    element("rows").start = start + 1;
    for (const group of shown.slice(start, end)) {
      const button = inside(inside(element("rows"), "li"), "button");
      button.type = "button";
      button.dataset.group = group.number;
      inside(button, "bdi", group.title);
      inside(button, "small", about(group), "quiet");
      inside(button, "small", "", "good");
      mark(button);
    }
    const of = shown.length === groups.length ? number(shown.length) : `${number(shown.length)} (of ${number(groups.length)})`;
    told.textContent = shown.length ? `${number(start + 1)} to ${number(end)} of ${of}` : "Nothing fits what you look for";
  };
  const change = (changes) => {
    Object.assign(state, { page: 1 }, changes);
    select();
    draw();
    if (shown.includes(open)) return;
    if (shown.length) {
      show(shown[0], false);
      return;
    }
    open = null;
    element("group").hidden = true;
  };
  const turn = listens(state, change, ["which", "reason", "order"]);
  element("rows").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) show(groups[button.dataset.group]);
  });

  // The open group.
  const words = { keep: "k", remove: "r", apart: "a", together: "t", "": "l" };
  const wordsOf = (group) => (group.isPair ? ["apart", "together", ""] : Object.keys(words));
  const explained = (kind) => Object.fromEntries([...document.querySelectorAll(`.keys.${kind} tr`)].map(({ cells: [key, meaning] }) =>
    [key.querySelector("kbd").textContent, meaning.textContent]));
  const meaningsOf = { group: explained("of-groups"), pair: explained("of-pairs") };
  // What records share that a key joins, in words.
  const joins = new Map([...document.querySelectorAll(".joins tr")].map(({ cells: [key, words_] }) => [key.textContent, words_.textContent]));
  const joinText = (name) => {
    const [kind, nid] = name.split(":");
    return kind === "urn" ? `same ${nid.toUpperCase()}` : joins.get(kind) ?? "";
  };
  const most = 12; // records that are shown at once
  const unpackedBlocks = new Map();
  const recordsOf = async (block) => {
    if (!unpackedBlocks.has(block)) {
      if (unpackedBlocks.size > 3) unpackedBlocks.delete(unpackedBlocks.keys().next().value);
      unpackedBlocks.set(block, JSON.parse(await unpacked(packedRecords[block])));
    }
    return unpackedBlocks.get(block);
  };
  const differs = (group, read) => new Set(rowsOf(group).map(read)).size > 1;
  const card = (row, place, [rest, ...lines]) => {
    const group = groups[row.group];
    const made = inside(element("records"), "div", "", "record");
    made.setAttribute("role", "group");
    made.tabIndex = 0;
    made.dataset.row = rows.indexOf(row);
    const title = inside(made, "h3", "");
    title.id = `name-${made.dataset.row}`;
    made.setAttribute("aria-labelledby", title.id);
    inside(title, "span", `Record ${number(place + 1)} of ${number(group.end - group.first)}: `, "hidden");
    inside(title, "bdi", nameOf(row));
    const where = inside(made, "p", "", "quiet");
    const member = value(row, "member");
    inside(where, "bdi", member ? `${value(row, "source")}!/${member}` : value(row, "source"));
    where.append(`, record ${number(Number(value(row, "record")))}`, group.isPair ? "" : `; cluster ${value(row, "cluster")}`);
    const choices = inside(made, "fieldset");
    inside(choices, "legend", `Decision about ${nameOf(row)}`, "hidden");
    for (const word of wordsOf(group)) {
      const label = inside(choices, "label");
      const radio = inside(label, "input");
      Object.assign(radio, { type: "radio", name: `decision-${made.dataset.row}`, value: word, checked: row.word === word });
      label.append(word || (group.isPair ? "undecided" : "rules"));
      inside(label, "kbd", words[word]).setAttribute("aria-hidden", "true");
      label.title = meaningsOf[group.isPair ? "pair" : "group"][words[word]];
    }
    const facts = inside(made, "dl");
    const labels = { title: "Title", author: "Author", publication_year: "Year", edition: "Edition", part: "Part", extent: "Extent", publisher: "Publisher", format: "Format" };
    for (const [name, label] of Object.entries(labels)) {
      if (!rowsOf(group).some((each) => value(each, name))) continue;
      inside(facts, "dt", label);
      const isOwn = value(row, name) && differs(group, (each) => value(each, name));
      inside(inside(facts, "dd"), isOwn ? "u" : "bdi", value(row, name) || "\u2014");
    }
    inside(facts, "dt", "Identifiers");
    const names = [...listOf(row, "urns"), ...listOf(row, "other_keys")];
    const identifiers = inside(inside(facts, "dd", names.length ? "" : "\u2014"), "ul");
    const others = new Set(rowsOf(group).filter((each) => each !== row).flatMap((each) => [...listOf(each, "urns"), ...listOf(each, "other_keys")]));
    for (const name of names)
      inside(inside(inside(identifiers, "li"), others.has(name) ? "mark" : "bdi"), "code", name);
    const joinedBy = group.isPair ? [] : listOf(row, "joined_by");
    if (joinedBy.length) {
      inside(facts, "dt", "Joined by");
      const list = inside(inside(facts, "dd"), "ul");
      for (const name of joinedBy) {
        const item = inside(list, "li", `${joinText(name)} `);
        inside(inside(item, "bdi"), "code", name);
      }
    }
    if (value(row, "reason")) {
      inside(facts, "dt", "In doubt");
      inside(facts, "dd", value(row, "reason").split(" ").map((reason) => meanings[reason] ?? `other ${reason}`).join(", "));
    }
    const text = inside(made, "pre");
    text.dir = "ltr";
    for (const [isCommon, ...parts] of lines) {
      const line = inside(text, "span", "", isCommon ? "row common" : "row");
      for (let at = 0; at < parts.length; at += 2) inside(line, ["span", isCommon ? "span" : "u", "mark"][parts[at + 1]], parts[at]);
      line.append("\n");
    }
    if (rest) inside(made, "p", `\u2026 and ${number(rest)} more bytes`, "quiet");
  };
  const cards = () => [...element("records").children];
  // The record that keys are about: the one that has or had the focus, at first the first one.
  let current = null;
  const point = (made) => {
    current?.classList.remove("current");
    current = made;
    current?.classList.add("current");
  };
  element("records").addEventListener("focusin", (event) => point(event.target.closest(".record")));
  const addCards = async (group) => {
    const start = element("records").childElementCount;
    const records = await recordsOf(rows[group.first].block);
    if (group !== open) return;
    const own = rowsOf(group);
    own.slice(start, start + most).forEach((row, at) => card(row, start + at, records[row.at]));
    if (!start) point(cards()[0]);
    element("proposed").hidden = group.isPair;
    const left = own.length - cards().length;
    element("more").hidden = !left;
    element("more").textContent = `Show ${number(Math.min(left, most))} of ${number(left)} more records`;
  };
  const show = async (group, focus = true) => {
    open = group;
    element("records").replaceChildren();
    const place = shown.indexOf(group);
    const page = Math.floor(place / state.length) + 1;
    if (place >= 0 && page !== state.page) {
      state.page = page;
      draw();
    }
    for (const button of element("rows").querySelectorAll("button")) mark(button);
    element("group-title").textContent = visible(group.title);
    element("about").textContent = `${about(group)}. ${place < 0 ? "" : `Group ${number(place + 1)} of ${number(shown.length)}.`}`;
    element("group").hidden = false;
    element("before").disabled = place <= 0;
    element("after").disabled = place < 0 || place === shown.length - 1;
    await addCards(group);
    if (group !== open) return;
    warn();
    if (!focus) return;
    element("group").scrollIntoView();
    cards()[0]?.focus({ preventScroll: true });
  };
  const move = (step) => {
    const next = shown[shown.indexOf(open) + step];
    if (next) show(next);
    else say(step > 0 ? "This is the last group" : "This is the first group");
  };
  element("more").addEventListener("click", async () => {
    const before = cards().length;
    await addCards(open);
    cards()[before]?.focus();
  });
  element("before").addEventListener("click", () => move(-1));
  element("after").addEventListener("click", () => move(1));

  // Decisions.
  const recordOf = (row) => ["source", "member", "record"].map((name) => value(row, name)).join("\n");
  const inDoubt = new Map(rows.filter((row) => !groups[row.group].isPair).map((row) => [recordOf(row), row]));
  const isApart = (row) => {
    const own = inDoubt.get(recordOf(row));
    return own?.word === "apart" && own.isDecided;
  };
  // A name in messages: in some dumps, several records have one ID.
  const said = (row) => {
    const isShared = rowsOf(groups[row.group]).some((other) => other !== row && nameOf(other) === nameOf(row));
    return isShared ? `${nameOf(row)} (record ${number(Number(value(row, "record")))})` : nameOf(row);
  };
  // The records of each cluster, without those that leave it.
  const clustersOf = (own) => {
    const clusters = new Map();
    for (const row of own) {
      if (row.word === "apart" || row.word === "together") continue;
      if (!clusters.has(row.cells[1])) clusters.set(row.cells[1], []);
      clusters.get(row.cells[1]).push(row);
    }
    return [...clusters.values()];
  };
  // Whether the file has a decision about a record; "rules" is none.
  const isSettled = (row) => row.isImplied || (row.isDecided && row.word !== "");
  // Which decision about a record of a group the next run does not apply, and what to do.
  const faultOf = (group) => {
    const own = rowsOf(group);
    if (own.filter((row) => row.word === "together").length === 1) return "One record alone is \u201ctogether\u201d: mark the other that is the same, too.";
    for (const left of clustersOf(own)) {
      if (!left.some((row) => row.isDecided) || !left.every((row) => row.word === "remove" && isSettled(row))) continue;
      const [{ cells }, ...others] = left;
      return others.length
        ? `All records of cluster ${cells[1]} are \u201cremove\u201d, so one of them stays: keep one of them.`
        : `${said(left[0])} is alone in its cluster, so \u201cremove\u201d would leave no record of its work, and it stays. Is it the same as a record of another cluster? Mark both \u201ctogether\u201d: one of them is removed.`;
    }
    return "";
  };
  // What a run does besides what is decided, as far as people may not expect it.
  const effectsOf = (group) => clustersOf(rowsOf(group)).flatMap((left) => {
    const kept = left.filter((row) => row.word === "keep" && row.isDecided);
    if (kept.length > 1) return [`${kept.map(said).join(" and ")} are both \u201ckeep\u201d: both stay, and the first of them is kept instead of the others of cluster ${kept[0].cells[1]}.`];
    return left.filter((row) => row.isImplied).map((row) => `${said(kept[0])} is kept instead of ${said(row)}, which is removed. If both shall stay, mark one \u201capart\u201d.`);
  });
  const faultOfPair = (own) => {
    const apart = own.find((row) => row.word === "together" && isApart(row));
    return apart
      ? `${nameOf(apart)} is \u201capart\u201d in its group, so it joins no other: leave it there to the rules (l), or the pair is not joined.`
      : "";
  };
  const warn = () => {
    const own = rowsOf(open);
    const undecided = open.isPair ? "Not decided: the records stay as they are." : "Not decided: the marks are what is proposed.";
    const decided = own.filter(isSettled).length;
    const some = `${number(decided)} of ${number(own.length)} records decided. The marks of the others are what is proposed, and are not saved.`;
    const state = decided === own.length ? (open.fault ? "Decided, but not all of it is applied." : "Decided.") : decided ? some : undecided;
    element("state").textContent = visible([state, ...open.isPair ? [] : effectsOf(open)].join(" "));
    element("trouble").textContent = visible(open.isPair ? faultOfPair(own) : open.fault);
  };
  const count = () => {
    const of = (state) => groups.filter((group) => group.state === state).length;
    const part = of("part") ? `, ${number(of("part"))} in part` : "";
    element("done").textContent = `${number(of("decided"))} of ${number(groups.length)} ${groups.length === 1 ? "group" : "groups"} decided${part}`;
    element("save").disabled = !kept.size;
  };
  // What is decided and not saved is kept in the browser, under a name that only a page of the same records has.
  const place = `urnscan review ${rows.reduce((sum, row) => (Math.imul(sum, 31) + parseInt(value(row, "digest").slice(-8), 16)) | 0, rows.length)}`;
  const kept = new Map();
  const undecidedSign = "-";
  // Whoever chooses `keep` for a record chooses it instead of the one that is proposed in its cluster: that one is removed, and
  // saved so, unless somebody decides about it.
  const imply = (own) => {
    const clusters = new Set(own.filter((row) => row.isDecided && row.word === "keep").map((row) => row.cells[1]));
    for (const row of own) {
      row.isImplied = !row.isDecided && row.cells[2] === "keep" && clusters.has(row.cells[1]);
      if (!row.isDecided) row.word = row.isImplied ? "remove" : row.cells[2];
    }
  };
  // A group is decided if each record in doubt is, as in the summary of a run; if none is in doubt, each record.
  const settle = (group) => {
    const own = rowsOf(group);
    if (!group.isPair) imply(own);
    const doubtful = own.filter((row) => cell(row, "reason") || row.cells[2] === "apart");
    const areDecided = (doubtful.length ? doubtful : own).every(isSettled);
    group.fault = group.isPair ? "" : faultOf(group);
    const isAny = own.some((row) => row.isDecided);
    group.state = !isAny ? "open" : areDecided && !group.fault ? "decided" : "part";
    if (isAny) kept.set(group.number, own.map((row) => (row.isDecided ? words[row.word] : undecidedSign)).join(""));
    else kept.delete(group.number);
  };
  const keep = () => {
    unsaved = true;
    isNew = true;
    try {
      localStorage.setItem(place, JSON.stringify([...kept]));
      unsaved = false;
    } catch {} // A browser may refuse: then it asks before the page is closed.
  };
  const recall = () => {
    let read = [];
    try {
      read = JSON.parse(localStorage.getItem(place) ?? "[]");
    } catch {}
    const named = Object.fromEntries(Object.entries(words).map(([word, key]) => [key, word]));
    for (const [number_, keys] of read) {
      const group = groups[number_];
      if (!group || keys.length !== group.end - group.first) continue;
      rowsOf(group).forEach((row, at) => {
        row.isDecided = keys[at] in named;
        row.word = named[keys[at]] ?? row.cells[2];
      });
      settle(group);
    }
    isNew = kept.size > 0;
    if (isNew) say(`${number(kept.size)} decided before; the last decisions are not saved`);
  };
  const refresh = () => {
    count();
    for (const button of element("rows").querySelectorAll("button")) mark(button);
    for (const made of cards()) {
      for (const radio of made.querySelectorAll("input")) radio.checked = radio.value === rows[made.dataset.row].word;
    }
    warn();
  };
  const assign = (row, word) => {
    const group = groups[row.group];
    for (const each of group.isPair ? rowsOf(group) : [row]) {
      each.word = word;
      each.isDecided = !group.isPair || word !== "";
    }
    settle(group);
  };
  const decide = (row, word) => {
    const group = groups[row.group];
    if (!wordsOf(group).includes(word)) {
      say("A pair is together or apart");
      return;
    }
    assign(row, word);
    keep();
    refresh();
    const effects = group.isPair ? [] : [group.fault, ...effectsOf(group)];
    say([`${nameOf(row)}: ${word || (group.isPair ? "undecided" : "the rules decide")}`, ...effects].filter(Boolean).join(". "));
  };
  const decideAll = (what) => {
    if (what === "proposed" && open.isPair) {
      say("Nothing is proposed for a pair");
      return;
    }
    for (const row of rowsOf(open)) {
      row.word = what === "together" || what === "apart" ? what : row.cells[2];
      row.isDecided = what !== "forget";
    }
    settle(open);
    keep();
    refresh();
    say({ together: "All are the same", apart: "All stay apart", proposed: "As proposed", forget: "Not decided" }[what]);
  };
  // A click on the proposed word confirms it, which is no change.
  for (const kind of ["change", "click"]) {
    element("records").addEventListener(kind, (event) => {
      if (event.target.matches("input")) decide(rows[event.target.closest(".record").dataset.row], event.target.value);
    });
  }
  for (const button of document.querySelectorAll("[data-all]")) button.addEventListener("click", () => decideAll(button.dataset.all));

  const save = () => {
    const lines = rows.filter((row) => (row.isDecided || row.isImplied) && !row.side)
      .map(({ cells, rest, word }) => `${cells[0]},${cells[1]},${word && `"${word}"`}${rest}\n`);
    download("decisions.csv", [head, ...lines]);
    unsaved = false;
    isNew = false;
    try { localStorage.removeItem(place); } catch {}
    say("Saved as decisions.csv");
  };
  element("save").addEventListener("click", save);
  addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });

  const ofRecord = ["source", "member", "record", "digest"];
  const bytesOf = (cells) => [cells.digest, cells.other_digest ?? ""].sort().join("\n");
  const byBytes = (all) => {
    const found = new Map();
    for (const each of all) {
      const bytes = bytesOf(each.cells);
      if (!found.has(bytes)) found.set(bytes, []);
      found.get(bytes).push(each);
    }
    for (const alike of found.values()) {
      alike.sort(({ cells: one }, { cells: other }) =>
        collator.compare(one.source, other.source) || collator.compare(one.member, other.member) || one.record - other.record);
    }
    return found;
  };
  // Of equal records, those of the same dump come first, then the nearest.
  const distance = (one, other) =>
    (one.source === other.source && one.member === other.member ? 0 : 1e12) + Math.abs(one.record - other.record);
  const read = (text) => {
    const head = text.slice(0, text.indexOf("\n"));
    const separator = [",", ";", "\t"].reduce((one, other) => (head.split(other).length > head.split(one).length ? other : one));
    const [first, ...others] = parsed(text, separator);
    const given = first?.cells.map((name) => name.replace("\ufeff", "")) ?? [];
    if (["decision", ...ofRecord].some((name) => !given.includes(name))) {
      say("This file is no table of decisions");
      return;
    }
    // As --decisions does: a record is found by its digest, whatever its dump and its number are now. Equal records keep their
    // order.
    const known = byBytes(rows.filter((row) => !row.side).map((row) => ({ row, cells: named(names, row.cells) })));
    let fit = 0;
    for (const [bytes, saved] of byBytes(others.map(({ cells }) => ({ cells: named(given, cells) })))) {
      const alike = known.get(bytes) ?? [];
      for (const [at, { cells }] of saved.entries()) {
        const nearest = () =>
          [...alike].sort((one, other) => distance(one.cells, cells) - distance(other.cells, cells))[0];
        const row = (saved.length === alike.length ? alike[at] : nearest())?.row;
        const word = cells.decision.trim().toLowerCase();
        if (!row || !wordsOf(groups[row.group]).includes(word)) continue;
        assign(row, word);
        fit += 1;
      }
    }
    // Decisions of the file are saved; only new ones are kept in the browser.
    if (isNew) keep();
    refresh();
    say(`${number(fit)} of ${number(others.length)} saved decisions are about records of this page`);
  };
  element("open").addEventListener("click", () => element("file").click());
  element("file").addEventListener("change", async () => {
    const [file] = element("file").files;
    if (file) read(await file.text());
    element("file").value = "";
  });

  // Keys count everywhere but in a field, whose text they are.
  const fields = "input:not([type=radio]), select, textarea";
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !open || event.target.closest(fields)) return;
    const made = current;
    const word = Object.keys(words).find((each) => words[each] === event.key);
    const whole = { T: "together", A: "apart", y: "proposed", u: "forget" }[event.key];
    const step = event.target.closest("input") ? undefined : { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (word !== undefined && made) decide(rows[made.dataset.row], word);
    else if (whole) decideAll(whole);
    else if (event.key === "n" || event.key === "p") move(event.key === "n" ? 1 : -1);
    else if (event.key === "s") save();
    else if (step) cards()[cards().indexOf(made) + step]?.focus();
    else return;
    event.preventDefault();
  });

  const bar = element("bar");
  bar.hidden = false;
  // What is scrolled to must not be below the bar.
  new ResizeObserver(() => { document.documentElement.style.scrollPaddingTop = `${bar.offsetHeight + 8}px`; }).observe(bar);
  recall();
  count();
  change({});
})();
