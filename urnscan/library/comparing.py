"""Comparison from Python: the differences between the tables of two runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from urnscan.errors import checks_options
from urnscan.results.difference import Difference
from urnscan.run.options import Options, local_name, read_options
from urnscan.tables.output_file import check_outputs
from urnscan.tables.schemas import CHANGES
from urnscan.tables.writers import open_table

__all__ = ["DiffReport", "diff"]


@dataclass
class DiffReport:
    """The differences between two tables of classes (a class: a row for all URNs with the same canonical form): counts,
    and the rows, if no file has them.
    """

    came: int = 0
    """Number of classes that only the new table has."""
    went: int = 0
    """Number of classes that only the old table has."""
    changed: int = 0
    """Number of classes that both tables have, with a different value in some column."""
    remarks: list[str] = field(default_factory=list)
    """A message for each option that differs between the two runs, and for each table that does not say its options;
    empty if there is none.
    """
    table: pa.Table | None = None
    """The rows of the difference, one for each class counted above, with the column `change`; None if they were written
    to a file.
    """


@checks_options
def diff(
    old: str | os.PathLike[str],
    new: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    nid: str | Iterable[str] = (),
    not_nid: str | Iterable[str] = (),
    force: bool = False,
    memory: int | str = 10**9,
) -> DiffReport:
    """Compare two tables of classes, which are files that scans wrote, as `urnscan diff` does.

    `output` gets a row for each class that differs, in the format of its suffix (.parquet, .xlsx, .csv, .tsv, .jsonl);
    with `force`, an existing file is replaced. Without `output`, the rows are in `table` of the result, in memory.
    `nid` and `not_nid` are namespaces or prefixes of names, such as "nbn:de": only classes in `nid`, and none in
    `not_nid`, are compared. `memory` is in bytes, also as text such as "500MB".
    Raises FatalError if a table cannot be read or is not a table of classes, or if the output cannot be written or,
    without `force`, exists already; ArgumentError (a ValueError and a TypeError) for invalid options.

    >>> import tempfile
    >>> from urnscan import diff, samples, scan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("prose.txt", "titles.csv"):
    ...         scan(samples() / name, trim=True).to_parquet(f"{folder}/{name}.parquet")
    ...     report = diff(f"{folder}/prose.txt.parquet", f"{folder}/titles.csv.parquet", nid="nbn:de")
    >>> report.came, report.went, report.changed
    (0, 6, 2)
    >>> report.table.column("urn")[0].as_py()
    'urn:nbn:DE:hbz:99-0007312'
    """
    (options,) = read_options(locals(), Options)
    path = None if output is None else local_name(output)
    difference = Difference(local_name(old), local_name(new), check_outputs(path), options)
    table = None
    if path is None:
        table = pa.Table.from_batches(difference.rows(), CHANGES)
    else:
        file: Any
        with open_table(path, CHANGES, force=force) as file:
            for rows in difference.rows():
                file.write(rows)
            file.commit()
    return DiffReport(**difference.counts, remarks=list(difference.remarks()), table=table)
