"""`urnscan check INPUT...`: name each wrong URN in a line."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING

from urnscan.cli import guesses
from urnscan.cli.arguments import FAILED, About, Parser, read_inputs
from urnscan.cli.faults import FORMATS, FaultWriter, csv_format
from urnscan.cli.first_run import prepare
from urnscan.cli.lazy_imports import loading
from urnscan.cli.scan_command import read_options
from urnscan.cli.shared_options import CHECK_MEANING, LAYOUT_OPTIONS, NOT_IN_CHECK, listed, option
from urnscan.cli.terminal import print_result, say, say_counts, say_no_input, say_unregistered, show_progress
from urnscan.display.text import counted, others_left_out
from urnscan.errors import FatalError, count_of, unknown_value

if TYPE_CHECKING:
    from urnscan.library.faults import FaultSearch

_KINDS = ("invalid", "reject", "unregistered")
_RESULT = {
    "--fail-on": listed(
        "KIND[,KIND...]",
        "what counts as wrong: invalid, a name that breaks the rules of its namespace; reject, a text that begins like a "
        "URN and is not one, or a URN with a wrong character after it, such as %% (a full stop is not wrong); "
        "unregistered, a namespace that is not registered (default: invalid)",
        _KINDS,
        default=("invalid",),
    ),
    "--format": option(
        "NAME",
        "the format of the lines: text; json, an object on each line; csv, a table for Excel; sarif, SARIF 2.1.0; or github, commands of GitHub Actions (default: text)",
        choices=list(FORMATS),
        default="text",
    ),
    "--delimiter": LAYOUT_OPTIONS["--delimiter"],
}


def check_parser() -> Parser:
    """The parser of `urnscan check`."""
    parser = Parser(
        About(
            "urnscan check",
            usages=("urnscan check INPUT... [--fail-on KIND] [--format NAME] [options]",),
            description="Name each wrong URN in a line: source:line:column: the URN: what is wrong. Numbers without "
            "urn: are not seen: urnscan dedup --wrong lists the wrong ISBN and ISSN of a catalogue. Punctuation at the end of a name belongs to the text around it. The column counts characters; it is missing for inputs that can be "
            "read only once, such as standard input.",
            daily=("--fail-on", "--format", "-s", "-n", "--include", "--exclude", "-q"),
            examples={
                "name the wrong urn:isbn names of a catalogue": "urnscan check catalogue.xml --nid isbn",
                "list the wrong names for Excel in Czech, French or German": "urnscan check catalogue.xml --format csv --delimiter ';' > wrong.csv",
                "check a repository, as a step of GitHub Actions": "urnscan check . --format github",
            },
            statuses={
                0: "no name is wrong",
                1: "some names are wrong, or some inputs could not be read",
                **FAILED,
            },
        )
    )
    parser.add_inputs("INPUT")
    parser.add_group("output", _RESULT)
    parser.add_run(CHECK_MEANING, NOT_IN_CHECK)
    parser.add_exits()
    return parser


def check(arguments: argparse.Namespace) -> bool:
    """Run `urnscan check`: print each wrong URN on standard output, and a summary on standard error. Returns whether no
    name is wrong and nothing failed. Sets `arguments.trim`. Raises UrnscanError, and OSError if standard output cannot
    be written.
    """
    for kind in arguments.fail_on:
        if kind not in _KINDS:
            raise FatalError(f"--fail-on: {unknown_value(kind, _KINDS)}")
    if arguments.delimiter is not None and arguments.format != "csv":
        raise FatalError("--delimiter is for CSV; add --format csv, or leave it out")
    inputs = read_inputs(arguments)
    with loading():
        from urnscan.library import faults
        from urnscan.pool import Pool
        from urnscan.run.pipeline import Outputs, run
        from urnscan.run.tasks import plan_size

    arguments.trim = True
    options = read_options(arguments)
    say_unregistered(options)
    prepare(arguments)
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(Pool(options.jobs))
        progress = show_progress(arguments, "checking", lambda: plan_size(inputs, options, ()), stack)
        form = csv_format(arguments.delimiter) if arguments.delimiter else FORMATS[arguments.format]
        writer = FaultWriter(form, lambda text: print_result(text, progress))
        search = faults.FaultSearch(arguments.fail_on, inputs, options, guesses.for_nid, writer.add)
        outputs = Outputs(occurrences=search.add_names, rejects=search.add_rejects, pool=pool)
        report = run(inputs, options, outputs, progress)
        writer.finish()
    if not arguments.quiet:
        parts = [counted(report.inputs, "input"), counted(report.occurrences, "occurrence")]
        parts += [*others_left_out(report.left_out), f"{writer.faults:,} wrong{_not_counted(search)}"]
        say_counts(parts, report.seconds, (), count_of(report.failures), count_of(report.notes))
        if report.inputs and not report.occurrences:
            said = "no URN of the chosen namespaces found" if report.left_out else "no URN found"
            say(
                f"{said}, so nothing was checked; urnscan dedup INPUT --wrong FILE lists the wrong ISBN and ISSN of a catalogue"
            )
    say_no_input(report, options)
    return not report.failures and not writer.faults


def _not_counted(search: FaultSearch) -> str:
    rejects = counted(search.other_rejects, "reject")
    parts = [f"{search.other_unregistered:,} unregistered"] * bool(search.other_unregistered)
    parts += [rejects] * bool(search.other_rejects)
    count = search.other_unregistered + search.other_rejects
    return f"; {' and '.join(parts)} {'is' if count == 1 else 'are'} not counted (--fail-on)" if parts else ""
