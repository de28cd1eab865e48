"""Avro files (Apache Avro 1.12, "Object Container Files"): block by block, so that a damaged one does not harm the others.

The text in a block is found by our own walk through it: other readers make an object of each value before anything is
counted, and what is nested deeper than their stack ends the process.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from urnscan.errors import DamageError, SourceError
from urnscan.sources.buffer import Buffer, CutError
from urnscan.sources.compression import decoders, frames
from urnscan.sources.compression.replay import BrokenError, ChecksumError, Decode
from urnscan.sources.documents import Values
from urnscan.sources.layers import Layer
from urnscan.sources.reader import PieceReader, Reader, begins
from urnscan.sources.tables.avro_schema import DataError, Found, Schema, number, octets_at
from urnscan.sources.tables.values import Failures, gather, in_words, read_growing

if TYPE_CHECKING:
    from urnscan.sources.tables import values

_MAGIC = b"Obj\x01"
_SYNC = 16  # octets of the marker behind each block
_HEAD = 1 << 12
_LONGEST_HEADER = 1 << 24  # octets: it holds the schema
_LARGEST = 1 << 28  # octets of a block, packed or not; writers make them of some KiB
_SNAPPY_CHECKSUM = 4  # octets behind what snappy compressed
_BLOCK = 1 << 18  # octets read at a time

_DECODERS: dict[str, Decode] = {
    "deflate": decoders.deflate,
    "bzip2": decoders.bzip2,
    "xz": decoders.xz,
    "zstandard": frames.zstandard,
}


def is_avro(head: bytes, _: Layer) -> bool | None:
    """Tell an Avro file by its sign."""
    return begins(head, _MAGIC)


def read_avro(reader: Reader, layer: Layer) -> Iterator[Values | SourceError]:
    """Read the text in an Avro file. Raises SourceError if it cannot be read to its end."""
    file = _File(Buffer.of(reader), layer)
    errors = list(file.schema.errors(layer))
    yield from errors
    if file.schema.has_text:
        yield from gather(file.found(), layer)


class _File:
    def __init__(self, buffer: Buffer, layer: Layer) -> None:
        """Raises SourceError if its header is damaged."""
        self._buffer = buffer
        self._layer = layer
        self._failures = Failures(layer.name, "blocks")
        try:
            metadata, self._sync = self._header()
            self.schema = Schema(metadata.get(b"avro.schema", b""), layer.reading.columns)
        except (DataError, ValueError, RecursionError) as error:
            raise SourceError(
                layer.name, f"cannot be read as Avro: its header is damaged: {in_words(error)}"
            ) from error
        self._codec = metadata.get(b"avro.codec", b"null").decode("utf-8", "replace")
        if self._codec not in ("null", "snappy", *_DECODERS):
            raise SourceError(
                layer.name, f"is compressed with {in_words(ValueError(self._codec))!r}, which is not read"
            )
        self._marker = re.compile(re.escape(self._sync))

    def _header(self) -> tuple[dict[bytes, bytes], bytes]:
        """Take the header: its metadata, and the marker that stands behind each block. Raises DataError."""
        size = _HEAD
        while True:
            octets = bytes(self._buffer.peek(size)[:size])
            try:
                metadata, at = _map(octets, len(_MAGIC))
                _check_length(octets, at + _SYNC)
            except DataError:
                if len(octets) < size or size >= _LONGEST_HEADER:
                    raise
                size *= 4
            else:
                self._buffer.advance(at + _SYNC)
                return metadata, octets[at : at + _SYNC]

    def found(self) -> "Iterator[values.Found | SourceError]":
        """The values in all blocks, and an error for each that is damaged. Raises SourceError where reading ends."""
        buffer = self._buffer
        buffer.hold(_BLOCK)
        row = 0
        try:
            while buffer.peek() or buffer.error is not None:
                start = buffer.position
                buffer.forget()
                try:
                    count, packed = self._block()
                except (DataError, DamageError, CutError) as error:
                    yield from self._lost(start, error)
                    continue
                try:
                    yield from self._values(packed, row, count)
                except (DataError, BrokenError, CutError, ChecksumError, OSError, RecursionError) as error:
                    why = in_words(error) if str(error) or isinstance(error, RecursionError) else "it cannot be decoded"
                    yield from self._failures.one(f"block at octet {start}, rows {row} and on, damaged: {why}")
                row += count
            yield from self._failures.rest()
        finally:
            buffer.release()

    def _block(self) -> tuple[int, bytes]:
        """Take the next block: how many rows it has, and its octets. Raises DataError, CutError and what reading raises."""
        head = bytes(self._buffer.peek(20)[:20])
        if not head and self._buffer.error is not None:
            error = self._buffer.error
            self._buffer.resume()
            raise error
        count, at = number(head, 0)
        size, at = number(head, at)
        if count < 0 or not 0 <= size <= _LARGEST:
            raise DataError(f"it announces {count:,} rows and {size:,} octets")
        self._buffer.advance(at)
        octets = bytes(read_growing(self._buffer, size + _SYNC))
        if len(octets) < size + _SYNC:
            raise CutError
        if octets[size:] != self._sync:
            raise DataError("it does not end where it says")
        return count, octets[:size]

    def _lost(self, start: int, error: Exception) -> Iterator[SourceError]:
        """Go behind the next marker, and tell what is lost up to there."""
        buffer = self._buffer
        if isinstance(error, DamageError):
            yield error
        else:
            buffer.back(start)
        is_there = buffer.find(self._marker, _SYNC)
        if is_there:
            buffer.advance(_SYNC)
        if not isinstance(error, DamageError):
            upto = "the next block" if is_there else "the end"
            why = "the file is cut off" if isinstance(error, CutError) and not is_there else in_words(error)
            if isinstance(error, CutError) and is_there:
                why = "it does not end where it says"
            lost = f"{buffer.position - start:,} octets passed over, up to {upto}; their rows are not counted"
            yield from self._failures.one(f"block at octet {start} damaged: {why}; {lost}")

    def _values(self, packed: bytes, first: int, count: int) -> "Iterator[values.Found]":
        """The values in the rows of a block, the first of which is `first`."""
        octets = self._unpacked(packed)
        at = 0
        for row in range(first, first + count):
            before, out = at, Found()
            at = self.schema.read(octets, at, str(row), out)
            if at == before:  # rows take no octets, and there may be as many as somebody likes to write
                break
            if out.values:
                yield out.values, [(place,) for place in out.places]
        if at < len(octets):
            raise DataError("it holds more than its rows")

    def _unpacked(self, packed: bytes) -> bytes:
        if self._codec == "null":
            return packed
        budget = self._layer.budget
        if self._codec == "snappy":
            size, _ = number(packed, 0, is_signed=False)
            if size > _LARGEST:
                raise DataError(f"it unfolds to {size:,} octets, more than {_LARGEST:,}")
            budget.check_announced(size)
            import pyarrow as pa  # noqa: PLC0415 (few files need it)

            octets: bytes = pa.decompress(packed[:-_SNAPPY_CHECKSUM], size, codec="snappy", asbytes=True)
            budget.count_unfolded(len(octets))
            return octets
        unpacked = bytearray()
        for text in _DECODERS[self._codec](Buffer(PieceReader(iter([packed])))):
            budget.count_unfolded(len(text))
            unpacked += text
            if len(unpacked) > _LARGEST:
                raise DataError(f"it unfolds to more than {_LARGEST:,} octets")
        return bytes(unpacked)


def _check_length(octets: bytes, least: int) -> None:
    if len(octets) < least:
        raise DataError("it ends too early")


def _map(octets: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """A map of octets, as the header has one, and the octet behind it. Raises DataError."""
    found: dict[bytes, bytes] = {}
    while True:
        count, at = number(octets, at)
        if not count:
            return found, at
        if count < 0:
            count, (_, at) = -count, number(octets, at)
        for _ in range(count):
            key, at = octets_at(octets, at)
            found[key], at = octets_at(octets, at)
