"""Merging from Python: the tables of several runs become a single file."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from urnscan.errors import ArgumentError, checks_options
from urnscan.pool import Pool
from urnscan.results.merge import Merge, MergeReport
from urnscan.run.options import Named, Options, local_name, named_inputs, read_options
from urnscan.run.pipeline import Outputs
from urnscan.tables.output_file import check_outputs, commit_all
from urnscan.tables.schemas import WRITTEN
from urnscan.tables.writers import open_table

__all__ = ["MergeReport", "merge"]


@checks_options
def merge(
    tables: Named,
    output: str | os.PathLike[str] | None = None,
    *,
    classes: str | os.PathLike[str] | None = None,
    force: bool = False,
    jobs: int | None = None,
    memory: int | str = 10**9,
) -> MergeReport:
    """Merge the tables of several runs to a single file, as `urnscan merge` does: all classes, or all occurrences.

    `tables` are files, folders and globs; their order decides which occurrence is the first. They may also be partial
    results (`urnscan --partial`), from which exact classes are made. `output` is written in the format of its suffix;
    with `force`, an existing file is replaced. If the tables contain occurrences, `output` gets all occurrences, and
    `classes` is the file for their classes, which are exact even if a name has more than 100 spellings. `memory` is in
    bytes, also as text such as "500MB". `jobs` is the number of threads; None: the number of cores.
    Returns counts. `inexact` and `shared` of the result report what may differ from a single run over all inputs.
    Raises FatalError if a table cannot be read, if options of the runs differ, if `classes` is named for tables without
    occurrences, or if an output cannot be written or, without `force`, exists already; ArgumentError (a ValueError and
    a TypeError) if neither `output` nor `classes` is named, and for invalid options.

    >>> import tempfile
    >>> from urnscan import merge, samples, scan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("prose.txt", "titles.csv"):
    ...         scan(samples() / name, trim=True).to_parquet(f"{folder}/{name}.parquet")
    ...     report = merge(folder, f"{folder}/all.parquet")
    >>> report.tables, report.occurrences, report.rows
    (2, 23, 17)
    """
    (options,) = read_options(locals(), Options)
    arguments = {"output": output, "classes": classes}
    paths = {name: local_name(path) for name, path in arguments.items() if path is not None}
    if not paths:
        raise ArgumentError("name a file for the merged table, or for the classes of occurrences")
    outputs = check_outputs(*paths.values())
    merging = Merge(named_inputs([tables]), outputs, memory=options.memory, jobs=options.jobs)
    written = merging.kinds_of(paths)
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(Pool(options.jobs))
        files: dict[str, Any] = {
            name: stack.enter_context(open_table(path, **WRITTEN[name], force=force, pool=pool))
            for name, path in written.items()
        }
        folder = files["classes"].folder if "classes" in files else None
        merging.run(Outputs(**{name: file.write for name, file in files.items()}, spill_folder=folder, pool=pool))
        commit_all(files.values(), merging.metadata)
    return merging.report
