"""`urnscan report CLASSES.parquet`: make an HTML page from the result of a scan."""

from __future__ import annotations

import argparse
import time

from urnscan import __version__
from urnscan.cli.arguments import USAGE, About, Parser, add_help
from urnscan.cli.heavy import loading
from urnscan.cli.outputs import check_outputs
from urnscan.cli.terminal import say
from urnscan.display.text import counted
from urnscan.errors import FatalError

__all__ = ["report", "report_parser"]


def report_parser() -> Parser:
    """The parser of `urnscan report`."""
    parser = Parser(
        About(
            "urnscan report",
            usages=("urnscan report CLASSES.parquet -o FILE.html [options]",),
            description="Make a page (one HTML file) from the result of a scan: namespaces, frequencies, differences of "
            "spelling, sources, problems, and a table of the classes to search and sort. The table has at most "
            "100,000 classes, the most frequent.",
            examples=(
                ("make a page from a scan", "urnscan report urns.parquet --occurrences places.parquet -o urns.html"),
            ),
            statuses={0: "done", USAGE: "wrong usage, or nothing could be done", 130: "interrupted"},
        )
    )
    source = parser.add_argument_group("input")
    source.add_argument("classes", metavar="CLASSES.parquet", help="classes that urnscan -o wrote")
    source.add_argument(
        "--occurrences",
        metavar="OCCURRENCES.parquet",
        help="occurrences that urnscan --occurrences wrote in the same run, for the numbers of each source and what ended the names",
    )
    output = parser.add_argument_group("output")
    output.add_argument("-o", dest="output", metavar="FILE.html", required=True, help="write the page here")
    output.add_argument("--force", action="store_true", help="replace an output that exists")
    parser.add_argument_group("running").add_argument("--quiet", action="store_true", help="no summary")
    add_help(parser)
    return parser


def report(arguments: argparse.Namespace) -> bool:
    """Make the report; returns True, as nothing can fail in part. Raises UrnscanError."""
    start = time.perf_counter()
    with loading():
        from urnscan.output.octets import OctetOutput  # noqa: PLC0415 (heavy: --help does without)
        from urnscan.report.figures import summarise  # noqa: PLC0415
        from urnscan.report.scan import render  # noqa: PLC0415
        from urnscan.sources import is_remote, local_path, real_place, without_secrets  # noqa: PLC0415

    (output,) = check_outputs(arguments.output)
    for path in filter(None, (arguments.classes, arguments.occurrences)):
        if is_remote(path):
            raise FatalError(f"{without_secrets(path)}: copy it here first; a report is made of files on this machine")
        if real_place(path) == real_place(output):
            raise FatalError(f"{output}: is an input of the report; name another output")
    with OctetOutput(output, force=arguments.force) as page:
        occurrences = None if arguments.occurrences is None else local_path(arguments.occurrences)
        summary = summarise(local_path(arguments.classes), occurrences, version=__version__)
        page.write(render(summary).encode())
        page.commit()
    if not arguments.quiet:
        parts = (
            counted(summary.occurrences, "occurrence"),
            counted(summary.classes, "class", "classes"),
            f"{time.perf_counter() - start:.1f} s",
        )
        say(", ".join(parts))
    return True
