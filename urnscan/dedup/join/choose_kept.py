"""The record of a cluster (records that are treated as the same) that is kept: the rules of `--keep`, the values that
they compare, and the ranks of records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.dedup.join.components import Numbers, group_begins, whole_groups
from urnscan.dedup.reread import Dump
from urnscan.errors import ArgumentError, FatalError, option
from urnscan.records.description import Description
from urnscan.stores.input import Input
from urnscan.urn.syntax import as_strings

SOURCE = "source:"
"""Prefix of the rule that prefers a dump; the name of the dump, or a pattern, follows."""

# Rank of an unknown level, after all known levels.
_LEVELS = 10
_DATE = re.compile(r"(?<![0-9])((?:19|20)[0-9]{2})[-./]?(0[1-9]|1[0-2])[-./]?(0[1-9]|[12][0-9]|3[01])")
# A date of PICA+, after a library: `1999:31-01-24`.
_SHORT_DATE = re.compile(r"(?<=:)(0[1-9]|[12][0-9]|3[01])-(0[1-9]|1[0-2])-([0-9]{2})(?![0-9])")
# Years of two digits below this number are in the 21st century.
_CENTURY = 70
_TIME = re.compile(r"[T ]?([01][0-9]|2[0-3]):?([0-5][0-9]):?([0-5][0-9])")

IntArray = npt.NDArray[np.integer[Any]]
"""A value for each work; integers of any size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingValues:
    """Values of works that the rules compare; all arrays have an element for each work. A work is a record, or all
    records of a dump with the same ID, if its format describes a work by several records (N-Triples).

    If several records describe a work, sizes and numbers of keys are added, and the latest change, the fullest level
    and the largest number of fields count.
    """

    byte_count: IntArray
    """Number of bytes of the records."""
    identifiers: IntArray
    """Number of different URNs and keys, without keys that nearly every record has."""
    dump: IntArray
    """Index of the dump, from 0."""
    changed: IntArray
    """Moment of the last change, as a number that grows with time (`moment_of`); 0 if unknown, or if no rule needs it."""
    level: IntArray
    """Encoding level, from 1 (the fullest) to 10 (unknown); see `level_of`. 0 if no rule needs it."""
    fields: IntArray
    """Number of fields of MARC; 0 if there are none, or if no rule needs them."""
    decided: IntArray
    """Compared before all rules: 0 for a work that people decided to keep, 2 for one to remove, 1 for others."""
    deleted: IntArray
    """1 for a work whose records are deleted, otherwise 0: all other works of the cluster come first, whatever the
    rules say.
    """


_RULES: Mapping[str, Callable[[RankingValues, Numbers], Sequence[IntArray]]] = MappingProxyType(
    {
        "first": lambda _, works: [works],
        "last": lambda _, works: [~works],
        "longest": lambda of, works: [~of.byte_count[works]],
        "most-identifiers": lambda of, works: [~of.identifiers[works]],
        "newest": lambda of, works: [~of.changed[works]],
        "fullest": lambda of, works: [of.level[works], ~of.fields[works], ~of.byte_count[works]],
    }
)
"""Sort keys of works for each rule; the smallest wins. `~` reverses the order, also of unsigned numbers."""
KEEP = tuple(_RULES)
"""Names of the rules that need no value after them: all except SOURCE."""


def read_rules(keep: str | Iterable[str]) -> tuple[str, ...]:
    """Check rules that choose the kept record, and return them as a tuple, in the same order; a str is a single rule.
    Raises ArgumentError for an unknown rule, or without any rule.

    >>> read_rules(["source:dnb*", "newest"])
    ('source:dnb*', 'newest')
    """
    rules = as_strings("keep", keep)
    known = f"choose from {', '.join(KEEP)}, {SOURCE}NAME"
    if not rules:
        raise ArgumentError(f"{option('keep', None)} cannot be empty; {known}")
    for rule in rules:
        if rule not in KEEP and not (rule.startswith(SOURCE) and rule != SOURCE):
            raise ArgumentError(f"{option('keep', None)} cannot be {rule!r}; {known}")
    return rules


def moment_of(description: Description) -> int:
    """Return the last change of a record as a number that grows with time, `20240131123456`; without a time of day,
    that of midnight. The latest of several; 0 if unknown, also for a date without a day.

    >>> moment_of(Description(changed="2024-01-31T12:34:56Z")), moment_of(Description(changed="20240131123456.0"))
    (20240131123456, 20240131123456)
    """
    text = _SHORT_DATE.sub(_long_date, description.changed or "")
    matches = [(date, _TIME.match(text, date.end())) for date in _DATE.finditer(text)]
    return max(
        (int("".join((*date.groups(), *(time.groups() if time else ("000000",))))) for date, time in matches), default=0
    )


