"""Web archives: the records of a WARC file (ISO 28500, versions 0.18 to 1.1; WET and WAT files too) as members.

A member is called by its target URI and its record ID. The headers of a record are never text, nor are those of an HTTP
message in it. Digests in the headers are not verified, segments of a record are members of their own, and ARC files,
the form before WARC, are not read as such. What is no record, or damaged, is passed over to the next line that begins a
record.
"""

import re
import sys
from collections.abc import Iterator

from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.sources.archives.http import Body
from urnscan.sources.layers import INSIDE, Checks, Layer
from urnscan.sources.reader import Reader, skip

__all__ = ["is_warc", "open_warc"]

_WINDOW = 1 << 17
_HEADER = 1 << 16  # octets that the header of a record may have
_DIRECT = 1 << 15  # octets from which on the window is not filled for a read

_MAGICS = (b"WARC/0.", b"WARC/1.")
_BLANK = re.compile(rb"[\r\n]*")
_BEGIN = re.compile(rb"WARC/[0-9]")
_NEXT = re.compile(rb"\nWARC/[0-9]")
_UNDECIDED = len(b"\nWARC/")  # octets at the end of the window that may begin a record

_VERSION = re.compile(rb"WARC/[0-9]+\.[0-9]+[ \t]*\r?\n")
_HEADER_END = re.compile(rb"\n[ \t\r]*\n")
_FIELD = re.compile(
    rb"\n(?i:(Content-Length|Content-Type|WARC-Record-ID|WARC-Target-URI|WARC-Type))[ \t]*:"
    rb"([^\n]*(?:\n[ \t]+[^\s][^\n]*)*)"
)
_FOLD = re.compile(rb"\s*\n\s*")
_LENGTH = re.compile(rb"[0-9]{1,18}")
_HTTP_TYPES = (b"response", b"request", b"revisit")
_ANY_DATE = sys.maxsize  # of octets that no checksum covers that began or ended while they were held
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def is_warc(head: bytes, _: Layer) -> bool | None:
    """Whether octets that begin so are a WARC file; None where they are too few to tell."""
    if head.startswith(_MAGICS):
        return True
    return None if any(magic.startswith(head) for magic in _MAGICS) else False


def open_warc(reader: Reader, layer: Layer) -> Iterator[tuple[str, Reader] | SourceError]:
    """The records, each by its name and with a reader of its text; in place of what is none or damaged, an error."""
    window = _Window(reader, layer.checks)
    is_lost = False  # no record need begin at what comes next
    while True:
        try:
            if not (window.find_record() if is_lost else window.pass_blank_lines()):
                return
            at = window.position
            fields = window.read_header()
        except DamageError as error:
            window.drop()
            is_lost = True
            yield error
            continue
        if isinstance(fields, str):
            is_lost = True
            yield SourceError(layer.name, f"octet {at} of the web archive: {fields}; read on from the next record")
            continue
        name = _name(fields) or f"octet {at}"
        block = _Block(window, int(fields[b"content-length"]), f"{layer.name}{INSIDE}{name}")
        try:
            inner = layer.inside(name)
        except SourceError as error:
            yield error
        else:
            yield name, Body(block, inner) if _is_http(fields) else block
        try:
            skip(block, block.left)
        except LimitError:
            raise
        except SourceError as error:
            yield error
        is_lost = block.is_broken


def _name(fields: dict[bytes, bytes]) -> str:
    """What a record is called: its target URI, if it has one, and its record ID."""
    uri = fields.get(b"warc-target-uri", b"")
    if uri.startswith(b"<") and uri.endswith(b">"):  # the grammar of version 1.0 has them, its examples do not
        uri = uri[1:-1]
    name = b" ".join(filter(None, (uri, fields.get(b"warc-record-id")))).decode("utf-8", "backslashreplace")
    return name if name.isprintable() else _CONTROL.sub(lambda control: f"\\x{ord(control[0]):02x}", name)


def _is_http(fields: dict[bytes, bytes]) -> bool:
    """Whether a record holds an HTTP message; who does not say what it holds is judged by the type of the record."""
    content_type = fields.get(b"content-type")
    if content_type:
        return content_type.lower().startswith(b"application/http")
    return fields.get(b"warc-type", b"").lower() in _HTTP_TYPES


class _Block(Reader):
    """The block of a record: as many octets as its header says."""

    def __init__(self, window: "_Window", length: int, name: str) -> None:
        self.left = length
        self.is_broken = False
        """Whether the next record need not begin behind it."""
        self._window = window
        self._length = length
        self._name = name

    def read_into(self, view: memoryview) -> int:
        if not self.left:
            return 0
        left, self.left = self.left, 0
        self.is_broken = True
        got = self._window.read_into(view[:left])
        if not got:
            there = self._length - left
            raise SourceError(self._name, f"cut off: {there:,} of {self._length:,} octets are there")
        self.is_broken = False
        self.left = left - got
        return got

    def close(self) -> None:
        """The window stays open for the next record."""


