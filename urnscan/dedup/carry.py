"""Fields that only a removed record has, carried to the record that is kept in its place."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from functools import partial

from urnscan.dedup.clustering import Clustering
from urnscan.dedup.copies import Copy
from urnscan.dedup.second_reading import SecondReading
from urnscan.errors import FatalError, option
from urnscan.records.marc_carry import FORMATS, Field, NotChangedError, fields_of, with_fields


class Carry:
    """The fields with some tags of all removed records, by the cluster of the record."""

    def __init__(self, tags: tuple[str, ...], clustering: Clustering, again: SecondReading) -> None:
        """Read the removed records. Raises FatalError, also if no dump is in a format whose fields can be carried."""
        self.fields = 0
        """Fields that were put into records."""
        self.refused: list[tuple[str, str]] = []
        """Records whose fields are not taken, or that are not changed, and why."""
        self._clustering, self._dumps = clustering, again.dumps
        self._fields: dict[int, list[Field]] = defaultdict(list)
        if not any(dump.format.name in FORMATS for dump in again.dumps):
            raise FatalError(f"{option('carry')} is for MARC in ISO 2709 and MARCXML: no dump is in one of these")
        places = clustering.places(kept=False)
        record = 0
        for dump, buffer in again.read():
            for offset, length, is_removed in itertools.islice(places, dump.records):
                if is_removed and dump.format.name in FORMATS:
                    for _ in buffer.blocks(offset - buffer.offset):
                        pass
                    try:
                        found = fields_of(dump.format.name, buffer.take(length), tags)
                    except NotChangedError as error:
                        self.refused.append((clustering.name(record), f"its fields are not carried: {error}"))
                    else:
                        self._fields[int(clustering.cluster[record])] += found
                record += 1
            for _ in buffer.blocks():
                pass

    def copies(self) -> Iterator[Copy]:
        """All records, those that are kept with what is done to them. Raises FatalError."""
        formats = itertools.chain.from_iterable(
            itertools.repeat(dump.format.name, dump.records) for dump in self._dumps
        )
        for record, ((offset, length, stays), format_) in enumerate(
            zip(self._clustering.places(), formats, strict=True)
        ):
            fields = self._fields.get(int(self._clustering.cluster[record])) if stays else None
            change = partial(self._change, record, format_, fields) if fields and format_ in FORMATS else None
            yield Copy(offset, length, stays, change)

    def _change(self, record: int, format_: str, fields: list[Field], octets: bytes) -> bytes:
        try:
            changed, count = with_fields(format_, octets, fields)
        except NotChangedError as error:
            reason = f"it does not get the fields of the records that are removed for it: {error}"
            self.refused.append((self._clustering.name(record), reason))
            return octets
        self.fields += count
        return changed
