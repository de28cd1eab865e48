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
    """Texts of many records in three columns of the same length: `record`, `order`, `texts`. All are texts to scan for
    URNs, or all are record-level identifiers (in a field that identifies the record itself) of a kind, or all are keys
    (`oclc:1234`). A record may have no texts, or several.
    """

    record: Integers
    """Number of the record of each text, from 0."""
    order: Integers
    """Texts of the same record are sorted by this number, which may be negative."""
    texts: pa.StringArray
    """The texts."""
    scheme: str = ""
    """Kind of the record-level identifiers (`Own.scheme`); empty if it is not named, and for texts to scan and keys."""
    is_key: bool = False
    """True for identifiers that give keys, never a URN (`Own.is_key`)."""

    @classmethod
    def of_own(cls, own: Iterable[tuple[int, int, Own]]) -> list[Texts]:
        """Return record-level identifiers in columns: a `Texts` for each pair of `scheme` and `is_key`; an empty list
        without identifiers. `own` has tuples (number of the record, from 0; number by which identifiers of the same
        record are sorted; identifier).
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
        """Return all rows of several `Texts` in one, sorted by record, then by order; without rows if `columns` is
        empty. In the result, `scheme` is empty and `is_key` False.
        """
        if not columns:
            return cls(np.empty(0, np.int64), np.empty(0, np.int64), text_array([]))
        record, order, texts, _, _ = zip(*columns, strict=True)
        all_records, all_orders = np.concatenate(record), np.concatenate(order)
        place = np.lexsort((all_orders, all_records))
        return cls(all_records[place], all_orders[place], pa.concat_arrays(texts).take(number_array(place)))


class Columns(NamedTuple):
    """Values of many records of a dump, in columns. Records are numbered from 0, in their order."""

    identifiers: pa.StringArray
    """ID of each record in the dump; null if the record has none or cannot be read."""
    texts: Sequence[Texts]
    """Texts to scan for URNs; empty if only record-level identifiers are read."""
    own: Sequence[Texts]
    """Record-level identifiers, in several `Texts`; several of them may have the same kind."""
    descriptions: pa.BinaryArray
    """For each record, bytes with the fields that describe the work, which `record.description_of` converts to a
    `Description`; empty bytes if descriptions are not read.
    """
    damaged: Mapping[int, Damaged]
    """Records that cannot be read, by number. The other columns have a null or empty value for them."""
    deleted: Integers
    """Numbers of the records that are marked as deleted."""

    def by_scheme(self) -> Mapping[str, Texts]:
        """Return the record-level identifiers as kind (`Texts.scheme`) -> a `Texts` with all identifiers of this kind,
        sorted by record, then by order. `scheme` and `is_key` of these `Texts` have no meaning.
        """
        columns = sorted(self.own, key=operator.attrgetter("scheme"))
        groups = itertools.groupby(columns, key=operator.attrgetter("scheme"))
        return {scheme: Texts.joined([*group]) for scheme, group in groups}

    def own_of_each(self) -> list[list[Own]]:
        """Return a list for each record: its record-level identifiers, sorted by `Texts.order`; empty for a record
        without any.
        """
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
    """Return the values of `texts`, each with its source in brackets before it, as in `(DE-101)1234`. A value whose
    source is null or empty stays unchanged. Both columns have the same length.
    """
    encoded = sources.dictionary_encode()
    prefixes = text_array([with_source("", source) for source in encoded.dictionary.to_pylist()])
    return pc.binary_join_element_wise(prefixes.take(encoded.indices).fill_null(""), texts, "")
