"""`urnscan INPUT...`: find URNs, and print them or write them to tables, on this machine or on Apache Spark."""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from urnscan.cli.arguments import FAILED, SUMMARIES, About, Parser, read_inputs, read_record
from urnscan.cli.conflicts import STANDARD_OUTPUT, TABLES, check_rules
from urnscan.cli.first_run import prepare, warm_up
from urnscan.cli.lazy_imports import loading
from urnscan.cli.outputs import check_files, open_outputs, read_layout
from urnscan.cli.printer import OfficeNames, count_by_namespace, open_passages, printers
from urnscan.cli.shared_options import LAYOUT_OPTIONS, flag, option, whole_number
from urnscan.cli.terminal import (
    FailureLines,
    has_terminal,
    print_result,
    say,
    say_no_input,
    say_no_record,
    say_unregistered,
    show_progress,
    summarise,
)
from urnscan.display.addresses import without_secrets
from urnscan.display.text import counted
from urnscan.errors import FatalError

if TYPE_CHECKING:
    from urnscan.cli.outputs import OutputFiles
    from urnscan.run.options import Options
    from urnscan.run.resume import Shards
    from urnscan.run.tasks import Argument


_ABOUT = About(
    "urnscan",
    usages=(
        "urnscan INPUT... [-o CLASSES.parquet] [--occurrences FILE] [options]",
        "urnscan COMMAND ...",
    ),
    description="Find URNs in text, group those that are the same, and write them to Parquet. Text may be plain, "
    "compressed, in archives (tar, zip, WARC), in mail, in PDFs, in tables (Parquet, Arrow, SQLite), and at URLs. Without an output, "
    "each occurrence is printed as source:line:text.",
    commands=tuple(SUMMARIES)[1:],
    examples={
        "print each URN with its line, as grep -on does": "urnscan dump.xml.gz --trim",
        "write a row for each class, and a row for each occurrence": (
            "urnscan texts/ -o urns.parquet --occurrences places.parquet"
        ),
        "make one class of the ISBN-10 and the ISBN-13 of a book": (
            "urnscan texts/ -o books.parquet --equivalence namespace"
        ),
    },
    statuses={
        0: "done, also with nothing found, or with notes",
        1: "done, but some inputs, or parts of them, could not be read: one line names each",
        **FAILED,
    },
    daily=tuple("-o --occurrences --force -u -c --json -t -e -s -n --recover -q".split()),
    notes=("To read an INPUT that has the name of a command, write ./dedup and so on.",),
)


_INDEX = {
    "--cdx": option(
        "FILE",
        "read only the records of web archives that this index names, in the files below INPUT, a folder or a URL: CDXJ, "
        "CDX with a header, or CSV or Parquet with the columns of Common Crawl's index; - is standard input",
        advice="run once for each index, or join them to one file",
    ),
}
_OUTPUT = {
    "-o --output": option(
        "FILE",
        "write the equivalence classes, a row for each, in the format that the name ends in: .parquet, .xlsx (Excel), .csv, .tsv "
        "or .jsonl (the last three also with .gz, .bz2, .zst or .lz4); - is standard output",
        dest="classes",
    ),
    "--partial": option(
        "FILE.partial",
        "write the partial result of a run over some of the inputs: urnscan merge makes, from the partial results of all "
        "runs, the table that one run over all inputs writes with -o",
    ),
    "--occurrences": option("FILE", "write the occurrences, a row for each, as -o does"),
    "--rejects": option(
        "FILE",
        "write texts that begin like a URN and are not one, and URNs that end badly, each with the reason, as -o does",
    ),
    **LAYOUT_OPTIONS,
    "--force": flag("replace outputs that exist, and discard what an interrupted run has kept for --resume"),
    "--resume": flag(
        "continue an interrupted run with the same outputs and options; finished work is kept next to the first output if "
        "a run takes ten seconds or has this option, for URLs only if their server sends ETag or Last-Modified"
    ),
}
_PRINTED = {
    "-u --unique": flag("print each class once, with its count, the most frequent first"),
    "--by": option(
        "WHAT",
        "print totals; nid: a line for each namespace, with its occurrences, classes, invalid classes and sources",
        choices=["nid"],
    ),
    "-c --count": flag(
        "print the number of occurrences in each source, also 0, and the source; sort -rn puts the largest first"
    ),
    "-l --list-sources": flag("print only the sources with an occurrence"),
    "-C --context": option("N", "print N characters on both sides of each occurrence", type=whole_number(0)),
    "--canonical": flag("print the canonical form of each occurrence, by --equivalence, instead of its text"),
    "--json": flag("print the occurrences as JSON objects, one on each line; with an output named -, its rows"),
    "--color": option(
        "WHEN",
        "when to print colours: auto (in a terminal, unless NO_COLOR is set), always or never (default: auto)",
        choices=["auto", "always", "never"],
        default="auto",
    ),
}


