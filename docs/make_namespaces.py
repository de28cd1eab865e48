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

```console
$ echo 'urn:isbn:0-395-36341-1 urn:issn:0317847x urn:nbn:FI-fe2026023100042' > three.txt
$ urnscan three.txt --canonical --equivalence namespace --quiet
three.txt:1:urn:isbn:9780395363416
three.txt:1:urn:issn:0317-847X
three.txt:1:urn:nbn:fi-fe2026023100042
```

**What happened here.** Each name was written as its namespace prefers it: an ISBN with thirteen digits and no hyphens, an ISSN
with a hyphen, the country of a National Bibliography Number in lower case.

RFC 2141 §5 and RFC 8141 §3 allow each namespace to declare more names equal than the syntax does. This page has the rules of
all {total} namespaces of the IANA registry ({formal} formal, {informal} informal), each with the section that it comes from:

* **Which names are equal.** With `--equivalence namespace`, they are one class. The base rule is valid for all: scheme, NID and
  the hex digits of `%HH` in any case, the rest byte by byte (RFC 8141 §3.1). A rule only joins names that fit the grammar.
* **Which names are valid.** `valid` is true for names that fit the grammar and have the right check digit, false for names that
  definitely do not, and null where nobody can be sure. [`problem`](problems.md#the-codes) says why. A name with `?` or `#`,
  which begin components in RFC 8141, is never checked in rfc2141.
* In the patterns, what is in `(?<lower>…)` or `(?<upper>…)` is equal in any case, and canonical in lower or upper case.
  Percent-encodings are never decoded.

| NID | what it names | example | equal, too | `valid` is | check digit |
|---|---|---|---|---|---|
"""


NEXT = """
**Next:** [your own namespace](../howto/own-namespace.md), [which names are the same](equivalence.md), [what is wrong with a name](problems.md).
"""


def page() -> str:
    """The page as Markdown."""
    examples = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))
    kinds = [entry.kind for entry in registered().values()]
    parts = [INTRODUCTION.format(total=len(kinds), formal=kinds.count("formal"), informal=kinds.count("informal"))]
    parts += [_row(rule, examples[nid]) for nid, rule in sorted(rules().items())]
    for nid, rule in sorted(rules().items()):
        parts += ["\n", *_section(registered()[nid], rule, examples[nid])]
    return "".join([*parts, NEXT])


def _row(rule: Rule, examples: dict[str, Any]) -> str:
    equal = "-" if rule.rule == "base" else rule.rule
    results = {
        (False, False): "null",
        (True, False): "true or false",
        (True, True): "true, false or null",
        (False, True): "false or null",
    }
    valid = results[rule.grammar is not None, rule.unsure is not None]
    if rule.unsure in (".+", "(?<lower>.+)", "(?<upper>.+)"):
        valid = "true or null" if rule.grammar else "null"
    check = CHECKS[rule.check].title if rule.check else "-"
    name = next(name for kind in ("valid", "unsure") for name, _ in examples.get(kind, ()))
    return (
        f"| [{rule.nid}](#{rule.nid}) | {_cell(rule.title)} | `{_cell(name)}` | {_cell(equal)} | {valid} | {check} |\n"
    )


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
