"""Pairs of records that share no identifier and are citations of one article.

Two records are compared only if they have a block in common (`citations.blocks`), and if they stand near each other in it, in the
order of their titles. So the time grows with the number of records, and not with its square. Blocks are spread over parts by
their hash, and parts are read one at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import flag_array, flags_of, number_array, numbers
from urnscan.dedup.compare.citations import Citation, blocks, citation, is_article, shared_place
from urnscan.dedup.join.components import Numbers, Results
from urnscan.dedup.read.batches import digest_of
from urnscan.records.description import with_hosts
from urnscan.records.record import description_of
from urnscan.tables.spill import SpilledParts

_PARTS = 64
_IN_MEMORY = 1 << 26  # octets of descriptions in memory; more are spilled
_NEAR = 20  # articles after an article, in the order of titles, with which it is compared
_KINDS = 3  # of blocks
_MEMBERS = pa.schema(
    [("block", pa.int64()), ("record", pa.int32()), ("description", pa.binary())],
)
"""Records in blocks: hash of the block, number of the record, and its packed description."""

Batch = tuple[Numbers, pa.BinaryArray]
"""Numbers of records, and their packed descriptions."""
Blocks = npt.NDArray[np.int64]
"""For each record, the hash of its block of each kind; 0 for none."""


class CitationPairs(NamedTuple):
    """Pairs of records that are citations of one article."""

    first: Numbers
    other: Numbers
    place: npt.NDArray[np.int8]
    """Number in PLACES of the place that they have in common."""

    def places(self, cluster: Numbers, by_keys: Numbers) -> npt.NDArray[np.uint8]:
        """For each record, a bit for each of PLACES that joined it to a record of its cluster with which no key joins it.

        `cluster`: number of the cluster of each record; `by_keys`: likewise if only keys of the records joined them.
        """
        places = np.zeros(len(cluster), np.uint8)
        is_joined = (cluster[self.first] == cluster[self.other]) & (by_keys[self.first] != by_keys[self.other])
        bit = np.left_shift(np.uint8(1), self.place[is_joined].astype(np.uint8))
        for records in (self.first, self.other):
            np.bitwise_or.at(places, records[is_joined], bit)
        return places


_NOTHING = np.empty(0, np.int32)
NO_PAIRS = CitationPairs(_NOTHING, _NOTHING, _NOTHING.astype(np.int8))


def citation_pairs(
    batches: Callable[[], Iterable[Batch]], folder: Callable[[], Path], results: Results = map
) -> CitationPairs:
    """Find the pairs among records.

    `batches` gives the numbers of records, and their packed descriptions; it is called twice. `folder` gives the folder
    for what is spilled. `results` calls functions, perhaps in processes. Raises FatalError.
    """
    of_batches = [*results(_blocks, (packed for _, packed in _citations(batches())))]
    shared = [
        _shared(np.concatenate([np.empty(0, np.int64), *(of[:, kind] for of in of_batches)])) for kind in range(_KINDS)
    ]
    parts = SpilledParts(_MEMBERS, _PARTS, _IN_MEMORY, folder)
    try:
        for (records, packed), of_batch in zip(_citations(batches()), of_batches, strict=True):
            for kind in range(_KINDS):
                which = np.flatnonzero(np.isin(of_batch[:, kind], shared[kind]))
                block = of_batch[which, kind]
                columns = [number_array(block), number_array(records[which]), packed.take(number_array(which))]
                parts.add((block % _PARTS).astype(np.int32), pa.RecordBatch.from_arrays(columns, schema=_MEMBERS))
        pairs = [*results(_pairs, filter(len, map(parts.take, range(_PARTS))))]
    finally:
        parts.close()
    table = np.concatenate([np.empty((0, 3), np.int32), *pairs])
    table = table[np.lexsort(table.T[::-1])]
    _, firsts = np.unique(table[:, :2], axis=0, return_index=True)  # of two places the surer one
    first, other, place = table[firsts].T
    return CitationPairs(first, other, place.astype(np.int8))


def _citations(batches: Iterable[Batch]) -> Iterator[Batch]:
    """What is in the formats of citations; batches without any are left out."""
    for records, packed in batches:
        is_citation = np.zeros(len(records), np.bool_)
        for beginning in with_hosts():
            is_citation |= flags_of(pc.starts_with(packed, beginning))
        if is_citation.any():
            yield records[is_citation], packed.filter(flag_array(is_citation))


def _shared(block: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The blocks of more than one record."""
    known, counts = np.unique(block, return_counts=True)
    shared: npt.NDArray[np.int64] = known[(counts > 1) & (known != 0)]
    return shared


def _blocks(packed: pa.BinaryArray) -> Blocks:
    """The blocks of records by their packed descriptions."""
    hashes = np.zeros((len(packed), _KINDS), np.int64)
    for at, octets in enumerate(packed.to_pylist()):
        description = description_of(octets)
        if is_article(description):
            hashes[at] = [
                digest_of(f"{kind}{name}".encode()) if name else 0 for kind, name in enumerate(blocks(description))
            ]
    return hashes


class _Member(NamedTuple):
    """A record in a block."""

    title: str
    record: int
    citation: Citation


def _pairs(members: pa.Table) -> npt.NDArray[np.int32]:
    """The pairs in the blocks of a part: numbers of the records, the lesser first, and of their place."""
    order = np.argsort(numbers(members.column("block").combine_chunks()), kind="stable")
    columns = (column.to_pylist() for column in members.take(number_array(order)).columns)
    pairs: set[tuple[int, int, int]] = set()
    for _, block in itertools.groupby(zip(*columns, strict=True), lambda row: row[0]):
        articles = [(record, citation(description_of(octets))) for _, record, octets in block]
        pairs.update(_pairs_of(sorted(_Member(article.title, record, article) for record, article in articles)))
    return np.array(sorted(pairs), np.int32).reshape(-1, 3)


def _pairs_of(block: list[_Member]) -> Iterator[tuple[int, int, int]]:
    for at, one in enumerate(block):
        for other in block[at + 1 : at + 1 + _NEAR]:
            place = shared_place(one.citation, other.citation)
            if place is not None:
                yield min(one.record, other.record), max(one.record, other.record), place
