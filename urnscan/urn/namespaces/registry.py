"""The IANA registry of URN namespaces (RFC 8141 §5, RFC 3406 §3), and the rules that the namespaces have registered.

The tables are in the folder of this file: `urn-namespaces.csv`, a copy of the registry from the date in
`urn-namespaces.SOURCE.txt`; `urn-templates.toml`, with the registration templates of the IANA; and `rules.toml`, with
an entry for each NID and the sections that define its rules.
"""

from __future__ import annotations

import csv
import functools
import string
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

# Characters that need no encoding in a value of a query (RFC 3986 §3.4). "+" is not among them: it may mean a space.
_IN_VALUE = ":/?@!$'()*,;=-._~"
# Characters of a name that would end the path.
_IN_PATH = str.maketrans({"?": "%3F", "#": "%23"})
_RESERVED = regex.compile("[a-z0-9-]{2}|[a-z][a-z]-.*|urn(?:-.*)?")


@dataclass(frozen=True, slots=True)
class Namespace:
    """A registered namespace: an entry of the IANA registry, with the registration template if the IANA has a
    template.
    """

    nid: str
    """The NID as registered."""
    kind: Literal["formal", "informal"]
    """Formal namespaces have a name, informal ones a number (`urn-5`)."""
    reference: str
    """RFCs (`RFC8458`), the address of the registration template, a website of the registrant, errata; joined by "; ".
    """
    description: str
    """The title of the RFC, or the beginning of a text about the namespace, which `...` may cut off."""

    @property
    def version(self) -> int | None:
        """Version of the registration; None if the IANA has no template of the namespace, for example if an RFC
        registers it.
        """
        version: int | None = self._template.get("version")
        return version

    @property
    def date(self) -> str | None:
        """Date of this version of the registration, as YYYY-MM-DD; None if the IANA has no template of the namespace, or
        one without a date.
        """
        return self._template.get("date")

    @property
    def registrant(self) -> str | None:
        """The person or organization that registered the NID; None if the IANA has no template, or one that names
        nobody.
        """
        return self._template.get("registrant")

    @property
    def assignment(self) -> str | None:
        """How names are assigned, in the words of the template (RFC 8141 §6.4.3); None if there is no template or no
        such section.
        """
        return self._template.get("assignment")

    @property
    def resolution(self) -> str | None:
        """How names are resolved, in the words of the template (RFC 8141 §6.4.6); None if there is no template or no
        such section.
        """
        return self._template.get("resolution")

    @property
    def security(self) -> str | None:
        """Security and privacy considerations, in the words of the template (RFC 8141 §6.4.4); None if there is no
        template or no such section.
        """
        return self._template.get("security")

    @property
    def _template(self) -> Mapping[str, Any]:
        return _templates().get(self.nid.lower(), {})


@functools.cache
def registered() -> Mapping[str, Namespace]:
    """The registered namespaces, by their NID in lower case (RFC 8141 §5), from the copy of the IANA registry in this
    package. Read once; the mapping cannot be changed.

    >>> registered()["nbn"].reference
    'https://www.iana.org/assignments/urn-formal/nbn; RFC8458'
    """
    with (files(__package__) / "urn-namespaces.csv").open(encoding="utf-8") as table:
        entries = [Namespace(**row) for row in csv.DictReader(table)]  # type: ignore[arg-type]
    return MappingProxyType({entry.nid.lower(): entry for entry in entries})


@functools.cache
def _templates() -> Mapping[str, Mapping[str, Any]]:
    """The registration templates, by NID in lower case."""
    import tomllib  # noqa: PLC0415 (few programs ask)

    with (files(__package__) / "urn-templates.toml").open("rb") as file:
        return tomllib.load(file)


