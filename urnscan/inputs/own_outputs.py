"""The outputs of a run, which are left out of its inputs, and told."""
# A Path for each of a million files would cost more than all the rest of a walk.
# ruff: noqa: PTH119

import os
from collections.abc import Collection, Iterable, Iterator

from urnscan.errors import FatalError, OwnOutputNote, SourceError, SourceNote
from urnscan.stores.input import name_of
from urnscan.stores.urls import real_place


class OwnOutputs:
    """The real paths and URLs of the outputs of a run."""

    def __init__(self, places: Collection[str] = (), foreign: Collection[str] = ()) -> None:
        """`foreign`: those of the places with a file that no earlier run wrote, and that may be an input."""
        self.places = frozenset(places)
        self._foreign = frozenset(foreign)
        self._names = frozenset(os.path.basename(path) for path in places)
        self._bytes = frozenset(map(os.fsencode, self._names))
        self._met: dict[str, str] = {}  # places of outputs that were left out, and their names as inputs

    @property
    def notes(self) -> Iterator[SourceNote]:
        """A note for each output that was left out of the inputs so far."""
        for name in self._met.values():
            yield OwnOutputNote(name, "is an output of this run: what an earlier run wrote there is not scanned")

    def may_be_among(self, names: Iterable[bytes]) -> bool:
        """Whether a file with one of these base names can be an output."""
        return not self._bytes.isdisjoint(names)

    def has_file(self, path: str, *, is_link: bool = False) -> bool:
        """Whether a file is an output. Raises FatalError for one that is an input, too."""
        # The real path takes a system call, so it is looked up only if the base name is that of an output.
        may_be = bool(self.places) and (is_link or os.path.basename(path) in self._names)
        return may_be and self.has(os.path.realpath(path), path)

    def has_argument(self, argument: str) -> bool:
        """Whether a path or URL leads to an output. Raises FatalError for one that is an input, too."""
        try:
            place = real_place(argument) if self.places else ""
        except (SourceError, ValueError):
            # The error is reported when the input is looked for.
            return False
        return self.has(place, argument)

    def has(self, place: str, path: str) -> bool:
        """Whether a real path, or the name of a URL, is an output; `path` leads there. Raises FatalError for one that is an input, too."""
        if place in self._foreign:
            raise FatalError(
                f"{name_of(place)}: is an output, and an input in a folder or a list; name another file to write"
            )
        if place not in self.places:
            return False
        self._met.setdefault(place, name_of(path))
        return True
