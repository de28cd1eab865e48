"""Elements of XML in a usual form, like nearly all records: a call of compiled code finds many elements.

`xml_records` finds the other records one by one.
"""

from __future__ import annotations

from urnscan.compiled.bytes import ByteArray, Integers, find_byte
from urnscan.compiled.jit import compiled, inner

_LESS, _SLASH, _GREATER, _QUOTE, _APOSTROPHE = b"</>\"'"
# Bytes after the `<` of comments, CDATA sections, declarations and instructions.
_HIDING = tuple(b"!?")
# Bytes that may follow the name in a tag.
_AFTER_NAME = tuple(b" \t\n\v\f\r/>")


@inner
def _is_at(name: ByteArray, data: ByteArray, at: int) -> bool:
    """Whether the whole name `name` is at index `at`."""
    after = at + len(name)
    if after >= len(data):
        return False
    for place in range(len(name)):
        if data[at + place] != name[place]:
            return False
    return data[after] in _AFTER_NAME


@inner
def _start_tag(data: ByteArray, at: int) -> int:
    """Index of the `>` that ends the start tag in which `at` is; 0 for an empty element, or a tag that is not whole or
    unusual (an apostrophe, a `>` in a value).
    """
    quotes = 0
    while at < len(data) and data[at] != _GREATER:
        if data[at] == _LESS or data[at] == _APOSTROPHE:
            return 0
        quotes += data[at] == _QUOTE
        at += 1
    return at if at < len(data) and data[at - 1] != _SLASH and quotes % 2 == 0 else 0


@compiled
def find_elements(data: ByteArray, at: int, name: ByteArray, starts: Integers, ends: Integers) -> int:
    """Find neighbouring elements `name` (with its prefix: `marc:record`) from index `at` of `data` on. Writes the start
    and end (index in `data`) of each element to `starts` and `ends`, of equal length, and returns the number of
    elements, 0 if the first tag begins none.

    The search ends when these are full, at another tag, or at an element that is not whole or unusual: empty (`<r/>`),
    with a comment, a CDATA section, an instruction or another element of the name inside, or with an apostrophe in its
    start tag. Text between elements is skipped.
    """
    # Also unusual: a start tag with a `>` in a value, and an end tag with white space. Text between elements is ignored.
    for count in range(len(starts)):
        start = at = find_byte(data, at, len(data), _LESS)
        at = _start_tag(data, at + 1) if _is_at(name, data, at + 1) else 0
        if not at:
            return count
        while True:
            at = find_byte(data, at + 1, len(data), _LESS)
            if at + 1 >= len(data) or data[at + 1] in _HIDING:
                return count
            is_end = data[at + 1] == _SLASH
            if _is_at(name, data, at + 1 + is_end):
                at += 2 + len(name)
                if not is_end or data[at] != _GREATER:
                    return count
                break
        at += 1
        starts[count], ends[count] = start, at
    return len(starts)
