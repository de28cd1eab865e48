"""`urnscan diff OLD.parquet NEW.parquet`: show which classes came, went or changed."""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from urnscan.cli.arguments import FAILED, About, Parser, read_record
from urnscan.cli.first_run import prepare
from urnscan.cli.lazy_imports import loading
from urnscan.cli.outputs import check_files, open_outputs, read_layout
from urnscan.cli.shared_options import LAYOUT_OPTIONS, MEMORY, flag, names_of, option
from urnscan.cli.terminal import say, say_counts, say_unregistered, write
from urnscan.display.text import printable

if TYPE_CHECKING:
    import pyarrow as pa


def diff_parser() -> Parser:
    """The parser of `urnscan diff`."""
    parser = Parser(
        About(
            "urnscan diff",
            usages=("urnscan diff OLD NEW [--json | -o FILE] [options]",),
            description="Show which classes came (+), went (-) or changed (~) between two scans, a line for each, in the "
            "order of their names. A class has changed if its counts, its result (valid, problem), its first source or "
            "its spellings have.",
            daily=("-o", "--json", "--force", "--nid", "--not-nid", "-q"),
            examples={
                "show what is new since yesterday": "urnscan diff monday.parquet tuesday.parquet",
                "write the differences as a table": "urnscan diff old.parquet new.parquet -o changes.csv",
            },
            statuses={0: "nothing differs", 1: "some classes differ", **FAILED},
        )
    )
    tables = {
        "old": option(
            "OLD", "classes that urnscan -o or urnscan merge wrote: .parquet, .csv, .tsv or .jsonl, not .xlsx"
        ),
        "new": option("NEW", "the same of another run"),
    }
    chosen = {
        "--nid": names_of(
            "compare only names in these namespaces, or with these prefixes, as in isbn,nbn:de; a * at the end of a prefix "
            "represents any text"
        ),
        "--not-nid": names_of("compare no names in these namespaces, or with these prefixes"),
    }
    output = {
        "--json": flag("print a JSON object for each class, one on each line"),
        "-o --output": option(
            "FILE",
            "write a row for each class that differs, in the format that the name ends in, as urnscan -o does",
            dest="output",
        ),
        **LAYOUT_OPTIONS,
        "--force": flag("replace an output that exists"),
    }
    running = {"--memory": MEMORY, "-q --quiet": flag("no summary")}
    parser.add_group("input", tables)
    parser.add_group("output", output)
    parser.add_group("what is compared", chosen)
    parser.add_group("running", running)
    parser.add_exits()
    return parser


def diff(arguments: argparse.Namespace) -> bool:
    """Run `urnscan diff`: print the differences, or write them to the file of `-o`. Returns whether nothing differs.
    Raises UrnscanError, and OSError if standard output cannot be written.
    """
    began = time.perf_counter()
    with loading():
        from urnscan.results.difference import Difference
        from urnscan.run.options import Options
        from urnscan.tables.printed_lines import json_lines
        from urnscan.tables.schemas import CHANGES
        from urnscan.tables.writers import open_table

    outputs = check_files(arguments.output)
    layout = read_layout(arguments, outputs)
    prepare(arguments)
    options = read_record(Options, arguments)
    say_unregistered(options)
    difference = Difference(arguments.old, arguments.new, outputs, options)
    for remark in difference.remarks():
        say(remark)
    if outputs:
        with contextlib.ExitStack() as stack:
            kinds = {"output": functools.partial(open_table, schema=CHANGES, layout=layout)}
            files = open_outputs(arguments, kinds, stack)
            for rows in difference.rows():
                files.files["output"].write(rows)
            files.commit({})
    else:
        for rows in difference.rows():
            write(json_lines(rows) if arguments.json else "".join(_lines(rows)), sys.stdout)
    if not arguments.quiet:
        parts = [f"{count:,} {change}" for change, count in difference.counts.items()]
        say_counts(parts, time.perf_counter() - began, outputs)
    return not any(difference.counts.values())


def _lines(rows: pa.RecordBatch) -> Iterator[str]:
    from urnscan.results.changed_classes import CAME, CHANGED, WENT

    marks = {CAME: "+", WENT: "-", CHANGED: "~"}
    for row in rows.to_pylist():
        changes = ", ".join("{what} {old} -> {new}".format(**change) for change in row["changes"])
        yield printable(f"{marks[row['change']]} {row['urn']} {changes}".rstrip()) + "\n"
