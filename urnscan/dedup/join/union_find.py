"""Union-find: groups of connected numbers or records, a few at a time. `components` does the same for all records, in
columns.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

_Node = TypeVar("_Node", bound=Hashable)


def leader(leaders: dict[_Node, _Node], node: _Node) -> _Node:
    """Return the node that represents the group of `node`: the same for all nodes that are connected with it.

    `leaders` maps each node to another node of its group, or to itself; it is changed. A new node is added, as a group
    of its own, and chains of nodes become shorter.
    """
    while (above := leaders.setdefault(node, node)) != node:
        leaders[node] = node = leaders[above]
    return node


def least_connected(links: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return, for each number in `links`, the smallest number of its group. A group has all numbers that links connect,
    directly or through others. `[(1, 2), (5, 2)]` -> `{1: 1, 2: 1, 5: 1}`.
    """
    leaders: dict[int, int] = {}
    for one, other in links:
        a, b = leader(leaders, one), leader(leaders, other)
        leaders[max(a, b)] = min(a, b)
    return {number: leader(leaders, number) for number in list(leaders)}
