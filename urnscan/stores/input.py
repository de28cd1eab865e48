"""Inputs of a run: `Input` for one input, `Listed` for many files as arrays."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
import numpy.typing as npt

from urnscan.errors import SourceError
from urnscan.stores.urls import ARROW, Remote

_ROUNDABOUT = re.compile(rb"//|/\./")


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a run: a file, an object in a store, or standard input.

    The walk is the search of folders and stores for inputs, before anything is read.
    """

    name: str
    """Path or URL as the argument or the walk gives it, "-" for standard input; a byte that is not UTF-8 is `\\xff`."""
    path: str | None
    """Path to open, None for standard input and objects in stores; bytes that are not UTF-8 are surrogate escapes."""
    size: int | None
    """Bytes of the file or object at the time of the walk; None for standard input, a FIFO or a device, and for an
    object whose size its store does not report.
    """
    remote: Remote | None = None
    """The object in a store; None for standard input and files of this machine."""
    mark: str | None = None
    """Version of an object at the time of the walk, such as an ETag; None for files, or if the store has no version."""
    extents: tuple[tuple[int, int], ...] = ()
    """Start and end (exclusive) of the byte ranges that an index names, sorted; then `size` is their sum. Empty: the
    whole input is read.
    """

    @property
    def key(self) -> bytes:
        """Identity of the input: inputs with equal keys are the same file or object, and are read once.

        For a file it is the absolute path, without ".", double slashes and the first "/"; links and ".." are not
        resolved. For an object the key has secrets. `extents` does not count.
        """
        if self.path is not None:
            return _known_by([os.fsencode(self.path)])[0]
        # No path contains NUL, so the keys of paths and other keys differ.
        return b"\0" + repr(self.name if self.remote is None else self.remote.key).encode()

    @property
    def is_whole_file(self) -> bool:
        """True for a file of this machine that is read whole; False for standard input, an object, and byte ranges of a
        file.
        """
        return self.path is not None and not self.extents

    @property
    def file_name(self) -> str:
        """The last part of the name, whose suffix can show the form of the file; of a URL without the query, except in
        object stores. `https://host/data/a.gz?v=2` -> `a.gz`.
        """
        # In the key of an object "?" is an ordinary character.
        is_page = self.remote is not None and self.remote.url.scheme not in ARROW
        name = self.name.partition("?")[0] if is_page else self.name
        return name.rstrip("/").rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """Neighbouring regular files of a run, as arrays."""

    paths: bytes
    """The joined paths, each with a NUL after it."""
    ends: npt.NDArray[np.int64]
    """For each file the end of its path in `paths`, after the NUL."""
    sizes: npt.NDArray[np.int64]
    """For each file its size in bytes at the time of the walk."""

    @classmethod
    def of(cls, inputs: Iterable[Input]) -> "Listed":
        """Make a `Listed` of inputs, in their order, which must be regular files that are read whole; not checked."""
        files = [(os.fsencode(source.path or "") + b"\0", source.size or 0) for source in inputs]
        paths, sizes = zip(*files, strict=True) if files else ((), ())
        return cls(b"".join(paths), np.cumsum([len(path) for path in paths], dtype=np.int64), np.array(sizes, np.int64))

    @classmethod
    def joined(cls, lists: Sequence["Listed"]) -> "Listed":
        """Join one or more `Listed` to a single one, in their order."""
        if len(lists) == 1:
            return lists[0]
        before = np.cumsum([0, *(len(files.paths) for files in lists)]).tolist()
        return cls(
            b"".join(files.paths for files in lists),
            np.concatenate([files.ends + start for files, start in zip(lists, before, strict=False)]),
            np.concatenate([files.sizes for files in lists]),
        )

    def __len__(self) -> int:
        return len(self.sizes)

    def __iter__(self) -> Iterator[Input]:
        return map(self.input, range(len(self)))

    def input(self, at: int) -> Input:
        """The file at the index `at`, from 0, as an `Input`."""
        data = self.paths[self.ends[at - 1] if at else 0 : self.ends[at] - 1]
        return Input(_shown(data), os.fsdecode(data), int(self.sizes[at]))

    def between(self, start: int, end: int) -> "Listed":
        """The files from index `start`, from 0, to before index `end`, at most the number of files."""
        if (start, end) == (0, len(self)):
            return self
        first = int(self.ends[start - 1]) if start else 0
        last = int(self.ends[end - 1]) if end > start else first
        return Listed(self.paths[first:last], self.ends[start:end] - first, self.sizes[start:end])

    def runs(self, files: int, byte_count: int, huge: int) -> Iterator["Listed | Input"]:
        """Yield all files, in order, in groups. A group ends after `files` files, or with the file that brings its sum
        of sizes above `byte_count` bytes.

        A file of more than `huge` bytes ends the group before it, and is yielded alone, as an `Input`.
        """
        start = 0
        while start < len(self):
            sizes = self.sizes[start : start + files]
            alone = np.flatnonzero(sizes > huge)[:1].tolist()
            if alone == [0]:
                yield self.input(start)
                start += 1
                continue
            full = int(np.searchsorted(np.cumsum(sizes), byte_count, side="right")) + 1
            end = start + min(full, len(sizes), *alone)
            yield self.between(start, end)
            start = end

    def chosen(self, which: npt.NDArray[np.bool_]) -> "Listed":
        """The files for which `which`, an array of a flag for each file, is true."""
        if which.all():
            return self
        chosen = [path + b"\0" for path in compress(self.paths.split(b"\0"), which)]
        ends = np.cumsum([len(path) for path in chosen], dtype=np.int64)
        return Listed(b"".join(chosen), ends, self.sizes[which])

    @property
    def keys(self) -> list[bytes]:
        """For each file its identity: the absolute path without ".", double slashes and the first "/"; links and ".."
        are not resolved. Files with equal keys are the same file.
        """
        return _known_by(self.paths.split(b"\0")[:-1])

    @property
    def names(self) -> list[str]:
        r"""For each file its name for messages and tables: the path, with `\xff` for a byte that is not UTF-8."""
        return _shown(self.paths).split("\0")[:-1]


def one_by_one(inputs: "Iterable[Listed | Input | SourceError]") -> "Iterator[Input | SourceError]":
    """Yield the inputs and errors in order, each `Listed` replaced by an `Input` for each file."""
    for source in inputs:
        if isinstance(source, Listed):
            yield from source
        else:
            yield source


def name_of(path: str) -> str:
    r"""Name for messages and tables of the input at a path: the path, with `\xfe` for the byte FE if it is not UTF-8."""
    return _shown(os.fsencode(path))


def _known_by(paths: Iterable[bytes]) -> list[bytes]:
    """Absolute paths, of files, without ".", double slashes and the first "/"."""
    try:
        here = os.getcwdb() + b"/"  # noqa: PTH109 (bytes)
    except OSError:
        # The working folder was deleted; no relative path leads to a file.
        here = b"/"
    whole = [path if path.startswith(b"/") else here + path for path in paths]
    return [_direct(path) if _ROUNDABOUT.search(path) else path[1:] for path in whole]


def _direct(path: bytes) -> bytes:
    return b"/".join(part for part in path.split(b"/") if part not in (b"", b"."))


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
