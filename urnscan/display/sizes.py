"""Sizes as people write them: `500MB`, `2GiB`."""

from __future__ import annotations

import regex

__all__ = ["octets_of"]

_SIZE = regex.compile(r"([0-9]{1,20})(?:\.([0-9]{1,20}))?\s*(|[kmgt]i?)b?", regex.IGNORECASE)


def octets_of(text: str) -> int:
    """Number of octets in a size: k, M, G, T are powers of 1000, and Ki, Mi, Gi, Ti powers of 1024, in any case.

    Raises ValueError if the text is no size.

    >>> octets_of("500MB"), octets_of("2 GiB"), octets_of("1.5k"), octets_of("7")
    (500000000, 2147483648, 1500, 7)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no size; write it like 500MB or 2GiB")
    whole, part, unit = match[1], match[2] or "", match[3].lower()
    factor: int = (1024 if unit.endswith("i") else 1000) ** " kmgt".index(unit[:1] or " ")
    divisor: int = 10 ** len(part)
    return int(whole + part) * factor // divisor
