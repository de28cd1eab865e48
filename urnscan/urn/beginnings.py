"""Beginnings of names, by which names are chosen: read from options, and looked for in octets, compiled.

A beginning is a NID (`isbn`), or a NID and the front of an NSS (`nbn:de`). Behind a letter or digit at its end no other
may follow: `nbn:de` is a beginning of `urn:nbn:de:101` and `urn:nbn:de-1`, not of `urn:nbn:den:1`. A `*` at the end
stands for anything (`isbn:978*`, `schemas-*`). Letters are the same in any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.arrays.ascii import is_alnum, lower
from urnscan.arrays.jit import compiled, inner, read_only
from urnscan.arrays.octets import Octets
from urnscan.errors import ArgumentError, InvalidURN
from urnscan.urn.parser import parse
from urnscan.urn.syntax import Syntax

_SCHEME, _ANYTHING = "urn:", "*"


class Beginnings(NamedTuple):
    """Beginnings as compiled code takes them."""

    octets: Octets
    """The beginnings without their `urn:`, in lower case, end to end."""
    ends: npt.NDArray[np.int32]
    """The end of each in `octets`."""
    are_whole: npt.NDArray[np.uint8]
    """1 where no letter or digit may follow."""


def read_beginnings(name: str, given: Iterable[str], syntax: Syntax) -> tuple[str, ...]:
    """The beginnings that the option `name` is given, each once, in lower case, without `urn:` and `:` around a NID.

    Raises ArgumentError for one that no name of the syntax has.

    >>> from urnscan.urn.syntax import get_syntax
    >>> read_beginnings("nid", ["urn:ISBN:", "nbn:DE", "schemas-*", "isbn"], get_syntax("rfc2141"))
    ('isbn', 'nbn:de', 'schemas-*')
    """
    return tuple(dict.fromkeys(_read(name, each, syntax) for each in given))


def _read(name: str, given: str, syntax: Syntax) -> str:
    text = given.strip().lower().removeprefix(_SCHEME)
    stem = text.removesuffix(_ANYTHING)
    nid, colon, nss = stem.partition(":")
    if text == _ANYTHING:
        return text
    if not nid:
        raise ArgumentError(f"{name} names no namespace: write it like isbn or nbn:de")
    # A whole name with this beginning shows whether there are such names.
    more = "x" if stem != text and not colon else ""
    try:
        is_one = parse(f"{_SCHEME}{nid}{more}:{nss or 'x'}", syntax.name).nss == (nss or "x")
    except InvalidURN as error:
        raise ArgumentError(f"{name}: no URN begins like {given!r}: {error.reason}") from None
    if not is_one:
        raise ArgumentError(f"{name}: no URN begins like {given!r}: a component is no part of the NSS")
    return text if nss or more else nid


def compiled_beginnings(beginnings: Sequence[str]) -> Beginnings:
    """Beginnings that `read_beginnings` returned, for compiled code."""
    texts = [text if ":" in text or text.endswith(_ANYTHING) else f"{text}:" for text in beginnings]
    stems = [text.removesuffix(_ANYTHING) for text in texts]
    are_whole = [text[-1].isalnum() and text[-3] != "%" for text in texts]
    return Beginnings(
        read_only(np.frombuffer("".join(stems).encode(), np.uint8)),
        read_only(np.cumsum([len(stem) for stem in stems], dtype=np.int32)),
        read_only(np.array(are_whole, np.uint8)),
    )


def with_beginnings(octets: Octets, offsets: npt.NDArray[np.int32], beginnings: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Whether each canonical form of a column has one of the beginnings, which `read_beginnings` returned."""
    have = np.empty(len(offsets) - 1, np.bool_)
    _mark(octets, offsets, compiled_beginnings(beginnings), have)
    return have


@compiled
def _mark(octets: Octets, offsets: npt.NDArray[np.int32], beginnings: Beginnings, have: npt.NDArray[np.bool_]) -> None:
    for i in range(len(have)):
        have[i] = begins(octets, offsets[i] + 4, offsets[i + 1], beginnings)


@inner
def begins(octets: Octets, start: int, end: int, beginnings: Beginnings) -> bool:
    """Whether the name in `octets[start:end]`, without its `urn:`, has one of the beginnings."""
    first = 0
    for number in range(len(beginnings.ends)):
        last = beginnings.ends[number]
        behind = start + last - first
        if behind <= end:
            i = 0
            while first + i < last and lower(octets[start + i]) == beginnings.octets[first + i]:
                i += 1
            if first + i == last and not (beginnings.are_whole[number] and behind < end and is_alnum(octets[behind])):
                return True
        first = last
    return False
