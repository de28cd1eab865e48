"""Batches of components, split into clusters. A component is a group of works that shared identifiers connect. A batch
is complete in itself, so any process can split the batch.
"""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import numbers
from urnscan.dedup.compare.agreement import rules_of
from urnscan.dedup.join.components import CITATION, COPIED, OTHER, SURE, UNSURE, Levels, Numbers
from urnscan.dedup.join.split_component import NO_TITLE, Identifiers, split
from urnscan.records.description import NOTHING, Description, as_text, from_text

Bits = npt.NDArray[np.uint16]
"""Sets of reasons: bit i (1 << i) of an element for `split_component.REASONS[i]`."""
Pairs = npt.NDArray[np.int32]
"""Pairs of works; shape (2, pairs)."""
DESCRIBED = pa.schema([("work", pa.int32()), ("description", pa.string())])
"""Works, by their numbers in the run, from 0, and their descriptions, as `description.as_text` writes them."""
SINGLE = pa.schema([("work", pa.int32()), ("kind", pa.int8()), ("name", pa.string())])
"""Works, and their identifiers of the kinds of which a work has a single one: `work` is the number of a work in the
run, from 0, and `kind` an index in `keys.single()`.
"""


@dataclass(frozen=True, slots=True)
class ComponentBatch:
    """Some components (groups of works that shared identifiers connect): their edges, sorted by identifier, and the
    descriptions of their works. An edge is a pair of a work and one of its identifiers.

    A record describes a work; in N-Triples, several records may describe the same work. Components are numbered from 1,
    works and identifiers from 0, in the whole run.
    """

    component: Numbers
    """Number of the component of each edge."""
    identifier: Numbers
    """Number of the identifier of each edge; ascending."""
    level: Levels
    """Trust in the identifier of each edge: SURE (a URN), OTHER (another key), COPIED (a number of a catalogue), UNSURE
    (a supporting key) or CITATION (two works that cite the same article).
    """
    work: Numbers
    """Number of the work of each edge. All works of a component have edges."""
    described: pa.Table
    """Descriptions of the works, with the columns of DESCRIBED. A work may have no row, or several."""
    agree: Sequence[str]
    """Aspects, such as `title`, in which works of a cluster must not conflict."""
    never: Sequence[tuple[int, int]] = ()
    """Pairs of works of the same component that are never joined; the smaller number comes first."""
    single: pa.Table = field(default_factory=SINGLE.empty_table)
    """Identifiers of the kinds of which a work usually has only one (`urn:doi:`, `oclc:`), with the columns of
    SINGLE; for the works whose component has an identifier that is COPIED, UNSURE or CITATION.
    """


@dataclass(frozen=True, slots=True)
class BatchClusters:
    """Clusters of the works in a batch of components. A cluster has the works that are treated as the same. Works have
    the numbers that they have in the whole run, from 0.
    """

    works: int
    """Number of works in the batch."""
    joined: Pairs
    """Pairs of works of the same cluster: the first work of the cluster, with each other work; shape (2, pairs). A work
    alone in its cluster is in no pair.
    """
    apart: Numbers
    """Numbers of the works that people should look at, for example because of a conflict with a work of another
    cluster.
    """
    reasons: Bits
    """Reasons for each work in `apart`: bit i (1 << i) for `split_component.REASONS[i]`."""


def split_components(batch: ComponentBatch) -> BatchClusters:
    """Split the components of a batch into clusters, and return the clusters. No two works of a cluster conflict in the
    aspects of `batch.agree`, or are a pair of `batch.never`.
    """
    rules = rules_of(batch.agree)
    components = _Components(batch)
    lead, other = components.alike()
    leads: list[int] = []
    others: list[int] = []
    apart = components.alike_without_title() if "title" in batch.agree else []
    reasons = [NO_TITLE] * len(apart)
    for component in components.different():
        sure = itertools.chain(component.shared(SURE), component.shared(OTHER))
        copied, unsure, citations = (component.shared(level) for level in (COPIED, UNSURE, CITATION))
        group, why = split(
            component.described, sure, rules, unsure, component.never, component.single, citations, copied
        )
        for at, (mine, bits) in enumerate(zip(group, why, strict=True), component.begin):
            if mine != at - component.begin:
                leads.append(component.begin + mine)
                others.append(at)
            if bits:
                apart.append(at)
                reasons.append(bits)
    joined = np.stack([np.append(lead, np.array(leads, np.intp)), np.append(other, np.array(others, np.intp))])
    work = components.work
    return BatchClusters(len(work), work[joined], work[np.array(apart, np.intp)], np.array(reasons, np.uint16))


class _Component(NamedTuple):
    """A component that needs a comparison. Its works have the places `begin`, `begin + 1`, … in the batch."""

    begin: int
    described: list[Description]
    edges: list[tuple[int, int, int]]
    """Identifier, level and place of each edge (a work and one of its identifiers); sorted by identifier."""
    never: Sequence[tuple[int, int]]
    """Pairs of works, counted from 0 in the component, that are never joined."""
    single: Sequence[Identifiers]
    """Identifiers of each work by kind, for the kinds in `keys.single()`; empty if no identifier is COPIED, UNSURE or
    CITATION."""

    def shared(self, level: int) -> Iterator[list[int]]:
        """Yield, for each identifier of this level (such as SURE), the works that have it, counted from 0 in the
        component.
        """
        for _, group in itertools.groupby(self.edges, lambda edge: edge[0]):
            edges = list(group)
            if edges[0][1] == level:
                yield list(dict.fromkeys(place - self.begin for _, _, place in edges))


