"""`urnscan dedup DUMP...`: find clusters of records that share a URN, and write dumps without duplicates."""

from __future__ import annotations

import argparse
import contextlib
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from urnscan.cli.arguments import (
    USAGE,
    About,
    Listed,
    Parser,
    add_help,
    add_inputs,
    add_meaning,
    add_reading,
    add_running,
    read_inputs,
    read_record,
)
from urnscan.cli.heavy import loading
from urnscan.cli.outputs import check_outputs, open_outputs
from urnscan.cli.terminal import say, say_trimmable, show_progress
from urnscan.display.text import counted
from urnscan.errors import FatalError

if TYPE_CHECKING:
    from urnscan.dedup.job import DedupReport
    from urnscan.dedup.policy import Policy

__all__ = ["dedup", "dedup_parser"]

# Keys of `records.formats.FORMATS` and of `dedup.policy.KEEP`, repeated here because these modules load slowly.
_FORMATS = (
    *("marc", "marcxml", "mods", "dc", "oai", "sru", "onix", "json", "jsonl", "pica", "pica-plain", "ntriples"),
    *("ris", "bibtex", "csv", "line"),
)
_KEEP = ("first", "last", "longest", "most-identifiers")

_TOLD = 5  # most URNs that are too common, and most dumps without URNs, that are printed


_ABOUT = About(
    "urnscan dedup",
    usages=(
        "urnscan dedup DUMP... -o CLUSTERS.parquet [--report FILE] [options]",
        "urnscan dedup DUMP... --deduplicated FILE [--report FILE] [options]",
    ),
    description="Find records of bibliographic dumps that share a URN, and write the dumps without the duplicates; the "
    "records that stay keep every octet. A dump may be plain, compressed, in an archive, or behind a URL. Its format is "
    f"known by its content: {', '.join(_FORMATS)}.",
    examples=(
        (
            "write a catalogue without its duplicates",
            "urnscan dedup dump.mrc.gz --fields --deduplicated unique.mrc.gz",
        ),
        (
            "show which records are the same, as a table and as an HTML page",
            "urnscan dedup a.xml b.bib -o clusters.parquet --report clusters.html",
        ),
    ),
    statuses={
        0: "done",
        1: "done, but some records or inputs could not be read",
        USAGE: "wrong usage, or nothing could be done",
        130: "interrupted",
    },
)


def dedup_parser() -> Parser:
    """The parser of `urnscan dedup`."""
    parser = Parser(_ABOUT)
    add_inputs(parser, "DUMP")
    output = parser.add_argument_group("output (at least one)")
    output.add_argument(
        "-o", dest="clusters", metavar="FILE", help="write to Parquet the cluster of each record, a row for each"
    )
    output.add_argument(
        "--deduplicated",
        metavar="FILE",
        help="write the records that are kept, and all that stands around them, octet for octet; in a folder, write a file "
        "for each DUMP; compress if the name ends in .gz, .bz2, .zst or .lz4",
    )
    output.add_argument("--report", metavar="FILE", help="write an HTML page about the clusters, with examples")
    output.add_argument("--force", action="store_true", help="replace outputs that exist")
    joining = parser.add_argument_group("which records are joined, and which are kept")
    joining.add_argument(
        "--fields",
        action="store_true",
        help="use only the fields with identifiers of the record itself (MARC 020, 022, 024, 856; MODS and DC identifier; "
        "...), where ISBN, ISSN, DOI and UUID count as URNs, too (default: every URN that stands in a record)",
    )
    joining.add_argument(
        "--weak",
        metavar="NID[,NID...]",
        type=Listed(),
        help="URNs that are listed but join no records: namespaces, or beginnings of names in them "
        "(default: issn,schemas-*,ietf:params:xml,oasis)",
    )
    joining.add_argument(
        "--max-class",
        metavar="N",
        type=int,
        help="a URN in more records than this joins none of them, and is reported (default: 100)",
    )
    joining.add_argument(
        "--keep",
        metavar="WHICH",
        choices=_KEEP,
        help=f"which record of a cluster is kept: {', '.join(_KEEP)} (default: first)",
    )
    joining.add_argument(
        "--record",
        metavar="FORMAT",
        choices=_FORMATS,
        help="the format of the dumps, one of those above; line: each line is a record (default: known by content)",
    )
    add_meaning(parser, scan=True, level="namespace")
    add_reading(parser, columns=False)
    add_running(parser, threads=False)
    add_help(parser)
    return parser


