"""Records of a dump, and the base class of the readers that find them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from urnscan.compiled.octets import Integers
from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.description import NOTHING, Description, described_fields, unpack
from urnscan.records.description import Table as DescribedFields
from urnscan.records.fields import Own, own_fields, wanted
from urnscan.records.fields import Table as OwnFields
from urnscan.records.marc_columns import MarcColumns, marc_columns
from urnscan.records.marc_fields import MarcOctets
from urnscan.records.marc_octets import unpack_marc
from urnscan.records.marc_runs import Fields


class Cut(NamedTuple):
    """One record of a dump that is found, and not read yet."""

    offset: int
    """Octets from the beginning of the dump."""
    octets: bytes
    """Octets of the record in the dump."""
    around: Any = None
    """Facts that are not in the octets and that its reader needs, such as the XML namespaces around it. They can be pickled."""


_ALL = slice(None)


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

    def cuts(self, which: Integers | slice = _ALL) -> Iterator[Cut]:
        """Some of the records, one by one."""
        for start, end in zip(self.starts[which].tolist(), self.ends[which].tolist(), strict=True):
            yield Cut(self.offset + start, self.octets[start:end], self.around)

    def octets_of_each(self) -> list[bytes]:
        """The octets of each record: faster than by `cuts`."""
        return [self.octets[start:end] for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]

    @classmethod
    def joined(cls, some: Sequence[Cut | Run]) -> Run:
        """Records one behind the other, which need not have been neighbours. The offset is that of the first."""
        if len(some) == 1 and isinstance(some[0], Run):
            return some[0]
        first = np.cumsum([0, *(len(each.octets) for each in some)]).tolist()
        starts = [each.starts + at if isinstance(each, Run) else [at] for each, at in zip(some, first, strict=False)]
        ends = [
            each.ends + at if isinstance(each, Run) else [at + len(each.octets)]
            for each, at in zip(some, first, strict=False)
        ]
        octets = b"".join([each.octets for each in some])
        return cls(some[0].offset, octets, np.concatenate(starts), np.concatenate(ends), some[0].around)


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
    """Packed fields that describe the thing of the record, if these are wanted: `description_of` reads them."""
    marc: MarcOctets | None = None
    """Fields of MARC. `record_columns` reads them, and puts their identifiers behind `own`, their description before
    `description`.
    """


# Many duplicates are copies of each other.
@lru_cache(maxsize=1 << 12)
def description_of(packed: bytes) -> Description:
    """Read the packed description of a record."""
    if not packed:
        return NOTHING
    return unpack_marc(packed) or unpack(packed)


class RecordReader:
    """Base of the readers: each finds the records of one dump, in one thread, and reads them.

    A record is read from its `Cut` alone, so another reader of the same class can do that, in another process.
    """

    table: ClassVar[str] = ""
    """Table of fields.toml and keys.toml with the fields of the format; or the path of a file (`fields.table_rows`)."""
    described_by: ClassVar[str] = ""
    """Table of descriptions.toml with the fields of the format; or the path of a file."""

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
        return own_fields(table, urns=self._own, keys=self.has_keys)

    def described_fields(self, table: str) -> DescribedFields:
        """Rows of a table of descriptions.toml, if descriptions are wanted."""
        return described_fields(table) if self._is_described else {}

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Find the records in their order; a damaged one counts as one.

        When called again after a loss of octets (`Buffer.resume`), it may begin in the middle of a record.
        """
        raise NotImplementedError

    @cached_property
    def marc(self) -> MarcColumns:
        """Reads the fields of records of MARC."""
        return marc_columns(own=self._own, described=self._is_described, keys=self.has_keys)

    def found(self, buffer: Buffer) -> Iterator[Cut | Damaged | Run]:
        """Find the records like `cuts`, many together where compiled code finds them."""
        return self.cuts(buffer)

    def record(self, cut: Cut) -> Record | Damaged:
        """Read a record."""
        raise NotImplementedError


class RunReader(RecordReader):
    """Base of the readers of MARC: compiled code finds many records by one call, and takes them apart."""

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Find the records one by one."""
        for each in self.found(buffer):
            if isinstance(each, Run):
                yield from each.cuts()
            else:
                yield each

    def fields_of(self, run: Run) -> Fields:
        """The fields of the records of a run in columns, but those of records that only `record` can take apart."""
        raise NotImplementedError

    def texts_of(self, run: Run, which: Integers) -> pa.BinaryArray:
        """The texts of some records of a run, those that `fields_of` gives, in which URNs are searched."""
        raise NotImplementedError
