"""Folders of Parquet that a run on Spark writes: a folder appears whole, or not at all.

If the output is a path or an `s3://` URL, executors write files under temporary names (`Scan.write`). The driver moves
the files of successful attempts to the folder, so the folder never has files of lost attempts. To other URLs Spark
itself writes, because it supports their stores.
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
# Maximum number of files that are renamed in a store at a time.
_MOVES = 16


def open_folder(spark: SparkSession, path: str, *, force: bool) -> Folder:
    """Return the folder of an output, a path or a URL, to be entered as a context. Raises FatalError if the folder
    exists already; with `force`, it may exist, but only as the result of an earlier run. Nothing is written yet.
    `spark` is used only for URLs other than `s3://`.
    """
    with as_fatal(path):
        if path.lower().startswith("s3://"):
            folder: Folder = _ExecutorFolder(path, _Bucket(path), force=force)
        elif is_remote(path):
            folder = _SparkFolder(spark, path, force=force)
        else:
            disk = _Disk(os.path.abspath(local_path(path)))  # noqa: PTH100 (as in walk.py)
            folder = _ExecutorFolder(path, disk, force=force)
        folder.check()
    return folder


class Folder:
    """A folder of Parquet files; a context manager that makes temporary folders, and removes them at the end.

    `fill` writes to the temporary folders, `commit` moves the files to the path or URL.
    """

    def __init__(self, name: str, *, force: bool) -> None:
        self.name = name_of(name)
        """The path or URL in messages, without secrets."""
        self._force = force

    def check(self) -> None:
        """Raise FatalError if something exists at the path or URL and must not be replaced: without `force` anything,
        with `force` anything except the result of an earlier run on Spark.
        """
        exists, is_result = self._look()
        if exists and not self._force:
            raise existing_output(self.name)
        if exists and not is_result:
            raise FatalError(
                f"{self.name}: is not the result of an earlier run on Spark, so it is not replaced; name another folder"
            )

    def _look(self) -> tuple[bool, bool]:
        """Whether the folder exists, and whether it is the result of a run."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        raise NotImplementedError

    def __exit__(self, *_: object) -> None:
        raise NotImplementedError

    def fill(self, table: str, scan: Scan, report: Report) -> None:
        """Write the table `classes`, `occurrences`, `rejects` or `errors` of a scan to the temporary folder. For
        `classes`, sets `classes` and `untrimmed` of the report. Raises FatalError or an error of Spark if rows cannot
        be written, FatalError if their number differs from that in the report.
        """
        raise NotImplementedError

    def commit(self, metadata: Mapping[str, Any]) -> None:
        """Write the metadata of the run, and move the folder to the path or URL; an earlier folder is replaced, with
        `force`. Raises FatalError or an error of Spark if this fails, or if `check` fails now.
        """
        raise NotImplementedError

    def _check_rows(self, table: str, written: int, expected: int) -> None:
        if written != expected:
            noun = "failures" if table == "errors" else "rejects" if table == "rejects" else "occurrences"
            raise FatalError(
                f"{self.name}: {written:,} {noun} were written of {expected:,} that were found: an input has changed during "
                "the run, or not all executors write to the same place"
            )


class _SparkFolder(Folder):
    """A folder at a URL, which Spark writes under a temporary name next to it and then renames."""

    def __init__(self, spark: SparkSession, path: str, *, force: bool) -> None:
        super().__init__(path, force=force)
        self._spark = spark
        java: Any = spark.sparkContext._jvm  # noqa: SLF001 (the only way to the file systems of Hadoop)
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
        self._check_rows(table, written, _expected_count(table, report))

    def commit(self, metadata: Mapping[str, Any]) -> None:
        file = self._system.create(self._written.suffix(f"/{OF_FOLDER}"))
        file.write(json.dumps(metadata).encode())
        file.close()
        self.check()
        self._system.delete(self._place, True)
        if not self._system.rename(self._written, self._place):
            raise FatalError(f"{self.name}: cannot be renamed to this name")


