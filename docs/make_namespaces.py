"""Write docs/reference/namespaces.md from the table of rules and its examples: `.venv/bin/python docs/make_namespaces.py`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from urnscan.urn.namespaces import Namespace, Rule, registered, rules
from urnscan.urn.namespaces.judgement import CHECKS

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "tests" / "urn" / "namespaces" / "examples.toml"
PAGE = ROOT / "docs" / "reference" / "namespaces.md"

INTRODUCTION = """\
# The namespaces

<!-- Written by docs/make_namespaces.py from urnscan/urn/namespaces/rules.toml and tests/urn/namespaces/examples.toml. -->

RFC 2141 §5 and RFC 8141 §3 leave it to each namespace to declare more names equal than the syntax does. This page has
what the registrations of all {total} namespaces of the IANA registry ({formal} formal, {informal} informal) say, each with
the section that says it, and what `urnscan` makes of it:

* with `--equivalence namespace`, names that the rule calls equal are one class; its canonical form is the one that the
  registration prefers. A rule only joins what the syntax keeps apart, and only names that fit;
* `valid` in the classes table is true for names that fit the grammar (and whose check digit is right), false for names
  that certainly do not, and null where nothing is certain: to reject a good name is worse than to pass a bad one;
* `problem` says why not, beside what does not depend on the namespace: `nss-grammar` (the NSS does not fit the grammar of its namespace), `check-digit` (the check
  digit is wrong). `dnb-check-digit` is a hint only: the Deutsche Nationalbibliothek has assigned names without that digit.

In the patterns, `(?<lower>…)` and `(?<upper>…)` hold what is equal in any case, and which case is canonical. Percent-encodings
are never decoded. "Base" is the rule that holds for all URNs: scheme, NID and the hex digits of `%HH` in any case, the
rest byte by byte (RFC 8141 §3.1). No rule is applied to a name of RFC 2141 that
holds `?` or `#`, which begin components in RFC 8141: its `valid` is null.

| NID | names | equal beyond base | says | valid | check |
|---|---|---|---|---|---|
"""


def page() -> str:
    """The page as Markdown."""
    examples = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))
    kinds = [entry.kind for entry in registered().values()]
    parts = [INTRODUCTION.format(total=len(kinds), formal=kinds.count("formal"), informal=kinds.count("informal"))]
    parts += [_row(rule) for _, rule in sorted(rules().items())]
    for nid, rule in sorted(rules().items()):
        parts += ["\n", *_section(registered()[nid], rule, examples[nid])]
    return "".join(parts)


def _row(rule: Rule) -> str:
    equal = "-" if rule.rule == "base" else rule.rule
    told = {
        (False, False): "-",
        (True, False): "yes or no",
        (True, True): "yes, no or null",
        (False, True): "no or null",
    }
    verdict = told[rule.grammar is not None, rule.unsure is not None]
    if rule.unsure in (".+", "(?<lower>.+)", "(?<upper>.+)"):
        verdict = "yes or null" if rule.grammar else "-"
    check = CHECKS[rule.check].title if rule.check else "-"
    return f"| [{rule.nid}](#{rule.nid}) | {_cell(rule.title)} | {_cell(equal)} | {rule.equality} | {verdict} | {check} |\n"


def _section(entry: Namespace, rule: Rule, examples: dict[str, Any]) -> Iterator[str]:
    yield f"## {rule.nid}\n\n{rule.title}. {entry.kind.capitalize()}, {_references(entry.reference)}.\n\n"
    rows = [("equal", f"{rule.rule} ({rule.equality})")]
    if rule.grammar:
        rows.append(("valid", f"{_code(rule.grammar)} ({rule.syntax})"))
    if rule.unsure:
        rows.append(("not certain", _code(rule.unsure) + (f": {rule.unsure_because}" if rule.unsure_because else "")))
    if rule.check:
        rows.append(("check digit", CHECKS[rule.check].title))
    if rule.note:
        rows.append(("note", rule.note))
    rows += [("resolver", _code(resolver.url)) for resolver in rule.resolvers]
    for kind in ("valid", "unsure", "invalid"):
        rows += [(f"e.g. {kind}", f"`{name}`: {source}") for name, source in examples.get(kind, [])]
    for group in examples.get("equivalent", []):
        spellings = " = ".join(f"`{name}`" for name in group["names"])
        rows.append(("e.g. equal", f"{spellings}: `{group['canonical']}` ({group['section']})"))
    for group in examples.get("different", []):
        rows.append(("e.g. different", " ≠ ".join(f"`{name}`" for name in group["names"]) + f" ({group['section']})"))
    yield "".join(f"* {label}: {text}\n" for label, text in rows)


def _references(reference: str) -> str:
    return (
        ", ".join(f"<{part}>" if part.startswith("http") else part for part in reference.split("; ")) or "no reference"
    )


def _code(text: str) -> str:
    return f"``{text}``" if "`" in text else f"`{text}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
