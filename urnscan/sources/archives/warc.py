"""Web archives: the records of a WARC file (ISO 28500, versions 0.18 to 1.1; WET and WAT files too) as members.

A member is called by its target URI and its record ID. The headers of a record are never text, nor are those of an HTTP
message in it. Digests in the headers are not verified, segments of a record are members of their own, and ARC files,
the form before WARC, are not read as such. What is no record, or damaged, is passed over to the next line that begins a
record, and how much that is is told.

A record is as long as its header says, unless that is proven wrong. It is too short where neither an empty line, nor a
record, nor the end follows: then it is read on to the next record. It is too long where, before its end, the whole
header of a record stands

* in a file in which one can look ahead, and neither an empty line, nor a record, nor the end is where it should end,
* or behind the end of the chunks or the coding of an HTTP message, where nothing of it is read any more.

Else it is read as it says, for a record may hold an archive or a page about them; where its end then proves that wrong,
it is told that the text of the record is also that of those behind it.
"""

import contextlib
import re
from collections.abc import Generator, Iterator

from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.sources.archives.http import Body
from urnscan.sources.archives.window import Fields, Window
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader, begins

__all__ = ["is_warc", "open_warc"]

_MAGICS = (b"WARC/0.", b"WARC/1.")
_VERSION = re.compile(rb"WARC/[01]\.[0-9]{1,9}[ \t]{0,9}\r?\n")  # a text about such files has words behind it
_VERSION_BEGUN = re.compile(rb"WARC/[01]\.[0-9]{0,9}[ \t]{0,9}\r?")
_HTTP_TYPES = (b"response", b"request", b"revisit")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_PASSED = 1 << 16  # octets that are passed over at a time


def is_warc(head: bytes, _: Layer) -> bool | None:
    """Whether octets that begin so are a WARC file; None where they are too few to tell."""
    known = begins(head, *_MAGICS)
    if not known or _VERSION.match(head):
        return known
    return None if _VERSION_BEGUN.fullmatch(head) else False


def open_warc(reader: Reader, layer: Layer) -> Iterator[tuple[str, Reader] | SourceError]:
    """The records, each by its name and with a reader of its text; in place of what is none or damaged, an error."""
    window = Window(reader)
    try:
        yield from _records(window, layer)
    finally:
        window.close()


def _records(window: Window, layer: Layer) -> Iterator[tuple[str, Reader] | SourceError]:
    is_lost = False  # no record need begin at what comes next
    wrong: tuple[int, str] | None = None  # where none began, and why
    while True:
        failure: SourceError | None = None
        header: Fields | str = ""
        try:
            there = window.find_record() if is_lost or wrong else window.pass_blank_lines()
            at = window.position
            header = window.read_header() if there else ""
        except SourceError as error:
            failure, at = error, window.position
        if header and isinstance(header, str):
            wrong = wrong or (at, header)
            continue
        if wrong:
            upto = "the next record" if header else "the end" if failure is None else "where reading failed"
            reason = (
                f"octet {wrong[0]} of the web archive: {wrong[1]}; {at - wrong[0]:,} octets passed over, up to {upto}"
            )
            yield SourceError(layer.name, reason)
            wrong = None
        if isinstance(failure, DamageError):
            window.drop()
            is_lost = True
            yield failure
        elif failure is not None:
            raise failure
        elif isinstance(header, str):
            return
        else:
            is_lost = yield from _record(window, layer, header, at)


def _record(
    window: Window, layer: Layer, fields: Fields, at: int
) -> Generator[tuple[str, Reader] | SourceError, None, bool]:
    """A record, and what is wrong with it; whether the next need not begin behind it."""
    name = _name(fields) or f"octet {at}"
    length = int(fields[b"content-length"])
    try:
        inner = layer.inside(name)
    except SourceError as error:
        yield error
        block = _Block(window, length, layer.name)
    else:
        block = _Block(window, length, inner.name)
        body = Body(block, inner) if _is_http(fields) else None
        text = _Text(body or block, block)
        yield name, text
        if body is not None and text.is_ended:
            block.is_read = True
            _give_back(body, block)
    view = memoryview(bytearray(min(length, _PASSED) + 1))
    with contextlib.suppress(SourceError):
        while block.read_into(view):
            pass
    if isinstance(block.error, LimitError):
        raise block.error
    if block.error is not None:
        yield block.error
    wrong = block.wrong()
    if wrong is not None:
        yield wrong
    return block.is_broken


def _give_back(body: Body, block: "_Block") -> None:
    """What was read ahead of the end of a body is still to be looked at: it may be another record."""
    unused = body.unused()
    if unused:
        block.give_back(unused)


