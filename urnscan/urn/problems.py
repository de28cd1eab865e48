"""The problems of names: all codes, and the problems of a single spelling. `problem_columns.py` finds the problems of
columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from urllib.parse import unquote_to_bytes

from urnscan.urn.lookalikes import lookalikes
from urnscan.urn.syntax import TAIL_NONE, TAIL_QUERY, Syntax, keywords_of

_OF_NAMESPACES = {
    "nss-grammar": "the part after the namespace does not have the required form",
    "check-digit": "the check digit is wrong",
    "untrimmed": "punctuation at its end, which --trim would cut, belongs to the text; without it the NSS fits",
    "run-on": "punctuation and what follows it may belong to the text; without them the NSS fits",
    "template": "the NSS holds no digit and not two different letters: a template for names",
    "dnb-check-digit": "a hint: the name does not end in the check digit of the Deutsche Nationalbibliothek, which not all have",
}
_OF_SPELLINGS = {
    "nul-octet": "it holds the byte NUL, percent-encoded (RFC 2141 §2.4, rfc2141bis-03 §2.5.3)",
    "repeated-keyword": "two directives have the same keyword (rfc2141bis-03 §2.3)",
    "mixed-scripts": "scripts in one word that do not go together (UTS #39)",
    "confusable": "characters that look like ASCII among those that are (UTS #39)",
    "invisible-character": "characters that are not seen (UTS #39)",
    "not-utf-8": "percent-encoded bytes that are no UTF-8 (RFC 2141 §2.2): their characters are not known",
    "needless-encoding": "an ASCII letter or digit is percent-encoded (RFC 2141 §2.3.1): without that it would be another name",
    "not-nfc": "characters that are not composed (NFC): another spelling of them looks the same",
    "compatibility-character": "compatibility forms of other characters (NFKC), such as full-width letters",
    "component-not-adopted": "a query or fragment, which no namespace has adopted (rfc2141bis-03 §2.3, §2.4)",
}
PROBLEMS: Mapping[str, str] = MappingProxyType(_OF_NAMESPACES | _OF_SPELLINGS)
"""Code of a problem -> a sentence for people, in the order of the column `problem`.

The first codes are about the name by the rules of its namespace; a name has at most one of them. The others are about a
spelling.
"""
OF_SPELLINGS = tuple(_OF_SPELLINGS)
"""Codes of the problems of a spelling: of its characters, their encoding, its directives."""

_SEPARATOR = "; "
_NEEDLESS = re.compile("%(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])")
"""Pattern of a percent-encoded ASCII letter or digit."""
_COMPONENTS = re.compile("[?#].*", re.DOTALL)


def joined(problems: Iterable[str | None]) -> str | None:
    """Several values of the column `problem` (codes with "; " between them, or None) united to one: each code once, in
    the order of PROBLEMS, unknown codes last; None without a code.

    >>> joined(["confusable", None, "nss-grammar; nul-octet", "nul-octet"])
    'nss-grammar; nul-octet; confusable'
    """
    codes = {code for problem in problems if problem for code in problem.split(_SEPARATOR)}
    known = [code for code in PROBLEMS if code in codes]
    return _SEPARATOR.join([*known, *sorted(codes - PROBLEMS.keys())]) or None


def spelling_problems(text: str, syntax: Syntax) -> tuple[str, ...]:
    """The codes of the problems of a spelling, including the components, such as `nul-octet` and `confusable`, in the
    order of PROBLEMS; empty without problems. `text` is a whole URN in `syntax`.
    """
    found: set[str] = set()
    if "%" in text:
        # A problem counts if the NSS alone has it, or the NSS with the components.
        rest = text.split(":", 2)[2]
        name = rest if syntax.tail == TAIL_NONE else _COMPONENTS.sub("", rest)
        found.update(*map(lookalikes, {name, rest}))
    if "%00" in text:
        found.add("nul-octet")
    if has_repeated_keyword(text, syntax):
        found.add("repeated-keyword")
    if syntax.tail == TAIL_QUERY and _COMPONENTS.search(text):
        found.add("component-not-adopted")
    if _NEEDLESS.search(text):
        found.add("needless-encoding")
    try:
        unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        found.add("not-utf-8")
    return tuple(code for code in OF_SPELLINGS if code in found)


def has_repeated_keyword(text: str, syntax: Syntax) -> bool:
    """Whether two directives (`keyword=value`) of a URN have the same keyword, in the same case and encoding. Only
    rfc2141bis-03 has directives (§2.3): always False in the other syntaxes.
    """
    query = text.partition("#")[0].partition("?")[2] if syntax.tail == TAIL_QUERY else ""
    return max(keywords_of(query).values(), default=0) > 1
