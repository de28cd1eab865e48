"""`urnscan dedup DUMP...`: find clusters of records that share a URN or another key, and write dumps without duplicates."""

from __future__ import annotations

import argparse
import contextlib
import functools
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from urnscan.cli.arguments import FAILED, About, Parser, read_inputs, read_record
from urnscan.cli.first_run import prepare
from urnscan.cli.lazy_imports import loading
from urnscan.cli.outputs import check_files, open_outputs, read_layout
from urnscan.cli.shared_options import (
    DEDUP_MEANING,
    LAYOUT_OPTIONS,
    NIDS,
    ONLY_DEDUP,
    ONLY_SCAN,
    flag,
    listed,
    option,
    repeatable,
    whole_number,
)
from urnscan.cli.terminal import has_terminal, say, say_counts, say_hints, say_no_input, say_unregistered, show_progress
from urnscan.display.text import counted
from urnscan.errors import FatalError, count_of

if TYPE_CHECKING:
    from urnscan.dedup.dedup_report import DedupReport
    from urnscan.dedup.policy import Policy


# Names of `records.keys.kinds`, `dedup.compare.agreement.ASPECTS` and `dedup.join.choose_kept.KEEP`, repeated here because
# these modules load slowly.
_KEYS = "urn oclc lccn nbn-number id pmid accession arxiv handle ark url description octets".split()
_AGREE = ("title", "year", "edition", "part", "format", "language")
_KEEP = ("first", "last", "longest", "most-identifiers", "newest", "fullest")

# Maximum number of messages of each kind, for example about URNs that are too common.
_TOLD = 5
_NOTHING_WRITTEN = (
    "nothing is written: --deduplicated FILE writes the dump without its duplicates, --review FILE what is in doubt"
)
# Decisions that are not applied: nobody decides again about a row without its message.
_SHOWN_DECISIONS = 100


def _most(text: str) -> int | str:
    # `Policy` checks a percentage.
    return text if text.endswith("%") else whole_number(2)(text)


def _about(formats: Iterable[str]) -> About:
    return About(
        "urnscan dedup",
        usages=("urnscan dedup DUMP... [--deduplicated FILE] [-o CLUSTERS] [options]",),
        description="Find records of bibliographic dumps that describe the same work, and write the dumps without the duplicates; the "
        "kept records stay byte for byte the same. Records are joined if they share an identifier and their descriptions do "
        "not conflict. A dump may be plain, compressed, in an archive, or at a URL. Its "
        f"format is recognised by its content: {', '.join(formats)}.",
        examples={
            "write a catalogue without its duplicates": "urnscan dedup dump.mrc.gz --deduplicated unique.mrc.gz",
            "list the wrong ISBN and ISSN of a catalogue": "urnscan dedup dump.mrc.gz --wrong wrong.xlsx",
            "show which records are the same, as a table and as an HTML page": (
                "urnscan dedup a.xml b.bib -o clusters.parquet --report clusters.html"
            ),
        },
        daily=tuple(
            "-o --deduplicated --removed --mapping --review --wrong --report --force --keep --keys --agree --decisions -q".split()
        ),
        statuses={0: "done, also with notes", 1: "done, but some records or inputs could not be read", **FAILED},
    )


