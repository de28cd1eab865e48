"""Places of outputs: a file appears there whole, or not at all.

While a file is written it lies, with what is spilled for it, in a work folder beside its place, or in the folder for
temporary files where its place is a URL. The process that uses the folder locks it, so that a later run for the same
output can tell the folder of a dead process and remove it.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from urnscan.errors import FatalError, SourceError
from urnscan.sources import TEMPORARY_SUFFIX, is_remote, local_path, without_secrets

__all__ = ["SHARDS_SUFFIX", "Output", "as_fatal", "check_output", "work_folder"]

SHARDS_SUFFIX = f".shards{TEMPORARY_SUFFIX}"
"""Suffix of the folder that a later run with `--resume` for the same output continues from."""

_REPLACED = "--force (in Python force=True) replaces it"


class Output:
    """A file that appears in its place when it is whole, and not at all otherwise; a context manager.

    `path` may be a URL: then the file is written on this machine and copied to the store.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool, folder: Path | None = None) -> None:
        """`folder` is an existing work folder for this file alone; None: a new one.

        Raises FatalError where the file exists already (unless `force`), or where its folder does not exist or cannot
        be written to.
        """
        self._force = force
        self._clean_up = contextlib.ExitStack()
        name = os.fspath(path)
        with as_fatal(without_secrets(name)):
            self._place = _place(name)
            self._place.check(force=force)
            self.beside = self._place.beside
            """Local path of the file; of one that is copied to a store, a path in the folder for temporary files."""
            self.folder = folder or self._clean_up.enter_context(work_folder(self._place.beside))
        self._is_complete = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clean_up.close()

    def _completed(self, written: Path) -> None:
        """Flush the written file to the disk. Raises OSError."""
        with written.open("rb") as file:
            os.fsync(file.fileno())
        self._is_complete = True

    def _put(self, written: Path) -> None:
        """Put the file in its place. Raises FatalError."""
        with as_fatal(self._place.name):
            self._place.put(written, force=self._force)


def check_output(path: str | os.PathLike[str], *, force: bool) -> None:
    """Raise FatalError where no output can be put: the path exists already (unless `force`), or is a folder."""
    name = os.fspath(path)
    with as_fatal(without_secrets(name)):
        _place(name).check(force=force)


def _place(name: str) -> _Local | _Remote:
    return _Remote(name) if is_remote(name) else _Local(name)


class _Local:
    """Place of an output on this machine. Methods raise FatalError and OSError."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._path = Path(local_path(path))
        self.beside = Path(os.path.realpath(self._path))  # a link stays, what it leads to is replaced

    def check(self, *, force: bool) -> None:
        """Raise FatalError where no file may be put."""
        if self._path.is_dir():
            raise FatalError(f"{self.name}: is a folder; name a file in it")
        if self.beside.exists() and not self.beside.is_file():
            raise FatalError(f"{self.name}: is no regular file; name one that can be replaced")
        if not force and os.path.lexists(self._path):
            raise FatalError(f"{self.name}: exists already; {_REPLACED}")

    def put(self, written: Path, *, force: bool) -> None:
        """Rename a file to this place."""
        if force:
            written.replace(self.beside)
        else:
            _move_to_free_place(written, self.beside)


class _Remote:
    """Place of an output in a store. Methods raise FatalError and SourceError."""

    def __init__(self, url: str) -> None:
        from urnscan.sources.remote.places import RemotePlace  # noqa: PLC0415 (only for URLs)

        self._place = RemotePlace(url)
        self.name = self._place.name
        known = hashlib.blake2b(self.name.encode(), digest_size=8).hexdigest()  # of all its URL, as base names recur
        self.beside = Path(tempfile.gettempdir(), f"{self._place.base_name}.{known}")

    def check(self, *, force: bool, reason: str = "exists already") -> None:
        """Raise FatalError where no object may be put."""
        found = self._place.find()
        if found is not None and found.is_folder:
            raise FatalError(f"{self.name}: is a folder; name a file in it")
        if found is not None and not force:
            raise FatalError(f"{self.name}: {reason}; {_REPLACED}")

    def put(self, written: Path, *, force: bool) -> None:
        """Copy a file to this place, after a second look whether another has appeared there."""
        self.check(force=force, reason="came into being during the run")
        self._place.put(written)


@contextlib.contextmanager
def work_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside the file `path`, removed afterwards.

    Folders of dead processes that wrote the same file are removed, too. Raises OSError where none can be made.
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
    try:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        # The folder has no lock yet, or its process died before the lock was made: it is left for a minute.
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > 60:
                shutil.rmtree(folder, ignore_errors=True)
        return
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # the process is alive
        pass
    finally:
        os.close(lock)


def _move_to_free_place(written: Path, place: Path) -> None:
    """Rename a file, but never over one that has appeared meanwhile."""
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
    """Turn errors of the operating system and of stores into a FatalError that names the output."""
    try:
        yield
    except FileNotFoundError as error:
        raise FatalError(f"{name}: the folder {Path(name).parent} does not exist") from error
    except OSError as error:
        raise FatalError(f"{name}: cannot be written: {error.strerror or error}") from error
    except SourceError as error:
        raise FatalError(f"{error.source}: cannot be written: {error.reason}") from error
