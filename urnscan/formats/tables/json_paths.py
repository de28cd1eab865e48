"""Strings at a dotted path in a JSON value. Objects are tuples of (name, value) pairs, as a name may occur twice."""

import functools
from collections.abc import Iterable, Iterator

from urnscan.formats.tables.values import below, in_place

_Part = tuple[object, str, str]  # a value, the rest of the path, the place of the value


def strings(record: object, column: str, present: set[str]) -> Iterable[tuple[str, str]]:
    """Return pairs (place, string) for the strings at the dotted path `column` in a JSON value, in the order of the
    text.

    An object in `record` is a tuple of (name, value) pairs. All strings in the array or object at the path count, at
    any depth, and the path leads through arrays: `a.b` has places such as `a.b`, `a[0].b` and `a.b[2].c`. A name may
    contain dots. Once all pairs were iterated over, `column` is in the set `present` if the path exists, even without a
    string.

    >>> list(strings((("a", ((("b", "x"), ("c", 1))),),), "a.b", set()))
    [('a.b', 'x')]
    """
    if isinstance(record, tuple):
        values = [value for name, value in record if name == column]
        # Fast path for the usual case.
        if len(values) == 1 and isinstance(values[0], str) and "." not in column:
            present.add(column)
            return ((in_place(column), values[0]),)
    return _strings(record, column, present)


def _strings(record: object, column: str, present: set[str]) -> Iterator[tuple[str, str]]:
    # Without recursion, because values may be nested deeply.
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
    """Yield (element, rest of the path, its place) for the elements of an array, or the members of an object, to which
    `path` may lead ("": to all). `place`: of `value`.
    """
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
    """Map each possible first name of a path to the rest, as a name may contain dots: `_ways("a.b")` -> `{"a": "b",
    "a.b": ""}`.
    """
    ends = [at for at, character in enumerate(path) if character == "."] + [len(path)]
    return {path[:end]: path[end + 1 :] for end in ends}
