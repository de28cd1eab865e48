"""What joins records, and which record of a cluster is kept."""

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
"""What names something that many records share: a serial, the language of a document."""

PLACEHOLDERS = (
    *(f"isbn:978{digit * 9}{-(38 + 19 * int(digit)) % 10}" for digit in "0123456789"),  # the check digits are right
    "issn:0000-0000",
    "uuid:00000000-0000-0000-0000-000000000000",
    "uuid:ffffffff-ffff-ffff-ffff-ffffffffffff",
)
"""What stands where nobody knew better: joins nothing, whatever else is weak."""

_Lengths = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What joins records, and which of them are kept; the names and meanings are those of the command's options.

    Raises ValueError and TypeError for a value that is none.

    >>> Policy(weak=("urn:ISSN:", "oasis"), keep="longest").weak
    ('issn', 'oasis')
    """

    fields: bool = False
    """Only the identifiers of the records themselves count, native ones as their URNs."""
    weak: tuple[str, ...] = WEAK
    """Namespaces, or parts of them, whose URNs join nothing (`components.is_weak`)."""
    max_class: int = 100
    """So many records may share a class that joins them."""
    keep: str = "first"
    """Which record of a cluster is kept, one of KEEP."""
    record: str | None = None
    """The format of the dumps, a name of `records.formats.FORMATS`; None: each dump tells."""

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
"""By what the records of a cluster are ranked, the least first: of each its number, its octets, its different URNs."""


def ranks(keep: str, cluster: Numbers, unit: Numbers, length: _Lengths, urns: Numbers) -> Numbers:
    """The rank of each record in its cluster, from 1, by what is to be kept, one of KEEP; of equals the first comes first.

    `unit` is what each record is a piece of, numbered from 0 in the order of their first pieces: pieces of one have one
    rank. `length` is that of each record in octets, `urns` how many different ones it names.
    """
    begins = np.empty(unit.max(initial=-1) + 1, np.int32)  # of each unit its first record
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
