"""ARC files, the predecessor of WARC (Internet Archive, 1996; versions 1 and 2): records as members.

A record begins with a line: the address, the IP, fourteen digits of the time, the media type, in version 2 more fields,
and the length. The address and the media type may contain spaces, so the line is split from its end. The name of a
member is its address. Headers of HTTP messages are not text. Bytes that are not a record, up to the next line of a
record, are a member, too; an error reports where they are and how many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from urnscan.errors import DamageError, SourceError
from urnscan.formats.archives.warc import affected, open_gap, open_record
from urnscan.formats.buffer import Buffer
from urnscan.formats.captures import Capture
from urnscan.formats.contents import Member
from urnscan.formats.context import Layer
from urnscan.formats.protocol import Archive
from urnscan.stores.reader import LengthReader, Reader

_LONGEST = 1 << 14  # maximum bytes of the first line of a record
# The lookahead checks the end of the line first, so that a hostile line takes only time in proportion to its length.
_LINE = (
    rb"(?P<address>[A-Za-z][A-Za-z0-9+.-]{0,30}:(?=[^\r\n]* [0-9]{1,18}\r?\n)[^\r\n]*) [^ \r\n]+ "
    rb"(?P<date>[0-9]{14}) (?P<kind>[^\r\n]*) (?P<length>[0-9]{1,18})\r?\n"
)
_OF_VERSION_2 = re.compile(rb" [^ ]* [^ ]* [^ ]* [0-9]+ [^ ]*\Z")  # after the media type: status, checksum, and so on
_RECORD = re.compile(_LINE)
_NEXT = re.compile(rb"(?<=\n)" + _LINE)
_BLANK = re.compile(rb"[\r\n]+")


def is_arc(head: bytes, _: Layer) -> bool | None:
    """Whether a file with the suffix .arc, which begins with `head`, is an ARC file: its first line is that of a
    record, with an address that begins with `filedesc:`. None if more bytes are needed.
    """
    if not (head.startswith(b"filedesc:") or b"filedesc:".startswith(head)):
        return False
    return _RECORD.match(head) is not None or (None if len(head) < _LONGEST and b"\n" not in head else False)


def open_arc(reader: Reader, layer: Layer) -> Iterator[Member | SourceError]:
    """Yield the records of an ARC file (a web archive) as members, and an error for each damaged part.

    The reader of a member may be used until the next item is requested. `layer`: names and limits of the file. Raises
    SourceError if the rest of the file cannot be read.
    """
    buffer = Buffer.of(reader)
    before = ""
    while True:
        while blank := _BLANK.match(buffer.peek()):
            buffer.skip(blank.end())
        match = _RECORD.match(buffer.peek(_LONGEST))
        if match is not None:
            buffer.skip(match.end())
            before = match["address"].decode("utf-8", "backslashreplace")
            block = LengthReader(buffer, int(match["length"]), layer.name_of(before))
            capture = Capture(match["date"], _OF_VERSION_2.sub(b"", match["kind"]))
            yield from open_record(block, before, capture, layer, is_http=before.lower().startswith("http"))
        elif buffer.peek():
            at = buffer.tell()
            yield from open_gap(buffer, _NEXT, _LONGEST, layer)
            previous = f", where {before} ends by the length in its line" if before else ""
            # Reading one byte more may fail.
            is_at_record = bool(buffer.peek())
            extent = affected(buffer.tell() - at, buffer.error, is_at_record=is_at_record)
            yield SourceError(layer.name, f"damaged at byte {at}: no record begins here{previous}; {extent}")
        elif buffer.error is None:
            return
        else:
            error = buffer.error
            buffer.resume()
            if not isinstance(error, DamageError):
                raise error
            yield error


FORM = Archive(name="an ARC file", open=open_arc, suffixes=(".arc",), recognise_named=is_arc, is_web_archive=True)
