"""Captures: metadata of records of web archives (time, HTTP status, media type), and the conditions of `--where`."""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from typing import NamedTuple

from urnscan.errors import ArgumentError, option

NAMES = ("captured", "status", "mime")
"""Names of the columns about a capture in tables, and of the values that conditions (`--where`) can ask for."""

_MOMENT = re.compile(
    rb"([0-9]{4})(?:-?([0-9]{2})(?:-?([0-9]{2})"
    rb"(?:T?([0-9]{2})(?::?([0-9]{2})(?::?([0-9]{2})(\.[0-9]+)?)?)?)?)?)?Z?"
)
_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})(?![0-9])")
_CONTENT_TYPE = re.compile(rb"(?i)\nContent-Type[ \t]*:[ \t]*([^\s;,]+)")
_MIME = re.compile(r"[!-.0-~]+/[!-~]+")
_GLOB_PART = re.compile(r"\*+|\[!?\]?[^\]]{0,99}\]|.")
_HTTP = b"application/http"
_LONGEST = 100  # maximum characters of a media type
_MAX_OTHERS = 5


@dataclass(slots=True)
class Capture:
    """Metadata of a record of a web archive: the fields are bytes of the archive, and the properties parse them."""

    date: bytes = b""
    """Time of the record as in the archive; empty if missing."""
    content_type: bytes = b""
    """Media type as in the archive: in WARC of the whole record, such as `application/http`, in ARC of the document."""
    head: bytes = b""
    """Start line and headers of the HTTP message in the record; empty without a message, and before it is read."""

    @property
    def captured(self) -> dt.datetime | None:
        """Time of the capture in UTC, from `date`; None for a missing or invalid time.

        Reads WARC-Date (ISO 28500, section 5.4) and the fourteen digits of ARC. Missing parts are the lowest possible:
        `2024-05` is 2024-05-01 00:00:00. Fractions of a second are rounded to milliseconds.
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
        """Status code of the HTTP response, such as 200, from `head`; None without a response or a valid status."""
        match = _STATUS.search(self.head)
        return int(match[1]) if match else None

    @property
    def mime(self) -> str | None:
        """Media type of the document in the record, in lower case and without parameters, such as `text/html`.

        From the Content-Type in `head`, else from `content_type` (not `application/http`, which describes the message).
        None if missing, invalid or longer than 100 characters.
        """
        kind = self.content_type.partition(b";")[0].strip()
        if self.head or kind.lower() == _HTTP:
            match = _CONTENT_TYPE.search(self.head)
            kind = match[1] if match else b"" if kind.lower() == _HTTP else kind
        text = kind.decode("ascii", "replace").lower()
        return text if len(text) <= _LONGEST and _MIME.fullmatch(text) else None

    def text(self, name: str) -> str:
        """The property `name` (one of `NAMES`) as text: `2024-05-01T12:00:00Z`, `200`, `text/html`; empty for None."""
        match name:
            case "captured":
                return f"{self.captured.isoformat()[:19]}Z" if self.captured else ""
            case "status":
                return str(self.status or "")
            case _:
                return self.mime or ""


@dataclass(frozen=True, slots=True)
class Where:
    r"""Conditions (`--where`) on captures, the metadata of records of web archives. A capture must fulfil all of them.

    >>> read_where("status=200,304 mime=text/*").fits(Capture(head=b"HTTP/1.1 304 x\nContent-Type: text/html\n"))
    True
    """

    conditions: tuple[tuple[str, str], ...]
    """Pairs such as ("status", "200,304"): one of `NAMES`, and patterns (`*`, `?`, `[`) with commas between them, media
    types in lower case, of which one must match the whole value.
    """
    others: dict[str, set[str]] = field(default_factory=dict, compare=False)
    """Name of a condition -> up to five values, not empty, of captures that did not fulfil it; filled by `fits`."""

    def fits(self, capture: Capture | None) -> bool:
        """Whether a capture fulfils all conditions; False for None (a text outside of web archives).

        A value that the capture lacks counts as an empty text, which `*` matches. May add a value that does not fit to
        `others`.
        """
        if capture is None:
            return False
        for name, patterns in self.conditions:
            text = capture.text(name)
            if _pattern(patterns).match(text) is None:
                others = self.others.setdefault(name, set())
                if text and len(others) < _MAX_OTHERS:
                    others.add(text)
                return False
        return True


class _Part(NamedTuple):
    """A part of a pattern: a character out of a set or, if repeated, any number (also 0) of them."""

    characters: frozenset[str]
    is_repeated: bool = False


_VISIBLE = frozenset(map(chr, range(ord("!"), ord("~") + 1)))
_DIGIT = "[0-9]"
_SHAPES = {
    "captured": ("0000-00-00T00:00:00Z".replace("0", _DIGIT), "captured=2024-05*"),
    "status": (_DIGIT * 3, "status=200 or status=2*"),
    "mime": ("?*/?*", "mime=text/html or mime=text/*"),
}
"""Name in conditions -> pattern of its possible values, and an example. A condition that fits none is an error."""


def read_where(text: str) -> Where:
    """Parse conditions with white space between them, as in `status=200 mime=text/html,text/plain captured=2024*`.
    Names must be in lower case; media types may be in any case.

    Raises ArgumentError for a text without a condition, an unknown name, a missing value, and a condition that no
    record can fulfil (`status=ab`).
    """
    where = option("where", None)
    conditions = []
    for condition in text.split():
        name, equals, patterns = condition.partition("=")
        if not equals or name not in NAMES or not all(patterns.split(",")):
            raise ArgumentError(
                f"{where}: unknown condition {condition!r}; write NAME=VALUE, with a NAME of {', '.join(NAMES)}, "
                "as in 'status=200 mime=text/*'"
            )
        patterns = patterns.lower() if name == "mime" else patterns
        for pattern in patterns.split(","):
            shape, example = _SHAPES[name]
            if not _can_fit(_parts(shape), _parts(pattern)):
                raise ArgumentError(f"{where}: no record has {name}={pattern}; write {example}")
        conditions.append((name, patterns))
    if not conditions:
        raise ArgumentError(f"{where} names no condition; write for example 'status=200 mime=text/*'")
    return Where(tuple(conditions))


@functools.cache
def _pattern(patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns.split(","))))


def _parts(glob: str) -> tuple[_Part, ...]:
    pieces = _GLOB_PART.findall(glob)
    return tuple(
        _Part(frozenset(filter(re.compile(translate(piece)).match, _VISIBLE)), piece.startswith("*"))
        for piece in pieces
    )


def _can_fit(shape: Sequence[_Part], pattern: Sequence[_Part]) -> bool:
    """Whether there is a text of visible ASCII characters that matches both patterns."""
    # Pairs of numbers: how many parts of each pattern match a common prefix.
    pairs, todo = {(0, 0)}, [(0, 0)]
    while todo:
        one, other = todo.pop()
        more = set()
        if one < len(shape) and shape[one].is_repeated:
            more.add((one + 1, other))
        if other < len(pattern) and pattern[other].is_repeated:
            more.add((one, other + 1))
        if one < len(shape) and other < len(pattern) and shape[one].characters & pattern[other].characters:
            more.add((one + (not shape[one].is_repeated), other + (not pattern[other].is_repeated)))
        todo += more - pairs
        pairs |= more
    return (len(shape), len(pattern)) in pairs
