"""Clusters of all records, the ranks of the records in them, and the rows that say so."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.arrays.arrow import bits, filtered, flag_array, number_array, numbers, text_array
from urnscan.dedup.batches import ROWS as ROWS_READ
from urnscan.dedup.batches import only_names
from urnscan.dedup.brake import Brake, Braked
from urnscan.dedup.components import OTHER, SURE, Flags, Joined, Numbers, Pair, components
from urnscan.dedup.copies import Places
from urnscan.dedup.decisions import Decided
from urnscan.dedup.described import SHOWN, unpacked
from urnscan.dedup.first_reading import FirstReading
from urnscan.dedup.keeping import Merits, check_sources, first_pieces, level_of, moment_of, need_descriptions, ranks
from urnscan.dedup.never_join import HeldApart
from urnscan.dedup.policy import Policy
from urnscan.dedup.review import APART, TOGETHER
from urnscan.dedup.second_reading import Dump
from urnscan.dedup.splits import REASONS, TOO_LARGE
from urnscan.display.progress import ROWS, Progress, Stage
from urnscan.output.spill import Spilled
from urnscan.records.description import NOTHING
from urnscan.records.formats import description_of
from urnscan.records.keys import always
from urnscan.tables.schemas import CLUSTERS, REVIEW

DECISIONS = ("alone", "kept", "removed", "apart")
"""Decisions of a run about a record: it shares no key; it is kept in place of others; it is removed for another; it shares
keys, but is the only one of its cluster.
"""
_ROWS = pa.schema([*CLUSTERS, REVIEW.field("edition"), ROWS_READ.field("digest")])
_IN_MEMORY = 1 << 26  # octets of shown descriptions in memory; more are spilled
_ALONE, _KEPT, _REMOVED, _APART = range(len(DECISIONS))
_REASON_TEXTS = [
    " ".join(name for at, name in enumerate(REASONS) if said >> at & 1) for said in range(1 << len(REASONS))
]


class Clustering:
    """Clusters of all records, and the ranks of the records in them."""

    def __init__(self, reading: FirstReading, policy: Policy, progress: Progress) -> None:
        """`progress` is told of the joining, of the comparison of descriptions, and of the choice of records by what they
        describe. Raises FatalError.
        """
        progress.on_stage(
            Stage("joining", sum(edges.count for edges in (reading.edges, reading.pieces) if edges), ROWS)
        )
        self._reading, self._progress = reading, progress
        self._shown: Spilled | None = None  # SHOWN of the records that share anything, a batch for each of ROWS
        check_sources(policy.keep, reading.dumps)
        results = reading.workers.results
        all_joined = reading.edges.join(policy.most_in_class(reading.records), progress.on_progress, results)
        unit = np.arange(reading.records, dtype=np.int32)
        pieces: Pair = (unit[:0], unit[:0])
        if reading.pieces is not None:
            pieces = reading.pieces.join(reading.records, progress.on_progress, results).pairs()
            unit = components(reading.records, pieces) - np.int32(1)
        pa.default_memory_pool().release_unused()  # the edges are joined: what held them is for the numbers now
        joined, self._component = _connected(all_joined, pieces, unit, policy)
        self._is_shared = np.bincount(self._component, minlength=1) > 1
        braked = self._braked(joined, unit, policy)
        self.cluster = components(reading.records, *braked.joined, pieces)
        self._reasons, too_large = braked.reasons, braked.too_large
        del braked
        decided = None if policy.decisions is None else Decided(policy.decisions, self._batches(), unit)
        if decided is not None:
            self.cluster = decided.clusters(self.cluster, joined, pieces)
            self._reasons = np.where(decided.are(TOGETHER), np.uint16(0), self._reasons)
        self.rank = ranks(policy.keep, self.cluster, unit, self._merits(unit, policy, decided), reading.dumps)
        if decided is not None:
            decided.check(self.rank)
        self._joins = all_joined.joins(self.cluster, reading.edges.count)
        self.counts = {
            "common": all_joined.common,
            "clusters": int(self.cluster.max(initial=0)),
            "duplicates": int(np.count_nonzero(self.rank > 1)),
            "apart": int(np.count_nonzero(self._reasons & ~np.uint16(TOO_LARGE))),
            "refused": [] if decided is None else decided.refused,
            "too_large": [(self.name(record), count) for record, count in too_large],
        }
        """Fields of the report of a run."""
        is_cut = np.zeros(self.cluster.max(initial=0) + 1, np.bool_)
        is_cut[self.cluster[self.rank > 1]] = True
        self._decision = np.where(is_cut[self.cluster], np.int8(_KEPT), np.int8(_ALONE))
        self._decision[self.rank > 1] = _REMOVED
        is_apart = self._reasons > 0
        if decided is not None:
            is_apart |= decided.are(APART)
        self._decision[(self._decision == _ALONE) & is_apart] = _APART

    def _braked(self, joined: Joined, unit: Numbers, policy: Policy) -> Braked:
        """Cut the components into clusters. Raises FatalError."""
        reading, progress = self._reading, self._progress
        brake = Brake(joined, self._component, unit, policy.max_cluster, reading.folder)
        with closing(brake):
            if policy.agree:
                progress.on_stage(Stage("reading descriptions", reading.records, ROWS))
                self._shown = Spilled(SHOWN, reading.folder)
                for (_, these, rows), described in self._described():
                    brake.add(np.flatnonzero(self._wanted(these)) + these.start, described.column("description"))
                    self._shown.add(described.select(SHOWN.names))
                    if self._shown.octets > _IN_MEMORY:
                        self._shown.spill()
                    progress.on_progress(len(rows))
                progress.on_stage(Stage("comparing", brake.things, ROWS))
            never = None
            if policy.never_join is not None:
                never = HeldApart(policy.never_join.at(reading.options.level), self._batches(), unit)
            braked = brake.clusters(policy.agree, never, progress.on_progress, reading.workers.results)
        if self._shown is not None:
            reading.workers.close()  # they have nothing more to do, and much memory
        return braked

    def close(self) -> None:
        """Delete what is spilled."""
        if self._shown is not None:
            self._shown.close()

    @property
    def is_doubtful(self) -> Flags:
        """Whether a component holds records that share a key and are not in one cluster, by its number."""
        return np.bincount(self._component, self._reasons > 0, minlength=1) > 0

    def _merits(self, unit: Numbers, policy: Policy, decided: Decided | None) -> Merits:
        """Merits of the things of which the records are pieces. Raises FatalError."""
        reading = self._reading
        lengths, counts = (np.concatenate([np.empty(0, np.uint8), *each]) for each in (reading.lengths, reading.counts))
        dumps = np.repeat(np.arange(len(reading.dumps), dtype=np.int32), [dump.records for dump in reading.dumps])
        begins = first_pieces(unit)
        if len(begins) < len(unit):
            lengths, counts = (np.bincount(unit, each).astype(np.int64) for each in (lengths, counts))
            dumps = dumps[begins]
        # Where nobody asks for them, they are one number in memory.
        changed, levels, fields, order = (
            np.broadcast_to(np.int64(value), len(begins)) for value in (0, level_of(NOTHING), 0, 1)
        )
        if need_descriptions(policy.keep):
            changed, levels, fields = changed.copy(), levels.copy(), fields.copy()
            self._progress.on_stage(Stage("choosing", reading.records, ROWS))
            is_shared = (np.bincount(self.cluster) > 1)[self.cluster]
            for _, these, rows in self._batches():
                self._progress.on_progress(len(rows))
                for at in np.flatnonzero(is_shared[these]).tolist():
                    described = description_of(rows.column("description")[at].as_py())
                    thing = unit[these.start + at]
                    changed[thing] = max(changed[thing], moment_of(described))
                    levels[thing] = min(levels[thing], level_of(described))
                    fields[thing] = max(fields[thing], int(described.fields or 0))
        return Merits(
            octets=lengths,
            identifiers=counts,
            dump=dumps,
            changed=changed,
            level=levels,
            fields=fields,
            decided=order if decided is None else decided.order,
        )

    def name(self, record: int) -> str:
        """Name of a record in messages."""
        dump = next(dump for dump in reversed(self._reading.dumps) if dump.first <= record)
        return f"{dump.name}: record {record - dump.first + 1:,}"

    def rows(self) -> Iterator[tuple[Dump, pa.RecordBatch]]:
        """CLUSTERS rows of all records, with edition and digest behind; each batch with its dump.

        Raises FatalError.
        """
        edge = 0
        shown = None if self._shown is None else zip(self._batches(), self._shown.batches(), strict=True)
        for (dump, these, rows), described in shown or self._described():
            names = rows.column("names")
            columns = {name: rows.column(name) for name in rows.schema.names} | {
                "cluster": number_array(self.cluster[these].astype(np.int64)),
                "source": _repeated(dump.source.name, len(rows)),
                "member": _repeated(dump.member, len(rows)),
                "urns": only_names(names, of="urn:"),
                "other_keys": only_names(names, but=("urn:", *always())),
                "joined_by": filtered(names, self._joins[edge : edge + len(names.values)]),
                "cluster_rank": number_array(self.rank[these].astype(np.int64)),
                "kept": flag_array(self.rank[these] == 1),
                "decision": _named(self._decision[these].astype(np.int32), DECISIONS),
                "reason": _named(self._reasons[these].astype(np.int32), _REASON_TEXTS),
                "component": number_array(self._component[these].astype(np.int64)),
                **self._scattered(these, described),
            }
            yield dump, pa.RecordBatch.from_arrays([columns[name] for name in _ROWS.names], schema=_ROWS)
            edge += len(names.values)

    @staticmethod
    def shown(dump: Dump, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Rows as tables show them: records that are made from a dump have neither start nor length in it."""
        if dump.format.has_places:
            return rows
        for name in ("start", "length"):
            at = rows.schema.get_field_index(name)
            rows = rows.set_column(at, rows.schema.field(name), pa.nulls(len(rows), pa.int64()))
        return rows

    def kept(self) -> Iterator[pa.RecordBatch]:
        """Cluster and names of the records that are kept in place of others. Raises FatalError."""
        for dump, these, rows in self._batches():
            columns = {
                "cluster": number_array(self.cluster[these].astype(np.int64)),
                "source": _repeated(dump.source.name, len(rows)),
                "member": _repeated(dump.member, len(rows)),
                "record": rows.column("record"),
                "record_id": rows.column("record_id"),
            }
            is_kept = flag_array(self._decision[these] == _KEPT)
            yield pa.RecordBatch.from_pydict(columns).filter(is_kept)

    def standing(self) -> Iterator[tuple[Mapping[str, str | None], Numbers, pa.RecordBatch]]:
        """The records that are not removed: source and member of their dump, their components, and their ROWS. Raises
        FatalError.
        """
        for dump, these, rows in self._batches():
            stays = self.rank[these] == 1
            place = {"source": dump.source.name, "member": dump.member}
            yield place, self._component[these][stays], rows.filter(flag_array(stays))

    def _described(self) -> Iterator[tuple[tuple[Dump, slice, pa.RecordBatch], pa.RecordBatch]]:
        """ROWS of all records, and the descriptions of those that share anything; in batches. Raises FatalError."""
        given, asked = itertools.tee(self._batches())
        packed = (rows.column("description").filter(flag_array(self._wanted(these))) for _, these, rows in asked)
        return zip(given, self._reading.workers.results(unpacked, packed), strict=True)

    def _wanted(self, these: slice) -> Flags:
        """Mark the records that share anything: only these show what they describe."""
        return self._is_shared[self._component[these]]

    def _scattered(self, these: slice, described: pa.RecordBatch) -> Mapping[str, pa.Array]:
        """Columns of SHOWN for all records of a batch; null for those that share nothing."""
        is_wanted = self._wanted(these)
        place = np.cumsum(is_wanted, dtype=np.int32) - np.int32(1)
        at = pa.Array.from_buffers(pa.int32(), len(place), [bits(is_wanted), pa.py_buffer(place)])
        columns = {name: described.column(name).take(at) for name in SHOWN.names}
        return columns | {"format": columns["format"].dictionary_encode()}

    def places(self, *, kept: bool = True) -> Iterator[Places]:
        """Places of all records, and whether each is kept, or whether it is removed. Raises FatalError."""
        for _, these, rows in self._batches():
            start, length = (numbers(rows.column(name)) for name in ("start", "length"))
            yield Places(start, length, (self.rank[these] == 1) == kept)

    def _batches(self) -> Iterator[tuple[Dump, slice, pa.RecordBatch]]:
        """ROWS of all records, each batch with its dump and the numbers of its records. Raises FatalError."""
        batches = self._reading.rows.batches()
        for dump in self._reading.dumps:
            record = dump.first
            while record < dump.first + dump.records:
                rows = next(batches)
                yield dump, slice(record, record + len(rows)), rows
                record += len(rows)


