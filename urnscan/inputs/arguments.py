"""Arguments of a run -> its inputs (files and objects). An argument is a file, a folder, a pattern, a URL, a list of
paths, or an index of records of web archives.

Inputs come in the order of the arguments, and inside a folder sorted by the bytes of the names, so that runs on the
same files have the same results. An argument is always read; only the files in a folder are filtered.
"""
# A Path for each of a million files would cost more than all the rest of a walk.
# ruff: noqa: PTH116

import functools
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from errno import ENAMETOOLONG, ENOENT, ENOTDIR
from typing import TypeAlias

import numpy as np

from urnscan.errors import SourceError
from urnscan.inputs.cdx import RecordIndex
from urnscan.inputs.globs import is_pattern, matches
from urnscan.inputs.lists import PathList, with_remedy
from urnscan.inputs.own_outputs import OwnOutputs
from urnscan.inputs.selection import Selection
from urnscan.inputs.walk import AT_ONCE, input_of, regular_files, walk
from urnscan.stores.input import Input, Listed, name_of
from urnscan.stores.urls import is_remote, is_url, local_path

Inputs: TypeAlias = Iterator[Listed | Input | SourceError]

_EVERYTHING = Selection()


def find_listed(
    arguments: Iterable[str | PathList | RecordIndex],
    selection: Selection = _EVERYTHING,
    skip: Collection[str] = (),
    foreign: Collection[str] = (),
) -> Inputs:
    """Yield the inputs that the arguments name, and a SourceError for each argument or folder that is missing or cannot
    be listed.

    * "-" is standard input. A path that exists and is not a folder is an input: a file, a FIFO or a device.
    * A folder is walked, depth first, hidden files included. FIFOs, sockets, devices, symbolic links (unless
      `selection.follow`), names that end with TEMPORARY_SUFFIX, and what `selection` excludes, are skipped.
    * A URL is an object in a store, a folder of a store, or a pattern; after `file://` comes a path.
    * Any other argument with `*`, `?` or `[` is a pattern; `**` matches any number of folders. Files and folders that
      match are read as if they were arguments, in the order of a walk, but FIFOs, sockets and devices are skipped. A
      pattern without a match yields an error.
    * A list names paths and URLs, never patterns. An empty list yields an error.
    * An index names files, and the records in each file that are read.

    `skip`: the outputs of the run, as absolute paths with links resolved, or URLs. In folders, patterns, lists and
    indexes they are not inputs; at the end a note is yielded for each one that was there. `foreign`: the outputs in `skip` that exist
    already and that urnscan did not write. Raises FatalError if one of these is there, and for a list that cannot be
    read.
    """
    own = OwnOutputs(skip, foreign)
    meanings = _Meanings(selection, own)
    for argument in arguments:
        if isinstance(argument, PathList):
            yield from meanings.of_list(argument)
        elif isinstance(argument, RecordIndex):
            yield from argument.find(meanings.of_indexed, follow=selection.follow)
        elif argument == "-":
            yield Input("-", None, None)
        else:
            yield from meanings.of_name(argument)
    yield from own.notes


class _Meanings:
    def __init__(self, selection: Selection, own: OwnOutputs) -> None:
        self._selection = selection
        self._own = own

    def of_name(self, name: str, *, may_be_pattern: bool = True) -> Inputs:
        """Yield the inputs of a path, a URL or, with `may_be_pattern`, a pattern, and errors. A path that exists is not
        a pattern.
        """
        try:
            status = os.stat(name)
        except ValueError:
            yield SourceError(name.encode("unicode_escape").decode(), "no file can have such a name")
        except OSError as error:
            if error.errno not in (ENOENT, ENOTDIR, ENAMETOOLONG):
                yield SourceError.from_os(name_of(name), error)
            elif is_url(name):
                yield from self._of_url(name, may_be_pattern=may_be_pattern)
            elif may_be_pattern and is_pattern(name):
                yield from self._of_pattern(name)
            else:
                yield SourceError(name_of(name), "no such file or folder")
        else:
            yield from self._of_existing(name, status)

    def of_list(self, paths: PathList) -> Inputs:
        from urnscan.stores.prefetch import in_turn  # noqa: PLC0415 (only lists need threads)

        return in_turn(self._of_lines(paths))

    def of_indexed(self, name: str) -> Inputs | None:
        return None if self._own.has_argument(name) else self.of_name(name, may_be_pattern=False)

    def _of_existing(self, path: str, status: os.stat_result) -> Inputs:
        if stat.S_ISDIR(status.st_mode):
            yield from walk(path.rstrip("/") or "/", self._selection, self._own)
        else:
            yield input_of(path, status)

    def _of_url(self, url: str, *, may_be_pattern: bool) -> Inputs:
        if is_remote(url):
            from urnscan.inputs.url_inputs import find_remote  # noqa: PLC0415 (not loaded where no URL is read)

            yield from find_remote(url, self._selection, self._own, is_pattern=may_be_pattern)
            return
        try:
            path = local_path(url)
        except SourceError as error:
            yield error
        else:
            yield from self.of_name(path, may_be_pattern=may_be_pattern)

    def _of_pattern(self, pattern: str) -> Inputs:
        is_matched = False
        for match in matches(pattern, self._own, follow=self._selection.follow):
            if isinstance(match, SourceError):
                is_matched = True
                yield match
                continue
            try:
                status = os.stat(match)
            except OSError as error:
                is_matched = True
                yield SourceError.from_os(name_of(match), error)
            else:
                # Reading a FIFO would wait for its writer, and a device may have no end.
                if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                    is_matched = True
                    yield from self._of_existing(match, status)
        if not is_matched:
            yield SourceError(name_of(pattern), "no such file or folder, and no file matches it as a pattern")

    def _of_lines(self, paths: PathList) -> Iterator[Inputs | Callable[[], Inputs]]:
        """Yield the inputs of the lines of a list, in groups: an iterator or, for a URL, a function that returns one,
        to be called in a thread. An empty group comes when the next lines may not have arrived yet.
        """
        lines: list[bytes] = []
        for lines in paths.read(AT_ONCE):
            may_be_own = self._own.may_be_among(path.rpartition(b"/")[2] for path in lines)
            for entry in regular_files(b"", lines):
                if isinstance(entry, Listed) and may_be_own:
                    yield iter([entry.chosen(np.array([not self._own.has_file(file.path or "") for file in entry]))])
                elif isinstance(entry, Listed):
                    yield iter([entry])
                elif not self._own.has_argument(entry):
                    of_line = functools.partial(self._of_line, entry)
                    yield of_line if is_remote(entry) else of_line()
            # An empty part makes `in_turn` yield the inputs so far, as the list may be a pipe that is still written.
            yield iter([])
        if not lines:
            yield iter([SourceError(paths.name, "the list names no inputs")])

    def _of_line(self, path: str) -> Inputs:
        for source in self.of_name(path, may_be_pattern=False):
            yield with_remedy(source, path) if isinstance(source, SourceError) else source