def nid_status(nid: str) -> NidStatus:
    """The registration status of a NID, in any case.

    `formal` and `informal` are registered; `experimental` is `X-…` (RFC 3406 §3.1); `reserved` are `urn` (RFC 2141
    §2.1, rfc2141bis-03 §2.1), `urn-…` that is not registered, a NID of two characters, and one that begins with two
    letters and a hyphen, as in `xn--…` (RFC 8141 §5.1). All other texts are `unregistered`, also texts that cannot be a
    NID. Raises ArgumentError for a value that is not a text.

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
    """A public and stable service that resolves some names of a namespace: those whose NSS matches the regular
    expression `names`, at an address made from the template `url`.
    """

    names: str
    """Regular expression that matches the whole NSS, in canonical form (%HH is not decoded), of each name that the
    service resolves.
    """
    url: str
    """The address, with the placeholders `{urn}` (canonical form), `{nss}` (its NSS), and the named groups of
    `names`.
    """

    def link(self, urn: str, request: str = "") -> str | None:
        """The address at which this service resolves a URN, by the template `Resolver.url`; None if `names` does not
        match the NSS. The NID is not compared: use only the resolvers of the rule of the NID. No service is asked.
        `urn` is in canonical form, without components.

        `request` (the r-component with its `?+`, or the query of rfc2141bis-03 with its `?`) is added after the URN if
        `url` contains `{urn}`, otherwise left out. In a path, a `?` or `#` of the name, as RFC 2141 has them (§2.3.2),
        is percent-encoded. After a `?` in `url`, name and request are encoded as a value of the query. Raises
        ArgumentError if `urn` has not the form `urn:NID:NSS`.

        >>> rules()["doi"].resolvers[0].link("urn:doi:10.1002/3.0.CO;2-#")
        'https://doi.org/10.1002/3.0.CO;2-%23'
        """
        _, nss = nid_and_nss(urn)
        match = regex.fullmatch(self.names, nss)
        if match is None:
            return None
        values = {"nss": nss, **match.groupdict(default="")}
        link = ""
        for text, placeholder, _, _ in string.Formatter().parse(self.url):
            link += text
            if placeholder is None:
                continue
            name, added = (urn, request) if placeholder == "urn" else (values[placeholder], "")
            # After a "?" the name is a value of the query, in which & and % have a meaning.
            in_query = "?" in link
            link += quote(name + added, safe=_IN_VALUE) if in_query else name.translate(_IN_PATH) + added
        return link


@dataclass(frozen=True, slots=True)
class Rule:
    """The rules of a namespace, in addition to the rules for all URNs.

    `grammar` and `unsure` are patterns (`patterns.py`); their groups mark the parts in which case does not matter.

    An NSS that fits `grammar` is valid. But it is invalid if its check digit is wrong (except with `check` "dnb"), and
    otherwise of unknown validity if it contains `%00`. The validity of an NSS that fits only `unsure` is unknown. An NSS
    that fits neither is invalid, with three exceptions of unknown validity: it contains `?` or `#`; it is a name that is
    not invalid, with closing punctuation after it, or with one of `,;&/()'` and other text (`0451450523&page=2`, but not
    `0451450523abc`); it is a template (`n-nn-nnnnnn-n`). Without `grammar` and `unsure`, the validity of all names is
    unknown.
    """

    nid: str
    """The NID in lower case."""
    title: str
    """The kind of resource that the names identify, such as books."""
    rule: str
    """The additional equivalences in words; "base" if there are none (RFC 8141 §3.1)."""
    equality: str
    """The section that defines `rule`."""
    grammar: str | None = None
    """Pattern of valid NSS. Check digits are not part of the pattern."""
    syntax: str | None = None
    """The section that defines `grammar`."""
    unsure: str | None = None
    """Pattern of NSS whose validity is unknown."""
    unsure_because: str | None = None
    """The reason why the validity of names that fit `unsure` is unknown."""
    check: str | None = None
    """Algorithm of the check digit: a key of `judgement.CHECKS`, such as `isbn`; None: no check digit is computed."""
    code: str | None = None
    """Function for an equivalence that a pattern cannot express: a key of `judgement.REWRITE`, such as `isbn`; None: no
    function.
    """
    note: str | None = None
    """A note for curators."""
    resolvers: tuple[Resolver, ...] = ()
    """The resolution services, in the order in which they are tried."""

    def link(self, urn: str, request: str = "") -> str | None:
        """The address for a URN at the first of `resolvers` that resolves the URN; None if there is none. No service is
        asked.

        `urn` is in canonical form, without components. `request` is the r-component with its `?+`, or the query of
        rfc2141bis-03 with its `?`: it is added if the address contains the whole URN. Raises ArgumentError if `urn` has
        not the form `urn:NID:NSS`; but without `resolvers` it is not looked at.
        """
        return next(filter(None, (resolver.link(urn, request) for resolver in self.resolvers)), None)


def nid_and_nss(urn: str) -> tuple[str, str]:
    """The NID and the NSS of a URN in canonical form, unchanged: `urn:nbn:de:101` -> `("nbn", "de:101")`.

    Raises ArgumentError for a text that does not have the form `urn:NID:NSS`, with `urn` in lower case, and for a value
    that is not a text. Nothing else is checked.
    """
    scheme, *rest = as_text("a URN", urn).split(":", 2)
    if scheme != "urn" or len(rest) < 2:
        raise ArgumentError(f"{urn!r:.60} is no URN in canonical form, as urnscan.canonical gives it")
    return rest[0], rest[1]


def rules_of(table: Mapping[str, Mapping[str, Any]]) -> dict[str, Rule]:
    """The rules in a table that was read from TOML, by NID, in the order of the table. The table maps each NID to the
    fields of its Rule; it is not checked here.
    """
    result = {}
    for nid, entry in table.items():
        resolvers = tuple(Resolver(**resolver) for resolver in entry.get("resolvers", ()))
        result[nid] = Rule(**{**entry, "nid": nid, "resolvers": resolvers})
    return result


@functools.cache
def rules() -> Mapping[str, Rule]:
    """The rules of the registered namespaces, by their NID in lower case (RFC 8141 §3.1), from `rules.toml` in this
    package. Read once; the mapping cannot be changed.

    >>> rule = rules()["doi"]
    >>> rule.rule, rule.link("urn:doi:10.1000/182")
    ('the whole NSS in any case', 'https://doi.org/10.1000/182')
    """
    import tomllib  # noqa: PLC0415 (importing it takes as long as reading the table)

    with (files(__package__) / "rules.toml").open("rb") as file:
        return MappingProxyType(rules_of(tomllib.load(file)))


@dataclass(frozen=True, slots=True)
class Rulebook:
    """The rules by which names are checked: registered rules, and custom rules, each of which replaces the registered
    rule of the same NID. Two rulebooks are equal if their files have the same content.
    """

    sha256: str | None = None
    """Checksum of the file of custom rules, as `sha256sum` prints it; None without custom rules."""
    own: tuple[Rule, ...] = field(default=(), compare=False, repr=False)
    """Custom rules, sorted by NID."""
    text: str | None = field(default=None, compare=False, repr=False)
    """Text of the file of custom rules; None without custom rules."""

    @property
    def rules(self) -> Mapping[str, Rule]:
        """All rules, by their NID in lower case: the custom rules, and the registered rules of all other NIDs.

        >>> Rulebook().rules["isbn"].check
        'isbn'
        """
        return rules() if not self.own else _with_own(self)

    @property
    def nids(self) -> list[str]:
        """The NIDs, in lower case, that have a rule or are registered, sorted."""
        return sorted({*registered(), *(rule.nid for rule in self.own)})


OURS = Rulebook()
"""The rules of the registered namespaces, without custom rules."""


@functools.lru_cache(maxsize=8)
def _with_own(rulebook: Rulebook) -> Mapping[str, Rule]:
    return MappingProxyType({**rules(), **{rule.nid: rule for rule in rulebook.own}})
