"""Columns of many records that are read together."""

from __future__ import annotations

import itertools
import operator
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import number_array, text_array
from urnscan.compiled.bytes import Integers
from urnscan.framing.lines import Damaged
from urnscan.records.fields import Own, with_source


class Texts(NamedTuple):
    """Texts of many records in columns: texts to search, own identifiers of one kind, or keys."""

    record: Integers
    """The number of the record of each text, from 0."""
    order: Integers
    """Numbers by which the texts of a record are sorted."""
    texts: pa.StringArray
    scheme: str = ""
    """Kind of own identifiers; see `Own.scheme`."""
    is_key: bool = False
    """See `Own.is_key`."""

    @classmethod
    def of_own(cls, own: Iterable[tuple[int, int, Own]]) -> list[Texts]:
        """Columns of own identifiers, one for each kind. `own` has the record, the order and the identifier itself."""
        kinds: dict[tuple[str, bool], list[tuple[int, int, str]]] = defaultdict(list)
        for record, order, (text, scheme, is_key) in own:
            kinds[scheme, is_key].append((record, order, text))
        columns = []
        for kind, rows in kinds.items():
            records, orders, texts = zip(*rows, strict=True)
            columns.append(cls(np.array(records, np.int64), np.array(orders, np.int64), text_array(texts), *kind))
        return columns

    @classmethod
    def joined(cls, columns: Sequence[Texts]) -> Texts:
        """Several columns as one, sorted by record and order."""
        if not columns:
            return cls(np.empty(0, np.int64), np.empty(0, np.int64), text_array([]))
        record, order, texts, _, _ = zip(*columns, strict=True)
        all_records, all_orders = np.concatenate(record), np.concatenate(order)
        place = np.lexsort((all_orders, all_records))
        return cls(all_records[place], all_orders[place], pa.concat_arrays(texts).take(number_array(place)))


class Columns(NamedTuple):
    """Many records of a dump that are read together."""

    identifiers: pa.StringArray
    """See `Record.identifier`."""
    texts: Sequence[Texts]
    """See `Record.texts`."""
    own: Sequence[Texts]
    """Own identifiers by kind; see `Record.own`."""
    descriptions: pa.BinaryArray
    """See `Record.description`."""
    damaged: Mapping[int, Damaged]
    """Records that cannot be read, by number. The other columns have no values for them."""
    deleted: Integers
    """Numbers of the records that say that they were deleted."""

    def by_scheme(self) -> Mapping[str, Texts]:
        """Own identifiers by scheme, of all fields together."""
        columns = sorted(self.own, key=operator.attrgetter("scheme"))
        groups = itertools.groupby(columns, key=operator.attrgetter("scheme"))
        return {scheme: Texts.joined([*group]) for scheme, group in groups}

    def own_of_each(self) -> list[list[Own]]:
        """Own identifiers of each record."""
        rows = [
            (record, order, Own(text, column.scheme, column.is_key))
            for column in self.own
            for record, order, text in zip(
                column.record.tolist(), column.order.tolist(), column.texts.to_pylist(), strict=True
            )
        ]
        of_records: list[list[Own]] = [[] for _ in range(len(self.identifiers))]
        for record, _, own in sorted(rows, key=operator.itemgetter(0, 1)):
            of_records[record].append(own)
        return of_records


def with_sources(texts: pa.StringArray, sources: pa.StringArray) -> pa.StringArray:
    """Values with their sources before them, as `fields.with_source` writes them; null: without a source."""
    encoded = sources.dictionary_encode()
    prefixes = text_array([with_source("", source) for source in encoded.dictionary.to_pylist()])
    return pc.binary_join_element_wise(prefixes.take(encoded.indices).fill_null(""), texts, "")