_ENGINE = {
    "--engine": option(
        "NAME",
        "where the scan runs: here, on this machine, or spark, on a cluster; the outputs of spark are folders of "
        "Parquet (default: here)",
        choices=["here", "spark"],
        default="here",
    ),
    "--master": option("URL", "the cluster (default: that of spark-submit, or local[*])"),
    "--errors": option("FOLDER", "write what could not be read to Parquet, a row for each failure"),
}


_SHELLS = ("bash", "zsh", "fish")


def scan_parser() -> Parser:
    """The parser of `urnscan INPUT...`."""
    parser = Parser(_ABOUT)
    parser.add_inputs("INPUT", _INDEX)
    parser.add_group("output", _OUTPUT)
    parser.add_group("printing, without an output", _PRINTED)
    parser.add_run()
    parser.add_group("Apache Spark", _ENGINE)
    text = f"print the completions for a shell and exit: {', '.join(_SHELLS)}"
    parser.add_exits(
        {
            "--warm-up": flag(
                "compile for this machine all that any run needs (otherwise the first run does it), print where the "
                "result is kept, and exit"
            ),
            "--print-completion": option("SHELL", text, choices=_SHELLS),
        }
    )
    return parser


def scan(arguments: argparse.Namespace) -> bool:
    """Run `urnscan INPUT...`: a scan here or on Spark. Prints or writes the results, and prints failures and a summary
    on standard error. Returns whether nothing failed. With `--warm-up`, calls `warm_up` instead, and returns its
    result.

    Raises UrnscanError, and OSError if standard output cannot be written.
    """
    if arguments.warm_up:
        return warm_up(arguments)
    with loading():
        options = read_options(arguments)
    inputs = read_inputs(arguments) if arguments.cdx is None else [_read_index(arguments, options)]
    _check_names(inputs)
    check_rules(arguments, inputs)
    if arguments.engine == "spark":
        return _scan_on_spark(arguments, inputs, options)
    with loading():
        from urnscan.pool import Pool
        from urnscan.run.pipeline import Outputs, run
        from urnscan.run.tasks import plan_size
        from urnscan.tables.schemas import WRITTEN
        from urnscan.tables.writers import open_partial, open_table

    say_unregistered(options)
    places = [getattr(arguments, name) for name in TABLES]
    paths = check_files(*(place for place in places if place != STANDARD_OUTPUT))
    layout = read_layout(arguments, (getattr(arguments, name) for name in WRITTEN))
    prepare(arguments)
    passages = open_passages(arguments, inputs, options)

    printed, finish = printers(arguments, passages, lambda lines: print_result(lines, progress))
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(Pool(options.jobs))
        opening = functools.partial(open_table, pool=pool, layout=layout)
        kinds: dict[str, Callable[..., Any]] = {
            "partial": functools.partial(open_partial, reading=options.reading_metadata(), pool=pool),
            **{name: functools.partial(opening, **how) for name, how in WRITTEN.items() if name not in printed},
        }
        files = open_outputs(arguments, kinds, stack)
        is_file_alone = not printed and STANDARD_OUTPUT not in places
        shards = _open_shards(arguments, options, files, stack) if is_file_alone else None
        progress = show_progress(arguments, "scanning", lambda: plan_size(inputs, options, paths), stack)
        sinks = {name: files.sink(name) for name in files.files}
        by_namespace = count_by_namespace(sinks) if has_terminal() and not arguments.quiet else None
        office = None if arguments.quiet or options.nid else OfficeNames()
        folder = files.folder("classes") or files.folder("partial")
        sinks = office.counted_in({**sinks, **printed}) if office else {**sinks, **printed}
        outputs = Outputs(**sinks, paths=paths, spill_folder=folder, shards=shards, pool=pool)
        report = run(inputs, options, outputs, progress)
        finish()
        files.commit(report.metadata(options))
        if shards is not None:
            _close_shards(shards, arguments)
    missed = [] if passages is None else passages.failures()
    for failure in missed:
        say(failure)
    if not arguments.quiet:
        summarise(report, paths, 0 if shards is None else shards.byte_count)
        if office and (hint := office.hint()):
            say(hint)
        for line in by_namespace.summary() if by_namespace else ():
            say(line)
    say_no_input(report, options)
    say_no_record(report, options)
    for line in pool.timings.lines() if arguments.timings else ():
        say(line)
    return not report.failures and not missed


