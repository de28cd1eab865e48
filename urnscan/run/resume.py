"""Finished tasks of a run, kept beside its output to its end: a run that was cut off can be resumed.

A *shard* is what came out of one task. Its rows are appended to one file, as Arrow streams; when it is whole, a line is
appended to another: its own checksum, the *stamp* of the task (its inputs with their sizes and times), and in JSON the
numbers of its pieces, and where their rows lie, with checksums. So nothing has to reach the disk in any order: a line that
is not whole, with all behind it, and a shard whose rows are not there, do not count. A task in which something failed has
no shard.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
import stat
import sys
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from urnscan.errors import FatalError
from urnscan.output.places import SHARDS_SUFFIX
from urnscan.run.pieces import Begun, Counts, Done, Failed, Piece, Rows
from urnscan.run.tasks import Files, Part, Task
from urnscan.sources import UNKNOWN, Input, Listed, states_of_files

__all__ = ["Shards", "Stamp", "stamp"]

_TABLES = ("partial", "occurrences", "rejects")
_AT_ONCE = 16 << 20  # octets of rows that are kept from the beginning on
_SHORT = 10  # seconds: a run that does not last longer keeps no more than that, and is as soon done again
_LINES, _ROWS = "shards", "rows.arrows"
_CHECKSUM, _STAMP = 9, 33  # octets at the beginning of a line, each with a space behind it

_Shard = Mapping[str, Any]
"""A line of JSON: `end` (octets of rows up to here), `pieces` (the rows of the task), `counts` and `lines` (its end)."""


class Stamp(NamedTuple):
    """Identity of a task, for resuming."""

    text: str
    """Digest of its place, its inputs, their sizes and times; empty where these do not tell what is in them: of
    what is no regular file, of what is remote, of what is not there.
    """
    octets: int
    """Octets to be read for the task."""


def stamp(task: Task) -> Stamp:
    """The stamp of a task as its inputs are now."""
    start, end = 0, sys.maxsize
    match task:
        case Files():
            inputs: Sequence[Listed | Input] = task.inputs
        case Part():
            inputs, start, end = [task.input], task.start, task.end
        case _:
            return _UNKNOWN
    known = hashlib.blake2b(b"%d %d %d" % (task.place, start, end), digest_size=16)
    octets = 0
    for each in inputs:
        if isinstance(each, Input) and each.path is None:
            return _UNKNOWN
        files = each if isinstance(each, Listed) else Listed.of([each])
        sizes, times = states_of_files(files.paths, files.ends)
        if (sizes == UNKNOWN).any():  # what comes out of a pipe or a device may differ each time
            return _UNKNOWN
        known.update(b"\0".join((sizes.tobytes(), times.tobytes(), files.paths)))
        octets += int((np.minimum(sizes, end) - start).sum())
    return Stamp(known.hexdigest(), octets)


_UNKNOWN = Stamp("", 0)


class Shards:
    """The shards beside an output; a context manager. Left without `drop`, those stay that are worth it (`are_kept`).

    `add` is for one thread, `find` and `pieces` are for any.
    """

    def __init__(self, output: Path, meaning: Mapping[str, Any], *, resume: bool) -> None:
        """`meaning` is all that tells what comes out of a task. With `resume` the shards are found that an earlier run with
        the same meaning left; without, they are removed.

        Raises FatalError to resume from what cannot be read, or from a run that is not dead. Without `resume` none are kept
        then.
        """
        self.octets = 0
        """Octets of text that did not have to be scanned again."""
        self.were_other = False
        """Whether the earlier run had another meaning."""
        self._folder = output.with_name(f".{output.name}{SHARDS_SUFFIX}")
        self._head = json.dumps(meaning, sort_keys=True).encode()
        self._keeps_all_from = time.monotonic() + (-1 if resume else _SHORT)
        self._found: dict[str, tuple[int, int]] = {}  # where the line of each task stands, and its octets
        self._kept = 0
        self._written = 0  # octets of rows
        self._task = ""  # the stamp of the task at hand
        self._is_kept = False  # whether an earlier run kept it
        self._pieces: list[Mapping[str, Any]] | None = None  # of the task at hand; None where it gets no shard
        self._files: contextlib.ExitStack | None = None
        self._is_off = False
        try:
            if os.path.lexists(self._folder):
                self._open()
                if resume:
                    self._read()
                else:
                    self.drop()
        except OSError as error:
            self._close()
            if resume and isinstance(error, BlockingIOError):
                raise FatalError(f"{output}: another run is writing it: wait for its end") from error
            if resume:
                reason = f"what an earlier run left cannot be read: {error.strerror}"
                raise FatalError(f"{self._folder}: {reason}; remove it to begin anew") from error
            self._is_off = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.are_kept:
            self.drop()
        self._close()

    @property
    def are_some(self) -> bool:
        """Whether an earlier run left some that can be used."""
        return bool(self._found)

    @property
    def are_kept(self) -> bool:
        """Whether there are some, of a run long enough to be worth resuming."""
        return bool(self._found or self._kept) and time.monotonic() > self._keeps_all_from

    def find(self, task: str) -> _Shard | None:
        """The shard of a task that an earlier run kept, for `pieces`; None if it is not there or not whole."""
        if task not in self._found:
            return None
        start, size = self._found[task]
        try:
            shard: _Shard = json.loads(os.pread(self._lines.fileno(), size, start)[_CHECKSUM + _STAMP :])
            return shard if all(map(self._is_whole, shard["pieces"])) else None
        except OSError:
            return None

    def pieces(self, found: _Shard) -> Iterator[Piece]:
        """The pieces of the task."""
        for piece in found["pieces"]:
            rows = {table: _batch(self._octets(start, size)) for table, (start, size, _) in piece["rows"].items()}
            names = {int(place): name for place, name in piece["names"].items()}
            yield Rows(Counts(*piece["counts"]), **rows, names=names)
        yield Done(Counts(*found["counts"]), found["lines"])

    def add(self, piece: Piece) -> None:
        """Keep a piece of the task at hand."""
        if isinstance(piece, Begun):
            self._task, self._is_kept = piece.stamp, piece.is_kept
            self._pieces = [] if piece.stamp and not piece.is_kept else None
            return
        if isinstance(piece, Done) and self._is_kept:
            self.octets += piece.counts.octets
        if isinstance(piece, Failed) or self._is_off or not self._is_time():
            self._pieces = None
        if self._pieces is None:
            return
        try:
            if isinstance(piece, Done):
                self._append(self._pieces, piece)
            elif isinstance(piece, Rows):
                self._pieces.append(self._keep(piece))
        except OSError:  # the disk is full, say: then what was kept so far is what helps
            self._is_off = True

    def drop(self) -> None:
        """Remove them: nothing is left to resume."""
        self._found, self._kept = {}, 0
        if self._files is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._close()

    def _is_time(self) -> bool:
        return self._written < _AT_ONCE or time.monotonic() > self._keeps_all_from

    def _open(self) -> None:
        """Open the files; make them where they are not there. Raises OSError: BlockingIOError where another run has them."""
        with contextlib.suppress(FileExistsError):
            self._folder.mkdir(0o700)
        found = self._folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():  # where all may write, a trap
            raise OSError(errno.EPERM, "it is no folder, or not one's own")
        with contextlib.ExitStack() as files:
            self._lines: IO[bytes] = files.enter_context((self._folder / _LINES).open("a+b", buffering=0))
            self._rows: IO[bytes] = files.enter_context((self._folder / _ROWS).open("a+b", buffering=0))
            fcntl.flock(self._lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._files = files.pop_all()
        self._end = self._rows.seek(0, os.SEEK_END)

    def _open_once(self) -> None:
        """Open them where none is open: they are new."""
        if self._files is None:
            self._open()
            _write(self._lines, self._head + b"\n")

    def _close(self) -> None:
        if self._files is not None:
            self._files.close()
            self._files = None

    def _read(self) -> None:
        """Find what an earlier run left, and remove what is behind the last line and the last rows that are whole."""
        with (self._folder / _LINES).open("rb") as lines:
            head = next(lines, b"")
            if head != self._head + b"\n":
                self.were_other = head.endswith(b"\n")
                self.drop()
                return
            end, last = len(head), b""
            for line in lines:
                if line != _line(line[_CHECKSUM:-1]):
                    break
                self._found[line[_CHECKSUM:][: _STAMP - 1].decode()] = end, len(line)
                end, last = end + len(line), line
        self._lines.truncate(end)
        self._end = json.loads(last[_CHECKSUM + _STAMP :])["end"] if last else 0
        self._rows.truncate(self._end)

    def _keep(self, piece: Rows) -> Mapping[str, Any]:
        """Write the rows of a piece; what its line says of it."""
        self._open_once()
        rows = {}
        for table in _TABLES:
            batch = getattr(piece, table)
            if batch is not None:
                octets = _stream(batch)
                _write(self._rows, octets)
                rows[table] = (self._end, octets.size, zlib.crc32(octets))
                self._end += octets.size
                self._written += octets.size
        return {"counts": astuple(piece.counts), "names": dict(piece.names), "rows": rows}

    def _append(self, pieces: Sequence[Mapping[str, Any]], done: Done) -> None:
        """Append the line of the task at hand."""
        self._open_once()
        counts = astuple(done.counts)
        shard = json.dumps({"end": self._end, "pieces": pieces, "counts": counts, "lines": done.lines})
        _write(self._lines, _line(f"{self._task} {shard}".encode()))
        self._kept += 1

    def _octets(self, start: int, size: int) -> bytes:
        return os.pread(self._rows.fileno(), size, start)

    def _is_whole(self, piece: Mapping[str, Any]) -> bool:
        """Whether the rows of a piece lie there as they were written."""
        return all(zlib.crc32(self._octets(start, size)) == crc for start, size, crc in piece["rows"].values())


def _line(octets: bytes) -> bytes:
    return b"%08x %b\n" % (zlib.crc32(octets), octets)


def _write(file: IO[bytes], octets: bytes | pa.Buffer) -> None:
    """Append all of it: a file without a buffer may take less."""
    view = memoryview(octets)
    while view:
        view = view[file.write(view) :]


def _stream(rows: pa.RecordBatch) -> pa.Buffer:
    """Rows as a stream of Arrow, compressed as fast as they are written."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_batch(rows)
    return sink.getvalue()


def _batch(octets: bytes) -> pa.RecordBatch:
    with pa.ipc.open_stream(octets) as stream:
        return stream.read_next_batch()
