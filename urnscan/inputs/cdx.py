"""Indexes of web archives (`--cdx`): they name, for each record, its WARC file, first byte (from 0) and size in bytes.

Formats: CDXJ and the JSON lines of index servers, CDX with a header, and tables in CSV or Parquet with the columns of
Common Crawl's index.
"""

from __future__ import annotations

import csv
import functools
import io
import itertools
import json
import os
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from urnscan.errors import FatalError, LimitError, SourceError, option
from urnscan.formats.limits import Budget, Limits
from urnscan.stores.input import Input, Listed, name_of
from urnscan.stores.urls import HTTP, in_folder, is_remote, local_path, parse_url

STANDARD_INPUT = "-"
_NO_LIMITS = Limits()
_PARQUET = b"PAR1"
_PACKED = (".gz", ".bz2", ".zst", ".lz4")  # suffixes of files that pyarrow unpacks
_COLUMNS = ("warc_filename", "warc_record_offset", "warc_record_length")
_KEYS = ("filename", "offset", "length")
_LETTERS = ("g", "V", "S")
_KNOWN = "CDXJ, CDX with a header, or CSV or Parquet with the columns " + ", ".join(_COLUMNS)
_NAME = re.compile("[^\0\ud800-\udfff]+")
_MAX_DIGITS = 18  # a number with more digits does not fit into 64 bits
_MAX_WRONG = 10_000  # maximum of wrong lines with an error each
_MAX_SHOWN = 80  # maximum characters of a value in a message
_SAFE = "/:@!$&'()*+,;=~"  # characters of a path that are not percent-encoded

_Values = Sequence[Any]
"""Name of the file, first byte, number of bytes, not yet checked."""


@dataclass(frozen=True, eq=False)
class RecordIndex:
    """The records of web archives that an index (`--cdx`) names, in memory, and the folder or URL of the WARC files."""

    source: str
    """Path of the index, or "-" for standard input."""
    place: str
    """Path or URL of the folder below which the WARC files are."""
    files: Mapping[str, array[int]] = field(repr=False)
    """Path of each file below `place`, as in the index -> three numbers for each record, all in one array: first byte
    in the file (from 0), number of bytes, line (from 1) of the index.
    """
    errors: Sequence[SourceError] = field(default=(), repr=False)
    """Errors about the lines of the index that name no record."""

    is_file = True
    """True: the index can be used a second time, as it is in memory. (A list of paths from a pipe cannot.)"""

    @property
    def byte_count(self) -> int:
        """Sum of the sizes in the index, in bytes; a record that the index names twice counts twice."""
        return sum(sum(records[1::3]) for records in self.files.values())

    def find(
        self, find: Callable[[str], Iterator[Listed | Input | SourceError] | None], *, follow: bool
    ) -> Iterator[Input | SourceError]:
        """Yield `errors`; then for each file, sorted by name, an `Input` whose `extents` are the ranges (start, end) of
        its records.

        A SourceError comes instead of the input if the file does not exist or is not a file, and one for each record
        that would end after the end of its file. A record that the index names twice is one range.

        `find`: function that yields the inputs of a path or URL, or an error; None for a file that must not be read. `follow`: whether symbolic links below
        `place` are followed; if not, a file reached through one yields an error.
        """
        from urnscan.stores.prefetch import in_turn  # noqa: PLC0415 (only lists need threads)

        parts = (
            functools.partial(self._file, name, find, follow=follow) for name in sorted(self.files, key=os.fsencode)
        )
        yield from self.errors
        yield from in_turn(part if is_remote(self.place) else part() for part in parts)

    def _file(
        self, name: str, find: Callable[[str], Iterator[Listed | Input | SourceError] | None], *, follow: bool
    ) -> Iterator[Input | SourceError]:
        """Yield the input of the file `name`, whose `extents` are the ranges of its records, and errors about it, or
        about records after its end.
        """
        path = self._path(name)
        if not (follow or is_remote(self.place)) and _has_link(local_path(self.place), name):
            yield SourceError(name_of(path), f"is a symbolic link, which is not read; {option('follow')} reads it")
            return
        if (found := find(path)) is None:
            return
        source = next(found, None)
        if isinstance(source, SourceError):
            yield source
            return
        if not isinstance(source, Input) or not _is_file(source, name):
            shown = parse_url(path).name if is_remote(path) else name_of(path)
            yield SourceError(shown, "is not a file, so its records cannot be read")
            return
        numbers, extents = self.files[name], dict[int, int]()
        for start, size, line in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
            if source.size is not None and start + size > source.size:
                reason = f"{name} has {source.size:,} bytes, and a record of it cannot end at {start + size:,}"
                yield _wrong(self.source, line, reason)
            else:
                extents[start] = max(start + size, extents.get(start, 0))
        if extents:
            chosen = tuple(sorted(extents.items()))
            size = sum(end - start for start, end in chosen)
            yield Input(source.name, source.path, size, source.remote, source.mark, chosen)

    def _path(self, name: str) -> str:
        if not is_remote(self.place):
            return f"{local_path(self.place).rstrip('/')}/{name}"
        return in_folder(self.place, quote(name, safe=_SAFE) if parse_url(self.place).scheme in HTTP else name)


