"""Web archives: the records of a WARC file (ISO 28500, versions 0.18 to 1.1; also WET and WAT files) as members.

The name of a member is its target URI and its record ID. The headers of a record, and of an HTTP message in a record,
are not text. Digests are not verified. Each segment of a record is a separate member, and an error reports the first
segment.

The length of a record is the length in its header; without one, a record ends at the next record. Bytes between two
records are a member, too, and an error reports where they are and how many.
"""

import re
from collections.abc import Generator, Iterator

from urnscan.display.text import counted
from urnscan.errors import DamageError, SourceError
from urnscan.formats.archives.http import Body, plain_body
from urnscan.formats.archives.warc_fast import HEADER, UsualRecords
from urnscan.formats.buffer import Buffer
from urnscan.formats.captures import Capture
from urnscan.formats.contents import Label, Member, Texts
from urnscan.formats.context import Layer
from urnscan.formats.protocol import Archive, exactly
from urnscan.stores.reader import LengthReader, Reader, begins, rest_skipped

_Fields = dict[bytes, bytes]
"""Fields of a header (only those that are used): name in lower case -> value."""

_MAGICS = (b"WARC/0.", b"WARC/1.")
_RUN = 1 << 20  # bytes whose complete records are yielded together
# Maximum of unusual records that are yielded together; then usual records are tried again.
_FEW = 16

_BLANK = re.compile(rb"[\r\n]+")
_RECORD = re.compile(rb"WARC/[0-9]")
_SIGN = 6  # bytes of a match of _RECORD
_BEGIN = re.compile(rb"WARC/[0-9]{1,2}\.[0-9]{1,2}[ \t]{0,4}\r?\n")
_LONGEST_BEGIN = 16
_VERSION = re.compile(rb"WARC/[01]\.[0-9]{1,9}[ \t]{0,9}\r?\n")  # with LF: a text about WARC goes on with words
_VERSION_LINE = re.compile(rb"WARC/[0-9]+\.[0-9]+[ \t]*\r?\n")
_VERSION_BEGUN = re.compile(rb"WARC/[01]\.[0-9]{0,9}[ \t]{0,9}\r?")
_HEADER_END = re.compile(rb"\n(?:[ \t\r]*\n|(?P<next>WARC/[0-9]))")
_FIELD = re.compile(
    rb"\n(?i:(Content-Length|Content-Type|WARC-Date|WARC-Record-ID|WARC-Target-URI|WARC-Type))[ \t]*:"
    rb"([^\n]*(?:\n[ \t]+[^\s][^\n]*)*)"
)
_FOLD = re.compile(rb"(?<!\s)\s*\n\s*")  # the lookbehind makes the time linear in the white space
_LENGTH = re.compile(rb"[0-9]{1,18}")
_HTTP_TYPES = (b"response", b"request", b"revisit")
_ANY_FIELD = re.compile(rb"(?im)^(?:WARC-[A-Z-]+[ \t]*:|WARC/[0-9])")
_FIELD_WITHIN = 1 << 10
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def is_warc(head: bytes, _: Layer) -> bool | None:
    """Whether a file that begins with `head` is a WARC file: its first line is `WARC/0.x` or `WARC/1.x`.

    None if more bytes are needed.
    """
    known = begins(head, *_MAGICS)
    if not known or _VERSION.match(head):
        return known
    return None if _VERSION_BEGUN.fullmatch(head) else False


def _has_fields(head: bytes, _: Layer) -> bool | None:
    return _ANY_FIELD.search(head[:_FIELD_WITHIN]) is not None or (None if len(head) < _FIELD_WITHIN else False)


def open_warc(reader: Reader, layer: Layer) -> Iterator[Member | Texts | SourceError]:
    """Yield the records of a WARC file as members; and errors about damaged parts and, once, about a record in several
    segments, which are not joined: each is a member.

    Small records come together as `Texts`. A member or `Texts` may be used until the next item is requested. `layer`:
    names and limits of the file. Raises LimitError, and SourceError if the rest of the file cannot be read.
    """
    return _WarcRecords(Buffer.of(reader), layer).members()


