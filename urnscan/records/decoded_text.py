"""Text of records: decoding, replacement of surrogates and controls."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SURROGATE = re.compile("[\ud800-\udfff]")
# Characters that end a line or are invisible.
_CONTROL = re.compile("[\0-\x1f\x7f]+")


def whole(text: str) -> str:
    """Return a text with U+FFFD instead of each half of a surrogate pair. Some formats can escape such halves, but
    UTF-8 cannot encode them.
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def decoded(data: bytes) -> str:
    """Decode bytes as UTF-8; bytes that are not UTF-8 become U+FFFD."""
    return data.decode("utf-8", "replace")


def first_name(texts: Iterable[str | None]) -> str | None:
    """Return the first text that has other characters than white space, without white space around it; None if no text
    has any.
    """
    return next(filter(None, (text.strip() for text in texts if text)), None)


def in_line(text: str) -> str:
    """Return a text with a single space instead of each sequence of ASCII control characters (also line ends and tabs),
    to show it in a line.
    """
    return _CONTROL.sub(" ", text)
