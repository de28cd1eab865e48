"""Records of MARC in the exchange format, with any fault that is wanted."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["book", "marc"]

Field = tuple[bytes, bytes]
"""A tag, and what stands in the field."""


def marc(
    *fields: Field, length: int | None = None, base: int | None = None, width: Callable[[bytes], int] = len
) -> bytes:
    """A record of these fields. `length` and `base`: what the leader says, if it is wrong. `width` counts the bytes of a
    field for the directory.
    """
    directory = data = b""
    start = 0
    for tag, value in fields:
        directory += tag + b"%04d%05d" % (min(width(value) + 1, 9999), min(start, 99999))
        data += value + b"\x1e"
        start += width(value) + 1
    true_base = 24 + len(directory) + 1
    true_length = true_base + len(data) + 1
    return (
        b"%05dnam a22%05d   4500" % (true_length if length is None else length, true_base if base is None else base)
        + directory
        + b"\x1e"
        + data
        + b"\x1d"
    )


def book(number: int, *fields: Field, **wrong: int) -> bytes:
    """A record of MARC 21 with a control number and a title, and other fields; `wrong`: see `marc`."""
    return marc((b"001", b"%d" % number), (b"245", b"10\x1faThe lamp"), *fields, **wrong)
