"""Decisions of people about records and pairs of records: read from the tables that they edited, and checked.

A row is about a record, or, if it names another record (`other_record`), about a pair. A decision counts only for the
record with the digest of the row, so rows contradict each other only if they are about the same state of a record.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import NamedTuple

from urnscan.dedup.join.union_find import leader
from urnscan.dedup.review.review_table import APART, KEEP, REMOVE, TOGETHER
from urnscan.dedup.review.user_tables import UserTable, is_path, read_table
from urnscan.errors import ArgumentError, FatalError
from urnscan.formats.context import full_name

OF_RECORDS = (REMOVE, KEEP, TOGETHER, APART)
"""Decisions about a record, explained in `review_table`. Of two decisions about the same work, the later in this order
is applied.
"""
_OF_PAIRS = (TOGETHER, APART)
_OF_RUNS = {"kept": KEEP, "removed": REMOVE, "alone": ""}
"""Words of the table of clusters -> decisions of a person who leaves them unchanged."""
# Only a page of --review with records in doubt has it.
_SAVE_BUTTON = b'id="save"'
# Digits of the number of a record, so that it fits into 64 bits.
_MAX_DIGITS = 18
_DIGEST = re.compile("d[0-9a-f]{1,16}")
_RECORD = ("source", "member", "record", "digest")
_OTHER = tuple(f"other_{name}" for name in _RECORD)

Place = tuple[str, str]
"""Source and member of a dump; the member is "" for a dump without a member."""


class Row(NamedTuple):
    """The place of a row in a table of decisions. `str(row)` is its name in messages: `a.csv: line 3`."""

    path: str
    line: int
    """Line of the row in the table, from 1."""
    about: str = ""
    """ID and title of the record, for messages; empty if the table has neither."""

    def __str__(self) -> str:
        return f"{self.path}: line {self.line:,}"


class Record(NamedTuple):
    """A record that a row of a table of decisions names, in the state in which somebody decided about it."""

    place: Place
    """The dump that contains the record."""
    number: int
    """Number of the record in its dump, from 1; damaged records are counted."""
    digest: str
    """Hash of the bytes of the record at that time, as in that table: `d` and 16 hexadecimal digits."""

    @property
    def key(self) -> tuple[Place, int]:
        """Dump and number: the record, whatever its bytes are."""
        return self.place, self.number

    @property
    def name(self) -> str:
        """Name of the record in messages: `a.mrc: record 1,234`."""
        return record_name(self.place, self.number)


class Decision(NamedTuple):
    """A decision about a record."""

    row: Row
    word: str
    """The decision, one of OF_RECORDS: `keep`, `remove`, `together` or `apart`."""
    component: str
    """Name of a group in the table: those of its records that are marked TOGETHER are the same; may be empty for other
    decisions.
    """
    record: Record
    record_id: str
    """ID of the record, by which it is found after it changed; empty if the table has none."""

    @property
    def said(self) -> str:
        """The decision in messages: `keep`, or `together in group 12`."""
        return f"{self.word} in group {self.component}" if self.word == TOGETHER else self.word


class PairDecision(NamedTuple):
    """A decision about a pair of records."""

    row: Row
    word: str
    """TOGETHER: both records describe the same work. APART: they describe different works."""
    ends: tuple[Record, Record]
    """The two records."""

    @property
    def said(self) -> str:
        """The decision in messages: `apart as a pair`."""
        return f"{self.word} as a pair"


@dataclass(frozen=True, slots=True)
class Decisions:
    """All decisions of people in some tables; no two contradict each other."""

    paths: Sequence[str]
    """Paths of the tables."""
    sha256: Sequence[str]
    """SHA-256 of each table, in hexadecimal digits."""
    records: Sequence[Decision]
    """Decisions about single records; repetitions are left out."""
    pairs: Sequence[PairDecision]
    """Decisions about pairs of records, each pair once."""


def record_name(place: Place, number: int) -> str:
    """Return the name of a record in messages, `a.mrc: record 1,234`. `place`: source and member of its dump; `number`:
    its number there, from 1.
    """
    source, member = place
    return f"{full_name(source, member or None)}: record {number:,}"


def read_decisions(*paths: str | os.PathLike[str]) -> Decisions:
    """Read tables whose column `decision` people have edited, and return their decisions; rows with an empty `decision`
    are left out.

    A table is CSV or TSV: that of `--review`, of its page, of `--candidates` or of clusters (there, `kept` means keep,
    `removed` remove, `alone` nothing), or another one with the same columns. Raises FatalError for a file that cannot
    be read or lacks a column, for an unknown decision, and for rows that contradict each other, in a single file or in
    two.
    """
    tables = [read_table(path, "the decisions") for path in dict.fromkeys(map(os.fsdecode, paths))]
    if page := next((table for table in tables if table.is_page), None):
        if _SAVE_BUTTON in page.data:
            what = "is a page; open it in a browser, press Save the decisions, and give the file that it saves"
        else:
            what = (
                "is a page without decisions; give the table of --review, or the file that the page of --review saves"
            )
        raise FatalError(f"{page.path}: {what}")
    rows = [row for table in tables for row in _rows(table)]
    records = _consistent([row for row in rows if isinstance(row, Decision)])
    pairs = _consistent_pairs([row for row in rows if isinstance(row, PairDecision)])
    _check_pairs(records, pairs)
    return Decisions([table.path for table in tables], [table.sha256 for table in tables], records, pairs)


def decisions_of(value: object) -> Decisions | None:
    """Return the decisions in the value of the option `decisions`: a path, or several, are read by `read_decisions`,
    which may raise FatalError; None and Decisions are returned unchanged. No paths give None. Raises ArgumentError for
    another value.
    """
    if value is None or isinstance(value, Decisions):
        return value
    named = [value] if is_path(value, "decisions") or not isinstance(value, Iterable) else [*value]
    paths = [path for path in named if is_path(path, "decisions")]
    if len(paths) < len(named):
        raise ArgumentError(f"decisions must be a path, paths, or what read_decisions gives, not {value!r:.60}")
    return read_decisions(*paths) if paths else None


def _rows(table: UserTable) -> Iterator[Decision | PairDecision]:
    """Yield the rows that have a decision: about a record, or, if `other_record` is not empty, about a pair. Raises
    FatalError for an invalid row.
    """
    has_pairs = table.has("other_record")
    columns = ("decision", *_RECORD, *(_OTHER if has_pairs else ()))
    option = "--candidates" if has_pairs else "--review"
    for where, line, cells in table.rows(
        columns, f"urnscan dedup {option} FILE.csv writes such a table", ("component", "record_id", "title")
    ):
        about = (cells["record_id"], cells["title"] and f'"{shorten(cells["title"], 60, placeholder="…")}"')
        row, word = Row(table.path, line, " ".join(filter(None, about))), cells["decision"].strip().lower()
        is_pair = has_pairs and cells["other_record"] != ""
        word = word if is_pair else _OF_RUNS.get(word, word)
        if not word:
            continue
        words = _OF_PAIRS if is_pair else OF_RECORDS
        if word not in words:
            of_pair = " for a pair" if is_pair else ""
            raise FatalError(
                f"{where}: decision cannot be {word!r}{of_pair}; choose from {', '.join(words)}, or leave it empty"
            )
        record = _record(cells, _RECORD, where)
        if is_pair:
            other = _record(cells, _OTHER, where)
            if record.key == other.key:
                raise FatalError(f"{where}: both records are {record.name}; a pair needs two different ones")
            yield PairDecision(row, word, (record, other))
            continue
        if word == TOGETHER and not cells["component"]:
            raise FatalError(
                f"{where}: {TOGETHER} needs a group in the column component; records of the same group are joined"
            )
        yield Decision(row, word, cells["component"], record, cells["record_id"])


def _record(cells: Mapping[str, str], columns: Sequence[str], where: str) -> Record:
    source, member, number, digest = (cells[column] for column in columns)
    # `int` raises ValueError for more than 4,300 digits.
    if not (number.isascii() and number.isdigit() and len(number) <= _MAX_DIGITS):
        raise FatalError(f"{where}: record must be a number of at most 18 digits, not {number!r:.80}")
    if not _DIGEST.fullmatch(digest):
        raise FatalError(
            f"{where}: digest must be the checksum that the table of the run has there, such as d0123456789abcdef, not "
            f"{digest!r:.80}"
        )
    return Record((source, member), int(number), digest)


def _consistent(decisions: Iterable[Decision]) -> Sequence[Decision]:
    """The decisions, about each record once for each table. Raises FatalError if two contradict each other."""
    # By the record, then by the file.
    known: dict[Record, dict[str, Decision]] = {}
    for decision in decisions:
        of_record = known.setdefault(decision.record, {})
        for earlier in of_record.values():
            # Numbers of components are those of a run, so they are compared only within one table.
            has_group = decision.word == TOGETHER and earlier.row.path == decision.row.path
            if earlier.word != decision.word or (has_group and earlier.component != decision.component):
                raise _contradiction(earlier, decision, f"one record ({decision.record.name})")
        of_record.setdefault(decision.row.path, decision)
    return [decision for of_record in known.values() for decision in of_record.values()]


def _consistent_pairs(decisions: Iterable[PairDecision]) -> Sequence[PairDecision]:
    known: dict[frozenset[Record], PairDecision] = {}
    for decision in decisions:
        earlier = known.setdefault(frozenset(decision.ends), decision)
        if earlier.word != decision.word:
            one, other = decision.ends
            raise _contradiction(earlier, decision, f"one pair ({one.name}, {other.name})")
    return [*known.values()]


def _contradiction(one: Decision | PairDecision, other: Decision | PairDecision, about: str) -> FatalError:
    if one.row.path == other.row.path:
        where = f"{one.row.path}: lines {one.row.line:,} and {other.row.line:,}"
    else:
        where = f"{one.row} and {other.row}"
    return FatalError(
        f"{where} make different decisions about {about}: {one.said} and {other.said}; leave one of them empty"
    )


def _check_pairs(records: Iterable[Decision], pairs: Iterable[PairDecision]) -> None:
    """Raise FatalError if a pair is APART and rows with TOGETHER join its records, directly or over others."""
    # Records and groups; each leads to the next one.
    leaders: dict[object, object] = {}
    # For each record, a row that says TOGETHER.
    because: dict[object, Decision | PairDecision] = {}

    for decision in records:
        if decision.word == TOGETHER:
            leaders[leader(leaders, decision.record)] = leader(leaders, (decision.row.path, decision.component))
            because.setdefault(decision.record, decision)
    apart = []
    for pair in pairs:
        if pair.word == APART:
            apart.append(pair)
            continue
        leaders[leader(leaders, pair.ends[0])] = leader(leaders, pair.ends[1])
        for end in pair.ends:
            because.setdefault(end, pair)
    for pair in apart:
        one, other = pair.ends
        if leader(leaders, one) == leader(leaders, other):
            raise _contradiction(because[one], pair, f"one pair ({one.name}, {other.name})")
