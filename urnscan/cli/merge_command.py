"""`urnscan merge TABLE... -o FILE`: merge the tables of several runs to a single table."""

from __future__ import annotations

import argparse
import contextlib
import functools
import resource

from urnscan.cli.arguments import FAILED, About, Parser, read_record
from urnscan.cli.first_run import prepare
from urnscan.cli.lazy_imports import loading
from urnscan.cli.outputs import check_files, open_outputs, read_layout
from urnscan.cli.printer import OfficeNames
from urnscan.cli.shared_options import LAYOUT_OPTIONS, MEMORY, THREADS, flag, option
from urnscan.cli.terminal import say, say_counts, say_hints, show_progress
from urnscan.display.progress import ROWS, Stage
from urnscan.display.text import counted
from urnscan.errors import FatalError


def merge_parser() -> Parser:
    """The parser of `urnscan merge`."""
    parser = Parser(
        About(
            "urnscan merge",
            usages=("urnscan merge TABLE... [-o FILE] [--classes FILE] [options]",),
            description="Make one table from the tables of several runs: all classes, all occurrences, or the classes of partial "
            "results (urnscan --partial). The result is what one run over all inputs would have written, if no input was "
            "in two of the runs. From tables of classes, it is not exact for a class with more than 100 spellings. A line "
            "reports both cases. The runs must have had the same options and the same version. The order of the tables "
            "decides which occurrence is the first.",
            daily=("-o", "--classes", "--force", "-j", "--memory", "-q"),
            examples={
                "merge the classes of three nights": "urnscan merge mon.parquet tue.parquet wed.parquet -o all.parquet",
                "merge the partial results of an array of jobs": "urnscan merge parts/ -o all.parquet",
                "group the occurrences of several runs": "urnscan merge 'parts/*-places.parquet' --classes all.parquet",
            },
            statuses={0: "done", **FAILED},
        )
    )
    tables = option(
        "TABLE",
        "a file that urnscan -o, --occurrences or --partial wrote, a folder of them, or a glob; all hold classes, all hold "
        "occurrences, or all hold partial results",
        nargs="+",
    )
    output = {
        "-o --output": option(
            "FILE",
            "write the table here, in the format that the name ends in, as urnscan -o does",
            dest="output",
        ),
        "--classes": option("FILE", "group the occurrences of the tables, and write their classes here"),
        **LAYOUT_OPTIONS,
        "--force": flag("replace an output that exists"),
    }
    running = {
        "-j": THREADS,
        "--memory": MEMORY,
        "-q --quiet": flag("no summary and no progress bar"),
        "--no-progress": flag("no progress bar"),
    }
    parser.add_group("input", {"tables": tables})
    parser.add_group("output", output)
    parser.add_group("running", running)
    parser.add_exits()
    return parser


def merge(arguments: argparse.Namespace) -> bool:
    """Run `urnscan merge`: write the tables, and print a summary on standard error. Returns True, because nothing can
    fail in part. Raises UrnscanError. From now on, the process may open as many files as the system allows.
    """
    with loading():
        from urnscan.pool import Pool
        from urnscan.results.merge import Merge
        from urnscan.results.opening import PARTIAL_RESULTS
        from urnscan.run.options import Options
        from urnscan.run.pipeline import Outputs
        from urnscan.tables.schemas import WRITTEN
        from urnscan.tables.writers import open_table

    # All tables are open at the same time. Many systems let a process open only 1024 files, unless it asks for more.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS reports a limit that it does not grant.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    outputs = check_files(arguments.output, arguments.classes)
    if not outputs:
        raise FatalError("nothing to write; name a table with -o FILE or --classes FILE")
    layout = read_layout(arguments, outputs)
    prepare(arguments)
    options = read_record(Options, arguments)
    merging = Merge(arguments.tables, outputs, memory=options.memory, jobs=options.jobs)
    named = {"output": arguments.output, "classes": arguments.classes}
    written = merging.kinds_of({name: path for name, path in named.items() if path is not None})
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(Pool(options.jobs))
        kinds = {name: functools.partial(open_table, **WRITTEN[name], pool=pool, layout=layout) for name in written}
        files = open_outputs(argparse.Namespace(force=arguments.force, **written), kinds, stack)
        progress = show_progress(arguments, "merging", lambda: None, stack)
        progress.on_stage(Stage("merging", merging.rows, ROWS))
        sinks = {name: files.sink(name) for name in written}
        office = None if arguments.quiet or merging.metadata.get("nid") else OfficeNames()
        sinks = office.counted_in(sinks) if office else sinks
        outputs_of_merge = Outputs(
            classes=sinks.get("classes"),
            occurrences=sinks.get("occurrences"),
            spill_folder=files.folder("classes"),
            pool=pool,
        )
        merging.run(outputs_of_merge, progress)
        metadata = merging.metadata
        files.commit(metadata)
    report = merging.report
    for line in report.remarks():
        say(line)
    if not arguments.quiet:
        classes = [] if report.classes is None else [counted(report.classes, "class", "classes")]
        kind = "partial result" if report.kind == PARTIAL_RESULTS else "table"
        parts = [counted(report.occurrences, "occurrence"), *classes, counted(report.tables, kind)]
        say_counts(parts, report.seconds, outputs)
        has_rejects = metadata["counts"].get("rejects") is not None
        say_hints(report, untrimmed=report.untrimmed, joinable=report.joinable, has_rejects=has_rejects)
        if office and (hint := office.hint()):
            say(hint)
    return True
