"""`urnscan INPUT...`: find URNs, and print them or write them to Parquet."""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from urnscan.cli.arguments import (
    SUMMARIES,
    USAGE,
    About,
    Parser,
    add_help,
    add_inputs,
    add_meaning,
    add_reading,
    add_running,
    read_inputs,
    read_record,
)
from urnscan.cli.completion import PrintCompletion
from urnscan.cli.heavy import loading
from urnscan.cli.outputs import check_outputs, open_outputs
from urnscan.cli.spark_command import add_engine, spark_command
from urnscan.cli.terminal import say, show_progress, summarise
from urnscan.display.text import CONTROL, printable
from urnscan.errors import FatalError

if TYPE_CHECKING:
    import pyarrow as pa

    from urnscan.cli.outputs import Outputs
    from urnscan.run.options import Options
    from urnscan.run.resume import Shards
    from urnscan.run.tasks import Argument

__all__ = ["scan", "scan_parser"]


_ABOUT = About(
    "urnscan",
    usages=(
        "urnscan INPUT... [-o CLASSES.parquet] [--occurrences FILE] [options]",
        "urnscan COMMAND ...",
    ),
    description="Find URNs in text, group those that are the same, and write them to Parquet. Text may be plain, "
    "compressed, in archives (tar, zip, WARC), in tables (Parquet, Arrow, SQLite), and behind URLs. Without an output, "
    "each occurrence is printed as source:line:text.",
    commands=tuple(SUMMARIES)[1:],
    examples=(
        ("print each URN with its line, as grep -on does", "urnscan dump.xml.gz --trim"),
        (
            "write a row for each class, and a row for each occurrence",
            "urnscan texts/ -o urns.parquet --occurrences places.parquet",
        ),
        (
            "make one class of the ISBN-10 and the ISBN-13 of a book",
            "urnscan texts/ -o books.parquet --equivalence namespace",
        ),
    ),
    statuses={
        0: "done, also with nothing found",
        1: "done, but some inputs failed, each named in one line",
        USAGE: "wrong usage, or nothing could be done",
        130: "interrupted",
    },
    notes=("To read an INPUT that has the name of a command, write ./dedup and so on.",),
)


def scan_parser() -> Parser:
    """The parser of `urnscan INPUT...`."""
    parser = Parser(_ABOUT)
    add_inputs(parser, "INPUT")
    output = parser.add_argument_group("output")
    output.add_argument(
        "-o", dest="classes", metavar="FILE", help="write the equivalence classes to Parquet, a row for each"
    )
    output.add_argument("--occurrences", metavar="FILE", help="write the occurrences to Parquet, a row for each")
    output.add_argument(
        "--rejects", metavar="FILE", help="write texts that begin like a URN, but are none, to Parquet, with the reason"
    )
    output.add_argument("--json", action="store_true", help="print the occurrences as JSON objects, one on each line")
    output.add_argument("--force", action="store_true", help="replace outputs that exist")
    output.add_argument(
        "--resume",
        action="store_true",
        help="continue a run with the same outputs and options that did not end: what it finished is kept beside the first "
        "output (for inputs that are files; after ten seconds, or from the start with this option)",
    )
    add_meaning(parser, scan=True)
    add_reading(parser, columns=True)
    add_running(parser, threads=True)
    add_engine(parser)
    add_help(parser).add_argument(
        "--print-completion",
        metavar="SHELL",
        action=PrintCompletion,
        choices=PrintCompletion.SHELLS,
        help=f"print the completions for a shell and exit: {', '.join(PrintCompletion.SHELLS)}",
    )
    return parser


def scan(arguments: argparse.Namespace) -> bool:
    """Scan as the arguments say; returns whether nothing failed.

    Raises UrnscanError, ValueError, and OSError if standard output cannot be written.
    """
    if arguments.engine == "spark":
        return spark_command(arguments)
    if misplaced := next((name for name in ("master", "errors") if getattr(arguments, name) is not None), None):
        raise FatalError(f"--{misplaced} is for Spark: add --engine spark, or leave it out")
    with loading():
        from urnscan.output.parquet import ParquetOutput  # noqa: PLC0415 (heavy: --help and explain do without)
        from urnscan.run.options import Options  # noqa: PLC0415
        from urnscan.run.pipeline import run  # noqa: PLC0415
        from urnscan.run.tasks import plan_size  # noqa: PLC0415
        from urnscan.tables.schemas import CLASSES, OCCURRENCES, REJECTS, REPEATING, SELECTIVE  # noqa: PLC0415

    inputs = read_inputs(arguments)
    options = read_record(Options, arguments)
    paths = check_outputs(arguments.classes, arguments.occurrences, arguments.rejects)
    _check(arguments, inputs, paths)
    kinds = {
        "classes": functools.partial(ParquetOutput, schema=CLASSES, dictionaries=REPEATING, statistics=SELECTIVE),
        "occurrences": functools.partial(ParquetOutput, schema=OCCURRENCES),
        "rejects": functools.partial(ParquetOutput, schema=REJECTS),
    }
    with contextlib.ExitStack() as stack:
        outputs = open_outputs(arguments, kinds, stack)
        both_on_screen = not paths and sys.stdout.isatty()  # the occurrences would overwrite the bar
        progress = show_progress(
            "scanning",
            lambda: plan_size(inputs, options, paths),
            stack,
            wanted=not (arguments.no_progress or arguments.quiet or both_on_screen),
        )
        shards = _open_shards(arguments, options, outputs, stack) if paths else None
        classes = outputs.files.get("classes")
        report = run(
            inputs,
            options,
            classes=outputs.sink("classes"),
            occurrences=outputs.sink("occurrences") if paths else _printer(arguments.json),
            rejects=outputs.sink("rejects"),
            outputs=paths,
            spill_folder=None if classes is None else classes.folder,
            shards=shards,
            on_failure=progress.on_failure,
            on_progress=progress.on_progress,
            on_grouping=lambda: progress.on_stage("grouping"),
        )
        outputs.commit(report.metadata(options))
        if shards is not None:
            shards.drop()
    if not arguments.quiet:
        summarise(report, options, 0 if shards is None else shards.octets)
    return not report.failures