def _connected(joined: Joined, pieces: Pair, unit: Numbers, policy: Policy) -> tuple[Joined, Numbers]:
    """The edges that connect records, and the number of the component of each record.

    Where a component is too large, keys that are unsure do not count, then all keys but URNs.
    """
    begins = first_pieces(unit)
    if not policy.agree:
        joined = joined.upto(OTHER)
    component = components(len(unit), joined.pairs(), pieces)
    for level in (OTHER, SURE):
        is_large = np.bincount(component[begins], minlength=1) > policy.max_cluster
        if is_large.any():
            joined = joined.upto(level, is_large[component])
            component = components(len(unit), joined.pairs(), pieces)
    return joined, component


def _repeated(text: str | None, count: int) -> pa.DictionaryArray:
    index = number_array(np.zeros(count, np.int32))
    return pa.DictionaryArray.from_arrays(
        index if text is not None else pa.nulls(count, pa.int32()), text_array([text or ""])
    )


def _named(codes: npt.NDArray[np.int32], names: Sequence[str]) -> pa.DictionaryArray:
    """Names by their codes; an empty name is null."""
    is_known = bits(np.array(names, np.bool_)[codes])
    places = pa.Array.from_buffers(pa.int32(), len(codes), [is_known, pa.py_buffer(np.ascontiguousarray(codes))])
    return pa.DictionaryArray.from_arrays(places, text_array(names))
