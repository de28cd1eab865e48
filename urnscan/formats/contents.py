"""Contents of an input of any form: texts to scan, and columns of values."""

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
    """A text to scan: a plain file, a member or a value. The reader is valid until the next document is requested."""

    member: str | None
    """Names of the members from the input to the text, such as `a.zip!/b.txt`; None if the text is the input."""
    reader: Reader
    """The bytes of the text."""
    codec: str | None = None
    """Encoding that was decoded to UTF-8; None if the bytes are unchanged."""
    capture: Capture | None = None
    """The record of a web archive that contains the text; None outside of web archives."""
    is_set_in_lines: bool = False
    """Whether the text was set in lines, as on a page of a PDF, so that a URN may be broken at a line end."""
    delimiter: re.Pattern[bytes] | None = None
    """For MARC as text: the bytes before the code of a subfield; else None."""


@dataclass(frozen=True, slots=True)
class Values:
    """A column of values of a table; each value is a separate text to scan."""

    values: pa.Array
    """Array of strings or bytes, one for each row or element; null: no value."""
    place: Callable[[int], str]
    """Function from an index in `values` to the place of the value: its path in the input, such as `7/url`
    (`row/column`); in a member `b.csv!/7/url`.
    """
    capture: Capture | None = None
    """The record of a web archive that contains the table; None outside of web archives."""


class Member(NamedTuple):
    """A member of an archive: name and bytes. The reader is valid until the next member is requested.

    The bytes may be a text, a table, or a further archive or compressed file.
    """

    name: str
    reader: Reader
    capture: Capture | None = None
    """For a member of a web archive: metadata of its record; else None."""
    is_set_in_lines: bool = False
    """Whether the text was set in lines, as on a page of a PDF, so that a URN may be broken at a line end."""

    @classmethod
    def of(cls, document: Document) -> Member:
        """Make a member of a document, which has a `member`; encoding and delimiter are not copied."""
        return cls(str(document.member), document.reader, document.capture, document.is_set_in_lines)


def plain_name(name: str) -> str:
    """Name of an attached file: the last 200 characters, with "_" for control characters and slashes."""
    return "".join(char if char.isprintable() and char not in "/\\" else "_" for char in name[-_LONGEST_NAME:])


class Label(NamedTuple):
    """Where a text is: the name of its member, and the record of a web archive that contains it."""

    member: str | None
    """The name of a member, or its path from the input as in `Document`; None if the text is the input."""
    capture: Capture | None = None
    """The record of a web archive that contains the text; None outside of web archives."""


class Labels(Sequence[Label]):
    """Sequence of labels that are made on demand: only texts with a match need a label."""

    def __init__(self, make: Callable[[int], Label], numbers: range) -> None:
        """`make`: function from a number to a label; `numbers`: the numbers of the labels."""
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
    """Names of members as slices of an array; at least the end of each name, which has the suffix."""

    data: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    """For each name the index of its first byte in `data`."""
    ends: npt.NDArray[np.int64]
    """For each name the index after its last byte."""


@dataclass(slots=True)
class Texts:
    """Small texts of members of an archive, as slices of a block of bytes."""

    data: memoryview
    """The block, with other bytes between the texts. Valid until the next item of the archive is requested."""
    labels: Sequence[Label]
    """For each text its label; always valid."""
    starts: npt.NDArray[np.int64]
    """For each text the index of its first byte in `data`."""
    ends: npt.NDArray[np.int64]
    """For each text the index after its last byte."""
    has_captures: bool = False
    """Whether any label may have a capture."""
    names: Names | None = None
    """The names of the members, to recognise suffixes without making labels; None: the labels must be used."""

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def of(cls, data: memoryview, texts: Sequence[tuple[Label, int, int]]) -> Texts:
        """Make `Texts` of a block and, for each text, label, start and end."""
        labels, starts, ends = zip(*texts, strict=True) if texts else ((), (), ())
        has_captures = any(label.capture is not None for label in labels)
        return cls(data, labels, np.array(starts, np.int64), np.array(ends, np.int64), has_captures)

    def between(self, first: int, last: int) -> Texts:
        """The texts with the numbers from `first` to before `last`."""
        rows = slice(first, last)
        return self._with_rows(self.labels[rows], rows)

    def chosen(self, are_chosen: Sequence[bool]) -> Texts:
        """The texts for which `are_chosen` (a value for each text) is true."""
        labels = list(itertools.compress(self.labels, are_chosen))
        return self._with_rows(labels, np.array(are_chosen, np.bool_))

    def _with_rows(self, labels: Sequence[Label], rows: slice | npt.NDArray[np.bool_]) -> Texts:
        names = self.names and Names(self.names.data, self.names.starts[rows], self.names.ends[rows])
        return replace(self, labels=labels, starts=self.starts[rows], ends=self.ends[rows], names=names)

    def document(self, number: int) -> Document:
        """The text with a number, from 0, as a document."""
        member, capture = self.labels[number]
        reader = PieceReader(iter([self.data[self.starts[number] : self.ends[number]]]))
        return Document(member, reader, capture=capture)

    def documents(self) -> Iterator[Document]:
        """Yield each text as a document, in order."""
        return map(self.document, range(len(self)))
