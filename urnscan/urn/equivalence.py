"""Canonical forms. Two URNs are equivalent at a level if and only if their canonical forms at that level are equal.

RFC 2141 §5; RFC 8141 §3; draft-ietf-urnbis-rfc2141bis-urn-03 §5.

>>> canonical("URN:FOO:a123%2c456")
'urn:foo:a123%2C456'
>>> equivalent("urn:example:a?=x#y", "URN:Example:a", syntax="rfc8141")
True
>>> equivalent("urn:isbn:0-395-36341-1", "URN:ISBN:9780395363416", equivalence="namespace")
True
>>> canonical("urn:example:a?s=I2L&c=ToC#p1", syntax="rfc2141bis-03", equivalence="resolution")
'urn:example:a?c=ToC&s=I2L'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from urnscan.urn.namespaces import namespace_form
from urnscan.urn.parser import URN, parse
from urnscan.urn.syntax import SYNTAXES, as_text, get_syntax

__all__ = ["LEVELS", "Level", "canonical", "equivalent", "get_level"]


@dataclass(frozen=True, slots=True)
class Level:
    """A level of equivalence: the part of a URN that the scanner keeps, and what is done to it afterwards."""

    name: str
    """Value of the option `equivalence`."""
    title: str
    """Description for people."""
    syntaxes: tuple[str, ...]
    """Syntaxes that define the level."""
    keep_query: bool
    """Whether the query of rfc2141bis-03 belongs to the canonical form."""
    by_namespace: bool
    """Whether the rule that the namespace has registered is applied, too."""

    def form(self, urn: URN) -> str:
        """The canonical form of a parsed URN."""
        return self.refine(str(urn).partition("#")[0] if self.keep_query else urn.canonical)

    def refine(self, urn: str) -> str:
        """The canonical form, from the scanner's: case normalised, components dropped except a query to keep."""
        if self.by_namespace:
            return namespace_form(urn)
        return _sort_directives(urn) if self.keep_query else urn


def _sort_directives(urn: str) -> str:
    """The URN with its directives sorted by keyword, equal keywords in the given order (rfc2141bis-03 §5, step 5b)."""
    name, mark, query = urn.partition("?")
    return name + mark + "&".join(sorted(query.split("&"), key=lambda directive: directive.partition("=")[0]))


LEVELS: Mapping[str, Level] = MappingProxyType(
    {
        level.name: level
        for level in (
            Level(
                name="lexical",
                title="scheme, NID and the hex digits of %HH in one case; components dropped",
                syntaxes=tuple(SYNTAXES),
                keep_query=False,
                by_namespace=False,
            ),
            Level(
                name="resolution",
                title="the same, but the query kept with its directives sorted by keyword (rfc2141bis-03 §5, step 5b)",
                syntaxes=("rfc2141bis-03",),
                keep_query=True,
                by_namespace=False,
            ),
            Level(
                name="namespace",
                title="as lexical, then by the rule that the namespace has registered (RFC 2141 §5, RFC 8141 §3.1)",
                syntaxes=tuple(SYNTAXES),
                keep_query=False,
                by_namespace=True,
            ),
        )
    }
)
"""Levels of equivalence by name."""


def get_level(name: str, syntax: str) -> Level:
    """The level of that name.

    Raises ValueError for an unknown name and for a level that the syntax does not define, TypeError for a value that is
    no text.
    """
    get_syntax(syntax)
    try:
        level = LEVELS[name]
    except (KeyError, TypeError):
        names = ", ".join(LEVELS)
        raise ValueError(f"unknown equivalence {as_text('equivalence', name)!r}: choose from {names}") from None
    if syntax not in level.syntaxes:
        raise ValueError(f"{syntax} defines no {name} equivalence: only {', '.join(level.syntaxes)} does")
    return level


def canonical(text: str | bytes, *, syntax: str = "rfc2141", equivalence: str = "lexical") -> str:
    """The canonical form of a URN: RFC 2141 §5, RFC 8141 §3.1, rfc2141bis-03 §5; at the level `namespace`, that of its
    registration (`urnscan.urn.namespaces.rules()`).

    `text` is one whole URN. Raises InvalidURN if it is none in that syntax, ValueError for an unknown syntax or
    equivalence and for an equivalence that the syntax does not define, TypeError for a value that is no text.

    >>> canonical("URN:ISBN:0-395-36341-1"), canonical("URN:ISBN:0-395-36341-1", equivalence="namespace")
    ('urn:isbn:0-395-36341-1', 'urn:isbn:9780395363416')
    """
    level = get_level(equivalence, syntax)
    return level.form(parse(text, syntax))


def equivalent(a: str | bytes, b: str | bytes, *, syntax: str = "rfc2141", equivalence: str = "lexical") -> bool:
    """Whether two URNs are the same name (RFC 2141 §5, RFC 8141 §3, rfc2141bis-03 §5): whether `canonical` gives the
    same for both. Raises the errors of `canonical`.

    >>> equivalent("urn:nbn:de:101:1-2016", "URN:NBN:de:101:1-2016")
    True
    >>> equivalent("urn:nbn:de:101:1-2016", "urn:nbn:DE:101:1-2016")
    False
    >>> equivalent("urn:nbn:de:101:1-2016", "urn:nbn:DE:101:1-2016", equivalence="namespace")  # RFC 8458 §4.3
    True
    """
    return canonical(a, syntax=syntax, equivalence=equivalence) == canonical(b, syntax=syntax, equivalence=equivalence)
