"""Output files: a file appears whole at a path or URL, or not at all.

While a file is written, it is in a work folder, together with the rows that are spilled for it. The work folder is next
to the path of the output; if the output is a URL or a stream, it is in the folder for temporary files. The process that
uses a work folder locks it. So a later run for the same output recognises the folder of a dead process, and removes it.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import glob
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol, Self

from urnscan.display.addresses import without_secrets
from urnscan.errors import FatalError, SourceError, option
from urnscan.stores.temporary import TEMPORARY_SUFFIX
from urnscan.stores.urls import is_remote, local_path, real_place

SHARDS_SUFFIX = f".shards{TEMPORARY_SUFFIX}"
"""Suffix of the folder with the results of an unfinished run, from which a run with `--resume` continues."""


def shards_folder(output: Path) -> Path:
    """Return the path of the hidden folder next to an output in which a run keeps its work for `--resume`:
    `.urns.parquet.shards…`. The folder is not made.
    """
    return output.with_name(f".{output.name}{SHARDS_SUFFIX}")


_STREAM = "standard output"
_EXISTS, _EXISTS_SINCE_START = "exists already", "was created during the run"

_SYNC_FILE_RANGE_WRITE = 2
_sync_file_range: Any = getattr(ctypes.CDLL(None), "sync_file_range", None)
if _sync_file_range is not None:
    _sync_file_range.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)


class Output:
    """A file that appears at its path when `commit` is called, and never without it; a context manager. Before, it is
    in a work folder (a temporary folder next to the path), which is removed at the end of the context.

    `path` may also be a URL or an open stream. Then the work folder is in the folder for temporary files of the system,
    and `commit` copies the file to the store or the stream. Each format is a subclass with a method `write`.
    """

    remarks: Sequence[str] = ()
    """Lines about values that the file does not contain exactly as found; known when the file is complete."""

    def __init__(self, path: str | os.PathLike[str] | IO[bytes], *, force: bool, folder: Path | None = None) -> None:
        """`folder` is an existing work folder that no other output uses, which the caller removes; None: a new folder.

        Raises FatalError if a file exists at the path or URL already (unless `force`), if the path or URL is a folder
        or invalid, and if the folder of the file does not exist or cannot be written to.
        """
        self._force = force
        self._clean_up = contextlib.ExitStack()
        self._is_complete = False
        with as_fatal(name_of(path)):
            self._place = _place(path)
            self._place.check(force=force)
            self.base_path = self._place.base_path
            """Path on this machine; temporary files are next to it, and their names begin with its name.

            It is the path of the output itself or, for a URL or a stream, a path in the folder for temporary files.
            """
            self.folder = folder or self._clean_up.enter_context(work_folder(self._place.base_path))
        self._written = self.folder / "output"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._clean_up.close()

    def complete(self, metadata: Mapping[str, Any] | None = None) -> None:
        """Write the end of the file to the work folder, so that `commit` only has to move or copy the file.

        `metadata` is written if the format has a place for it. A second call does nothing. Raises FatalError if the
        disk is full or the file cannot be written.
        """
        if self._is_complete:
            return
        with as_fatal(self._place.name):
            self._write_end(metadata or {})
            with self._written.open("rb") as file:
                os.fsync(file.fileno())
        self._is_complete = True

    def commit(self, metadata: Mapping[str, Any] | None = None) -> None:
        """Complete the file as `complete` does, also with `metadata` (ignored if the file is complete already), and
        move it to the path, or copy it to the URL or stream.

        Raises FatalError if that fails, also if a file has appeared there during the run (except with `force`);
        BrokenPipeError if the reader of standard output has stopped.
        """
        self.complete(metadata)
        with as_fatal(self._place.name):
            self._place.put(self._written, force=self._force)

    def _write_end(self, metadata: Mapping[str, Any]) -> None:
        """Write the end of the file, and close it."""
        raise NotImplementedError


def begin_sync(file: IO[bytes], start: int, byte_count: int) -> None:
    """Ask the system to begin to write a part of an open file to the disk, without waiting: `byte_count` bytes from
    byte offset `start` on. An error of the system is ignored. Does nothing if the system is not Linux.
    """
    if _sync_file_range is not None:
        _sync_file_range(file.fileno(), start, byte_count, _SYNC_FILE_RANGE_WRITE)


class Committable(Protocol):
    """Protocol: a file or several files that appear in two steps.

    `complete` writes them to work folders (temporary folders), and `commit` moves or copies them to their places.
    """

    def complete(self, metadata: Mapping[str, Any] | None = None, /) -> None:
        """Write the end of the files to their work folders, so that `commit` only has to move or copy them. `metadata`
        is written if the format has a place for it. Raises FatalError if that fails.
        """

    def commit(self, metadata: Mapping[str, Any] | None = None, /) -> None:
        """Complete the files as `complete` does, with `metadata` unless they are complete already, and move or copy
        them to their paths, URLs or streams. Raises FatalError if that fails, BrokenPipeError if the reader of standard
        output has stopped.
        """


def commit_all(outputs: Collection[Committable], metadata: Mapping[str, Any]) -> None:
    """Complete all outputs (write their ends to the work folders), then commit all (move them to their places).
    `metadata`, a dict for JSON about the run, is written to each output whose format has a place for it.

    Raises the error of the first that fails: a FatalError, or BrokenPipeError for standard output. If an output cannot
    be completed, no output appears; if one cannot be committed, those before it have appeared.
    """
    for output in outputs:
        output.complete(metadata)
    for output in outputs:
        output.commit(metadata)


def check_output(path: str | os.PathLike[str], *, force: bool) -> None:
    """Raise FatalError if an output cannot have this path or URL: something exists there already (unless `force`), the
    path is a folder or another file that is not regular, or the URL is invalid or its store fails. Whether the folder
    of the path exists is not checked.
    """
    with as_fatal(name_of(path)):
        _place(path).check(force=force)


def check_outputs(*paths: str | None) -> list[str]:
    """Return the paths and URLs that are not None, in order. Raises FatalError if two of them are the same file, or if
    one is the empty text, SourceError for an invalid URL. Existing files are not an error here.
    """
    outputs = [path for path in paths if path is not None]
    if "" in outputs:
        raise FatalError("an output has an empty name")
    places = [real_place(path) for path in outputs]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise FatalError(f"{outputs[places.index(place)]}: named as two outputs; name two files")
    return outputs


def existing_output(name: str | Path, reason: str = _EXISTS) -> FatalError:
    """Return (not raise) the error for an output that would replace the existing file `name` without `force`. The
    message says `reason`, such as "exists already", and names the option that replaces the file.
    """
    return FatalError(f"{name}: {reason}; {option('force')} replaces it")


def name_of(path: str | os.PathLike[str] | IO[bytes]) -> str:
    """The name of an output in messages: the path, or the URL without its secrets; "standard output" for any stream."""
    return without_secrets(os.fspath(path)) if isinstance(path, str | os.PathLike) else _STREAM


def _place(path: str | os.PathLike[str] | IO[bytes]) -> _Local | _Remote | _Stream:
    if not isinstance(path, str | os.PathLike):
        return _Stream(path)
    name = os.fspath(path)
    return _Remote(name) if is_remote(name) else _Local(name)


class _Local:
    """A path as the target of an output. Methods raise FatalError and OSError."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._path = Path(local_path(path))
        # If the path is a link, the file that it points to is replaced, and the link stays.
        self.base_path = Path(os.path.realpath(self._path))

    def check(self, *, force: bool) -> None:
        if self._path.is_dir():
            raise FatalError(f"{self.name}: is a folder; name a file in it")
        if self.base_path.exists() and not self.base_path.is_file():
            raise FatalError(f"{self.name}: is not a regular file; name one that can be replaced")
        if not force and os.path.lexists(self._path):
            raise existing_output(self.name)

    def put(self, written: Path, *, force: bool) -> None:
        """Move the file `written`, which must be in the same file system, to this path. Without `force`, raises
        FatalError if a file has appeared there during the run.
        """
        if force or not self._link(written):
            written.replace(self.base_path)

    def _link(self, written: Path) -> bool:
        """Make this path a hard link to the file `written`; return False if the file system cannot do that."""
        try:
            os.link(written, self.base_path)
        except OSError as error:
            if self.base_path.exists():
                raise existing_output(self.base_path, _EXISTS_SINCE_START) from error
            return False
        return True


