"""Folders of Parquet that a run on Spark writes: a folder appears whole, or not at all.

Executors write the files of a path and of an `s3://` URL themselves, under names of their own (`Scan.write`); the driver
puts those of attempts that counted in the folder. So what lost attempts of a task leave is never part of it. Other URLs are written
by Spark, which knows their stores.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import pyarrow as pa

from urnscan.errors import FatalError
from urnscan.run.pipeline import Report
from urnscan.spark.driver import Scan
from urnscan.spark.frames import batch
from urnscan.stores.remote_outputs import RemoteFolder
from urnscan.stores.temporary import TEMPORARY_SUFFIX
from urnscan.stores.urls import is_remote, local_path, parse_url
from urnscan.tables.metadata import OF_FOLDER
from urnscan.tables.output_file import as_fatal, existing_output, name_of
from urnscan.tables.parquet_writer import ParquetOutput
from urnscan.tables.schemas import WRITTEN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ATTEMPTS_SUFFIX = f".attempts{TEMPORARY_SUFFIX}"
_ERRORS = pa.schema([pa.field("source", pa.string(), nullable=False), pa.field("reason", pa.string(), nullable=False)])
_MOVES = 16  # files that are renamed in a store at a time


def open_folder(spark: SparkSession, path: str, *, force: bool) -> Folder:
    """The folder of an output, a path or a URL. Raises FatalError if it exists already.

    With `force` it may exist if it is the result of an earlier run.
    """
    with as_fatal(path):
        if path.lower().startswith("s3://"):
            folder: Folder = _Written(path, _Bucket(path), force=force)
        elif is_remote(path):
            folder = _OfSpark(spark, path, force=force)
        else:
            disk = _Disk(os.path.abspath(local_path(path)))  # noqa: PTH100 (as in walk.py)
            folder = _Written(path, disk, force=force)
        folder.check()
    return folder


class Folder:
    """A folder of Parquet; a context manager that removes what is not complete."""

    def __init__(self, name: str, *, force: bool) -> None:
        self.name = name_of(name)
        self._force = force

    def check(self) -> None:
        """Raise FatalError if no folder can be put there."""
        exists, is_result = self._look()
        if exists and not self._force:
            raise existing_output(self.name)
        if exists and not is_result:
            raise FatalError(
                f"{self.name}: is no result of an earlier run on Spark, so it is not replaced: name another folder"
            )

    def _look(self) -> tuple[bool, bool]:
        """Tell if the folder exists, and if it is the result of a run."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        raise NotImplementedError

    def __exit__(self, *_: object) -> None:
        raise NotImplementedError

    def fill(self, table: str, scan: Scan, report: Report) -> None:
        """Write a table; the report gets the counts that are known only then. Raises FatalError if rows are missing."""
        raise NotImplementedError

    def commit(self, metadata: Mapping[str, Any]) -> None:
        """Write the metadata and put the folder in its place. Raises FatalError."""
        raise NotImplementedError

    def _check_rows(self, table: str, written: int, found: int) -> None:
        """Raise FatalError if not all that was found has been written."""
        if written != found:
            noun = "failures" if table == "errors" else "rejects" if table == "rejects" else "occurrences"
            raise FatalError(
                f"{self.name}: {written:,} {noun} were written of {found:,} that were found: an input has changed during "
                "the run, or not all executors write to the same place"
            )


class _OfSpark(Folder):
    """A folder at a URL, which Spark writes beside its place and then renames."""

    def __init__(self, spark: SparkSession, path: str, *, force: bool) -> None:
        super().__init__(path, force=force)
        self._spark = spark
        java: Any = spark.sparkContext._jvm  # noqa: SLF001 (Spark's own way to Hadoop's file systems)
        hadoop = java.org.apache.hadoop.fs
        self._place = hadoop.Path(path)
        self._written = hadoop.Path(f"{path.rstrip('/')}{TEMPORARY_SUFFIX}")
        self._system = self._place.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())  # noqa: SLF001

    def _look(self) -> tuple[bool, bool]:
        return self._system.exists(self._place), self._system.exists(self._place.suffix(f"/{OF_FOLDER}"))

    def __enter__(self) -> Self:
        self._system.delete(self._written, True)
        return self

    def __exit__(self, *_: object) -> None:
        self._system.delete(self._written, True)

    def fill(self, table: str, scan: Scan, report: Report) -> None:
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        frame = scan.errors if table == "errors" else scan.to_write(table)
        frame.drop("place").write.mode("overwrite").parquet(self._written.toString())
        rows = self._spark.read.parquet(self._written.toString())
        if table == "classes":
            untrimmed = F.count_if(F.col("problem").startswith("untrimmed"))
            counts = rows.select(F.count("*"), untrimmed, F.coalesce(F.sum("occurrence_count"), F.lit(0))).first()
            report.classes, report.untrimmed, written = counts or (0, 0, 0)
        else:
            written = rows.count()
        self._check_rows(table, written, _found(table, report))

    def commit(self, metadata: Mapping[str, Any]) -> None:
        file = self._system.create(self._written.suffix(f"/{OF_FOLDER}"))
        file.write(json.dumps(metadata).encode())
        file.close()
        self.check()
        self._system.delete(self._place, True)
        if not self._system.rename(self._written, self._place):
            raise FatalError(f"{self.name}: cannot be put there")


