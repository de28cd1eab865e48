"""Options that decide which keys join records, and which record of a cluster is kept."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from urnscan.dedup.compare.agreement import ASPECTS
from urnscan.dedup.join.choose_kept import described_values, read_rules
from urnscan.dedup.join.never_join import NeverJoin, never_join_of
from urnscan.dedup.review.decisions import Decisions, decisions_of
from urnscan.errors import ArgumentError, option
from urnscan.records.format_registry import FORMATS
from urnscan.records.keys import URN, kinds
from urnscan.run.options import as_flag, as_whole_number
from urnscan.urn.numbers import isbn
from urnscan.urn.prefix_filter import read_beginnings
from urnscan.urn.syntax import as_strings, get_syntax

_PERCENT = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,9})?%")

WEAK = ("issn", "schemas-*", "ietf:params:xml", "oasis")
"""Prefixes of the URNs that are ignored by default: URNs of serials and of XML vocabularies, which many records share."""

KEYS = kinds()
"""Kinds of identifiers that join records by default: all kinds."""

PLACEHOLDERS = (
    # Ten equal digits have the right check digit of an ISBN-10.
    *(f"isbn:{isbn.canonical(digit * 10)}" for digit in "0123456789"),
    "issn:0000-0000",
    "uuid:00000000-0000-0000-0000-000000000000",
    "uuid:ffffffff-ffff-ffff-ffff-ffffffffffff",
)
"""Identifiers that records have instead of an unknown identifier. They join nothing, also if `Policy.weak` is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Options that decide which records are joined, and which record of a cluster is kept; named as in the command.

    Raises ArgumentError for an invalid value, FatalError for a table of `decisions` or `never_join` that cannot be read
    or is invalid.

    >>> Policy(weak=("urn:ISSN:", "oasis"), keep=["newest", "longest"]).weak
    ('issn', 'oasis')
    """

    any_urn: bool = False
    """Count every URN in a record, also URNs of other things, such as its journal or an XML vocabulary; False: only
    record-level identifiers, that is, those in fields that name the record itself.
    """
    keys: tuple[str, ...] = KEYS
    """Kinds of identifiers that join records, of `KEYS`, such as `("urn", "oclc")`; "all" alone: all of them."""
    weak: tuple[str, ...] = WEAK
    """Ignored URNs: namespaces, or prefixes of names in namespaces, without `urn:`, in lower case. They join nothing:
    an ISSN names the serial, not the article.
    """
    max_class: int | str = 100
    """Maximum number of records that a URN or another key joins; a key in more records joins none. "1%" is relative to
    all records, but at least 2.
    """
    agree: tuple[str, ...] = ASPECTS
    """Aspects of descriptions (of `ASPECTS`) that must not conflict, such as `("title", "year")`; "none" or empty:
    nothing is compared.
    """
    max_cluster: int = 50
    """Maximum number of records in a group that keys connect (records of the same subject in N-Triples count once). For
    a larger group, citations of the same article are ignored, then supporting keys, then all keys except URNs; if it is
    still larger, no record of it is joined.
    """
    keep: tuple[str, ...] = ("fullest",)
    """Rules (of `KEEP`, or `source:NAME`) that choose the kept record of a cluster, such as `("source:dnb*",
    "newest")`; a tie goes to the next rule.
    """
    record: str | None = None
    """Format of all dumps, a name in `FORMATS`, such as `marc`; None: recognised by the content of each dump."""

    carry: tuple[str, ...] = ()
    """Tags of MARC fields, such as `("852",)`: fields that only a removed record has are copied into the kept record."""
    decisions: Decisions | None = None
    """Decisions of people about records and pairs: the path of a table of `review` or `candidates` that people edited, several
    such paths, or the result of `dedup.review.decisions.read_decisions`.
    """

    never_join: NeverJoin | None = None
    """Pairs of identifiers whose records are never joined: the path of a table with the columns `identifier` and
    `other`, or the result of `dedup.join.never_join.read_never_join`.
    """

    def __post_init__(self) -> None:
        # An empty name means that no URN is ignored.
        weak = [name for name in as_strings("weak", self.weak) if name.strip()]
        object.__setattr__(self, "weak", read_beginnings(option("weak", None), weak, get_syntax("rfc2141")))
        keys = _names("keys", self.keys, KEYS, ("all", KEYS))
        if not keys:
            raise ArgumentError(f"{option('keys', None)} cannot be empty; choose from {', '.join(KEYS)}, or all alone")
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "any_urn", as_flag("any_urn", self.any_urn))
        object.__setattr__(self, "keep", read_rules(self.keep))
        object.__setattr__(self, "carry", _tags(self.carry))
        object.__setattr__(self, "decisions", decisions_of(self.decisions))
        object.__setattr__(self, "never_join", never_join_of(self.never_join))
        if self.record is not None and self.record not in tuple(FORMATS):
            raise ArgumentError(f"{option('record', None)} cannot be {self.record!r}; choose from {', '.join(FORMATS)}")
        object.__setattr__(self, "max_class", _most(self.max_class))
        object.__setattr__(self, "agree", _names("agree", self.agree, ASPECTS, ("none", ())))
        object.__setattr__(self, "max_cluster", as_whole_number("max_cluster", self.max_cluster))
        if self.max_cluster < 2:
            raise ArgumentError("max_cluster must be at least 2")

    def metadata(self) -> dict[str, Any]:
        """Return the values of the options by name, for the metadata of a table. Instead of files there is their
        SHA-256 in hexadecimal digits: one for `never_join`, a sequence for `decisions`; None for either if it is not
        given.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {name: values[name] and values[name].sha256 for name in ("decisions", "never_join")}

    def most_in_class(self, records: int) -> int:
        """Return the maximum number of records that a URN or another key joins, if there are `records` in all:
        `max_class`; if that is a percentage, this share of `records`, rounded down, but at least 2.
        """
        if isinstance(self.max_class, int):
            return self.max_class
        return max(2, int(records * float(self.max_class.removesuffix("%")) / 100))

    @property
    def files(self) -> list[str]:
        """Paths of the tables of `decisions` and `never_join`; empty without these options."""
        pairs = [self.never_join.path] if self.never_join else []
        return [*(self.decisions.paths if self.decisions else ()), *pairs]

    @property
    def needs_descriptions(self) -> bool:
        """Whether descriptions of the records are needed: to compare aspects (`agree`), or for a rule of `keep`."""
        return bool(self.agree or described_values(self.keep))

    @property
    def has_keys(self) -> bool:
        """Whether records can be joined by more than URNs: `keys` is not just `urn`."""
        return self.keys != (URN,)


