"""Pairs of records that share no identifier and cite the same article.

Two records are compared only if they share a block, a group of articles that may be the same (`citations.blocks`), and
are near each other in the block, in the order of their titles. So the time grows with the number of records, and not
with its square. Blocks are spread over parts by their hash, and parts are read one at a time.
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
from urnscan.dedup.join.components import Numbers, Results, group_begins, merged
from urnscan.dedup.read.batches import digest_of
from urnscan.records.description import with_hosts
from urnscan.records.record import description_of
from urnscan.tables.spill import SpilledParts

_PARTS = 64
# Bytes of descriptions in memory; more are spilled.
_IN_MEMORY = 1 << 26
# Number of next articles, in the order of titles, with which an article is compared.
_NEAR = 20
# Kinds of blocks.
_KINDS = 3
_MEMBERS = pa.schema(
    [
        *((name, pa.int64()) for name in ("block", "page", "volume")),
        *((name, pa.int32()) for name in ("record", "component")),
        ("description", pa.binary()),
    ]
)
"""Records in blocks: hash of the block; hashes of the blocks of earlier kinds that the record is in, or 0; numbers of
the record and of its component; packed description.
"""

Batch = tuple[Numbers, pa.BinaryArray]
"""Numbers of records, and their packed descriptions (the bytes that `description.pack` makes)."""
Blocks = npt.NDArray[np.int64]
"""For each record, the hash of the block of each kind, or 0; shape (records, kinds)."""


class CitationPairs(NamedTuple):
    """Pairs of records that describe the same article, as their citations (title, author, year, page, volume, journal)
    show. Element i of each array belongs to pair i.
    """

    first: Numbers
    """Number of the record that comes first in the dumps, among the records of all dumps, from 0."""
    other: Numbers
    """Number of the other record, counted in the same way."""
    place: npt.NDArray[np.int8]
    """Index in `citations.PLACES` of the place (such as first page, or volume of a journal) that both citations share.
    """

    def places(self, cluster: Numbers, by_keys: Numbers) -> npt.NDArray[np.uint8]:
        """Return for each record the places (such as first page, or volume of a journal) of those of its pairs whose
        records are in one cluster, but would not be if only keys joined records: bit i (1 << i) for PLACES[i]; 0 if
        there are none.

        `cluster`: number of the cluster of each record, from 1. `by_keys`: number of the cluster that each record would
        have if only keys joined records.
        """
        places = np.zeros(len(cluster), np.uint8)
        is_joined = (cluster[self.first] == cluster[self.other]) & (by_keys[self.first] != by_keys[self.other])
        bit = np.left_shift(np.uint8(1), self.place[is_joined].astype(np.uint8))
        for records in (self.first, self.other):
            np.bitwise_or.at(places, records[is_joined], bit)
        return places

    def joined_alone(self, cluster: Numbers, by_keys: Numbers) -> int:
        """Return by how much the pairs make the number of clusters smaller: 2 if they join three clusters of `by_keys`.

        `cluster`: number of the cluster of each record. `by_keys`: number of the cluster, from 1, that each record
        would have if only keys joined records.
        """
        is_joined = cluster[self.first] == cluster[self.other]
        clusters = merged(by_keys, (self.first[is_joined], self.other[is_joined]))
        return int(by_keys.max(initial=0) - clusters.max(initial=0))


_NOTHING = np.empty(0, np.int32)
NO_PAIRS = CitationPairs(_NOTHING, _NOTHING, _NOTHING.astype(np.int8))
"""No pairs: all arrays are empty."""


def citation_pairs(
    batches: Callable[[], Iterable[Batch]], component: Numbers, folder: Callable[[], Path], results: Results = map
) -> CitationPairs:
    """Return the pairs of records that describe the same article by their citations (title, author, year, page, volume,
    journal): each pair once, sorted by `first`, then `other`, with the most reliable place that both share. Only
    articles are compared, in formats with a field for the journal or book, and each only with the next 20 titles of a
    block of similar articles; so pairs may be missed.

    `batches` gives the numbers of records, from 0, and their packed descriptions; it is called up to three times.
    `component`: for each record, number of the group of records that keys connect; records of the same group are not
    compared. `folder` returns the folder for temporary files, and is called only if memory is full. `results` is a
    function like `map`, perhaps with processes. Raises FatalError if the disk is full or a process dies.
    """
    records = [numbers_of for numbers_of, _ in _citations(batches())]
    if not records:
        return NO_PAIRS
    of_batches = [*results(_blocks, (packed for _, packed in _citations(batches())))]
    of_all = np.concatenate(of_batches)
    shared = [_shared(of_kind, component[np.concatenate(records)]) for of_kind in of_all.T]
    parts = SpilledParts(_MEMBERS, _PARTS, _IN_MEMORY, folder)
    try:
        for (numbers_of, packed), of_batch in zip(_citations(batches()), of_batches, strict=True):
            for kind, of_kind in enumerate(of_batch.T):
                which = np.flatnonzero(np.isin(of_kind, shared[kind]))
                block = of_kind[which]
                earlier = [of_batch[which, at] if at < kind else np.zeros(len(which), np.int64) for at in (0, 1)]
                record = numbers_of[which]
                arrays = [number_array(values) for values in (block, *earlier, record, component[record])]
                rows = pa.RecordBatch.from_arrays([*arrays, packed.take(number_array(which))], schema=_MEMBERS)
                parts.add((block % _PARTS).astype(np.int32), rows)
        pairs = [*results(_pairs, filter(len, map(parts.take, range(_PARTS))))]
    finally:
        parts.close()
    table = np.concatenate([np.empty((0, 3), np.int32), *pairs])
    table = table[np.lexsort(table.T[::-1])]
    # If a pair shares two places, the surer place counts.
    _, firsts = np.unique(table[:, :2], axis=0, return_index=True)
    first, other, place = table[firsts].T
    return CitationPairs(first, other, place.astype(np.int8))


def _citations(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Yield only the records whose format has a field for the host (journal or book) of an article."""
    for records, packed in batches:
        is_citation = np.zeros(len(records), np.bool_)
        for beginning in with_hosts():
            is_citation |= flags_of(pc.starts_with(packed, beginning))
        if is_citation.any():
            yield records[is_citation], packed.filter(flag_array(is_citation))


