"""The records of a run about which people decided: found by their bytes, wherever they are now, or by their
identifiers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import flags_of, number_array, numbers
from urnscan.dedup.reread import Dump
from urnscan.dedup.review.decisions import Decision, Decisions, Place, Record, record_name
from urnscan.dedup.review.review_table import shown_digests

_DIGEST = re.compile("d[0-9a-f]{16}")


class KnownRecord(NamedTuple):
    """A record of the run, as it is now."""

    overall: int
    """Number of the record among the records of all dumps, from 0; damaged records are not counted."""
    place: Place
    """The dump that contains the record."""
    number: int
    """Number of the record in its dump, from 1; damaged records are counted."""


class DecidedRecords:
    """Looks up the records of a run about which people decided, in memory: by dump and number, by ID, or by their bytes
    (the digest), also in another dump.
    """

    def __init__(self, decisions: Decisions, batches: Iterable[tuple[Dump, slice, pa.RecordBatch]]) -> None:
        """`batches`: for each batch of records their dump, their numbers among the records of all dumps, from 0, and
        their rows with digests. Raises the errors of `batches`.
        """
        named = [decision.record for decision in decisions.records]
        named += [end for pair in decisions.pairs for end in pair.ends]
        pending: dict[Place, set[int]] = defaultdict(set)
        for record in named:
            pending[record.place].add(record.number)
        self._numbers: dict[tuple[Place, str], list[int]] = defaultdict(list)
        for record in sorted(set(named)):
            self._numbers[record.place, record.digest].append(record.number)
        digests = {int(record.digest[1:], 16) for record in named if _DIGEST.fullmatch(record.digest)}
        ids = pa.array(sorted({decision.record_id for decision in decisions.records} - {""}), pa.string())
        wanted = np.array(sorted(digests), np.uint64).view(np.int64)
        self._at: dict[tuple[Place, int], list[KnownRecord]] = defaultdict(list)
        self._of_id: dict[str, list[KnownRecord]] = defaultdict(list)
        self._alike: dict[str, list[KnownRecord]] = defaultdict(list)
        self._places = set[Place]()
        self._named: dict[str, set[Place]] = defaultdict(set)
        for decision in decisions.records:
            self._named[decision.row.path].add(decision.record.place)
        for dump, span, rows in batches:
            place = (dump.source.name, dump.member or "")
            self._places.add(place)
            record_numbers, of_batch = numbers(rows.column("record")), numbers(rows.column("digest"))
            is_named = np.isin(record_numbers, [*pending.get(place, ())])
            has_id = flags_of(pc.is_in(rows.column("record_id"), ids))
            at = np.flatnonzero(is_named | np.isin(of_batch, wanted) | has_id)
            names = rows.column("record_id").take(number_array(at)).to_pylist()
            for index, digest, name in zip(at.tolist(), shown_digests(of_batch[at]).to_pylist(), names, strict=True):
                known = KnownRecord(span.start + index, place, int(record_numbers[index]))
                self._at[place, known.number].append(known)
                self._alike[digest].append(known)
                self._of_id[name].append(known)

    def find(self, record: Record) -> KnownRecord | None:
        """Return the record of the run that has the bytes that `record`, which a decision names, had when somebody
        decided; None if no record has these bytes.

        If the run has the dump of `record`, that dump is searched first, then the dumps in which no decision names a
        record with these bytes. If not, dumps with the same file name are searched first, then all. Of several records,
        the one with the nearest number is returned; but equal records keep their order if decisions name as many of
        them as are found.
        """
        alike = self._alike.get(record.digest, [])
        if record.place in self._places:
            # An equal record of another dump may have its own row, and is not this record, which has changed.
            others = [each for each in alike if (each.place, record.digest) not in self._numbers]
            alike = [each for each in alike if each.place == record.place] or others
        else:
            alike = [each for each in alike if _file_name(each.place) == _file_name(record.place)] or alike
        rows = self._numbers[record.place, record.digest]
        # Equal records keep their order.
        if len(rows) == len(alike):
            return alike[rows.index(record.number)]
        return min(alike, key=lambda known: abs(known.number - record.number), default=None)

    def now(self, decision: Decision) -> KnownRecord | None:
        """Return the record as it is now, after it changed: the record with the ID in the decision, or, without an ID,
        the record with the same number in its dump. None if it is not there.

        An ID is searched in the dump of the decision. If the run has no such dump: in dumps with the same file name, or
        else in dumps that no row of the same table names. Of several, the record with the nearest number is returned.
        """
        record = decision.record
        named = self._of_id[decision.record_id] if decision.record_id else self._at[record.key]
        in_dump = self._in_dump(decision, named)
        return min(in_dump, key=lambda known: abs(known.number - record.number), default=None)

    def _in_dump(self, decision: Decision, known: Sequence[KnownRecord]) -> Sequence[KnownRecord]:
        """The records in `known` that are in the dump of a decision. If the run has no such dump: those in a dump with
        the same file name, or else in dumps that no row of the same table names.
        """
        place = decision.record.place
        own = [each for each in known if each.place == place]
        if own or place in self._places:
            return own
        of_name = [each for each in known if _file_name(each.place) == _file_name(place)]
        return of_name or [each for each in known if each.place not in self._named[decision.row.path]]

    def fault(self, record: Record, now: KnownRecord | None = None, record_id: str = "") -> str:
        """Return the reason why the record about which somebody decided was not found by `find`, for a message; raises
        nothing. `now`: what `now` has returned, if it was called. `record_id`: the ID in the decision, or empty.
        """
        if now is not None and (now.place, now.number) != record.key:
            return f"{record.name} has changed, and is {record_name(now.place, now.number)} now"
        if now is None and record.place not in self._places:
            return f"{record.name} was not found: its dump is not an input, or the record has changed"
        is_there = now is not None or (not record_id and self._at[record.key])
        return f"{record.name} {'has changed' if is_there else 'no longer exists'}"


def _file_name(place: Place) -> tuple[str, str]:
    source, member = place
    return PurePath(source).name, member
