"""Scans from Python, with the results in memory."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.display.text import (
    counted,
    hints,
    html_counts,
    html_failures,
    html_paragraphs,
    html_table,
    others_left_out,
    printable,
)
from urnscan.errors import ArgumentError, checks_options, count_of, option
from urnscan.inputs.cdx import STANDARD_INPUT, read_index
from urnscan.library.context import Context, Scanned, read_context
from urnscan.library.shared import LISTS_REJECTS, as_frame, as_polars, as_table, watched
from urnscan.pool import Pool
from urnscan.run.options import Named, Options, local_name, named_inputs, read_options
from urnscan.run.pipeline import Outputs, Report, run
from urnscan.run.tasks import Argument, plan_size
from urnscan.scanner.grammar import ResolverTail
from urnscan.scanner.views.kinds import ViewName
from urnscan.tables.output_file import check_outputs, commit_all
from urnscan.tables.parquet_writer import ParquetOutput
from urnscan.tables.plain_output import PageOutput, form_of
from urnscan.tables.rows import coded_rows
from urnscan.tables.schemas import CLASSES, OCCURRENCES, REJECTS, WRITTEN
from urnscan.tables.writers import open_table
from urnscan.urn.equivalence import LevelName
from urnscan.urn.namespaces.own import Rules
from urnscan.urn.parser import URN
from urnscan.urn.syntax import SyntaxName
from urnscan.version import __version__

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

TableName = Literal["classes", "occurrences", "rejects"]
"""Name of a table of a `Scan`."""

# Maximum number of classes that a notebook shows, and that are shown as text.
_SHOWN = 20
_PRINTED = 10
_SEPARATED = (".csv", ".tsv")


@dataclass(frozen=True, eq=False)
class Scan:
    """Result of `scan`: tables and counts. `print` shows the counts and the most frequent classes, a notebook a table
    of classes.

    `len()` of a Scan is the number of classes.
    """

    classes: pa.Table = field(repr=False)
    """One row per class (all URNs with the same canonical form), sorted by `urn`. Columns as in `urnscan -o`."""
    occurrences: pa.Table = field(repr=False)
    """One row per occurrence, in the order of the inputs, then by `start`. Columns as in `urnscan --occurrences`. Empty
    in a result of `merge_partial`.
    """
    report: Report
    """Counts, failures and notes."""
    rejects: pa.Table | None = field(default=None, repr=False)
    """One row per reject, in the order of the inputs, then by `start`: a text that is nearly a URN, or a URN that is
    followed by text that looks like a part of it. None if the scan was not called with `rejects=True`.
    """
    inputs: tuple[str, ...] = field(default=(), repr=False)
    """The arguments that name the inputs of the scan: paths, globs, URLs, `-`."""
    cdx: str | None = field(default=None, repr=False)
    """The path of the index of records of web archives, or None if the scan had no index."""
    options: Options = field(default_factory=Options, repr=False)
    """The options of the scan."""

    @checks_options
    def to_pandas(self, table: TableName = "classes") -> pd.DataFrame:
        """Convert a table of the scan to a pandas frame, with the values and types that `pandas.read_parquet` reads
        from the file of `to_parquet`.

        `table` is "classes", "occurrences" or "rejects". Integers and flags that may be null have nullable types of
        pandas (`Int16`, `boolean`), so `~frame.valid` works. The metadata of the run are in `frame.attrs["urnscan"]`.
        Raises ArgumentError for another name of a table, and for "rejects" if `rejects` is None.
        """
        return as_frame(self._table(table))

    @checks_options
    def to_polars(self, table: TableName = "classes") -> pl.DataFrame:
        """Convert a table of the scan ("classes", "occurrences" or "rejects") to a frame of Polars. Columns of text are
        strings, never categorical.

        Raises ImportError if Polars is not installed; ArgumentError for another name of a table, and for "rejects" if
        `rejects` is None.
        """
        return as_polars(self._table(table))

    @checks_options
    def to_parquet(
        self,
        classes: str | os.PathLike[str] | None = None,
        *,
        occurrences: str | os.PathLike[str] | None = None,
        rejects: str | os.PathLike[str] | None = None,
        force: bool = False,
    ) -> None:
        """Write tables to Parquet files, the same that the command writes with `-o`, `--occurrences`, `--rejects`. Each
        argument is the path of a table; a table without a path is not written.

        No file appears before all are complete; with `force`, existing files are replaced. Raises FatalError if a file
        cannot be written or, without `force`, exists already, and if two paths are the same; SourceError for an invalid
        URL; ArgumentError if there is no path, and for `rejects` if the scan was made without `rejects=True`.
        """
        self._write({"classes": classes, "occurrences": occurrences, "rejects": rejects}, ParquetOutput, force=force)

    @checks_options
    def to_csv(
        self,
        classes: str | os.PathLike[str] | None = None,
        *,
        occurrences: str | os.PathLike[str] | None = None,
        rejects: str | os.PathLike[str] | None = None,
        force: bool = False,
    ) -> None:
        """Write tables to CSV files, the same that the command writes: in UTF-8 with a byte order mark, lists as JSON.
        Each argument is the path of a table; a table without a path is not written.

        A path must end in .csv or, for tabs instead of commas, in .tsv; with .gz, .bz2, .zst or .lz4 after that, the
        file is compressed. No file appears before all are complete; with `force`, existing files are replaced. Raises
        FatalError if a file cannot be written or, without `force`, exists already, and if two paths are the same;
        SourceError for an invalid URL; ArgumentError for another suffix, if there is no path, and for `rejects` if the
        scan was made without `rejects=True`.
        """
        paths = {"classes": classes, "occurrences": occurrences, "rejects": rejects}
        for path in paths.values():
            if path is not None and form_of(name := local_name(path))[0] not in _SEPARATED:
                raise ArgumentError(f"{name}: unknown suffix; use {' or '.join(_SEPARATED)}")
        self._write(paths, open_table, force=force)

    @checks_options
    def to_html(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the page of `urnscan report`: an HTML file with a table of classes in which a reader can search.

        `path` is a file that ends in .html, .htm or .xhtml, perhaps with the suffix of a compression, or has no suffix.
        With `force`, an existing file is replaced. Raises FatalError for another suffix, if the file cannot be written
        or, without `force`, exists already.
        """
        from urnscan.report.figures import summarise  # noqa: PLC0415 (a scan does not need it)
        from urnscan.report.scan_page import render  # noqa: PLC0415

        with PageOutput(local_name(path), force=force) as page, tempfile.TemporaryDirectory() as folder:
            classes, occurrences = (f"{folder}/{name}.parquet" for name in ("classes", "occurrences"))
            self.to_parquet(classes, occurrences=occurrences)
            rulebook = self.options.level.rulebook
            summary = summarise(classes, occurrences, version=__version__, rulebook=rulebook)
            page.write(render(replace(summary, file="Scan.classes")).encode())
            page.commit()

    @checks_options
    def context(
        self, urn: str | URN, width: int = 60, *, limit: int | None = 100, progress: bool | None = None
    ) -> Context:
        """Return the occurrences of a class (of all URNs with the same canonical form) with the text around each, like
        a keyword in a concordance.

        `urn` is any spelling of the class. `width` is the number of characters on each side, up to 10,000. `limit` is
        the maximum number of occurrences; None: all; `more` of the result counts the rest. `progress`: whether to show
        a bar; None: in interactive sessions.
        The inputs with these occurrences are read again. If an input cannot be read again, such as standard input, or
        has changed, `failures` of the result reports how many occurrences are missing.
        Raises InvalidURN if `urn` is not a URN in the syntax of the scan; ArgumentError, a ValueError, if the scan did
        not find the class, or if a number is out of range; FatalError if the index `cdx` cannot be read.
        """
        scanned = Scanned(_arguments(self.inputs, self.cdx, self.options), self.options, self.occurrences)
        return read_context(scanned, urn, width, limit, progress)

    def _write(
        self, arguments: Mapping[str, str | os.PathLike[str] | None], opened: Callable[..., Any], *, force: bool
    ) -> None:
        """Write the tables that have a path in `arguments` (name of a table -> path or None). `opened` opens the output
        of a path (`ParquetOutput`). No file appears before all are written.
        """
        paths = {name: local_name(path) for name, path in arguments.items() if path is not None}
        if not paths:
            raise ArgumentError("name a file for the classes, the occurrences or the rejects")
        tables = {name: self._table(name) for name in paths}
        check_outputs(*paths.values())
        metadata = self.report.metadata(self.options)
        with contextlib.ExitStack() as stack:
            pool = stack.enter_context(Pool(self.options.jobs))
            files = [
                stack.enter_context(opened(path, **WRITTEN[name], force=force, pool=pool))
                for name, path in paths.items()
            ]
            for name, file in zip(paths, files, strict=True):
                for batch in tables[name].to_batches():
                    file.write(coded_rows(batch) if name == "classes" else batch)
            commit_all(files, metadata)

    def _table(self, name: str) -> pa.Table:
        if name not in WRITTEN:
            raise ArgumentError(f"table is {', '.join(WRITTEN)}, not {name!r}")
        table = getattr(self, name)
        if table is None:
            raise ArgumentError(f"the scan was not asked for rejects: {LISTS_REJECTS}")
        return table

    def __len__(self) -> int:
        return len(self.classes)

    def __repr__(self) -> str:
        rows = self._most_frequent(["occurrence_count", "urn"], _PRINTED).to_pylist()
        lines = [", ".join(self._counts()), *(f"{row['occurrence_count']:>9,}  {row['urn']}" for row in rows)]
        if len(rows) < len(self):
            lines.append(f"and {counted(len(self) - len(rows), 'other class', 'other classes')}")
        failures, notes = ((count_of(each), each) for each in (self.report.failures, self.report.notes))
        for (count, errors), one in ((failures, "failure"), (notes, "note")):
            if count:
                lines.append(f"{counted(count, one)}: {errors[0]}{', ...' if count > 1 else ''}")
        return "\n".join(map(printable, [*lines, *self._hints()]))

    def _repr_html_(self) -> str:
        top = self._most_frequent(
            ["urn", "nid", "nid_status", "occurrence_count", "source_count", "spelling_count"], _SHOWN
        )
        table = html_table(top.column_names, [tuple(row.values()) for row in top.to_pylist()]) if len(top) else ""
        more = f"<p>the {_SHOWN} most frequent of {len(self):,}</p>" if len(top) < len(self) else ""
        below = html_paragraphs(self._hints()) + html_failures(self.report.failures, self.report.notes)
        return html_counts(*self._counts()) + table + more + below

    def _counts(self) -> list[str]:
        return [
            counted(self.report.occurrences, "occurrence"),
            counted(len(self), "class", "classes"),
            counted(self.report.inputs, "input"),
            *others_left_out(self.report.left_out),
        ]

    def _hints(self) -> list[str]:
        counts = {"untrimmed": self.report.untrimmed, "joinable": self.report.joinable}
        return hints(self.report, option, LISTS_REJECTS, **counts, has_rejects=self.rejects is not None)

    def _most_frequent(self, columns: list[str], most: int) -> pa.Table:
        order = pc.sort_indices(self.classes, [("occurrence_count", "descending"), ("urn", "ascending")])
        return self.classes.select(columns).take(order[:most])


