"""Text of records: decoded, whole, and in a line."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\0-\x1f\x7f]+")  # what would end a line, or is invisible


def whole(text: str) -> str:
    """Replace halves of surrogate pairs, which some formats can escape and UTF-8 cannot hold."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def decoded(octets: bytes) -> str:
    """Decode UTF-8; octets that are no UTF-8 become U+FFFD."""
    return octets.decode("utf-8", "replace")


def first_name(texts: Iterable[str | None]) -> str | None:
    """The name of a record: the first text that is not blank, without white space around it; None if there is none."""
    return next(filter(None, (text.strip() for text in texts if text)), None)


def in_line(text: str) -> str:
    """A part of a record as it is shown in a line, without control characters."""
    return _CONTROL.sub(" ", text)
