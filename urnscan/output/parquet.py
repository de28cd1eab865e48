"""What a run writes: Parquet, the same octets for the same rows, and plain octets; files that exist whole or not at all.

While a file is written it lies, with what is spilled for it, in a work folder beside its place, or in the folder for
temporary files where its place is a URL. The folder is locked by the process that uses it, so that whoever writes the
same file later can tell a dead run's folder and remove it.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from urnscan.arrays.arrow import number_array, numbers, octet_strings
from urnscan.errors import FatalError, SourceError
from urnscan.sources import TEMPORARY_SUFFIX, RemotePlace, is_remote, local_path, without_secrets

__all__ = ["SHARDS_SUFFIX", "OctetOutput", "ParquetOutput", "as_fatal", "check_output", "work_folder"]

SHARDS_SUFFIX = f".shards{TEMPORARY_SUFFIX}"
"""How the name of a folder ends that is kept for whoever goes on with the same output."""

# A row group is full with so many rows, or so many octets in their texts.
_ROW_GROUP = 1 << 17
_ROW_GROUP_OCTETS = 1 << 25

_CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
_NOT_WRITTEN = (".xz", ".lzma", ".zip", ".7z", ".rar", ".tar", ".tgz")
"""What names a form that the octets would not have."""
_NOT_PARQUET = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".xlsx", ".html", ".db", ".sqlite", *_CODECS, *_NOT_WRITTEN)
"""What names a form that a table is not written in: whoever opens it would see no reason."""
_REPLACED = "--force (in Python force=True) replaces it"


class _Output:
    """A file that appears by rename when it is whole, and not at all otherwise; a context manager.

    `path` may be a URL: the file is written here and brought there, where it appears when it is whole.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool, folder: Path | None = None) -> None:
        """`folder` is a work folder that is there, for this file alone; None: one of its own.

        Raises FatalError where the file exists already (but for `force`), where its folder does not or cannot be
        written to.
        """
        self._force = force
        self._clean_up = contextlib.ExitStack()
        name = os.fspath(path)
        with as_fatal(without_secrets(name)):
            self._place = _place(name)
            self._place.check(force=force)
            self.beside = self._place.beside
            """Where the file will stand; or, where it is brought to a store, here."""
            self.folder = folder or self._clean_up.enter_context(work_folder(self._place.beside))
        self._is_complete = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clean_up.close()

    def _completed(self, written: Path) -> None:
        """The file is written: have it reach the disk; raises OSError."""
        with written.open("rb") as file:
            os.fsync(file.fileno())
        self._is_complete = True

    def _put(self, written: Path) -> None:
        """Put the file in its place. Raises FatalError."""
        with as_fatal(self._place.name):
            self._place.put(written, force=self._force)


class OctetOutput(_Output):
    """A file of octets, compressed as the suffix of its name says (.gz, .bz2, .zst, .lz4)."""

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False, folder: Path | None = None) -> None:
        """As every output; raises FatalError for a suffix of a compression that is not written, too."""
        suffix = Path(os.fspath(path)).suffix.lower()
        if suffix in _NOT_WRITTEN:
            raise FatalError(f"{os.fspath(path)}: {suffix} is not written; choose {', '.join(_CODECS)} or none of them")
        super().__init__(path, force=force, folder=folder)
        self._written = self.folder / "output"
        with as_fatal(self._place.name), contextlib.ExitStack() as stack:
            stack.push(self)
            self._file = pa.OSFile(str(self._written), "wb")
            if suffix in _CODECS:
                self._file = pa.CompressedOutputStream(self._file, _CODECS[suffix])
            stack.pop_all()

    def write(self, octets: bytes | memoryview) -> None:
        """Append octets. Raises FatalError."""
        with as_fatal(self._place.name):
            self._file.write(octets)

    def complete(self) -> None:
        """Complete the file, which is not in its place yet: then hardly anything can fail. Raises FatalError."""
        if not self._is_complete:
            with as_fatal(self._place.name):
                self._file.close()
                self._completed(self._written)

    def commit(self) -> None:
        """Complete the file and put it in its place. Raises FatalError."""
        self.complete()
        self._put(self._written)


