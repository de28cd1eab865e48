"""Union-find: connected numbers or records, a few at a time. `components` does the same for all records, in columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

_Node = TypeVar("_Node", bound=Hashable)


def leader(leaders: dict[_Node, _Node], node: _Node) -> _Node:
    """Return the node that represents all nodes that are connected with `node`.

    `leaders` maps each node to another connected node, or to itself. A new node is added, and ways become shorter.
    """
    while (above := leaders.setdefault(node, node)) != node:
        leaders[node] = node = leaders[above]
    return node


def least_connected(links: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return, for each number in `links`, the least number that is connected with the number."""
    leaders: dict[int, int] = {}
    for one, other in links:
        a, b = leader(leaders, one), leader(leaders, other)
        leaders[max(a, b)] = min(a, b)
    return {number: leader(leaders, number) for number in list(leaders)}
