"""The record of a cluster that is kept: the rules of `--keep`, the values that they compare, and the ranks of records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from urnscan.dedup.join.components import Numbers, whole_groups
from urnscan.dedup.reread import Dump
from urnscan.errors import ArgumentError, FatalError, option
from urnscan.records.description import Description
from urnscan.urn.syntax import as_strings

SOURCE = "source:"
"""Begins the rule that prefers a dump; behind it stands the name of the dump, or a pattern."""

_LEVELS = 10  # a level that is not known comes behind all others
_DATE = re.compile(r"(?<![0-9])((?:19|20)[0-9]{2})[-./]?(0[1-9]|1[0-2])[-./]?(0[1-9]|[12][0-9]|3[01])")
_SHORT_DATE = re.compile(
    r"(?<=:)(0[1-9]|[12][0-9]|3[01])-(0[1-9]|1[0-2])-([0-9]{2})(?![0-9])"
)  # of PICA+: 1999:31-01-24
_CENTURY = 70  # years below are those of the 21st
_TIME = re.compile(r"[T ]?([01][0-9]|2[0-3]):?([0-5][0-9]):?([0-5][0-9])")

Merit = npt.NDArray[np.integer[Any]]
"""A value of each thing, in numbers of any size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merits:
    """Values of things by which the rules choose: of records, or, where a record stands in pieces, of all its pieces.

    All arrays have an element for each thing.
    """

    octets: Merit
    identifiers: Merit
    """Number of different keys."""
    dump: Merit
    """Number of its dump."""
    changed: Merit
    """Moment of the last change, as `moment_of` gives it."""
    level: Merit
    """Encoding level, as `level_of` gives it."""
    fields: Merit
    """Number of fields; 0 where it is not read."""
    decided: Merit
    """Order that people decided, the least for the best; it comes before all rules."""


_RULES: Mapping[str, Callable[[Merits, Numbers], Sequence[Merit]]] = MappingProxyType(
    {
        "first": lambda _, some: [some],
        "last": lambda _, some: [~some],
        "longest": lambda of, some: [~of.octets[some]],
        "most-identifiers": lambda of, some: [~of.identifiers[some]],
        "newest": lambda of, some: [~of.changed[some]],
        "fullest": lambda of, some: [of.level[some], ~of.fields[some], ~of.octets[some]],
    }
)
"""For each rule, values of some things, the least for the best. `~` reverses the order, of unsigned numbers, too."""
KEEP = tuple(_RULES)
"""Names of the rules, besides SOURCE."""
_DESCRIBED = {"newest", "fullest"}


def read_rules(keep: str | Iterable[str]) -> tuple[str, ...]:
    """Rules that say which record is kept. Raises ArgumentError for an invalid value.

    >>> read_rules(["source:dnb*", "newest"])
    ('source:dnb*', 'newest')
    """
    rules = as_strings("keep", keep)
    known = f"choose from {', '.join(KEEP)}, {SOURCE}NAME"
    if not rules:
        raise ArgumentError(f"{option('keep', None)} cannot be empty: {known}")
    for rule in rules:
        if rule not in KEEP and not (rule.startswith(SOURCE) and rule != SOURCE):
            raise ArgumentError(f"{option('keep', None)} cannot be {rule!r}: {known}")
    return rules


def need_descriptions(rules: Iterable[str]) -> bool:
    """Whether a rule asks what the records say of themselves."""
    return not _DESCRIBED.isdisjoint(rules)


def moment_of(description: Description) -> int:
    """The last change of a record as a number that grows with time; 0 if it does not say.

    >>> moment_of(Description(changed="2024-01-31T12:34:56Z")), moment_of(Description(changed="20240131123456.0"))
    (20240131123456, 20240131123456)
    """
    text = _SHORT_DATE.sub(_long_date, description.changed or "")
    found = [(date, _TIME.match(text, date.end())) for date in _DATE.finditer(text)]
    return max(
        (int("".join((*date.groups(), *(time.groups() if time else ("000000",))))) for date, time in found), default=0
    )


def _long_date(short: re.Match[str]) -> str:
    day, month, year = short.groups()
    return f" {19 if int(year) >= _CENTURY else 20}{year}{month}{day}"


def level_of(description: Description) -> int:
    """The encoding level of a record, from 1, the fullest."""
    return int(description.level or _LEVELS)


def check_sources(rules: Iterable[str], dumps: Sequence[Dump]) -> None:
    """Raise FatalError if a rule prefers a dump that is not there: its name may be mistyped."""
    for rule in rules:
        if rule.startswith(SOURCE) and not any(_is_named(dump, rule) for dump in dumps):
            raise FatalError(f"{rule}: no dump has this name; the first is called {dumps[0].name}")


def _is_named(dump: Dump, rule: str) -> bool:
    pattern = rule.removeprefix(SOURCE)
    names = (dump.name, dump.source.name, dump.source.file_name)
    return any(name == pattern or fnmatchcase(name, pattern) for name in names)


def ranks(keep: Sequence[str], cluster: Numbers, unit: Numbers, merits: Merits, dumps: Sequence[Dump] = ()) -> Numbers:
    """Rank the records of each cluster from 1, the one that is kept, by rules: a tie goes to the next rule, and in the end
    to the first record.

    `cluster` and `unit` have an element for each record: the number of its cluster, and that of its thing. Some dumps
    spread the statements about one thing over several records (N-Triples), and it is kept or removed as a whole: these
    records have the same number in `unit`, from 0 in the order of their first records, and get the same rank.

    Example, by `longest`: in one cluster records of 10, 30 and 20 octets get the ranks 3, 1 and 2.
    """
    of_unit = cluster[first_pieces(unit)]
    shared = np.flatnonzero((np.bincount(of_unit) > 1)[of_unit]).astype(np.int32)
    shared = shared[np.argsort(of_unit[shared], kind="stable")]
    rank = np.ones(len(of_unit), np.int32)
    for these in whole_groups(of_unit[shared]):
        some = shared[these]
        keys: list[Merit] = [of_unit[some], merits.decided[some]]
        for rule in keep:
            keys += _keys(rule, merits, some, dumps)
        some = some[np.lexsort(keys[::-1])]  # a stable sort
        place = np.arange(len(some))
        is_first = np.append(True, of_unit[some[1:]] != of_unit[some[:-1]])
        rank[some] = place - np.maximum.accumulate(np.where(is_first, place, 0)) + 1
    return rank[unit]


def first_pieces(unit: Numbers) -> Numbers:
    """The first record of each thing; `unit` as in `ranks`."""
    begins = np.empty(unit.max(initial=-1) + 1, np.int32)
    begins[unit[::-1]] = np.arange(len(unit), dtype=np.int32)[::-1]
    return begins


def _keys(rule: str, merits: Merits, some: Numbers, dumps: Sequence[Dump]) -> Sequence[Merit]:
    """Values of some things by a rule, the least for the best."""
    if rule in _RULES:
        return _RULES[rule](merits, some)
    is_other = np.array([not _is_named(dump, rule) for dump in dumps], np.int8)
    return [is_other[merits.dump[some]]]
