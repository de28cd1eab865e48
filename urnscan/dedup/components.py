"""Clusters: the connected components of records and the classes of URNs that they share, found out of core.

An edge is a record and a class that it names. Edges are spread over parts by a hash of their URN: all edges of a class
lie in one part, and parts are read one at a time. Only numbers stay in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrays.arrow import flags_of, number_array, numbers, octet_strings, text_array
from urnscan.arrays.jit import compiled
from urnscan.arrays.strings import spread
from urnscan.errors import FatalError
from urnscan.output.spill import Spilled

__all__ = ["MOST", "Edges", "Flags", "Joined", "Numbers", "components", "is_weak"]

_PARTS = 64  # a power of two
_IN_MEMORY = 1 << 27  # octets of edges in memory; more are spilled
MOST = (1 << 31) - 1
"""Largest number of records, and of edges: they are counted in 32 bits."""
_EDGES = pa.schema(
    [
        pa.field("urn", pa.string(), nullable=False),
        pa.field("record", pa.int32(), nullable=False),
        pa.field("edge", pa.int32(), nullable=False),
    ]
)

Numbers = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
_NONE = np.empty(0, np.int32)


def is_weak(urns: pa.StringArray, weak: Sequence[str]) -> Flags:
    """Mark the canonical forms that are weak: named in `weak` themselves, or in a namespace or part of one named there.

    A name is a NID or a URN without its `urn:`, up to a colon or to its end (`issn`, `ietf:params:xml`). A `*` at the end
    stands for any characters (`schemas-*`).
    """
    found = flags_of(pc.is_in(urns, value_set=text_array([f"urn:{name}" for name in weak])))
    for name in weak:
        found |= flags_of(pc.starts_with(urns, f"urn:{name[:-1]}" if name.endswith("*") else f"urn:{name}:"))
    return found


@dataclass(frozen=True, slots=True)
class Joined:
    """Result of joining: pairs of records, and the edges that make them."""

    first: Numbers
    other: Numbers
    """Pairs of records that share a class: each record of the class is paired with the first one."""
    joins: Flags
    """For each edge, in the order of adding: whether it joins its record to another."""
    common: Sequence[tuple[str, int]]
    """Classes in too many records, with the number of records; largest first."""


class Edges:
    """Edges of all records, added in the order of the records, then joined."""

    def __init__(self, weak: Sequence[str], max_class: int, folder: Callable[[], Path]) -> None:
        """Classes that are weak (see `is_weak`) join nothing, nor do those in more than `max_class` records.

        `folder` gives the folder for spilled edges.
        """
        self._weak = weak
        self._max_class = max_class
        self._parts = [Spilled(_EDGES, folder) for _ in range(_PARTS)]
        self._count = 0

    def close(self) -> None:
        """Delete the edges."""
        for part in self._parts:
            part.close()

    def add(self, records: Numbers, urns: pa.StringArray) -> None:
        """Append edges: record numbers, from 0, and canonical forms; no pair twice. Raises FatalError."""
        if self._count + len(urns) > MOST:
            raise FatalError(f"more than {MOST:,} URNs of records: give the dumps in several runs")
        part = spread(*octet_strings(urns), _PARTS)
        order = np.argsort(part, kind="stable").astype(np.int32)
        edges = np.arange(self._count, self._count + len(urns), dtype=np.int32)
        rows = pa.RecordBatch.from_arrays(
            [urns.take(number_array(order)), number_array(records[order]), number_array(edges[order])], schema=_EDGES
        )
        self._count += len(urns)
        ends = np.cumsum(np.bincount(part, minlength=_PARTS))
        for number, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            if end > start:
                self._parts[number].add(rows.slice(start, end - start))
        if sum(part.octets for part in self._parts) > _IN_MEMORY:
            for spilled in self._parts:
                spilled.spill()

    def join(self) -> Joined:
        """Join the edges; none can be added afterwards. Raises FatalError."""
        joins = np.zeros(self._count, np.bool_)
        common: list[tuple[str, int]] = []
        first: list[Numbers] = []
        other: list[Numbers] = []
        for part in self._parts:
            rows = pa.Table.from_batches(part.batches(), _EDGES)
            part.close()
            if not rows.num_rows:
                continue
            urn = rows.column("urn").dictionary_encode().combine_chunks()
            codes = numbers(urn.indices)
            sizes = np.bincount(codes, minlength=len(urn.dictionary))
            strong = ~is_weak(urn.dictionary, self._weak)
            too_common = np.flatnonzero(strong & (sizes > self._max_class))
            common += zip(
                urn.dictionary.take(number_array(too_common)).to_pylist(), sizes[too_common].tolist(), strict=True
            )
            joining = (strong & (sizes > 1) & (sizes <= self._max_class))[codes]
            joins[numbers(rows.column("edge").combine_chunks())[joining]] = True
            codes, record = codes[joining], numbers(rows.column("record").combine_chunks())[joining]
            lead = np.empty(len(sizes), np.int32)  # first record of each class
            lead[codes[::-1]] = record[::-1]
            lead = lead[codes]
            is_other = lead != record
            first.append(lead[is_other])
            other.append(record[is_other])
        return Joined(
            np.concatenate([_NONE, *first]),
            np.concatenate([_NONE, *other]),
            joins,
            sorted(common, key=lambda each: (-each[1], each[0])),
        )


@compiled
def components(records: int, first: Numbers, other: Numbers) -> Numbers:
    """Number the connected components of `records` records, of which first[i] and other[i] are joined.

    Returns the number of each record's component, from 1 in the order of first records.
    """
    parent = np.arange(records).astype(np.int32)  # an earlier record of the same component; of the first one itself
    for i in range(len(first)):
        a, b = _first(parent, first[i]), _first(parent, other[i])
        parent[max(a, b)] = min(a, b)
    cluster = np.empty(records, np.int32)
    number = 0
    for record in range(records):
        begin = _first(parent, record)
        if begin == record:
            number += 1
            cluster[record] = number
        else:
            cluster[record] = cluster[begin]
    return cluster


@compiled
def _first(parent: Numbers, record: int) -> int:
    """Find the first known record of a component; halves the path to it for later calls."""
    while parent[record] != record:
        parent[record] = parent[parent[record]]
        record = parent[record]
    return record
