"""Pairs of records that share no key, but author, year and title: people look at them, and nothing removes them.

Two records are compared only if the family name of the first author, the year and the beginning of the title are the
same, and only if they stand near each other in the order of titles: so the time grows with the number of records, and not
with its square.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.dedup.clustering import Clustering
from urnscan.dedup.compare.agreement import RULES, compare, similarity
from urnscan.dedup.compare.authors import family_part
from urnscan.dedup.compare.features import features, words
from urnscan.dedup.read.batches import digest_of
from urnscan.display.progress import ROWS, Progress, Stage
from urnscan.records.description import Description, shown_title
from urnscan.records.record import description_of
from urnscan.tables.schemas import CANDIDATES

_LEAST = 0.9  # similarity of the titles
_BEGINNING = 8  # letters of a title that have to be the same
_NEAR = 20  # titles after a title, in their order, with which it is compared
_ROWS_AT_ONCE = 1 << 14


class _KeptRecord(NamedTuple):
    """A record that is not removed."""

    key: int
    title: str
    """Its title in small letters, by which records are brought into an order."""
    number: int
    component: int
    place: dict[str, object]
    """Values of the columns that say which record it is."""
    description: Description


def candidates(clustering: Clustering, progress: Progress) -> Iterator[pa.RecordBatch]:
    """CANDIDATES rows, in the order of the first records. Raises FatalError if the disk fails.

    `progress` is called with the search for records that share author, year and beginning of title, and with their
    comparison. Eight octets of each record are in memory, and the descriptions of those that share author, year and beginning of title.
    """
    progress.on_stage(Stage("looking for candidates"))
    keys = np.concatenate(
        [np.empty(0, np.int64), *(_keys(rows.column("description")) for _, _, rows in clustering.standing())]
    )
    known, counts = np.unique(keys, return_counts=True)
    shared = known[(counts > 1) & (known != 0)]
    records: list[_KeptRecord] = []
    at = 0
    for source, component, rows in clustering.standing():
        own = keys[at : at + len(rows)]
        for index in np.flatnonzero(np.isin(own, shared)).tolist():
            description = description_of(rows.column("description")[index].as_py())
            place = {**source, **{name: rows.column(name)[index].as_py() for name in ("record", "record_id")}}
            title = features(description).title
            records.append(
                _KeptRecord(
                    int(own[index]),
                    title.full[0] if title else "",
                    at + index,
                    int(component[index]),
                    place,
                    description,
                )
            )
        at += len(rows)
    records.sort(key=lambda record: record[:3])
    progress.on_stage(Stage("comparing candidates", len(records), ROWS))
    pairs = itertools.chain.from_iterable(_pairs(block, progress.on_progress) for block in _blocks(records))
    ordered = sorted(pairs, key=lambda pair: (pair[0].number, pair[1].number))
    for start in range(0, len(ordered), _ROWS_AT_ONCE):
        yield pa.RecordBatch.from_pylist([_row(*pair) for pair in ordered[start : start + _ROWS_AT_ONCE]], CANDIDATES)


def _blocks(records: Sequence[_KeptRecord]) -> Iterator[list[_KeptRecord]]:
    """Records with the same key."""
    for _, block in itertools.groupby(records, lambda record: record.key):
        yield list(block)


def _pairs(
    block: list[_KeptRecord], on_record: Callable[[int], object]
) -> Iterator[tuple[_KeptRecord, _KeptRecord, float]]:
    """The pairs of a block that may be the same, in dump order, and their similarity."""
    for at, one in enumerate(block):
        on_record(1)
        for other in block[at + 1 : at + 1 + _NEAR]:
            if one.component == other.component or compare(one.description, other.description, RULES).against:
                continue
            alike = similarity(one.description, other.description)
            if alike >= _LEAST:
                yield (one, other, alike) if one.number < other.number else (other, one, alike)


def _row(first: _KeptRecord, second: _KeptRecord, alike: float) -> dict[str, object]:
    others = {f"other_{name}": value for name, value in _shown(second).items()}
    return {"similarity": round(alike, 3), **_shown(first), **others}


def _shown(record: _KeptRecord) -> dict[str, object]:
    description = record.description
    return {
        "title": description.title and shown_title(description.title),
        "author": description.author,
        "publication_year": _year(description),
        "format": description.format,
        **record.place,
    }


def _keys(packed: pa.BinaryArray) -> npt.NDArray[np.int64]:
    """Keys of descriptions; 0 where author, year or title is missing."""
    return np.array([_key(description_of(octets.as_py())) for octets in packed], np.int64)


def _key(description: Description) -> int:
    title, year = features(description).title, _year(description)
    family = words(family_part(description.author)) if description.author else ""
    if not (title and year and family):
        return 0
    beginning = title.proper[-1].replace(" ", "")[:_BEGINNING]  # without its article, if the record marks one
    text = f"{family} {year} {beginning}"
    return digest_of(text.encode())


def _year(description: Description) -> int | None:
    return int(description.year.partition(" ")[0]) if description.year else None