class ParquetOutput(_Output):
    """A Parquet file that appears by rename when `commit` is called, and not at all otherwise; a context manager."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: pa.Schema,
        *,
        dictionaries: Sequence[str] | bool = True,
        statistics: Sequence[str] | bool = True,
        force: bool = False,
    ) -> None:
        """`dictionaries` are the leaf columns whose values repeat, so that a dictionary of them pays, `statistics` those
        whose least and greatest values help a reader to skip what it does not look for; True is all.

        Raises what every output raises, FatalError for a suffix of another form, and later when the disk is full.
        """
        suffix = Path(os.fspath(path)).suffix.lower()
        if suffix in _NOT_PARQUET:
            name = without_secrets(os.fspath(path))
            raise FatalError(f"{name}: tables are written in Parquet, not as {suffix}: let its name end in .parquet")
        super().__init__(path, force=force)
        self.schema = schema
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._octets = 0  # that wait
        self._written = self.folder / "output.parquet"
        with as_fatal(self._place.name), contextlib.ExitStack() as stack:
            stack.push(self)
            self._writer = pq.ParquetWriter(
                self._written,
                schema,
                compression="snappy",  # zstd saves a third of the file and takes half as long again
                use_dictionary=dictionaries,
                write_statistics=statistics,
                write_batch_size=1 << 16,  # rows handed to an encoder at once: fewer, longer calls
            )
            self._clean_up.callback(self._close)
            stack.pop_all()

    def write(self, rows: pa.RecordBatch) -> None:
        """Append rows of the schema. Row groups are cut at the same rows however the rows arrive."""
        ends = np.cumsum(_octets(rows))  # of each row, counted from the first
        start = 0
        while start < rows.num_rows:
            before = int(ends[start - 1]) if start else 0
            most = int(np.searchsorted(ends, before + _ROW_GROUP_OCTETS - self._octets, side="left")) + 1
            stop = min(rows.num_rows, start + _ROW_GROUP - self._rows, max(most, start + 1))
            self._waiting.append(rows.slice(start, stop - start))
            self._rows += stop - start
            self._octets += int(ends[stop - 1]) - before
            if self._rows >= _ROW_GROUP or self._octets >= _ROW_GROUP_OCTETS:
                self._write_group()
            start = stop

    def complete(self, metadata: Mapping[str, Any]) -> None:
        """Complete the file, with `metadata` as a JSON object under the key `urnscan`; it is not in its place yet, but then
        hardly anything can fail. Raises FatalError.
        """
        if self._is_complete:
            return
        if self._rows:
            self._write_group()
        with as_fatal(self._place.name):
            self._writer.add_key_value_metadata({"urnscan": json.dumps(metadata)})
            self._writer.close()
            self._completed(self._written)

    def commit(self, metadata: Mapping[str, Any]) -> None:
        """Complete the file as `complete` does, and put it in its place. Raises FatalError."""
        self.complete(metadata)
        self._put(self._written)

    def _write_group(self) -> None:
        group = pa.Table.from_batches(self._waiting, self.schema)
        with as_fatal(self._place.name):
            self._writer.write_table(_same_dictionaries(group))
        self._waiting = []
        self._rows = self._octets = 0

    def _close(self) -> None:
        with contextlib.suppress(OSError, pa.ArrowException):  # an unfinished file is thrown away
            self._writer.close()


def check_output(path: str | os.PathLike[str], *, force: bool) -> None:
    """Raise FatalError where an output could not be put there: it exists already (but for `force`), or is a folder."""
    name = os.fspath(path)
    with as_fatal(without_secrets(name)):
        _place(name).check(force=force)


def _place(name: str) -> _Local | _Remote:
    return _Remote(name) if is_remote(name) else _Local(name)


class _Local:
    """The place of an output on this machine. Its methods raise FatalError and OSError."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._path = Path(local_path(path))
        self.beside = Path(os.path.realpath(self._path))  # a link stays, what it leads to is replaced

    def check(self, *, force: bool) -> None:
        """That a file may be put there."""
        if self._path.is_dir():
            raise FatalError(f"{self.name}: is a folder; name a file in it")
        if self.beside.exists() and not self.beside.is_file():
            raise FatalError(f"{self.name}: is no regular file; name one that can be replaced")
        if not force and os.path.lexists(self._path):
            raise FatalError(f"{self.name}: exists already; {_REPLACED}")

    def put(self, written: Path, *, force: bool) -> None:
        """Put a file there by renaming it."""
        if force:
            written.replace(self.beside)
        else:
            _move_to_free_place(written, self.beside)


