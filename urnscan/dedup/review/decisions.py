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
from urnscan.dedup.join.choose_kept import IntArray, first_records
from urnscan.dedup.join.components import Flags, Numbers, Pair, SharedEdges, components
from urnscan.dedup.reread import Dump
from urnscan.dedup.review.review_table import APART, KEEP, REMOVE, TOGETHER, shown_digest
from urnscan.dedup.review.user_tables import UserTable, read_table
from urnscan.errors import ArgumentError, FatalError

_CODES = {REMOVE: 1, KEEP: 2, TOGETHER: 3, APART: 4}
"""Words by how much they save: of two words about one work, the greater one counts."""
_OF_RUNS = {"kept": KEEP, "removed": REMOVE, "alone": ""}
"""Words of the table of clusters, and what a person means who leaves them there."""
_NEEDED = ("decision", "source", "member", "record", "digest")


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
    """Read a table whose column `decision` people have edited: CSV, or TSV, as spreadsheets save it. It is one of
    `--review` or of clusters, or any other with the same columns.

    Raises FatalError, with the line, for a file that cannot be read or is no such table.
    """
    table = read_table(path, "the decisions")
    of_dump: dict[tuple[str, str], dict[int, Decision]] = defaultdict(dict)
    for place, decision in _rows(table):
        earlier = of_dump[place].setdefault(decision.record, decision)
        if earlier._replace(line=decision.line) != decision:
            raise FatalError(
                f"{table.path}: lines {earlier.line} and {decision.line} decide differently about one record"
            )
    return Decisions(table.path, table.sha256, dict(of_dump))


def decisions_of(value: object) -> Decisions | None:
    """The decisions that an option means. Raises FatalError as `read_decisions`, ArgumentError for another value."""
    if value is None or isinstance(value, Decisions):
        return value
    if isinstance(value, str | os.PathLike):
        return read_decisions(value)
    raise ArgumentError(f"decisions must be a path, or what read_decisions gives, not {value!r:.60}")


def _rows(table: UserTable) -> Iterator[tuple[tuple[str, str], Decision]]:
    """Rows of the table with a decision: source and member, and the rest. Raises FatalError."""
    for where, line, cells in table.rows(
        _NEEDED, "urnscan dedup --review FILE.csv writes such a table", ("component",)
    ):
        word = cells["decision"].strip().lower()
        word = _OF_RUNS.get(word, word)
        if not word:
            continue
        if word not in _CODES:
            raise FatalError(
                f"{where}: decision cannot be {word!r}: choose from {', '.join(_CODES)}, or leave it empty"
            )
        if not (cells["record"].isascii() and cells["record"].isdigit()):
            raise FatalError(f"{where}: record is {cells['record']!r}, and no number")
        if word == TOGETHER and not cells["component"]:
            raise FatalError(f"{where}: {TOGETHER} needs the column component: the same word there joins the records")
        decision = Decision(line, word, cells["component"], int(cells["record"]), cells["digest"])
        yield (cells["source"], cells["member"]), decision