@checks_options
def scan(
    *inputs: Named,
    cdx: str | os.PathLike[str] | None = None,
    rejects: bool = False,
    progress: bool | None = None,
    syntax: SyntaxName = "rfc2141",
    equivalence: LevelName = "lexical",
    trim: bool = False,
    recover: ViewName | Iterable[ViewName] = (),
    resolver_tail: ResolverTail = "keep",
    max_length: int = 65_536,
    nid: str | Iterable[str] = (),
    not_nid: str | Iterable[str] = (),
    rules: Rules = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    follow: bool = False,
    encoding: str | None = None,
    column: str | Iterable[str] = (),
    where: str | None = None,
    filters: str | Iterable[str] = (),
    filter_timeout: int = 600,
    max_ratio: int = 1_000,
    max_size: int | str = 10**13,
    max_depth: int = 8,
    max_members: int = 10**7,
    jobs: int | None = None,
    memory: int | str = 10**9,
    strict: bool = False,
) -> Scan:
    """Scan files, folders, globs, URLs or standard input (`-`), with the results in memory.

    Several inputs are several arguments, or lists. `~` is the home folder.
    `cdx` is an index of records of web archives (CDXJ, CDX, CSV or Parquet): only these records are read. Then there is
    one input, the folder or URL with the files that the index names.
    `rejects`: whether to collect texts that are nearly URNs, and URNs that end badly, in the table `rejects`.
    `progress`: whether to show a bar; None: in interactive sessions (a notebook, Python on a terminal), after half a
    second.
    The other parameters are the fields of `Options`, with the names and meanings of the command's options. `max_length`
    is in bytes; `max_size` and `memory` are in bytes, or texts such as "500MB"; `filter_timeout` is in seconds. `jobs`
    is the number of threads; None: the number of cores. `syntax` is rfc2141, rfc8141 or rfc2141bis-03; `equivalence` is
    lexical, resolution or namespace; `recover` is one or several of percent, entities, escapes, wraps, labels, bare and
    markup, or all; `resolver_tail` is keep or cut.
    Returns a `Scan` with the tables and the counts. Failures of inputs are in `report.failures`; remarks, for example
    that an input was scanned as raw bytes, are in `report.notes`. All tables are in memory: for very large inputs use
    the command.
    Raises FatalError if no input could be read, if the index, a file of rules or a list of filters cannot be read, for
    an unknown `encoding`, or, with `strict`, if any input fails; ArgumentError (a ValueError and a TypeError) for other
    invalid options.

    >>> from urnscan import samples, scan
    >>> result = scan(samples() / "prose.txt", trim=True)
    >>> result.report.occurrences, result.report.classes
    (21, 17)
    >>> result.to_pandas().nlargest(1, "occurrence_count")[["urn", "occurrence_count"]].to_dict("records")
    [{'urn': 'urn:nbn:de:gbv:999-diss-22916', 'occurrence_count': 3}]
    """
    (options,) = read_options(locals(), Options)
    paths = named_inputs(inputs)
    index = None if cdx is None else local_name(cdx)
    arguments = _arguments(paths, index, options)
    occurrence_rows: list[pa.RecordBatch] = []
    class_rows: list[pa.RecordBatch] = []
    reject_rows: list[pa.RecordBatch] = []
    outputs = Outputs(
        occurrences=occurrence_rows.append,
        classes=class_rows.append,
        rejects=reject_rows.append if rejects else None,
    )
    with watched(progress, "scanning", lambda: plan_size(arguments, options)) as shown:
        report = run(arguments, options, outputs, shown)
    metadata = report.metadata(options)
    return Scan(
        classes=as_table(class_rows, CLASSES, metadata),
        occurrences=as_table(occurrence_rows, OCCURRENCES, metadata),
        report=report,
        rejects=as_table(reject_rows, REJECTS, metadata) if rejects else None,
        inputs=paths,
        cdx=index,
        options=options,
    )


def _arguments(paths: tuple[str, ...], cdx: str | None, options: Options) -> tuple[Argument, ...]:
    """The paths or, with `cdx` (path of an index of web archives), the index, which is read now."""
    if cdx is None:
        return paths
    if len(paths) != 1 or paths == ("-",):
        raise ArgumentError("cdx needs exactly one input; name the folder or URL of the files that the index lists")
    if cdx == STANDARD_INPUT:
        raise ArgumentError("cdx cannot be standard input; name a file")
    return (read_index(cdx, paths[0], options.reading.limits),)