class _WarcRecords:
    """Reads the records of a WARC file; after damage searches for the next record."""

    def __init__(self, buffer: Buffer, layer: Layer) -> None:
        self._buffer = buffer
        self._layer = layer
        self._usual = UsualRecords(_name)
        self._before: str | None = None  # name of the previous record
        self._has_reported_segments = False

    def members(self) -> Iterator[Member | Texts | SourceError]:
        buffer = self._buffer
        # Whether bytes were lost, so that the next byte need not be the first of a record.
        is_lost = False
        # The offset of damaged bytes, and the reason.
        wrong: tuple[int, str] | None = None
        while True:
            while not (is_lost or wrong) and (texts := self._run()):
                yield texts
            while blank := _BLANK.match(buffer.peek()):
                buffer.skip(blank.end())
            gap = buffer.peek(_LONGEST_BEGIN) if is_lost or wrong else b""
            if gap and not _BEGIN.match(gap):
                yield from open_gap(buffer, _BEGIN, _LONGEST_BEGIN, self._layer)
            at = buffer.tell()
            header = self._header()
            if isinstance(header, str):
                wrong = wrong or (at, header)
                continue
            error = buffer.error if header is None else None
            if wrong:
                extent = affected(at - wrong[0], error, is_at_record=header is not None)
                yield SourceError(self._layer.name, f"damaged at byte {wrong[0]}: {wrong[1]}; {extent}")
                wrong = None
            if header is not None:
                is_lost = yield from self._record(header, at)
                if not _has_length(header):
                    wrong = at, "a header has no valid Content-Length"
            elif error is None:
                return
            else:
                buffer.resume()
                if not isinstance(error, DamageError):
                    raise error
                is_lost = True
                yield error

    def _run(self) -> Texts | None:
        """Take the next records that are complete in the buffer, and whose text needs no decoding. None if `_header`
        and `_record` must read the next one.
        """
        if self._layer.is_deepest:
            return None
        data = self._buffer.peek(_RUN)
        texts, end = self._usual.find(data)
        if not end:
            texts, end = self._unusual(data)
        self._buffer.skip(end)
        if not end:
            return None
        self._before = texts.labels[-1].member
        return texts

    def _unusual(self, data: memoryview) -> tuple[Texts, int]:
        """The texts of up to 16 records at the beginning of `data`, before one that is incomplete, damaged, a
        continuation, or whose text needs decoding; and the index after them, or 0.
        """
        texts: list[tuple[Label, int, int]] = []
        end = 0
        while len(texts) < _FEW:
            blank = _BLANK.match(data, end)
            at = blank.end() if blank else end
            match = _HEADER_END.search(data, at, at + HEADER) if _RECORD.match(data, at) else None
            fields = _fields(match, data[at : match.end()]) if match else ""
            if not match or isinstance(fields, str) or _is_continuation(fields) or not _has_length(fields):
                break
            start = match.end()
            after = start + int(fields[b"content-length"])
            if after > len(data):
                break
            message = plain_body(data, start, after) if _is_http(fields) else (b"", start)
            if message is None:
                break
            head, body = message
            name = _name(fields) or f"byte {self._buffer.tell() + at}"
            texts.append((Label(name, _capture(fields, head)), body, after))
            end = after
        return Texts.of(data, texts), end

    def _header(self) -> _Fields | str | None:
        """Take the header at the next byte, and return its fields. Without a valid header, take what is certainly a
        part of a header, and return the reason (a str). None at the end, and where reading failed (`_buffer.error`).
        """
        buffer = self._buffer
        data = buffer.peek(_SIGN)
        if not data:
            return None
        if len(data) >= _SIGN or buffer.error is None:
            if not _RECORD.match(data):
                previous = f", where {self._before} ends by its length" if self._before else ""
                return f"no record begins here{previous}"
            if end := buffer.find_within(_HEADER_END, HEADER):
                fields = _fields(end, buffer.peek()[: end.end()])
                buffer.skip(end.start("next") if end["next"] else end.end())
                return fields
            data = buffer.peek(0)
            if len(data) >= HEADER:
                buffer.skip(HEADER - _LONGEST_BEGIN)
                return f"a header has more than {HEADER:,} bytes"
        buffer.skip(len(data))
        return "a header is truncated" if buffer.error is None else None

    def _record(self, fields: _Fields, at: int) -> Generator[Member | SourceError, None, bool]:
        """Yield the record after its header (`fields`, at offset `at`) as a member, and its errors. Returns whether
        bytes of it were lost.
        """
        name = self._before = _name(fields) or f"byte {at}"
        if _is_continuation(fields) and not self._has_reported_segments:
            self._has_reported_segments = True
            reason = "is a segment of another record (WARC-Type: continuation): segments are read each on its own"
            yield SourceError(self._layer.name_of(name), f"{reason}, so a name over two of them is not found")
        if not _has_length(fields):
            gap = GapReader(self._buffer, _BEGIN, _LONGEST_BEGIN)
            yield from open_record(gap, name, _capture(fields), self._layer, is_http=_is_http(fields))
            return False
        block = LengthReader(self._buffer, int(fields[b"content-length"]), self._layer.name_of(name))
        yield from open_record(block, name, _capture(fields), self._layer, is_http=_is_http(fields))
        return block.is_cut


