"""The brake: it keeps records apart that share identifiers, but contradict each other in their descriptions.

`split` cuts the records of one connected component into clusters. `Brake` does so for all components: the descriptions of
records that share anything are spread over parts by their component, and parts are read one at a time.

Records are joined along the identifiers that they share. The strongest links come first: most equal aspects, then most
shared identifiers. No cluster holds two records that contradict each other. Where equally strong links connect clusters
that contradict each other, two of these are joined only if both contradict the same others. So no cluster depends on
the order of the records.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.arrays.arrow import number_array, numbers
from urnscan.dedup.agreement import ASPECTS, Rule, compare, is_surely_same
from urnscan.dedup.components import UNSURE, Joined, Numbers
from urnscan.dedup.never_join import HeldApart
from urnscan.output.spill import Spilled
from urnscan.records.description import NOTHING, Description
from urnscan.records.formats import description_of

REASONS = (*ASPECTS, "chain", "max-cluster", "unsure", "never-join")
"""Why two records that share an identifier are not in one cluster; a set of reasons has a bit for each.

An aspect (`title`, `year`): they contradict each other in it. `chain`: they do not, but to join
them would bring records that do into one cluster, or would be a choice between two such clusters. `max-cluster`: their component is too large. `unsure`: they share only an unsure key,
and nothing says surely that they are the same. `never-join`: a user's table says that they never are.
"""
_CHAIN, TOO_LARGE, _UNSURE, _NEVER = (
    1 << REASONS.index(name) for name in ("chain", "max-cluster", "unsure", "never-join")
)
_PARTS = 64
_IN_MEMORY = 1 << 26  # octets of descriptions in memory; more are spilled
_DESCRIBED = pa.schema([("unit", pa.int32()), ("description", pa.binary())])

Bits = npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Braked:
    """Result of the brake."""

    first: Numbers
    other: Numbers
    """Pairs of records of one cluster."""
    reasons: Bits
    """For each record, bits of REASONS; 0 if all that share an identifier with it are in its cluster."""
    too_large: Sequence[tuple[int, int]]
    """Components of which no record is joined: number of the first record, and of the records; the largest first."""


def split(
    described: Sequence[Description],
    shared: Iterable[Sequence[int]],
    rules: Sequence[Rule],
    unsure: Iterable[Sequence[int]] = (),
    never: Iterable[tuple[int, int]] = (),
) -> tuple[list[int], list[int]]:
    """Cut a component into clusters.

    `described` has the description of each record; `shared` has, for each identifier, the records that share it; `unsure`
    has those that share an unsure key, which joins only records that are surely the same; `never` has pairs of records,
    in order, that are never joined.
    Returns for each record the number of a record of its cluster, the same for all of a cluster, and its reasons.
    """
    count = len(described)
    against = [0] * count  # for each record, a bit for each record that contradicts it
    aspects: dict[tuple[int, int], int] = {}
    same: dict[tuple[int, int], int] = {}
    for pair in itertools.combinations(range(count), 2):
        one, other = pair
        compared = compare(described[one], described[other], rules)
        same[pair] = compared.same
        if compared.against:
            aspects[pair] = compared.against
    for pair in never:
        aspects[pair] = aspects.get(pair, 0) | _NEVER
    for one, other in aspects:
        against[one] |= 1 << other
        against[other] |= 1 << one
    unsure = list(unsure)
    if not aspects and not unsure:
        return [0] * count, [0] * count
    weights: dict[tuple[int, int], int] = defaultdict(int)  # identifiers that two records share
    for records in shared:
        for pair in itertools.combinations(sorted(records), 2):
            weights[pair] += 1
    apart: set[tuple[int, int]] = set()  # pairs that share only what is unsure, and are not surely the same
    for records in unsure:
        for pair in itertools.combinations(sorted(records), 2):
            if pair in weights or is_surely_same(described[pair[0]], described[pair[1]]):
                weights[pair] += 1
            elif pair not in aspects:
                apart.add(pair)
    by_strength: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)  # equal aspects, shared identifiers
    for pair, weight in weights.items():
        if pair not in aspects:
            by_strength[same[pair], weight].append(pair)
    group = list(range(count))
    for _, pairs in sorted(by_strength.items(), reverse=True):
        _join(group, pairs, against)
    reasons = [0] * count
    for pair in weights:
        one, other = pair
        if group[one] != group[other]:
            reasons[one] |= aspects.get(pair, _CHAIN)
            reasons[other] |= aspects.get(pair, _CHAIN)
    for one, other in apart:
        if group[one] != group[other]:
            reasons[one] |= _UNSURE
            reasons[other] |= _UNSURE
    return group, reasons


def _join(group: list[int], pairs: Iterable[tuple[int, int]], against: Sequence[int]) -> None:
    """Join the groups that pairs of records connect, all pairs at once, so that the order of the pairs means nothing.

    Two linked groups are joined if they contradict the same ones of the groups that are connected with them. An example:
    C is linked with A and with B, and A contradicts B. C could go to either of them, so it stays alone.
    """
    links = {(group[one], group[other]) for one, other in pairs if group[one] != group[other]}
    if not links:
        return
    connected = _connected(links)
    members: dict[int, int] = defaultdict(int)  # of each group, a bit for each record
    hostile: dict[int, int] = defaultdict(int)  # of each group, a bit for each record that contradicts one in it
    for record, mine in enumerate(group):
        members[mine] |= 1 << record
        hostile[mine] |= against[record]
    beside: dict[int, list[int]] = defaultdict(list)
    for each, leader in connected.items():
        beside[leader].append(each)
    foes = {
        each: frozenset(other for other in beside[leader] if members[other] & hostile[each])
        for each, leader in connected.items()
    }
    merged = _connected((one, other) for one, other in links if foes[one] == foes[other])
    for record, mine in enumerate(group):
        group[record] = merged.get(mine, mine)


def _connected(links: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Connected components of numbers: the least number of the component of each."""
    parent: dict[int, int] = {}

    def first(each: int) -> int:
        while parent.setdefault(each, each) != each:
            parent[each] = each = parent[parent[each]]
        return each

    for one, other in links:
        a, b = first(one), first(other)
        parent[max(a, b)] = min(a, b)
    return {each: first(each) for each in list(parent)}


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
        self._parts = [Spilled(_DESCRIBED, folder) for _ in range(_PARTS)]
        self._sizes = sizes
        self.things = int(sizes[self._is_shared].sum())
        """Things whose descriptions are compared."""

    def close(self) -> None:
        """Delete the descriptions."""
        for part in self._parts:
            part.close()

    def add(self, records: slice, rows: pa.RecordBatch) -> None:
        """Take the descriptions of records that share anything; `rows` has them. Raises FatalError if the disk is full."""
        component = self._component[records]
        which = np.flatnonzero(self._is_shared[component])
        if not len(which):
            return
        part = component[which] % _PARTS
        unit = self._unit[records][which]
        for number in np.unique(part).tolist():
            some = part == number
            taken = rows.column("description").take(number_array(which[some]))
            self._parts[number].add(pa.RecordBatch.from_arrays([number_array(unit[some]), taken], schema=_DESCRIBED))
        if sum(each.octets for each in self._parts) > _IN_MEMORY:
            for each in self._parts:
                each.spill()

    def clusters(
        self,
        rules: Sequence[Rule],
        never: HeldApart | None = None,
        on_things: Callable[[int], object] = lambda _: None,
    ) -> Braked:
        """Cut all components into clusters. Without `rules` and `never`, only those that are too large are cut.

        `on_things` is called with the number of things compared since its last call. Raises FatalError if the disk fails.
        """
        reasons = np.zeros(len(self._begins), np.uint16)  # by unit
        reasons[self._is_large[self._component[self._begins]]] = TOO_LARGE
        if not rules and never is None:
            pairs = np.stack(self._joined.pairs())
            pairs = pairs[:, ~self._is_large[self._component[pairs[0]]]]
            return Braked(pairs[0], pairs[1], reasons[self._unit], self._too_large())
        of_edge = self._component[self._joined.record]
        order = np.lexsort((self._joined.class_, of_edge % _PARTS))  # by part, then by class
        order = order[self._is_shared[of_edge[order]]]
        bounds = np.searchsorted(of_edge[order] % _PARTS, np.arange(_PARTS + 1))
        first, other = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for number, part in enumerate(self._parts):
            edges = order[bounds[number] : bounds[number + 1]]
            if not len(edges):
                continue
            described = _descriptions(part)
            part.close()
            shared = self._shared(edges)
            linked: list[tuple[int, int]] = []
            for by_class in shared.values():
                units = sorted({unit for _, each in by_class for unit in each})
                on_things(len(units))
                place = {unit: at for at, unit in enumerate(units)}
                group, why = split(
                    [described.get(unit, NOTHING) for unit in units],
                    [[place[unit] for unit in each] for level, each in by_class if level < UNSURE],
                    rules,
                    [[place[unit] for unit in each] for level, each in by_class if level == UNSURE],
                    never.among(units) if never else (),
                )
                linked += [(units[lead], units[at]) for at, lead in enumerate(group) if lead != at]
                for at, bits in enumerate(why):
                    if bits:
                        reasons[units[at]] = bits
            joined = np.array(linked, np.int32).reshape(-1, 2)
            first.append(self._begins[joined[:, 0]])
            other.append(self._begins[joined[:, 1]])
        return Braked(np.concatenate(first), np.concatenate(other), reasons[self._unit], self._too_large())

    def _shared(self, edges: npt.NDArray[np.integer[Any]]) -> dict[int, list[tuple[int, list[int]]]]:
        """For each component of some edges, ordered by class, the level and the units of each class."""
        found: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)
        record = self._joined.record[edges]
        columns = (self._component[record], self._joined.class_[edges], self._unit[record])
        held = zip(*(column.tolist() for column in columns), strict=True)
        level = self._joined.level.tolist()
        for (component, class_), members in itertools.groupby(held, lambda each: each[:2]):
            found[component].append((level[class_], list(dict.fromkeys(unit for _, _, unit in members))))
        return found

    def _too_large(self) -> list[tuple[int, int]]:
        large = np.flatnonzero(self._is_large)
        large = large[np.argsort(-self._sizes[large], kind="stable")]
        _, first = np.unique(self._component[self._begins], return_index=True)  # components are numbered from 1
        return [(int(self._begins[first[each - 1]]), int(self._sizes[each])) for each in large.tolist()]


def _descriptions(part: Spilled) -> dict[int, Description]:
    """Descriptions by unit. Of several records of one unit, the first one that has a value counts, aspect by aspect."""
    found: dict[int, Description] = {}
    for rows in part.batches():
        for unit, packed in zip(numbers(rows.column("unit")).tolist(), rows.column("description"), strict=True):
            now, before = description_of(packed.as_py()), found.get(unit)
            pairs = () if before is None else zip(before, now, strict=True)
            found[unit] = (
                now if before is None else Description(*(was if was is not None else said for was, said in pairs))
            )
    return found
