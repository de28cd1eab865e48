"""Tables that `urnscan -o` and `--occurrences` wrote -> the figures of a report.

A first pass over the needed columns of the classes, in batches, makes the figures and selects the rows that the page
shows. Then these rows are read from their row groups.
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
from urnscan.errors import ArgumentError, FatalError, InvalidURN
from urnscan.report.embedded import COLUMNS, LONGEST, Place, cut
from urnscan.report.page import common_folder
from urnscan.report.scan_page import CountRow, MatchEnds, Summary, VariedClass
from urnscan.report.tallies import Numbers, Tally, Top
from urnscan.tables.readers import TableFile
from urnscan.urn.explanation import resolver
from urnscan.urn.namespaces.judgement import judge
from urnscan.urn.namespaces.registry import OURS, Rulebook
from urnscan.urn.parser import parse
from urnscan.urn.syntax import SYNTAXES, SyntaxName

EMBEDDED = 100_000
"""Maximum number of classes in the page, which has the most frequent ones."""
_IN_ALL, _OF_EACH = 200_000, 20
"""Maximum number of spellings, and of places, in the page: of all classes together, and of each class."""
# Maximum numbers in the page: classes with many spellings, and spellings of each; namespaces; sources; codes of problems,
# and examples of each.
_VARIED, _SPELLINGS = 12, 12
_NAMESPACES, _SOURCES = 100, 50
_CODES, _EXAMPLES = 50, 3

_CHECK_DIGIT = "check-digit"
_VERDICTS = {True: "valid", False: "invalid", None: "unknown"}


class _Figures:
    def __init__(self, file: TableFile) -> None:
        """Adds up the figures of a table of classes. Raises FatalError for a damaged file."""
        self.occurrences = self.classes = self.spellings = 0
        self.several = 0
        """Classes with several spellings."""
        self.namespaces = Tally(["nid", "nid_status"], ["occurrences", "classes"])
        self.sizes = Tally(["size"], ["classes"])
        self.verdicts = Tally(["valid"], ["occurrences", "classes"])
        self.problems = Tally(["problem"], ["occurrences", "classes"])
        self.sources = Tally(["source"], ["classes"])
        self.varied = Top(_VARIED, 2)
        self.frequent = Top(EMBEDDED)
        self.examples: dict[str, Top] = {}
        """The most frequent classes with a problem, by the code of the problem."""
        names = ("nid", "nid_status", "occurrence_count", "spelling_count", "first_source", "valid", "problem")
        for batch in file.batches(*names):
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
        with_problem = np.flatnonzero(flags_of(problem.is_valid()))
        if len(with_problem):
            chosen = number_array(with_problem)
            self.problems.add(problem=problem.take(chosen), occurrences=count.take(chosen), classes=ones.take(chosen))
            self._add_examples(problem.take(chosen), rows[with_problem], counts[with_problem])
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
        for number, codes in enumerate(problem.dictionary.to_pylist()):
            for code in codes.split("; "):
                values_with.setdefault(code, []).append(number)
        for code, values in values_with.items():
            if code in self.examples or len(self.examples) < _CODES:
                has_code = np.isin(indices, values)
                self.examples.setdefault(code, Top(_EXAMPLES)).add(rows[has_code], counts[has_code])


class _Occurrences:
    def __init__(self, file: TableFile, urns: pa.ChunkedArray, counts: Numbers) -> None:
        """Reads a table of occurrences. `urns` are the classes whose first places are kept, `counts` their occurrences.
        Raises FatalError if the file has different numbers.
        """
        self._file = file
        self._urns = urns.combine_chunks().cast(pa.large_string())
        self._most = _of_each(counts)
        self._counts = np.zeros(len(counts), np.int64)
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
        if (self._counts != counts).any():
            raise FatalError(
                f"{file.path}: contains other names than the classes; give the two files that one run wrote"
            )

    def _add(self, urns: pa.Array, start: int) -> None:
        classes = pc.index_in(urns.cast(pa.large_string()), value_set=self._urns)
        rows = np.flatnonzero(flags_of(classes.is_valid()))
        class_of_row = numbers(classes.take(number_array(rows)))
        # Rows of a class become neighbours, and keep their order.
        order = np.argsort(class_of_row, kind="stable")
        rows, class_of_row = rows[order], class_of_row[order]
        firsts = np.flatnonzero(np.diff(class_of_row, prepend=-1))
        ranks = np.arange(len(rows)) - np.repeat(firsts, np.diff(firsts, append=len(rows)))
        is_early = self._counts[class_of_row] + ranks < self._most
        self._rows.append(rows[is_early] + start)
        self._classes.append(class_of_row[is_early])
        self._counts += np.bincount(class_of_row, minlength=len(self._counts))

    def sources(self) -> pa.Table | None:
        return self._tallies["source"].result()

    def ends(self) -> MatchEnds:
        counts = (
            {row[name]: row["occurrences"] for row in _rows(self._tallies[name])} for name in ("stop", "punctuation")
        )
        return MatchEnds(*counts)

    def places(self) -> list[list[Place]]:
        places: list[list[Place]] = [[] for _ in self._counts]
        rows = np.concatenate([np.empty(0, np.int64), *self._rows])
        classes = np.concatenate([np.empty(0, np.int64), *self._classes])[np.argsort(rows)]
        for number, row in zip(classes.tolist(), self._file.take(rows, *Place._fields).to_pylist(), strict=True):
            places[number].append(Place(**row))
        return places


def summarise(classes: str, occurrences: str | None = None, *, version: str, rulebook: Rulebook = OURS) -> Summary:
    """Return the contents of the page of `urnscan report`: figures of a table of classes, and of a table of the
    occurrences. Both arguments are paths of files in Parquet, CSV, TSV or JSON Lines. `rulebook` has the titles of
    namespaces, and resolvers.

    Without `occurrences`, the places, the ends of matches and the occurrences by source are None. Raises FatalError for
    a file that is not the expected table, or if the numbers of occurrences in the two tables differ.
    """
    file = TableFile(classes, "classes")
    occurrence_file = None if occurrences is None else TableFile(occurrences, "occurrences")
    figures = _Figures(file)
    if occurrence_file is not None and occurrence_file.rows != figures.occurrences:
        raise FatalError(
            f"{occurrence_file.path}: contains {occurrence_file.rows:,} occurrences, and the classes of {classes} are made of "
            f"{figures.occurrences:,}; give the two files that one run wrote"
        )
    namespaces = [
        CountRow(row["nid"], row["occurrences"], row["classes"], row["nid_status"]) for row in _rows(figures.namespaces)
    ]
    statuses = _added_up((row.status, row.occurrences or 0, row.classes) for row in namespaces)
    settings = file.settings()
    frequent = file.take(figures.frequent.places(), *COLUMNS.values(), "spellings")
    places = None
    if occurrence_file is not None:
        places = _Occurrences(occurrence_file, frequent["urn"], frequent["occurrence_count"].to_numpy())
    by_source = None if places is None else places.sources()
    sources, more_sources = _sources(figures.sources, by_source)
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
        folder=_folder(figures.sources.result(), by_source),
        ends=None if places is None else places.ends(),
        verdicts=[CountRow(_VERDICTS[row.pop("valid")], **row) for row in _rows(figures.verdicts)],
        problems=_problems(file, figures, rulebook),
        frequent=_frequent(frequent, dict(settings).get("syntax", ""), rulebook),
        places=None if places is None else places.places(),
        settings=settings,
        rulebook=rulebook,
    )


def _of_each(counts: Numbers) -> int:
    """Maximum number of spellings or places of a class in the page, so that all classes together have at most 200,000,
    if possible. `counts`: how many each class has.

    >>> _of_each(np.array([5, 1000])), _of_each(np.full(100_000, 3)), _of_each(np.full(1_000_000, 9))
    (20, 2, 1)
    """
    return next((most for most in range(_OF_EACH, 1, -1) if np.minimum(counts, most).sum() <= _IN_ALL), 1)


def _frequent(table: pa.Table, syntax: str, rulebook: Rulebook) -> dict[str, Sequence[Any]]:
    """The columns of the classes in the page (name -> a value for each class): those of `COLUMNS`; `spellings` (pairs
    of text and count); `link` (address or None); `hint` (the correct check digit in words, or empty). An unknown
    `syntax` counts as `rfc2141`.
    """
    most = _of_each(table["spelling_count"].to_numpy())
    columns = {name: table[column].to_pylist() for name, column in COLUMNS.items()}
    columns["spellings"] = [
        [(spelling["text"], spelling["count"]) for spelling in spellings]
        for spellings in pc.list_slice(table["spellings"], 0, most).to_pylist()
    ]
    known: SyntaxName = next((name for name in SYNTAXES if name == syntax), "rfc2141")
    columns["link"] = _links(columns["urn"], columns["nid"], known, rulebook)
    columns["hint"] = [
        _hint(urn, problem, rulebook) for urn, problem in zip(columns["urn"], columns["problem"], strict=True)
    ]
    return columns


def _links(urns: Sequence[str], nids: Sequence[str], syntax: SyntaxName, rulebook: Rulebook) -> list[str | None]:
    """The address of each name at a resolver; None without one, for a long name, and for an invalid name."""
    with_resolver = {nid for nid, rule in rulebook.rules.items() if rule.resolvers}
    links: list[str | None] = [None] * len(urns)
    for place, nid in enumerate(nids):
        if nid in with_resolver and len(urns[place]) <= LONGEST:
            # The file may have been changed after urnscan wrote it.
            with contextlib.suppress(InvalidURN):
                links[place] = resolver(parse(urns[place], syntax), rulebook)
    return links


def _hint(urn: str, problem: str | None, rulebook: Rulebook) -> str:
    """The correct check digit, in words, or empty. `problem`: codes, as in `check-digit; nul-octet`."""
    # The file may have been changed after urnscan wrote it.
    with contextlib.suppress(ArgumentError):
        return judge(urn, rulebook).hint if problem and _CHECK_DIGIT in problem.split("; ") else ""
    return ""


def _rows(tally: Tally) -> list[dict[str, Any]]:
    """The rows of a tally, by occurrences, then by classes, the most first, then by the keys. A tally may lack one of
    the two numbers.
    """
    table = tally.result()
    if table is None:
        return []
    sums = [name for name in table.column_names if name in ("occurrences", "classes")]
    keys = [name for name in table.column_names if name not in sums]
    ordered = table.sort_by([(name, "descending") for name in sums] + [(name, "ascending") for name in keys])
    return ordered.to_pylist()  # type: ignore[no-any-return]


def _added_up(rows: Iterable[tuple[str, int, int]]) -> list[CountRow]:
    sums: dict[str, tuple[int, int]] = {}
    for name, more, more_classes in rows:
        occurrences, classes = sums.get(name, (0, 0))
        sums[name] = occurrences + more, classes + more_classes
    ordered = sorted((-occurrences, -classes, name) for name, (occurrences, classes) in sums.items())
    return [CountRow(name, -occurrences, -classes) for occurrences, classes, name in ordered]


def _folder(*tables: pa.Table | None) -> str:
    extremes = (pc.min_max(table["source"]).as_py() for table in tables if table is not None)
    return common_folder(name for least_and_greatest in extremes for name in least_and_greatest.values())


def _sources(tally: Tally, by_source: pa.Table | None) -> tuple[list[CountRow], int]:
    """The sources with the most occurrences, and the number of other sources. `tally` has the classes by the source of
    their first place, `by_source` the occurrences; if None, the sources with the most classes are chosen.
    """
    classes = tally.result()
    table, count = (classes, "classes") if by_source is None else (by_source, "occurrences")
    if table is None or classes is None:
        return [], 0
    most = table.take(pc.select_k_unstable(table, _SOURCES, [(count, "descending"), ("source", "ascending")]))
    classes_of_most = classes.filter(pc.is_in(classes["source"], most["source"].combine_chunks())).to_pylist()
    first_there = {row["source"]: row["classes"] for row in classes_of_most}
    rows = [
        CountRow(row["source"], row.get("occurrences"), first_there.get(row["source"], 0)) for row in most.to_pylist()
    ]
    return rows, table.num_rows - len(rows)


def _varied(file: TableFile, places: Numbers) -> list[VariedClass]:
    rows = file.take_in_order(places, "urn", "occurrence_count", "spelling_count", "spellings")
    return [
        VariedClass(
            row["urn"],
            row["occurrence_count"],
            row["spelling_count"],
            [(spelling["text"], spelling["count"]) for spelling in row["spellings"][:_SPELLINGS]],
        )
        for row in rows
    ]


def _problems(file: TableFile, figures: _Figures, rulebook: Rulebook) -> list[CountRow]:
    problems = _added_up(
        (code, row["occurrences"], row["classes"])
        for row in _rows(figures.problems)
        for code in row["problem"].split("; ")
    )
    examples = {
        code: [(cut(row["urn"]), _hint(row["urn"], code, rulebook)) for row in file.take_in_order(top.places(), "urn")]
        for code, top in figures.examples.items()
    }
    return [replace(row, examples=examples.get(row.name, [])) for row in problems[:_CODES]]
