"""Contents of an input, whatever its form: texts to be scanned, and columns of values."""

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

_LONGEST_NAME = 200  # characters of the name of an attached file


@dataclass(frozen=True, slots=True)
class Document:
    """A text, to be read before the next document is asked for."""

    member: str | None
    """Names of the members from the input to the text, such as `a.zip!/b.txt`; None where it is the input itself."""
    reader: Reader
    codec: str | None = None
    """Encoding from which it was decoded; None if the bytes are unchanged."""
    capture: Capture | None = None
    """The record of a web archive that it is in, if it is in one."""
    is_set_in_lines: bool = False
    """Whether a program set it in lines, as on a page: a name in it may be broken at a line end."""
    delimiter: re.Pattern[bytes] | None = None
    """What stands before the code of a subfield, if it is MARC as text."""


@dataclass(frozen=True, slots=True)
class Values:
    """Values of a table, each a text of its own."""

    values: pa.Array
    """Strings or bytes; null is no value."""
    place: Callable[[int], str]
    """From an index in `values` to where the value is: `row/column`."""
    capture: Capture | None = None
    """The record of a web archive that the table is in, if it is in one."""


class Member(NamedTuple):
    """A member of an archive, to be read before the next is asked for."""

    name: str
    reader: Reader
    capture: Capture | None = None
    """The record, if the archive is a web archive."""
    is_set_in_lines: bool = False
    """Whether it is text that a program set in lines, as on a page: a name in it may be broken at a line end."""

    @classmethod
    def of(cls, document: Document) -> Member:
        """The member that a document is."""
        return cls(str(document.member), document.reader, document.capture, document.is_set_in_lines)


def plain_name(name: str) -> str:
    """The name of an attached file, at most 200 characters, with "_" for control characters and slashes."""
    return "".join(char if char.isprintable() and char not in "/\\" else "_" for char in name[-_LONGEST_NAME:])


class Label(NamedTuple):
    """Name and origin of a text, in addition to its bytes."""

    member: str | None
    """The name of a member, or the way to it inside the input; None where the text is the input itself."""
    capture: Capture | None = None
    """The record of a web archive that it is in, if it is in one."""


class Labels(Sequence[Label]):
    """Labels that are made on demand, as most texts have no match and need none."""

    def __init__(self, make: Callable[[int], Label], numbers: range) -> None:
        """`make` makes the label of a number."""
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
    """Names of members, or at least their ends, as bytes."""

    data: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    """The first byte of each."""
    ends: npt.NDArray[np.int64]
    """The byte after each."""


@dataclass(slots=True)
class Texts:
    """Small texts of members of an archive in one block of bytes, with other bytes between them."""

    data: memoryview
    """Valid until the next document is asked for."""
    labels: Sequence[Label]
    """The name of each member and its record; always valid."""
    starts: npt.NDArray[np.int64]
    """The first byte of each."""
    ends: npt.NDArray[np.int64]
    """The byte after each."""
    has_captures: bool = False
    """Whether a label may have a capture."""
    names: Names | None = None
    """The names of the members, if a form can be recognised by them alone; None: the labels have to be checked."""

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def of(cls, data: memoryview, texts: Sequence[tuple[Label, int, int]]) -> Texts:
        """Texts with their labels, first bytes and ends."""
        labels, starts, ends = zip(*texts, strict=True) if texts else ((), (), ())
        has_captures = any(label.capture is not None for label in labels)
        return cls(data, labels, np.array(starts, np.int64), np.array(ends, np.int64), has_captures)

    def between(self, first: int, last: int) -> Texts:
        """The texts from one number up to another."""
        rows = slice(first, last)
        return self._with_rows(self.labels[rows], rows)

    def chosen(self, are_chosen: Sequence[bool]) -> Texts:
        """The texts that are chosen."""
        labels = list(itertools.compress(self.labels, are_chosen))
        return self._with_rows(labels, np.array(are_chosen, np.bool_))

    def _with_rows(self, labels: Sequence[Label], rows: slice | npt.NDArray[np.bool_]) -> Texts:
        names = self.names and Names(self.names.data, self.names.starts[rows], self.names.ends[rows])
        return replace(self, labels=labels, starts=self.starts[rows], ends=self.ends[rows], names=names)

    def document(self, number: int) -> Document:
        """One of the texts as a document of its own."""
        member, capture = self.labels[number]
        reader = PieceReader(iter([self.data[self.starts[number] : self.ends[number]]]))
        return Document(member, reader, capture=capture)

    def documents(self) -> Iterator[Document]:
        """All of the texts as documents of their own."""
        return map(self.document, range(len(self)))
