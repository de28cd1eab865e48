"""Parts of all components, each cut into clusters: a part has all that is needed for it, so any process can do it."""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import numbers
from urnscan.dedup.compare.agreement import rules_of
from urnscan.dedup.join.components import UNSURE, Levels, Numbers
from urnscan.dedup.join.split_component import split
from urnscan.records.description import NOTHING, Description, as_text, from_text

Bits = npt.NDArray[np.uint16]
Pairs = npt.NDArray[np.int32]
"""Pairs of numbers, in two rows."""
DESCRIBED = pa.schema([("unit", pa.int32()), ("description", pa.string())])
"""Units, and their descriptions, as `description.as_text` writes them."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the components: their edges, ordered by class, and the descriptions of their units.

    A unit is a thing that records describe; of N-Triples, several records may describe one.
    """

    component: Numbers
    """Component of each edge."""
    class_: Numbers
    level: Levels
    """Trust in the class of each edge: SURE, OTHER or UNSURE."""
    unit: Numbers
    """Unit of each edge. All units of a component have edges."""
    described: pa.Table
    """DESCRIBED of these units. A unit may have no row, or several."""
    agree: Sequence[str]
    """Aspects that must not contradict each other."""
    never: Sequence[tuple[int, int]] = ()
    """Pairs of units of one component, in order, that are never joined."""


@dataclass(frozen=True, slots=True)
class Split:
    """Clusters of a part."""

    units: int
    """Number of units that were compared."""
    joined: Pairs
    """Pairs of units of one cluster, enough to connect it."""
    apart: Numbers
    """Units that share an identifier with one of another cluster."""
    reasons: Bits
    """Bits of REASONS for each of them."""


def split_part(part: Part) -> Split:
    """Cut components into clusters."""
    rules = rules_of(part.agree)
    held = _Components(part)
    lead, each = held.alike()
    leads, others, apart, reasons = [], [], [], []
    for one in held.different():
        unsure = one.shared(unsure=True) if one.is_unsure else ()
        group, why = split(one.described, one.shared(unsure=False), rules, unsure, one.never)
        for at, (mine, bits) in enumerate(zip(group, why, strict=True), one.begin):
            if mine != at - one.begin:
                leads.append(one.begin + mine)
                others.append(at)
            if bits:
                apart.append(at)
                reasons.append(bits)
    joined = np.stack([np.append(lead, np.array(leads, np.intp)), np.append(each, np.array(others, np.intp))])
    unit = held.unit
    return Split(len(unit), unit[joined], unit[np.array(apart, np.intp)], np.array(reasons, np.uint16))


class _Component(NamedTuple):
    """A component: its units from the first place on."""

    begin: int
    described: list[Description]
    edges: list[tuple[int, int, int]]
    """Class, level and place of each edge."""
    is_unsure: bool
    """Whether a class is UNSURE."""
    never: Sequence[tuple[int, int]]
    """Pairs of units, counted from the first one of the component, that are never joined."""

    def shared(self, *, unsure: bool) -> Iterator[list[int]]:
        """For each class that is UNSURE, or for each other one, the units that share it, counted in the same way."""
        for _, members in itertools.groupby(self.edges, lambda edge: edge[0]):
            held = list(members)
            if (held[0][1] == UNSURE) == unsure:
                yield list(dict.fromkeys(place - self.begin for _, _, place in held))


class _Components:
    """Components of a part. Their units have places: by component, then in order."""

    def __init__(self, part: Part) -> None:
        unit, edge = np.unique(part.unit, return_inverse=True)
        component = np.empty(len(unit), np.int32)
        component[edge] = part.component
        order = np.argsort(component, kind="stable")
        place = np.empty(len(unit), np.intp)
        place[order] = np.arange(len(unit))
        self.unit = unit[order]
        """Unit at each place."""
        is_first = np.diff(component[order], prepend=0) > 0  # components are numbered from 1
        self._begins = np.append(np.flatnonzero(is_first), len(unit))
        self._number = np.cumsum(is_first) - 1  # at each place, number of the component in this part
        self._edges = np.stack([self._number[place[edge]], part.class_, part.level, place[edge]])
        rows = part.described
        at = place[np.searchsorted(unit, numbers(rows.column("unit").combine_chunks()))]
        self._code, self._described = _descriptions(at, rows.column("description"), len(unit))
        self._never: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for pair in part.never:
            one, other = place[np.searchsorted(unit, pair)].tolist()
            number = int(self._number[one])
            begin = int(self._begins[number])
            self._never[number].append((one - begin, other - begin))
        number, _, level, _ = self._edges
        begins = self._begins[:-1]
        is_alike = np.minimum.reduceat(self._code, begins) == np.maximum.reduceat(self._code, begins)
        self._is_unsure = np.zeros(len(begins), np.bool_)
        self._is_unsure[number[level == UNSURE]] = True
        is_alike[list(self._never)] = False
        self._is_alike = is_alike & ~self._is_unsure
        """Whether all units of a component have the same description, which cannot contradict itself."""

    def alike(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Places of units whose component needs no comparison: the first one of the component, and each of the others."""
        each = np.flatnonzero(self._is_alike[self._number])
        lead = self._begins[self._number[each]]
        is_other = each != lead
        return lead[is_other], each[is_other]

    def different(self) -> Iterator[_Component]:
        """All other components."""
        which = np.flatnonzero(~self._is_alike[self._edges[0]])
        which = which[np.argsort(self._edges[0, which], kind="stable")]
        number, *columns = self._edges[:, which]
        numbers_of = np.flatnonzero(~self._is_alike)
        ends = np.searchsorted(number, numbers_of, "right").tolist()
        read = functools.cache(from_text)
        code, begins, is_unsure = self._code.tolist(), self._begins.tolist(), self._is_unsure.tolist()
        edges = list(zip(*(column.tolist() for column in columns), strict=True))
        start = 0
        for each, end in zip(numbers_of.tolist(), ends, strict=True):
            begin = begins[each]
            described = [read(self._described[at]) for at in code[begin : begins[each + 1]]]
            yield _Component(begin, described, edges[start:end], is_unsure[each], self._never.get(each, ()))
            start = end


def _descriptions(place: npt.NDArray[np.intp], texts: pa.ChunkedArray, count: int) -> tuple[Numbers, list[str]]:
    """All descriptions, and which of them each of `count` units has; `place` has the unit of each row.

    Of several rows of one unit, the first one that has a value counts, aspect by aspect.
    """
    encoded = texts.dictionary_encode().combine_chunks()
    different = [as_text(NOTHING), *encoded.dictionary.to_pylist()]
    of_row = numbers(encoded.indices) + np.int32(1)
    code = np.zeros(count, np.int32)
    code[place] = of_row
    several = np.flatnonzero((np.bincount(place, minlength=count) > 1)[place])
    joined: dict[int, Description] = {}
    for at, said in zip(place[several].tolist(), of_row[several].tolist(), strict=True):
        pairs = zip(joined.get(at, NOTHING), from_text(different[said]), strict=True)
        joined[at] = Description(*(before if before is not None else now for before, now in pairs))
    for at, each in joined.items():
        code[at] = len(different)
        different.append(as_text(each))
    return code, different
