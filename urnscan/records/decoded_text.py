"""Text of records: decoding, replacement of surrogates and controls."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SURROGATE = re.compile("[\ud800-\udfff]")
# Characters that end a line or are invisible.
_CONTROL = re.compile("[\0-\x1f\x7f]+")


def whole(text: str) -> str:
    """Return a text with U+FFFD instead of halves of surrogate pairs, which some formats can escape and UTF-8 cannot
    encode.
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def decoded(data: bytes) -> str:
    """Return bytes of UTF-8 as text; bytes that are not UTF-8 become U+FFFD."""
    return data.decode("utf-8", "replace")


def first_name(texts: Iterable[str | None]) -> str | None:
    """The ID of a record: the first text that is neither None nor blank, without white space around; None if there is
    none.
    """
    return next(filter(None, (text.strip() for text in texts if text)), None)


def in_line(text: str) -> str:
    """Return a text with a space instead of each sequence of control characters, to show it in a line."""
    return _CONTROL.sub(" ", text)
