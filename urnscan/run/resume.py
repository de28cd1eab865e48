"""Finished tasks of a run, kept next to the output until the run ends, so that an interrupted run can be resumed.

A *shard* is the result of a task. The rows of shards are appended to a file, as Arrow streams. When all rows of a shard
are written, a line is appended to another file. The line has a checksum, the *stamp* of the task (a digest of its
inputs with their sizes and times), and JSON: the counts of each piece, and where its rows are in the other file, with
checksums.

The disk may write the two files in any order. A line that is damaged, all lines after it, and a shard with damaged rows
do not count.
A task with a failure has no shard.

A run that had `--resume`, or took more than a few seconds, puts an empty file next to its shards. After that, only
`force` discards them.
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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from urnscan.errors import FatalError
from urnscan.formats.small_files import UNKNOWN, file_states
from urnscan.run.partial_result import packed, unpacked
from urnscan.run.task_results import Begun, Counts, Done, Failed, ResultRows, TaskResult
from urnscan.run.tasks import FileGroup, FilePart, Task
from urnscan.stores.input import Input, Listed
from urnscan.tables.editions import names_now
from urnscan.tables.output_file import shards_folder

_TABLES = ("partial", "occurrences", "rejects")
# A run of fewer seconds is soon repeated. So it keeps no shards when it ends, and writes at most _AT_ONCE bytes of rows.
_SHORT = 10
_AT_ONCE = 16 << 20
_LINES, _ROWS, _LASTING = "shards", "rows.arrows", "stays"
# Bytes of the checksum and of the stamp at the beginning of a line, with the space after each.
_CHECKSUM, _STAMP = 9, 33

_Shard = Mapping[str, Any]
"""The JSON of a line: `end` (size of the file of rows after this shard), `pieces` (rows of the task), `counts` and
`lines` (of Done).
"""


class Stamp(NamedTuple):
    """Identity of a task (inputs, or a part of an input, for a thread), by which a later run recognises the task."""

    text: str
    """Digest of the number of the first input, and of the inputs: files with their sizes and times, URLs with a mark (a
    value from the store that changes with the object). Empty if a later run could not know whether the bytes are the
    same: a pipe, a device, a URL without a mark, a failure.
    """
    byte_count: int
    """Number of bytes to read for the task; 0 if `text` is empty."""
    unmarked: int = 0
    """Number of URLs in the task without a mark, so that nobody knows whether the object has changed."""


_UNKNOWN = Stamp("", 0)


def stamp(task: Task) -> Stamp:
    """The stamp (identity) of a task, from the sizes and times that its files have now, and the marks of its URLs. Its
    `text` is empty if the task cannot be recognised later, for example a pipe.
    """
    start, end = 0, sys.maxsize
    match task:
        case FileGroup():
            inputs: tuple[Listed | Input, ...] = task.inputs
        case FilePart():
            inputs, start, end = (task.input,), task.start, task.end
        case _:
            return _UNKNOWN
    digest = hashlib.blake2b(b"%d %d %d" % (task.place, start, end), digest_size=16)
    byte_count = 0
    unmarked = sum(entry.remote is not None and entry.mark is None for entry in inputs if isinstance(entry, Input))
    for entry in inputs:
        if isinstance(entry, Input) and entry.extents:
            digest.update(repr(entry.extents).encode())
        if isinstance(entry, Input) and entry.path is None:
            if entry.remote is None or entry.mark is None:
                return Stamp("", 0, unmarked)
            digest.update(b"\0".join((entry.key, entry.mark.encode("utf-8", "surrogateescape"))))
            byte_count += entry.size or 0
            continue
        files = entry if isinstance(entry, Listed) else Listed.of([entry])
        sizes, times = file_states(files.paths, files.ends, follow=True)
        # A pipe or a device may give other bytes each time.
        if (sizes == UNKNOWN).any():
            return _UNKNOWN
        digest.update(b"\0".join((sizes.tobytes(), times.tobytes(), files.paths)))
        size = entry.size if isinstance(entry, Input) and entry.extents else None
        byte_count += int((np.minimum(sizes, end) - start).sum()) if size is None else size
    return Stamp(digest.hexdigest(), byte_count)


class Shards:
    """Stored results of tasks (a shard is the result of one task), in a hidden folder next to an output, for
    `--resume`. A context manager: at its end the shards are removed, unless `are_kept`.

    One thread may call `add`; any thread may call `find` and `pieces`.
    """

    def __init__(
        self, output: Path, meaning: Mapping[str, Any], *, resume: bool, force: bool = False, name: str = ""
    ) -> None:
        """`output` is the file next to which shards are stored. `meaning` has all values that change the result of a
        task: options and version. `name` is the name of the output in messages. With `resume`, shards of an earlier run
        with the same meaning are used. Other shards of earlier runs are removed; but if such a run had `resume` or took
        10 seconds, FatalError is raised unless `force` is given.

        Also raises FatalError if another run writes shards there now (not with `force` alone), and, with `resume`, if
        the shards cannot be read. Without an error in these cases, this run stores nothing.
        """
        self.byte_count = 0
        """Number of bytes of text that did not have to be scanned again."""
        self.differing: list[str] = []
        """Names of the values of `meaning` that were different in the earlier run."""
        self.unmarked: list[int] = []
        """`Stamp.unmarked` of each task."""
        self.discarded = ""
        """Description of the work that was removed because of `force`; empty if no work was removed."""
        self._name = name or str(output)
        self._folder = shards_folder(output)
        self._meaning = json.dumps(meaning, sort_keys=True).encode()
        # Time after which this run is not short.
        self._lasting_from = time.monotonic() + (-1 if resume else _SHORT)
        # Stamp of a shard of the earlier run -> byte offset and size of the line.
        self._index: dict[str, tuple[int, int]] = {}
        # Stamps of these shards that no task of this run had so far.
        self._unused: set[str] = set()
        # Shards and bytes of rows that this run has written.
        self._new_shards = 0
        self._new_bytes = 0
        # The beginning of the current task, and its pieces; None if it gets no shard.
        self._task = Begun()
        self._pieces: list[Mapping[str, Any]] | None = None
        self._files: contextlib.ExitStack | None = None
        self._is_off = False
        try:
            if os.path.lexists(self._folder):
                self._open()
                is_lasting = self._read()
                if self.differing or not resume:
                    self._discard(is_lasting=is_lasting, force=force)
        except OSError as error:
            self._close()
            if isinstance(error, BlockingIOError) and (resume or not force):
                raise FatalError(f"{self._name}: another run is writing it; wait for its end") from error
            if resume:
                reason = f"the work of an earlier run cannot be read: {error.strerror}"
                raise FatalError(f"{self._folder}: {reason}; remove it to start again") from error
            self._is_off = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.are_kept:
            self._mark()
        else:
            self.drop()
        self._close()

    @property
    def are_kept(self) -> bool:
        """Whether the end of the context leaves shards: there are some, and the run took 10 seconds or had `resume`."""
        return bool(self._index or self._new_shards) and self._is_lasting

    @property
    def unused(self) -> int:
        """Number of bytes of text in those shards of an earlier run that this run has not asked for (`find`) so far."""
        return self._bytes_of(self._unused)

    @property
    def _is_lasting(self) -> bool:
        return time.monotonic() > self._lasting_from

    def find(self, task: str) -> _Shard | None:
        """The shard of the task with this stamp (`Stamp.text`), for `pieces`; None if no earlier run has left a shard,
        or if its rows are damaged. The shard is no longer counted in `unused`.
        """
        if task not in self._index:
            return None
        self._unused.discard(task)
        start, size = self._index[task]
        try:
            shard = self._shard(start, size)
            rows = [place for piece in shard["pieces"] for place in piece["rows"].values()]
            is_whole = all(zlib.crc32(_bytes(self._rows, *place)) == crc for *place, crc in rows)
        except OSError:
            return None
        return shard if is_whole else None

    def pieces(self, shard: _Shard) -> Iterator[TaskResult]:
        """Yield the pieces of the result in a shard that `find` returned, as the earlier run got them: ResultRows, then
        Done, which has no names of inputs.
        """
        for piece in shard["pieces"]:
            rows = {table: _batch(_bytes(self._rows, start, size)) for table, (start, size, _) in piece["rows"].items()}
            names = {int(place): name for place, name in piece["names"].items()}
            yield ResultRows(Counts(*piece["counts"]), **rows, names=names)
        yield Done(Counts(*shard["counts"]), shard["lines"])

    def add(self, piece: TaskResult) -> None:
        """Store the next piece of the results, in the order of the tasks; writes a shard at the end of each task.

        A task gets no shard if it has a failure, a note or no stamp, or if its pieces come from a shard; nor, in the
        first 10 seconds of a run, after 16 MiB of rows. After an error of the disk nothing more is stored, and nothing
        is raised.
        """
        if isinstance(piece, Begun):
            self._task = piece
            self._pieces = [] if piece.stamp and not piece.is_kept else None
            return
        if isinstance(piece, Done) and self._task.is_kept:
            self.byte_count += piece.counts.byte_count
        is_too_early = self._new_bytes >= _AT_ONCE and not self._is_lasting
        if isinstance(piece, Failed) or self._is_off or is_too_early:
            self._pieces = None
        if self._pieces is None:
            return
        try:
            if self._files is None:
                self._open()
                _write(self._lines, _line(self._meaning))
            if isinstance(piece, ResultRows):
                self._pieces.append(self._keep(piece))
            elif isinstance(piece, Done):
                shard = {
                    "end": self._end,
                    "pieces": self._pieces,
                    "counts": astuple(piece.counts),
                    "lines": piece.lines,
                }
                _write(self._lines, _line(f"{self._task.stamp} {json.dumps(shard)}".encode()))
                self._new_shards += 1
                if self._is_lasting:
                    self._mark()
        except OSError:
            # For example a full disk. Earlier shards stay.
            self._is_off = True

    def drop(self) -> None:
        """Remove all shards, of this run and of earlier runs, from the disk, and release the folder; nothing if this
        run has not opened the folder.
        """
        self._index, self._unused, self._new_shards = {}, set(), 0
        if self._files is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._close()

    def _open(self) -> None:
        """Open and lock the files, which are made if missing. Raises OSError; BlockingIOError if another run has them."""
        with contextlib.suppress(FileExistsError):
            self._folder.mkdir(0o700)
        status = self._folder.lstat()
        # In a folder where all users may write, another user could put a link or a folder in this place.
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            raise OSError(errno.EPERM, "it is not a folder, or belongs to another user")
        with contextlib.ExitStack() as files:
            self._lines: IO[bytes] = files.enter_context((self._folder / _LINES).open("a+b", buffering=0))
            self._rows: IO[bytes] = files.enter_context((self._folder / _ROWS).open("a+b", buffering=0))
            fcntl.flock(self._lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._files = files.pop_all()
        self._end = self._rows.seek(0, os.SEEK_END)

    def _close(self) -> None:
        if self._files is not None:
            self._files.close()
            self._files = None

    def _read(self) -> bool:
        """Find the shards of an earlier run before the first damaged line, and cut off the rest. Returns whether that
        run has left shards, and was not short.
        """
        with (self._folder / _LINES).open("rb") as lines:
            head = next(lines, b"")
            if head != _line(head[_CHECKSUM:-1]):
                self.drop()
                return False
            earlier, current = json.loads(head[_CHECKSUM:]), json.loads(self._meaning)
            self.differing = sorted(key for key in earlier | current if earlier.get(key) != current.get(key))
            end, last = len(head), b""
            for line in lines:
                if line != _line(line[_CHECKSUM:-1]):
                    break
                self._index[line[_CHECKSUM:][: _STAMP - 1].decode()] = end, len(line)
                end, last = end + len(line), line
        self._unused = set(self._index)
        self._end = self._shard(end - len(last), len(last))["end"] if last else 0
        for file, size in ((self._lines, end), (self._rows, self._end)):
            # A file that needs no change keeps its time, which a message reports.
            if os.fstat(file.fileno()).st_size != size:
                file.truncate(size)
        return self._is_marked and bool(self._index)

    def _discard(self, *, is_lasting: bool, force: bool) -> None:
        """Remove the shards of an earlier run. Raises FatalError if that run was not short (`is_lasting`), except with
        `force`.
        """
        if is_lasting:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime((self._folder / _LINES).stat().st_mtime))
            work = f"the work of an earlier run on {self._bytes_of(self._index):,} bytes, interrupted at {when},"
            if not force:
                self._close()
                difference, command = "", "--resume"
                if self.differing:
                    difference = f"; that run had other options ({', '.join(self.differing)})"
                    command = "its command with --resume"
                choice = f"{command} continues it, --force discards it"
                raise FatalError(f"{self._name}: {work} is kept{difference}; {choice}")
            self.discarded = work
        self.drop()

    def _shard(self, start: int, size: int) -> _Shard:
        shard: _Shard = json.loads(_bytes(self._lines, start, size)[_CHECKSUM + _STAMP :])
        return shard

    def _bytes_of(self, stamps: Iterable[str]) -> int:
        counts = (Counts(*self._shard(*self._index[stamp])["counts"]) for stamp in stamps)
        return sum(count.byte_count for count in counts)

    @property
    def _is_marked(self) -> bool:
        """Whether the shards are of a run that was not short."""
        return (self._folder / _LASTING).exists()

    def _mark(self) -> None:
        """Make the empty file that protects the shards from later runs without `force`."""
        if not self._is_marked:
            with contextlib.suppress(OSError):
                (self._folder / _LASTING).touch()

    def _keep(self, piece: ResultRows) -> Mapping[str, Any]:
        rows = {}
        for table in _TABLES:
            batch = getattr(piece, table)
            if batch is not None:
                data = packed([batch])
                _write(self._rows, data)
                rows[table] = (self._end, len(data), zlib.crc32(data))
                self._end += len(data)
                self._new_bytes += len(data)
        return {"counts": astuple(piece.counts), "names": dict(piece.names), "rows": rows}


def _bytes(file: IO[bytes], start: int, size: int) -> bytes:
    return os.pread(file.fileno(), size, start)


def _line(data: bytes) -> bytes:
    return b"%08x %b\n" % (zlib.crc32(data), data)


def _write(file: IO[bytes], data: bytes) -> None:
    # A call of `write` of an unbuffered file may write fewer bytes.
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _batch(data: bytes) -> pa.RecordBatch:
    (rows,) = unpacked(data)
    # An earlier version, with other names of columns, may have written the rows.
    return rows.rename_columns(names_now(rows.schema.names))
