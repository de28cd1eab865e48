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
    """Columns (record, order, text): texts to scan, record-level identifiers of a kind, or keys."""

    record: Integers
    """Number of the record of each text, from 0."""
    order: Integers
    """The texts of a record are sorted by this number."""
    texts: pa.StringArray
    scheme: str = ""
    """Kind of the record-level identifiers; see `Own.scheme`."""
    is_key: bool = False
    """See `Own.is_key`."""

    @classmethod
    def of_own(cls, own: Iterable[tuple[int, int, Own]]) -> list[Texts]:
        """Columns of record-level identifiers, a set of columns for each pair of `scheme` and `is_key`. `own` has
        tuples (record, order, identifier).
        """
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
        """Concatenate columns and sort the rows by record, then order. `scheme` and `is_key` are not kept."""
        if not columns:
            return cls(np.empty(0, np.int64), np.empty(0, np.int64), text_array([]))
        record, order, texts, _, _ = zip(*columns, strict=True)
        all_records, all_orders = np.concatenate(record), np.concatenate(order)
        place = np.lexsort((all_orders, all_records))
        return cls(all_records[place], all_orders[place], pa.concat_arrays(texts).take(number_array(place)))


class Columns(NamedTuple):
    """Values of many records of a dump, in columns."""

    identifiers: pa.StringArray
    """See `Record.identifier`."""
    texts: Sequence[Texts]
    """See `Record.texts`."""
    own: Sequence[Texts]
    """Record-level identifiers by kind; see `Record.own`."""
    descriptions: pa.BinaryArray
    """See `Record.description`."""
    damaged: Mapping[int, Damaged]
    """Records that cannot be read, by number. The other columns have no values for them."""
    deleted: Integers
    """Numbers of the records that are marked as deleted."""

    def by_scheme(self) -> Mapping[str, Texts]:
        """Record-level identifiers by scheme, from all fields, sorted by record and order."""
        columns = sorted(self.own, key=operator.attrgetter("scheme"))
        groups = itertools.groupby(columns, key=operator.attrgetter("scheme"))
        return {scheme: Texts.joined([*group]) for scheme, group in groups}

    def own_of_each(self) -> list[list[Own]]:
        """The record-level identifiers of each record, in order."""
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
    """Prefix values with their sources, as `fields.with_source` does: `(DE-101)1234`. A null source adds nothing."""
    encoded = sources.dictionary_encode()
    prefixes = text_array([with_source("", source) for source in encoded.dictionary.to_pylist()])
    return pc.binary_join_element_wise(prefixes.take(encoded.indices).fill_null(""), texts, "")
