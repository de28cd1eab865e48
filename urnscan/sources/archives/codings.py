"""Octets in a content coding of HTTP -> the octets that were coded: gzip, deflate, br, zstd (RFC 9110, section 8.4.1).

Other than for files, what follows the end is dropped, as browsers do, and whether something is coded at all is looked
at first: headers that say so are often wrong.
"""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from urnscan.errors import SourceError
from urnscan.sources.buffer import Buffer
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader

__all__ = ["CODINGS", "TRIED", "Decoded"]

TRIED = 1 << 12
"""Octets to be looked at to tell whether they are in a coding."""

_ZLIB_STEP = 1 << 13  # octets that a library gets at a time: each may become a thousand,
_BROTLI_STEP = 1 << 12
_ZSTD_STEP = 1 << 9  # and four of these 128 KiB
_KEPT = 1 << 23  # octets of a body that are kept to be decoded again
_OUT = 1 << 20  # octets that come out of brotli at a time, and at most of what is decoded again
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_SHORT = 64  # octets from which on nothing that is coded is without a control character


class _Decoder(Protocol):
    """Takes off one coding, piece by piece, and never raises."""

    error: str
    """What is wrong with the octets that it was given; empty where nothing is."""
    ended: bool
    """Whether the end of the coding was there."""
    hungry: bool
    """Whether all has come out of the octets that it was given; else it wants none before that."""
    unused: int
    """How many of the octets that it was given last are behind the end."""

    def decode(self, octets: bytes) -> bytes:
        """What comes out of these octets; of those that are wrong, what comes out before that shows."""
        ...


class _Inflate:
    """Takes off gzip, the zlib format or raw deflate."""

    hungry = True

    def __init__(self, window: int) -> None:
        """`window` says which of them, as zlib has it."""
        self._inner = zlib.decompressobj(window)
        self.error = ""
        self.ended = False
        self.unused = 0

    def decode(self, octets: bytes) -> bytes:
        before = self._inner.copy()
        try:
            out = self._inner.decompress(octets)
        except zlib.error as error:
            self.error = str(error).rpartition(": ")[2]
            return _up_to_error(before, octets)
        self.ended = self._inner.eof
        self.unused = len(self._inner.unused_data)
        return out


def _up_to_error(inner: "zlib._Decompress", octets: bytes) -> bytes:
    """What zlib drops that it had found before the error: the octets are halved until the wrong one is left."""
    out = b""
    while len(octets) > 1:
        half = octets[: len(octets) // 2]
        trial = inner.copy()
        try:
            out += trial.decompress(half)
        except zlib.error:
            octets = half
        else:
            inner, octets = trial, octets[len(half) :]
    return out


class _Replayed:
    """Takes off br or zstd, whose libraries drop what they had before an error and let nobody copy their state.

    So what they are given is kept, up to 8 MiB, and after an error given to them a second time, at last octet by octet.
    Where it was more, what came out of the last step before the error is lost.
    """

    def __init__(self, new: Callable[[], Any], library_error: type[Exception], step: int) -> None:
        """`new` makes a decompressor of the library: one like those of lzma; it is given `step` octets at most."""
        self._new = new
        self._library_error = library_error
        self._step = step
        self._inner = new()
        self._kept = bytearray()
        self._keeps = True
        self._last = 0  # octets that were fed last
        self._given = 0  # octets that came out
        self.error = ""
        self.ended = False
        self.hungry = True
        self.unused = 0

    def decode(self, octets: bytes) -> bytes:
        self._last = len(octets) or self._last
        self._keeps = self._keeps and len(self._kept) < _KEPT
        if self._keeps:
            self._kept += octets
        else:
            self._kept.clear()
        try:
            out: bytes = self._inner.decompress(octets)
        except self._library_error as error:
            self.error = str(error)
            return self._again() if self._keeps else b""
        self._given += len(out)
        self.ended = self._inner.eof
        self.hungry = self.ended or self._inner.needs_input
        self.unused = len(self._inner.unused_data)
        return out

    def _again(self) -> bytes:
        """What comes out of the same octets and was not given, if the last are single octets."""
        inner = self._new()
        given = self._given
        out = b""
        sure = len(self._kept) - self._last
        at = 0
        while at < len(self._kept) and len(out) < _OUT:
            step = min(self._step, sure - at) if at < sure else 1
            octets = bytes(self._kept[at : at + step])
            at += step
            try:
                while octets or not inner.needs_input:
                    some = inner.decompress(octets)
                    out += some[given:]
                    given -= min(given, len(some))
                    octets = b""
            except self._library_error:
                break
            if inner.eof:  # brotli calls an error what stands behind the end
                self.error, self.ended, self.unused = "", True, len(self._kept) - at
                break
        return out


class _Brotli:
    """brotli's decompressor, its methods called as those of zlib and lzma are."""

    unused_data = b""

    def __init__(self) -> None:
        import brotli  # noqa: PLC0415 (only few archives need it)

        self._inner = brotli.Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._inner.is_finished())

    @property
    def needs_input(self) -> bool:
        return bool(self._inner.can_accept_more_data())

    def decompress(self, octets: bytes) -> bytes:
        return bytes(self._inner.process(octets, output_buffer_limit=_OUT))