class _Place(Protocol):
    """Place of a folder that executors write; the driver puts their files together. Methods raise OSError and SourceError."""

    attempts: str
    """Folder in which executors write."""

    def look(self) -> tuple[bool, bool]:
        """Tell if the folder exists, and if it is the result of a run."""

    def make(self) -> None:
        """Make the folders, empty."""

    def take(self, names: Sequence[str]) -> None:
        """Put files of `attempts` in the folder, in this order. Raises FileNotFoundError."""

    def put(self, file: Path, name: str) -> None:
        """Put a file of this machine in the folder."""

    def appear(self) -> None:
        """Put the folder in its place, instead of what is there."""

    def clear(self) -> None:
        """Remove all but the folder in its place."""


class _Written(Folder):
    """A folder whose files executors write, in the types of one machine."""

    def __init__(self, name: str, place: _Place, *, force: bool) -> None:
        super().__init__(name, force=force)
        self._place = place

    def _look(self) -> tuple[bool, bool]:
        return self._place.look()

    def __enter__(self) -> Self:
        with as_fatal(self.name):
            self._place.make()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):  # what is left is removed by the next run
            self._place.clear()

    def fill(self, table: str, scan: Scan, report: Report) -> None:
        if table == "errors":
            rows = batch([(each.source, each.reason) for each in report.failures], _ERRORS)
            self._write_part({"schema": _ERRORS}, [rows])
            return
        files = scan.write(table, self._place.attempts)
        try:
            with as_fatal(self.name):
                self._place.take([file.file for file in files])
        except FatalError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            raise FatalError(
                f"{self.name}: what executors wrote is not there: name a folder that all machines share, or a URL"
            ) from error
        if not files:
            self._write_part(WRITTEN[table], [], scan.options.metadata())
        if table == "classes":
            report.classes = sum(file.rows for file in files)
            report.untrimmed = sum(file.untrimmed for file in files)
        self._check_rows(table, sum(file.found for file in files), _found(table, report))

    def _write_part(
        self, table: Mapping[str, Any], batches: Sequence[pa.RecordBatch], metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Write the only file of a table, on this machine; `table` as in WRITTEN."""
        with _new_file("part.parquet") as path:
            with ParquetOutput(path, **table) as output:
                for rows in batches:
                    output.write(rows)
                output.commit(metadata)
            self._put(path, "part-00000.parquet")

    def _put(self, path: Path, name: str) -> None:
        with as_fatal(self.name):
            self._place.put(path, name)

    def commit(self, metadata: Mapping[str, Any]) -> None:
        with _new_file(OF_FOLDER) as path:
            path.write_text(json.dumps(metadata), encoding="utf-8")
            self._put(path, OF_FOLDER)
        with as_fatal(self.name):
            self.check()
            self._place.appear()


class _Disk:
    """A folder in a file system that all machines share."""

    def __init__(self, path: str) -> None:
        self._path, self._whole = Path(path), Path(path + TEMPORARY_SUFFIX)
        self.attempts = path + _ATTEMPTS_SUFFIX

    def look(self) -> tuple[bool, bool]:
        return os.path.lexists(self._path), (self._path / OF_FOLDER).exists()

    def make(self) -> None:
        self.clear()
        self._whole.mkdir()
        Path(self.attempts).mkdir()

    def take(self, names: Sequence[str]) -> None:
        for number, name in enumerate(names):
            Path(self.attempts, name).rename(self._whole / _part(number))

    def put(self, file: Path, name: str) -> None:
        shutil.copyfile(file, self._whole / name)

    def appear(self) -> None:
        if self._path.exists():
            shutil.rmtree(self._path)
        self._whole.rename(self._path)

    def clear(self) -> None:
        # Attempts that Spark has given up may still write: a folder that they fill again is removed at the next try.
        for folder in (self._whole, Path(self.attempts)):
            for _ in range(5):
                shutil.rmtree(folder, ignore_errors=True)


class _Bucket:
    """A folder in an object store: its file with the metadata comes last."""

    def __init__(self, url: str) -> None:
        self._folder = RemoteFolder(parse_url(url))
        self._tried = self._folder.with_suffix(_ATTEMPTS_SUFFIX)
        self._names: list[str] = []
        self._files: list[tuple[Path, str]] = []
        self._kept = tempfile.TemporaryDirectory(prefix="urnscan-")
        self.attempts = self._tried.url.full

    def look(self) -> tuple[bool, bool]:
        return self._folder.exists(), self._folder.exists(OF_FOLDER)

    def make(self) -> None:
        self._tried.delete()

    def take(self, names: Sequence[str]) -> None:
        for name in names:
            if not self._tried.exists(name):
                raise FileNotFoundError(name)
        self._names += names

    def put(self, file: Path, name: str) -> None:
        kept = Path(self._kept.name, name)
        shutil.copyfile(file, kept)
        self._files.append((kept, name))

    def appear(self) -> None:
        self._folder.delete()
        with ThreadPoolExecutor(_MOVES) as threads:
            moves = [
                threads.submit(self._folder.take, self._tried, name, _part(number))
                for number, name in enumerate(self._names)
            ]
            for move in moves:
                move.result()
        for file, name in self._files:
            self._folder.put(file, name)

    def clear(self) -> None:
        self._kept.cleanup()
        self._tried.delete()


def _part(number: int) -> str:
    return f"part-{number:05}.parquet"


def _found(table: str, report: Report) -> int:
    """The count that a table must add up to: of a table of classes its occurrences."""
    return (
        len(report.failures) if table == "errors" else report.rejects or 0 if table == "rejects" else report.occurrences
    )


@contextlib.contextmanager
def _new_file(name: str) -> Iterator[Path]:
    """A path for a file on this machine, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="urnscan-") as folder:
        yield Path(folder, name)
