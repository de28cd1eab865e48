"""Places of outputs: a file appears there whole, or not at all.

While a file is written it lies, with what is spilled for it, in a work folder beside its place, or in the folder for
temporary files where its place is a URL. The process that uses the folder locks it, so that a later run for the same
output can tell the folder of a dead process and remove it.
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
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Protocol, Self

from urnscan.errors import FatalError, SourceError, option
from urnscan.stores.temporary import TEMPORARY_SUFFIX
from urnscan.stores.urls import is_remote, local_path, real_place, without_secrets

SHARDS_SUFFIX = f".shards{TEMPORARY_SUFFIX}"
"""Suffix of the folder that a later run with `--resume` for the same output continues from."""

_STREAM = "standard output"
_EXISTS, _SINCE_THE_START = "exists already", "came into being during the run"

_SYNC_FILE_RANGE_WRITE = 2
_sync_file_range: Any = getattr(ctypes.CDLL(None), "sync_file_range", None)
if _sync_file_range is not None:
    _sync_file_range.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)


class Output:
    """A file that appears in its place when `commit` is called, and not at all otherwise; a context manager.

    `path` may be a URL: then the file is written on this machine and copied to the store. It may be an open stream:
    then the file is written in the folder for temporary files, and copied to the stream.
    """

    def __init__(self, path: str | os.PathLike[str] | IO[bytes], *, force: bool, folder: Path | None = None) -> None:
        """`folder` is an existing work folder for this file alone; None: a new one.

        Raises FatalError where the file exists already (unless `force`), or where its folder does not exist or cannot
        be written to.
        """
        self._force = force
        self._clean_up = contextlib.ExitStack()
        self._is_complete = False
        with as_fatal(name_of(path)):
            self._place = _place(path)
            self._place.check(force=force)
            self.beside = self._place.beside
            """Local path of the file; of one that is copied to a store, a path in the folder for temporary files."""
            self.folder = folder or self._clean_up.enter_context(work_folder(self._place.beside))
        self._written = self.folder / "output"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._clean_up.close()

    def complete(self, metadata: Mapping[str, Any] | None = None) -> None:
        """Write the end of the file, so that hardly anything can fail in `commit`. Raises FatalError.

        `metadata` is written if the format has a place for it.
        """
        if self._is_complete:
            return
        with as_fatal(self._place.name):
            self._write_end(metadata or {})
            with self._written.open("rb") as file:
                os.fsync(file.fileno())
        self._is_complete = True

    def commit(self, metadata: Mapping[str, Any] | None = None) -> None:
        """Complete the file as `complete` does, and put it in its place. Raises FatalError."""
        self.complete(metadata)
        with as_fatal(self._place.name):
            self._place.put(self._written, force=self._force)

    def _write_end(self, metadata: Mapping[str, Any]) -> None:
        """Write what is left, and close the file."""
        raise NotImplementedError


def begin_sync(file: IO[bytes], start: int, octets: int) -> None:
    """Have the disk begin with a part of a file, so that `os.fsync` has to wait for little at the end.

    It only saves time; systems other than Linux do without.
    """
    if _sync_file_range is not None:
        _sync_file_range(file.fileno(), start, octets, _SYNC_FILE_RANGE_WRITE)


class Completed(Protocol):
    """Files that appear in their places in two steps, of which only the first is likely to fail."""

    def complete(self, metadata: Mapping[str, Any] | None = None, /) -> None:
        """Write what is left."""

    def commit(self, metadata: Mapping[str, Any] | None = None, /) -> None:
        """Put the files in their places."""


def commit_all(outputs: Collection[Completed], metadata: Mapping[str, Any]) -> None:
    """Put several files in their places: all that can fail comes before the first appears. Raises FatalError."""
    for output in outputs:
        output.complete(metadata)
    for output in outputs:
        output.commit(metadata)


def check_output(path: str | os.PathLike[str], *, force: bool) -> None:
    """Raise FatalError if no output can be put there: the path exists already (unless `force`), or is a folder."""
    with as_fatal(name_of(path)):
        _place(path).check(force=force)


def check_outputs(*paths: str | None) -> list[str]:
    """The paths that are given. Raises FatalError if two are the same file, or one is empty."""
    outputs = [path for path in paths if path is not None]
    if "" in outputs:
        raise FatalError("an output has an empty name")
    places = [real_place(path) for path in outputs]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise FatalError(f"{outputs[places.index(place)]}: named as two outputs")
    return outputs


def existing_output(name: str | Path, reason: str = _EXISTS) -> FatalError:
    """The error for an output that would replace an existing one without `force`."""
    return FatalError(f"{name}: {reason}; {option('force')} replaces it")


def name_of(path: str | os.PathLike[str] | IO[bytes]) -> str:
    """The name of an output in messages."""
    return without_secrets(os.fspath(path)) if isinstance(path, str | os.PathLike) else _STREAM


def _place(path: str | os.PathLike[str] | IO[bytes]) -> _Local | _Remote | _Stream:
    if not isinstance(path, str | os.PathLike):
        return _Stream(path)
    name = os.fspath(path)
    return _Remote(name) if is_remote(name) else _Local(name)


class _Local:
    """Place of an output on this machine. Methods raise FatalError and OSError."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._path = Path(local_path(path))
        self.beside = Path(os.path.realpath(self._path))  # a link stays, what it leads to is replaced

    def check(self, *, force: bool) -> None:
        """Raise FatalError if no file may be put there."""
        if self._path.is_dir():
            raise FatalError(f"{self.name}: is a folder; name a file in it")
        if self.beside.exists() and not self.beside.is_file():
            raise FatalError(f"{self.name}: is no regular file; name one that can be replaced")
        if not force and os.path.lexists(self._path):
            raise existing_output(self.name)

    def put(self, written: Path, *, force: bool) -> None:
        """Rename a file to this place; without `force` never over one that has appeared meanwhile."""
        if force or not self._link(written):
            written.replace(self.beside)

    def _link(self, written: Path) -> bool:
        """Link a file to this place; False on a file system without links."""
        try:
            os.link(written, self.beside)
        except OSError as error:
            if self.beside.exists():
                raise existing_output(self.beside, _SINCE_THE_START) from error
            return False
        return True


