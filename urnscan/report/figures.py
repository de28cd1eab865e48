"""Parquet files of `urnscan -o` and `--occurrences` -> the figures of a report, read in batches of the needed columns.

A first pass over the classes makes the figures and chooses the rows to be shown. Then these rows are read from their
row groups.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import flags_of, number_array, numbers
from urnscan.errors import FatalError, InvalidURN
from urnscan.report.embedded import COLUMNS, Place, cut
from urnscan.report.page import common_folder
from urnscan.report.scan_page import Ends, Row, Summary, Varied
from urnscan.report.tallies import Numbers, Tally, Top
from urnscan.tables.readers import TableFile
from urnscan.urn.explanation import resolver
from urnscan.urn.namespaces.registry import OURS, Rulebook
from urnscan.urn.parser import parse
from urnscan.urn.syntax import SYNTAXES

EMBEDDED = 100_000
"""Classes in the page: the most frequent."""
_IN_ALL, _OF_EACH = 200_000, 20
"""Spellings, and places, in the page: of all classes together, and of each."""
_VARIED, _SPELLINGS = 12, 12
_NAMESPACES, _SOURCES = 100, 50
_CODES, _EXAMPLES = 50, 3
_MOST = 1 << 40
"""The largest number that is accepted in a file, so that sums fit in 64 bits."""

_VERDICTS = {True: "valid", False: "invalid", None: "unknown"}


class _Figures:
    """Figures of the first pass over the classes."""

    def __init__(self, file: TableFile) -> None:
        """Raises FatalError if the file is damaged, or not as urnscan wrote it."""
        self.occurrences = self.classes = self.spellings = 0
        self.several = 0
        """Classes with more than one spelling."""
        self.namespaces = Tally(["nid", "nid_status"], ["occurrences", "classes"])
        self.sizes = Tally(["size"], ["classes"])
        self.verdicts = Tally(["valid"], ["occurrences", "classes"])
        self.problems = Tally(["problem"], ["occurrences", "classes"])
        self.sources = Tally(["source"], ["classes"])
        self.varied = Top(_VARIED, 2)
        self.frequent = Top(EMBEDDED)
        self.examples: dict[str, Top] = {}
        """The most frequent classes with each code of a problem."""
        names = ("nid", "nid_status", "occurrence_count", "spelling_count", "first_source", "valid", "problem")
        for batch in file.batches(*names):
            for name in "occurrence_count", "spelling_count":
                found = numbers(batch.column(name))
                if len(batch) and not 1 <= found.min() <= found.max() <= _MOST:
                    raise FatalError(
                        f"{file.path}: the column {name} holds what is no count; it is not as urnscan wrote it"
                    )
            self._add(batch)

    def _add(self, batch: pa.RecordBatch) -> None:
        nid, status, count, spelling_count, first_source, valid, problem = batch.columns
        counts, spellings = numbers(count), numbers(spelling_count)
        rows = np.arange(len(counts)) + self.classes
        ones = number_array(np.ones(len(rows), np.int64))
        self.namespaces.add(nid=nid, nid_status=status, occurrences=count, classes=ones)
        self.sizes.add(size=count, classes=ones)
        self.verdicts.add(valid=valid, occurrences=count, classes=ones)
        self.sources.add(source=first_source, classes=ones)
        known = np.flatnonzero(flags_of(problem.is_valid()))
        if len(known):
            wrong = number_array(known)
            self.problems.add(problem=problem.take(wrong), occurrences=count.take(wrong), classes=ones.take(wrong))
            self._add_examples(problem.take(wrong), rows[known], counts[known])
        several = spellings > 1
        self.varied.add(rows[several], spellings[several], counts[several])
        self.frequent.add(rows, counts)
        self.occurrences += int(counts.sum())
        self.classes += len(rows)
        self.spellings += int(spellings.sum())
        self.several += int(several.sum())

    def _add_examples(self, problem: pa.Array, rows: Numbers, counts: Numbers) -> None:
        problem = problem.dictionary_encode() if pa.types.is_string(problem.type) else problem
        indices = numbers(problem.indices)
        values_with: dict[str, list[int]] = {}
        for place, codes in enumerate(problem.dictionary.to_pylist()):
            for code in codes.split("; "):
                values_with.setdefault(code, []).append(place)
        for code, places in values_with.items():
            if code in self.examples or len(self.examples) < _CODES:
                of_it = np.isin(indices, places)
                self.examples.setdefault(code, Top(_EXAMPLES)).add(rows[of_it], counts[of_it])


class _Occurrences:
    """Figures of the occurrences, and the first places of the classes in the page."""

    def __init__(self, file: TableFile, urns: pa.ChunkedArray, counts: Numbers) -> None:
        """`counts` are the occurrences of the classes `urns`. Raises FatalError if the file has not as many."""
        self._file = file
        self._urns = urns.combine_chunks().cast(pa.large_string())
        self._most = _of_each(counts)
        self._found = np.zeros(len(counts), np.int64)
        self._rows: list[Numbers] = []
        self._classes: list[Numbers] = []
        self._tallies = {name: Tally([name], ["occurrences"]) for name in ("source", "stop", "punctuation")}
        start = 0
        for batch in file.batches(*self._tallies, "urn"):
            ones = number_array(np.ones(len(batch), np.int64))
            for name, tally in self._tallies.items():
                tally.add(**{name: batch.column(name)}, occurrences=ones)
            self._add(batch.column("urn"), start)
            start += len(batch)
        if (self._found != counts).any():
            raise FatalError(f"{file.path}: holds other names than the classes: give the two files that one run wrote")

    def _add(self, urns: pa.Array, start: int) -> None:
        """Count the rows of each class, and keep those that are among its first."""
        classes = pc.index_in(urns.cast(pa.large_string()), value_set=self._urns)
        rows = np.flatnonzero(flags_of(classes.is_valid()))
        of = numbers(classes.take(number_array(rows)))
        order = np.argsort(of, kind="stable")  # rows of one class stand together, the first of them first
        rows, of = rows[order], of[order]
        firsts = np.flatnonzero(np.diff(of, prepend=-1))
        ranks = np.arange(len(of)) - np.repeat(firsts, np.diff(firsts, append=len(of)))
        early = self._found[of] + ranks < self._most
        self._rows.append(rows[early] + start)
        self._classes.append(of[early])
        self._found += np.bincount(of, minlength=len(self._found))

    def sources(self) -> pa.Table | None:
        """The occurrences of each source."""
        return self._tallies["source"].result()

    def ends(self) -> Ends:
        """The octets that ended matches, and those that `--trim` would cut off."""
        found = (
            {row[name]: row["occurrences"] for row in _rows(self._tallies[name])} for name in ("stop", "punctuation")
        )
        return Ends(*found)

    def places(self) -> list[list[Place]]:
        """The first places of each class."""
        places: list[list[Place]] = [[] for _ in self._found]
        rows = np.concatenate([np.empty(0, np.int64), *self._rows])
        classes = np.concatenate([np.empty(0, np.int64), *self._classes])[np.argsort(rows)]
        for number, row in zip(classes.tolist(), self._file.take(rows, *Place._fields).to_pylist(), strict=True):
            places[number].append(Place(**row))
        return places


def summarise(classes: str, occurrences: str | None = None, *, version: str, rulebook: Rulebook = OURS) -> Summary:
    """Figures of a table of classes, and of its occurrences; with the titles and resolvers of the rulebook.

    Raises FatalError if a file is not the expected table, or the two are not of the same run.
    """
    file = TableFile(classes, "classes")
    places = None if occurrences is None else TableFile(occurrences, "occurrences")
    figures = _Figures(file)
    if places is not None and places.rows != figures.occurrences:
        raise FatalError(
            f"{places.path}: holds {places.rows:,} occurrences, and the classes of {classes} are made of "
            f"{figures.occurrences:,}: give the two files that one run wrote"
        )
    namespaces = [
        Row(row["nid"], row["occurrences"], row["classes"], row["nid_status"]) for row in _rows(figures.namespaces)
    ]
    statuses = _added_up((row.status, row.occurrences or 0, row.classes) for row in namespaces)
    settings = file.settings()
    frequent = file.take(figures.frequent.places(), *COLUMNS.values(), "spellings")
    ends = None if places is None else _Occurrences(places, frequent["urn"], frequent["occurrence_count"].to_numpy())
    found_in = None if ends is None else ends.sources()
    sources, more_sources = _sources(figures.sources, found_in)
    return Summary(
        version=version,
        file=classes,
        occurrences=figures.occurrences,
        classes=figures.classes,
        spellings=figures.spellings,
        varied=figures.several,
        namespaces=namespaces[:_NAMESPACES],
        more_namespaces=len(namespaces[_NAMESPACES:]),
        statuses=sorted(statuses, key=lambda row: (-(row.occurrences or 0), row.name)),
        sizes={row["size"]: row["classes"] for row in _rows(figures.sizes)},
        most_varied=_varied(file, figures.varied.places()),
        sources=sources,
        more_sources=more_sources,
        folder=_folder(figures.sources.result(), found_in),
        ends=None if ends is None else ends.ends(),
        verdicts=[Row(_VERDICTS[row.pop("valid")], **row) for row in _rows(figures.verdicts)],
        problems=_problems(file, figures),
        frequent=_frequent(frequent, dict(settings).get("syntax", ""), rulebook),
        places=None if ends is None else ends.places(),
        settings=settings,
        rulebook=rulebook,
    )


def _of_each(counts: Numbers) -> int:
    """Number of spellings or places of each class in the page, so that those of all classes are not too many.

    >>> _of_each(np.array([5, 1000])), _of_each(np.full(100_000, 3)), _of_each(np.full(1_000_000, 9))
    (20, 2, 1)
    """
    return next((most for most in range(_OF_EACH, 1, -1) if np.minimum(counts, most).sum() <= _IN_ALL), 1)


def _frequent(table: pa.Table, syntax: str, rulebook: Rulebook) -> dict[str, Sequence[Any]]:
    """The columns of the classes in the page."""
    most = _of_each(table["spelling_count"].to_numpy())
    columns = {name: table[column].to_pylist() for name, column in COLUMNS.items()}
    columns["spellings"] = [
        [(each["text"], each["count"]) for each in spellings]
        for spellings in pc.list_slice(table["spellings"], 0, most).to_pylist()
    ]
    columns["link"] = _links(columns["urn"], columns["nid"], syntax if syntax in SYNTAXES else "rfc2141", rulebook)
    return columns


def _links(urns: Sequence[str], nids: Sequence[str], syntax: str, rulebook: Rulebook) -> list[str | None]:
    """The address of each name at a resolver."""
    resolved = {nid for nid, rule in rulebook.rules.items() if rule.resolvers}
    links: list[str | None] = [None] * len(urns)
    for place, nid in enumerate(nids):
        if nid in resolved:
            with contextlib.suppress(InvalidURN):  # of a file that is not as urnscan wrote it
                links[place] = resolver(parse(urns[place], syntax), rulebook)
    return links


def _rows(tally: Tally) -> list[dict[str, Any]]:
    """The rows of a tally, the greatest first."""
    table = tally.result()
    if table is None:
        return []
    sums = [name for name in table.column_names if name in ("occurrences", "classes")]
    keys = [name for name in table.column_names if name not in sums]
    ordered = table.sort_by([(name, "descending") for name in sums] + [(name, "ascending") for name in keys])
    return ordered.to_pylist()  # type: ignore[no-any-return]


def _added_up(rows: Iterable[tuple[str, int, int]]) -> list[Row]:
    """Names with their numbers of occurrences and classes, each name once, the greatest first."""
    sums: dict[str, tuple[int, int]] = {}
    for name, more, more_classes in rows:
        occurrences, classes = sums.get(name, (0, 0))
        sums[name] = occurrences + more, classes + more_classes
    ordered = sorted((-occurrences, -classes, name) for name, (occurrences, classes) in sums.items())
    return [Row(name, -occurrences, -classes) for occurrences, classes, name in ordered]


def _folder(*tables: pa.Table | None) -> str:
    """The folder that all sources are below."""
    ends = (pc.min_max(table["source"]).as_py() for table in tables if table is not None)
    return common_folder(name for least_and_greatest in ends for name in least_and_greatest.values())


def _sources(first_found: Tally, found_in: pa.Table | None) -> tuple[list[Row], int]:
    """The sources with the most, and how many others there are."""
    first = first_found.result()
    table, by = (first, "classes") if found_in is None else (found_in, "occurrences")
    if table is None or first is None:
        return [], 0
    most = table.take(pc.select_k_unstable(table, _SOURCES, [(by, "descending"), ("source", "ascending")]))
    classes = first.filter(pc.is_in(first["source"], most["source"].combine_chunks())).to_pylist()
    first_there = {row["source"]: row["classes"] for row in classes}
    found = [Row(row["source"], row.get("occurrences"), first_there.get(row["source"], 0)) for row in most.to_pylist()]
    return found, table.num_rows - len(found)


def _varied(file: TableFile, places: Numbers) -> list[Varied]:
    """The classes with the most spellings."""
    rows = file.take_in_order(places, "urn", "occurrence_count", "spelling_count", "spellings")
    return [
        Varied(
            row["urn"],
            row["occurrence_count"],
            row["spelling_count"],
            [(each["text"], each["count"]) for each in row["spellings"][:_SPELLINGS]],
        )
        for row in rows
    ]


def _problems(file: TableFile, figures: _Figures) -> list[Row]:
    """The codes of problems, each with its most frequent classes."""
    problems = _added_up(
        (code, row["occurrences"], row["classes"])
        for row in _rows(figures.problems)
        for code in row["problem"].split("; ")
    )
    examples = {
        code: [cut(row["urn"]) for row in file.take_in_order(top.places(), "urn")]
        for code, top in figures.examples.items()
    }
    return [replace(row, examples=examples.get(row.name, [])) for row in problems[:_CODES]]
