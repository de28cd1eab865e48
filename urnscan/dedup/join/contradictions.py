"""The brake: it keeps records apart that share identifiers, but contradict each other in their descriptions.

The descriptions of records that share anything are spread over parts by their component. Parts are cut into clusters one
by one, each by any process: `parts.split_part` tells how.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import flag_array, number_array
from urnscan.dedup.join.component_batches import DESCRIBED, Bits, Part, split_part
from urnscan.dedup.join.components import Joined, Numbers, Pair, Results
from urnscan.dedup.join.never_join import HeldApart
from urnscan.dedup.join.split_component import TOO_LARGE
from urnscan.tables.spill import SpilledParts

_PARTS = 64
_IN_MEMORY = 1 << 26  # octets of descriptions in memory; more are spilled


@dataclass(frozen=True, slots=True)
class Braked:
    """Result of the brake."""

    joined: Sequence[Pair]
    """Pairs of records of one cluster."""
    reasons: Bits
    """For each record, bits of REASONS; 0 if all that share an identifier with it are in its cluster."""
    too_large: Sequence[tuple[int, int]]
    """Components of which no record is joined: number of the first record, and of the records; the largest first."""


class Brake:
    """Cuts components into clusters."""

    def __init__(
        self, joined: Joined, component: Numbers, unit: Numbers, max_cluster: int, folder: Callable[[], Path]
    ) -> None:
        """`component`: number of the component of each record. `unit`: number of the thing that each record
        describes, from 0 in the order of first records; of N-Triples, several records may describe one thing. Components
        of more than `max_cluster` things are not joined at all.
        """
        self._begins = np.zeros(unit.max(initial=-1) + 1, np.int32)  # first record of each unit
        self._begins[unit[::-1]] = np.arange(len(unit), dtype=np.int32)[::-1]
        sizes = np.bincount(component[self._begins], minlength=1)
        self._component, self._unit = component, unit
        self._is_shared = (sizes > 1) & (sizes <= max_cluster)
        self._is_large = sizes > max_cluster
        self._joined = joined
        self._described = SpilledParts(DESCRIBED, _PARTS, _IN_MEMORY, folder)
        self._sizes = sizes
        self.things = int(sizes[self._is_shared].sum())
        """Things whose descriptions are compared."""

    def close(self) -> None:
        """Delete the descriptions."""
        self._described.close()

    def add(self, records: Numbers, descriptions: pa.StringArray) -> None:
        """Take the descriptions of records, as DESCRIBED has them. Raises FatalError if the disk is full."""
        component = self._component[records]
        is_shared = self._is_shared[component]
        columns = [number_array(self._unit[records[is_shared]]), descriptions.filter(flag_array(is_shared))]
        self._described.add(component[is_shared] % _PARTS, pa.RecordBatch.from_arrays(columns, schema=DESCRIBED))

    def clusters(
        self,
        agree: Sequence[str],
        never: HeldApart | None = None,
        on_units: Callable[[int], object] = lambda _: None,
        results: Results = map,
    ) -> Braked:
        """Cut all components into clusters. Without aspects that must `agree`, and without `never`, only those that are too
        large are cut.

        `on_units` is called with the number of units compared since its last call. `results` calls the function that cuts a
        part, perhaps in processes. Raises FatalError if the disk fails or a process dies.
        """
        reasons = np.zeros(len(self._begins), np.uint16)  # by unit
        reasons[self._is_large[self._component[self._begins]]] = TOO_LARGE
        if not agree and never is None:
            first, other = self._joined.pairs()
            if self._is_large.any():
                stays = ~self._is_large[self._component[first]]
                first, other = first[stays], other[stays]
            return Braked([(first, other)], reasons[self._unit], self._too_large())
        joined = []
        for found in results(split_part, self._cut(agree, never)):
            on_units(found.units)
            first, other = self._begins[found.joined]
            joined.append((first, other))
            reasons[found.apart] = found.reasons
        return Braked(joined, reasons[self._unit], self._too_large())

    def _cut(self, agree: Sequence[str], never: HeldApart | None) -> Iterator[Part]:
        """The parts that have edges. Raises FatalError if the disk fails."""
        held = self._joined
        of_edge = self._component[held.record]
        order = np.lexsort((held.class_, of_edge % _PARTS))  # by part, then by class
        order = order[self._is_shared[of_edge[order]]]
        bounds = np.searchsorted(of_edge[order] % _PARTS, np.arange(_PARTS + 1))
        apart: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by part
        of_unit = self._component[self._begins]
        for pair in never.pairs(of_unit) if never else ():
            apart[int(of_unit[pair[0]]) % _PARTS].append(pair)
        for number in range(_PARTS):
            edges = order[bounds[number] : bounds[number + 1]]
            if not len(edges):
                continue
            described = self._described.take(number)
            class_ = held.class_[edges]
            unit = self._unit[held.record[edges]]
            yield Part(of_edge[edges], class_, held.level[class_], unit, described, agree, apart[number])

    def _too_large(self) -> list[tuple[int, int]]:
        large = np.flatnonzero(self._is_large)
        large = large[np.argsort(-self._sizes[large], kind="stable")]
        _, first = np.unique(self._component[self._begins], return_index=True)  # components are numbered from 1
        return [(int(self._begins[first[each - 1]]), int(self._sizes[each])) for each in large.tolist()]