_OUTPUT = {
    "-o --output": option(
        "FILE",
        "write a row for each record, with its cluster (the records of one work); the name sets the format: .parquet, .xlsx (Excel), .csv, "
        ".tsv or .jsonl (the last three also with .gz, .bz2, .zst or .lz4)",
        dest="clusters",
    ),
    "--deduplicated": option(
        "FILE",
        "write the dump without its duplicates: the kept records and everything around them, byte for byte; in a folder, "
        "write a file for each DUMP; compress if the name ends in .gz, .bz2, .zst or .lz4",
    ),
    "--removed": option(
        "FILE",
        "write the removed records and everything around them, as a dump of the same format",
    ),
    "--mapping": option(
        "FILE",
        "write which kept record replaces each removed one, for redirects, in a format of -o",
    ),
    "--review": option(
        "FILE",
        "write the groups of records in doubt, with a proposal for each record, as a table or a page: in a format of -o, or "
        "in .html; edit the column decision, and give the table to --decisions",
    ),
    "--review-all": flag(
        "show every group from which a record is removed, and groups that are decided, too; with --review"
    ),
    "--candidates": option(
        "FILE",
        "write pairs of records that share no key, but an author, the year and nearly the title, in a format of -o; edit the "
        "column decision (together, apart); the page of --review shows them, too",
    ),
    "--wrong": option(
        "FILE",
        "write the wrong ISBN and ISSN of all records, with ID and title of the record and what is wrong, in a format of -o",
    ),
    "--report": option("FILE", "write an HTML page about the clusters, with examples"),
    **LAYOUT_OPTIONS,
    "--force": flag("replace outputs that exist"),
}
_CHOICES = {
    "--keep": listed(
        "RULE[,RULE...]",
        f"which record of a cluster is kept: {', '.join(_KEEP)}, or source:NAME, which prefers a dump by its name or a "
        "pattern, as in source:dnb*,newest; a tie goes to the next rule, and finally to the first record (default: fullest)",
        _KEEP,
    ),
    "--keys": listed(
        "KEYS",
        f"which identifiers join records: {', '.join(_KEYS)} (id: a control number; accession: a number in a database of "
        "articles; description: title, author, year and place of an article; octets: the bytes of the record); "
        "for URNs only: --keys urn (default: all)",
        (*_KEYS, "all"),
    ),
    "--agree": listed(
        "ASPECTS",
        "which parts of two descriptions must not conflict, if both records have them: "
        f"{', '.join(_AGREE)}; none: records that share keys are joined whatever they describe "
        f"(default: {','.join(_AGREE)})",
        (*_AGREE, "none"),
    ),
    "--decisions": repeatable(
        "FILE.csv",
        "apply decisions of people: a table of --review, --candidates or -o with the column decision edited (keep, remove, "
        "apart, together, or empty); none is applied to a record that has changed",
    ),
}
_SELDOM = {
    "--any-urn": flag(
        "count every URN in a record, also those of its host or of a vocabulary; without it, only fields that identify the "
        "record itself count, such as MARC 020, and an ISBN, ISSN, DOI or UUID there counts as a URN"
    ),
    # Accepted without effect: the former meaning of this option is the default now.
    "--fields": {"action": "store_true", "help": argparse.SUPPRESS},
    "--weak": listed(
        NIDS,
        "ignored URNs, which are listed but join no records: namespaces (issn is that of urn:issn:...), or prefixes of names "
        "in them (default: issn,schemas-*,ietf:params:xml,oasis)",
    ),
    "--max-class": option(
        "N",
        "a URN or another key in more records than this, such as a placeholder, joins none of them, and is reported; N%% is "
        "relative to all records (default: 100)",
        type=_most,
    ),
    "--max-cluster": option(
        "N",
        "if URNs connect more records than this, none of them is joined, and this is reported; other keys are ignored before "
        "that (default: 50)",
        type=whole_number(2),
    ),
    "--carry": listed(
        "TAG[,TAG...]",
        "copy MARC fields that only a removed record has into the kept record, as in 035,852,856; with --deduplicated",
    ),
    "--never-join": option(
        "FILE.csv",
        "never join a record with one identifier of a row and a record with the other: a table with the columns identifier "
        "and other, each a URN, an ISBN, a DOI or a key of --keys (oclc:1234)",
    ),
}
_RECORD = "the format of the dumps, one of those above; line: each line is a record (default: known by content)"


def dedup_parser() -> Parser:
    """The parser of `urnscan dedup`."""
    # FORMATS includes formats of other packages. The search for them should not slow down the start of other commands.
    from urnscan.records.format_registry import FORMATS

    parser = Parser(_about(FORMATS))
    parser.add_inputs("DUMP")
    parser.add_group("output (without one, only counts are printed)", _OUTPUT)
    record = option("FORMAT", _RECORD, choices=tuple(FORMATS))
    parser.add_group("which records are joined, and which are kept", _CHOICES)
    parser.add_group("more about which records are joined, and what is kept of them", _SELDOM | {"--record": record})
    parser.add_run(DEDUP_MEANING, ONLY_SCAN, ONLY_DEDUP)
    parser.add_exits()
    return parser


