"""Names of files and folders -> tables of finished runs."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from urnscan.errors import ArgumentError, FatalError, SourceError
from urnscan.inputs.arguments import find_listed
from urnscan.inputs.selection import Selection
from urnscan.run.options import Options
from urnscan.stores.input import one_by_one
from urnscan.stores.urls import is_remote, local_path, real_place
from urnscan.tables.editions import MERGED, VERDICT
from urnscan.tables.metadata import OF_FOLDER, OF_PARTIAL
from urnscan.tables.output_file import SHARDS_SUFFIX, shards_folder
from urnscan.tables.plain_output import PARTIAL_SUFFIX
from urnscan.tables.readers import TableFile

_PARQUET = Selection(include=("*.parquet", "*.parq", "*.pq", f"*{PARTIAL_SUFFIX}"))
_COUNTS = "counts"
_EDITION = "schema"
PARTIAL_RESULTS = "partial results"
"""Kind of the files that `urnscan --partial` writes."""


def open_tables(names: Sequence[str], outputs: Sequence[str], *kinds: str, of_runs: bool = True) -> list[TableFile]:
    """Open the tables in the files `names`, and return them in order. A folder means the Parquet files and partial
    results in it, a pattern the files that match. `outputs`: files that the caller will write. `kinds`: kinds of tables
    that are allowed, such as "classes".

    Raises FatalError if a file is not on this machine, cannot be read or is not a table of any of `kinds`, if the
    tables are of several kinds, if a file is named twice or is an output, and if there are no files. With `of_runs`,
    also if a table lacks the options of its run, or is of an edition (version of the columns) that cannot be merged.
    """
    tables: list[TableFile] = []
    output_places = set(map(real_place, outputs))
    seen: set[str] = set()
    for path in _paths(names):
        place = real_place(path)
        if place in output_places:
            raise FatalError(f"{path}: is an input and an output; name another output")
        if place in seen:
            raise FatalError(f"{path}: is named twice; its rows would count twice")
        seen.add(place)
        tables.append(TableFile(path, *kinds))
        if of_runs:
            _check_edition(tables[-1])
        if (kind := tables[-1].kind) != tables[0].kind:
            raise FatalError(
                f"{path}: contains {kind}, but {tables[0].path} contains {tables[0].kind}; name tables of one kind"
            )
    if not tables:
        names_of_work = ", ".join(Path(path).name for path in unfinished(names))
        work = f", but unfinished work of {names_of_work}; continue it with --resume" if names_of_work else ""
        raise FatalError(f"{', '.join(names)}: contains no Parquet file{work}")
    return tables


def differing_options(tables: Sequence[TableFile]) -> Iterator[str]:
    """Yield a message for each option of the run that differs between a table and the next table, with both values and
    files; nothing if all options are the same.

    All entries of the metadata are compared, except the counts and the edition (version of the columns). A missing
    value equals an empty value.
    """
    for table, next_table in pairwise(tables):
        values, next_values = _options_of(table), _options_of(next_table)
        for name in values | next_values:
            if name not in (_COUNTS, _EDITION) and (values.get(name) or None) != (next_values.get(name) or None):
                yield (
                    f"{name.replace('_', '-')} is {_format_value(values.get(name))} in {table.path}, "
                    f"and {_format_value(next_values.get(name))} in {next_table.path}"
                )


def _options_of(table: TableFile) -> dict[str, Any]:
    metadata = table.metadata()
    more: dict[str, Any] = metadata.pop(OF_PARTIAL, {})
    return metadata | more


def options_of_names(table: TableFile) -> Options:
    """Return Options with the `syntax` and `equivalence` of the run that wrote a table, which decide canonical forms
    and whether names are valid; other options have defaults. Only for runs without `--rules`.

    Raises FatalError if the metadata of the table lack these options, or have invalid ones.
    """
    metadata = table.metadata()
    try:
        return Options(**{name: metadata[name] for name in ("syntax", "equivalence")})
    except (ArgumentError, KeyError, TypeError) as error:
        raise FatalError(f"{table.path}: its metadata have no valid options of a run; scan again") from error


def added_counts(tables: Sequence[TableFile]) -> dict[str, int | None]:
    """Add up the counts in the metadata of the tables: returns name of a count -> the sum over all tables, or None if a
    table does not have this count.

    Raises FatalError for a table whose metadata have no counts, or invalid ones.
    """
    counts_of_tables: list[dict[str, int | None]] = []
    for table in tables:
        counts = table.metadata().get(_COUNTS)
        if not isinstance(counts, dict) or any(type(count) not in (int, type(None)) for count in counts.values()):
            raise FatalError(f"{table.path}: its metadata have no counts of a run; scan again")
        counts_of_tables.append(counts)
    sums: dict[str, int | None] = {}
    for name in dict.fromkeys(name for counts in counts_of_tables for name in counts):
        known = [count for counts in counts_of_tables if (count := counts.get(name)) is not None]
        sums[name] = sum(known) if len(known) == len(tables) else None
    return sums


def _paths(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if name == "-" or is_remote(name):
            advice = "standard input cannot be read here" if name == "-" else "copy it here first"
            raise FatalError(f"{name}: {advice}; name files on this machine")
        for entry in one_by_one(find_listed([local_path(name)], _PARQUET)):
            if isinstance(entry, SourceError):
                raise FatalError(str(entry)) from entry
            yield entry.path or entry.name


def unfinished(names: Sequence[str]) -> list[str]:
    """Return the outputs of which an interrupted run is kept for --resume, sorted: those in the folders `names`, those
    that fit the patterns, and those with the names of the files. Only outputs on this machine are looked for. Example:
    `["parts"]` -> `["parts/0001.partial"]`.
    """
    found = set()
    for name in names:
        plain = glob.escape(name) if Path(name).exists() else name
        output = Path(plain, "*") if Path(name).is_dir() else Path(plain)
        for kept in glob.iglob(str(shards_folder(output)), include_hidden=True):
            found.add(str(Path(kept).with_name(Path(kept).name.removeprefix(".").removesuffix(SHARDS_SUFFIX))))
    return sorted(found)


def _check_edition(table: TableFile) -> None:
    """Raise FatalError for a table that cannot be merged: no metadata of a run, an unsuitable edition (version of the
    columns), or a part of a folder that Spark wrote.
    """
    metadata = table.metadata()
    if Path(table.path).with_name(OF_FOLDER).exists():
        raise FatalError(
            f"{table.path}: is a part of a folder that Spark wrote; urnscan.spark.classes merges such folders, from their "
            "occurrences"
        )
    if not metadata:
        raise FatalError(f"{table.path}: lacks the options of its run; scan again, with a name that ends in .parquet")
    if (edition := metadata.get(_EDITION, 1)) not in MERGED:
        editions = " or ".join(map(str, MERGED))
        reason = f"was written by an older or newer urnscan (edition {edition} of the tables, not {editions})"
        raise FatalError(f"{table.path}: {reason}; scan again")
    if table.kind == "occurrences" and metadata.get("rules") and table.lacks(*VERDICT):
        raise FatalError(
            f"{table.path}: has no columns {' and '.join(VERDICT)}, which need the rules of its run (--rules); scan again"
        )
    if table.kind == PARTIAL_RESULTS and not isinstance(metadata.get(OF_PARTIAL), dict):
        raise FatalError(f"{table.path}: its metadata have no options of a partial result; run its job again")


def _format_value(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) or "not given"
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not given" if value is None else str(value)
