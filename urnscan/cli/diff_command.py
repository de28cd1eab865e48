"""`urnscan diff OLD.parquet NEW.parquet`: tell which classes, or which records, came, went or changed."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from urnscan.cli.arguments import FAILED, About, Parser, read_record
from urnscan.cli.first_run import prepare
from urnscan.cli.heavy import loading
from urnscan.cli.outputs import check_files
from urnscan.cli.shared_options import MEMORY, flag, names_of, option
from urnscan.cli.terminal import say, say_counts, say_unregistered, write
from urnscan.display.text import printable

if TYPE_CHECKING:
    import pyarrow as pa


def diff_parser() -> Parser:
    """The parser of `urnscan diff`."""
    parser = Parser(
        About(
            "urnscan diff",
            usages=("urnscan diff OLD.parquet NEW.parquet [--json | -o FILE] [options]",),
            description="Tell which classes came (+), went (-) or changed (~) between two scans, a line for each, in the "
            "order of their names. A class has changed if its counts, its verdict (valid, problem), its first source or "
            "its spellings have. Of two runs of urnscan dedup, tell which records did: a record has changed if it is now "
            "kept, removed or held apart, if it is removed for another record, or if its URNs or keys are others.",
            examples={
                "show what is new since yesterday": "urnscan diff monday.parquet tuesday.parquet",
                "write the differences as a table": "urnscan diff old.parquet new.parquet -o changes.csv",
                "compare two runs of urnscan dedup": "urnscan diff clusters-old.parquet clusters-new.parquet",
            },
            statuses={0: "nothing differs", 1: "some classes or records differ", **FAILED},
        )
    )
    tables = {
        "old": option(
            "OLD.parquet", "classes that urnscan -o wrote, or urnscan merge; or clusters of urnscan dedup -o"
        ),
        "new": option("NEW.parquet", "the same of another run"),
    }
    chosen = {
        "--nid": names_of(
            "compare only names in these namespaces, or with these beginnings, as in isbn,nbn:de; a * at the end of one "
            "stands for anything"
        ),
        "--not-nid": names_of("compare no names in these namespaces, or with these beginnings"),
    }
    output = {
        "--json": flag("print a JSON object for each class or record, one on each line"),
        "-o --output": option(
            "FILE",
            "write a row for each class or record that differs, in the format that the name ends in, as urnscan -o does",
            dest="output",
        ),
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
    """Compare the tables; returns whether nothing differs. Raises UrnscanError and OSError."""
    began = time.perf_counter()
    with loading():
        from urnscan.output.lines import json_lines
        from urnscan.output.tables import open_table
        from urnscan.results.difference import Difference
        from urnscan.run.options import Options

    outputs = check_files(arguments.output)
    prepare(arguments)
    options = read_record(Options, arguments)
    say_unregistered(arguments, options)
    difference = Difference(arguments.old, arguments.new, outputs, options)
    for remark in difference.remarks():
        say(remark)
    with contextlib.ExitStack() as stack:
        if outputs:
            file: Any = stack.enter_context(open_table(outputs[0], difference.schema, force=arguments.force))
            for rows in difference.rows(file.folder):
                file.write(rows)
            file.commit()
        else:
            for rows in difference.rows():
                write(json_lines(rows) if arguments.json else "".join(_lines(rows)), sys.stdout)
    if not arguments.quiet:
        parts = [f"{count:,} {change}" for change, count in difference.counts.items()]
        say_counts(parts, time.perf_counter() - began, outputs)
    return not any(difference.counts.values())


def _lines(rows: pa.RecordBatch) -> Iterator[str]:
    """The lines for people of CHANGES and CHANGED_RECORDS rows.

    `~ urn:foo:a occurrence_count 3 -> 4, source_count 1 -> 2`, and of a record that came `+ a.csv:7 decision alone`.
    """
    from urnscan.results.changed_records import record_names
    from urnscan.results.changes import CAME, CHANGED, WENT

    is_of_classes = "urn" in rows.schema.names
    names = rows.column("urn") if is_of_classes else record_names(rows)
    shown = {CAME: ("+", "{what} {new}"), WENT: ("-", "{what} {old}"), CHANGED: ("~", "{what} {old} -> {new}")}
    for name, row in zip(names.to_pylist(), rows.select(["change", "changes"]).to_pylist(), strict=True):
        mark, change = shown[row["change"]]
        said = ", ".join(change.format(**each) for each in row["changes"])
        yield printable(f"{mark} {name} {said}".rstrip()) + "\n"
