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

    When `has_file`, `has_argument` or `has` returns True, the output counts as met, and is in `notes`.
    """

    def __init__(self, places: Collection[str] = (), foreign: Collection[str] = ()) -> None:
        """`places`: the outputs, each as absolute path with links resolved, or as URL (`real_place`).

        `foreign`: those of `places` that exist already and that urnscan did not write. If one of them is met,
        FatalError is raised, as the run would overwrite it.
        """
        self.places = frozenset(places)
        """All outputs, as absolute paths with links resolved, or URLs."""
        self._foreign = frozenset(foreign)
        self._names = frozenset(os.path.basename(path) for path in places)
        self._bytes = frozenset(map(os.fsencode, self._names))
        self._met: dict[str, str] = {}  # places of outputs that were left out -> their names as inputs

    @property
    def notes(self) -> Iterator[SourceNote]:
        """Yield an OwnOutputNote for each output that was met so far, once, in the order of the first meeting."""
        for name in self._met.values():
            yield OwnOutputNote(name, "is an output of this run, so it is skipped")

    def may_be_among(self, names: Iterable[bytes]) -> bool:
        """Whether any of the base names is that of an output, so that `has_file` must be asked; a fast first check."""
        return not self._bytes.isdisjoint(names)

    def has_file(self, path: str, *, is_link: bool = False) -> bool:
        """Whether a path leads to an output, which then counts as met. Raises FatalError for an output that urnscan did
        not write (`foreign`).

        `is_link`: whether the path itself is a symbolic link. If False, a path whose base name is not that of an output
        is not resolved, and is not an output.
        """
        # Resolving a path takes system calls, so only paths with the base name of an output are resolved.
        may_be = bool(self.places) and (is_link or os.path.basename(path) in self._names)
        return may_be and self.has(os.path.realpath(path), path)

    def has_argument(self, argument: str) -> bool:
        """Whether a path or URL of a list or index leads to an output, which then counts as met.

        False for an invalid URL or path. Raises FatalError for an output that urnscan did not write (`foreign`).
        """
        try:
            place = real_place(argument) if self.places else ""
        except (SourceError, ValueError):
            # The same error is reported when the input is searched for.
            return False
        return self.has(place, argument)

    def has(self, place: str, path: str) -> bool:
        """Whether `place` (absolute path with links resolved, or URL) is an output, which then counts as met.

        `path`: the name that the note shows. Raises FatalError for an output that urnscan did not write (`foreign`).
        """
        if place in self._foreign:
            raise FatalError(
                f"{name_of(place)}: is an input (in a folder or a list) and an output; name another output"
            )
        if place not in self.places:
            return False
        self._met.setdefault(place, name_of(path))
        return True
