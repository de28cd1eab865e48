"""Records of a dump, and the base class of the readers that find them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.arrays.arrow import number_array, text_array
from urnscan.arrays.octets import Integers
from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.description import Table as DescribedFields
from urnscan.records.description import described_fields
from urnscan.records.fields import Own, own_fields, wanted
from urnscan.records.fields import Table as OwnFields

Flags = npt.NDArray[np.bool_]


_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\0-\x1f\x7f]+")  # what would end a line, or is invisible


class Cut(NamedTuple):
    """One record of a dump that is found, and not read yet."""

    offset: int
    """Octets from the beginning of the dump."""
    octets: bytes
    """Octets of the record in the dump."""
    around: Any = None
    """Facts that are not in the octets and that its reader needs, such as the XML namespaces around it. They can be pickled."""


class Run(NamedTuple):
    """Neighbouring records of a dump that are found by one call, and not read yet."""

    offset: int
    """Octets from the beginning of the dump to `octets`."""
    octets: bytes
    """The records and what stands between them, from the beginning of the first to the end of the last."""
    starts: Integers
    """The beginning of each record in `octets`."""
    ends: Integers
    """The end of each record in `octets`."""
    around: Any = None
    """See `Cut.around`; the same for all of them."""

    def cuts(self) -> Iterator[Cut]:
        """The records one by one."""
        for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True):
            yield Cut(self.offset + start, self.octets[start:end], self.around)


def count_of(found: Cut | Damaged | Run) -> int:
    """The number of records in what a reader has found."""
    return len(found.ends) if isinstance(found, Run) else 1


class Record(NamedTuple):
    """One record of a dump."""

    offset: int
    """Octets from the beginning of the dump."""
    octets: bytes
    """Octets of the record in the dump. A record is removed with these and with the separator before it."""
    identifier: str | None
    """Name of the record in the dump (MARC 001, the subject, `id`), without surrogates; None if it has none."""
    texts: Sequence[bytes] = ()
    """Texts to search for URNs, UTF-8 without the escapes of the format. Empty if only own identifiers are wanted."""
    own: Sequence[Own] = ()
    """Own identifiers of the record, if these or keys are wanted."""
    description: bytes = b""
    """Packed fields that describe the thing of the record, if these are wanted: `formats.description_of` reads them."""


OrderedText = tuple[int, int, str]
"""The number of a record in a run, the order in which texts of a record come, and the text."""


class Ordered(NamedTuple):
    """Texts of records in columns, like `OrderedText`; those of a record come in their order."""

    record: Integers
    order: Integers
    texts: pa.StringArray

    @classmethod
    def of(cls, texts: Sequence[OrderedText]) -> Ordered:
        """Columns of some texts."""
        record, order, text = zip(*texts, strict=True)
        return cls(np.array(record, np.int64), np.array(order, np.int64), text_array(text))

    @classmethod
    def joined(cls, some: Sequence[Ordered]) -> Ordered:
        """Several columns as one."""
        record, order, texts = zip(*some, strict=True)
        by_order = np.argsort(all_orders := np.concatenate(order), kind="stable")
        texts = pa.concat_arrays(texts).take(number_array(by_order))
        return cls(np.concatenate(record)[by_order], all_orders[by_order], texts)


class Values(NamedTuple):
    """Own identifiers of many records from fields of one kind, in ASCII and without white space around them."""

    texts: pa.StringArray
    scheme: str
    """See `Own.scheme`."""
    is_key: bool
    record: Integers
    """The record of each."""
    order: Integers
    """Numbers that say in which order the identifiers of a record come."""


class Columns(NamedTuple):
    """The records of a run, read together."""

    identifiers: pa.StringArray
    """See `Record.identifier`."""
    values: Sequence[Values]
    """Own identifiers by kind."""
    others: Sequence[tuple[int, int, Own]]
    """Own identifiers that are read by themselves, with the number of the record and the order."""
    descriptions: pa.BinaryArray
    """See `Record.description`."""
    alone: Flags
    """Records that have to be read by themselves; the other columns have nothing for them."""

    def by_scheme(self) -> Mapping[str, Ordered]:
        """All own identifiers, by scheme."""
        held: dict[str, list[Ordered]] = defaultdict(list)
        for values in self.values:
            held[values.scheme].append(Ordered(values.record, values.order, values.texts))
        others: dict[str, list[OrderedText]] = defaultdict(list)
        for record, order, own in self.others:
            others[own.scheme].append((record, order, own.text))
        for scheme, texts in others.items():
            held[scheme].append(Ordered.of(texts))
        return {scheme: Ordered.joined(some) for scheme, some in held.items()}


def whole(text: str) -> str:
    """Replace halves of surrogate pairs, which some formats can escape and UTF-8 cannot hold."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def decoded(octets: bytes) -> str:
    """Decode UTF-8; octets that are no UTF-8 become U+FFFD."""
    return octets.decode("utf-8", "replace")


