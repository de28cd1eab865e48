"""The IANA registry of URN namespaces (RFC 8141 §5, RFC 3406 §3), and the rules that the namespaces have registered.

The tables are beside this file: `urn-namespaces.csv`, as read from the registry on the date in
`urn-namespaces.SOURCE.txt`, and `rules.toml`, one entry for each NID with the sections that define it.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import quote

import regex

from urnscan.errors import ArgumentError
from urnscan.urn.syntax import as_text

NidStatus = Literal["formal", "informal", "experimental", "reserved", "unregistered"]

_IN_VALUE = ":/?@!$'()*,;=-._~"  # what stands for itself in a value of a query (RFC 3986 §3.4; "+" may mean a blank)
_RESERVED = regex.compile("[a-z][a-z]-.*|urn(?:-[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Namespace:
    """An entry of the registry."""

    nid: str
    """The NID as registered."""
    kind: Literal["formal", "informal"]
    """Formal namespaces have a name, informal ones a number (`urn-5`)."""
    reference: str
    """RFC numbers and addresses of registration templates, joined by "; "."""
    description: str
    """Description in the registry."""


@functools.cache
def registered() -> Mapping[str, Namespace]:
    """The registered namespaces by their NID in lower case (RFC 8141 §5).

    >>> registered()["nbn"].reference
    'https://www.iana.org/assignments/urn-formal/nbn; RFC8458'
    """
    with (files(__package__) / "urn-namespaces.csv").open(encoding="utf-8") as table:
        entries = [Namespace(**row) for row in csv.DictReader(table)]  # type: ignore[arg-type]
    return MappingProxyType({entry.nid.lower(): entry for entry in entries})


def nid_status(nid: str) -> NidStatus:
    """The standing of a NID, in any case. It is no reason to doubt that a match is a URN.

    `formal` and `informal` are registered; `experimental` is `X-…` (RFC 3406 §3.1); `reserved` are `urn` (RFC 2141 §2.1,
    rfc2141bis-03 §2.1), two letters and a hyphen, among them `xn--` (RFC 8141 §5.1), and unregistered numbers of informal
    namespaces (§5.2). All other texts are `unregistered`, also those that cannot be a NID. Raises ArgumentError for a value
    that is no text.

    >>> nid_status("ISBN"), nid_status("urn-5"), nid_status("x-test"), nid_status("urn-4711"), nid_status("hathi")
    ('formal', 'informal', 'experimental', 'reserved', 'unregistered')
    """
    nid = as_text("a NID", nid).lower()
    if nid in registered():
        return registered()[nid].kind
    if nid.startswith("x-"):
        return "experimental"
    return "reserved" if _RESERVED.fullmatch(nid) else "unregistered"


@dataclass(frozen=True, slots=True)
class Resolver:
    """A public and stable service that resolves some names of a namespace."""

    names: str
    """The names, as a regular expression over the NSS; `url` can use its named groups."""
    url: str
    """The address, in which `{urn}` and `{nss}` stand for the canonical form and its NSS."""

    def link(self, urn: str, request: str = "") -> str | None:
        """The address for a URN in canonical form without components; None if the service does not know such names.

        `request` is what goes to a resolver with the name: the r-component with its `?+`, or the query of rfc2141bis-03
        with its `?`. A service that is not asked with the URN does not get it.
        """
        _, nss = nid_and_nss(urn)
        match = regex.fullmatch(self.names, nss)
        if match is None:
            return None
        name = urn + request
        if "?" in self.url.partition("{urn}")[0]:  # the name is a value of the query, where & and % have a meaning
            name = quote(name, safe=_IN_VALUE)
        return self.url.format(urn=name, nss=nss, **match.groupdict())


@dataclass(frozen=True, slots=True)
class Rule:
    """Registration of a namespace, beyond the rules that hold for all URNs.

    An NSS that fits `grammar` is valid, unless its check digit is wrong. If it fits `unsure` instead, its validity is
    unknown. If it fits neither, it is invalid, unless nobody meant it so (`endings.py`): a sentence ends behind it, or
    it is a template. Without `grammar` and `unsure` the validity of all names is unknown.
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
    """Algorithm of the check digit, a key of `judgement.CHECKS`."""
    code: str | None = None
    """Function for what a pattern cannot express, a key of `judgement.REWRITE`."""
    note: str | None = None
    """A note for curators."""
    resolvers: tuple[Resolver, ...] = ()
    """The services, in the order in which they are tried."""

    def link(self, urn: str, request: str = "") -> str | None:
        """The address for a URN in canonical form at a public and stable service; None if there is none.

        `request` is that of `Resolver.link`.
        """
        return next(filter(None, (resolver.link(urn, request) for resolver in self.resolvers)), None)


def nid_and_nss(urn: str) -> tuple[str, str]:
    """The NID and the NSS of a URN in canonical form.

    Raises ArgumentError for a text that is not `urn:`, NID, `:`, NSS, and for a value that is no text.
    """
    scheme, *rest = as_text("a URN", urn).split(":", 2)
    if scheme != "urn" or len(rest) < 2:
        raise ArgumentError(f"{urn!r:.60} is no URN in canonical form, as urnscan.canonical gives it")
    return rest[0], rest[1]


def rules_of(table: Mapping[str, Mapping[str, Any]]) -> dict[str, Rule]:
    """The rules in a table of TOML, by NID."""
    made = {}
    for nid, entry in table.items():
        resolvers = tuple(Resolver(**resolver) for resolver in entry.get("resolvers", ()))
        made[nid] = Rule(**{**entry, "nid": nid, "resolvers": resolvers})
    return made


@functools.cache
def rules() -> Mapping[str, Rule]:
    """The rules of the registered namespaces by their NID in lower case (RFC 8141 §3.1).

    Raises FatalError if someone has edited the table and it names a check digit or a rewriting that does not exist.

    >>> rule = rules()["doi"]
    >>> rule.rule, rule.link("urn:doi:10.1000/182")
    ('the whole NSS in any case', 'https://doi.org/10.1000/182')
    """
    import tomllib  # noqa: PLC0415 (importing it takes as long as reading the table)

    from urnscan.urn.namespaces.judgement import check_names  # noqa: PLC0415 (it imports this module)

    table = files(__package__) / "rules.toml"
    with table.open("rb") as file:
        made = rules_of(tomllib.load(file))
    check_names(made.values(), str(table))
    return MappingProxyType(made)


@dataclass(frozen=True, slots=True)
class Rulebook:
    """The rules by which names are judged: those of the registered namespaces, and own ones in place of them.

    Two are equal if their files are. It holds the rules, not the path of the file, so it can be sent to other machines.
    """

    sha256: str | None = None
    """Checksum of the file of own rules, as `sha256sum` prints it; None without own rules."""
    own: tuple[Rule, ...] = field(default=(), compare=False, repr=False)
    """Own rules, sorted by NID."""

    @property
    def rules(self) -> Mapping[str, Rule]:
        """All rules by their NID in lower case.

        >>> Rulebook().rules["isbn"].check
        'isbn'
        """
        return rules() if not self.own else _with_own(self)

    @property
    def nids(self) -> list[str]:
        """The NIDs that have a rule or are registered, sorted."""
        return sorted({*registered(), *(rule.nid for rule in self.own)})


OURS = Rulebook()
"""The rules of the registered namespaces alone."""


@functools.lru_cache(maxsize=8)
def _with_own(rulebook: Rulebook) -> Mapping[str, Rule]:
    return MappingProxyType({**rules(), **{rule.nid: rule for rule in rulebook.own}})
