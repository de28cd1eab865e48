"""The octets of a web archive that are looked at before they are read, as many as the header of a record may have."""

import io
import re

from urnscan.errors import DamageError, SourceError
from urnscan.sources.reader import Reader

__all__ = ["Fields", "Window"]

Fields = dict[bytes, bytes]
"""The fields of a header that are looked at, by their names in lower case."""

_WINDOW = 1 << 17
_HEADER = 1 << 16  # octets that the header of a record may have

_BLANK = re.compile(rb"[\r\n]*")
_BEGIN = re.compile(rb"WARC/[0-9]")
_NEXT = re.compile(rb"\nWARC/[0-9]")
_LINE = b"\nWARC/"
_UNDECIDED = len(_LINE)  # octets at the end of the window that may begin a record

_BEHIND = re.compile(rb"[\r\n]{4}|[\r\n]{0,3}WARC/[0-9]|[\r\n]{3}(?P<damaged>[^\r\n])WARC/[0-9]")
_SOME_BEHIND = re.compile(rb"(?:[\r\n]{0,3}|[\r\n]{3}[^\r\n])(?:W(?:A(?:R(?:C/?)?)?)?)?\Z")
_LONGEST_BEHIND = 10

_VERSION = re.compile(rb"WARC/[0-9]+\.[0-9]+[ \t]*\r?\n")
_HEADER_END = re.compile(rb"\n(?:[ \t\r]*\n|(?P<next>WARC/[0-9]))")
_FIELD = re.compile(
    rb"\n(?i:(Content-Length|Content-Type|WARC-Record-ID|WARC-Target-URI|WARC-Type))[ \t]*:"
    rb"([^\n]*(?:\n[ \t]+[^\s][^\n]*)*)"
)
_FOLD = re.compile(rb"(?<!\s)\s*\n\s*")  # white space is passed once, not from each octet of it
_LENGTH = re.compile(rb"[0-9]{1,18}")
_CUT_OFF = "a header is cut off"