def dedup(arguments: argparse.Namespace) -> bool:
    """Deduplicate as the arguments say; returns whether nothing failed. Raises UrnscanError and ValueError."""
    with loading():
        from urnscan.dedup.job import run  # noqa: PLC0415 (heavy: --help does without)
        from urnscan.dedup.outputs import Dumps, Outputs  # noqa: PLC0415
        from urnscan.dedup.policy import Policy  # noqa: PLC0415
        from urnscan.output.octets import OctetOutput  # noqa: PLC0415
        from urnscan.output.parquet import ParquetOutput  # noqa: PLC0415
        from urnscan.run.options import Options  # noqa: PLC0415
        from urnscan.run.tasks import plan_size  # noqa: PLC0415
        from urnscan.tables.schemas import CLUSTERS, REPEATING_IN_CLUSTERS  # noqa: PLC0415

    inputs = read_inputs(arguments)
    options = read_record(Options, arguments)
    policy = read_record(Policy, arguments)
    paths = check_outputs(arguments.clusters, arguments.deduplicated, arguments.report)
    if not paths:
        raise FatalError("nothing to write: name an output with -o, --deduplicated or --report")
    kinds: dict[str, Callable[..., Any]] = {
        "clusters": functools.partial(ParquetOutput, schema=CLUSTERS, dictionaries=REPEATING_IN_CLUSTERS),
        "deduplicated": Dumps,
        "report": OctetOutput,
    }
    with contextlib.ExitStack() as stack:
        outputs = open_outputs(arguments, kinds, stack)
        clusters = outputs.files.get("clusters")
        dumps = outputs.files.get("deduplicated")
        progress = show_progress(
            "reading",
            lambda: plan_size(inputs, options, paths, 1 if dumps is None else 2),
            stack,
            wanted=not (arguments.no_progress or arguments.quiet),
        )
        wanted = Outputs(
            clusters=outputs.sink("clusters"),
            dumps=dumps,
            page=outputs.sink("report"),
            paths=paths,
            spill_folder=None if clusters is None else clusters.folder,
        )
        report = run(inputs, options, policy, wanted, progress)
        outputs.commit(report.metadata(options, policy))
    _tell_common(report, policy)
    _tell_cut(report)
    if not arguments.quiet:
        _tell_silent(report, policy)
        _summarise(report)
        say_trimmable(report.trimmable, options)
    return not report.failures


def _tell_common(report: DedupReport, policy: Policy) -> None:
    """Print the URNs that are too common to join records, up to a few."""
    for urn, records in report.common[:_TOLD]:
        say(f"{urn}: stands in {records:,} records, so it joins none of them (--max-class {policy.max_class})")
    if len(report.common) > _TOLD:
        say(
            f"{len(report.common) - _TOLD:,} more URNs stand in more than {policy.max_class:,} records; --report lists them"
        )


def _tell_cut(report: DedupReport) -> None:
    """Print how many URNs are too long. They join nothing: two of them may differ behind the cut."""
    if report.cut:
        say(f"{counted(report.cut, 'URN')} longer than --max-length: left out, as they were not read to the end")


def _tell_silent(report: DedupReport, policy: Policy) -> None:
    """Print the dumps in which nothing was found that could join records, up to a few."""
    reason = (
        "has an identifier of its own" if policy.fields else "holds a URN; --fields counts ISBN, DOI and their like"
    )
    for name, records in report.silent[:_TOLD]:
        say(f"{name}: none of its {counted(records, 'record')} {reason}")
    if len(report.silent) > _TOLD:
        say(f"the same holds for {counted(len(report.silent) - _TOLD, 'more dump')}")


def _summarise(report: DedupReport) -> None:
    """Print one line with the counts of the run."""
    parts = [
        counted(report.inputs, "dump"),
        counted(report.records, "record"),
        counted(report.clusters, "cluster"),
        counted(report.duplicates, "duplicate"),
        *([f"{report.without:,} without URNs"] if report.without else []),
        f"{report.seconds:.1f} s",
    ]
    if report.failures:
        parts.append(counted(len(report.failures), "failure"))
    say(", ".join(parts))
