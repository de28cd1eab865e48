"""Records of a dump, and the base class of the readers that find them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from urnscan.compiled.bytes import Integers
from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.description import NOTHING, Description, described_fields, unpack
from urnscan.records.description import Table as DescribedFields
from urnscan.records.fields import Own, field_names, own_fields
from urnscan.records.fields import Table as OwnFields
from urnscan.records.marc_bytes import unpack_marc
from urnscan.records.marc_columns import MarcColumns, marc_columns
from urnscan.records.marc_fields import MarcBytes
from urnscan.records.marc_runs import Fields


class Cut(NamedTuple):
    """A record that a reader has found in a dump and has not read yet: its place and its bytes."""

    offset: int
    """Bytes from the beginning of the dump."""
    data: bytes
    """Bytes of the record in the dump."""
    around: Any = None
    """Facts that its reader needs in addition to the bytes, such as the XML namespaces around it. They can be pickled."""


_ALL = slice(None)


class Run(NamedTuple):
    """A run of records: neighbours in a dump that compiled code has found by one call, and that are not read yet.

    It is the same as a `Cut` for each of its records, but has one object for thousands of records.
    """

    offset: int
    """Bytes from the beginning of the dump to `data`."""
    data: bytes
    """The records and the bytes between them, from the start of the first record to the end of the last one."""
    starts: Integers
    """The start of each record in `data`."""
    ends: Integers
    """The end of each record in `data`."""
    around: Any = None
    """See `Cut.around`; the same for all records of the run."""

    def cuts(self, numbers: Integers | slice = _ALL) -> Iterator[Cut]:
        """The records with these numbers in the run, one by one; all records by default."""
        for start, end in zip(self.starts[numbers].tolist(), self.ends[numbers].tolist(), strict=True):
            yield Cut(self.offset + start, self.data[start:end], self.around)

    def bytes_of_each(self) -> list[bytes]:
        """The bytes of each record; faster than `cuts`."""
        return [self.data[start:end] for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]

    @classmethod
    def joined(cls, items: Sequence[Cut | Run]) -> Run:
        """Records in one run, also if they were not neighbours. The offset is that of the first record."""
        if len(items) == 1 and isinstance(items[0], Run):
            return items[0]
        places = np.cumsum([0, *(len(item.data) for item in items)]).tolist()
        starts = [item.starts + at if isinstance(item, Run) else [at] for item, at in zip(items, places, strict=False)]
        ends = [
            item.ends + at if isinstance(item, Run) else [at + len(item.data)]
            for item, at in zip(items, places, strict=False)
        ]
        data = b"".join([item.data for item in items])
        return cls(items[0].offset, data, np.concatenate(starts), np.concatenate(ends), items[0].around)


def count_of(item: Cut | Damaged | Run) -> int:
    """The number of records in an item that a reader yields: 1, except for a run."""
    return len(item.ends) if isinstance(item, Run) else 1


class Record(NamedTuple):
    """A record of a dump that is read."""

    offset: int
    """Bytes from the beginning of the dump."""
    data: bytes
    """Bytes of the record in the dump. A record is removed with these and with the separator before it."""
    identifier: str | None
    """Name of the record in the dump (MARC 001, the subject, `id`), without surrogates; None if it has none."""
    texts: Sequence[bytes] = ()
    """Texts in which URNs are searched: UTF-8, without escapes of the format. Empty if only own identifiers are read."""
    own: Sequence[Own] = ()
    """Own identifiers of the record, if these or keys are read."""
    description: bytes = b""
    """Packed fields that describe the work of the record, if descriptions are read: `description_of` unpacks them."""
    marc: MarcBytes | None = None
    """Fields of MARC. `record_columns` reads them. It puts their identifiers after `own`, and their description before
    `description`.
    """
    is_deleted: bool = False
    """Whether the record says that it was deleted. `record_columns` finds that in fields of MARC by itself."""


# Many duplicates are copies of each other.
@lru_cache(maxsize=1 << 12)
def description_of(packed: bytes) -> Description:
    """The description of a record from its packed fields."""
    if not packed:
        return NOTHING
    return unpack_marc(packed) or unpack(packed)


class RecordReader:
    """Base of the readers. A reader finds the records of one dump, in one thread, and reads them.

    To read a record, only its `Cut` is needed. So another reader of the same class can read it, in another process.
    """

    table: ClassVar[str] = ""
    """Table of fields.toml and keys.toml with the fields of the format; or the path of a file (`fields.table_rows`)."""
    described_by: ClassVar[str] = ""
    """Table of descriptions.toml with the fields of the format; or the path of a file."""

    def __init__(self, *, own: bool, described: bool = False, keys: bool = False) -> None:
        """With `own`, records have their own identifiers, and no texts. With `keys`, they have their own identifiers, with
        those in fields of keys. With `described`, they have descriptions.
        """
        self._own, self._is_described = own, described
        self.has_texts = not own
        self.has_keys = keys
        self.fields = self.own_fields(self.table) if own or keys else None
        self.field_bytes = {name.encode(): rows for name, rows in (self.fields or {}).items()}
        """`fields` by names as bytes."""
        self.field_names = field_names(self.fields or {})
        """Names of all fields that `fields` needs, as bytes."""
        self.described = self.described_fields(self.described_by)
        """Rows of the fields that describe a record; empty if descriptions are not read."""
        self.described_bytes = {name.encode(): rows for name, rows in self.described.items()}
        """`described` by names as bytes."""

    def own_fields(self, table: str) -> OwnFields:
        """Rows of a table of fields.toml, and with `keys` of keys.toml."""
        return own_fields(table, urns=self._own, keys=self.has_keys)

    def described_fields(self, table: str) -> DescribedFields:
        """Rows of a table of descriptions.toml, if descriptions are read."""
        return described_fields(table) if self._is_described else {}

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Find the records, in order. A damaged record counts as one.

        If bytes were lost, it is called again (`Buffer.resume`), and the next byte may be in the middle of a record.
        """
        raise NotImplementedError

    @cached_property
    def marc(self) -> MarcColumns:
        """The object that reads fields of MARC."""
        return marc_columns(own=self._own, described=self._is_described, keys=self.has_keys)

    def find(self, buffer: Buffer) -> Iterator[Cut | Damaged | Run]:
        """Find the records like `cuts`, but in runs where compiled code finds many."""
        return self.cuts(buffer)

    def record(self, cut: Cut) -> Record | Damaged:
        """Read a record."""
        raise NotImplementedError


class RunReader(RecordReader):
    """Base of the readers of MARC and XML: compiled code finds many records by one call, and may split them into fields."""

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Find the records one by one."""
        for item in self.find(buffer):
            if isinstance(item, Run):
                yield from item.cuts()
            else:
                yield item

    def fields_of(self, run: Run) -> Fields:
        """The fields of the records of a run in columns, except those of records that only `record` can read."""
        raise NotImplementedError

    def texts_of(self, run: Run, numbers: Integers) -> pa.BinaryArray:
        """The texts of some records of a run, in which URNs are searched. Only records whose fields are in columns are asked for."""
        raise NotImplementedError