class _Zstd:
    """zstandard's decompressor of one frame, likewise; what comes out of a few octets needs no limit."""

    needs_input = True

    def __init__(self) -> None:
        import zstandard  # noqa: PLC0415 (only few archives need it)

        self._inner = zstandard.ZstdDecompressor().decompressobj()

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, octets: bytes) -> bytes:
        return self._inner.decompress(octets)


def _new_brotli() -> _Decoder:
    import brotli  # noqa: PLC0415 (only few archives need it)

    return _Replayed(_Brotli, brotli.error, _BROTLI_STEP)


def _new_zstd() -> _Decoder:
    import zstandard  # noqa: PLC0415 (only few archives need it)

    return _Replayed(_Zstd, zstandard.ZstdError, _ZSTD_STEP)


@dataclass(frozen=True, slots=True)
class _Coding:
    """A content coding: how it is known, and taken off."""

    name: str
    new: Callable[[], _Decoder]
    step: int
    """Octets that it is given at a time: so few that what comes out of them is no more than some MB."""
    magic: re.Pattern[bytes] | None = None
    """What it begins with, and each further part of it: only these two may have several."""

    def fits(self, head: bytes) -> bool:
        """Whether a body that begins so can be in it."""
        return self.magic.match(head) is not None if self.magic else self._decodes(head)

    def _decodes(self, head: bytes) -> bool:
        """The same where there is no magic: whether something comes out, and not by chance."""
        is_text = _CONTROL.search(head) is None
        if is_text and len(head) > _SHORT:
            return False
        decoder = self.new()
        some = False
        for at in range(0, len(head), self.step):
            some |= decoder.decode(head[at : at + self.step]) != b""
            if decoder.error or decoder.ended or not decoder.hungry:
                break
        if is_text:
            return decoder.ended and not decoder.unused
        return some or not decoder.error


_GZIP = _Coding("gzip", lambda: _Inflate(31), _ZLIB_STEP, re.compile(rb"\x1f\x8b\x08"))
_ZLIB = _Coding("deflate", lambda: _Inflate(15), _ZLIB_STEP)
_DEFLATE = _Coding("deflate", lambda: _Inflate(-15), _ZLIB_STEP)
_BROTLI = _Coding("br", _new_brotli, _BROTLI_STEP)
_ZSTD = _Coding("zstd", _new_zstd, _ZSTD_STEP, re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"))

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
        self._reader = reader
        self._layer = layer
        self._coding = coding
        self._out = memoryview(b"")  # what came out and is still to be given
        self._decoder: _Decoder | None = None
        self._flushed = False
        self._ended = False

    def read_into(self, view: memoryview) -> int:
        """Fill the front of the view with what was decoded."""
        while not self._out and not self._ended:
            self._advance()
        got = min(len(self._out), len(view))
        view[:got] = self._out[:got]
        self._out = self._out[got:]
        return got

    def close(self) -> None:
        """Close the reader below."""
        self._reader.close()

    def _advance(self) -> None:
        """Decode some more, once all that came out was given; raises what is wrong."""
        decoder = self._decoder
        if decoder is None:
            self._decoder = decoder = self._coding.new()
        elif decoder.error:
            self._ended = True
            if "check" not in decoder.error:  # all three libraries say this of a checksum that fails
                reason = f"its {self._coding.name} coding is damaged ({decoder.error}): read up to there"
                raise SourceError(self._layer.name, reason)
            reason = f"the checksum of its {self._coding.name} coding is wrong: what was read of it may be damaged"
            self._layer.budget.failed_checksum(SourceError(self._layer.name, reason))
            return
        elif decoder.ended:
            self._decoder = None
            self._ended = self._coding.magic is None or self._coding.magic.match(self._reader.peek(4)) is None
            return
        out = decoder.decode(b"") if not decoder.hungry else self._decode_next(decoder)
        self._layer.budget.gave(len(out))
        self._out = memoryview(out)

    def _decode_next(self, decoder: _Decoder) -> bytes:
        octets = bytes(self._reader.peek(self._coding.step)[: self._coding.step])
        if not octets and not self._flushed:
            self._flushed = True
            return decoder.decode(b"")  # brotli may still hold something
        if not octets:
            self._ended = True
            self._reader.read_into(memoryview(bytearray(1)))  # raises what ended it
            raise SourceError(self._layer.name, f"its {self._coding.name} coding ends too early: what is there is read")
        out = decoder.decode(octets)
        self._reader.advance(len(octets) - decoder.unused)
        return out
