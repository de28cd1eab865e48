"""Decisions of people, applied to the records of a run. A decision whose record is missing or has changed is refused,
and reported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from urnscan.dedup.join.choose_kept import IntArray, first_records
from urnscan.dedup.join.components import Flags, Numbers, Pair, SharedEdges, components, merged
from urnscan.dedup.join.union_find import leader, least_connected
from urnscan.dedup.reread import Dump
from urnscan.dedup.review.decided_records import DecidedRecords, KnownRecord
from urnscan.dedup.review.decisions import OF_RECORDS, Decision, Decisions, PairDecision, Row
from urnscan.dedup.review.review_table import APART, KEEP, REMOVE, TOGETHER
from urnscan.display.text import counted

_CODES = {word: code for code, word in enumerate(OF_RECORDS, 1)}

_ALONE = (
    f"it is alone in its cluster, so {REMOVE} would leave no record of its work; it stays. If a record of another "
    f"cluster is the same, write {TOGETHER} in both rows"
)
_ALL_REMOVED = f"every record of its cluster has the decision {REMOVE}; it stays"
_INSTEAD = f"the record that the rules keep is removed, as this one has {KEEP}; write {APART} here if both shall stay"


class Message(NamedTuple):
    """A message about a row of a table of decisions."""

    path: str
    """Path of the table."""
    line: int
    """Line of the row in the table, from 1."""
    text: str
    """The record, and why its row is not applied, or what the row does besides."""


class _WorkPair(NamedTuple):
    """The numbers of the works in a decision about a pair."""

    decision: PairDecision
    one: int
    other: int


class AppliedDecisions:
    """Decisions of people about the records of a run: a record is the kept one of its cluster (KEEP), another one is
    kept instead (REMOVE), it joins no other (APART), or is the same work as others of its group (TOGETHER). Those that
    cannot be applied, for example because the record has changed, are in `refused`.

    Records of all dumps together, and works, are numbered from 0; components and clusters from 1.
    """

    def __init__(
        self, decisions: Decisions, batches: Iterable[tuple[Dump, slice, pa.RecordBatch]], work: Numbers
    ) -> None:
        """Find the record of each decision. `batches`: for each batch of records their dump, their numbers, and their
        rows with digests, which show whether a record has changed. `work`: for each record, the number of the work that
        it describes. Raises the errors of `batches`.
        """
        self.refused: list[Message] = []
        """Rows of the tables of decisions that are not applied, and why not; `check` adds to them."""
        self.remarks: list[Message] = []
        """Rows that are applied, and keep or remove more than they say; `clusters` and `check` add to them."""
        self._files = {path: number for number, path in enumerate(decisions.paths)}
        self._first = first_records(work)
        self._work = work
        self._code = np.zeros(len(self._first), np.int8)
        self._has_changed = np.zeros(len(self._first), np.bool_)
        self._row: dict[int, Row] = {}
        """The row that decided about a work."""
        self._faults: dict[Row, str] = {}
        """Why a row is not applied."""
        known = DecidedRecords(decisions, batches)
        self._take(decisions.records, known)
        self._same = [*self._of_groups(decisions.records, known)]
        pairs = [*self._of_pairs(decisions.pairs, known)]
        self._apart = [pair for pair in pairs if pair.decision.word == APART]
        self._together = [pair for pair in pairs if pair.decision.word == TOGETHER and not self._is_hindered(pair)]

    def _refuse(self, row: Row, fault: str, outcome: str = "") -> None:
        """Add a row to `refused`. `outcome`, what happens instead, begins with "; "."""
        self._faults[row] = fault
        self.refused.append(_message(row, fault + outcome))

    def _take(self, decisions: Sequence[Decision], known: DecidedRecords) -> None:
        """Apply the decisions, or refuse them. A changed record stays and joins no other, unless another row decides
        about it.
        """
        decided: dict[int, Decision] = {}
        # The word that is applied comes first.
        for decision in sorted(decisions, key=lambda decision: -_CODES[decision.word]):
            if record := known.find(decision.record):
                applied = decided.setdefault(record.overall, decision)
                if applied.word == decision.word:
                    self._set(record, decision.word, decision.row)
                else:
                    self._refuse(decision.row, f"{applied.row} decides {applied.word} about the same record")
        for decision in decisions:
            if known.find(decision.record):
                continue
            record = known.now(decision)
            fault = known.fault(decision.record, record, decision.record_id)
            if record is None:
                self._refuse(decision.row, fault)
            elif record.overall in decided:
                self._refuse(decision.row, fault, "; another row is about the record that is there now")
            else:
                self._set(record, APART, decision.row)
                self._has_changed[self._work[record.overall]] = True
                self._refuse(decision.row, fault, "; it stays, and joins no other record")

    def _set(self, record: KnownRecord, word: str, row: Row) -> None:
        work = int(self._work[record.overall])
        if _CODES[word] > self._code[work]:
            self._code[work], self._row[work] = _CODES[word], row

    @property
    def order(self) -> IntArray:
        """Sort key of each work, by number of the work: 0 with the decision KEEP, 2 with REMOVE, 1 with another or no
        decision. A work is a record; in N-Triples, all records of a dump with the same ID.
        """
        return np.where(self._code == _CODES[KEEP], 0, np.where(self._code == _CODES[REMOVE], 2, 1))

    @property
    def have_changed(self) -> Flags:
        """For each record, whether it has changed since people decided about it, and nobody decided again. Such a
        record stays, and joins no other record.
        """
        marked: Flags = self._has_changed[self._work]
        return marked

    def are(self, word: str) -> Flags:
        """Return for each record, by its number, whether it has the decision `word` (REMOVE, KEEP, TOGETHER or APART).
        Decisions about pairs, and those that the constructor refused, do not count; a record that has changed
        (`have_changed`) has APART.
        """
        marked: Flags = self._code == _CODES[word]
        return marked[self._work]

    def applied(self, rank: Numbers) -> Flags:
        """Return for each record whether a decision about it (not about a pair) is applied: False if the record has
        changed since, or has the decision REMOVE and is kept all the same. `rank`: rank of each record in its cluster;
        rank 1 is kept.
        """
        is_valid = (self._code > 0) & ~self._has_changed
        is_applied: Flags = is_valid[self._work] & ~(self.are(REMOVE) & (rank == 1))
        return is_applied

    def clusters(self, cluster: Numbers, shared_edges: SharedEdges, same_work: Pair) -> Numbers:
        """Return the number of the cluster of each record after the decisions; called once, before `joined` and
        `check`. `cluster`: the same before; no pair that is APART is in one cluster there. `shared_edges`: edges
        (record and key) of the keys that several records share. `same_work`: pairs of records of the same work.

        A record that is APART is a cluster by itself, and so is each record with the decision KEEP except the first of
        its cluster. Records of a group that are TOGETHER are a cluster; keys join no other record to it. The other
        records of a changed cluster are joined where they still share keys. A pair that is TOGETHER joins its records
        as a shared key does; if that joins a pair that is APART, the row is added to `refused` instead.
        """
        self._together = [*self._admitted(cluster)]
        pairs = self.pairs
        cluster = merged(cluster, pairs)
        of_work = cluster[self._first]
        is_out = (self._code == _CODES[APART]) | (self._code == _CODES[TOGETHER])
        keeps = np.flatnonzero(self._code == _CODES[KEEP])
        _, firsts, which = np.unique(of_work[keeps], return_index=True, return_inverse=True)
        is_out[np.delete(keeps, firsts)] = True
        for work, first in zip(keeps.tolist(), keeps[firsts[which]].tolist(), strict=True):
            if work != first:
                text = f"both stay: {self._row[first]} keeps another record of the cluster; change one to {REMOVE} to keep one"
                self.remarks.append(_message(self._row[work], text))
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

    def joined(self, cluster: Numbers) -> Flags:
        """Return for each record whether people joined it to others of its cluster. `cluster`: number of the cluster of
        each record, after the decisions.
        """
        is_joined = np.zeros(len(self._first), np.bool_)
        is_joined[[work for works in self._same for work in works]] = True
        for one, other in zip(*self.pairs, strict=True):
            is_joined[self._work[[one, other]]] |= cluster[one] == cluster[other]
        marked: Flags = is_joined[self._work]
        return marked

    @property
    def pairs(self) -> Pair:
        """The rows about two records with the decision TOGETHER that the constructor or `clusters` have not refused;
        those that `check` refuses stay. An array of the numbers of the first records, and one of the second; each is
        the first record of its work. Groups of records with the decision TOGETHER are not among them.
        """
        return self._records([(pair.one, pair.other) for pair in self._together])

    @property
    def separate(self) -> Pair:
        """The rows about two records with the decision APART that are not refused: the two are never in the same
        cluster. An array of the numbers of the first records, and one of the second; each is the first record of its
        work.
        """
        return self._records([(pair.one, pair.other) for pair in self._apart])

    def separate_works(self, component: Numbers) -> Iterator[tuple[int, int]]:
        """Yield the pairs of numbers of works with the decision APART, which are never in the same cluster, the smaller
        number first; only pairs of the same component (group that keys connect). `component`: number of the component
        of each work.
        """
        for pair in self._apart:
            if component[pair.one] == component[pair.other]:
                yield min(pair.one, pair.other), max(pair.one, pair.other)

    def _records(self, works: Sequence[tuple[int, int]]) -> Pair:
        """Pairs of works as pairs of records: the first record of each work."""
        one, other = np.array(works, np.int32).reshape(-1, 2).T
        return self._first[one], self._first[other]

    def _of_pairs(self, pairs: Iterable[PairDecision], known: DecidedRecords) -> Iterator[_WorkPair]:
        """Yield the works of each pair whose records are there and unchanged. Other pairs, and APART pairs of one work,
        are refused.
        """
        for pair in pairs:
            then = "the pair is not joined" if pair.word == TOGETHER else "the rules decide about the pair"
            ends = [record for end in pair.ends if (record := known.find(end))]
            if len(ends) < 2:
                fault = next(known.fault(end) for end in pair.ends if not known.find(end))
                self._refuse(pair.row, fault, f"; {then}")
                continue
            one, other = (int(self._work[record.overall]) for record in ends)
            if one == other and pair.word == APART:
                self._refuse(pair.row, "both records have the same ID, so they are one cluster; leave this row empty")
            else:
                yield _WorkPair(pair, one, other)

    def _is_hindered(self, pair: _WorkPair) -> bool:
        """Whether a work of the pair is APART, so that it joins no other; then the pair is refused."""
        for work, end in zip(pair[1:], pair.decision.ends, strict=True):
            if self._code[work] == _CODES[APART]:
                self._refuse(
                    pair.decision.row, f"{end.name} joins no other record ({self._row[work]}); leave that row empty"
                )
                return True
        return False

    def _admitted(self, cluster: Numbers) -> Iterator[_WorkPair]:
        """Yield the TOGETHER pairs in order, except those that, with the earlier ones, would bring an APART pair into
        one cluster; these are refused. `cluster`: number for each record.
        """
        if not self._apart:
            yield from self._together
            return
        of_group = {work: -1 - number for number, works in enumerate(self._same) for work in works}
        """Of works that are no more in their clusters."""

        def node(work: int) -> int:
            return of_group.get(work, int(cluster[self._first[work]]))

        foes: dict[int, dict[int, Row]] = defaultdict(dict)
        for apart in self._apart:
            one, other = node(apart.one), node(apart.other)
            foes[one][other] = foes[other][one] = apart.decision.row
        leaders: dict[int, int] = {}
        for pair in self._together:
            one, other = (leader(leaders, node(work)) for work in (pair.one, pair.other))
            if row := foes[one].get(other):
                self._refuse(pair.decision.row, f"it would join records that must not be joined ({row})")
                continue
            yield pair
            if one == other:
                continue
            leaders[other] = one
            for foe, row in foes.pop(other, {}).items():
                del foes[foe][other]
                foes[one][foe] = foes[foe][one] = row

    def _of_groups(self, decisions: Iterable[Decision], known: DecidedRecords) -> Iterator[list[int]]:
        """Yield groups of at least two works that people decided are the same: TOGETHER in rows of one table and
        component. Groups with a common work are one. A group of one work is refused during the iteration, and the rules
        decide about it.
        """
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        missing: dict[tuple[str, str], list[Row]] = defaultdict(list)
        names: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for decision in decisions:
            if decision.word != TOGETHER:
                continue
            name = (decision.row.path, decision.component)
            if decision.row in self._faults:
                missing[name].append(decision.row)
            elif record := known.find(decision.record):
                work = int(self._work[record.overall])
                if self._code[work] == _CODES[TOGETHER]:
                    groups[name].append(work)
                    names[work].append(name)
        lead = least_connected((works[0], work) for works in groups.values() for work in works)
        merged: dict[int, list[int]] = defaultdict(list)
        for work in dict.fromkeys(work for works in groups.values() for work in works):
            merged[lead[work]].append(work)
        for works in merged.values():
            if len(works) > 1:
                yield works
                continue
            self._code[works[0]] = 0
            rows = [row for name in names[works[0]] for row in missing[name]]
            self._refuse(self._row[works[0]], self._without_partner(rows), "; the rules decide about it")

    def _without_partner(self, rows: Sequence[Row]) -> str:
        if not rows:
            return f"no other record of its group has the decision {TOGETHER}"
        more = f", and {counted(len(rows) - 1, 'more row')}" if len(rows) > 1 else ""
        return f"no other row of its group with {TOGETHER} is applied ({rows[0]}: {self._faults[rows[0]]}{more})"

    def check(self, cluster: Numbers, rank: Numbers, by_rules: Numbers) -> None:
        """Refuse each decision REMOVE whose record is kept all the same, because no other record of its cluster is
        kept, and each pair TOGETHER whose records are in two clusters. Adds to `refused` and `remarks`, and sorts both;
        raises nothing.

        `cluster`: number of the cluster of each record, from `clusters`. `rank`: rank of each record in its cluster;
        rank 1 is kept. `by_rules`: the rank that each record would have without decisions KEEP: if a KEEP removes the
        record that the rules would keep, a remark says so.
        """
        of_work = cluster[self._first]
        are_alone = np.bincount(of_work)[of_work] == 1
        for work in np.flatnonzero((self._code == _CODES[REMOVE]) & (rank[self._first] == 1)).tolist():
            self._refuse(self._row[work], _ALONE if are_alone[work] else _ALL_REMOVED)
        kept = np.flatnonzero((self._code == _CODES[KEEP]) & (rank[self._first] == 1))
        is_pushed = (self._code == 0) & (by_rules[self._first] == 1) & (rank[self._first] > 1)
        for work in kept[np.isin(of_work[kept], of_work[is_pushed])].tolist():
            self.remarks.append(_message(self._row[work], _INSTEAD))
        for pair, one, other in zip(self._together, *self.pairs, strict=True):
            if cluster[one] != cluster[other]:
                self._refuse(pair.decision.row, f"the pair would join two records with {KEEP}; change one to {REMOVE}")
        for messages in (self.refused, self.remarks):
            messages.sort(key=lambda message: (self._files[message.path], message.line))


def _message(row: Row, text: str) -> Message:
    return Message(row.path, row.line, ": ".join(filter(None, (row.about, text))))
