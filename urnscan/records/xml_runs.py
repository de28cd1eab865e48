"""Elements of XML in a usual form, like nearly all records: one call of compiled code finds many of them.

`xml_records` finds the other records one by one.
"""

from __future__ import annotations

from urnscan.compiled.jit import compiled, inner
from urnscan.compiled.octets import Integers, Octets, find_octet

_LESS, _SLASH, _GREATER, _QUOTE, _APOSTROPHE = b"</>\"'"
# Octets after the `<` of comments, CDATA sections, declarations and instructions.
_HIDING = tuple(b"!?")
# Octets that may follow the name in a tag.
_BEHIND = tuple(b" \t\n\v\f\r/>")


@inner
def _stands(name: Octets, octets: Octets, at: int) -> bool:
    """Whether a whole name is at a place. An octet has to follow it."""
    behind = at + len(name)
    if behind >= len(octets):
        return False
    for place in range(len(name)):
        if octets[at + place] != name[place]:
            return False
    return octets[behind] in _BEHIND


@inner
def _start_tag(octets: Octets, at: int) -> int:
    """Place of the `>` that ends the start tag around `at`; 0 if the element is empty, or the tag is unusual or not whole.

    A tag is unusual if it has an apostrophe, or a `>` in the value of an attribute.
    """
    quotes = 0
    while at < len(octets) and octets[at] != _GREATER:
        if octets[at] == _LESS or octets[at] == _APOSTROPHE:
            return 0
        quotes += octets[at] == _QUOTE
        at += 1
    return at if at < len(octets) and octets[at - 1] != _SLASH and quotes % 2 == 0 else 0


@compiled
def find_elements(octets: Octets, at: int, name: Octets, starts: Integers, ends: Integers) -> int:
    """Find the elements with a name, from `at` on, up to the first other tag or the first element that is unusual or not whole.

    Returns the number of elements. An element is unusual if it contains a comment or the like, or another element with the
    name, or if its end tag has white space. Text between elements is ignored.
    """
    for count in range(len(starts)):
        start = at = find_octet(octets, at, len(octets), _LESS)
        at = _start_tag(octets, at + 1) if _stands(name, octets, at + 1) else 0
        if not at:
            return count
        while True:
            at = find_octet(octets, at + 1, len(octets), _LESS)
            if at + 1 >= len(octets) or octets[at + 1] in _HIDING:
                return count
            is_end = octets[at + 1] == _SLASH
            if _stands(name, octets, at + 1 + is_end):
                at += 2 + len(name)
                if not is_end or octets[at] != _GREATER:
                    return count
                break
        at += 1
        starts[count], ends[count] = start, at
    return len(starts)
