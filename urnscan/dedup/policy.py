"""Options that say which URNs join records, and which record of a cluster is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from urnscan.dedup.components import Numbers
from urnscan.records.formats import FORMATS
from urnscan.run.options import as_flag, as_strings, as_whole_number

__all__ = ["KEEP", "PLACEHOLDERS", "WEAK", "Policy", "ranks"]

WEAK = ("issn", "schemas-*", "ietf:params:xml", "oasis")
"""Weak by default: URNs that many records share, such as that of a serial or of an XML vocabulary."""

PLACEHOLDERS = (
    *(f"isbn:978{digit * 9}{-(38 + 19 * int(digit)) % 10}" for digit in "0123456789"),  # with the right check digit
    "issn:0000-0000",
    "uuid:00000000-0000-0000-0000-000000000000",
    "uuid:ffffffff-ffff-ffff-ffff-ffffffffffff",
)
"""Placeholders in place of an unknown identifier. They join nothing, whatever `weak` says."""

_Lengths = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Which URNs join records, and which records are kept; names and meanings as in the command's options.

    Raises ValueError and TypeError for an invalid value.

    >>> Policy(weak=("urn:ISSN:", "oasis"), keep="longest").weak
    ('issn', 'oasis')
    """

    fields: bool = False
    """Only the identifiers in the record's own fields count; native ones (ISBN, DOI) count as their URNs."""
    weak: tuple[str, ...] = WEAK
    """Namespaces, or parts of them, whose URNs join nothing, such as `issn`."""
    max_class: int = 100
    """A URN that stands in more records than this joins none of them."""
    keep: str = "first"
    """Which record of a cluster is kept, one of KEEP."""
    record: str | None = None
    """The format of the dumps, such as `marc`; None: recognised in each dump."""

    def __post_init__(self) -> None:
        weak = as_strings("weak", self.weak)
        names = (name.strip().lower().removeprefix("urn:").removesuffix(":") for name in weak)
        object.__setattr__(self, "weak", tuple(name for name in names if name))
        object.__setattr__(self, "fields", as_flag("fields", self.fields))
        if self.keep not in tuple(KEEP):
            raise ValueError(f"keep cannot be {self.keep!r}: choose from {', '.join(KEEP)}")
        if self.record is not None and self.record not in tuple(FORMATS):
            raise ValueError(f"no format of records is called {self.record!r}: choose from {', '.join(FORMATS)}")
        object.__setattr__(self, "max_class", as_whole_number("max_class", self.max_class))
        if self.max_class < 2:
            raise ValueError("max_class must be at least 2: a class of one record joins nothing")


KEEP: Mapping[str, Callable[[Numbers, _Lengths, _Lengths], _Lengths | Numbers]] = MappingProxyType(
    {
        "first": lambda record, _length, _urns: record,
        "last": lambda record, _length, _urns: -record,
        "longest": lambda _record, length, _urns: -length,
        "most-identifiers": lambda _record, _length, urns: -urns,
    }
)
"""Keys by which records of a cluster are ranked, least first; made of record number, octets and number of URNs."""


def ranks(keep: str, cluster: Numbers, unit: Numbers, length: _Lengths, urns: Numbers) -> Numbers:
    """Rank the records of each cluster from 1 by `keep`, one of KEEP; of equals the first comes first.

    All arrays have an element for each record. `unit`: number of the thing that the record is a piece of, from 0 in the
    order of first pieces; all pieces get the same rank. `length`: octets. `urns`: number of different URNs.
    """
    begins = np.empty(unit.max(initial=-1) + 1, np.int32)  # first record of each unit
    begins[unit[::-1]] = np.arange(len(unit), dtype=np.int32)[::-1]
    of_unit = cluster[begins]
    shared = np.flatnonzero(np.bincount(of_unit)[of_unit] > 1).astype(np.int32)
    lengths, counts = (np.bincount(unit, each).astype(np.int64)[shared] for each in (length, urns))
    order = np.lexsort((KEEP[keep](shared, lengths, counts), of_unit[shared]))  # a stable sort
    place = np.arange(len(order))
    in_order = of_unit[shared][order]
    is_first = np.append(True, in_order[1:] != in_order[:-1])[: len(order)]
    rank = np.ones(len(begins), np.int32)
    rank[shared[order]] = place - np.maximum.accumulate(np.where(is_first, place, 0)) + 1
    return rank[unit]
