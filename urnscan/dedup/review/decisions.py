"""Decisions of people about records: read from the table of `--review`, checked against the dumps, and applied."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import numbers
from urnscan.dedup.join.choose_kept import Merit, first_pieces
from urnscan.dedup.join.components import Flags, Joined, Numbers, Pair, components
from urnscan.dedup.reread import Dump
from urnscan.dedup.review.review_table import APART, KEEP, REMOVE, TOGETHER, shown_digest
from urnscan.dedup.review.user_tables import UserTable, read_table
from urnscan.errors import ArgumentError, FatalError

_CODES = {REMOVE: 1, KEEP: 2, TOGETHER: 3, APART: 4}
"""Words by how much they save: of two about pieces of one record the greater one counts."""
_NEEDED = ("decision", "component", "source", "member", "record", "digest")


class Decision(NamedTuple):
    """A row of the table in which somebody decided."""

    line: int
    word: str
    """One of KEEP, REMOVE, APART, TOGETHER."""
    component: str
    """Name of a group: of its records those marked TOGETHER are the same."""
    record: int
    digest: str


@dataclass(frozen=True, slots=True)
class Decisions:
    """All rows of a table in which somebody decided."""

    path: str
    sha256: str
    of_dump: Mapping[tuple[str, str], Mapping[int, Decision]]
    """By source and member of a dump ("" for none) and number of the record."""


def read_decisions(path: str | os.PathLike[str]) -> Decisions:
    """Read a table of `--review` whose column `decision` people have edited: CSV, or TSV, as spreadsheets save it.

    Raises FatalError, with the line, for a file that cannot be read or is no such table.
    """
    table = read_table(path, "the decisions")
    of_dump: dict[tuple[str, str], dict[int, Decision]] = defaultdict(dict)
    for place, decision in _rows(table):
        before = of_dump[place].setdefault(decision.record, decision)
        if before._replace(line=decision.line) != decision:
            raise FatalError(
                f"{table.path}: lines {before.line} and {decision.line} decide differently about one record"
            )
    return Decisions(table.path, table.sha256, dict(of_dump))


def decisions_of(given: object) -> Decisions | None:
    """The decisions that an option means. Raises FatalError as `read_decisions`, ArgumentError for another value."""
    if given is None or isinstance(given, Decisions):
        return given
    if isinstance(given, str | os.PathLike):
        return read_decisions(given)
    raise ArgumentError(f"decisions must be a path, or what read_decisions gives, not {given!r:.60}")


def _rows(table: UserTable) -> Iterator[tuple[tuple[str, str], Decision]]:
    """Rows of the table with a decision: source and member, and the rest. Raises FatalError."""
    for where, line, cells in table.rows(_NEEDED, "urnscan dedup --review FILE.csv writes such a table"):
        word = cells["decision"].strip().lower()
        if not word:
            continue
        if word not in _CODES:
            raise FatalError(
                f"{where}: decision cannot be {word!r}: choose from {', '.join(_CODES)}, or leave it empty"
            )
        if not (cells["record"].isascii() and cells["record"].isdigit()):
            raise FatalError(f"{where}: record is {cells['record']!r}, and no number")
        decision = Decision(line, word, cells["component"], int(cells["record"]), cells["digest"])
        yield (cells["source"], cells["member"]), decision


class Decided:
    """Decisions about the records of a run: those that hold, and those that do not."""

    def __init__(
        self, decisions: Decisions, batches: Iterable[tuple[Dump, slice, pa.RecordBatch]], unit: Numbers
    ) -> None:
        """Check each decision against its record. `batches`: rows of all records, with their digests.

        `unit`: for each record, the number of the thing of which it is a piece. Raises FatalError as `batches` does.
        """
        self.path = decisions.path
        self.refused: list[tuple[int, str]] = []
        """Lines of rows that are not applied, and why not."""
        self._first = first_pieces(unit)
        self._unit = unit
        self._code = np.zeros(len(self._first), np.int8)
        self._line = np.zeros(len(self._first), np.int64)
        self._groups: dict[str, list[int]] = defaultdict(list)
        missing = {place: dict(of_dump) for place, of_dump in decisions.of_dump.items()}
        for dump, these, rows in batches:
            waiting = missing.get((dump.source.name, dump.member or ""))
            if not waiting:
                continue
            first, last = (rows.column("record")[at].as_py() for at in (0, len(rows) - 1))
            held = numbers(rows.column("record"))
            for number in [number for number in waiting if first <= number <= last]:
                at = int(np.searchsorted(held, number))
                if held[at] == number:
                    digest = shown_digest(rows.column("digest")[at].as_py())
                    self._take(waiting.pop(number), these.start + at, digest, dump.name)
        for (source, member), of_dump in missing.items():
            name = f"{source}!/{member}" if member else source
            self.refused += [
                (each.line, f"{name}: record {each.record:,} is not there any more") for each in of_dump.values()
            ]

    def _take(self, decision: Decision, record: int, digest: str, name: str) -> None:
        """Hold a decision, if the record is still the one about which it was made. Another one is in doubt: it stays."""
        thing = int(self._unit[record])
        if decision.digest != digest:
            reason = f"{name}: record {decision.record:,} has changed since: it stays, and joins nothing"
            self.refused.append((decision.line, reason))
            self._code[thing] = _CODES[APART]
            return
        self._code[thing] = max(self._code[thing], _CODES[decision.word])
        self._line[thing] = decision.line
        if decision.word == TOGETHER:
            self._groups[decision.component].append(thing)

    @property
    def order(self) -> Merit:
        """For each thing 0 if it is to be kept, 2 if it is to be removed, else 1."""
        return np.where(self._code == _CODES[KEEP], 0, np.where(self._code == _CODES[REMOVE], 2, 1))

    def are(self, word: str) -> Flags:
        """Mark the records about which this word was said."""
        marked: Flags = self._code == _CODES[word]
        return marked[self._unit]

    def clusters(self, cluster: Numbers, joined: Joined, pieces: Pair) -> Numbers:
        """Clusters of records after the decisions.

        A record that is apart, or the second one of a cluster that is to be kept, is a cluster by itself; those that
        are together are one, and nothing else is in it. What they leave is joined as far as it shares keys without
        them.
        """
        groups = [*self._same()]
        of_thing = cluster[self._first]
        is_out = (self._code == _CODES[APART]) | (self._code == _CODES[TOGETHER])
        keeps = np.flatnonzero(self._code == _CODES[KEEP])
        _, firsts = np.unique(of_thing[keeps], return_index=True)
        is_out[np.delete(keeps, firsts)] = True
        is_changed = np.zeros(int(cluster.max(initial=0)) + 1, np.bool_)
        is_changed[of_thing[is_out]] = True
        lead = np.unique(cluster, return_index=True)[1].astype(np.int32)  # clusters are numbered from 1
        whole = np.flatnonzero(~is_changed[cluster]).astype(np.int32)
        stays = is_changed[cluster[joined.record]] & ~is_out[self._unit[joined.record]]
        record = joined.record[stays]
        key = joined.class_[stays].astype(np.int64) << 32 | cluster[record]
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        same = [(things[0], thing) for things in groups for thing in things[1:]]
        one, other = np.array(same, np.int32).reshape(-1, 2).T
        said = self._first[one], self._first[other]
        kept_whole = lead[cluster[whole] - 1], whole
        linked = record[first[which]], record
        return components(len(cluster), kept_whole, linked, said, pieces)

    def _same(self) -> Iterator[list[int]]:
        """Groups of things that are the same. One that has no other is refused, and left to the rules."""
        for held in self._groups.values():
            things = [thing for thing in dict.fromkeys(held) if self._code[thing] == _CODES[TOGETHER]]
            if len(things) > 1:
                yield things
                continue
            for thing in things:
                self._code[thing] = 0
                self.refused.append((int(self._line[thing]), f"no other record of its component is {TOGETHER} with it"))

    def check(self, rank: Numbers) -> None:
        """Refuse to remove a record in whose place nothing is kept."""
        for thing in np.flatnonzero((self._code == _CODES[REMOVE]) & (rank[self._first] == 1)).tolist():
            self.refused.append((int(self._line[thing]), "nothing would be kept in the place of this record: it stays"))
        self.refused.sort()