class _Window:
    """The octets of the file that are looked at before they are read, as many as the header of a record may have."""

    def __init__(self, reader: Reader, checks: Checks) -> None:
        self._reader = reader
        self._checks = checks
        self._buffer = bytearray(_WINDOW)
        self._view = memoryview(self._buffer)
        self._start = self._end = 0  # of the octets that are still to be read
        self._base = 0  # the position of the first octet of the buffer in the file
        self._ended = False
        # The dates of what is in the window: up to an index, and from there on.
        self._turn = 0
        self._old = self._new = _ANY_DATE

    @property
    def position(self) -> int:
        """Of the next octet in the file."""
        return self._base + self._start

    def drop(self) -> None:
        """Pass over what is in the window."""
        self._start = self._end

    def pass_blank_lines(self) -> bool:
        """Go to the next octet that ends no line; whether there is one. Raises what the reader raises."""
        while True:
            blank = _BLANK.match(self._buffer, self._start, self._end)
            self._start = blank.end() if blank else self._start
            if self._start < self._end:
                return True
            if not self._fill():
                return False

    def find_record(self) -> bool:
        """Go to the next octet where a line begins as a record does; whether there is one. Raises as the reader does."""
        while self._end - self._start < _UNDECIDED and self._fill():
            pass
        if _BEGIN.match(self._buffer, self._start, self._end):
            return True
        while True:
            found = _NEXT.search(self._buffer, self._start, self._end)
            if found:
                self._start = found.start() + 1
                return True
            self._start = max(self._start, self._end - _UNDECIDED)
            if not self._fill():
                self.drop()
                return False

    def read_header(self) -> dict[bytes, bytes] | str:
        """Read the header of a record: its fields by their names in lower case, or what is wrong with it.

        Where something is wrong the first octet was read, so that the next record is looked for behind it. Raises what
        the reader raises.
        """
        while self._end - self._start < _UNDECIDED and self._fill():
            pass
        if not _BEGIN.match(self._buffer, self._start, self._end):
            return self._wrong("no record begins where the one before should end")
        while not (end := _HEADER_END.search(self._buffer, self._start, min(self._end, self._start + _HEADER))):
            if self._end - self._start >= _HEADER:
                return self._wrong(f"a header has more than {_HEADER:,} octets")
            if not self._fill():
                return self._wrong("a header is cut off")
        if not _VERSION.match(self._buffer, self._start, end.end()):
            return self._wrong("a line that begins a record has no version")
        fields: dict[bytes, bytes] = {}
        for name, value in _FIELD.findall(self._buffer, self._start, end.end()):
            stripped = value.strip()
            fields.setdefault(name.lower(), _FOLD.sub(b" ", stripped) if b"\n" in stripped else stripped)
        if not _LENGTH.fullmatch(fields.get(b"content-length", b"")):
            return self._wrong("a header has no Content-Length that is a number")
        self._start = end.end()
        return fields

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view; 0 at the end. Raises what the reader raises."""
        if self._start == self._end:
            if len(view) >= _DIRECT:
                got = self._read_into(view)
                self._base += got
                return got
            if not self._fill():
                return 0
        start = self._start
        got = min(self._end - start, len(view))
        self._start = start + got
        view[:got] = self._view[start : self._start]
        self._checks.since = min(self._checks.since, self._new if start >= self._turn else self._old)
        return got

    def _wrong(self, reason: str) -> str:
        self._start += 1
        return reason

    def _fill(self) -> bool:
        """Read more into the window, behind what is there; whether there was more."""
        start, held = self._start, self._end - self._start
        if start:
            self._view[:held] = self._view[start : self._end]
            self._base += start
            self._old = self._new if start >= self._turn else min(self._old, self._new)
            self._start, self._end, self._turn = 0, held, held
            self._new = _ANY_DATE
        before = self._checks.now
        got = self._read_into(self._view[held:])
        if self._checks.now != before:
            # Something that a checksum covers began or ended: what is held may be older than what is read next.
            self._old = min(self._old, before)
            self._new = min(self._new, before)
        self._end += got
        return got > 0

    def _read_into(self, view: memoryview) -> int:
        if self._ended:
            return 0
        try:
            got = self._reader.read_into(view)
        except DamageError:
            raise
        except SourceError:
            self._ended = True
            raise
        self._ended = got == 0
        return got