class _Remote:
    """The place of an output that is a URL. Its methods raise FatalError and SourceError."""

    def __init__(self, url: str) -> None:
        self._place = RemotePlace(url)
        self.name = self._place.name
        known = hashlib.blake2b(self.name.encode(), digest_size=8).hexdigest()  # others may be called the same
        self.beside = Path(tempfile.gettempdir(), f"{self._place.base_name}.{known}")

    def check(self, *, force: bool, reason: str = "exists already") -> None:
        """That an object may be put there."""
        found = self._place.find()
        if found is not None and found.is_folder:
            raise FatalError(f"{self.name}: is a folder; name a file in it")
        if found is not None and not force:
            raise FatalError(f"{self.name}: {reason}; {_REPLACED}")

    def put(self, written: Path, *, force: bool) -> None:
        """Put a copy of a file there, looking once more whether there is one now."""
        self.check(force=force, reason="came into being during the run")
        self._place.put(written)


@contextlib.contextmanager
def work_folder(path: Path) -> Iterator[Path]:
    """A folder for what is written on the way to the file `path`, beside it; gone afterwards, and so are those of runs
    that died while they wrote the same file. Raises OSError where there can be none.
    """
    for stale in glob.iglob(
        f".{glob.escape(path.name)}.*{TEMPORARY_SUFFIX}", root_dir=path.parent, include_hidden=True
    ):
        if not stale.endswith(SHARDS_SUFFIX):
            _remove_if_dead(path.parent / stale)
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(TEMPORARY_SUFFIX, f".{path.name}.", path.parent))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        # Named `lock` only when it is locked: whoever finds it free may take the folder for a dead run's.
        unlocked = folder / "lock.new"
        lock = os.open(unlocked, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
        stack.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        unlocked.rename(folder / "lock")
        yield folder


def _remove_if_dead(folder: Path) -> None:
    """Remove a work folder whose process is gone: nobody holds its lock."""
    try:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        # No lock yet: being made this moment, or its process died in that moment. Younger than a minute, it is left.
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > 60:
                shutil.rmtree(folder, ignore_errors=True)
        return
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # alive
        pass
    finally:
        os.close(lock)


def _move_to_free_place(written: Path, place: Path) -> None:
    """Rename, but never over a file that has come into being meanwhile."""
    taken = False
    try:
        os.link(written, place)
    except FileExistsError:
        taken = True
    except OSError:  # a file system without links
        taken = place.exists()
        if not taken:
            written.replace(place)
    if taken:
        raise FatalError(f"{place}: came into being during the run; {_REPLACED}")


@contextlib.contextmanager
def as_fatal(name: str) -> Iterator[None]:
    """An error of the operating system, or of a store, as a FatalError that names the output."""
    try:
        yield
    except FileNotFoundError as error:
        raise FatalError(f"{name}: the folder {Path(name).parent} does not exist") from error
    except OSError as error:
        raise FatalError(f"{name}: cannot be written: {error.strerror or error}") from error
    except SourceError as error:
        raise FatalError(f"{error.source}: cannot be written: {error.reason}") from error


def _octets(rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """How many octets the texts of each row have, structures left aside."""
    octets = np.zeros(rows.num_rows, np.int64)
    for column in rows.columns:
        if pa.types.is_string(column.type) and column.null_count < len(column):
            octets += np.diff(octet_strings(column)[1])
        elif pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type):
            octets += np.diff(octet_strings(column.values)[1].astype(np.int64)[numbers(column.offsets)])
    return octets


def _same_dictionaries(group: pa.Table) -> pa.Table:
    """Dictionaries of just the values in the group, in their order there, wherever the rows came from."""
    group = group.unify_dictionaries().combine_chunks()
    for number, field in enumerate(group.schema):
        if pa.types.is_dictionary(field.type):
            (column,) = group.column(number).chunks
            indices = numbers(column.indices.drop_null())
            values, first = np.unique(indices, return_index=True)
            used = values[np.argsort(first)]
            places = np.zeros(len(column.dictionary), np.int32)
            places[used] = np.arange(len(used), dtype=np.int32)
            renumbered = number_array(places[indices])
            if column.null_count:
                renumbered = pc.replace_with_mask(pa.nulls(len(column), pa.int32()), column.is_valid(), renumbered)
            column = pa.DictionaryArray.from_arrays(renumbered, column.dictionary.take(number_array(used)))
            group = group.set_column(number, field, column)
    return group