class _Unpacked(io.RawIOBase):
    """The bytes of a packed index, unpacked and counted in the budget."""

    def __init__(self, packed: Any, budget: Budget) -> None:  # noqa: ANN401 (a file of pyarrow)
        self._packed = packed
        self._budget = budget

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:  # noqa: ANN401 (as in io)
        count = int(self._packed.readinto(view))
        self._budget.count_unfolded(count)
        return count


def read_index(source: str, place: str, limits: Limits = _NO_LIMITS) -> RecordIndex:
    """Read a whole index from a path, or from standard input ("-"), into memory; the WARC files are not opened.

    `place`: the folder of the WARC files, or its URL. Each line that names no record is an error in
    `RecordIndex.errors`; after 10,000 of them, one more error has the number of the others.

    Raises FatalError if the index cannot be read, has no lines (except a header), has an unknown format or exceeds the
    limits; also if `place` is a folder that does not exist, or an invalid URL.
    """
    try:
        is_there = bool(parse_url(place)) if is_remote(place) else Path(local_path(place)).is_dir()
    except SourceError as error:
        raise FatalError(str(error)) from error
    if not is_there:
        reason = "no such folder; name the folder or URL of the files that the index lists"
        raise FatalError(f"{name_of(place)}: {reason}")
    files: dict[str, array[int]] = {}
    errors = []
    line = wrong = 0
    try:
        for line, values in _lines(source, limits):
            record = _record(values)
            if isinstance(record, str):
                wrong += 1
                if wrong <= _MAX_WRONG:
                    errors.append(_wrong(source, line, record))
            else:
                name, start, size = record
                files.setdefault(name, array("q")).extend((start, size, line))
    except OSError as error:
        raise FatalError(f"{name_of(source)}: cannot be read as an index: {error.strerror or error}") from error
    except LimitError as error:
        raise FatalError(str(error)) from error
    except (ValueError, csv.Error, EOFError, NotImplementedError) as error:
        raise FatalError(f"{name_of(source)}: cannot be read as an index: {error}") from error
    if not line:
        raise FatalError(f"{name_of(source)}: the index lists no records")
    if wrong > _MAX_WRONG:
        errors.append(SourceError(name_of(source), f"{wrong - _MAX_WRONG:,} more lines without a record"))
    return RecordIndex(source, place, files, errors)


def _record(values: _Values | None) -> tuple[str, int, int] | str:
    """Check the values of a line (None: it is malformed). Returns file, first byte and number of bytes, or the reason
    why they are wrong.
    """
    if values is None:
        return "has too few or too many fields, or no JSON object"
    name, *fields = values
    if not isinstance(name, str) or not name:
        return "names no file"
    if not _NAME.fullmatch(name):
        return f"invalid file name: {_shown(name)}"
    if name.startswith("/") or ".." in name.split("/"):
        return f"names a file that is not below the folder: {_shown(name)}"
    numbers = []
    for what, value in zip(("offset", "length"), fields, strict=True):
        text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
        digits = text.lstrip("0") or text[:1]
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_DIGITS):
            return f"invalid {what}: {_shown(text or type(value).__name__)}"
        numbers.append(int(digits))
    start, size = numbers
    return (name, start, size) if size else "the length of its record is 0"


