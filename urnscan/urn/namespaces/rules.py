"""Rules of the registered namespaces: grammar, check digit, equivalences, resolvers.

The table is `rules.toml` beside this file: one entry for each NID, with the sections that define it.

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
    """A public and stable service that resolves some names of a namespace."""

    names: str
    """The names, as a regular expression over the NSS; `url` can use its named groups."""
    url: str
    """The address, in which `{urn}` and `{nss}` stand for the canonical form and its NSS."""

    def link(self, urn: str) -> str | None:
        """The address for a URN in canonical form without components; None if the service does not know such names."""
        _, nss = nid_and_nss(urn)
        match = regex.fullmatch(self.names, nss)
        return self.url.format(urn=urn, nss=nss, **match.groupdict()) if match else None


@dataclass(frozen=True, slots=True)
class Rule:
    """Registration of a namespace, beyond the rules that hold for all URNs.

    An NSS that fits `grammar` is valid, unless its check digit is wrong. If it fits `unsure` instead, its validity is
    unknown; if it fits neither, it is invalid. Without `grammar` and `unsure` the validity of all names is unknown.
    Both are patterns (`patterns.py`); their groups are the parts in which case does not matter.
    """

    nid: str
    """The NID in lower case."""
    title: str
    """The things that are named."""
    rule: str
    """The additional equivalences in words; "base" if there are none (RFC 8141 §3.1)."""
    equality: str
    """The section that defines them."""
    grammar: str | None = None
    """Pattern of valid NSS, check digits aside."""
    syntax: str | None = None
    """The section that defines the grammar."""
    unsure: str | None = None
    """Pattern of NSS whose validity is unknown."""
    unsure_because: str | None = None
    """The reason for `unsure`."""
    check: str | None = None
    """Algorithm of the check digit, a key of `checks.CHECKS`."""
    code: str | None = None
    """Function for what a pattern cannot express, a key of `judgement.REWRITE`."""
    note: str | None = None
    """A note for curators."""
    resolvers: tuple[Resolver, ...] = ()
    """The services, in the order in which they are tried."""

    def link(self, urn: str) -> str | None:
        """The address for a URN in canonical form at a public and stable service; None if there is none."""
        return next(filter(None, (resolver.link(urn) for resolver in self.resolvers)), None)


def nid_and_nss(urn: str) -> tuple[str, str]:
    """The NID and the NSS of a URN in canonical form.

    Raises ValueError for a text that is not `urn:`, NID, `:`, NSS, TypeError for a value that is no text.
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
    import tomllib  # noqa: PLC0415 (importing it takes as long as reading the table)

    with (files(__package__) / "rules.toml").open("rb") as file:
        table = tomllib.load(file)
    return MappingProxyType({nid: _rule(nid, entry) for nid, entry in table.items()})


def _rule(nid: str, entry: dict[str, object]) -> Rule:
    resolvers = tuple(Resolver(**resolver) for resolver in entry.pop("resolvers", ()))  # type: ignore[attr-defined]
    return Rule(nid=nid, resolvers=resolvers, **entry)  # type: ignore[arg-type]
