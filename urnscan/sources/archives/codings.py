"""Octets in a content coding of HTTP -> the octets that were coded: gzip, deflate, br, zstd (RFC 9110, section 8.4.1).

Other than for files, what follows the end is dropped, as browsers do, and whether something is coded at all is looked
at first: headers that say so are often wrong.
"""

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from urnscan.errors import SourceError
from urnscan.sources.buffer import Buffer, CutError
from urnscan.sources.compression import decoders, frames
from urnscan.sources.compression.decoding import BrokenError, ChecksumError, Decode
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader

__all__ = ["CODINGS", "TRIED", "Decoded"]

TRIED = 1 << 12
"""Octets to be looked at to tell whether they are in a coding."""

_BLOCK = 1 << 16  # octets read at a time
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_SHORT = 64  # octets from which on nothing that is coded is without a control character


@dataclass(frozen=True, slots=True)
class _Coding:
    """A content coding: how it is known, and taken off."""

    name: str
    decoder: Callable[[], Decode]
    magic: re.Pattern[bytes] | None = None
    """The octets with which it begins, and each further part of it; a coding without has one part."""

    def fits(self, head: bytes) -> bool:
        """Whether a body that begins so can be in it."""
        return self.magic.match(head) is not None if self.magic else self._decodes(head)

    def _decodes(self, head: bytes) -> bool:
        """Whether something comes out of the first octets of a body, and not by chance."""
        is_text = _CONTROL.search(head) is None
        if is_text and len(head) > _SHORT:
            return False
        buffer = Buffer(_Octets(head))
        buffer.hold(_BLOCK)
        some = False
        try:
            for text in self.decoder()(buffer):
                some |= text != b""
        except CutError:
            return not is_text
        except (BrokenError, ChecksumError):
            return some and not is_text
        return not (is_text and buffer.peek())


class _Octets(Reader):
    """Octets that are at hand."""

    def __init__(self, octets: bytes) -> None:
        self._file = io.BytesIO(octets)

    def read_into(self, view: memoryview) -> int:
        return self._file.readinto(view)

    def close(self) -> None:
        """Nothing is open."""


_GZIP = _Coding("gzip", decoders.gzip, re.compile(rb"\x1f\x8b\x08"))
_ZLIB = _Coding("deflate", decoders.zlib_format)
_DEFLATE = _Coding("deflate", decoders.inflate)
_BROTLI = _Coding("br", decoders.brotli)
_ZSTD = _Coding("zstd", frames.zstandard, re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"))

CODINGS = {
    b"gzip": (_GZIP,),
    b"x-gzip": (_GZIP,),
    b"deflate": (_ZLIB, _DEFLATE),  # it means the zlib format, but many servers sent what its name says
    b"br": (_BROTLI,),
    b"zstd": (_ZSTD,),
}


class Decoded(Reader):
    """What is in a content coding."""

    def __init__(self, reader: Buffer, layer: Layer, coding: _Coding) -> None:
        self._buffer = reader
        self._layer = layer
        self._coding = coding
        self._texts = self._read()
        self._text = memoryview(b"")  # still to be given

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view with what was decoded."""
        while not self._text:
            text = next(self._texts, None)
            if text is None:
                return 0
            self._text = memoryview(text)
        got = min(len(self._text), len(view))
        view[:got] = self._text[:got]
        self._text = self._text[got:]
        return got

    def close(self) -> None:
        """Close the reader below."""
        self._buffer.close()

    def _read(self) -> Iterator[bytes]:
        """What comes out of each part. Raises SourceError where that is not all."""
        buffer, coding = self._buffer, self._coding
        buffer.hold(_BLOCK)
        decode = coding.decoder()
        is_part = True
        while is_part:
            buffer.forget()
            try:
                for text in decode(buffer):
                    self._layer.budget.gave(len(text))
                    yield text
            except CutError:
                if buffer.error is not None:
                    buffer.read_into(memoryview(bytearray(1)))  # raises it
                raise self._error("ends too early: what is there is read") from None
            except BrokenError as error:
                raise self._error(str(error) or "is damaged: read up to there") from error
            except ChecksumError:
                wrong = f"the checksum of its {coding.name} coding is wrong: what was read of it may be damaged"
                self._layer.budget.failed_checksum(SourceError(self._layer.name, wrong))
                return
            is_part = coding.magic is not None and coding.magic.match(buffer.peek(4)) is not None

    def _error(self, reason: str) -> SourceError:
        return SourceError(self._layer.name, f"its {self._coding.name} coding {reason}")
