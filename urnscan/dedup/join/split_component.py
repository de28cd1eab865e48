"""A component (a group of records that shared identifiers connect) split into clusters whose records do not conflict.

Records are joined along the identifiers that they share. The strongest links come first: those with the most rules that
find no difference, then those with the most shared identifiers. No cluster contains two records that conflict. Where
equally strong links connect clusters that conflict, two of these are joined only if both conflict with the same others.
So no cluster depends on the order of the records.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from urnscan.dedup.compare.agreement import (
    ASPECTS,
    Comparison,
    Rule,
    compare_features,
    have_other_authors,
    is_surely_same,
)
from urnscan.dedup.compare.features import features
from urnscan.dedup.join.union_find import least_connected
from urnscan.records.description import Description
from urnscan.records.keys import single as single_kinds

Identifiers = Mapping[int, set[str]]
"""Identifiers of a record, by their kind: the key is an index in `keys.single()`, for example that of `urn:doi:`."""
_ALL = frozenset(range(len(single_kinds())))
_URNS = frozenset(number for number, beginning in enumerate(single_kinds()) if beginning.startswith("urn:"))
REASONS = (*ASPECTS, "chain", "max-cluster", "unsure", "never-join", "no-title")
"""Reasons why people should look at a record, mostly because it shares an identifier with a record of another cluster.
A set of reasons is a number: bit i (1 << i) for REASONS[i].

An aspect (`title`, `year`): the two conflict in the aspect. `chain`: the two do not conflict, but to join them would
bring records that conflict into a cluster, or would be a choice between two clusters that conflict. `max-cluster`:
their component is too large. `unsure`: they share only a supporting key, and their descriptions do not agree; or only a
number of a catalogue, and have different DOIs, ISBNs, ISSNs or NBNs. `never-join`: a user's table excludes the pair.
`no-title`: no record of the cluster has a title, so descriptions cannot confirm the cluster.
"""
_CHAIN, TOO_LARGE, _UNSURE, _NEVER, NO_TITLE = (
    1 << REASONS.index(name) for name in ("chain", "max-cluster", "unsure", "never-join", "no-title")
)


def split(
    described: Sequence[Description],
    shared: Iterable[Sequence[int]],
    rules: Sequence[Rule],
    unsure: Iterable[Sequence[int]] = (),
    never: Iterable[tuple[int, int]] = (),
    single: Sequence[Identifiers] = (),
    citations: Iterable[Sequence[int]] = (),
    copied: Iterable[Sequence[int]] = (),
) -> tuple[list[int], list[int]]:
    """Split a component (a group of records that shared identifiers connect) into clusters whose records do not
    conflict. Records have the numbers 0, 1, …

    * `described`: the description of each record.
    * `shared`: for each identifier, except those in `unsure` and `copied`, the records that share it.
    * `rules`: the rules by which two records conflict.
    * `unsure`: for each supporting key, the records that share it; it joins only records whose titles, authors, years and
      parts match.
    * `never`: pairs of records that are never joined; the smaller number comes first.
    * `single`: the identifiers of each record of which a work has a single one, by kind; empty: no such identifiers.
    * `citations`: pairs of records that describe the same article by their citations.
    * `copied`: for each number of a catalogue, the records that share it.

    A number of a catalogue joins no records with different URNs of a kind (two DOIs), unless identifiers in `shared`
    connect them. Records that share only a supporting key or a citation are not joined, nor are their clusters, if
    identifiers of a kind or authors differ.

    Returns two lists with an element for each record: the number of the first record of its cluster, and the set of
    REASONS as bits, 0 without a reason.
    """
    count = len(described)
    # For each record, a bit for each record that conflicts with it.
    against = [0] * count
    compared = _compared(described, rules)
    aspects = {pair: comparison.against for pair, comparison in compared.items() if comparison.against}
    for pair in never:
        aspects[pair] = aspects.get(pair, 0) | _NEVER
    shared, copied = list(shared), list(copied)
    single = single or [{}] * count
    of_group = least_connected(pair for pair in _pairs(shared) if pair not in aspects)
    copies = dict.fromkeys(_unsure_copies(copied, of_group, single), _UNSURE)
    aspects = copies | aspects
    for one, other in aspects:
        _oppose(against, one, other)
    unsure, citations = list(unsure), list(citations)
    if not aspects and not unsure and not citations:
        return [0] * count, _untitled([0] * count, described, rules)
    # Number of identifiers that two records share.
    weights: dict[tuple[int, int], int] = defaultdict(int)
    for pair in _pairs(shared):
        weights[pair] += 1
    group = list(range(count))
    # Numbers of catalogues in doubt separate no records that other sure keys join.
    if copies:
        _join_strongest_first(group, weights, compared, aspects, against)
    for pair in _pairs(copied):
        weights[pair] += 1
    # The same number for pairs that share no sure key.
    unsure_weights: dict[tuple[int, int], int] = defaultdict(int)
    # Pairs that share a supporting key, but are not definitely the same.
    apart: set[tuple[int, int]] = set()
    for pair in _pairs(unsure):
        one, other = pair
        if pair in weights:
            weights[pair] += 1
        elif is_surely_same(described[one], described[other]) and not _differ(single[one], single[other]):
            unsure_weights[pair] += 1
        elif pair not in aspects:
            apart.add(pair)
    for one, other in map(sorted, citations):
        if (one, other) not in weights and not _differ(single[one], single[other]):
            unsure_weights[one, other] += 1
    _join_strongest_first(group, weights, compared, aspects, against)
    if unsure_weights:
        for one, other in itertools.combinations(range(count), 2):
            is_new = group[one] != group[other] and (one, other) not in weights
            if is_new and (_differ(single[one], single[other]) or have_other_authors(described[one], described[other])):
                _oppose(against, one, other)
        _join_strongest_first(group, unsure_weights, compared, aspects, against)
    whys = {pair: aspects.get(pair, _CHAIN) for pair in (*weights, *unsure_weights)}
    for pair in apart:
        whys[pair] = whys.get(pair, 0) | _UNSURE
    reasons = [0] * count
    for (one, other), why in whys.items():
        if group[one] != group[other]:
            reasons[one] |= why
            reasons[other] |= why
    return group, [one | other for one, other in zip(reasons, _untitled(group, described, rules), strict=True)]


def _untitled(group: Sequence[int], described: Sequence[Description], rules: Sequence[Rule]) -> list[int]:
    """NO_TITLE for each record in a cluster of several records without a title, else 0; all 0 if no rule compares
    titles. `group`: cluster of each record.
    """
    if all(rule.aspect != "title" for rule in rules):
        return [0] * len(group)
    sizes = Counter(group)
    titled = {number for number, each in zip(group, described, strict=True) if each.title}
    return [NO_TITLE if sizes[number] > 1 and number not in titled else 0 for number in group]


def _compared(described: Sequence[Description], rules: Sequence[Rule]) -> dict[tuple[int, int], Comparison]:
    """Results of the comparison of all pairs of records, by pair, the smaller number first."""
    number: dict[Description, int] = {}
    numbers = [number.setdefault(description, len(number)) for description in described]
    different = [features(description) for description in number]
    known = {
        (one, other): compare_features(different[one], different[other], rules)
        for one, other in itertools.combinations_with_replacement(range(len(different)), 2)
        if one != other or len(different) < len(numbers)
    }
    return {
        (one, other): known[min(numbers[one], numbers[other]), max(numbers[one], numbers[other])]
        for one, other in itertools.combinations(range(len(numbers)), 2)
    }


def _pairs(shared: Iterable[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Pairs of records that share an identifier; a pair comes once for each identifier."""
    for records in shared:
        yield from itertools.combinations(sorted(records), 2)


