"""Contents of an input, whatever its form: texts to be scanned, and columns of values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from urnscan.sources.reader import PieceReader, Reader


@dataclass(frozen=True, slots=True)
class Document:
    """A text, to be read before the next document is asked for."""

    member: str | None
    """The way to it inside the input; None where it is the input itself."""
    reader: Reader
    codec: str | None = None
    """Encoding from which it was decoded; None if the octets are given as they are."""


@dataclass(frozen=True, slots=True)
class Values:
    """Values of a table, each a text of its own."""

    values: pa.Array
    """Strings or octets; null holds nothing."""
    place: Callable[[int], str]
    """From an index in `values` to where the value stands: `row/column`."""


@dataclass(slots=True)
class Texts:
    """Small texts of members of an archive that lie in one run of octets, with other octets between them."""

    octets: memoryview
    """Good until the next document is asked for."""
    names: list[str] = field(default_factory=list)
    """The name of each member, or the way to it inside the input."""
    starts: list[int] = field(default_factory=list)
    """Where the text of each begins."""
    ends: list[int] = field(default_factory=list)
    """Where it ends."""

    def add(self, name: str, start: int, end: int) -> None:
        """Add a text."""
        self.names.append(name)
        self.starts.append(start)
        self.ends.append(end)

    def between(self, first: int, last: int) -> Texts:
        """The texts from one number up to another."""
        return Texts(self.octets, self.names[first:last], self.starts[first:last], self.ends[first:last])

    def readers(self) -> Iterator[tuple[str, Reader]]:
        """The texts one by one, each with its name."""
        for name, start, end in zip(self.names, self.starts, self.ends, strict=True):
            yield name, PieceReader(iter([self.octets[start:end]]))

    def documents(self) -> Iterator[Document]:
        """The texts as documents of their own."""
        return itertools.starmap(Document, self.readers())
