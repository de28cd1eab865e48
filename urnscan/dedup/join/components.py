"""Connected components of records that share identifiers, computed out of core.

An edge is a record and an identifier in it: a URN or another key. Edges are spread over parts by a hash of the
identifier: all edges of an identifier are in one part, and parts are read one at a time. Only numbers stay in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import byte_strings, flag_array, flags_of, number_array, numbers
from urnscan.compiled.jit import compiled, inner, read_only
from urnscan.compiled.strings import spread
from urnscan.errors import FatalError
from urnscan.tables.spill import SpilledParts
from urnscan.urn.prefix_filter import with_beginnings

# A power of two.
_PARTS = 64
# Bytes of edges in memory; more are spilled.
_IN_MEMORY = 1 << 27
MAX_COUNT = (1 << 31) - 1
"""Largest number of records, and of edges, which are counted in 32 bits."""
# Elements that are computed at a time.
_SLICE = 1 << 20
_EDGES = pa.schema({"urn": pa.string(), "record": pa.int32(), "edge": pa.int32()})

SURE, OTHER, COPIED, UNSURE, CITATION = range(5)
"""Trust in an identifier; the smaller, the more. SURE: a URN. OTHER: another key. COPIED: a number of a catalogue,
which alone joins no records with different DOIs, ISBNs, ISSNs or NBNs. UNSURE: a supporting key, which joins only
records whose titles, authors, years and parts match (`agreement.is_surely_same`). CITATION: no identifier, but two
records that cite the same article (`citation_pairs`).
"""

Numbers = npt.NDArray[np.int32]
Pair = tuple[Numbers, Numbers]
"""Pairs of records: an array of the first records of all pairs, and an array of the other records."""
Flags = npt.NDArray[np.bool_]
Levels = npt.NDArray[np.int8]
Results = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""A function like `map`, which may call the function in other processes, for example `Workers.results`."""


def is_weak(urns: pa.StringArray, weak: Sequence[str]) -> Flags:
    """Return for each URN (a canonical form) whether it is ignored, because its name, the text after `urn:`, has one of
    the prefixes in `weak`. These are in lower case: a NID (`issn`), the start of NIDs (`schemas-*`) or of names in a
    NID (`nbn:de`). The case of the name does not matter.
    """
    return with_beginnings(*byte_strings(urns), weak)


@dataclass(frozen=True, slots=True)
class SharedEdges:
    """The edges whose identifier joins several records, sorted by identifier, then in the order of adding. An edge is a
    pair of a record and one of its identifiers.
    """

    edge: Numbers
    """Number of each edge, from 0 in the order of adding."""
    record: Numbers
    """Number of the record of each edge, from 0."""
    identifier: Numbers
    """Number of the identifier of each edge, from 0; an index in `level`."""
    level: Levels
    """Trust in each identifier, by its number: SURE (a URN), OTHER (another key), COPIED (a number of a catalogue),
    UNSURE (a supporting key) or CITATION (two records that cite the same article).
    """
    common: Sequence[tuple[str, int]]
    """Identifiers (canonical forms, keys) in too many records, which join none, and their numbers of records; the
    largest first.
    """

    def with_pairs(self, pairs: Pair) -> SharedEdges:
        """Return these edges and two for each of `pairs`, with a new identifier of the level CITATION that both records
        of the pair share. The added edges have the number -1.
        """
        count = len(pairs[0])
        return SharedEdges(
            np.append(self.edge, np.full(2 * count, -1, np.int32)),
            np.append(self.record, np.stack(pairs, axis=1).ravel()),
            np.append(self.identifier, np.repeat(np.arange(count, dtype=np.int32) + np.int32(len(self.level)), 2)),
            np.append(self.level, np.full(count, CITATION, np.int8)),
            self.common,
        )

    def upto(self, level: int, records: Flags | None = None) -> SharedEdges:
        """Return only the edges whose identifier has at most this level (SURE is the smallest): `upto(OTHER)` has SURE
        and OTHER. `records`: a flag for each record; edges of records with False are all kept, whatever their level.
        None: the level counts for all edges.
        """
        is_kept = self.level[self.identifier] <= level
        if records is not None:
            is_kept |= ~records[self.record]
        if is_kept.all():
            return self
        edges = (self.edge[is_kept], self.record[is_kept], self.identifier[is_kept])
        return SharedEdges(*edges, self.level, self.common)

    def pairs(self) -> Pair:
        """Return pairs of records that share an identifier, enough to connect all records that share it: the first
        record that has it, with each other. Two records that share several identifiers may be several pairs.
        """
        return _pairs(self.record, self.identifier)

    def pairs_in(self, cluster: Numbers) -> Pair:
        """Return pairs of records that are in the same cluster and share an identifier: the first record of the cluster
        that has the identifier, with each other of the cluster. `cluster`: number of the cluster of each record.
        """
        order = np.lexsort((cluster[self.record], self.identifier))
        record = self.record[order]
        return _pairs(record, self.identifier[order], cluster[record])

    def joins(self, cluster: Numbers, edges: int) -> Flags:
        """Return for each edge that was added, by its number, whether its identifier joins the record with another
        record of the same cluster. `edges`: number of all edges, also of those that are not shared: these are False.
        `cluster`: number of the cluster of each record. Must not be called with edges from `with_pairs`.
        """
        shared = np.zeros(edges, np.bool_)
        for group in whole_groups(self.identifier):
            identifier, of_record = self.identifier[group], cluster[self.record[group]]
            order = np.lexsort((of_record, identifier))
            begins = group_begins(identifier[order], of_record[order])
            is_alone = begins & np.append(begins[1:], True)
            shared[self.edge[group][order[~is_alone]]] = True
        return shared