def _oppose(against: list[int], one: int, other: int) -> None:
    against[one] |= 1 << other
    against[other] |= 1 << one


def _unsure_copies(
    copied: Iterable[Sequence[int]], of_group: Mapping[int, int], single: Sequence[Identifiers]
) -> Iterator[tuple[int, int]]:
    """Yield the pairs that share only a number of a catalogue, and have different URNs of a kind. `copied`: records of
    each such number. `of_group`: the group to which other sure keys connect a record.
    """
    for one, other in _pairs(copied):
        is_connected = of_group.get(one, one) == of_group.get(other, other)
        if not is_connected and _differ(single[one], single[other], _URNS):
            yield one, other


def _differ(one: Identifiers, other: Identifiers, kinds: AbstractSet[int] = _ALL) -> bool:
    """Whether there is a kind, among `kinds`, of which both records have identifiers, but none in common."""
    return any(one[kind].isdisjoint(other[kind]) for kind in one.keys() & other.keys() & kinds)


def _join_strongest_first(
    group: list[int],
    weights: Mapping[tuple[int, int], int],
    compared: Mapping[tuple[int, int], Comparison],
    aspects: Mapping[tuple[int, int], int],
    against: Sequence[int],
) -> None:
    """Join the groups of the pairs in `weights`, except conflicts (`aspects`); changes `group`, the group of each
    record. Pairs that agree by the most rules come first, then those with the most shared identifiers. `against`: for
    each record, a bit for each record that conflicts with it.
    """
    # Pairs by the numbers of equal aspects and of shared identifiers.
    by_strength: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for pair, weight in weights.items():
        if pair not in aspects:
            by_strength[compared[pair].same, weight].append(pair)
    for _, pairs in sorted(by_strength.items(), reverse=True):
        _join(group, pairs, against)


def _join(group: list[int], pairs: Iterable[tuple[int, int]], against: Sequence[int]) -> None:
    """Join the groups that pairs of records connect, all pairs at once, so that their order does not matter; changes
    `group`, the group of each record. If C is linked with A and with B, and A conflicts with B, C stays alone.
    `against`: for each record, a bit for each record that conflicts with it.
    """
    links = {(group[one], group[other]) for one, other in pairs if group[one] != group[other]}
    if not links:
        return
    of_group = least_connected(links)
    # For each group, a bit for each record in it.
    members: dict[int, int] = defaultdict(int)
    # For each group, a bit for each record that conflicts with a record in it.
    hostile: dict[int, int] = defaultdict(int)
    for record, mine in enumerate(group):
        members[mine] |= 1 << record
        hostile[mine] |= against[record]
    neighbours: dict[int, list[int]] = defaultdict(list)
    for number, leader in of_group.items():
        neighbours[leader].append(number)
    foes = {
        number: frozenset(other for other in neighbours[leader] if members[other] & hostile[number])
        for number, leader in of_group.items()
    }
    merged = least_connected((one, other) for one, other in links if foes[one] == foes[other])
    for record, mine in enumerate(group):
        group[record] = merged.get(mine, mine)
