"""Parquet files of `urnscan -o` and `--occurrences` -> the figures of a report, read in batches of the needed columns.

A first pass over the classes makes the figures and chooses the rows to be shown. Then these rows are read from their
row groups.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from urnscan.arrays.arrow import flags_of, number_array, numbers
from urnscan.errors import FatalError
from urnscan.report.embedded import cut
from urnscan.report.scan import Ends, Kind, Namespace, Problem, Source, Spelling, Summary, Varied
from urnscan.report.tallies import Numbers, Tally, Top
from urnscan.tables.schemas import CLASSES, CLUSTERS, OCCURRENCES, REJECTS

__all__ = ["EMBEDDED", "summarise"]

EMBEDDED = 100_000
"""Classes in the page: the most frequent."""
_VARIED, _SPELLINGS = 12, 12
_NAMESPACES, _SOURCES = 100, 50
_CODES, _EXAMPLES = 50, 3
_ROWS = 1 << 17
_MOST = 1 << 40
"""The largest number that is accepted in a file, so that sums fit in 64 bits."""

_MADE_BY = {
    "classes": (CLASSES, "urnscan -o"),
    "occurrences": (OCCURRENCES, "urnscan --occurrences"),
    "rejects": (REJECTS, "urnscan --rejects"),
    "clusters": (CLUSTERS, "urnscan dedup -o"),
}
"""The tables of urnscan, and the commands that write them."""
_FREQUENT = {
    "urn": "urn",
    "nid": "nid",
    "nid_status": "status",
    "count": "count",
    "source_count": "sources",
    "variant_count": "variants",
    "valid": "valid",
    "problem": "problem",
    "first_source": "first_source",
}
"""Columns of a class that the page has, with the names in the page."""


class _File:
    """A Parquet file with a table of urnscan. All errors are FatalErrors that name the file."""

    def __init__(self, path: str, kind: str) -> None:
        self.path = path
        self._schema, made_by = _MADE_BY[kind]
        with self._as_fatal():
            if Path(path).is_dir():
                raise FatalError(f"{path}: is a folder; name a file in it")
            file = pa.OSFile(os.fsencode(path))
            schema = pq.ParquetFile(file).schema_arrow
            missing = [name for name in self._schema.names if name not in schema.names]
            if missing:
                raise FatalError(
                    f"{path}: {_other(schema, kind) or f'has no column {missing[0]}'}; {made_by} writes {kind}"
                )
            for field in self._schema:
                if schema.names.count(field.name) > 1:
                    raise FatalError(f"{path}: has several columns {field.name}; {made_by} writes {kind}")
                if not _is_like(schema.field(field.name).type, field.type):
                    raise FatalError(
                        f"{path}: the column {field.name} holds {schema.field(field.name).type}, "
                        f"not {_decoded(field.type)}; {made_by} writes {kind}"
                    )
            texts = [field.name for field in self._schema if pa.types.is_string(_decoded(field.type))]
            self._file = pq.ParquetFile(file, read_dictionary=[name for name in texts if name not in ("urn", "text")])
        self.rows: int = self._file.metadata.num_rows

    def batches(self, *names: str, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        """All rows, or those of some row groups, with these columns, in the types of the schema."""
        metadata = self._file.metadata
        expected = self.rows if groups is None else sum(metadata.row_group(group).num_rows for group in groups)
        with self._as_fatal():
            for batch in self._file.iter_batches(_ROWS, row_groups=groups, columns=list(names), use_threads=True):
                batch.validate(full=True)  # of a damaged file, dictionaries and UTF-8 too
                expected -= len(batch)
                yield pa.RecordBatch.from_arrays([self._column(batch, name) for name in names], names=list(names))
            if expected:
                raise FatalError(f"{self.path}: is damaged: it has not as many rows as it says")

    def take(self, places: Numbers, *names: str) -> pa.Table:
        """These rows, given in ascending order, with these columns."""
        found, start = [], 0
        metadata = self._file.metadata
        for group in range(metadata.num_row_groups):
            end = start + metadata.row_group(group).num_rows
            if np.searchsorted(places, end) > np.searchsorted(places, start):
                for batch in self.batches(*names, groups=[group]):
                    within = places[np.searchsorted(places, start) : np.searchsorted(places, start + len(batch))]
                    found.append(pa.Table.from_batches([batch.take(number_array(within - start))]))
                    start += len(batch)
            start = end
        return pa.concat_tables(found).unify_dictionaries() if found else self._schema.empty_table().select(names)

    def settings(self) -> list[tuple[str, str]]:
        """Settings of the run that wrote the file."""
        with contextlib.suppress(KeyError, ValueError, TypeError, AttributeError):
            told = json.loads((self._file.metadata.metadata or {})[b"urnscan"])
            counts = told.pop("counts", {})
            rows = [(str(name).replace("_", " "), _shown(value)) for name, value in told.items()]
            return rows + [
                (str(name), _shown(counts[name])) for name in ("inputs", "failures", "octets") if name in counts
            ]
        return []

    def _column(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        """A column without nulls, unless the schema allows them."""
        column, field = batch.column(name), self._schema.field(name)
        if column.null_count and not field.nullable:
            raise FatalError(f"{self.path}: the column {name} is null somewhere; it is not as urnscan wrote it")
        if pa.types.is_integer(field.type):
            return column.cast(pa.int64())
        if pa.types.is_dictionary(column.type) and not pa.types.is_string(column.type.value_type):
            return column.cast(pa.dictionary(pa.int32(), pa.string()))
        return column

    @contextlib.contextmanager
    def _as_fatal(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise FatalError(f"{self.path}: No such file or directory") from error
        except OSError as error:
            reason = error.strerror or str(error).splitlines()[0]
            raise FatalError(f"{self.path}: cannot be read: {reason}") from error
        except (pa.ArrowException, ValueError) as error:
            reason = (str(error).splitlines() or [""])[0]
            raise FatalError(f"{self.path}: is no Parquet file, or a damaged one: {reason}") from error


@dataclass(slots=True)
class _Totals:
    """Sums over all classes."""

    occurrences: int = 0
    classes: int = 0
    spellings: int = 0
    varied: int = 0


class _Figures(NamedTuple):
    """Figures of the first pass over the classes."""

    namespaces: Tally
    sizes: Tally
    verdicts: Tally
    problems: Tally
    sources: Tally
    varied: Top
    frequent: Top
    examples: dict[str, Top]


def summarise(classes: str, occurrences: str | None = None, *, version: str) -> Summary:
    """Figures of a table of classes, and of its occurrences.

    Raises FatalError if a file is not the expected table, or the two are not of the same run.
    """
    file = _File(classes, "classes")
    places = None if occurrences is None else _File(occurrences, "occurrences")
    figures = _Figures(
        Tally(["nid", "nid_status"], ["occurrences", "classes"]),
        Tally(["size"], ["classes"]),
        Tally(["valid"], ["occurrences", "classes"]),
        Tally(["problem"], ["occurrences", "classes"]),
        Tally(["source"], ["classes"]),
        Top(_VARIED, 2),
        Top(EMBEDDED),
        {},
    )
    totals = _pass_over(file, figures)
    if places is not None and places.rows != totals.occurrences:
        raise FatalError(
            f"{places.path}: holds {places.rows:,} occurrences, and the classes of {classes} are made of "
            f"{totals.occurrences:,}: give the two files that one run wrote"
        )
    namespaces = [Namespace(**row) for row in _rows(figures.namespaces, nid="nid", nid_status="status")]
    found_in, ends = (None, None) if places is None else _occurrences(places)
    sources, more_sources = _sources(figures.sources, found_in)
    return Summary(
        version=version,
        file=classes,
        occurrences=totals.occurrences,
        classes=totals.classes,
        spellings=totals.spellings,
        varied=totals.varied,
        namespaces=namespaces[:_NAMESPACES],
        more_namespaces=len(namespaces[_NAMESPACES:]),
        statuses=_statuses(namespaces),
        sizes={row["size"]: row["classes"] for row in _rows(figures.sizes)},
        most_varied=_varied(file, figures.varied.places()),
        sources=sources,
        more_sources=more_sources,
        ends=ends,
        verdicts=[
            Kind({True: "valid", False: "invalid", None: "unknown"}[row.pop("valid")], **row)
            for row in _rows(figures.verdicts)
        ],
        problems=_problems(file, figures),
        frequent=_frequent(file, figures.frequent.places()),
        settings=file.settings(),
    )


def _pass_over(file: _File, figures: _Figures) -> _Totals:
    """The first pass over the classes; returns their totals."""
    totals = _Totals()
    names = ("nid", "nid_status", "count", "variant_count", "first_source", "valid", "problem")
    for batch in file.batches(*names):
        nid, status, count, variant_count, first_source, valid, problem = batch.columns
        rows, counts, variants = np.arange(len(batch)) + totals.classes, numbers(count), numbers(variant_count)
        for name, number in ("count", counts), ("variant_count", variants):
            if len(batch) and not 1 <= number.min() <= number.max() <= _MOST:
                raise FatalError(
                    f"{file.path}: the column {name} holds what is no count; it is not as urnscan wrote it"
                )
        ones = number_array(np.ones(len(batch), np.int64))
        figures.namespaces.add(nid=nid, nid_status=status, occurrences=count, classes=ones)
        figures.sizes.add(size=count, classes=ones)
        figures.verdicts.add(valid=valid, occurrences=count, classes=ones)
        figures.sources.add(source=first_source, classes=ones)
        known = np.flatnonzero(flags_of(problem.is_valid()))
        if len(known):
            wrong = number_array(known)
            figures.problems.add(problem=problem.take(wrong), occurrences=count.take(wrong), classes=ones.take(wrong))
            _look_for_examples(problem.take(wrong), rows[known], counts[known], figures.examples)
        several = variants > 1
        figures.varied.add(rows[several], variants[several], counts[several])
        figures.frequent.add(rows, counts)
        totals.occurrences += int(counts.sum())
        totals.classes += len(batch)
        totals.spellings += int(variants.sum())
        totals.varied += int(several.sum())
    return totals


def _look_for_examples(problem: pa.Array, rows: Numbers, counts: Numbers, examples: dict[str, Top]) -> None:
    """The most frequent classes with each code, of rows that have some."""
    problem = problem.dictionary_encode() if pa.types.is_string(problem.type) else problem
    indices = numbers(problem.indices)
    having: dict[str, list[int]] = {}
    for place, codes in enumerate(problem.dictionary.to_pylist()):
        for code in codes.split("; "):
            having.setdefault(code, []).append(place)
    for code, places in having.items():
        if code in examples or len(examples) < _CODES:
            of_it = np.isin(indices, places)
            examples.setdefault(code, Top(_EXAMPLES)).add(rows[of_it], counts[of_it])


def _rows(tally: Tally, **names: str) -> list[dict[str, Any]]:
    """The rows of a tally, the greatest first, with other names for some columns."""
    table = tally.result()
    if table is None:
        return []
    sums = [name for name in table.column_names if name in ("occurrences", "classes")]
    keys = [name for name in table.column_names if name not in sums]
    table = table.sort_by([(name, "descending") for name in sums] + [(name, "ascending") for name in keys])
    return table.rename_columns([names.get(name, name) for name in table.column_names]).to_pylist()  # type: ignore[no-any-return]


def _statuses(namespaces: Sequence[Namespace]) -> list[Kind]:
    """Namespaces added up by what the registry says of them."""
    sums: dict[str, tuple[int, int]] = {}
    for each in namespaces:
        occurrences, classes = sums.get(each.status, (0, 0))
        sums[each.status] = occurrences + each.occurrences, classes + each.classes
    return sorted((Kind(name, *both) for name, both in sums.items()), key=lambda kind: (-kind.occurrences, kind.name))


def _occurrences(file: _File) -> tuple[pa.Table | None, Ends]:
    """The occurrences of each source, and where they ended."""
    sources, stops, trailing = (Tally([name], ["occurrences"]) for name in ("source", "stop", "trailing"))
    for batch in file.batches("source", "stop", "trailing"):
        ones = number_array(np.ones(len(batch), np.int64))
        for name, tally in ("source", sources), ("stop", stops), ("trailing", trailing):
            tally.add(**{name: batch.column(name)}, occurrences=ones)
    ends = [
        {row[name]: row["occurrences"] for row in _rows(tally)}
        for name, tally in (("stop", stops), ("trailing", trailing))
    ]
    return sources.result(), Ends(*ends)


def _sources(first_found: Tally, found_in: pa.Table | None) -> tuple[list[Source], int]:
    """The sources with the most, and how many others there are."""
    first = first_found.result()
    table, by = (first, "classes") if found_in is None else (found_in, "occurrences")
    if table is None or first is None:
        return [], 0
    most = table.take(pc.select_k_unstable(table, _SOURCES, [(by, "descending"), ("source", "ascending")]))
    classes = first.filter(pc.is_in(first["source"], most["source"].combine_chunks())).to_pylist()
    having = {row["source"]: row["classes"] for row in classes}
    found = [Source(row["source"], row.get("occurrences"), having.get(row["source"], 0)) for row in most.to_pylist()]
    return found, table.num_rows - len(found)


def _varied(file: _File, places: Numbers) -> list[Varied]:
    """The classes with the most spellings."""
    return [
        Varied(
            row["urn"],
            row["count"],
            row["variant_count"],
            [Spelling(each["text"], each["count"]) for each in row["variants"][:_SPELLINGS]],
        )
        for row in _in_order(file, places, "urn", "count", "variant_count", "variants")
    ]


def _problems(file: _File, figures: _Figures) -> list[Problem]:
    """The codes of problems, each with its most frequent classes."""
    sums: dict[str, tuple[int, int]] = {}
    for row in _rows(figures.problems):
        for code in row["problem"].split("; "):
            occurrences, classes = sums.get(code, (0, 0))
            sums[code] = occurrences + row["occurrences"], classes + row["classes"]
    ordered = sorted(sums.items(), key=lambda item: (*(-number for number in item[1]), item[0]))[:_CODES]
    examples = {
        code: [cut(row["urn"]) for row in _in_order(file, top.places(), "urn")]
        for code, top in figures.examples.items()
    }
    return [Problem(code, *both, examples.get(code, [])) for code, both in ordered]


def _frequent(file: _File, places: Numbers) -> Mapping[str, Sequence[Any]]:
    """The most frequent classes, in the order of their names, in columns."""
    table = file.take(np.sort(places), *_FREQUENT)
    return {shown: table.column(name).to_pylist() for name, shown in _FREQUENT.items()}


def _in_order(file: _File, places: Numbers, *names: str) -> list[dict[str, Any]]:
    """These rows, in this order."""
    rows = file.take(np.sort(places), *names).to_pylist()
    return [rows[place] for place in np.argsort(np.argsort(places))]


def _other(schema: pa.Schema, kind: str) -> str:
    """Name the urnscan table that this schema matches, if it is another than `kind`."""
    for name, (ours, made_by) in _MADE_BY.items():
        if name != kind and set(ours.names) <= set(schema.names):
            return f"holds {name} ({made_by}), not {kind}"
    return ""


def _decoded(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_like(found: pa.DataType, expected: pa.DataType) -> bool:
    """Whether a column can be read as `expected`: other writers keep numbers and strings in other widths."""
    found, expected = _decoded(found), _decoded(expected)
    if pa.types.is_string(expected):
        return bool(pa.types.is_string(found) or pa.types.is_large_string(found))
    if pa.types.is_integer(expected):
        return bool(pa.types.is_integer(found))
    if pa.types.is_list(expected):
        return (
            bool(pa.types.is_list(found) or pa.types.is_large_list(found))
            and pa.types.is_struct(found.value_type)
            and all(
                found.value_type.get_field_index(field.name) >= 0
                and _is_like(found.value_type.field(field.name).type, field.type)
                for field in expected.value_type
            )
        )
    return bool(found == expected)


def _shown(value: object) -> str:
    """A setting in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    return f"{value:,}" if isinstance(value, int) else str(value)
