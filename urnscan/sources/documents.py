"""Contents of an input, whatever its form: texts to be scanned, and columns of values."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from urnscan.sources.reader import Reader

__all__ = ["Document", "Values"]


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
