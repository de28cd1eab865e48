"""Components (groups of records that keys connect) split into clusters whose records share identifiers and do not
conflict.

The descriptions of records that share identifiers are spread over parts by their component. Each part is a batch of
components, which any process can split (`component_batches.split_components`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import flag_array, flags_of, number_array, numbers
from urnscan.dedup.join.choose_kept import first_records
from urnscan.dedup.join.component_batches import DESCRIBED, SINGLE, Bits, ComponentBatch, split_components
from urnscan.dedup.join.components import COPIED, Numbers, Pair, Results, SharedEdges
from urnscan.dedup.join.split_component import TOO_LARGE
from urnscan.records.keys import single
from urnscan.tables.spill import SpilledParts

_PARTS = 64
# Bytes of descriptions in memory; more are spilled.
_IN_MEMORY = 1 << 26


@dataclass(frozen=True, slots=True)
class SplitComponents:
    """Clusters of all components (groups of records that keys connect), and the reasons why people should look at
    records. Records of all dumps together are numbered from 0.
    """

    joined: Sequence[Pair]
    """Pairs of records of the same cluster, in several pairs of arrays; enough pairs to connect the cluster."""
    reasons: Bits
    """Reasons for each record: bit i (1 << i) for `split_component.REASONS[i]`; 0 without a reason."""
    too_large: Sequence[tuple[int, int]]
    """Components with too many works, none of which is joined: number of the first record, and number of works; the
    largest first.
    """


class ComponentSplitter:
    """Splits all components (groups of records that keys connect) into clusters of records that do not conflict. Works
    of a component with too many of them are not joined.
    """

    def __init__(
        self, joined: SharedEdges, component: Numbers, work: Numbers, max_cluster: int, folder: Callable[[], Path]
    ) -> None:
        """`joined`: the edges of shared identifiers. `component`: number of the component of each record, from 1.
        `work`: number of the work of each record, from 0 in the order of first records; in N-Triples, several records
        may describe the same work. Works of a component that has more than `max_cluster` of them are not joined.
        `folder` returns the folder for temporary files, and is called only if memory is full.
        """
        self._begins = first_records(work)
        sizes = np.bincount(component[self._begins], minlength=1)
        self._component, self._work = component, work
        self._is_shared = (sizes > 1) & (sizes <= max_cluster)
        self._is_large = sizes > max_cluster
        # Whether a component has an identifier that joins no records with different identifiers of a kind.
        self._needs_single = np.zeros(len(sizes), np.bool_)
        self._needs_single[component[joined.record[joined.level[joined.identifier] >= COPIED]]] = True
        self._needs_single &= self._is_shared
        self._joined = joined
        self._described = SpilledParts(DESCRIBED, _PARTS, _IN_MEMORY, folder)
        self._single = SpilledParts(SINGLE, _PARTS, _IN_MEMORY, folder)
        self._sizes = sizes
        self.works = int(sizes[self._is_shared].sum())
        """Number of works whose descriptions are compared."""

    def close(self) -> None:
        """Delete the descriptions, in memory and on disk."""
        self._described.close()
        self._single.close()

    def add(self, records: Numbers, descriptions: pa.StringArray, names: pa.ListArray) -> None:
        """Add the descriptions of records, and their URNs and keys, which `clusters` compares. Records of components
        with a single work, or with too many, are ignored. Raises FatalError if the disk is full or fails.

        `records`: numbers of the records among those of all dumps, from 0. `descriptions`: a text for each, from
        `description.as_text`. `names`: a list of URNs and keys for each.
        """
        component = self._component[records]
        is_shared = self._is_shared[component]
        columns = [number_array(self._work[records[is_shared]]), descriptions.filter(flag_array(is_shared))]
        self._described.add(component[is_shared] % _PARTS, pa.RecordBatch.from_arrays(columns, schema=DESCRIBED))
        needs_single = self._needs_single[component]
        if needs_single.any():
            self._add_single(records[needs_single], names.filter(flag_array(needs_single)))

    def _add_single(self, records: Numbers, names: pa.ListArray) -> None:
        """Add those identifiers of records of which a work usually has only one: with a prefix in `keys.single()`
        (`urn:doi:`).
        """
        record, values = np.repeat(records, np.diff(numbers(names.offsets))), names.flatten()
        for kind, beginning in enumerate(single()):
            is_of_kind = flags_of(pc.starts_with(values, beginning))
            if is_of_kind.any():
                of_kind = record[is_of_kind]
                kinds = number_array(np.full(len(of_kind), kind, np.int8))
                columns = [number_array(self._work[of_kind]), kinds, values.filter(flag_array(is_of_kind))]
                rows = pa.RecordBatch.from_arrays(columns, schema=SINGLE)
                self._single.add(self._component[of_kind] % _PARTS, rows)

    def clusters(
        self,
        agree: Sequence[str],
        never: Iterable[tuple[int, int]] = (),
        on_works: Callable[[int], object] = lambda _: None,
        results: Results = map,
    ) -> SplitComponents:
        """Split all components into clusters whose works do not conflict in the aspects `agree`, and return the
        clusters; called once, after all records were added. A work is a record, or several records of N-Triples with
        the same subject.

        `never`: pairs of works of a component that are never in one cluster: numbers from 0, the smaller first. If
        `agree` and `never` are empty, nothing is compared: each component is a cluster, except that works of too large
        components are not joined. `on_works` is called with the number of works of each batch after its comparison.
        `results` calls the function that splits a batch, perhaps in processes. Raises FatalError if the disk fails or a
        process dies.
        """
        # Reasons of each work.
        reasons = np.zeros(len(self._begins), np.uint16)
        reasons[self._is_large[self._component[self._begins]]] = TOO_LARGE
        apart = sorted(set(never))
        if not agree and not apart:
            first, other = self._joined.pairs()
            stays = ~self._is_large[self._component[first]]
            return SplitComponents([(first[stays], other[stays])], reasons[self._work], self._too_large())
        joined = []
        for batch in results(split_components, self._batches(agree, apart)):
            on_works(batch.works)
            first, other = self._begins[batch.joined]
            joined.append((first, other))
            reasons[batch.apart] = batch.reasons
        return SplitComponents(joined, reasons[self._work], self._too_large())

    def _batches(self, agree: Sequence[str], never: Iterable[tuple[int, int]]) -> Iterator[ComponentBatch]:
        """Yield the components with two to `max_cluster` works, in batches, and remove their descriptions. `agree`:
        aspects that are compared. `never`: pairs of works that are never joined.
        """
        shared_edges = self._joined
        of_edge = self._component[shared_edges.record]
        # Sorted by part, then by identifier.
        order = np.lexsort((shared_edges.identifier, of_edge % _PARTS))
        order = order[self._is_shared[of_edge[order]]]
        bounds = np.searchsorted(of_edge[order] % _PARTS, np.arange(_PARTS + 1))
        # Pairs of works that are never joined, by part.
        apart: dict[int, list[tuple[int, int]]] = defaultdict(list)
        of_work = self._component[self._begins]
        for pair in never:
            apart[int(of_work[pair[0]]) % _PARTS].append(pair)
        for number in range(_PARTS):
            edges = order[bounds[number] : bounds[number + 1]]
            if not len(edges):
                continue
            described, of_single = self._described.take(number), self._single.take(number)
            identifier = shared_edges.identifier[edges]
            work = self._work[shared_edges.record[edges]]
            level = shared_edges.level[identifier]
            yield ComponentBatch(of_edge[edges], identifier, level, work, described, agree, apart[number], of_single)

    def _too_large(self) -> list[tuple[int, int]]:
        large = np.flatnonzero(self._is_large)
        large = large[np.argsort(-self._sizes[large], kind="stable")]
        # Components are numbered from 1.
        _, first = np.unique(self._component[self._begins], return_index=True)
        return [(int(self._begins[first[component - 1]]), int(self._sizes[component])) for component in large.tolist()]
