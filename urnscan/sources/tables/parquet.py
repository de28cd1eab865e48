"""Parquet: row group by row group, so that a damaged one does not harm the others."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from urnscan.errors import SourceError
from urnscan.sources.documents import Values
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader, begins
from urnscan.sources.tables.leaves import FAILED, Tails, choose, read_column, tails_of
from urnscan.sources.tables.values import MOST_OCTETS, Failures, in_words, octets_of, path_of

__all__ = ["is_parquet", "read_parquet"]

_MAGIC = b"PAR1"
_ENCRYPTED = b"PARE"
_TO_DECRYPT = "is encrypted, and is not read: decrypt it first"

_MOST_ROWS = 1 << 16
_BUFFER = 1 << 18
_LARGE_DICTIONARY = 1 << 22  # octets; a larger dictionary stays one while its column is decoded
_UNFOLDED = 1 << 30  # octets that decoding a small dictionary may take in a hostile file


def is_parquet(head: bytes, layer: Layer) -> bool | None:
    """Whether it is Parquet. Text may begin with the sign of encrypted Parquet, so that one needs its name as well."""
    signs = (_MAGIC, _ENCRYPTED) if layer.file_name.lower().endswith(".parquet") else (_MAGIC,)
    return begins(head, *signs)


def read_parquet(reader: Reader, layer: Layer) -> Iterator[Values | SourceError]:
    """The text in a Parquet file, row group by row group; one that is damaged does not harm the others.

    Raises SourceError where the file as a whole cannot be read.
    """
    file = reader.reopen()
    try:
        if file is None:
            source = pa.BufferReader(pa.py_buffer(octets_of(reader, layer)))
        elif path := path_of(file):
            source = pa.OSFile(path)
        else:
            source = pa.PythonFile(file, "r")
        with source:
            yield from _Parquet(source, layer, counts=file is not None).read()
    except SourceError:
        raise
    except FAILED as error:
        raise SourceError(layer.name, f"cannot be read as Parquet: {in_words(error)}") from error
    finally:
        if file is not None:
            file.close()


class _ReadError(Exception):
    """Raised by a file that is not to be read."""


class _Unread:
    """A file of a size, for pyarrow to look at and not to read."""

    closed = False

    def __init__(self, size: int) -> None:
        self._size = size

    def seek(self, *_: int) -> int:
        """Anywhere is as good."""
        return self._size

    def tell(self) -> int:
        """The end, so that it is known."""
        return self._size

    def read(self, _: int) -> bytes:
        """Raises _ReadError."""
        raise _ReadError

    def close(self) -> None:
        """Nothing is open."""


class _Parquet:
    """A Parquet file while it is read."""

    def __init__(self, source: pa.NativeFile, layer: Layer, *, counts: bool) -> None:
        """`counts`: whether the budget is to be told what is read. Raises pyarrow's own errors and SourceError."""
        self._source = source
        self._layer = layer
        self._counts = counts
        if source.read_at(len(_ENCRYPTED), 0) == _ENCRYPTED:
            raise SourceError(layer.name, _TO_DECRYPT)
        self._metadata: Any = None
        self._file = self._open(source, [])
        self._metadata = self._file.metadata
        self._unread = self._open(pa.PythonFile(_Unread(source.size()), "r"), [])

    def read(self) -> Iterator[Values | SourceError]:
        """What is in the chosen columns."""
        schema = self._file.schema_arrow
        chosen, errors = choose(schema, self._layer)
        yield from errors
        names = {schema.field(index).name: tails for index, tails in chosen.items()}
        leaves = [
            index
            for index in range(self._metadata.num_columns)
            if any(tails_of(name, (self._file.schema.column(index).path,)) for name in names)
        ]
        failures = Failures(self._layer.name, "row groups")
        row = 0
        for group in range(self._metadata.num_row_groups if names else 0):
            try:
                yield from self._read_group(group, row, names, leaves)
            except SourceError:
                raise
            except FAILED as error:
                why = _TO_DECRYPT if "crypt" in str(error).lower() else f"damaged: {in_words(error)}"
                yield from failures.one(f"row group {group} {why}")
            row += self._metadata.row_group(group).num_rows
        yield from failures.rest()

    def _read_group(self, group: int, row: int, names: dict[str, Tails], leaves: list[int]) -> Iterator[Values]:
        self._try_metadata(group, list(names))
        chunks = [(leaf, self._metadata.row_group(group).column(leaf)) for leaf in leaves]
        rows = max(1, self._metadata.row_group(group).num_rows)
        if self._counts:
            self._layer.budget.took(sum(max(0, chunk.total_compressed_size) for _, chunk in chunks))
        octets = sum(max(0, chunk.total_uncompressed_size) for _, chunk in chunks)
        self._layer.budget.may_give(octets)  # a page may be all of it, and takes its memory thrice
        most = min(_MOST_ROWS, 2 * MOST_OCTETS * rows // max(1, octets))
        kept = []
        for leaf, chunk in chunks:
            dictionary = self._dictionary(chunk)
            column = self._file.schema.column(leaf)
            if dictionary and column.physical_type == "BYTE_ARRAY":
                if dictionary > _LARGE_DICTIONARY or column.max_repetition_level:
                    kept.append(column.path)
                    continue
            if dictionary:
                most = min(most, _UNFOLDED // dictionary)
        file = self._open(self._source, kept) if kept else self._file
        for batch in file.iter_batches(max(1, most), row_groups=[group], columns=list(names), use_threads=False):
            for field, column in zip(batch.schema, batch.columns, strict=True):
                if field.name in names:
                    yield from read_column(column, field.name, names[field.name], row, self._layer)
            row += batch.num_rows

    def _try_metadata(self, group: int, names: list[str]) -> None:
        """Raise what is wrong with the metadata of column chunks.

        Where pyarrow is asked for them, an exception of its C++ ends the process; where it reads it is caught, and
        they are looked at before anything is read.
        """
        with contextlib.suppress(_ReadError):
            next(self._unread.iter_batches(1, row_groups=[group], columns=names, use_threads=False), None)

    def _open(self, source: pa.NativeFile, kept: list[str]) -> Any:  # noqa: ANN401 (pyarrow carries no types)
        """`kept` are the columns whose dictionaries are kept as such."""
        import pyarrow.parquet as pq  # noqa: PLC0415 (takes long to load, and few runs need it)

        return pq.ParquetFile(
            source,
            metadata=self._metadata,
            read_dictionary=kept,
            buffer_size=_BUFFER,
            pre_buffer=False,
            page_checksum_verification=True,
        )

    def _dictionary(self, chunk: Any) -> int:  # noqa: ANN401 (pyarrow carries no types)
        """The octets of the dictionary of a column chunk, 0 where it begins with none.

        The first page of a chunk is its dictionary. In its header, in Thrift's compact protocol, the first fields are
        the type of the page and its size: each an octet 0x15 and a number in zigzag, seven bits an octet.
        """
        start = chunk.data_page_offset
        if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
            start = chunk.dictionary_page_offset
        header = self._source.read_at(12, start)
        if not header.startswith(b"\x15\x04\x15"):
            return 0
        size = 0
        for shift, octet in enumerate(header[3:]):
            size |= (octet & 0x7F) << 7 * shift
            if octet < 0x80:
                break
        return size >> 1