class Window:
    """The next octets of the file; what its reader raises is raised once those before were read."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._second: io.BufferedIOBase | None = None  # to look ahead in
        self._buffer = bytearray(_WINDOW)
        self._view = memoryview(self._buffer)
        self._start = self._end = 0  # of the octets that are still to be read
        self._base = 0  # the position of the first octet of the buffer in the file
        self._after: SourceError | None = None  # what the reader raised behind them
        self._ended = False
        self._at_line = True  # whether a line begins at the next octet

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
                return self._ends()

    def find_record(self) -> bool:
        """Go to the next octet where a line begins as a record does; whether there is one. Raises as the reader does."""
        self._look(_UNDECIDED)
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
                return self._ends()

    def read_header(self) -> Fields | str:
        """Read the header of a record: its fields, or what is wrong with it.

        Where something is wrong the first octet was read, so that the next record is looked for behind it. Raises what
        the reader raises.
        """
        found = self._header()
        if isinstance(found, str):
            if found == _CUT_OFF and self._after is not None:
                self.drop()
                self._ends()
            self._start += 1
            return found
        fields, self._start = found
        self._at_line = True
        return fields

    def begins_record(self, *, surely: bool = True) -> bool:
        """Whether what comes next, where a line begins, looks like a record: by its whole header, or its first line."""
        if not self._at_line:
            return False
        while _LINE[1:].startswith(self._buffer[self._start : min(self._end, self._start + _UNDECIDED - 1)]):
            if self._end - self._start >= _UNDECIDED or not self._fill():
                break
        if not _BEGIN.match(self._buffer, self._start, self._end):
            return False
        found = self._header()
        if surely:
            return not isinstance(found, str) and (b"warc-type" in found[0] or b"warc-record-id" in found[0])
        return _VERSION.match(self._buffer, self._start, self._end) is not None

    def is_behind_block(self) -> bool:
        """Whether what comes next is what follows the block of a record: empty lines, the next record, or the end."""
        while not (behind := _BEHIND.match(self._buffer, self._start, self._end)):
            undecided = self._end - self._start < _LONGEST_BEHIND
            if not (undecided and _SOME_BEHIND.match(self._buffer, self._start, self._end)):
                return False
            if not self._fill():
                break
        if behind and behind["damaged"]:  # no line would begin behind it
            self._start, self._at_line = behind.end("damaged"), True
        return True

    def has_behind(self, count: int) -> bool | None:
        """Whether what stands `count` octets further on is what follows a block; None where nobody can look there."""
        end = self.position + count
        try:
            if self._second is None:
                self._second = self._reader.reopen()
            if self._second is None:
                return None
            if self._second.seek(0, io.SEEK_END) < end:
                return False
            self._second.seek(end)
            octets = self._second.read(_LONGEST_BEHIND)
        except (OSError, SourceError):
            return None
        return _BEHIND.match(octets) is not None or _SOME_BEHIND.match(octets) is not None

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view, up to where a record may begin; 0 at the end. Raises what the reader raises."""
        if self._start == self._end and not self._fill():
            self._ends()
            return 0
        start = self._start
        stop = min(self._end, start + len(view))
        found = self._buffer.find(_LINE, start, min(self._end, stop + _UNDECIDED - 1))
        if found < 0 and self._end - stop < _UNDECIDED:  # one may begin where what is here ends
            found = self._buffer.rfind(b"\n", max(start, self._end - _UNDECIDED + 1), self._end)
            found = found if found >= 0 and _LINE.startswith(self._buffer[found : self._end]) else -1
        if 0 <= found < stop:
            stop = found + 1
        view[: stop - start] = self._view[start:stop]
        self._start = stop
        self._at_line = self._buffer[stop - 1] == _LINE[0]
        return stop - start

    def give_back(self, octets: bytes) -> None:
        """These were read last, and are to be read again."""
        held = bytes(self._view[self._start : self._end])
        self._base = self.position - len(octets)
        self._start, self._end = 0, len(octets) + len(held)
        self._buffer = bytearray(octets + held).ljust(_WINDOW, b"\0")
        self._view = memoryview(self._buffer)
        self._at_line = False

    def fail(self, error: SourceError) -> None:
        """The reader raised this behind what is held, and it was not told: it is to be raised there again."""
        self._after = error

    def close(self) -> None:
        """Close the second file; whoever opened the reader closes it."""
        if self._second is not None:
            self._second.close()

    def _header(self) -> tuple[Fields, int] | str:
        """The header at the next octet and the index behind it, or what is wrong with it."""
        self._look(_UNDECIDED)
        if not _BEGIN.match(self._buffer, self._start, self._end):
            return "no record begins here"
        seen = 0
        while not (end := _HEADER_END.search(self._buffer, self._start + seen, min(self._end, self._start + _HEADER))):
            if self._end - self._start >= _HEADER:
                return f"a header has more than {_HEADER:,} octets"
            line = self._buffer.rfind(b"\n", self._start, self._end)
            seen = (line if line >= 0 else self._end) - self._start
            if not self._fill():
                return _CUT_OFF
        if end["next"]:
            return "a header ends where another begins"
        if not _VERSION.match(self._buffer, self._start, end.end()):
            return "a line that begins a record has no version"
        fields: Fields = {}
        for name, value in _FIELD.findall(self._buffer, self._start, end.end()):
            stripped = value.strip()
            fields.setdefault(name.lower(), _FOLD.sub(b" ", stripped) if b"\n" in stripped else stripped)
        if not _LENGTH.fullmatch(fields.get(b"content-length", b"")):
            return "a header has no Content-Length that is a number"
        return fields, end.end()

    def _look(self, count: int) -> None:
        """Have so many octets in the window, if there are."""
        while self._end - self._start < count and self._fill():
            pass

    def _ends(self) -> bool:
        """Raise what the reader raised behind the window, if it did; else there is no more."""
        if self._after is not None:
            error, self._after = self._after, None
            raise error
        return False

    def _fill(self) -> bool:
        """Read more into the window, behind what is there; whether there was more."""
        if self._ended or self._after is not None:
            return False
        start, held = self._start, self._end - self._start
        if start:
            self._view[:held] = self._view[start : self._end]
            self._base += start
            self._start, self._end = 0, held
        got = 0
        try:
            got = self._reader.read_into(self._view[held:_WINDOW])
            self._ended = got == 0
        except DamageError as error:
            self._after = error
        except SourceError as error:
            self._after, self._ended = error, True
        self._end += got
        return got > 0