def in_line(text: str) -> str:
    """A part of a record as it is shown in a line, without control characters."""
    return _CONTROL.sub(" ", text)


class RecordReader:
    """Base of the readers: each finds the records of one dump, in one thread, and reads them.

    A record is read from its `Cut` alone, so another reader of the same class can do that, in another process.
    """

    table: ClassVar[str] = ""
    """Table of fields.toml with the fields of the format."""
    described_by: ClassVar[str] = ""
    """Table of descriptions.toml with the fields of the format."""

    def __init__(self, *, own: bool, described: bool = False, keys: bool = False) -> None:
        """`own`: records are given with their own identifiers, and without texts. `keys`: with their own identifiers and
        those in fields of keys. `described`: with descriptions.
        """
        self._own, self._is_described = own, described
        self.has_texts = not own
        self.has_keys = keys
        self.fields = self.own_fields(self.table) if own or keys else None
        self.field_octets = {name.encode(): rows for name, rows in (self.fields or {}).items()}
        """`fields`, by names as they stand in octets."""
        self.wanted = wanted(self.fields or {})
        self.described = self.described_fields(self.described_by)
        """Rows of the fields that describe a record; empty if no descriptions are wanted."""
        self.described_octets = {name.encode(): rows for name, rows in self.described.items()}
        """`described`, by names as they stand in octets."""

    def own_fields(self, table: str) -> OwnFields:
        """Rows of a table of fields.toml, as far as they are wanted."""
        return own_fields(table, urns=self._own, keys=self.has_keys) if self._own or self.has_keys else {}

    def described_fields(self, table: str) -> DescribedFields:
        """Rows of a table of descriptions.toml, if descriptions are wanted."""
        return described_fields(table) if self._is_described else {}

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Find the records in their order; a damaged one counts as one.

        When called again after a loss of octets (`Buffer.resume`), it may begin in the middle of a record.
        """
        raise NotImplementedError

    def found(self, buffer: Buffer) -> Iterator[Cut | Damaged | Run]:
        """Find the records like `cuts`, many together where the reader has `columns` for them."""
        return self.cuts(buffer)

    def columns(self, run: Run) -> Columns:
        """Read the records of a run together."""
        raise NotImplementedError

    def record(self, cut: Cut) -> Record | Damaged:
        """Read a record."""
        raise NotImplementedError

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """Find the records and read them."""
        for cut in self.cuts(buffer):
            yield cut if isinstance(cut, Damaged) else self.record(cut)


class RunReader(RecordReader):
    """Base of the readers that find many records by one call, and read these together: they have `found` and `columns`."""

    few: ClassVar[int] = 32
    """Records that are found in a run at least; fewer take less time one by one."""

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Find the records one by one."""
        for each in self.found(buffer):
            if isinstance(each, Run):
                yield from each.cuts()
            else:
                yield each