def _lines(source: str, limits: Limits) -> Iterator[tuple[int, _Values | None]]:
    """Yield (number from 1, values) for each line of an index, or row of Parquet, without blank lines and headers. The
    values are file, first byte and number of bytes, unchecked; None for a malformed line.
    """
    import pyarrow as pa  # noqa: PLC0415 (few runs have an index)

    is_piped = source == STANDARD_INPUT
    budget = Budget(name_of(source), limits)
    with open(0 if is_piped else source, "rb", closefd=not is_piped) as file:
        if file.peek(len(_PARQUET)).startswith(_PARQUET):
            data = io.BytesIO(file.read()) if is_piped else None
            budget.count_read(Path(source).stat().st_size if data is None else len(data.getbuffer()))
            yield from _of_parquet(data or source, source, budget)
            return
        unpacked: io.BufferedReader = file
        if source.endswith(_PACKED):
            budget.count_read(Path(source).stat().st_size)
            unpacked = io.BufferedReader(_Unpacked(pa.input_stream(source, compression="detect"), budget))
        text = io.TextIOWrapper(unpacked, "utf-8-sig", "backslashreplace", newline="")
        lines = enumerate(text, 1)
        number, first = next((line for line in lines if line[1].strip()), (0, ""))
        rows = itertools.chain([(number, first)] if first else [], lines)
        begin = first.strip()
        columns = next(csv.reader([first], _dialect(first)), [])
        if begin.startswith("CDX "):
            yield from _of_cdx(rows, source)
        elif begin.startswith(("{", "!")) or begin.endswith("}"):
            yield from _of_cdxj(rows)
        elif set(_COLUMNS) <= set(columns):
            yield from _of_csv((line for _, line in rows), number - 1, first)
        elif first:
            raise FatalError(f"{name_of(source)}: unknown format of an index; use {_KNOWN}")


def _of_cdx(lines: Iterator[tuple[int, str]], source: str) -> Iterator[tuple[int, _Values | None]]:
    """Yield (number, values) for each line of a CDX file after the header, whose letters name the fields: g file, V
    first byte, S number of bytes. None for a line with too few or many fields. `source`: name for the error if a letter
    is missing.
    """
    letters = next(lines)[1].split()[1:]
    if missing := [letter for letter in _LETTERS if letter not in letters]:
        raise FatalError(
            f"{name_of(source)}: the header of the index lacks {' and '.join(missing)}; it must name g, V and S"
        )
    places = [letters.index(letter) for letter in _LETTERS]
    for number, line in lines:
        fields = line.split()
        if fields:
            yield number, [fields[place] for place in places] if len(fields) == len(letters) else None


def _of_cdxj(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, _Values | None]]:
    """Yield (number, values) for each line of CDXJ that does not begin with "!": file, first byte and number of bytes
    from its JSON object, "" if missing; None without an object.
    """
    for number, line in lines:
        if not line.strip() or line.startswith("!"):
            continue
        try:
            record = json.loads(line if line.startswith("{") else line.split(None, 2)[2])
            yield number, [record.get(key, "") for key in _KEYS]
        except (ValueError, IndexError, AttributeError, RecursionError):
            yield number, None


def _of_csv(lines: Iterator[str], before: int, first: str) -> Iterator[tuple[int, _Values | None]]:
    """Yield (number of its last line, values) for each row of CSV after the header; None for a row with too few or many
    values. `before`: number of lines before the header; `first`: the header, with which `lines` begins.
    """
    rows = csv.reader(lines, _dialect(first))
    columns = next(rows)
    places = [columns.index(column) for column in _COLUMNS]
    for row in rows:
        if row:
            yield before + rows.line_num, [row[place] for place in places] if len(row) == len(columns) else None


def _dialect(first: str) -> type[csv.Dialect]:
    return csv.excel_tab if "\t" in first else csv.excel


def _of_parquet(file: str | io.BytesIO, source: str, budget: Budget) -> Iterator[tuple[int, _Values]]:
    import pyarrow.parquet as pq  # noqa: PLC0415 (few runs have an index)

    with pq.ParquetFile(file) as table:
        if missing := [column for column in _COLUMNS if column not in table.schema_arrow.names]:
            raise FatalError(
                f"{name_of(source)}: the index lacks the column {' and '.join(missing)}; it must have {', '.join(_COLUMNS)}"
            )
        number = 0
        for batch in table.iter_batches(columns=list(_COLUMNS)):
            budget.count_unfolded(batch.nbytes)
            values = [batch.column(column).to_pylist() for column in _COLUMNS]
            for row in zip(*values, strict=True):
                number += 1
                yield number, row


def _shown(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…")


def _wrong(source: str, line: int, reason: str) -> SourceError:
    return SourceError(name_of(source), f"line {line:,}: {reason}")


def _has_link(folder: str, name: str) -> bool:
    """Whether the path `name` below a folder is a symbolic link, or leads through one."""
    return any(map(os.path.islink, itertools.accumulate(name.split("/"), os.path.join, initial=f"{folder}/")))


def _is_file(source: Input, name: str) -> bool:
    """Whether an input is a file with the last part of the path `name`: not a pipe, and not a file in a folder `name`."""
    last = name.rsplit("/", 1)[-1]
    if source.remote is None:
        return source.size is not None and source.file_name == last
    return last in (source.file_name, unquote(source.file_name))