class AppliedDecisions:
    """Decisions about the records of a run, applied or refused."""

    def __init__(
        self, decisions: Decisions, batches: Iterable[tuple[Dump, slice, pa.RecordBatch]], work: Numbers
    ) -> None:
        """Check each decision against its record. `batches`: rows of all records, with their digests.

        `work`: for each record, the number of the work that it describes. Raises FatalError as `batches` does.
        """
        self.path = decisions.path
        self.refused: list[tuple[int, str]] = []
        """Lines of rows that are not applied, and why not."""
        self._first = first_records(work)
        self._work = work
        self._code = np.zeros(len(self._first), np.int8)
        self._line = np.zeros(len(self._first), np.int64)
        self._groups: dict[str, list[int]] = defaultdict(list)
        missing = {place: dict(of_dump) for place, of_dump in decisions.of_dump.items()}
        for dump, span, rows in batches:
            pending = missing.get((dump.source.name, dump.member or ""))
            if not pending:
                continue
            first, last = (rows.column("record")[at].as_py() for at in (0, len(rows) - 1))
            record = numbers(rows.column("record"))
            for number in [number for number in pending if first <= number <= last]:
                at = int(np.searchsorted(record, number))
                if record[at] == number:
                    digest = shown_digest(rows.column("digest")[at].as_py())
                    self._take(pending.pop(number), span.start + at, digest, dump.name)
        for (source, member), of_dump in missing.items():
            name = f"{source}!/{member}" if member else source
            self.refused += [
                (decision.line, f"{name}: record {decision.record:,} is not there any more")
                for decision in of_dump.values()
            ]

    def _take(self, decision: Decision, record: int, digest: str, name: str) -> None:
        """Accept a decision if the record has not changed since. A record that has changed is in doubt: it stays."""
        work = int(self._work[record])
        if decision.digest != digest:
            reason = f"{name}: record {decision.record:,} has changed since: it stays, and joins nothing"
            self.refused.append((decision.line, reason))
            self._code[work] = _CODES[APART]
            return
        self._code[work] = max(self._code[work], _CODES[decision.word])
        self._line[work] = decision.line
        if decision.word == TOGETHER:
            self._groups[decision.component].append(work)

    @property
    def order(self) -> IntArray:
        """For each work 0 if it is to be kept, 2 if it is to be removed, else 1."""
        return np.where(self._code == _CODES[KEEP], 0, np.where(self._code == _CODES[REMOVE], 2, 1))

    def are(self, word: str) -> Flags:
        """Mark the records with this decision."""
        marked: Flags = self._code == _CODES[word]
        return marked[self._work]

    def clusters(self, cluster: Numbers, shared_edges: SharedEdges, same_work: Pair) -> Numbers:
        """Clusters of records after the decisions.

        A record that is apart, or the second one of a cluster that is to be kept, is a cluster by itself; records
        that are together are one cluster, and nothing else is in it. The records left in a changed cluster are joined
        where they still share keys.
        """
        groups = [*self._same()]
        of_work = cluster[self._first]
        is_out = (self._code == _CODES[APART]) | (self._code == _CODES[TOGETHER])
        keeps = np.flatnonzero(self._code == _CODES[KEEP])
        _, firsts = np.unique(of_work[keeps], return_index=True)
        is_out[np.delete(keeps, firsts)] = True
        is_changed = np.zeros(int(cluster.max(initial=0)) + 1, np.bool_)
        is_changed[of_work[is_out]] = True
        lead = np.unique(cluster, return_index=True)[1].astype(np.int32)  # clusters are numbered from 1
        whole = np.flatnonzero(~is_changed[cluster]).astype(np.int32)
        stays = is_changed[cluster[shared_edges.record]] & ~is_out[self._work[shared_edges.record]]
        record = shared_edges.record[stays]
        key = shared_edges.identifier[stays].astype(np.int64) << 32 | cluster[record]
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        same = [(works[0], work) for works in groups for work in works[1:]]
        one, other = np.array(same, np.int32).reshape(-1, 2).T
        decided = self._first[one], self._first[other]
        kept_whole = lead[cluster[whole] - 1], whole
        linked = record[first[which]], record
        return components(len(cluster), kept_whole, linked, decided, same_work)

    def _same(self) -> Iterator[list[int]]:
        """Groups of works that people decided are the same. A group of one work is refused, and left to the rules."""
        for group in self._groups.values():
            works = [work for work in dict.fromkeys(group) if self._code[work] == _CODES[TOGETHER]]
            if len(works) > 1:
                yield works
                continue
            for work in works:
                self._code[work] = 0
                self.refused.append((int(self._line[work]), f"no other record of its component is {TOGETHER} with it"))

    def check(self, rank: Numbers) -> None:
        """Refuse to remove a record in whose place nothing is kept."""
        for work in np.flatnonzero((self._code == _CODES[REMOVE]) & (rank[self._first] == 1)).tolist():
            self.refused.append((int(self._line[work]), "nothing would be kept in the place of this record: it stays"))
        self.refused.sort()
