"""Contents of an input: texts to scan, members of archives, and columns of tables; each with its name or place."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.formats.captures import Capture
from urnscan.stores.reader import PieceReader, Reader

_LONGEST_NAME = 200  # maximum characters of the name of an attached file


@dataclass(frozen=True, slots=True)
class Document:
    """A text to scan, such as a plain file or a member of an archive, with a reader of its bytes.

    The reader may be used until the next document is requested.
    """

    member: str | None
    """Names of the members in the input that lead to the text, such as `a.zip!/b.txt` for an archive in an archive;
    None if the text is the input itself, perhaps unpacked.
    """
    reader: Reader
    """Gives the bytes of the text."""
    codec: str | None = None
    """Python's name of the encoding that the reader converts to UTF-8; None if it gives the bytes unchanged."""
    capture: Capture | None = None
    """Metadata of the record of a web archive that contains the text; None outside of web archives."""
    is_set_in_lines: bool = False
    """Whether the text was set in lines, as on a page of a PDF, so that a URN may be broken at a line end."""
    delimiter: re.Pattern[bytes] | None = None
    """If the text is lines of MARC: pattern of the bytes before the code of a subfield, as `$` in `$a`; else None."""


@dataclass(frozen=True, slots=True)
class Values:
    """Values of a table, from one or several columns; each value is a separate text to scan."""

    values: pa.Array
    """Array of strings or bytes: for each row, its values (an element of a list is one value); null: no value."""
    place: Callable[[int], str]
    """Function from an index in `values` to the path of the value in the input: `7/url` is row 7 (from 0), column
    `url`, and `b.csv!/7/url` is the same in the member `b.csv` of an archive.
    """
    capture: Capture | None = None
    """Metadata of the record of a web archive that contains the table; None outside of web archives."""


class Member(NamedTuple):
    """A member of an archive. Its bytes may be a text, a table, or a further archive or compressed file.

    The reader may be used until the next member is requested.
    """

    name: str
    """Name in the archive, such as `letters/1.txt`."""
    reader: Reader
    """Gives the bytes of the member."""
    capture: Capture | None = None
    """For a member of a web archive: metadata of its record; else None."""
    is_set_in_lines: bool = False
    """Whether the text was set in lines, as on a page of a PDF, so that a URN may be broken at a line end."""

    @classmethod
    def of(cls, document: Document) -> Member:
        """Make a member of a document: with its name (`member`, not None) and its other fields, without `codec` and
        `delimiter`.
        """
        return cls(str(document.member), document.reader, document.capture, document.is_set_in_lines)


def plain_name(name: str) -> str:
    """Return the last 200 characters of the name of an attached file, with "_" for each slash, backslash and character
    that cannot be printed. Empty for an empty name.
    """
    return "".join(char if char.isprintable() and char not in "/\\" else "_" for char in name[-_LONGEST_NAME:])


class Label(NamedTuple):
    """Where a text is: the name of its member, and the record of a web archive that contains it."""

    member: str | None
    """Name of the member in its archive, or path from the input, as `a.zip!/b.txt`; None if the text is the input."""
    capture: Capture | None = None
    """Metadata of the record of a web archive that contains the text; None outside of web archives."""


class Labels(Sequence[Label]):
    """Sequence of the labels of texts; each is made when it is asked for."""

    def __init__(self, make: Callable[[int], Label], numbers: range) -> None:
        """The label with index i is `make(numbers[i])`."""
        self._make = make
        self._numbers = numbers

    @overload
    def __getitem__(self, which: int) -> Label: ...
    @overload
    def __getitem__(self, which: slice) -> Labels: ...
    def __getitem__(self, which: int | slice) -> Label | Labels:
        return (
            Labels(self._make, self._numbers[which]) if isinstance(which, slice) else self._make(self._numbers[which])
        )

    def __len__(self) -> int:
        return len(self._numbers)


class Names(NamedTuple):
    """Names of members as slices of an array of bytes; of a name perhaps only the end, which has the suffix."""

    data: npt.NDArray[np.uint8]
    """The bytes of all names; may have other bytes between them."""
    starts: npt.NDArray[np.int64]
    """For each name the index of its first byte in `data`."""
    ends: npt.NDArray[np.int64]
    """For each name the index after its last byte."""


@dataclass(slots=True)
class Texts:
    """Several small texts, members of an archive, as slices of one block of bytes: faster than a `Document` each."""

    data: memoryview
    """The block; may have other bytes between the texts. Valid until the next item of the archive is requested."""
    labels: Sequence[Label]
    """For each text its name and capture; may be used at any time."""
    starts: npt.NDArray[np.int64]
    """For each text the index of its first byte in `data`."""
    ends: npt.NDArray[np.int64]
    """For each text the index after its last byte."""
    has_captures: bool = False
    """Whether any label may have a capture (metadata of a record of a web archive)."""
    names: Names | None = None
    """Names of the members, or their ends, to recognise suffixes without making labels; None: use those in `labels`."""

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def of(cls, data: memoryview, texts: Sequence[tuple[Label, int, int]]) -> Texts:
        """Make `Texts` of a block and, for each text, its label and the start and end (exclusive) of its bytes."""
        labels, starts, ends = zip(*texts, strict=True) if texts else ((), (), ())
        has_captures = any(label.capture is not None for label in labels)
        return cls(data, labels, np.array(starts, np.int64), np.array(ends, np.int64), has_captures)

    @classmethod
    def joined(cls, texts: Sequence[tuple[Label, bytes | memoryview]]) -> Texts:
        """Make `Texts` of separate texts, each with its label: their bytes are joined to a block, in this order."""
        ends = itertools.accumulate(len(text) for _, text in texts)
        spans = [(label, end - len(text), end) for (label, text), end in zip(texts, ends, strict=True)]
        return cls.of(memoryview(b"".join(text for _, text in texts)), spans)

    def between(self, first: int, last: int) -> Texts:
        """Return the texts with the numbers (from 0) `first` to `last` - 1, as slices of the same block."""
        rows = slice(first, last)
        return self._with_rows(self.labels[rows], rows)

    def chosen(self, are_chosen: Sequence[bool]) -> Texts:
        """Return the texts whose value in `are_chosen` (one for each text) is true, as slices of the same block."""
        labels = list(itertools.compress(self.labels, are_chosen))
        return self._with_rows(labels, np.array(are_chosen, np.bool_))

    def _with_rows(self, labels: Sequence[Label], rows: slice | npt.NDArray[np.bool_]) -> Texts:
        names = self.names and Names(self.names.data, self.names.starts[rows], self.names.ends[rows])
        return replace(self, labels=labels, starts=self.starts[rows], ends=self.ends[rows], names=names)

    def document(self, number: int) -> Document:
        """Return the text with a number (from 0) as a document, whose reader gives the bytes of this text."""
        member, capture = self.labels[number]
        reader = PieceReader(iter([self.data[self.starts[number] : self.ends[number]]]))
        return Document(member, reader, capture=capture)

    def documents(self) -> Iterator[Document]:
        """Yield each text as a document, in order."""
        return map(self.document, range(len(self)))