class _Components:
    """The components of a batch. The place of a work is its index among all works, sorted by component, then by number."""

    def __init__(self, batch: ComponentBatch) -> None:
        work, edge = np.unique(batch.work, return_inverse=True)
        component = np.empty(len(work), np.int32)
        component[edge] = batch.component
        order = np.argsort(component, kind="stable")
        place = np.empty(len(work), np.intp)
        place[order] = np.arange(len(work))
        self.work = work[order]
        """Work at each place."""
        # Components are numbered from 1.
        is_first = np.diff(component[order], prepend=0) > 0
        self._begins = np.append(np.flatnonzero(is_first), len(work))
        # At each place, the number of the component in this batch.
        self._number = np.cumsum(is_first) - 1
        self._edges = np.stack([self._number[place[edge]], batch.identifier, batch.level, place[edge]])
        rows = batch.described
        at = place[np.searchsorted(work, numbers(rows.column("work").combine_chunks()))]
        self._code, self._described = _descriptions(at, rows.column("description"), len(work))
        self._never: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for pair in batch.never:
            one, other = place[np.searchsorted(work, pair)].tolist()
            number = int(self._number[one])
            begin = int(self._begins[number])
            self._never[number].append((one - begin, other - begin))
        self._single: dict[int, dict[int, set[str]]] = defaultdict(dict)
        of_work, kinds, names = (batch.single.column(name).combine_chunks() for name in SINGLE.names)
        places = place[np.searchsorted(work, numbers(of_work))].tolist()
        for at_place, kind, name in zip(places, kinds.to_pylist(), names.to_pylist(), strict=True):
            self._single[at_place].setdefault(kind, set()).add(name)
        number, _, level, _ = self._edges
        begins = self._begins[:-1]
        is_alike = np.minimum.reduceat(self._code, begins) == np.maximum.reduceat(self._code, begins)
        is_unsure = np.zeros(len(begins), np.bool_)
        is_unsure[number[level >= UNSURE]] = True
        self._needs_single = is_unsure.copy()
        self._needs_single[number[level == COPIED]] = True
        # Works whose identifiers are the same need no comparison, although a number of a catalogue connects them.
        for alike in np.flatnonzero(is_alike & self._needs_single & ~is_unsure).tolist():
            places = range(int(self._begins[alike]), int(self._begins[alike + 1]))
            several = [self._single[place] for place in places if place in self._single]
            is_unsure[alike] = any(each != several[0] for each in several[1:])
        is_alike[list(self._never)] = False
        self._is_alike = is_alike & ~is_unsure
        """Whether all works of a component have the same description, so that no comparison is needed."""

    def alike(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Pairs of works in components that need no comparison, as two arrays of places: the first work of a component,
        and each other work of it.
        """
        place = np.flatnonzero(self._is_alike[self._number])
        lead = self._begins[self._number[place]]
        is_other = place != lead
        return lead[is_other], place[is_other]

    def alike_without_title(self) -> list[int]:
        """Places of the works without a title in components that need no comparison."""
        has_title = np.array([from_text(text).title is not None for text in self._described], np.bool_)
        places: list[int] = np.flatnonzero(self._is_alike[self._number] & ~has_title[self._code]).tolist()
        return places

    def different(self) -> Iterator[_Component]:
        """Yield the components that need a comparison."""
        which = np.flatnonzero(~self._is_alike[self._edges[0]])
        which = which[np.argsort(self._edges[0, which], kind="stable")]
        of_edge, *columns = self._edges[:, which]
        numbers_of = np.flatnonzero(~self._is_alike)
        ends = np.searchsorted(of_edge, numbers_of, "right").tolist()
        read = functools.cache(from_text)
        code, begins, needs_single = self._code.tolist(), self._begins.tolist(), self._needs_single.tolist()
        edges = list(zip(*(column.tolist() for column in columns), strict=True))
        start = 0
        for number, end in zip(numbers_of.tolist(), ends, strict=True):
            begin = begins[number]
            described = [read(self._described[at]) for at in code[begin : begins[number + 1]]]
            never = self._never.get(number, ())
            places = range(begin, begins[number + 1]) if needs_single[number] else ()
            single = [self._single.get(at, {}) for at in places]
            yield _Component(begin, described, edges[start:end], never, single)
            start = end


def _descriptions(place: npt.NDArray[np.intp], texts: pa.ChunkedArray, count: int) -> tuple[Numbers, list[str]]:
    """For each of `count` works, the index of its description in the texts that are also returned. `place`: the work of
    each of `texts`. Several texts of a work are joined; a work without one has an empty description.
    """
    encoded = texts.dictionary_encode().combine_chunks()
    different = [as_text(NOTHING), *encoded.dictionary.to_pylist()]
    of_row = numbers(encoded.indices) + np.int32(1)
    code = np.zeros(count, np.int32)
    code[place] = of_row
    several = np.flatnonzero((np.bincount(place, minlength=count) > 1)[place])
    joined: dict[int, Description] = {}
    for at, code_of_row in zip(place[several].tolist(), of_row[several].tolist(), strict=True):
        pairs = zip(joined.get(at, NOTHING), from_text(different[code_of_row]), strict=True)
        joined[at] = Description(*(earlier if earlier is not None else later for earlier, later in pairs))
    for at, description in joined.items():
        code[at] = len(different)
        different.append(as_text(description))
    return code, different
