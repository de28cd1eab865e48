"""Records of a dump, and the base classes of the readers that find and read them."""

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
    """A record that a reader has found in a dump: its place and bytes. Its fields are not read yet;
    `RecordReader.record` reads them.
    """

    offset: int
    """Bytes from the start of the dump to the record."""
    data: bytes
    """Bytes of the record in the dump."""
    around: Any = None
    """Facts that the reader needs in addition to the bytes, for example XML namespaces around the record; None for
    formats that need none. They can be pickled.
    """


_ALL = slice(None)


class Run(NamedTuple):
    """Neighbouring records of a dump that a single call of compiled code found, perhaps thousands: their places and
    bytes. Their fields are not read yet.
    """

    offset: int
    """Bytes from the start of the dump to `data`."""
    data: bytes
    """The records and the bytes between them, from the start of the first record to the end of the last."""
    starts: Integers
    """The index of the first byte of each record in `data`."""
    ends: Integers
    """The index after the last byte of each record in `data`."""
    around: Any = None
    """Facts that the reader needs in addition to the bytes, as in `Cut`; the same for all records of the run."""

    def cuts(self, numbers: Integers | slice = _ALL) -> Iterator[Cut]:
        """Yield a `Cut` for each of the records at the indices `numbers` (from 0) of the run; by default for all
        records.
        """
        for start, end in zip(self.starts[numbers].tolist(), self.ends[numbers].tolist(), strict=True):
            yield Cut(self.offset + start, self.data[start:end], self.around)

    def bytes_of_each(self) -> list[bytes]:
        """Return a list with the bytes of each record, in order; faster than `cuts`."""
        return [self.data[start:end] for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]

    @classmethod
    def joined(cls, items: Sequence[Cut | Run]) -> Run:
        """Join the records of all `items`, at least one, to a single run, in order. Its `offset` and `around` are those
        of the first item, so `offset` has no meaning for later items that are not neighbours in the dump.
        """
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
    """Number of records in an item that a reader yields: 1 for a `Cut` or a `Damaged`, any number for a `Run`."""
    return len(item.ends) if isinstance(item, Run) else 1


class Record(NamedTuple):
    """A record of a dump after its fields were read: place, bytes, ID, and what the reader was made to read."""

    offset: int
    """Bytes from the start of the dump to the record."""
    data: bytes
    """Bytes of the record in the dump. Removal of the record removes them, and the separator before them."""
    identifier: str | None
    """ID of the record in the dump (MARC 001, the subject of RDF statements, `id`), without surrogates; None if there
    is no ID.
    """
    texts: Sequence[bytes] = ()
    """Texts to scan for URNs, in UTF-8 or another superset of ASCII (MARC-8), without escapes of the format. Empty if
    only record-level identifiers are read.
    """
    own: Sequence[Own] = ()
    """Record-level identifiers (in fields that name the record itself), also those that give keys; empty if the reader
    reads none.
    """
    description: bytes = b""
    """Packed fields that describe the work (a few bytes that `description_of` unpacks), if descriptions are read;
    otherwise empty.
    """
    marc: MarcBytes | None = None
    """Fields of MARC, in which `record_columns` finds further identifiers, after those in `own`, and a description, before
    `description`. None for a record without fields of MARC.
    """
    is_deleted: bool = False
    """Whether the record is marked as deleted. For fields of MARC (`marc`), `record_columns` finds that out."""


# Many duplicates are copies of each other.
@lru_cache(maxsize=1 << 12)
def description_of(packed: bytes) -> Description:
    """Return the `Description` of the work that packed fields (bytes of `Record.description`) make; `NOTHING` if
    `packed` is empty.
    """
    if not packed:
        return NOTHING
    return unpack_marc(packed) or unpack(packed)


