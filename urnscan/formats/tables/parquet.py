"""Parquet files, read row group by row group. Damage in a column costs only this column, in its row group."""

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.errors import SourceError
from urnscan.formats.contents import Values
from urnscan.formats.context import Layer
from urnscan.formats.protocol import Table, exactly, looks_binary
from urnscan.formats.tables.former_outputs import former_output
from urnscan.formats.tables.nested_text import FAILED, Tails, as_bytes, choose, read_column, tails_of
from urnscan.formats.tables.values import MAX_BYTES, Failures, bytes_of, in_place, in_words
from urnscan.stores.reader import Reader, begins, path_of_file

_MAGIC = b"PAR1"
_ENCRYPTED = b"PARE"
_RESULT_KEY = b"urnscan"  # in the metadata of the tables that a run writes
_TO_DECRYPT = "is encrypted, and is not read; decrypt it first"

_MAX_ROWS = 1 << 16
_BUFFER = 1 << 18
# Bytes; columns with a larger dictionary are read as dictionary arrays.
_LARGE_DICTIONARY = 1 << 22
_UNFOLDED = 1 << 30  # maximum bytes from decoding a small dictionary, in a hostile file
# Bytes of memory of a value in a list, in addition to its text: its levels and its offset. Levels are run-length coded,
# so a file of some hundred bytes may have any number of values, all in one row.
_IN_LIST = 12
# Maximum bytes of values in lists: 1 GiB, or 8 times their compressed bytes if this is more.
_LISTS = 1 << 30
_LISTS_RATIO = 8


def is_parquet(head: bytes, layer: Layer) -> bool | None:
    """Whether a file that begins with `head` is a Parquet file: it begins with "PAR1".

    With the suffix .parquet also if it begins with "PARE" (encrypted), with which text may begin, too. None if more
    bytes are needed.
    """
    signs = (_MAGIC, _ENCRYPTED) if layer.file_name.lower().endswith(".parquet") else (_MAGIC,)
    return begins(head, *signs)


def read_parquet(reader: Reader, layer: Layer) -> Iterator[Values | SourceError]:
    """Yield the strings and bytes in the columns of a Parquet file as `Values`, at any depth; with `--column` only
    those in named columns. Also yields errors about named columns, and about damaged columns of row groups.

    Without `--column`, a file that urnscan wrote yields a note first, and nothing else if `layer.reading.results` is
    False. Bytes that are not a seekable file are read into memory. Raises SourceError if the whole file cannot be read
    (truncated, encrypted, damaged, or more than 256 MiB in memory), and LimitError.
    """
    file = reader.reopen()
    with file or contextlib.nullcontext():
        try:
            if file is None:
                source = pa.BufferReader(pa.py_buffer(bytes_of(reader, layer)))
            elif path := path_of_file(file):
                source = pa.OSFile(path)
            else:
                source = pa.PythonFile(file, "r")
            with source:
                if not _has_end(source):
                    raise SourceError(layer.name, "truncated Parquet file; copy it again")
                yield from _Parquet(source, layer, counts=file is not None).read()
        except FAILED as error:
            raise SourceError(layer.name, f"damaged Parquet file: {in_words(error)}") from error


def _has_end(file: pa.NativeFile) -> bool:
    file.seek(max(file.size() - len(_MAGIC), 0))
    return bool(file.read(len(_MAGIC)) in (_MAGIC, _ENCRYPTED))


class _ReadError(Exception):
    pass


class _Unread:
    """File for pyarrow without bytes: `read` raises _ReadError, so that only the metadata is checked."""

    closed = False

    def __init__(self, size: int) -> None:
        self._size = size

    def seek(self, *_: int) -> int:
        return self._size

    def tell(self) -> int:
        return self._size

    def read(self, _: int) -> bytes:
        raise _ReadError

    def close(self) -> None:
        pass


