"""Small texts that are scanned together as a single text, which is faster than a scan of each."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from urnscan.compiled.bytes import join
from urnscan.compiled.jit import read_only
from urnscan.formats.captures import Capture
from urnscan.formats.contents import Label, Texts
from urnscan.formats.declared_encodings import WITHIN, declared_characters
from urnscan.formats.small_files import Doubts, SmallFiles, read_together
from urnscan.run.tasks import Sizes
from urnscan.stores.input import Listed

# Maximum number of texts that are scanned as a single text.
_TEXTS = 1 << 14
_OF_FILES = (Label(None),)


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a text: number (from 0) and name of the input, and, if the text is in one, the member of an archive and
    the record of a web archive.
    """

    place: int
    name: str
    member: str | None = None
    capture: Capture | None = None


class SmallTexts:
    """Small texts in a buffer, each followed by a separator: a byte that occurs in no URN and no URL.

    `text` is the buffer, of which `filled` bytes are in use; `starts` and `ends` have the offsets of each text in it.
    """

    def __init__(self, sizes: Sizes, separator: int) -> None:
        self.text = np.empty(sizes.together + sizes.part, np.uint8)
        self._full_from = sizes.together
        self._view = self.text.data
        self._separator = separator
        self.clear()

    def clear(self) -> None:
        """Remove all texts, so that the buffer is empty. To be called after the texts were scanned."""
        self.filled = 0
        # The number of the last text whose encoding was asked for, and the pattern of its characters.
        self._declaring: tuple[int, re.Pattern[bytes] | None] = (-1, None)
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.inputs: list[int] = []
        """The input of each text, as an index in `places` and `names`."""
        self.has_members = False
        self.has_captures = False
        # For each text, a sequence with its label, and the index of the label there.
        self._labels: list[Sequence[Label]] = []
        self._numbers: list[int] = []
        self.places: list[int] = []
        self.names: list[str] = []

    @property
    def is_full(self) -> bool:
        """Whether the texts must be scanned, and the buffer cleared, before more texts are added."""
        return self.filled > self._full_from or len(self.starts) >= _TEXTS

    def add(self, read_into: Callable[[memoryview], int], origin: Origin) -> bool:
        """Add a text, read up to the end, and return True; False if the buffer is full before the end. `read_into`
        writes the next bytes to a memoryview, and returns their number, 0 at the end. Precondition: not `is_full`.

        Raises the SourceError of `read_into`. After False and after an error, `take_open` must be called: it removes
        the bytes that were read, and returns them.
        """
        self._open = self.filled
        while self.filled < len(self.text) - 1:
            count = read_into(self._view[self.filled : -1])
            self.filled += count
            if not count:
                self._close(origin)
                return True
        return False

    def read(self, files: Listed, first: int, last: int, doubts: Doubts) -> SmallFiles:
        """Read the files from index `first` to before `last` into the free space of the buffer, until it is full.

        Stops also at a file that must be read alone, because it is large, unreadable or not a regular file. Returns
        which were read, and which may not be plain text (by the signatures `doubts`). Call `add_read` to add them.
        """
        last = min(last, first + _TEXTS - len(self.starts))
        full = self._full_from + 1 - self.filled
        room = self.text[self.filled : -1]
        return read_together(files.between(first, last), room, separator=self._separator, full=full, doubts=doubts)

    def following(self, start: int, count: int) -> bytes:
        """A copy of `count` bytes of the files that `read` has read and `add_read` has not yet added. `start` is their
        offset after the bytes in use; each file is followed by a separator.
        """
        return self.text[self.filled + start : self.filled + start + count].tobytes()

    def add_read(self, lengths: npt.NDArray[np.int64], place: int, names: Sequence[str]) -> None:
        """Add the first `len(names)` files that the last `read` has read, at least one, as texts of the buffer.

        `lengths` has the number of bytes of each, `names` its name, and `place` is the number of the first file among
        the inputs, from 0.
        """
        ends = self.filled + np.cumsum(lengths + 1)
        self.filled = int(ends[-1])
        self.inputs.extend(range(len(self.places), len(self.places) + len(names)))
        self.places.extend(range(place, place + len(names)))
        self.names.extend(names)
        self.ends.extend((ends - 1).tolist())
        self.starts.extend((ends - 1 - lengths).tolist())
        self._labels.extend([_OF_FILES] * len(names))
        self._numbers.extend([0] * len(names))

    def has_room(self, texts: Texts) -> bool:
        """Whether the buffer has room for the given texts of an archive, and their separators."""
        return self.filled + len(texts.data) + len(texts) < len(self.text)

    def add_texts(self, texts: Texts, origin: Origin) -> int:
        """Add texts of an archive; returns the sum of their bytes. Precondition: `has_room(texts)` is true. `origin` is
        the origin of the archive.
        """
        data, count = read_only(np.frombuffer(texts.data, np.uint8)), len(texts)
        join(data, texts.starts, texts.ends, self._separator, self.text[self.filled :])
        lengths = texts.ends - texts.starts
        ends = self.filled + np.cumsum(lengths + 1)
        self.filled = int(ends[-1])
        self._add_input(origin)
        self.starts.extend((ends - 1 - lengths).tolist())
        self.ends.extend((ends - 1).tolist())
        self.inputs.extend([len(self.places) - 1] * count)
        self._labels.extend([texts.labels] * count)
        self._numbers.extend(range(count))
        self.has_members = True
        self.has_captures |= texts.has_captures
        return int(lengths.sum())

    def label(self, number: int) -> Label:
        """The label (member and record of a web archive) of the text with this number, from 0."""
        return self._labels[number][self._numbers[number]]

    def characters_at(self, place: int) -> re.Pattern[bytes] | None:
        """A pattern that matches one character of several bytes, in the encoding that the text at byte offset `place`
        of the buffer declares, such as Shift_JIS. None without a declaration, and for most encodings, which do not need
        this.
        """
        number = bisect(self.starts, place) - 1
        if number != self._declaring[0]:
            start, end = self.starts[number], self.ends[number]
            head = self.text[start : min(end, start + WITHIN)].tobytes()
            self._declaring = (number, declared_characters(head, self.label(number).capture))
        return self._declaring[1]

    def take_open(self) -> bytes:
        """Remove and return the beginning of a text that `add` did not read up to the end. To be called at once after
        this `add`.
        """
        beginning = self.text[self._open : self.filled].tobytes()
        self.filled = self._open
        return beginning

    def _add_input(self, origin: Origin) -> None:
        if not self.places or self.places[-1] != origin.place:
            self.places.append(origin.place)
            self.names.append(origin.name)

    def _close(self, origin: Origin) -> None:
        self._add_input(origin)
        self.starts.append(self._open)
        self.ends.append(self.filled)
        self.inputs.append(len(self.places) - 1)
        self._labels.append((Label(origin.member, origin.capture),))
        self._numbers.append(0)
        self.has_members |= origin.member is not None
        self.has_captures |= origin.capture is not None
        self.text[self.filled] = self._separator
        self.filled += 1