def _pairs(record: Numbers, *keys: Numbers) -> Pair:
    """Pairs of the first record and each other record of edges with equal keys. The arrays have an element for each
    edge, and are sorted by `keys`.
    """
    is_first = group_begins(*keys)
    first = np.flatnonzero(is_first)
    return np.repeat(record[first], np.diff(first, append=len(record)) - 1), record[~is_first]


def group_begins(*keys: npt.NDArray[Any]) -> Flags:
    """Return for each row whether a group of rows with equal keys begins with it: `[3, 3, 5]` -> `[True, False, True]`.
    Each of `keys` is a column; the rows are sorted by them.
    """
    begins = np.ones(len(keys[0]), np.bool_)
    begins[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return begins


def whole_groups(ordered: Numbers) -> Iterator[slice]:
    """Yield the slices of a sorted array, each of about a million elements; more if elements are equal, as these are
    never split between two slices.
    """
    start = 0
    while start < len(ordered):
        last = ordered[min(start + _SLICE, len(ordered)) - 1]
        end = int(np.searchsorted(ordered, last, "right"))
        yield slice(start, end)
        start = end


class Edges:
    """Collects the edges of all records, and returns those that join records. An edge is a pair of a record and one of
    its identifiers.
    """

    def __init__(
        self,
        weak: Sequence[str],
        folder: Callable[[], Path],
        unsure: Sequence[str] = (),
        copied: Sequence[str] = (),
        *,
        by_urn: bool = True,
    ) -> None:
        """`weak`: prefixes of URNs that are ignored, in lower case and without `urn:`. `unsure`: prefixes of supporting
        keys, which join only records whose descriptions agree. `copied`: prefixes of numbers of catalogues (`oclc:`),
        which alone join no records with different URNs of a kind. `by_urn`: whether URNs join records. `folder` returns
        the folder for temporary files, and is called only if memory is full.
        """
        self._trust = _Trust(weak, unsure, copied, by_urn)
        self._parts = SpilledParts(_EDGES, _PARTS, _IN_MEMORY, folder)
        self.count = 0
        """Number of all edges that were added."""

    def close(self) -> None:
        """Delete the edges, in memory and on disk."""
        self._parts.close()

    def add(self, records: Numbers, urns: pa.StringArray, are_live: Flags | None = None) -> None:
        """Append edges: numbers of records, from 0, and a canonical form or a key of each; no pair may be repeated.
        `are_live` has a flag for each edge: edges of deleted records (False) get a number, but join nothing; None: all
        are live. Raises FatalError if there are more than `MAX_COUNT` edges, or if the disk is full or fails.
        """
        if self.count + len(urns) > MAX_COUNT:
            raise FatalError(f"more than {MAX_COUNT:,} URNs and keys; split the dumps into several runs")
        edges = np.arange(self.count, self.count + len(urns), dtype=np.int32)
        self.count += len(urns)
        if are_live is not None and not are_live.all():
            records, urns, edges = records[are_live], urns.filter(flag_array(are_live)), edges[are_live]
        columns = [urns, number_array(records), number_array(edges)]
        self._parts.add(spread(*byte_strings(urns), _PARTS), pa.RecordBatch.from_arrays(columns, schema=_EDGES))

    def join(
        self, max_class: int, on_edges: Callable[[int], object] = lambda _: None, results: Results = map
    ) -> SharedEdges:
        """Return the edges of the identifiers that several records share; called once, after all edges were added.
        Ignored URNs, and identifiers in more than `max_class` records, are left out.

        `on_edges` is called with the number of edges of each part, after it was joined (a part has all edges of some
        identifiers). `results` calls the function that joins a part, perhaps in processes. Raises FatalError if the
        disk fails or a process dies.
        """
        common: list[tuple[str, int]] = []
        shared = [np.empty((3, 0), np.int32)]
        levels = [np.empty(0, np.int8)]
        identifiers = 0
        parts = filter(len, map(self._parts.take, range(_PARTS)))
        for edges, part in results(partial(_join, self._trust, max_class), parts):
            shared.append(np.stack([part.edge, part.record, part.identifier + np.int32(identifiers)]))
            levels.append(part.level)
            common += part.common
            identifiers += len(part.level)
            on_edges(edges)
        of_edge, of_record, identifier = np.concatenate(shared, axis=1)
        common.sort(key=lambda item: (-item[1], item[0]))
        return SharedEdges(of_edge, of_record, identifier, np.concatenate(levels), common)


class _Trust(NamedTuple):
    """Options that say which identifiers join records: prefixes of ignored URNs (`weak`), of supporting keys (`unsure`)
    and of numbers of catalogues (`copied`), and whether URNs count.
    """

    weak: Sequence[str]
    unsure: Sequence[str]
    copied: Sequence[str]
    by_urn: bool

    def levels(self, names: pa.StringArray) -> Levels:
        level = np.where(flags_of(pc.starts_with(names, "urn:")), SURE, OTHER).astype(np.int8)
        for trust, prefixes in ((UNSURE, self.unsure), (COPIED, self.copied)):
            for prefix in prefixes:
                level[flags_of(pc.starts_with(names, prefix))] = trust
        return level


def _join(trust: _Trust, max_class: int, rows: pa.Table) -> tuple[int, SharedEdges]:
    """The number of edges (a record and one of its identifiers) in a part, and those whose identifiers join records:
    not ignored, and in 2 to `max_class` records. A part must have all edges of an identifier.
    """
    record, edge = (numbers(rows.column(name).combine_chunks()) for name in ("record", "edge"))
    urn = rows.column("urn").dictionary_encode().combine_chunks()
    codes = numbers(urn.indices)
    sizes = np.bincount(codes, minlength=len(urn.dictionary))
    level = trust.levels(urn.dictionary)
    strong = level != SURE
    if trust.by_urn:
        strong |= ~is_weak(urn.dictionary, trust.weak)
    too_common = np.flatnonzero(strong & (sizes > max_class))
    names = urn.dictionary.take(number_array(too_common)).to_pylist()
    joins = strong & (sizes > 1) & (sizes <= max_class)
    number = np.cumsum(joins, dtype=np.int32) - np.int32(1)
    which = np.flatnonzero(joins[codes])
    identifier = number[codes[which]]
    by_identifier = np.argsort(identifier, kind="stable")
    which = which[by_identifier]
    common = list(zip(names, sizes[too_common].tolist(), strict=True))
    return len(edge), SharedEdges(edge[which], record[which], identifier[by_identifier], level[joins], common)


def components(records: int, *pairs: Pair) -> Numbers:
    """Return the connected components of records: for each record the number of the group to which pairs connect it,
    from 1 in the order of the first records. A record without pairs is a group by itself.

    `records`: number of records; they are numbered from 0. Each of `pairs` has two arrays: the first record, and the
    other record, of each pair.
    """
    parent = np.arange(records, dtype=np.int32)
    for first, other in pairs:
        _join_pairs(parent, read_only(first), read_only(other))
    _number(parent)
    return parent


def merged(group: Numbers, pairs: Pair) -> Numbers:
    """Join groups of records that pairs of records connect; return for each record the number of its new group.
    `group`: number of the group of each record before, from 1 in the order of the first records; new groups are
    numbered so, too.
    """
    first, other = (group[records] - np.int32(1) for records in pairs)
    return components(int(group.max(initial=0)), (first, other))[group - 1]


# Not `scipy.sparse.csgraph`: where SciPy is installed, Numba loads `scipy.linalg` at each start, which takes 0.12 s.
@compiled
def _join_pairs(parent: Numbers, first: Numbers, other: Numbers) -> None:
    """Join the components of pairs of records. `parent` has for each record an earlier record of its component, or the
    record itself; it is changed.
    """
    for i in range(len(first)):
        a, b = _first(parent, first[i]), _first(parent, other[i])
        parent[max(a, b)] = min(a, b)


@compiled
def _number(parent: Numbers) -> None:
    """Replace the parents of records (see `_join_pairs`) by the numbers of their components, from 1 in the order of
    first records.
    """
    number = 0
    for record in range(len(parent)):
        if parent[record] == record:
            number += 1
            parent[record] = number
        else:
            parent[record] = parent[parent[record]]


@inner
def _first(parent: Numbers, record: int) -> int:
    """Return the earliest record to which parents lead, and shorten the path in `parent`."""
    while parent[record] != record:
        parent[record] = parent[parent[record]]
        record = parent[record]
    return record