class _Group(NamedTuple):
    """A row group: an open file, its number in the file, its first row in the file, and the rows of a batch."""

    file: Any
    number: int
    row: int
    most: int

    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Read columns, and perhaps others, whose dotted paths begin with their names. Raises errors of pyarrow."""
        batches: Iterator[pa.RecordBatch]
        batches = self.file.iter_batches(self.most, row_groups=[self.number], columns=columns, use_threads=False)
        return batches


class _Parquet:
    def __init__(self, source: pa.NativeFile, layer: Layer, *, counts: bool) -> None:
        """`counts`: False if the bytes of the file are already counted in the budget."""
        self._source = source
        self._layer = layer
        self._counts = counts
        if source.read_at(len(_ENCRYPTED), 0) == _ENCRYPTED:
            raise SourceError(layer.name, _TO_DECRYPT)
        self._metadata: Any = None
        self._file = self._open(source, [])
        self._metadata = self._file.metadata
        self._left = source.size()  # bytes of the file that were not counted as read
        self._columns: list[str] = []  # columns of the file that are read
        self._failures = Failures(layer.name, "parts")
        self._unread = self._open(pa.PythonFile(_Unread(source.size()), "r"), [])

    def read(self) -> Iterator[Values | SourceError]:
        if _RESULT_KEY in (self._metadata.metadata or {}) and not self._layer.reading.columns:
            yield former_output(self._layer)
            if not self._layer.reading.results:
                return
        schema = self._file.schema_arrow
        chosen, errors = choose(schema, self._layer)
        yield from errors
        names = {schema.field(index).name: tails for index, tails in chosen.items()}
        self._columns = list(names)
        paths = [self._file.schema.column(index).path for index in range(self._metadata.num_columns)]
        leaves = [index for index, path in enumerate(paths) if any(tails_of(name, (path,)) for name in self._columns)]
        row = 0
        for group in range(self._metadata.num_row_groups if names else 0):
            try:
                yield from self._read_group(group, row, names, leaves)
            except FAILED as error:
                yield from self._failed(group, "", error)
            row += self._metadata.row_group(group).num_rows
        yield from self._failures.rest()

    def _failed(self, group: int, part: str, error: BaseException) -> Iterator[SourceError]:
        why = _TO_DECRYPT if "crypt" in str(error).lower() else f"damaged: {in_words(error)}"
        yield from self._failures.one(f"row group {group}{part} {why}")

    def _read_group(
        self, group: int, row: int, names: dict[str, Tails], leaves: list[int]
    ) -> Iterator[Values | SourceError]:
        self._try_metadata(group)
        chunks = [(leaf, self._metadata.row_group(group).column(leaf)) for leaf in leaves]
        rows = max(1, self._metadata.row_group(group).num_rows)
        # The sizes in the metadata may be wrong, so no more than the bytes of the file are counted.
        there = min(self._left, sum(max(0, chunk.total_compressed_size) for _, chunk in chunks))
        self._left -= there
        if self._counts:
            self._layer.budget.count_read(there)
        # With nulls and empty lists.
        repeated = (chunk for leaf, chunk in chunks if self._file.schema.column(leaf).max_repetition_level)
        in_lists = _IN_LIST * sum(max(0, chunk.num_values) for chunk in repeated)
        byte_count = in_lists + sum(max(0, chunk.total_uncompressed_size) for _, chunk in chunks)
        # The whole row group may be a single page, which needs three times its bytes in memory.
        self._layer.budget.check_announced(byte_count)
        if in_lists > max(_LISTS, _LISTS_RATIO * there):
            raise OverflowError(f"lists with {in_lists // _IN_LIST:,} values are too long; write smaller row groups")
        most = min(_MAX_ROWS, 2 * MAX_BYTES * rows // max(1, byte_count))
        kept = []
        for leaf, chunk in chunks:
            dictionary = self._dictionary(chunk)
            column = self._file.schema.column(leaf)
            is_text = column.physical_type == "BYTE_ARRAY"
            if is_text and dictionary and (dictionary > _LARGE_DICTIONARY or column.max_repetition_level):
                kept.append(column.path)
            elif dictionary * most > _UNFOLDED:
                longest = dictionary
                if is_text and column.path in self._columns:
                    # The error of a damaged column follows, when its values are read.
                    with contextlib.suppress(*FAILED):
                        longest = self._longest(group, column.path)
                most = min(most, _UNFOLDED // max(1, longest))
        file = self._open(self._source, kept) if kept else self._file
        yield from self._read_columns(_Group(file, group, row, max(1, most)), names)

    def _read_columns(self, group: _Group, names: dict[str, Tails]) -> Iterator[Values | SourceError]:
        """Yield the values of columns in a row group; for a damaged column, those before the damage, and an error.
        `names`: as of `choose`.
        """
        # Number of rows that were read of each column; damaged columns are removed.
        counts = dict.fromkeys(names, 0)
        try:
            yield from self._values(group, names, counts)
        except FAILED:
            # pyarrow does not say which column is damaged.
            for name in [*counts]:
                try:
                    yield from self._values(group, {name: names[name]}, counts)
                except FAILED as error:
                    yield from self._failed(group.number, f", column {in_place(name)!r}", error)

    def _values(self, group: _Group, names: dict[str, Tails], counts: dict[str, int]) -> Iterator[Values | SourceError]:
        at = 0
        for batch in group.batches([*names]):
            end = at + batch.num_rows
            for field, column in zip(batch.schema, batch.columns, strict=True):
                name = field.name
                if name not in names or not at <= (start := counts.get(name, -1)) < end:
                    continue
                try:
                    yield from read_column(column[start - at :], name, names[name], group.row + start, self._layer)
                except FAILED as error:
                    del counts[name]
                    yield from self._failed(group.number, f", column {in_place(name)!r}", error)
            # Only now, as several columns may have one name.
            counts.update((name, max(end, counts[name])) for name in counts.keys() & names)
            at = end

    def _longest(self, group: int, name: str) -> int:
        """Bytes of the longest value in the dictionary of a text column in a row group."""
        file = self._open(self._source, [name])
        batch = next(file.iter_batches(1, row_groups=[group], columns=[name], use_threads=False))
        dictionary = batch.column(0).dictionary
        return pc.max(pc.binary_length(as_bytes(dictionary))).as_py() or 0

    def _try_metadata(self, group: int) -> None:
        # Without this check, damaged metadata could end the process by an exception in C++.
        with contextlib.suppress(_ReadError):
            next(self._unread.iter_batches(1, row_groups=[group], columns=self._columns, use_threads=False), None)

    def _open(self, source: pa.NativeFile, kept: list[str]) -> Any:  # noqa: ANN401 (pyarrow carries no types)
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
        """Unpacked bytes, by its header, of the dictionary page of a column chunk; 0 without one. `chunk`: its
        metadata.
        """
        start = chunk.data_page_offset
        if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
            start = chunk.dictionary_page_offset
        # The first fields of a page header, in Thrift's compact protocol, are type and size: each a byte 0x15 and a number
        # in zigzag encoding, seven bits in each byte.
        header = self._source.read_at(12, start)
        if not header.startswith(b"\x15\x04\x15"):
            return 0
        size = 0
        for shift, byte in enumerate(header[3:]):
            size |= (byte & 0x7F) << 7 * shift
            if byte < 0x80:
                break
        return size >> 1


FORM = Table(
    name="a Parquet file",
    open=read_parquet,
    recognise=is_parquet,
    signs=exactly(_MAGIC, _ENCRYPTED),
    suffixes=(".parquet",),
    recognise_named=looks_binary,
    needs_beginning=True,
)