class _Remote:
    """A URL as the target of an output. Methods raise FatalError and SourceError."""

    def __init__(self, url: str) -> None:
        from urnscan.stores.remote_outputs import RemotePlace  # noqa: PLC0415 (only for URLs)

        self._place = RemotePlace(url)
        self.name = self._place.name
        # Objects in different folders may have the same base name, so the name of the file depends on the whole URL.
        digest = hashlib.blake2b(self.name.encode(), digest_size=8).hexdigest()
        self.base_path = Path(tempfile.gettempdir(), f"{self._place.base_name}.{digest}")

    def check(self, *, force: bool, reason: str = _EXISTS) -> None:
        existing = self._place.find()
        if existing is not None and existing.is_folder:
            raise FatalError(f"{self.name}: is a folder; name a file in it")
        if existing is not None and not force:
            raise existing_output(self.name, reason)

    def put(self, written: Path, *, force: bool) -> None:
        self.check(force=force, reason=_EXISTS_SINCE_START)
        self._place.put(written)


class _Stream:
    """Standard output as the target of an output."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.name = _STREAM
        self.base_path = Path(tempfile.gettempdir(), f"urnscan-{os.getpid()}")

    def check(self, *, force: bool) -> None:
        """Do nothing: a stream replaces no file."""

    def put(self, written: Path, *, force: bool) -> None:  # noqa: ARG002 (as in the other classes)
        with written.open("rb") as file:
            shutil.copyfileobj(file, self._stream)
        self._stream.flush()


@contextlib.contextmanager
def work_folder(path: Path) -> Iterator[Path]:
    """Context whose value is a new temporary folder next to the file `path`. At its end the folder is removed with all
    files.

    At the beginning, folders that dead processes left for the same `path` are removed, except folders of unfinished
    runs with `--resume`. Raises OSError if the folder cannot be made.
    """
    for name in glob.iglob(f".{glob.escape(path.name)}.*{TEMPORARY_SUFFIX}", root_dir=path.parent, include_hidden=True):
        if not name.endswith(SHARDS_SUFFIX):
            _remove_if_dead(path.parent / name)
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(TEMPORARY_SUFFIX, f".{path.name}.", path.parent))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        # The file gets the name `lock` only when it is locked: if another process finds a `lock` that is not locked, it
        # treats the folder as that of a dead process.
        unlocked = folder / "lock.new"
        lock = os.open(unlocked, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
        stack.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        unlocked.rename(folder / "lock")
        yield folder


def _remove_if_dead(folder: Path) -> None:
    """Remove a work folder if the process that made it has ended. A living process keeps the file `lock` in it locked."""
    with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
        try:
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            # Either the process has not made the lock yet, or it died before that. So the folder stays for a minute.
            if time.time() - folder.stat().st_mtime <= 60:
                return
        else:
            stack.callback(os.close, lock)
            # This raises OSError if the process is alive.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def as_fatal(name: str) -> Iterator[None]:
    """Context in which an OSError or SourceError is raised as a FatalError instead: a message that the output `name`,
    or the source of the SourceError, cannot be written, and why. A BrokenPipeError stays if `name` is "standard
    output".
    """
    try:
        yield
    except FileNotFoundError as error:
        folder = Path(name).parent
        missing = f"the folder {folder} does not exist; make it first"
        reason = f"nothing can be written to {folder}" if folder.is_dir() else missing
        raise FatalError(f"{name}: {reason}") from error
    except OSError as error:
        # The reader of standard output has stopped, as `head` does: this is not a failure.
        if isinstance(error, BrokenPipeError) and name == _STREAM:
            raise
        raise FatalError(f"{name}: cannot be written: {error.strerror or error}") from error
    except SourceError as error:
        raise FatalError(f"{error.source}: cannot be written: {error.reason}") from error
