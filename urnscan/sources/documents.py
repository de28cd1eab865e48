"""Contents of an input, whatever its form: texts to be scanned, and columns of values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from urnscan.sources.captures import Capture
from urnscan.sources.reader import PieceReader, Reader


@dataclass(frozen=True, slots=True)
class Document:
    """A text, to be read before the next document is asked for."""

    member: str | None
    """The way to it inside the input; None where it is the input itself."""
    reader: Reader
    codec: str | None = None
    """Encoding from which it was decoded; None if the octets are given as they are."""
    capture: Capture | None = None
    """The record of a web archive in which it stands, if it stands in one."""


@dataclass(frozen=True, slots=True)
class Values:
    """Values of a table, each a text of its own."""

    values: pa.Array
    """Strings or octets; null holds nothing."""
    place: Callable[[int], str]
    """From an index in `values` to where the value stands: `row/column`."""
    capture: Capture | None = None
    """The record of a web archive in which the table stands, if it stands in one."""


class Member(NamedTuple):
    """A member of an archive, to be read before the next is asked for."""

    name: str
    reader: Reader
    capture: Capture | None = None
    """The record, if the archive is a web archive."""


@dataclass(slots=True)
class Texts:
    """Small texts of members of an archive that lie in one run of octets, with other octets between them."""

    octets: memoryview
    """Good until the next document is asked for."""
    names: list[str] = field(default_factory=list)
    """The name of each member, or the way to it inside the input."""
    starts: list[int] = field(default_factory=list)
    """The first octet of each."""
    ends: list[int] = field(default_factory=list)
    """The octet behind each."""
    captures: list[Capture | None] = field(default_factory=list)
    """The record of each, if the archive is a web archive."""

    def add(self, name: str, start: int, end: int, capture: Capture | None = None) -> None:
        """Add a text."""
        self.names.append(name)
        self.starts.append(start)
        self.ends.append(end)
        self.captures.append(capture)

    def between(self, first: int, last: int) -> Texts:
        """The texts from one number up to another."""
        some = slice(first, last)
        return Texts(self.octets, self.names[some], self.starts[some], self.ends[some], self.captures[some])

    def chosen(self, are_chosen: Sequence[bool]) -> Texts:
        """The texts that are chosen."""
        lists = (self.names, self.starts, self.ends, self.captures)
        return Texts(self.octets, *(list(itertools.compress(each, are_chosen)) for each in lists))  # type: ignore[arg-type]

    def members(self) -> Iterator[Member]:
        """The texts one by one."""
        for name, start, end, capture in zip(self.names, self.starts, self.ends, self.captures, strict=True):
            yield Member(name, PieceReader(iter([self.octets[start:end]])), capture)

    def documents(self) -> Iterator[Document]:
        """The texts as documents of their own."""
        for name, reader, capture in self.members():
            yield Document(name, reader, capture=capture)