class _Place(Protocol):
    """The path or URL of a folder whose files executors write."""

    attempts: str
    """The path or URL of the folder to which executors write."""

    def look(self) -> tuple[bool, bool]:
        """Whether the folder exists, and whether it is the result of a run."""

    def make(self) -> None:
        """Make the temporary folders, empty; earlier ones are removed."""

    def take(self, names: Sequence[str]) -> None:
        """Add files of the folder `attempts`, in this order. Raises FileNotFoundError if one is missing."""

    def put(self, file: Path, name: str) -> None:
        """Add a copy of a file of this machine, as `name`."""

    def appear(self) -> None:
        """Move the files of `take` and `put` to the path or URL. An existing folder is replaced."""

    def clear(self) -> None:
        """Remove the temporary folders."""


class _ExecutorFolder(Folder):
    """A folder whose files executors write. Columns have the same types as without Spark."""

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
        # If this fails, the next run removes the temporary folders.
        with contextlib.suppress(Exception):
            self._place.clear()

    def fill(self, table: str, scan: Scan, report: Report) -> None:
        if table == "errors":
            rows = batch([(failure.source, failure.reason) for failure in report.failures], _ERRORS)
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
                f"{self.name}: what executors wrote is not there; name a folder that all machines share, or a URL"
            ) from error
        if not files:
            self._write_part(WRITTEN[table], [], scan.options.metadata())
        if table == "classes":
            report.classes = sum(file.rows for file in files)
            report.untrimmed = sum(file.untrimmed for file in files)
        self._check_rows(table, sum(file.occurrences for file in files), _expected_count(table, report))

    def _write_part(
        self, table: Mapping[str, Any], batches: Sequence[pa.RecordBatch], metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Write the single file of the folder, on this machine. `table` has the arguments of ParquetOutput; `metadata`
        is for the footer.
        """
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
        self._path, self._temporary = Path(path), Path(path + TEMPORARY_SUFFIX)
        self.attempts = path + _ATTEMPTS_SUFFIX

    def look(self) -> tuple[bool, bool]:
        return os.path.lexists(self._path), (self._path / OF_FOLDER).exists()

    def make(self) -> None:
        self.clear()
        self._temporary.mkdir()
        Path(self.attempts).mkdir()

    def take(self, names: Sequence[str]) -> None:
        for number, name in enumerate(names):
            Path(self.attempts, name).rename(self._temporary / _part(number))

    def put(self, file: Path, name: str) -> None:
        shutil.copyfile(file, self._temporary / name)

    def appear(self) -> None:
        if self._path.exists():
            shutil.rmtree(self._path)
        self._temporary.rename(self._path)

    def clear(self) -> None:
        # Lost attempts may still write files while the folder is removed. So it is removed several times.
        for folder in (self._temporary, Path(self.attempts)):
            for _ in range(5):
                shutil.rmtree(folder, ignore_errors=True)


class _Bucket:
    """A folder in an object store. The metadata come last, as a mark that it is complete."""

    def __init__(self, url: str) -> None:
        self._folder = RemoteFolder(parse_url(url))
        self._attempts = self._folder.with_suffix(_ATTEMPTS_SUFFIX)
        self._names: list[str] = []
        self._files: list[tuple[Path, str]] = []
        self._local_folder = tempfile.TemporaryDirectory(prefix="urnscan-")
        self.attempts = self._attempts.url.full

    def look(self) -> tuple[bool, bool]:
        return self._folder.exists(), self._folder.exists(OF_FOLDER)

    def make(self) -> None:
        self._attempts.delete()

    def take(self, names: Sequence[str]) -> None:
        for name in names:
            if not self._attempts.exists(name):
                raise FileNotFoundError(name)
        self._names += names

    def put(self, file: Path, name: str) -> None:
        copy = Path(self._local_folder.name, name)
        shutil.copyfile(file, copy)
        self._files.append((copy, name))

    def appear(self) -> None:
        self._folder.delete()
        with ThreadPoolExecutor(_MOVES) as threads:
            moves = [
                threads.submit(self._folder.take, self._attempts, name, _part(number))
                for number, name in enumerate(self._names)
            ]
            for move in moves:
                move.result()
        for file, name in self._files:
            self._folder.put(file, name)

    def clear(self) -> None:
        self._local_folder.cleanup()
        self._attempts.delete()


def _part(number: int) -> str:
    return f"part-{number:05}.parquet"


def _expected_count(table: str, report: Report) -> int:
    """For classes, the sum of `occurrence_count`."""
    return (
        len(report.failures) if table == "errors" else report.rejects or 0 if table == "rejects" else report.occurrences
    )


@contextlib.contextmanager
def _new_file(name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="urnscan-") as folder:
        yield Path(folder, name)
