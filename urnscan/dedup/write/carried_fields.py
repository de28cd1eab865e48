"""Fields that only a removed record has, copied into the kept record."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator
from functools import partial

import numpy as np

from urnscan.dedup.clustering import Clustering
from urnscan.dedup.reread import SecondReading
from urnscan.dedup.write.copies import Places, places_of
from urnscan.errors import FatalError, option
from urnscan.framing.buffer import Buffer
from urnscan.records.marc_carry import FORMATS, Field, NotChangedError, fields_of, with_fields


class Carry:
    """Copies MARC fields with some tags from removed records into the kept records of their clusters."""

    def __init__(self, tags: tuple[str, ...], clustering: Clustering, again: SecondReading) -> None:
        """Read the removed records, and keep their fields with these tags in memory. Raises FatalError if no dump is in
        a format whose fields can be copied, or if a dump has changed or cannot be read again.
        """
        self.fields = 0
        """Number of fields that were copied into records so far; they are copied while the dumps are written."""
        self._refused: dict[int, str] = {}
        self._clustering, self._dumps = clustering, again.dumps
        self._fields: dict[int, list[Field]] = defaultdict(list)
        if not any(dump.format.name in FORMATS for dump in again.dumps):
            raise FatalError(f"{option('carry', None)} needs a dump in MARC (ISO 2709) or MARCXML, and there is none")
        places = clustering.places(kept=False)
        record = 0
        for dump, buffer in again.read():
            for batch in places_of(dump.records, places):
                removed = np.flatnonzero(batch.stays).tolist() if dump.format.name in FORMATS else ()
                for at in removed:
                    self._take(record + at, dump.format.name, _record(buffer, batch, at), tags)
                record += len(batch.start)
            for _ in buffer.blocks():
                pass

    def _take(self, record: int, format_: str, data: bytes, tags: tuple[str, ...]) -> None:
        try:
            fields = fields_of(format_, data, tags)
        except NotChangedError as error:
            self._refused[record] = f"its fields are not copied: {error}"
        else:
            self._fields[int(self._clustering.cluster[record])] += fields

    def refused(self) -> list[tuple[str, str]]:
        """Records whose fields are not copied, or that are not changed: the name of each, and the reason; complete
        after the copies are written. Raises FatalError if the disk fails.
        """
        return self._clustering.records.named(self._refused.items())

    def places(self) -> Iterator[Places]:
        """Yield, batch by batch, where each record is in its dump, and whether it stays. For a kept record that gets
        fields, `Places.changes` has a function that adds them when the copy is written. Raises FatalError if the disk
        fails.
        """
        places = self._clustering.places()
        record = 0
        for dump in self._dumps:
            for batch in places_of(dump.records, places):
                changes = {}
                for at in np.flatnonzero(batch.stays).tolist() if dump.format.name in FORMATS else ():
                    if fields := self._fields.get(int(self._clustering.cluster[record + at])):
                        changes[at] = partial(self._change, record + at, dump.format.name, fields)
                yield dataclasses.replace(batch, changes=changes)
                record += len(batch.start)

    def _change(self, record: int, format_: str, fields: list[Field], data: bytes) -> bytes:
        try:
            changed, count = with_fields(format_, data, fields)
        except NotChangedError as error:
            self._refused[record] = f"no fields are copied into it: {error}"
            return data
        self.fields += count
        return changed


def _record(buffer: Buffer, places: Places, at: int) -> bytes:
    """Bytes of the record with the index `at` in `places`. All bytes up to its end are taken from the buffer."""
    for _ in buffer.blocks(int(places.start[at]) - buffer.offset):
        pass
    return buffer.take(int(places.length[at]))