def _name(fields: Fields) -> str:
    """What a record is called: its target URI, if it has one, and its record ID."""
    uri = fields.get(b"warc-target-uri", b"")
    if uri.startswith(b"<") and uri.endswith(b">"):  # the grammar of version 1.0 has them, its examples do not
        uri = uri[1:-1]
    name = b" ".join(filter(None, (uri, fields.get(b"warc-record-id")))).decode("utf-8", "backslashreplace")
    return name if name.isprintable() else _CONTROL.sub(lambda control: f"\\x{ord(control[0]):02x}", name)


def _is_http(fields: Fields) -> bool:
    """Whether a record holds an HTTP message; who does not say what it holds is judged by the type of the record."""
    content_type = fields.get(b"content-type")
    if content_type:
        return content_type.lower().startswith(b"application/http")
    return fields.get(b"warc-type", b"").lower() in _HTTP_TYPES


class _Text(Reader):
    """The text of a record: knows what was told of its block, and whether it was read to its end."""

    def __init__(self, reader: Reader, block: "_Block") -> None:
        self.is_ended = False
        self._reader = reader
        self._block = block

    def read_into(self, view: memoryview) -> int:
        try:
            got = self._reader.read_into(view)
        except SourceError as error:
            if error is self._block.error:
                self._block.error = None
            self.is_ended = not isinstance(error, DamageError)
            raise
        self.is_ended = got == 0
        return got

    def close(self) -> None:
        self._reader.close()


class _Block(Reader):
    """The block of a record: as many octets as its header says, or as it proves to have."""

    def __init__(self, window: Window, length: int, name: str) -> None:
        self.is_broken = False
        """Whether the next record need not begin behind it."""
        self.is_read = False
        """Whether nobody needs what is left of it, so that a record in it is one."""
        self.error: SourceError | None = None
        """What was raised at its end, until that was told."""
        self._failure: SourceError | None = None  # the same, where reading failed
        self._window = window
        self._length = length
        self._name = name
        self._given = 0  # octets
        self._is_beyond = False  # whether it goes on behind its length
        self._is_over = False  # whether a record begins before that
        self._is_ended = False
        self._fits: bool | None = None  # whether its length was seen to be right
        self._inside: int | None = None  # where the first record that may be one begins in it

    def read_into(self, view: memoryview) -> int:
        if self._is_ended:
            return 0
        window, left = self._window, self._length - self._given
        if not left and not self._is_beyond:
            self._is_beyond = not window.is_behind_block()
            self._is_ended = not self._is_beyond
            if self._is_ended:
                return 0
        if window.begins_record(surely=not self._is_beyond) and self._ends_here():
            self._is_ended = True
            self._is_over = not self._is_beyond
            return 0
        try:
            got = window.read_into(view if self._is_beyond else view[:left])
        except SourceError as error:
            self._is_ended = self.is_broken = True
            self.error = self._failure = error
            raise
        self._given += got
        self._is_ended = not got
        if not got and not self._is_beyond:
            self.is_broken = True
            reason = f"cut off: {self._given:,} of {self._length:,} octets are there{self._others()}"
            self.error = SourceError(self._name, reason)
            raise self.error
        return got

    def give_back(self, octets: bytes) -> None:
        """These were read of it last and not used."""
        self._window.give_back(octets)
        if self._failure is not None:
            self._window.fail(self._failure)
        self._given -= len(octets)
        self._is_beyond = self._given > self._length
        self._is_ended = self._is_over = self.is_broken = False
        self.error = self._failure = None

    def wrong(self) -> SourceError | None:
        """What to say of a length that was proven wrong."""
        length = f"its header says {self._length:,} octets, but"
        if self._is_over:
            return SourceError(self._name, f"{length} a record begins behind {self._given:,} of them: read up to there")
        more = self._given - self._length
        if self._is_beyond and more > 0:
            reason = (
                f"{length} no record begins behind them: read on for {more:,} octets, up to the next record or the end"
            )
            return SourceError(self._name, f"{reason}{self._others()}")
        return None

    def close(self) -> None:
        """The window stays open for the next record."""

    def _ends_here(self) -> bool:
        """Whether the record that seems to begin here proves that the length is wrong."""
        window = self._window
        if self._is_beyond or self.is_read:
            return True
        if self._fits is None:
            self._fits = window.has_behind(self._length - self._given)
        if self._fits is None and self._inside is None:
            self._inside = window.position
        return self._fits is False

    def _others(self) -> str:
        """What to say of records that may have been taken for a part of it."""
        return (
            "" if self._inside is None else f"; what looks like records, from octet {self._inside} on, is read with it"
        )
