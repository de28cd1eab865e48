"""Pairs of records that share no key, but a name of an author, year and title: people decide whether they are the same.

Two records are compared only if a word of the names of their authors, the year and the start of the title are the same,
and only if they are near each other in the order of titles: so the time grows with the number of records, and not with
its square. The order of authors, and the place of the family name in a name, do not matter.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import numbers
from urnscan.dedup.clustering import Clustering
from urnscan.dedup.compare.agreement import RULES, compare, similarity
from urnscan.dedup.compare.features import features, words
from urnscan.dedup.read.batches import digest_of, only_names
from urnscan.dedup.review.review_table import LOCATED_CANDIDATES, shown_digests
from urnscan.display.progress import ROWS, Progress, Stage
from urnscan.records.description import Description, shown_title
from urnscan.records.keys import always
from urnscan.records.record import description_of

# Minimum similarity of the titles.
_MIN = 0.9
# Letters at the start of a title that must be the same.
_BEGINNING = 8
# Minimum number of letters in a word of a name; initials have fewer.
_SHORTEST = 3
# Maximum number of words of names of a record.
_MAX_NAMES = 24
# Number of next titles, in their order, with which a title is compared.
_NEAR = 20
_ROWS_AT_ONCE = 1 << 14


class _KeptRecord(NamedTuple):
    """A record that is neither removed nor deleted. `number`: its number among the records of all dumps, from 0."""

    keys: Sequence[int]
    """A number for each word of a name, with year and start of title, that other records have, too."""
    title: str
    """Title of the record, in the form of `features.words`, which orders the records; empty without a title."""
    number: int
    component: int
    cluster: int
    place: dict[str, object]
    """Values of the columns that say which record it is and where, and its identifiers."""
    description: Description


def candidates(clustering: Clustering, progress: Progress) -> Iterator[pa.RecordBatch]:
    """Yield batches of pairs of records that no keys connect and that may be the same, with the columns of
    LOCATED_CANDIDATES, in the order of their first records. Both records are neither removed nor deleted; they share a
    word of an author's name, the year and the start of the title, their titles are similar, and their descriptions do
    not conflict. Pairs of two clusters that people decided to keep separate are left out; other pairs may be missed.
    `progress` gets two stages. Raises FatalError if the disk fails.
    """
    progress.on_stage(Stage("looking for candidates"))
    records = [*_sharing_records(clustering)]
    entries = sorted((key, record.title, record.number, at) for at, record in enumerate(records) for key in record.keys)
    progress.on_stage(Stage("comparing candidates", len(entries), ROWS))
    pairs: dict[tuple[int, int], tuple[_KeptRecord, _KeptRecord, float]] = {}
    clusters = (clustering.cluster[ends].tolist() for ends in clustering.separate)
    separate = {frozenset(pair) for pair in zip(*clusters, strict=True)}

    def is_settled(one: _KeptRecord, other: _KeptRecord) -> bool:
        is_known = (min(one.number, other.number), max(one.number, other.number)) in pairs
        return is_known or one.component == other.component or {one.cluster, other.cluster} in separate

    for _, block in itertools.groupby(entries, lambda entry: entry[0]):
        for one, other, alike in _pairs([records[entry[-1]] for entry in block], is_settled, progress.on_progress):
            pairs[one.number, other.number] = one, other, alike
    ordered = [pair for _, pair in sorted(pairs.items())]
    for start in range(0, len(ordered), _ROWS_AT_ONCE):
        yield pa.RecordBatch.from_pylist(
            [_row(*pair) for pair in ordered[start : start + _ROWS_AT_ONCE]], LOCATED_CANDIDATES
        )


def _sharing_records(clustering: Clustering) -> Iterator[_KeptRecord]:
    """Yield the records that share a word of an author's name, the year and the start of the title with another one."""
    keys, owners = _keys(clustering)
    known, counts = np.unique(keys, return_counts=True)
    is_shared = np.isin(keys, known[counts > 1])
    shared: dict[int, list[int]] = defaultdict(list)
    for key, owner in zip(keys[is_shared].tolist(), owners[is_shared].tolist(), strict=True):
        shared[owner].append(key)
    at = 0
    dumps = {dump: number for number, dump in enumerate(clustering.records.reading.dumps)}
    for dump, standing, rows in clustering.standing():
        of_batch = [index for index in range(len(rows)) if at + index in shared]
        own = rows.take(pa.array(of_batch, pa.int64()))
        names, digests = own.column("names"), shown_digests(numbers(own.column("digest"))).to_pylist()
        urns, others = (
            only_names(names, **which).to_pylist() for which in ({"of": "urn:"}, {"but": ("urn:", *always())})
        )
        places = own.select(["record", "record_id", "start", "length"]).to_pylist()
        packed = own.column("description").to_pylist()
        of_dump = {"source": dump.source.name, "member": dump.member, "dump": dumps[dump]}
        for index, place, data, urn, other, digest in zip(of_batch, places, packed, urns, others, digests, strict=True):
            description = description_of(data)
            identifiers = {"urns": urn, "other_keys": other, "digest": digest}
            number = int(standing[index])
            title = features(description).title
            yield _KeptRecord(
                shared[at + index],
                title.full[0] if title else "",
                number,
                int(clustering.records.component[number]),
                int(clustering.cluster[number]),
                place | identifiers | of_dump,
                description,
            )
        at += len(rows)