class RecordReader:
    """Base class of the readers of formats. A reader finds the records of a dump (`find` or `cuts`), and reads their
    fields (`record`), in a single thread.

    A `Cut` is enough to read a record, so another reader of the same class can read the record in another process.
    """

    table: ClassVar[str] = ""
    """Name of the table with the fields of the format in fields.toml and keys.toml, or the path of a file
    (`fields.table_rows`).
    """
    described_by: ClassVar[str] = ""
    """Name of the table with the fields of the format in descriptions.toml, or the path of a file."""

    def __init__(self, *, own: bool, described: bool = False, keys: bool = False) -> None:
        """With `own`, records get record-level identifiers instead of texts to scan. With `keys`, they also get (with
        or without `own`) the identifiers that give keys: identifiers other than URNs that can join records, such as
        OCLC numbers. With `described`, they get descriptions.
        """
        self._own, self._is_described = own, described
        self.has_texts = not own
        """Whether records get texts to scan for URNs."""
        self.has_keys = keys
        """Whether records get the identifiers that give keys."""
        self.fields = self.own_fields(self.table)
        """Rows of the fields that contain record-level identifiers or identifiers for keys, by the name of the field;
        empty if neither are read.
        """
        self.field_names = field_names(self.fields)
        """Names of all fields that `fields` needs."""
        self.described = self.described_fields(self.described_by)
        """Rows of the fields that describe a record, by the name of the field; empty if descriptions are not read."""

    def own_fields(self, table: str) -> OwnFields:
        """Return name of a field -> rows of a table of fields.toml, and with `keys` also of keys.toml: the fields that
        contain the identifiers for which this reader was made.
        """
        return own_fields(table, urns=self._own, keys=self.has_keys)

    def described_fields(self, table: str) -> DescribedFields:
        """Return name of a field -> rows of a table of descriptions.toml; empty if this reader does not read
        descriptions.
        """
        return described_fields(table) if self._is_described else {}

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Yield each record of a dump as a `Cut` (its place and bytes), in order, and a `Damaged` for a record that
        cannot be read. Reads on in the buffer as needed.

        After lost bytes (`Buffer.resume`) the method is called again; the next byte may be in the middle of a record.
        """
        raise NotImplementedError

    @cached_property
    def marc(self) -> MarcColumns:
        """The object that reads fields of MARC for this reader, with the same options. Made at the first use."""
        return marc_columns(own=self._own, described=self._is_described, keys=self.has_keys)

    def find(self, buffer: Buffer) -> Iterator[Cut | Damaged | Run]:
        """Yield the records of a dump in order, with their places and bytes: a `Run` where compiled code finds many
        records together, a `Cut` for any other record, and a `Damaged` (place and reason) for a record that cannot be
        read. By default the same as `cuts`, without any `Run`.
        """
        return self.cuts(buffer)

    def record(self, cut: Cut) -> Record | Damaged:
        """Read the fields of a record. Returns a `Record` with its ID and, by the options of the reader, texts to scan
        for URNs (with `own`, record-level identifiers instead), identifiers that give keys (`keys`) and a description
        (`described`); or a `Damaged` that says why the fields cannot be read.
        """
        raise NotImplementedError


class RunReader(RecordReader):
    """Base class of the readers of MARC and XML, in which a call of compiled code finds many records, and may split
    many into fields.
    """

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Yield each record of a dump as a `Cut` (its place and bytes), in order, and a `Damaged` for a record that
        cannot be read. They are the same records as from `find`, which yields many of them together as a `Run`.
        """
        for item in self.find(buffer):
            if isinstance(item, Run):
                yield from item.cuts()
            else:
                yield item

    def fields_of(self, run: Run) -> Fields:
        """Split the records of a run into MARC fields, and return the fields in columns.

        A record that compiled code cannot read has -1 (REFUSED) as its number of fields (`Fields.totals`), and no
        fields in the columns: then the method `record` must read it.
        """
        raise NotImplementedError

    def texts_of(self, run: Run, numbers: Integers) -> pa.BinaryArray:
        """Return a text to scan for URNs for each record in `numbers` (indices in the run, from 0), in that order. Only
        for records that `fields_of` could read.
        """
        raise NotImplementedError
