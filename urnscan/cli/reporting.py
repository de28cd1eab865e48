"""`urnscan report CLASSES.parquet`: a page of what a scan found."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from urnscan import __version__
from urnscan.cli.arguments import Parser, check_outputs
from urnscan.cli.loading import loading
from urnscan.cli.terminal import counted, say
from urnscan.errors import FatalError

__all__ = ["report_command"]


def report_command(words: Sequence[str]) -> bool:
    """Run it with these arguments; True, as it fails as a whole or not at all. Raises UrnscanError."""
    arguments = _parser().parse_args(words)
    start = time.perf_counter()
    with loading():
        import pyarrow as pa  # noqa: PLC0415 (heavy: --help does without)

        from urnscan.output import OctetOutput  # noqa: PLC0415
        from urnscan.report.reading import summarise  # noqa: PLC0415
        from urnscan.report.scan import render  # noqa: PLC0415
        from urnscan.sources import is_remote, local_path, real_place, without_secrets  # noqa: PLC0415

    pa.set_memory_pool(pa.system_memory_pool())  # as for a scan
    (output,) = check_outputs(arguments.output)
    for path in filter(None, (arguments.classes, arguments.occurrences)):
        if is_remote(path):
            raise FatalError(f"{without_secrets(path)}: copy it here first; a report is made of files on this machine")
        if real_place(path) == real_place(output):
            raise FatalError(f"{output}: is what the report is made of; name another output")
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


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="urnscan report",
        usage="urnscan report CLASSES.parquet [--occurrences OCCURRENCES.parquet] -o FILE.html [options]",
        description="Make a page (HTML, one file) of what a scan found: namespaces, how often names occur, how their spellings "
        "differ, sources, problems, and a table of the classes to search and sort: up to 100,000 of them, of more the most "
        "frequent.",
        epilog="Exit status: 0 done, 2 wrong usage or nothing could be done.",
        allow_abbrev=False,
    )
    parser.add_argument("classes", metavar="CLASSES.parquet", help="what urnscan -o wrote")
    parser.add_argument(
        "--occurrences",
        metavar="FILE",
        help="what urnscan --occurrences wrote in the same run: tells how much is in each source, and what ended the names",
    )
    parser.add_argument("-o", dest="output", metavar="FILE", required=True, help="write the page here")
    parser.add_argument("--force", action="store_true", help="replace an output that exists")
    parser.add_argument("--quiet", action="store_true", help="no summary")
    return parser