def _check(arguments: argparse.Namespace, inputs: Sequence[Argument], outputs: Sequence[str]) -> None:
    """Raise FatalError if arguments do not go together."""
    commands = [name.split()[-1] for name in tuple(SUMMARIES)[1:]]
    if misplaced := next((name for name in commands if name in inputs and not os.path.lexists(name)), None):
        raise FatalError(f"{misplaced}: no such file or folder; as a command it comes first: urnscan {misplaced} ...")
    if not outputs and sys.stdout is None:
        raise FatalError("standard output is closed: name an output with -o, --occurrences or --rejects")
    if arguments.resume and not outputs:
        raise FatalError("--resume goes on with an output: name it with -o, --occurrences or --rejects")
    if arguments.json and outputs:
        raise FatalError("--json is for printing: leave it out, or leave out -o, --occurrences and --rejects")


def _open_shards(
    arguments: argparse.Namespace, options: Options, outputs: Outputs, stack: contextlib.ExitStack
) -> Shards:
    """Open what a run keeps beside its first output, for --resume, until the stack is closed. Raises FatalError."""
    from urnscan.run.resume import Shards  # noqa: PLC0415

    first = next(iter(outputs.files.values()))
    meaning = {"tables": list(outputs.files), **options.identity()}
    shards = stack.enter_context(Shards(first.beside, meaning, resume=arguments.resume))
    stack.callback(_tell_kept, shards)
    if arguments.resume and not arguments.quiet and not shards.are_some:
        other = "the earlier run had other options"
        say(f"{other if shards.were_other else 'nothing is kept of an earlier run'}: beginning anew")
    return shards


def _printer(as_json: bool) -> Callable[[pa.RecordBatch], None]:
    """Sink that prints occurrences, as `source:line:text` or as JSON."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    from urnscan.arrays.arrow import octet_strings, text_array  # noqa: PLC0415
    from urnscan.sources import INSIDE  # noqa: PLC0415

    out = sys.stdout.buffer

    def write(*parts: pa.StringArray | str) -> None:
        """Print the columns side by side, a line for each row; a string is the same in each row."""
        columns = [text_array([part])[0] if isinstance(part, str) else part for part in parts]
        octets, _ = octet_strings(pc.binary_join_element_wise(*columns, text_array([""])[0]))
        out.write(octets.data)
        out.flush()

    def each(column: pa.Array, change: Callable[[str], str]) -> pa.StringArray:
        """Apply the function to each string of a column, once for each different string."""
        column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        return text_array([change(text) for text in column.dictionary.to_pylist()]).take(column.indices)

    def as_json_string(text: str) -> str:
        # json.dumps escapes only C0. The other control characters can also change a terminal, or end a line.
        return CONTROL.sub(lambda match: json.dumps(match[0])[1:-1], json.dumps(text, ensure_ascii=False))

    def print_json(rows: pa.RecordBatch) -> None:
        parts: list[pa.StringArray | str] = []
        for name in rows.schema.names:
            column = rows.column(name)
            if name in ("source", "member", "via", "resolver"):
                column = each(column, as_json_string)
            parts += [f'{", " if parts else "{"}"{name}": ']
            if name in ("text", "urn", "nid"):  # a URN contains nothing that JSON escapes
                parts += ['"', column.cast(pa.string()), '"']
            else:
                parts += [column.cast(pa.string()).fill_null(text_array(["null"])[0])]
        write(*parts, "}\n")

    def print_lines(rows: pa.RecordBatch) -> None:
        # Others chose the names of files and members: these must neither end the line nor change the terminal.
        member = each(rows.column("member"), lambda text: INSIDE + printable(text)).fill_null(text_array([""])[0])
        write(
            each(rows.column("source"), printable),
            member,
            ":",
            rows.column("line").cast(pa.string()),
            ":",
            rows.column("text"),
            "\n",
        )

    return print_json if as_json else print_lines


def _tell_kept(shards: Shards) -> None:
    """Print how to continue, if the run ends early and its finished work is kept."""
    if shards.are_kept:
        say("what was finished is kept beside the output: the same command with --resume goes on from there")
