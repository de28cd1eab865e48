"""Columns of many records that are read together."""

from __future__ import annotations

import itertools
import operator
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import number_array, text_array
from urnscan.compiled.octets import Integers
from urnscan.framing.lines import Damaged
from urnscan.records.fields import Own


class Texts(NamedTuple):
    """Texts of many records in columns: texts to search, own identifiers of one kind, or keys."""

    record: Integers
    """The number of the record of each text, from 0."""
    order: Integers
    """Numbers that say in which order the texts of a record come."""
    texts: pa.StringArray
    scheme: str = ""
    """Kind of own identifiers; see `Own.scheme`."""
    is_key: bool = False
    """See `Own.is_key`."""

    @classmethod
    def of_own(cls, own: Iterable[tuple[int, int, Own]]) -> list[Texts]:
        """Columns of own identifiers, one for each kind. Before each identifier stand its record and its order."""
        kinds: dict[tuple[str, bool], list[tuple[int, int, str]]] = defaultdict(list)
        for record, order, (text, scheme, is_key) in own:
            kinds[scheme, is_key].append((record, order, text))
        found = []
        for kind, rows in kinds.items():
            record_of, order_of, texts = zip(*rows, strict=True)
            found.append(cls(np.array(record_of, np.int64), np.array(order_of, np.int64), text_array(texts), *kind))
        return found

    @classmethod
    def joined(cls, some: Sequence[Texts]) -> Texts:
        """Several columns as one, in the order of records, and of the texts of each."""
        if not some:
            return cls(np.empty(0, np.int64), np.empty(0, np.int64), text_array([]))
        record, order, texts, _, _ = zip(*some, strict=True)
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
    """Records that cannot be read, by number; the other columns have nothing for them."""

    def by_scheme(self) -> Mapping[str, Texts]:
        """Own identifiers by scheme, whatever fields they stand in."""
        schemes = sorted(self.own, key=operator.attrgetter("scheme"))
        grouped = itertools.groupby(schemes, key=operator.attrgetter("scheme"))
        return {scheme: Texts.joined([*some]) for scheme, some in grouped}

    def own_of_each(self) -> list[list[Own]]:
        """Own identifiers of each record."""
        held = [
            (record, order, Own(text, each.scheme, each.is_key))
            for each in self.own
            for record, order, text in zip(
                each.record.tolist(), each.order.tolist(), each.texts.to_pylist(), strict=True
            )
        ]
        found: list[list[Own]] = [[] for _ in range(len(self.identifiers))]
        for record, _, own in sorted(held, key=operator.itemgetter(0, 1)):
            found[record].append(own)
        return found