def _long_date(short: re.Match[str]) -> str:
    day, month, year = short.groups()
    return f" {19 if int(year) >= _CENTURY else 20}{year}{month}{day}"


def level_of(description: Description) -> int:
    """Return the encoding level of a record (how fully it is catalogued), from 1 (the fullest) to 10 (unknown)."""
    return int(description.level or _LEVELS)


class DescribedValue(NamedTuple):
    """A value of `RankingValues` that the description of a record has."""

    name: str
    of: Callable[[Description], int]
    """Returns the value of a description."""
    best: np.ufunc
    """Chooses between the values of several records that describe a work: `np.maximum` or `np.minimum`."""
    kind: type[np.integer[Any]]
    """Type of the value in an array."""


_DESCRIBED: Mapping[str, Sequence[DescribedValue]] = MappingProxyType(
    {
        "newest": [DescribedValue("changed", moment_of, np.maximum, np.int64)],
        "fullest": [
            DescribedValue("level", level_of, np.minimum, np.int8),
            DescribedValue("fields", lambda description: int(description.fields or 0), np.maximum, np.int32),
        ],
    }
)


def described_values(rules: Iterable[str]) -> list[DescribedValue]:
    """Return the values of descriptions that rules (of `keep`) compare; empty if no rule needs descriptions."""
    return [value for rule in dict.fromkeys(rules) for value in _DESCRIBED.get(rule, ())]


def check_sources(rules: Iterable[str], dumps: Sequence[Dump], empty: Iterable[Input]) -> None:
    """Raise FatalError if a rule (`source:NAME`) prefers a dump that is neither in `dumps` nor in `empty` (inputs without
    bytes): its name may have a typo. Do nothing if there are no dumps at all.
    """
    named = [*((dump.name, dump.source) for dump in dumps), *((source.name, source) for source in empty)]
    for rule in rules:
        if rule.startswith(SOURCE) and dumps and not any(_is_named(*names, rule) for names in named):
            raise FatalError(f"{option('keep', rule)}: no dump has this name; the first dump is {dumps[0].name}")


def _is_named(name: str, source: Input, rule: str) -> bool:
    pattern = rule.removeprefix(SOURCE)
    return any(name == pattern or fnmatchcase(name, pattern) for name in (name, source.name, source.file_name))


def ranks(
    keep: Sequence[str], cluster: Numbers, work: Numbers, values: RankingValues, dumps: Sequence[Dump] = ()
) -> Numbers:
    """Rank the records of each cluster by rules, and return the rank of each record, from 1; the record of rank 1 is
    kept. A decision of people counts first, then whether a record is deleted, then the rules of `keep` in their order;
    the next counts only in a tie. The last tie goes to the first record.

    `cluster` and `work` have an element for each record: the number of its cluster, from 1, and of its work. In
    N-Triples, several records may describe a work, which is kept or removed as a whole: these records have the same
    number in `work`, from 0 in the order of their first records, and get the same rank.

    Example, by `longest`: in a cluster, records of 10, 30 and 20 bytes get the ranks 3, 1 and 2.
    """
    of_work = cluster[first_records(work)]
    shared = np.flatnonzero((np.bincount(of_work) > 1)[of_work]).astype(np.int32)
    shared = shared[np.argsort(of_work[shared], kind="stable")]
    rank = np.ones(len(of_work), np.int32)
    for group in whole_groups(of_work[shared]):
        works = shared[group]
        keys: list[IntArray] = [of_work[works], values.decided[works], values.deleted[works]]
        for rule in keep:
            keys += _keys(rule, values, works, dumps)
        # `lexsort` is stable, so a tie keeps the order of the records.
        works = works[np.lexsort(keys[::-1])]
        place = np.arange(len(works))
        first = np.maximum.accumulate(np.where(group_begins(of_work[works]), place, 0))
        rank[works] = place - first + 1
    return rank[work]


def first_records(work: Numbers) -> Numbers:
    """Return the number of the first record of each work, among the records of all dumps, from 0. `work`: for each
    record, the number of the work that it describes, from 0 and without gaps.
    """
    begins = np.empty(work.max(initial=-1) + 1, np.int32)
    begins[work[::-1]] = np.arange(len(work), dtype=np.int32)[::-1]
    return begins


def _keys(rule: str, values: RankingValues, works: Numbers, dumps: Sequence[Dump]) -> Sequence[IntArray]:
    """Sort keys for a rule, the most important first: a number for each of `works`, of which the smallest wins."""
    if rule in _RULES:
        return _RULES[rule](values, works)
    is_other = np.array([not _is_named(dump.name, dump.source, rule) for dump in dumps], np.int8)
    return [is_other[values.dump[works]]]
