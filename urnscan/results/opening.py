"""Names of files and folders -> tables of finished runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from urnscan.errors import FatalError, SourceError
from urnscan.inputs.arguments import find_listed
from urnscan.inputs.selection import Selection
from urnscan.stores.input import one_by_one
from urnscan.stores.urls import is_remote, local_path, real_place, without_secrets
from urnscan.tables.editions import EDITION
from urnscan.tables.readers import TableFile

_PARQUET = Selection(include=("*.parquet", "*.parq", "*.pq"))
_COUNTS = "counts"


def open_tables(named: Sequence[str], outputs: Sequence[str], *kinds: str) -> list[TableFile]:
    """The tables in the files that are named, in this order; in folders, and for patterns, those of Parquet files below.

    All are of the same kind, one of `kinds`. Raises FatalError if one cannot be read or is no such table, for one that is
    named twice or is an output, and if there is none.
    """
    tables: list[TableFile] = []
    places = {real_place(output): output for output in outputs}
    met: set[str] = set()
    for path in _paths(named):
        place = real_place(path)
        if place in places:
            raise FatalError(f"{path}: is an input; name another output")
        if place in met:
            raise FatalError(f"{path}: is named twice; its rows would count twice")
        met.add(place)
        tables.append(TableFile(path, *kinds))
        _check_edition(tables[-1])
        if (kind := tables[-1].kind) != tables[0].kind:
            raise FatalError(f"{path}: holds {kind}, and {tables[0].path} {tables[0].kind}: name tables of one kind")
    if not tables:
        raise FatalError(f"{', '.join(named)}: holds no Parquet file")
    return tables


def differing_options(tables: Sequence[TableFile]) -> Iterator[str]:
    """The options that differ in neighbouring tables, with their values and files.

    All that the metadata say counts, but for the counts. No value is the same as an empty one.
    """
    for one, other in pairwise(tables):
        before, after = one.metadata(), other.metadata()
        for name in before | after:
            if name != _COUNTS and (before.get(name) or None) != (after.get(name) or None):
                yield (
                    f"{name.replace('_', '-')} is {_shown(before.get(name))} in {one.path}, "
                    f"and {_shown(after.get(name))} in {other.path}"
                )


def added_counts(tables: Sequence[TableFile]) -> dict[str, int | None]:
    """The counts of all runs, added up; None where one of them did not count. Raises FatalError."""
    told: list[dict[str, int | None]] = []
    for table in tables:
        counts = table.metadata().get(_COUNTS)
        if not isinstance(counts, dict) or any(type(count) not in (int, type(None)) for count in counts.values()):
            raise FatalError(f"{table.path}: its metadata have no counts of a run; scan again")
        told.append(counts)
    sums: dict[str, int | None] = {}
    for name in dict.fromkeys(name for counts in told for name in counts):
        known = [count for counts in told if (count := counts.get(name)) is not None]
        sums[name] = sum(known) if len(known) == len(told) else None
    return sums


def _paths(named: Sequence[str]) -> Iterator[str]:
    """Paths of files. Raises FatalError."""
    for name in named:
        if name == "-" or is_remote(name):
            what = "standard input cannot be read here" if name == "-" else "copy it here first"
            raise FatalError(f"{without_secrets(name)}: {what}; name files on this machine")
        for found in one_by_one(find_listed([local_path(name)], _PARQUET)):
            if isinstance(found, SourceError):
                raise FatalError(str(found)) from found
            yield found.path or found.name


def _check_edition(table: TableFile) -> None:
    """Raise FatalError if a table is of another edition, or does not say what run it is of."""
    said = table.metadata()
    if not said:
        raise FatalError(
            f"{table.path}: does not say which options its run had (another program, or Spark, wrote it); scan again"
        )
    if said.get("schema") != EDITION:
        raise FatalError(
            f"{table.path}: is of edition {said.get('schema', 1)} of the tables, not {EDITION}; scan again"
        )


def _shown(value: object) -> str:
    """A value of an option in a message."""
    if isinstance(value, list):
        return ",".join(map(str, value)) or "not given"
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not given" if value is None else str(value)
