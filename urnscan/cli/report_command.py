"""`urnscan report CLASSES.parquet`: make an HTML page from the result of a scan."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from urnscan.cli.arguments import FAILED, About, Parser
from urnscan.cli.lazy_imports import loading
from urnscan.cli.outputs import check_files
from urnscan.cli.shared_options import flag, option
from urnscan.cli.terminal import say, say_counts
from urnscan.display.text import counted
from urnscan.errors import FatalError
from urnscan.version import __version__


def report_parser() -> Parser:
    """The parser of `urnscan report`."""
    parser = Parser(
        About(
            "urnscan report",
            usages=("urnscan report CLASSES [-o FILE.html] [options]",),
            description="Make a page (one HTML file) from the result of a scan: namespaces, frequencies, differences "
            "of spelling, sources, problems, and a table of the classes to search and sort, in which each class opens "
            "its spellings and places. The table has at most 100,000 classes, the most frequent.",
            examples={
                "make the page urns.html in this folder": "urnscan report urns.parquet",
                "make a page from a scan": "urnscan report urns.parquet --occurrences places.parquet -o urns.html",
            },
            statuses={0: "done", **FAILED},
        )
    )
    source = {
        "classes": option("CLASSES", "classes that urnscan -o wrote: .parquet, .csv, .tsv or .jsonl, not .xlsx"),
        "--occurrences": option(
            "OCCURRENCES",
            "occurrences that urnscan --occurrences wrote in the same run, for the numbers of each source, the places "
            "of each class, and what ended the names",
        ),
        "--rules": option(
            "FILE.toml", "custom rules, as in the scan: the page has their titles and links to their resolvers"
        ),
    }
    output = {
        "-o --output": option(
            "FILE.html",
            "write the page here; without it, in the current folder, under the name of CLASSES with .html",
            dest="output",
        ),
        "--force": flag("replace an output that exists"),
    }
    parser.add_group("input", source)
    parser.add_group("output", output)
    parser.add_group("running", {"-q --quiet": flag("no summary")})
    parser.add_exits()
    return parser


def report(arguments: argparse.Namespace) -> bool:
    """Run `urnscan report`: write the page, and print a summary on standard error. Returns True, because nothing can
    fail in part. Raises UrnscanError.
    """
    start = time.perf_counter()
    with loading():
        from urnscan.report.figures import summarise
        from urnscan.report.scan_page import render
        from urnscan.run.options import Options
        from urnscan.stores.urls import is_remote, local_path, real_place
        from urnscan.tables.plain_output import PageOutput

    (output,) = check_files(_default(arguments.classes) if arguments.output is None else arguments.output)
    for path in filter(None, (arguments.classes, arguments.occurrences)):
        if is_remote(path):
            raise FatalError(f"{path}: a report reads only files on this machine; copy it here first")
        if real_place(path) == real_place(output):
            raise FatalError(f"{output}: is an input and an output; name another output")
    rulebook = Options(rules=arguments.rules).level.rulebook
    with PageOutput(output, force=arguments.force) as page:
        occurrences = None if arguments.occurrences is None else local_path(arguments.occurrences)
        summary = summarise(local_path(arguments.classes), occurrences, version=__version__, rulebook=rulebook)
        page.write(render(summary).encode())
        page.commit()
    if not arguments.quiet:
        _say_rules(arguments.rules, rulebook.sha256, dict(summary.settings).get("rules"))
        parts = [counted(summary.occurrences, "occurrence"), counted(summary.classes, "class", "classes")]
        say_counts(parts, time.perf_counter() - start, [output])
    return True


def _default(classes: str) -> str:
    """The name of the page: `urns.html` for the table `out/urns.parquet`."""
    from urnscan.tables.plain_output import form_of

    name = Path(classes).name
    form, codec = form_of(name)
    return f"{name[: -len(form + codec) or None]}.html"


def _say_rules(path: str | None, of_page: str | None, of_run: str | None) -> None:
    """Print a line if the rules of the run and of the page differ. `of_page`, `of_run`: their checksums, None without
    custom rules.
    """
    if path is None and of_run is not None:
        say("the run had custom rules; give their file to --rules to have their titles and links on the page")
    elif path is not None and of_page != of_run:
        has = "had none" if of_run is None else f"had different ones (SHA-256 {of_run})"
        say(f"{path}: the page has the titles and links of these rules; the run {has}")
