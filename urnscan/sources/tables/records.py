"""JSON text as records, one after the other: JSON Lines, values in a row, the elements of an array.

Python's own decoder reads the records: beside it, one that gives events took as long, and would be one more dependency.
"""

import functools
import json
import re
from collections.abc import Iterable, Iterator

from urnscan.errors import SourceError
from urnscan.sources.documents import Values
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader
from urnscan.sources.tables.text import Text
from urnscan.sources.tables.values import LONGEST, Failures, Gathered, below, in_place, in_words, no_column

__all__ = ["read_records"]

_NEAR = 16  # characters before the end within which the decoder is wrong about what is not whole
_WINDOW = 1 << 11  # characters that the decoder gets at first: what it says of a failure takes time by their number
_PATIENCE = 1 << 23  # characters to look at once more in all, behind the lines of damaged records
_FIELDS = 100  # names of fields that are kept for an error
_BETWEEN = re.compile("[ \t\r\n,\x1e\ufeff]*")  # lenient: what is between records is none of ours
_SURROGATES = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # those that do not stand for an octet


class _Repeated(dict[str, list[object]]):
    """An object in which a key stands twice: all values of each key."""


def _object(members: list[tuple[str, object]]) -> dict[str, object] | _Repeated:
    """An object of these members, of which a dictionary would lose some if a key stands twice."""
    found = dict(members)
    if len(found) == len(members):
        return found
    repeated = _Repeated()
    for key, value in members:
        repeated.setdefault(key, []).append(value)
    return repeated


# Whole numbers as floats: Python refuses those of many digits, and they are not looked at.
_decode = json.JSONDecoder(parse_int=float, object_pairs_hook=_object).raw_decode


def read_records(reader: Reader, layer: Layer) -> Iterator[Values | SourceError]:
    """The strings in the named fields of the records in a text of JSON; a damaged record ends at its line.

    Raises SourceError where it cannot be read to its end.
    """
    text = Text(reader)
    gathered = Gathered(layer)
    failures = Failures(layer.name, "records")
    fields: dict[str, None] = {}
    found: set[str] = set()
    columns = layer.reading.columns
    names = {column: in_place(column) for column in columns}
    in_array = failed = False
    number = 0
    window = _WINDOW
    patience = _PATIENCE
    while True:
        if text.is_at_end(_BETWEEN):
            if text.more():
                continue
            if text.damage is None:
                break
            yield from gathered.take()
            yield text.end_damage()
            text.skip_line()
            continue
        if text.text[text.at] == "[]"[in_array]:
            in_array = not in_array
            text.at += 1
            continue
        part = text.text[text.at : text.at + window]
        held = text.at + len(part) == len(text.text)
        try:
            record, end = _decode(part)
            if isinstance(record, float) and end >= len(part) - _NEAR and (not held or text.more()):
                window *= 2  # it may have more digits
                continue
        except (ValueError, RecursionError, MemoryError) as error:
            too_long = len(part) > LONGEST
            if _may_go_on(error, part) and not too_long and (not held or text.more()):
                window *= 2
                continue
            if (text.damage is not None or text.error is not None) and held:
                text.at = len(text.text)
                continue
            reason = f"more than {LONGEST:,} characters" if too_long else _reason(error)
            where = text.octet(text.at)
            seen = text.at + (error.pos if isinstance(error, json.JSONDecodeError) else len(part))
            line_end = text.text.find("\n", text.at, seen)
            if line_end >= 0:
                patience -= seen - line_end
            is_far = line_end >= 0 and patience < 0
            if is_far:
                text.at = seen
            rest = "" if text.skip_line() else "; what follows it is not read"
            if is_far and not rest:
                rest = f"; read on at octet {text.octet(text.at)}"
            yield from failures.one(f"record {number} at octet {where} damaged: {reason}{rest}")
            failed = True
            window = _WINDOW
        else:
            text.at += end
            window = max(_WINDOW, 2 * end)
            if not found and isinstance(record, dict) and len(fields) < _FIELDS:
                fields |= dict.fromkeys(map(in_place, record))
            for column in columns:
                value = record.get(column) if isinstance(record, dict) else None
                if isinstance(value, str):  # so it is mostly
                    found.add(column)
                    strings: Iterable[tuple[str, str]] = ((names[column], value),)
                else:
                    strings = _strings(record, column, found)
                for place, value in strings:
                    if gathered.add(_octets(value, plain=text.plain), number, place):
                        yield from gathered.take()
        number += 1
    yield from gathered.take()
    yield from failures.rest()
    text.raise_error()
    if in_array:
        yield SourceError(layer.name, f"ends at octet {text.octet(text.at)} within an array")
    if number and not failed and not found:
        yield no_column(layer, layer.reading.columns, fields)


def _may_go_on(error: BaseException, text: str) -> bool:
    """Whether the decoder may have failed because the rest of the record is not there yet."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.pos >= len(text) - _NEAR or error.msg.startswith("Unterminated string")


def _reason(error: BaseException) -> str:
    return error.msg.removesuffix(" at") if isinstance(error, json.JSONDecodeError) else in_words(error)


def _octets(value: str, *, plain: bool) -> bytes:
    """A string as the octets that it was; half of a surrogate pair, which can be escaped, is U+FFFD."""
    try:
        return value.encode()
    except UnicodeEncodeError:
        lone = _SURROGATES if plain else _ESCAPED
        return lone.sub("\ufffd", value).encode("utf-8", "surrogateescape")


def _strings(record: object, column: str, found: set[str]) -> Iterator[tuple[str, str]]:
    """The strings that a dotted path leads to, each with its own place; `found` gets the path if it leads anywhere."""
    waiting = [iter([(record, column, "")])]  # one for each level, so that no places are held that are not needed
    while waiting:
        value, path, place = next(waiting[-1], (None, None, ""))
        if path is None:
            waiting.pop()
            continue
        if not path:
            found.add(column)
        if isinstance(value, str):
            if not path:
                yield place, value
        elif isinstance(value, list):
            waiting.append(_elements(value, path, place))
        elif isinstance(value, dict):
            waiting.append(_members(value, path, place))


def _elements(values: list[object], path: str, place: str) -> Iterator[tuple[object, str, str]]:
    for at, value in enumerate(values):
        if isinstance(value, str | dict | list):
            yield value, path, below(place, f"[{at}]")


def _members(values: dict[str, object], path: str, place: str) -> Iterator[tuple[object, str, str]]:
    for key, rest in _ways(path) if path else ((key, "") for key in values):
        if key in values:
            for value in values[key] if isinstance(values, _Repeated) else (values[key],):
                yield value, rest, below(place, f".{in_place(key)}" if place else in_place(key))


@functools.lru_cache
def _ways(path: str) -> list[tuple[str, str]]:
    """The names with which a path can begin, each with its rest: dots may belong to a name."""
    ends = [at for at, character in enumerate(path) if character == "."] + [len(path)]
    return [(path[:end], path[end + 1 :]) for end in ends]
