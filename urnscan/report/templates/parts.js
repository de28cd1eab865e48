// What the scripts of several pages share: unpacked data, text that is always visible, search, filters, and pages of a list.
  const element = (id) => document.getElementById(id);
  const told = element("told");
  const canUnpack = typeof DecompressionStream !== "undefined";
  const unpacked = (packed) => {
    const bytes = Uint8Array.from(atob(packed.textContent), (byte) => byte.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };

  // What cannot be seen, or commands, becomes a sign that is seen, as in the rest of the page.
  const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;
  const visible = (text) =>
    text.replace(unseen, (one) => `[U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
  const format = new Intl.NumberFormat("en");
  const number = (value) => format.format(value);

  const inside = (parent, kind, text = "", name = "") => {
    const made = document.createElement(kind);
    made.textContent = visible(text);
    made.className = name;
    parent.append(made);
    return made;
  };

  const termsOf = (text) => text.toLowerCase().split(/\s+/u).filter(Boolean);

  // The browser saves a file.
  const download = (name, parts) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };

  // The controls of a list change its state: `search`, `page` (from 1), `length`, and those with the ids of `filters`.
  // Returns a function that shows which page of so many rows is open, and returns the place of its first row.
  const listens = (state, change, filters) => {
    let waiting;
    element("search").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => change({ search: element("search").value }), 80);
    });
    for (const id of filters) element(id).addEventListener("change", () => change({ [id]: element(id).value }));
    element("length").addEventListener("change", () => change({ length: Number(element("length").value) }));
    element("page").addEventListener("change", () => change({ page: Math.trunc(Number(element("page").value)) || 1 }));
    element("previous").addEventListener("click", () => change({ page: state.page - 1 }));
    element("next").addEventListener("click", () => change({ page: state.page + 1 }));
    for (const id of ["controls", "pager"]) {
      element(id).addEventListener("submit", (event) => event.preventDefault());
      element(id).hidden = false;
    }
    return (count) => {
      const pages = Math.max(1, Math.ceil(count / state.length));
      state.page = Math.min(Math.max(1, state.page), pages);
      element("page").value = state.page;
      element("page").max = pages;
      element("pages").textContent = `of ${number(pages)}`;
      element("previous").disabled = state.page === 1;
      element("next").disabled = state.page === pages;
      return (state.page - 1) * state.length;
    };
  };