def _shared(block: npt.NDArray[np.int64], component: Numbers) -> npt.NDArray[np.int64]:
    """The hashes of the blocks (articles that may be the same) with records of several components. `block`: the hash of
    the block of each record, or 0.
    """
    order = np.lexsort((component, block))
    block, component = block[order], component[order]
    known, counts = np.unique(block[group_begins(block, component)], return_counts=True)
    shared: npt.NDArray[np.int64] = known[(counts > 1) & (known != 0)]
    return shared


def _blocks(packed: pa.BinaryArray) -> Blocks:
    """For each record, the hashes of its blocks (articles that may be the same), one of each kind; 0 for a block that
    it lacks.
    """
    hashes = np.zeros((len(packed), _KINDS), np.int64)
    for at, data in enumerate(packed.to_pylist()):
        description = description_of(data)
        if is_article(description):
            hashes[at] = [
                digest_of(f"{kind}{name}".encode()) if name else 0 for kind, name in enumerate(blocks(description))
            ]
    return hashes


class _Member(NamedTuple):
    """An article in a block (articles that may be the same), with its normalized title, and the numbers of record and
    component.
    """

    title: str
    record: int
    component: int
    earlier: tuple[int, int]
    """Hashes of the blocks of page and volume, if these are of an earlier kind than this block; otherwise 0."""
    citation: Citation


def _pairs(members: pa.Table) -> npt.NDArray[np.int32]:
    """The pairs of records of the same article, without pairs of one component: the smaller number, the larger one, and
    the index in PLACES; perhaps repeated. `members` must have all rows of each of their blocks.
    """
    order = np.argsort(numbers(members.column("block").combine_chunks()), kind="stable")
    columns = (column.to_pylist() for column in members.take(number_array(order)).columns)
    pairs: list[tuple[int, int, int]] = []
    for _, block in itertools.groupby(zip(*columns, strict=True), lambda row: row[0]):
        articles = []
        for _, page, volume, record, component, packed in block:
            of_record = citation(description_of(packed))
            articles.append(_Member(of_record.title, record, component, (page, volume), of_record))
        pairs += _pairs_of(sorted(articles, key=lambda article: article[:2]))
    return np.array(pairs, np.int32).reshape(-1, 3)


def _pairs_of(block: list[_Member]) -> Iterator[tuple[int, int, int]]:
    for at, one in enumerate(block):
        for other in block[at + 1 : at + 1 + _NEAR]:
            # A pair is compared in the first block that it shares.
            if one.component == other.component or any(
                a and a == b for a, b in zip(one.earlier, other.earlier, strict=True)
            ):
                continue
            place = shared_place(one.citation, other.citation)
            if place is not None:
                yield min(one.record, other.record), max(one.record, other.record), place
