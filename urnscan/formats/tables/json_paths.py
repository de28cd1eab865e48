"""Strings in a value of JSON to which a dotted path leads. Objects are tuples of pairs, as a name may occur twice."""

import functools
from collections.abc import Iterable, Iterator

from urnscan.formats.tables.values import below, in_place

_Part = tuple[object, str, str]  # a value, the path that leads on from it, its place


def strings(record: object, column: str, present: set[str]) -> Iterable[tuple[str, str]]:
    """Strings to which a path leads, each with its own place; `present` gets the path if it leads anywhere.

    >>> list(strings((("a", ((("b", "x"), ("c", 1))),),), "a.b", set()))
    [('a.b', 'x')]
    """
    if isinstance(record, tuple):
        values = [value for name, value in record if name == column]
        # The usual case.
        if len(values) == 1 and isinstance(values[0], str) and "." not in column:
            present.add(column)
            return ((in_place(column), values[0]),)
    return _strings(record, column, present)


def _strings(record: object, column: str, present: set[str]) -> Iterator[tuple[str, str]]:
    # No recursion: values may nest deep.
    levels: list[Iterator[_Part]] = [iter([(record, column, "")])]
    while levels:
        part = next(levels[-1], None)
        if part is None:
            levels.pop()
            continue
        value, path, place = part
        if not path:
            present.add(column)
        if isinstance(value, list | tuple):
            levels.append(_inside(value, path, place))
        elif isinstance(value, str) and not path:
            yield place, value


def _inside(value: list[object] | tuple[tuple[str, object], ...], path: str, place: str) -> Iterator[_Part]:
    """Elements or members of a value to which a path may lead, with the rest of it."""
    if isinstance(value, list):
        for at, element in enumerate(value):
            if isinstance(element, str | tuple | list):
                yield element, path, below(place, f"[{at}]")
    else:
        ways = _ways(path)
        for name, member in value:
            if not path or name in ways:
                yield member, ways.get(name, ""), below(place, f".{in_place(name)}" if place else in_place(name))


@functools.lru_cache
def _ways(path: str) -> dict[str, str]:
    """Names with which a path can begin, each with the rest of the path: dots may belong to a name."""
    ends = [at for at, character in enumerate(path) if character == "."] + [len(path)]
    return {path[:end]: path[end + 1 :] for end in ends}
