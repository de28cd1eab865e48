"""Counts of a scan by namespace: occurrences, classes, invalid classes and sources of each NID."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import numbers
from urnscan.display.text import counted


@dataclass(slots=True)
class _Counts:
    occurrences: int = 0
    classes: int = 0
    invalid: int = 0
    """Classes whose `valid` is false."""
    sources: int = 0
    """Sources with an occurrence."""


_COLUMNS = ("namespace", *_Counts.__slots__)
# Maximum number of lines at the end of a run.
_MAX_LINES = 3


class NamespaceCounts:
    """Counts occurrences, classes, invalid classes and sources (inputs) of a scan by namespace."""

    def __init__(self) -> None:
        self._counts: dict[str, _Counts] = {}
        # Rows come source by source, so only the namespaces of the current source are kept.
        self._source: str | None = None
        self._nids_of_source: set[str] = set()

    def add_classes(self, rows: pa.RecordBatch) -> None:
        """Count by namespace the classes in `rows` (schema CODED_CLASSES: one row per class), the occurrences in all of
        them (the sum of `occurrence_count`), and the classes whose `valid` is false (null does not count).
        """
        nid = rows.column("nid")
        nids, indices = nid.dictionary.to_pylist(), numbers(nid.indices)
        is_invalid = rows.column("valid").fill_null(True).to_numpy(zero_copy_only=False) == np.False_
        classes = np.bincount(indices, minlength=len(nids)).tolist()
        invalid = np.bincount(indices[is_invalid], minlength=len(nids)).tolist()
        # The weights are floats, which are exact up to 2**53.
        weights = numbers(rows.column("occurrence_count"))
        occurrences = np.bincount(indices, weights, minlength=len(nids)).tolist()
        for name, *sums in zip(nids, occurrences, classes, invalid, strict=True):
            counts = self._counts.setdefault(name, _Counts())
            counts.occurrences += int(sums[0])
            counts.classes += sums[1]
            counts.invalid += sums[2]

    def add_occurrences(self, rows: pa.RecordBatch) -> None:
        """Count by namespace the sources (inputs) in `rows` (schema OCCURRENCES: one row per occurrence). The
        occurrences are counted by `add_classes`.

        Precondition: all rows of a source are consecutive, also over several calls.
        """
        source, nid = rows.column("source"), rows.column("nid")
        sources, nids = source.dictionary.to_pylist(), nid.dictionary.to_pylist()
        pairs = numbers(source.indices).astype(np.int64) * len(nids) + numbers(nid.indices)
        _, first = np.unique(pairs, return_index=True)
        for pair in pairs[np.sort(first)].tolist():
            place, number = divmod(pair, len(nids))
            if sources[place] != self._source:
                self._source = sources[place]
                self._nids_of_source.clear()
            if nids[number] not in self._nids_of_source:
                self._nids_of_source.add(nids[number])
                self._counts.setdefault(nids[number], _Counts()).sources += 1

    def table(self) -> list[str]:
        """Lines of a text table with aligned columns, each with LF: a header, then a line for each namespace (NID), the
        most occurrences first, those with equally many by name.
        """
        rows = [_COLUMNS, *((name, *map("{:,}".format, astuple(counts))) for name, counts in self._sorted())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return [
            "  ".join([name.ljust(widths[0]), *map(str.rjust, values, widths[1:])]) + "\n" for name, *values in rows
        ]

    def summary(self) -> list[str]:
        """At most three lines for people, without LF: the namespaces with the most occurrences, such as "isbn: 5
        occurrences, 2 classes, 1 invalid". If there are more than three, the last line has the sum of the others. An
        empty list without counts. Sources are left out.
        """
        ranked = self._sorted()
        named = ranked if len(ranked) <= _MAX_LINES else ranked[: _MAX_LINES - 1]
        lines = [f"{name}: {_words(counts)}" for name, counts in named]
        if others := [counts for _, counts in ranked[len(named) :]]:
            sums = _Counts(*map(sum, zip(*map(astuple, others), strict=True)))
            lines.append(f"{len(others):,} other namespaces: {_words(sums)}")
        return lines

    def _sorted(self) -> Sequence[tuple[str, _Counts]]:
        return sorted(self._counts.items(), key=lambda item: (-item[1].occurrences, item[0]))


def _words(counts: _Counts) -> str:
    words = [counted(counts.occurrences, "occurrence"), counted(counts.classes, "class", "classes")]
    return ", ".join(words + ([f"{counts.invalid:,} invalid"] if counts.invalid else []))
