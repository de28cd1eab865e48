"""Finished tasks of a run, kept beside its output to its end: a run that was cut off can be resumed.

A *shard* is the result of one task. Its rows are appended to one file, as Arrow streams. When it is whole, a line is
appended to another file: a checksum of the line, the *stamp* of the task (a digest of its inputs with their sizes and
times), and in JSON the counts of its pieces, and where their rows lie, with checksums. So nothing has to reach the disk
in any order: a line that is damaged, all lines behind it, and a shard with damaged rows do not count. A task in which
something failed has no shard.

Only `force` discards the work of a run that was not short, or had `--resume`: an empty file beside its shards says so.
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
from urnscan.run.task_results import Begun, Counts, Done, Failed, ResultRows, TaskResult
from urnscan.run.tasks import FilePart, Files, Task
from urnscan.stores.input import Input, Listed
from urnscan.tables.editions import names_now
from urnscan.tables.output_file import SHARDS_SUFFIX

_TABLES = ("partial", "occurrences", "rejects")
_AT_ONCE = 16 << 20  # octets of rows that are kept from the beginning on
_SHORT = 10  # seconds: a shorter run keeps no more rows than that, and none when it ends; it is soon done again
_LINES, _ROWS, _STAYS = "shards", "rows.arrows", "stays"
_CHECKSUM, _STAMP = 9, 33  # octets at the beginning of a line, each followed by a space

_Shard = Mapping[str, Any]
"""JSON of a line: `end` (octets of rows so far), `pieces` (the rows of the task), `counts` and `lines` (its end)."""


class Stamp(NamedTuple):
    """Identity of a task, for resuming."""

    text: str
    """Digest of its place, its inputs, their sizes and times or marks; empty if an input can give other octets each time."""
    octets: int
    """Octets to be read for the task."""
    unmarked: int = 0
    """URLs in it of which the store does not tell whether they are the same."""


_UNKNOWN = Stamp("", 0)


def stamp(task: Task) -> Stamp:
    """The stamp of a task as its inputs are now."""
    start, end = 0, sys.maxsize
    match task:
        case Files():
            inputs: tuple[Listed | Input, ...] = task.inputs
        case FilePart():
            inputs, start, end = (task.input,), task.start, task.end
        case _:
            return _UNKNOWN
    known = hashlib.blake2b(b"%d %d %d" % (task.place, start, end), digest_size=16)
    octets = 0
    unmarked = sum(entry.remote is not None and entry.mark is None for entry in inputs if isinstance(entry, Input))
    for entry in inputs:
        if isinstance(entry, Input) and entry.extents:
            known.update(repr(entry.extents).encode())
        if isinstance(entry, Input) and entry.path is None:
            if entry.remote is None or entry.mark is None:
                return Stamp("", 0, unmarked)
            known.update(b"\0".join((entry.key, entry.mark.encode("utf-8", "surrogateescape"))))
            octets += entry.size or 0
            continue
        files = entry if isinstance(entry, Listed) else Listed.of([entry])
        sizes, times = file_states(files.paths, files.ends, follow=True)
        if (sizes == UNKNOWN).any():  # a pipe or a device may give other octets each time
            return _UNKNOWN
        known.update(b"\0".join((sizes.tobytes(), times.tobytes(), files.paths)))
        read = entry.size if isinstance(entry, Input) and entry.extents else None
        octets += int((np.minimum(sizes, end) - start).sum()) if read is None else read
    return Stamp(known.hexdigest(), octets)


class Shards:
    """The shards beside an output; a context manager. At its end shards are removed unless `are_kept`.

    `add` is for one thread, `find` and `pieces` are for any.
    """

    def __init__(
        self, output: Path, meaning: Mapping[str, Any], *, resume: bool, force: bool = False, name: str = ""
    ) -> None:
        """`meaning` is all that decides the result of a task. With `resume`, shards of an earlier run with the same
        meaning are found. With `force`, others are removed. `name` is that of the output in messages.

        Raises FatalError if shards would be lost that an earlier run has kept, if their run is alive (except with
        `force`), and with `resume` if they cannot be read. In the other cases none are kept.
        """
        self.octets = 0
        """Octets of text that did not have to be scanned again."""
        self.differing: list[str] = []
        """Names of what was different in the meaning of the earlier run."""
        self.unmarked: list[int] = []
        """URLs of each task of which the store does not tell whether they are the same."""
        self.discarded = ""
        """Description of the work that was removed because of `force`."""
        self._name = name or str(output)
        self._folder = output.with_name(f".{output.name}{SHARDS_SUFFIX}")
        self._meaning = json.dumps(meaning, sort_keys=True).encode()
        self._keeps_all_from = time.monotonic() + (-1 if resume else _SHORT)
        self._index: dict[str, tuple[int, int]] = {}  # by stamp: start of the line, and its octets
        self._unused: set[str] = set()  # stamps of those that no task of this run had
        self._kept = 0  # shards of this run
        self._written = 0  # octets of rows
        self._begun = Begun()  # the current task
        self._pieces: list[Mapping[str, Any]] | None = None  # of the current task; None if it gets no shard
        self._files: contextlib.ExitStack | None = None
        self._is_off = False
        try:
            if os.path.lexists(self._folder):
                self._open()
                stays = self._read()
                if self.differing or not resume:
                    self._discard(stays=stays, force=force)
        except OSError as error:
            self._close()
            if isinstance(error, BlockingIOError) and (resume or not force):
                raise FatalError(f"{self._name}: another run is writing it: wait for its end") from error
            if resume:
                reason = f"what an earlier run left cannot be read: {error.strerror}"
                raise FatalError(f"{self._folder}: {reason}; remove it to begin anew") from error
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
    def are_some(self) -> bool:
        """Whether shards of an earlier run can be used."""
        return bool(self._index)

    @property
    def are_kept(self) -> bool:
        """Whether there are shards, of a run long enough to be worth resuming."""
        return bool(self._index or self._kept) and self._stays

    @property
    def unused(self) -> int:
        """Octets of text in shards of an earlier run for which this run had no task."""
        return self._octets_of(self._unused)

    @property
    def _stays(self) -> bool:
        return time.monotonic() > self._keeps_all_from

    def find(self, task: str) -> _Shard | None:
        """The shard of the task with this stamp, for `pieces`; None if an earlier run left none that is whole."""
        if task not in self._index:
            return None
        self._unused.discard(task)
        start, size = self._index[task]
        try:
            shard = self._shard(start, size)
            rows = [place for piece in shard["pieces"] for place in piece["rows"].values()]
            is_whole = all(zlib.crc32(_octets(self._rows, *place)) == crc for *place, crc in rows)
        except OSError:
            return None
        return shard if is_whole else None

    def pieces(self, shard: _Shard) -> Iterator[TaskResult]:
        """The pieces of a shard."""
        for piece in shard["pieces"]:
            rows = {
                table: _batch(_octets(self._rows, start, size)) for table, (start, size, _) in piece["rows"].items()
            }
            names = {int(place): name for place, name in piece["names"].items()}
            yield ResultRows(Counts(*piece["counts"]), **rows, names=names)
        yield Done(Counts(*shard["counts"]), shard["lines"])

    def add(self, piece: TaskResult) -> None:
        """Keep the next piece of the run."""
        if isinstance(piece, Begun):
            self._begun = piece
            self._pieces = [] if piece.stamp and not piece.is_kept else None
            return
        if isinstance(piece, Done) and self._begun.is_kept:
            self.octets += piece.counts.octets
        is_time = self._written < _AT_ONCE or self._stays
        if isinstance(piece, Failed) or self._is_off or not is_time:
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
                _write(self._lines, _line(f"{self._begun.stamp} {json.dumps(shard)}".encode()))
                self._kept += 1
                if self._stays:
                    self._mark()
        except OSError:  # for example a full disk: the shards before it stay
            self._is_off = True

    def drop(self) -> None:
        """Remove all shards."""
        self._index, self._unused, self._kept = {}, set(), 0
        if self._files is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._close()

    def _open(self) -> None:
        """Open the files, or make them. Raises OSError; BlockingIOError if another run has opened them."""
        with contextlib.suppress(FileExistsError):
            self._folder.mkdir(0o700)
        status = self._folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():  # a trap, in a folder where all may write
            raise OSError(errno.EPERM, "it is no folder, or not one's own")
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
        """Find the shards of an earlier run, and cut off what is behind the last whole line and its rows.

        Returns whether that run was one that keeps its shards.
        """
        with (self._folder / _LINES).open("rb") as lines:
            head = next(lines, b"")
            if head != _line(head[_CHECKSUM:-1]):
                self.drop()
                return False
            earlier, own = json.loads(head[_CHECKSUM:]), json.loads(self._meaning)
            self.differing = sorted(key for key in earlier | own if earlier.get(key) != own.get(key))
            end, last = len(head), b""
            for line in lines:
                if line != _line(line[_CHECKSUM:-1]):
                    break
                self._index[line[_CHECKSUM:][: _STAMP - 1].decode()] = end, len(line)
                end, last = end + len(line), line
        self._unused = set(self._index)
        self._end = self._shard(end - len(last), len(last))["end"] if last else 0
        for file, size in ((self._lines, end), (self._rows, self._end)):
            if os.fstat(file.fileno()).st_size != size:  # otherwise the file keeps its time
                file.truncate(size)
        return self._is_marked and bool(self._index)

    def _discard(self, *, stays: bool, force: bool) -> None:
        """Remove the shards of an earlier run. Raises FatalError if it has kept them, and not with `force`."""
        if stays:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime((self._folder / _LINES).stat().st_mtime))
            work = f"the work of an earlier run on {self._octets_of(self._index):,} octets, cut off at {when},"
            if not force:
                self._close()
                which, how = "", "--resume"
                if self.differing:
                    which = f"; it had another {' and '.join(self.differing)}"
                    how = "the command of that run with --resume"
                choice = f"{how} goes on from there, --force discards it"
                raise FatalError(f"{self._name}: {work} is kept{which}: {choice}")
            self.discarded = work
        self.drop()

    def _shard(self, start: int, size: int) -> _Shard:
        """The JSON of a line."""
        shard: _Shard = json.loads(_octets(self._lines, start, size)[_CHECKSUM + _STAMP :])
        return shard

    def _octets_of(self, stamps: Iterable[str]) -> int:
        """Octets of text in some of the shards that were found."""
        counts = (Counts(*self._shard(*self._index[stamp])["counts"]) for stamp in stamps)
        return sum(count.octets for count in counts)

    @property
    def _is_marked(self) -> bool:
        """Whether the shards are those of a run that keeps them."""
        return (self._folder / _STAYS).exists()

    def _mark(self) -> None:
        """Say for later runs that the shards are kept."""
        if not self._is_marked:
            with contextlib.suppress(OSError):
                (self._folder / _STAYS).touch()

    def _keep(self, piece: ResultRows) -> Mapping[str, Any]:
        """Write the rows of a piece; returns its entry in the line of JSON."""
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


def _octets(file: IO[bytes], start: int, size: int) -> bytes:
    return os.pread(file.fileno(), size, start)


def _line(octets: bytes) -> bytes:
    return b"%08x %b\n" % (zlib.crc32(octets), octets)


def _write(file: IO[bytes], octets: bytes | pa.Buffer) -> None:
    """Append all octets: a file without a buffer may take fewer."""
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
        rows = stream.read_next_batch()
    return rows.rename_columns(names_now(rows.schema.names))  # an earlier version may have kept them
