"""The first bytes of an input, which choose the options of a target."""

from __future__ import annotations

__all__ = ["split"]


def split(data: bytes, count: int) -> tuple[bytes, bytes]:
    """The bytes that choose, 0 where there are too few, and those that are given to what is tested.

    >>> split(b"abc", 2), split(b"", 2)
    ((b'ab', b'c'), (b'\\x00\\x00', b''))
    """
    return data[:count].ljust(count, b"\0"), data[count:]