def _most(max_class: int | str) -> int | str:
    if isinstance(max_class, str) and max_class.endswith("%"):
        if _PERCENT.fullmatch(max_class) and 0 < float(max_class[:-1]) <= 100:
            return max_class
        raise ArgumentError(
            f"{option('max_class', None)} cannot be {max_class!r}: a percentage is more than 0% and at most 100%"
        )
    most = as_whole_number("max_class", max_class)
    if most < 2:
        raise ArgumentError("max_class must be at least 2")
    return most


def _names(
    name: str, value: str | Iterable[str], known: tuple[str, ...], alone: tuple[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """The names in the value of the option `name`, in the order of `known`. `alone`: a word that must be the only name,
    and the names that it means.
    """
    named = [each for each in as_strings(name, value) if each]
    word, meaning = alone
    if named == [word]:
        return meaning
    for each in named:
        if each not in known:
            choice = f"choose from {', '.join(known)}, or {word} alone"
            raise ArgumentError(f"{option(name, None)} cannot be {each!r}; {choice}")
    return tuple(each for each in known if each in named)


def _tags(carry: str | Iterable[str]) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(tag for tag in as_strings("carry", carry) if tag))
    for tag in named:
        if len(tag) != 3 or not tag.isascii() or not tag.isalnum():
            raise ArgumentError(f"{option('carry', None)} cannot be {tag!r}; name tags of MARC, such as 035,852,856")
        if tag.startswith("00"):
            raise ArgumentError(f"{option('carry', None)} cannot be {tag}: control fields (00X) are not copied")
    return named
