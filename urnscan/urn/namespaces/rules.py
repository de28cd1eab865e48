"""What is known of each registered namespace: its grammar, its check digit, its equivalences, its resolvers. A table of data.

The table is `rules.toml` beside this file, one entry for each NID, each with the section that it rests on.

>>> rules()["nbn"].rule, rules()["nbn"].equality
('the prefix up to the first hyphen in any case', 'RFC 8458 §4.3')
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

import regex

from urnscan.urn.syntax import as_text

__all__ = ["Resolver", "Rule", "nid_and_nss", "rules"]


@dataclass(frozen=True, slots=True)
class Resolver:
    """A public and stable service that leads from some names of a namespace to what they name."""

    names: str
    """Which names, as a regular expression over the NSS; its named groups can be used in `url`."""
    url: str
    """Where it leads: `{urn}` and `{nss}` stand for the canonical form and its NSS."""

    def link(self, urn: str) -> str | None:
        """The address of what a URN in canonical form names, without components; None if this is no service for it."""
        _, nss = nid_and_nss(urn)
        match = regex.fullmatch(self.names, nss)
        return self.url.format(urn=urn, nss=nss, **match.groupdict()) if match else None


@dataclass(frozen=True, slots=True)
class Rule:
    """What the registration of a namespace says, beyond the rules that hold for all URNs.

    A NSS that fits `grammar` is valid, unless its check digit is wrong. If it fits `unsure` instead, nothing is said
    about it; if it fits neither, it is invalid. Without `grammar` and `unsure` nothing is said about any.
    Both are patterns (`patterns.py`); their groups say what is equal in any case.
    """

    nid: str
    """In lower case."""
    title: str
    """What the names name."""
    rule: str
    """The additional equivalences in words; "base" where there are none (RFC 8141 §3.1)."""
    equality: str
    """The section on which they rest."""
    grammar: str | None = None
    """The NSS that are valid, but for their check digit."""
    syntax: str | None = None
    """The section on which the grammar rests."""
    unsure: str | None = None
    """The NSS of which nothing is said."""
    unsure_because: str | None = None
    """Why."""
    check: str | None = None
    """The name of the check digit's algorithm (`checks.py`)."""
    code: str | None = None
    """The name of what a pattern cannot say of the rule (`judgement.py`)."""
    note: str | None = None
    """What a curator should know."""
    resolvers: tuple[Resolver, ...] = ()
    """The services, in the order in which they are asked."""

    def link(self, urn: str) -> str | None:
        """Where a public and stable service leads to what a URN in canonical form names; None if there is none."""
        return next(filter(None, (resolver.link(urn) for resolver in self.resolvers)), None)


def nid_and_nss(urn: str) -> tuple[str, str]:
    """The NID and the NSS of a URN in canonical form. Raises ValueError for a text that is not `urn:`, NID, `:`, NSS, and
    TypeError for what is no text.
    """
    scheme, *rest = as_text("a URN", urn).split(":", 2)
    if scheme != "urn" or len(rest) < 2:
        raise ValueError(f"{urn!r:.60} is no URN in canonical form, as urnscan.canonical gives it")
    return rest[0], rest[1]


@functools.cache
def rules() -> Mapping[str, Rule]:
    """The rules of the registered namespaces by their NID in lower case (RFC 8141 §3.1).

    >>> rule = rules()["doi"]
    >>> rule.rule, rule.link("urn:doi:10.1000/182")
    ('the whole NSS in any case', 'https://doi.org/10.1000/182')
    """
    import tomllib  # noqa: PLC0415 (as long to import as to read the table)

    with (files(__package__) / "rules.toml").open("rb") as file:
        table = tomllib.load(file)
    return MappingProxyType({nid: _rule(nid, entry) for nid, entry in table.items()})


def _rule(nid: str, entry: dict[str, object]) -> Rule:
    resolvers = tuple(Resolver(**resolver) for resolver in entry.pop("resolvers", ()))  # type: ignore[attr-defined]
    return Rule(nid=nid, resolvers=resolvers, **entry)  # type: ignore[arg-type]