class _Remote:
    """Place of an output in a store. Methods raise FatalError and SourceError."""

    def __init__(self, url: str) -> None:
        from urnscan.stores.remote_outputs import RemotePlace  # noqa: PLC0415 (only for URLs)

        self._place = RemotePlace(url)
        self.name = self._place.name
        known = hashlib.blake2b(self.name.encode(), digest_size=8).hexdigest()  # of all its URL, as base names recur
        self.beside = Path(tempfile.gettempdir(), f"{self._place.base_name}.{known}")

    def check(self, *, force: bool, reason: str = _EXISTS) -> None:
        """Raise FatalError if no object may be put there."""
        found = self._place.find()
        if found is not None and found.is_folder:
            raise FatalError(f"{self.name}: is a folder; name a file in it")
        if found is not None and not force:
            raise existing_output(self.name, reason)

    def put(self, written: Path, *, force: bool) -> None:
        """Copy a file to this place, after a second look whether another has appeared there."""
        self.check(force=force, reason=_SINCE_THE_START)
        self._place.put(written)


class _Stream:
    """Place of an output in an open stream: standard output."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.name = _STREAM
        self.beside = Path(tempfile.gettempdir(), f"urnscan-{os.getpid()}")

    def check(self, *, force: bool) -> None:
        """Nothing is there that could be replaced."""

    def put(self, written: Path, *, force: bool) -> None:  # noqa: ARG002 (as for other places)
        """Copy a file into the stream. Raises OSError."""
        with written.open("rb") as file:
            shutil.copyfileobj(file, self._stream)
        self._stream.flush()


@contextlib.contextmanager
def work_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside the file `path`, removed afterwards.

    Folders of dead processes that wrote the same file are removed, too. Raises OSError if none can be made.
    """
    for stale in glob.iglob(
        f".{glob.escape(path.name)}.*{TEMPORARY_SUFFIX}", root_dir=path.parent, include_hidden=True
    ):
        if not stale.endswith(SHARDS_SUFFIX):
            _remove_if_dead(path.parent / stale)
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(TEMPORARY_SUFFIX, f".{path.name}.", path.parent))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        # Named `lock` only when it is locked: another process takes a folder whose `lock` is free for that of a dead one.
        unlocked = folder / "lock.new"
        lock = os.open(unlocked, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
        stack.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        unlocked.rename(folder / "lock")
        yield folder


def _remove_if_dead(folder: Path) -> None:
    """Remove a work folder whose process is gone: its lock is free."""
    with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
        try:
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            # The folder has no lock yet, or its process died before the lock was made: it is left for a minute.
            if time.time() - folder.stat().st_mtime <= 60:
                return
        else:
            stack.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails if the process is alive
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def as_fatal(name: str) -> Iterator[None]:
    """Turn errors of the operating system and of stores into a FatalError that names the output."""
    try:
        yield
    except FileNotFoundError as error:
        folder = Path(name).parent
        reason = f"nothing can be written to {folder}" if folder.is_dir() else f"the folder {folder} does not exist"
        raise FatalError(f"{name}: {reason}") from error
    except OSError as error:
        if isinstance(error, BrokenPipeError) and name == _STREAM:  # nobody reads on, which is no failure
            raise
        raise FatalError(f"{name}: cannot be written: {error.strerror or error}") from error
    except SourceError as error:
        raise FatalError(f"{error.source}: cannot be written: {error.reason}") from error
