"""Prefixes of names, which select the names to keep (`--nid`), and their compiled comparison with bytes.

A prefix is a NID (`isbn`), or a NID and the first characters of an NSS (`nbn:de`). It must end where a word of the name
ends: `nbn:de` is a prefix of `urn:nbn:de:101` and `urn:nbn:de-1`, but not of `urn:nbn:den:1`. With a `*` at its end,
any text may follow (`isbn:978*`, `schemas-*`). Case does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import is_alnum, lower
from urnscan.compiled.bytes import ByteArray
from urnscan.compiled.jit import compiled, inner, read_only
from urnscan.errors import ArgumentError, InvalidURN
from urnscan.urn.parser import parse
from urnscan.urn.syntax import Syntax

_SCHEME, _ANYTHING = "urn:", "*"


class Beginnings(NamedTuple):
    """Prefixes of names, such as `isbn:` and `nbn:de`, as arrays for compiled code."""

    data: ByteArray
    """The prefixes without `urn:`, in lower case, concatenated."""
    ends: npt.NDArray[np.int32]
    """For each prefix, the index in `data` after its last byte."""
    are_whole: npt.NDArray[np.uint8]
    """1 for each prefix that no letter or digit may follow in a name (`nbn:de` is no prefix of `nbn:den`), else 0."""


def read_beginnings(name: str, values: Iterable[str], syntax: Syntax) -> tuple[str, ...]:
    """The prefixes that the values of an option name: in lower case, without `urn:` and without duplicates, in the
    order of the values.

    A NID alone has nothing at its end: `isbn:` and `isbn:*` -> `isbn`. Any other `*` stays; `*` alone fits every name.
    `name` is the option, for messages. Raises ArgumentError for a prefix that no name of the syntax can have, or with a
    component.

    >>> from urnscan.urn.syntax import get_syntax
    >>> read_beginnings("nid", ["urn:ISBN:", "nbn:DE", "schemas-*", "isbn"], get_syntax("rfc2141"))
    ('isbn', 'nbn:de', 'schemas-*')
    """
    return tuple(dict.fromkeys(_read(name, value, syntax) for value in values))


def _read(name: str, value: str, syntax: Syntax) -> str:
    text = value.strip().lower().removeprefix(_SCHEME)
    stem = text.removesuffix(_ANYTHING)
    nid, colon, nss = stem.partition(":")
    if text == _ANYTHING:
        return text
    if not nid:
        raise ArgumentError(f"{name} names no namespace; write it like isbn or nbn:de")
    # If an example with this prefix can be parsed, names can have the prefix.
    more = "x" if stem != text and not colon else ""
    try:
        is_in_nss = parse(f"{_SCHEME}{nid}{more}:{nss or 'x'}", syntax.name).nss == (nss or "x")
    except InvalidURN as error:
        raise ArgumentError(f"{name}: no URN begins with {value!r}: {error.reason}") from None
    if not is_in_nss:
        raise ArgumentError(f"{name}: {value!r} contains a component, which is not part of the NSS; leave it out")
    return text if nss or more else nid


def compiled_beginnings(beginnings: Sequence[str]) -> Beginnings:
    """The prefixes that `read_beginnings` returned, in the same order, as arrays for compiled code. A NID alone gets a
    colon; the `*` is removed.
    """
    texts = [text if ":" in text or text.endswith(_ANYTHING) else f"{text}:" for text in beginnings]
    stems = [text.removesuffix(_ANYTHING) for text in texts]
    are_whole = [text[-1].isalnum() and text[-3] != "%" for text in texts]
    return Beginnings(
        read_only(np.frombuffer("".join(stems).encode(), np.uint8)),
        read_only(np.cumsum([len(stem) for stem in stems], dtype=np.int32)),
        read_only(np.array(are_whole, np.uint8)),
    )


def with_beginnings(
    data: ByteArray, offsets: npt.NDArray[np.int32], beginnings: Sequence[str]
) -> npt.NDArray[np.bool_]:
    """For each canonical form (with `urn:`) of a column, whether the name has one of the prefixes in `beginnings`, a
    result of `read_beginnings`; all False without prefixes. Form i is `data[offsets[i]:offsets[i + 1]]`.

    The prefix `nbn:de` fits `urn:nbn:de:101`, but not `urn:nbn:den:1`; `nbn:de*` fits both.
    """
    flags = np.empty(len(offsets) - 1, np.bool_)
    _mark(data, offsets, compiled_beginnings(beginnings), flags)
    return flags


@compiled
def _mark(
    data: ByteArray, offsets: npt.NDArray[np.int32], beginnings: Beginnings, flags: npt.NDArray[np.bool_]
) -> None:
    for i in range(len(flags)):
        flags[i] = begins(data, offsets[i] + 4, offsets[i + 1], beginnings)


@inner
def begins(data: ByteArray, start: int, end: int, beginnings: Beginnings) -> bool:
    """Whether the name in `data[start:end]` (the URN without `urn:`, in any case) has one of the prefixes in
    `beginnings`; False if there are none.
    """
    first = 0
    for number in range(len(beginnings.ends)):
        last = beginnings.ends[number]
        after = start + last - first
        if after <= end:
            i = 0
            while first + i < last and lower(data[start + i]) == beginnings.data[first + i]:
                i += 1
            if first + i == last and not (beginnings.are_whole[number] and after < end and is_alnum(data[after])):
                return True
        first = last
    return False