def read_options(arguments: argparse.Namespace) -> Options:
    """The options of a scan, from parsed arguments. Changes `arguments.filters`: the filters of the environment
    (URNSCAN_FILTERS) are added after those of the command line. Raises ArgumentError for an invalid value, FatalError
    for an unknown encoding, and for a file of rules or a list of filters that cannot be read.
    """
    from urnscan.run.options import Options

    arguments.filters = [*arguments.filters, *os.environ.get("URNSCAN_FILTERS", "").splitlines()]
    return read_record(Options, arguments)


def _scan_on_spark(arguments: argparse.Namespace, inputs: Sequence[Argument], options: Options) -> bool:
    """Run a scan on Spark, which writes only folders of Parquet. Return whether nothing failed."""
    tables = (*TABLES, "errors")
    outputs = {name: path for name in tables if (path := getattr(arguments, name)) is not None}
    check_files(*outputs.values())
    with loading():
        from urnscan.spark.job import run, session
        from urnscan.tables.plain_output import form_of
        from urnscan.tables.writers import EXCEL, TEXT_FORMS
    for path in outputs.values():
        if (form := form_of(path)[0]) in (*TEXT_FORMS, EXCEL):
            raise FatalError(f"{path}: --engine spark writes only folders of Parquet; leave out {form}")
    say_unregistered(options)
    show_bar = has_terminal() and not (arguments.no_progress or arguments.quiet)
    with contextlib.ExitStack() as stack:
        spark = stack.enter_context(session(arguments.master, show_progress=show_bar))
        report = run(spark, inputs, options, outputs, force=arguments.force, on_failure=FailureLines(stack))
    if not arguments.quiet:
        summarise(report, tuple(outputs.values()))
    say_no_input(report, options)
    return not report.failures


def _read_index(arguments: argparse.Namespace, options: Options) -> Argument:
    from urnscan.inputs.cdx import read_index

    if len(arguments.inputs) != 1 or arguments.inputs == ["-"] or arguments.files_from is not None:
        raise FatalError("--cdx needs exactly one INPUT; name the folder or URL of the files that the index lists")
    return read_index(arguments.cdx, arguments.inputs[0], options.reading.limits)


def _check_names(inputs: Sequence[Argument]) -> None:
    commands = [name.split()[-1] for name in tuple(SUMMARIES)[1:]]
    if misplaced := next((name for name in commands if name in inputs and not os.path.lexists(name)), None):
        raise FatalError(f"{misplaced}: no such file or folder; as a command it comes first: urnscan {misplaced} ...")


def _open_shards(
    arguments: argparse.Namespace, options: Options, outputs: OutputFiles, stack: contextlib.ExitStack
) -> Shards:
    """Open the store of finished tasks next to the first output, until the stack is closed. With `--resume`, it has
    those of an earlier run with the same options. Raises FatalError if `--force` is needed to discard tasks.
    """
    from urnscan.run.resume import Shards

    first = next(iter(outputs.files.values()))
    meaning = {"tables": list(outputs.files), **options.identity()}
    name = without_secrets(outputs.paths[0])
    shards = Shards(first.base_path, meaning, resume=arguments.resume, force=arguments.force, name=name)
    stack.enter_context(shards)

    def note_how_to_continue(_kind: object, error: BaseException | None, _traceback: object) -> None:
        if error is not None and shards.are_kept:
            error.add_note("finished work is kept next to the output; the same command with --resume continues it")

    stack.push(note_how_to_continue)
    if shards.discarded and not arguments.quiet:
        say(f"--force: {shards.discarded} is discarded")
    elif arguments.resume and not arguments.quiet and shards.differing:
        say("the earlier run had other options; the scan begins at the first input")
    return shards


def _close_shards(shards: Shards, arguments: argparse.Namespace) -> None:
    """Print what `--resume` could not use, and remove the finished tasks. Precondition: the outputs are written."""
    if shards.unused and not arguments.quiet:
        size = counted(shards.unused, "byte")
        say(f"the work of an earlier run on {size} is not used; its inputs have changed, or are missing")
    if arguments.resume and any(shards.unmarked) and not arguments.quiet:
        urls = counted(sum(shards.unmarked), "URL")
        say(f"{urls} read from the start, as the server gives neither an ETag nor a length with the time of a change")
    shards.drop()
