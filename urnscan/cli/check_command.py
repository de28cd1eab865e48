"""`urnscan check INPUT...`: name each wrong URN in a line."""

from __future__ import annotations

import argparse
import contextlib

from urnscan.cli import guesses
from urnscan.cli.arguments import FAILED, About, Parser, read_inputs
from urnscan.cli.faults import FORMATS, FaultWriter
from urnscan.cli.first_run import prepare
from urnscan.cli.lazy_imports import loading
from urnscan.cli.scan_command import read_options
from urnscan.cli.shared_options import CHECK_MEANING, NOT_IN_CHECK, Listed, option
from urnscan.cli.terminal import print_result, say_counts, say_no_input, say_unregistered, show_progress
from urnscan.display.text import counted, others_left_out
from urnscan.errors import FatalError, count_of, unknown_value

_KINDS = ("invalid", "reject", "unregistered")
_RESULT = {
    "--fail-on": option(
        "KIND[,KIND...]",
        "what counts as wrong: invalid, a name that breaks the rules of its namespace; reject, a text that begins like a "
        "URN and is not one, or a URN that ends badly; unregistered, a namespace that is not registered (default: "
        "invalid)",
        type=Listed(_KINDS),
        default=("invalid",),
    ),
    "--format": option(
        "NAME",
        "the format of the lines: text; json, an object on each line; sarif, SARIF 2.1.0; or github, commands of GitHub Actions (default: text)",
        choices=list(FORMATS),
        default="text",
    ),
}


def check_parser() -> Parser:
    """The parser of `urnscan check`."""
    parser = Parser(
        About(
            "urnscan check",
            usages=("urnscan check INPUT... [--fail-on KIND] [--format NAME] [options]",),
            description="Name each wrong URN in a line: source:line:column: the URN: what is wrong. Punctuation at the end "
            "of a name belongs to the text around it. The column counts characters; it is missing for inputs that can be "
            "read only once, such as standard input.",
            daily=("--fail-on", "--format", "-s", "-n", "--include", "--exclude", "-q"),
            examples={
                "name the wrong ISBNs of a catalogue": "urnscan check catalogue.xml --nid isbn",
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
    """Run `urnscan check`: print a line for each wrong URN; returns whether no name is wrong and nothing failed. Raises
    UrnscanError.
    """
    for kind in arguments.fail_on:
        if kind not in _KINDS:
            raise FatalError(f"--fail-on: {unknown_value(kind, _KINDS)}")
    inputs = read_inputs(arguments)
    with loading():
        from urnscan.library.faults import FaultSearch
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
        writer = FaultWriter(arguments.format, lambda text: print_result(text, progress))
        search = FaultSearch(arguments.fail_on, inputs, options, guesses.for_nid, writer.add)
        rejects = search.add_rejects if "reject" in arguments.fail_on else None
        outputs = Outputs(occurrences=search.add_names, rejects=rejects, pool=pool)
        report = run(inputs, options, outputs, progress)
        writer.finish()
    if not arguments.quiet:
        parts = [counted(report.inputs, "input"), counted(report.occurrences, "occurrence")]
        parts += [*others_left_out(report.left_out), f"{writer.faults:,} wrong"]
        say_counts(parts, report.seconds, (), count_of(report.failures), count_of(report.notes))
    say_no_input(report, options)
    return not report.failures and not writer.faults