class GapReader(Reader):
    """Reader of the bytes of a buffer up to the next match of a pattern, to the end, or to an error (which stays in the
    buffer): a damaged part of a file, or a record of unknown length.
    """

    def __init__(self, buffer: Buffer, pattern: re.Pattern[bytes], longest: int) -> None:
        """`pattern`: of the beginning of a record. `longest`: maximum bytes of a match."""
        self._buffer = buffer
        self._pattern = pattern
        self._longest = longest
        self._ready = 0  # bytes that were searched
        self._has_match = False

    def read_into(self, view: memoryview) -> int:
        """Read bytes into the front of the view. Returns their number, 0 at the end. Raises nothing."""
        if not self._ready and not self._has_match:
            data = self._buffer.peek(self._longest + 1)
            match = self._pattern.search(data)
            self._has_match = match is not None
            # The byte before a match is searched together with it: the pattern may look at it.
            certain = len(data) - self._longest if len(data) > self._longest else len(data)
            self._ready = match.start() if match else certain
        got = min(self._ready, len(view))
        view[:got] = self._buffer.peek(got)[:got]
        self._buffer.skip(got)
        self._ready -= got
        return got


def open_gap(buffer: Buffer, pattern: re.Pattern[bytes], longest: int, layer: Layer) -> Iterator[Member | SourceError]:
    """Yield the bytes up to the next record as a member without a capture, called by the place of its first byte.

    `pattern`, `longest`: as of `GapReader`; `layer`: names and limits of the archive. Raises LimitError.
    """
    name = f"byte {buffer.tell()}"
    yield from open_record(GapReader(buffer, pattern, longest), name, None, layer, is_http=False)


def affected(byte_count: int, error: SourceError | None, *, is_at_record: bool) -> str:
    """Number of bytes that a damage affects, and the place where they end, for a message: `166 bytes affected, up to the
    end`. `error`: of reading, after them.
    """
    upto = "the next record" if is_at_record else "the end" if error is None else "where reading failed"
    return f"{counted(byte_count, 'byte')} affected, up to {upto}"


def open_record(
    block: Reader, name: str, capture: Capture | None, layer: Layer, *, is_http: bool
) -> Iterator[Member | SourceError]:
    """Yield a record of a web archive as a member with the name `name`, whose reader gives the body of an HTTP message
    (`is_http`) or all of `block`. Then skip what the caller left unread in `block`; if that fails, yield the error.

    If the limit of nesting is reached, yields an error instead of the member. `block`: reader of the record after its
    header; `capture`: metadata of the record, for the member; None: it is no record. `layer`: names and limits of the
    archive. Raises LimitError.
    """
    try:
        inner = layer.inside(name, capture)
    except SourceError as error:
        yield error
    else:
        yield Member(name, Body(block, inner) if is_http else block, capture)
    yield from rest_skipped(block)


def _fields(end: re.Match[bytes], data: memoryview) -> _Fields | str:
    """The fields of the header `data`, or the reason (a str) why it is invalid. `end`: the match of _HEADER_END at its
    end.
    """
    if end["next"]:
        return "a header ends where another begins"
    if not _VERSION_LINE.match(data):
        return "a line that begins a record has no version"
    fields: _Fields = {}
    for name, value in _FIELD.findall(data):
        stripped = value.strip()
        fields.setdefault(name.lower(), _FOLD.sub(b" ", stripped) if b"\n" in stripped else stripped)
    return fields


def _has_length(fields: _Fields) -> bool:
    return _LENGTH.fullmatch(fields.get(b"content-length", b"")) is not None


def _capture(fields: _Fields, head: bytes = b"") -> Capture:
    return Capture(fields.get(b"warc-date", b""), fields.get(b"content-type", b""), head)


def _name(fields: _Fields) -> str:
    uri = fields.get(b"warc-target-uri", b"")
    # The grammar of version 1.0 puts the URI into angle brackets, its examples do not.
    if uri.startswith(b"<") and uri.endswith(b">"):
        uri = uri[1:-1]
    name = b" ".join(filter(None, (uri, fields.get(b"warc-record-id")))).decode("utf-8", "backslashreplace")
    return name if name.isprintable() else _CONTROL.sub(lambda control: f"\\x{ord(control[0]):02x}", name)


def _is_continuation(fields: _Fields) -> bool:
    # ISO 28500, 6.9: a segment that continues the block of an earlier record.
    return fields.get(b"warc-type", b"").lower() == b"continuation"


def _is_http(fields: _Fields) -> bool:
    content_type = fields.get(b"content-type")
    if content_type:
        return content_type.lower().startswith(b"application/http")
    return fields.get(b"warc-type", b"").lower() in _HTTP_TYPES


FORM = Archive(
    name="a WARC file",
    open=open_warc,
    recognise=is_warc,
    signs=exactly(*_MAGICS),
    suffixes=(".warc", ".wet", ".wat"),
    recognise_named=_has_fields,
    is_web_archive=True,
)
