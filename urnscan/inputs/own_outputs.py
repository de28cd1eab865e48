"""Outputs of a run, which are left out of its inputs and reported."""
# A Path for each of a million files would cost more than all the rest of a walk.
# ruff: noqa: PTH119

import os
from collections.abc import Collection, Iterable, Iterator

from urnscan.errors import FatalError, OwnOutputNote, SourceError, SourceNote
from urnscan.stores.input import name_of
from urnscan.stores.urls import real_place


class OwnOutputs:
    """The files and URLs that a run writes, and must not read; and those of them that were met among the inputs.

    If `has_file`, `has_argument` or `has` is true, the output counts as met.
    """

    def __init__(self, places: Collection[str] = (), foreign: Collection[str] = ()) -> None:
        """`places`: `real_place` of each output (resolved path, or URL). `foreign`: those whose file no run wrote."""
        self.places = frozenset(places)
        self._foreign = frozenset(foreign)
        self._names = frozenset(os.path.basename(path) for path in places)
        self._bytes = frozenset(map(os.fsencode, self._names))
        self._met: dict[str, str] = {}  # places of outputs that were left out -> their names as inputs

    @property
    def notes(self) -> Iterator[SourceNote]:
        """An OwnOutputNote for each output that was met among the inputs so far."""
        for name in self._met.values():
            yield OwnOutputNote(name, "is an output of this run: what an earlier run wrote there is not scanned")

    def may_be_among(self, names: Iterable[bytes]) -> bool:
        """Whether a file with any of the base names may be an output; a fast check before `has_file`."""
        return not self._bytes.isdisjoint(names)

    def has_file(self, path: str, *, is_link: bool = False) -> bool:
        """Whether a file is an output. Raises FatalError for an output whose file no run wrote (`foreign`).

        `is_link`: whether the path is a link. A link with another name than an output is only followed if this is true.
        """
        # Resolving a path takes system calls, so only paths with the base name of an output are resolved.
        may_be = bool(self.places) and (is_link or os.path.basename(path) in self._names)
        return may_be and self.has(os.path.realpath(path), path)

    def has_argument(self, argument: str) -> bool:
        """Whether a path or URL leads to an output; False if it is invalid. Raises FatalError for one in `foreign`."""
        try:
            place = real_place(argument) if self.places else ""
        except (SourceError, ValueError):
            # The same error is reported when the input is searched for.
            return False
        return self.has(place, argument)

    def has(self, place: str, path: str) -> bool:
        """Whether a `real_place` (resolved path, or URL) is an output; `path`: its name as an input, for the note.

        Raises FatalError for an output in `foreign`.
        """
        if place in self._foreign:
            raise FatalError(
                f"{name_of(place)}: is an output, and an input in a folder or a list; name another file to write"
            )
        if place not in self.places:
            return False
        self._met.setdefault(place, name_of(path))
        return True
