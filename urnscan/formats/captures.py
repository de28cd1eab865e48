"""Captures of web archives: when a record was made, what the server answered, and which records are read."""

from __future__ import annotations

import datetime as dt
import functools
import re
from dataclasses import dataclass
from fnmatch import translate

from urnscan.errors import ArgumentError, option

NAMES = ("captured", "status", "mime")
"""Names of the columns about a capture, and of conditions on it."""

_MOMENT = re.compile(
    rb"([0-9]{4})(?:-?([0-9]{2})(?:-?([0-9]{2})"
    rb"(?:T?([0-9]{2})(?::?([0-9]{2})(?::?([0-9]{2})(\.[0-9]+)?)?)?)?)?)?Z?"
)
_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})(?![0-9])")
_CONTENT_TYPE = re.compile(rb"(?i)\nContent-Type[ \t]*:[ \t]*([^\s;,]+)")
_MIME = re.compile(r"[!-.0-~]+/[!-~]+")
_HTTP = b"application/http"
_LONGEST = 100  # characters of a media type


@dataclass(slots=True)
class Capture:
    """The record of a web archive that a text is in. It is parsed on demand."""

    date: bytes = b""
    """The time as the archive writes it; empty if it has none."""
    content_type: bytes = b""
    """The media type that the archive gives: of the record in WARC, of the document in ARC."""
    head: bytes = b""
    """Start line and headers of the HTTP message in the record; empty if there is none, or if it is not read yet."""

    @property
    def captured(self) -> dt.datetime | None:
        """The time of the capture, in UTC; None if there is none, or if it is not a date.

        ISO 28500, section 5.4 (WARC-Date, also of reduced precision), and the fourteen digits of ARC.
        """
        match = _MOMENT.fullmatch(self.date)
        if match is None:
            return None
        year, month, day, hour, minute, second = (int(part or b"0") for part in match.groups()[:6])
        fraction = round(float(match[7] or b"0") * 1000) * 1000
        try:
            whole = dt.datetime(year, month or 1, day or 1, hour, minute, second, tzinfo=dt.UTC)
            return whole + dt.timedelta(microseconds=fraction)
        except (ValueError, OverflowError):
            return None

    @property
    def status(self) -> int | None:
        """The status code of the answer; None if there is none."""
        match = _STATUS.search(self.head)
        return int(match[1]) if match else None

    @property
    def mime(self) -> str | None:
        """The media type of the text in lower case, as the server says, or else the archive; None if neither does."""
        kind = self.content_type.partition(b";")[0].strip()
        if self.head or kind.lower() == _HTTP:
            match = _CONTENT_TYPE.search(self.head)
            kind = match[1] if match else b"" if kind.lower() == _HTTP else kind
        text = kind.decode("ascii", "replace").lower()
        return text if len(text) <= _LONGEST and _MIME.fullmatch(text) else None

    def text(self, name: str) -> str:
        """One of NAMES as conditions compare it; empty if it is not known."""
        match name:
            case "captured":
                return f"{self.captured.isoformat()[:19]}Z" if self.captured else ""
            case "status":
                return str(self.status or "")
            case _:
                return self.mime or ""


@dataclass(frozen=True, slots=True)
class Where:
    r"""Conditions on captures, all of which must be fulfilled.

    >>> read_where("status=200,304 mime=text/*").fits(Capture(head=b"HTTP/1.1 304 x\nContent-Type: text/html\n"))
    True
    """

    conditions: tuple[tuple[str, str], ...]
    """Names of NAMES, and patterns with commas between them, of which one must fit."""

    def fits(self, capture: Capture | None) -> bool:
        """Whether all conditions are fulfilled; a text outside of web archives fulfils none."""
        return capture is not None and all(
            _pattern(patterns).match(capture.text(name)) is not None for name, patterns in self.conditions
        )


def read_where(text: str) -> Where:
    """The conditions in a text such as `status=200 mime=text/html,text/plain captured=2024*`. Raises ArgumentError."""
    conditions = []
    for condition in text.split():
        name, equals, patterns = condition.partition("=")
        if not equals or name not in NAMES or not all(patterns.split(",")):
            raise ArgumentError(
                f"{option('where', None)}: {condition!r} is no condition: write NAME=VALUE, with a NAME of {', '.join(NAMES)}, "
                "for example 'status=200 mime=text/*'"
            )
        conditions.append((name, patterns.lower() if name == "mime" else patterns))
    if not conditions:
        raise ArgumentError(f"{option('where', None)}: names no condition; write for example 'status=200 mime=text/*'")
    return Where(tuple(conditions))


@functools.cache
def _pattern(patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns.split(","))))