def dedup(arguments: argparse.Namespace) -> bool:
    """Run `urnscan dedup`: write the outputs, all at the end, and print remarks and a summary on standard error.
    Returns whether nothing failed (which notes do not change). Raises UrnscanError.
    """
    with loading():
        from urnscan.dedup.job import run
        from urnscan.dedup.policy import Policy
        from urnscan.dedup.read.workers import collect_seldom
        from urnscan.dedup.write.outputs import FILES, TABLES, Outputs, review_sinks
        from urnscan.run.options import Options
        from urnscan.run.tasks import plan_size

    collect_seldom()
    inputs = read_inputs(arguments)
    options = read_record(Options, arguments)
    policy = read_record(Policy, arguments)
    say_unregistered(options)
    paths = check_files(*(getattr(arguments, name) for name in FILES))
    if arguments.quiet and not paths:
        raise FatalError("nothing to write or print; name an output, as in --deduplicated FILE, or leave out -q")
    layout = read_layout(arguments, (getattr(arguments, name) for name in TABLES))
    kinds = {name: functools.partial(TABLES[name], layout=layout) if name in TABLES else FILES[name] for name in FILES}
    prepare(arguments)
    with contextlib.ExitStack() as stack:
        files = open_outputs(arguments, kinds, stack)
        progress = show_progress(arguments, "reading", lambda: plan_size(inputs, options, paths), stack)
        review, review_page = review_sinks(files.files.get("review"))
        destinations = Outputs(
            clusters=files.sink("clusters"),
            mapping=files.sink("mapping"),
            review=review,
            review_page=review_page,
            review_all=arguments.review_all,
            candidates=files.sink("candidates"),
            wrong=files.sink("wrong"),
            dumps=files.files.get("deduplicated"),
            removed=files.files.get("removed"),
            page=files.sink("report"),
            paths=paths,
            spill_folder=files.folder("clusters"),
        )
        report = run(inputs, options, policy, destinations, progress)
        files.commit(report.metadata(options, policy))
    _say_left_out(report, policy)
    if not arguments.quiet:
        for sentence in (*report.silences(), *report.mistakes()):
            say(sentence)
        parts = report.parts(has_keys=policy.has_keys)
        say_counts(parts, report.seconds, paths, count_of(report.failures), count_of(report.notes))
        if not paths and report.records:
            say(_NOTHING_WRITTEN)
        say_hints(report)
    if not report.empty:
        say_no_input(report, options)
    return not report.failures


def _say_refused(report: DedupReport, policy: Policy) -> None:
    """Print a line for each row of `--decisions` that was not applied, or was applied with a remark; on a terminal,
    only for the first _SHOWN_DECISIONS of each kind. Tables that seem to belong to other dumps come first.
    """
    if policy.decisions is None:
        return
    rows = Counter(decision.row.path for decision in policy.decisions.records)
    rows.update(pair.row.path for pair in policy.decisions.pairs)
    refused = Counter(path for path, _ in sorted({(path, line) for path, line, _ in report.refused}))
    for path, count in refused.items():
        if count > 1 and 2 * count > rows[path]:
            say(f"{path}: {count:,} of {counted(rows[path], 'decision')} not applied: is the table for these dumps?")
    for messages, verb, kind in (
        (report.refused, " is not applied", "not applied"),
        (report.remarks, "", "of this kind"),
    ):
        shown = messages[: _SHOWN_DECISIONS if has_terminal() else None]
        for path, line, reason in shown:
            say(f"{path}: line {line:,}{verb}: {reason}")
        if left := len(messages) - len(shown):
            say(f"{counted(left, 'more decision')} {kind}; to see all, write the messages to a file: 2> messages.txt")


def _say_left_out(report: DedupReport, policy: Policy) -> None:
    """Print the URNs and groups that joined no records, the fields that were not copied, and the decisions that were
    not applied. URNs, groups and fields have at most _TOLD lines each, and a line that counts the rest.
    """
    most = policy.most_in_class(report.records)
    for urn, records in report.common[:_TOLD]:
        say(f"{urn}: is in {records:,} records, so it joins none of them (--max-class {policy.max_class})")
    if len(report.common) > _TOLD:
        say(f"{counted(len(report.common) - _TOLD, 'more key')} in more than {most:,} records; --report lists them")
    for name, records in report.too_large[:_TOLD]:
        say(
            f"{name}: shared URNs connect it with {records - 1:,} more records, so none of them is joined "
            f"(--max-cluster {policy.max_cluster})"
        )
    if len(report.too_large) > _TOLD:
        say(f"{counted(len(report.too_large) - _TOLD, 'more group')} of too many records: none of these is joined")
    for name, reason in report.not_carried[:_TOLD]:
        say(f"{name}: {reason}")
    if len(report.not_carried) > _TOLD:
        say(f"{counted(len(report.not_carried) - _TOLD, 'more record')} from or into which no fields are copied")
    _say_refused(report, policy)
    # Two long URNs may differ after the cut.
    if report.cut:
        say(f"{counted(report.cut, 'URN')} longer than --max-length: ignored, as the end was not read")