def _pairs(
    block: list[_KeptRecord],
    is_settled: Callable[[_KeptRecord, _KeptRecord], bool],
    on_record: Callable[[int], object],
) -> Iterator[tuple[_KeptRecord, _KeptRecord, float]]:
    """Yield the pairs of a block that may be the same, the earlier record first, with the similarity of their titles.
    `block`: records with a common key of `_keys_of`, sorted by title; each is compared with the next _NEAR. Settled
    pairs are left out. `on_record` gets 1 for each record.
    """
    for at, one in enumerate(block):
        on_record(1)
        for other in block[at + 1 : at + 1 + _NEAR]:
            if is_settled(one, other):
                continue
            if compare(one.description, other.description, RULES).against:
                continue
            alike = similarity(one.description, other.description)
            if alike >= _MIN:
                yield (one, other, alike) if one.number < other.number else (other, one, alike)


def _row(first: _KeptRecord, second: _KeptRecord, alike: float) -> dict[str, object]:
    others = {f"other_{name}": value for name, value in _shown(second).items()}
    return {"similarity": round(alike, 3), "decision": "", **_shown(first), **others}


def _shown(record: _KeptRecord) -> dict[str, object]:
    description = record.description
    unchanged = ("author", "edition", "part", "extent", "publisher", "format")
    return {
        "title": description.title and shown_title(description.title),
        "publication_year": _year(description),
        **{name: getattr(description, name) for name in unchanged},
        **record.place,
    }


def _keys(clustering: Clustering) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Keys (see `_keys_of`) of the records that are neither removed nor deleted, and for each key the index of its
    record among them.
    """
    keys: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)]
    counts: list[npt.NDArray[np.int32]] = [np.empty(0, np.int32)]
    for _, _, rows in clustering.standing():
        of_each = [_keys_of(description_of(data.as_py())) for data in rows.column("description")]
        keys.append(np.array([*itertools.chain.from_iterable(of_each)], np.int64))
        counts.append(np.array([*map(len, of_each)], np.int32))
    count = np.concatenate(counts)
    return np.concatenate(keys), np.repeat(np.arange(len(count), dtype=np.int32), count)


def _keys_of(description: Description) -> Sequence[int]:
    """A hash for each long word, at most _MAX_NAMES, of the names of the authors, with the year and the start of the
    title. Empty if author, year or title is missing.
    """
    title, year = features(description).title, _year(description)
    if not (title and year and description.author):
        return ()
    # The title is used without its leading article, if the record marks the article.
    beginning = title.proper[-1].replace(" ", "")[:_BEGINNING]
    names = words(f"{description.author} {description.coauthors or ''}").split()
    of_names = [word for word in dict.fromkeys(names) if len(word) >= _SHORTEST]
    return [digest_of(f"{word} {year} {beginning}".encode()) for word in of_names[:_MAX_NAMES]]


def _year(description: Description) -> int | None:
    return int(description.year.partition(" ")[0]) if description.year else None
