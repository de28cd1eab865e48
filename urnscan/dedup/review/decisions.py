"""Decisions of people about records: read from the table of `--review`, checked against the dumps, and applied."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import numbers
from urnscan.dedup.join.choose_kept import IntArray, first_records
from urnscan.dedup.join.components import Flags, Numbers, Pair, SharedEdges, components
from urnscan.dedup.reread import Dump
from urnscan.dedup.review.review_table import APART, KEEP, REMOVE, TOGETHER, shown_digests
from urnscan.dedup.review.user_tables import UserTable, read_table
from urnscan.errors import ArgumentError, FatalError
from urnscan.formats.context import full_name

_CODES = {REMOVE: 1, KEEP: 2, TOGETHER: 3, APART: 4}
"""Codes of decisions: the greater the code, the more records stay. Of two decisions about a work, the greater counts."""
_OF_RUNS = {"kept": KEEP, "removed": REMOVE, "alone": ""}
"""Words of the table of clusters -> decisions of a person who leaves them unchanged."""
_NEEDED = ("decision", "source", "member", "record", "digest")


Place = tuple[str, str]
"""Source and member of a dump; the member is "" for a dump without a member."""


class Record(NamedTuple):
    """A record that a row of a table of decisions names."""

    place: Place
    number: int
    digest: str

    @property
    def key(self) -> tuple[Place, int]:
        """Place and number, by which `_known` has the record."""
        return self.place, self.number

    def fault(self, known: Mapping[tuple[Place, int], tuple[int, str]]) -> str | None:
        """The reason why the decision does not apply: the record no longer exists, or has changed; otherwise None."""
        source, member = self.place
        name = full_name(source, member or None)
        if self.key not in known:
            return f"{name}: record {self.number:,} no longer exists"
        return None if known[self.key][1] == self.digest else f"{name}: record {self.number:,} has changed"


class Decision(NamedTuple):
    """A row of the table with a decision."""

    line: int
    word: str
    """The decision: KEEP, REMOVE, APART or TOGETHER."""
    component: str
    """Name of a group, in which all records with the decision TOGETHER are the same."""
    record: int
    digest: str


class PairDecision(NamedTuple):
    """A row of the table of candidates with the decision TOGETHER."""

    line: int
    ends: tuple[Record, Record]


@dataclass(frozen=True, slots=True)
class Decisions:
    """All rows of a table that have a decision."""

    path: str
    sha256: str
    of_dump: Mapping[Place, Mapping[int, Decision]]
    """Decisions by place of the dump, then by number of the record."""
    pairs: Sequence[PairDecision] = ()


def read_decisions(path: str | os.PathLike[str]) -> Decisions:
    """Read a table in which people have edited the column `decision`: CSV, or TSV, as spreadsheets save tables.

    The table is that of `--review`, of clusters or of `--candidates`, or has the same columns. Raises FatalError, with
    the line, for a file that cannot be read or has other contents.
    """
    table = read_table(path, "the decisions")
    if table.has("other_record"):
        return Decisions(table.path, table.sha256, {}, [*_pairs(table)])
    of_dump: dict[Place, dict[int, Decision]] = defaultdict(dict)
    for place, decision in _rows(table):
        earlier = of_dump[place].setdefault(decision.record, decision)
        if earlier._replace(line=decision.line) != decision:
            raise FatalError(
                f"{table.path}: lines {earlier.line} and {decision.line} make different decisions about one record"
            )
    return Decisions(table.path, table.sha256, dict(of_dump))


def decisions_of(value: object) -> Decisions | None:
    """The decisions of an option: `read_decisions` reads a path, and may raise FatalError. Raises ArgumentError for
    other values.
    """
    if value is None or isinstance(value, Decisions):
        return value
    if isinstance(value, str | os.PathLike):
        return read_decisions(value)
    raise ArgumentError(f"decisions must be a path, or what read_decisions gives, not {value!r:.60}")


def _pairs(table: UserTable) -> Iterator[PairDecision]:
    """Rows of a table of candidates that have a decision. Raises FatalError."""
    of_ends = [
        ("source", "member", "record", "digest"),
        ("other_source", "other_member", "other_record", "other_digest"),
    ]
    columns = ("decision", *of_ends[0], *of_ends[1])
    for where, line, cells in table.rows(columns, "urnscan dedup --candidates FILE.csv writes such a table"):
        word = cells["decision"].strip().lower()
        if not word:
            continue
        if word != TOGETHER:
            raise FatalError(
                f"{where}: decision cannot be {word!r}: for a pair of candidates it is {TOGETHER} or empty"
            )
        one, other = (
            Record((cells[source], cells[member]), _number(cells[record], where), cells[digest])
            for source, member, record, digest in of_ends
        )
        yield PairDecision(line, (one, other))


def _number(text: str, where: str) -> int:
    """The number of a record. Raises FatalError for other text."""
    if not (text.isascii() and text.isdigit()):
        raise FatalError(f"{where}: record must be a number, not {text!r:.80}")
    return int(text)


def _rows(table: UserTable) -> Iterator[tuple[Place, Decision]]:
    """Rows of the table with a decision: source and member, and the decision. Raises FatalError."""
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
        number = _number(cells["record"], where)
        if word == TOGETHER and not cells["component"]:
            raise FatalError(
                f"{where}: {TOGETHER} needs a value in the column component: records with the same value are joined"
            )
        decision = Decision(line, word, cells["component"], number, cells["digest"])
        yield (cells["source"], cells["member"]), decision


def _known(
    decisions: Decisions, batches: Iterable[tuple[Dump, slice, pa.RecordBatch]]
) -> dict[tuple[Place, int], tuple[int, str]]:
    """For each existing record that a decision names: the number of the record in the run, and the digest."""
    wanted: dict[Place, set[int]] = defaultdict(set)
    for place, of_dump in decisions.of_dump.items():
        wanted[place].update(of_dump)
    for pair in decisions.pairs:
        for end in pair.ends:
            wanted[end.place].add(end.number)
    known: dict[tuple[Place, int], tuple[int, str]] = {}
    for dump, span, rows in batches:
        place = (dump.source.name, dump.member or "")
        pending = wanted.get(place)
        if not pending:
            continue
        record = numbers(rows.column("record"))
        at = np.flatnonzero(np.isin(record, [*pending]))
        digests = shown_digests(numbers(rows.column("digest"))[at]).to_pylist()
        for index, digest in zip(at.tolist(), digests, strict=True):
            known[place, int(record[index])] = span.start + index, digest
    return known


class AppliedDecisions:
    """Decisions about the records of a run, applied or refused."""

    def __init__(
        self, decisions: Decisions, batches: Iterable[tuple[Dump, slice, pa.RecordBatch]], work: Numbers
    ) -> None:
        """Check each decision against the record. `batches`: rows of all records, with their digests.

        `work`: number of the work of each record. Raises FatalError as `batches` does.
        """
        self.path = decisions.path
        self.refused: list[tuple[int, str]] = []
        """Lines of rows that are not applied, and the reasons."""
        self._first = first_records(work)
        self._work = work
        self._code = np.zeros(len(self._first), np.int8)
        self._line = np.zeros(len(self._first), np.int64)
        self._groups: dict[str, list[int]] = defaultdict(list)
        known = _known(decisions, batches)
        for place, of_dump in decisions.of_dump.items():
            for decision in of_dump.values():
                self._take(decision, Record(place, decision.record, decision.digest), known)
        self._same = [*self._of_groups()]
        self._pairs = [*self._of_pairs(decisions.pairs, known)]

    def _take(self, decision: Decision, record: Record, known: Mapping[tuple[Place, int], tuple[int, str]]) -> None:
        """Accept a decision if the record is unchanged. A record that has changed stays, and joins nothing."""
        if fault := record.fault(known):
            self.refused.append(
                (decision.line, f"{fault}; it stays, and joins no other record" if record.key in known else fault)
            )
        if record.key not in known:
            return
        work = int(self._work[known[record.key][0]])
        if fault:
            self._code[work] = _CODES[APART]
            return
        self._code[work] = max(self._code[work], _CODES[decision.word])
        self._line[work] = decision.line
        if decision.word == TOGETHER:
            self._groups[decision.component].append(work)

    @property
    def order(self) -> IntArray:
        """For each work 0 for KEEP, 2 for REMOVE, otherwise 1."""
        return np.where(self._code == _CODES[KEEP], 0, np.where(self._code == _CODES[REMOVE], 2, 1))

    def are(self, word: str) -> Flags:
        """Mark the records with the decision `word`."""
        marked: Flags = self._code == _CODES[word]
        return marked[self._work]

    def clusters(self, cluster: Numbers, shared_edges: SharedEdges, same_work: Pair) -> Numbers:
        """Clusters of records after the decisions.

        A record with APART, or a further record with KEEP in a cluster, is a cluster by itself; records with TOGETHER
        and the same group are a cluster without other records. The records left in a changed cluster are joined where
        they still share keys. A pair of candidates joins like a key that both records have.
        """
        pairs = self.pairs
        if len(pairs[0]):
            lead = np.unique(cluster, return_index=True)[1].astype(np.int32)
            cluster = components(len(cluster), (lead[cluster - 1], np.arange(len(cluster), dtype=np.int32)), pairs)
        of_work = cluster[self._first]
        is_out = (self._code == _CODES[APART]) | (self._code == _CODES[TOGETHER])
        keeps = np.flatnonzero(self._code == _CODES[KEEP])
        _, firsts = np.unique(of_work[keeps], return_index=True)
        is_out[np.delete(keeps, firsts)] = True
        is_changed = np.zeros(int(cluster.max(initial=0)) + 1, np.bool_)
        is_changed[of_work[is_out]] = True
        # Clusters are numbered from 1.
        lead = np.unique(cluster, return_index=True)[1].astype(np.int32)
        whole = np.flatnonzero(~is_changed[cluster]).astype(np.int32)
        stays = is_changed[cluster[shared_edges.record]] & ~is_out[self._work[shared_edges.record]]
        record = shared_edges.record[stays]
        key = shared_edges.identifier[stays].astype(np.int64) << 32 | cluster[record]
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        decided = self._records([(works[0], work) for works in self._same for work in works[1:]])
        is_alone = is_out & (self._code != _CODES[TOGETHER])
        still = ~(is_alone[self._work[pairs[0]]] | is_alone[self._work[pairs[1]]])
        still &= is_changed[cluster[pairs[0]]]
        kept_whole = lead[cluster[whole] - 1], whole
        linked = record[first[which]], record
        return components(len(cluster), kept_whole, linked, decided, (pairs[0][still], pairs[1][still]), same_work)

    @property
    def pairs(self) -> Pair:
        """Pairs of records that people joined by a table of candidates."""
        return self._records(self._pairs)

    def _records(self, works: Sequence[tuple[int, int]]) -> Pair:
        """The first records of pairs of works."""
        one, other = np.array(works, np.int32).reshape(-1, 2).T
        return self._first[one], self._first[other]

    def _of_pairs(
        self, pairs: Iterable[PairDecision], known: Mapping[tuple[Place, int], tuple[int, str]]
    ) -> Iterator[tuple[int, int]]:
        """The works of each pair, if both records exist and are unchanged; other pairs are refused."""
        for pair in pairs:
            if faults := [fault for end in pair.ends if (fault := end.fault(known))]:
                self.refused.append((pair.line, f"{faults[0]}; the pair is not joined"))
                continue
            one, other = (int(self._work[known[end.key][0]]) for end in pair.ends)
            yield one, other

    def _of_groups(self) -> Iterator[list[int]]:
        """Groups of works that people decided are the same. A group of a single work is refused, and left to the rules."""
        for group in self._groups.values():
            works = [work for work in dict.fromkeys(group) if self._code[work] == _CODES[TOGETHER]]
            if len(works) > 1:
                yield works
                continue
            for work in works:
                self._code[work] = 0
                self.refused.append(
                    (int(self._line[work]), f"no other record of its component has the decision {TOGETHER}")
                )

    def check(self, rank: Numbers) -> None:
        """Refuse to remove a record if no other record of the cluster is kept."""
        for work in np.flatnonzero((self._code == _CODES[REMOVE]) & (rank[self._first] == 1)).tolist():
            self.refused.append((int(self._line[work]), "no other record would be kept instead of this one; it stays"))
        self.refused.sort()
