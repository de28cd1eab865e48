"""Deduplication from Python, with the table of clusters in memory."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.dedup.compare.agreement import ASPECTS
from urnscan.dedup.dedup_report import DedupReport
from urnscan.dedup.job import run
from urnscan.dedup.policy import KEYS, WEAK, Policy
from urnscan.dedup.write.outputs import FILES, Outputs, review_sinks
from urnscan.display.text import counted, hints, html_counts, html_paragraphs, html_table, printable
from urnscan.errors import SourceError, checks_options, count_of, option
from urnscan.formats.context import full_name
from urnscan.library.shared import LISTS_REJECTS, as_frame, as_table, watched
from urnscan.records.keys import URN
from urnscan.run.options import Named, Options, as_flag, local_name, named_inputs, read_options
from urnscan.run.tasks import plan_size
from urnscan.scanner.grammar import ResolverTail
from urnscan.scanner.views.kinds import ViewName
from urnscan.tables.metadata import KEY
from urnscan.tables.output_file import check_outputs, commit_all
from urnscan.tables.parquet_writer import ParquetOutput
from urnscan.tables.schemas import CLUSTERS, REPEATING_IN_CLUSTERS
from urnscan.urn.equivalence import LevelName
from urnscan.urn.namespaces.own import Rules
from urnscan.urn.syntax import SyntaxName

if TYPE_CHECKING:
    import pandas as pd


# Maximum number of clusters that a notebook shows, and that `print` shows with as many messages of each kind.
_SHOWN = 20
_PRINTED = 10
# Maximum number of URNs of each cluster.
_URNS_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Dedup:
    """Result of `deduplicate`: a table of records with their clusters, and counts. A notebook and `print` show the
    counts, the largest clusters, the decisions that were not applied, and the failures.
    """

    clusters: pa.Table
    """A row for each record, in the order of the dumps, with the columns of `urnscan dedup -o`: `cluster` (the number,
    from 1, of the cluster, whose records describe the same work), `kept` (whether the record stays) and others.
    """
    report: DedupReport
    """Counts, and the failures: inputs and records that could not be read."""

    def to_pandas(self) -> pd.DataFrame:
        """Convert `clusters` to a pandas frame, with the values and types that `pandas.read_parquet` reads from the
        Parquet file; the metadata of the run are in `frame.attrs["urnscan"]`.
        """
        return as_frame(self.clusters)

    @checks_options
    def to_parquet(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write `clusters` to a Parquet file, the same that `urnscan dedup -o` writes. With `force`, an existing file
        is replaced.

        Raises FatalError if the file cannot be written or, without `force`, exists already.
        """
        with ParquetOutput(local_name(path), CLUSTERS, dictionaries=REPEATING_IN_CLUSTERS, force=force) as file:
            for batch in self.clusters.to_batches():
                file.write(batch)
            file.commit(json.loads(self.clusters.schema.metadata[KEY.encode()]))

    def __repr__(self) -> str:
        rows, count = self._largest(_PRINTED)
        lines = [", ".join(self._counts())]
        for row in rows:
            name = f"{full_name(row['source'], row['member'])}: record {row['record']:,}"
            lines.append(f"{row['records']:>9,}  {name}" + (f" ({row['record_id']})" if row["record_id"] else ""))
        if count > len(rows):
            lines.append(f"and {counted(count - len(rows), 'other cluster')} with duplicates")
        report = self.report
        kinds: list[tuple[str, str, Sequence[SourceError]]] = [
            *report.decisions_to_check(),
            ("failure", "failures", report.failures),
            ("note", "notes", report.notes),
        ]
        for one, many, errors in kinds:
            if errors:
                lines += [f"{counted(count_of(errors), one, many)}:", *(f"  {error}" for error in errors[:_PRINTED])]
            if rest := count_of(errors[_PRINTED:]):
                lines.append(f"  and {rest:,} more")
        return "\n".join(map(printable, [*lines, *self._remarks()]))

    def _repr_html_(self) -> str:
        rows, count = self._largest(_SHOWN)
        names = ("cluster", "records", "source of the one kept", "record", "record_id", "joined_by")
        cells = [
            (
                *(row[name] for name in ("cluster", "records", "source", "record", "record_id")),
                ", ".join(row["joined_by"][:_URNS_SHOWN]) + (", …" if len(row["joined_by"]) > _URNS_SHOWN else ""),
            )
            for row in rows
        ]
        table = html_table(names, cells) if cells else ""
        more = f"<p>the {_SHOWN} largest of {count:,} with duplicates</p>" if count > _SHOWN else ""
        return (
            html_counts(*self._counts()) + table + more + html_paragraphs(self._remarks()) + self.report.html_errors()
        )

    def _counts(self) -> list[str]:
        metadata = json.loads(self.clusters.schema.metadata[KEY.encode()])
        return self.report.parts(has_keys=list(metadata["keys"]) != [URN])

    def _remarks(self) -> list[str]:
        return [*self.report.silences(), *hints(self.report, option, LISTS_REJECTS)]

    def _largest(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The rows of the kept records of the largest clusters with duplicates, each with the number of its `records`;
        and the number of all such clusters.
        """
        sizes = self.clusters.group_by("cluster", use_threads=False).aggregate([([], "count_all")])
        sizes = sizes.filter(pc.greater(sizes.column("count_all"), 1))
        order = pc.sort_indices(sizes, [("count_all", "descending"), ("cluster", "ascending")])
        largest = dict(zip(*(column.to_pylist() for column in sizes.take(order[:most]).columns), strict=True))
        is_shown = pc.is_in(self.clusters.column("cluster"), pa.array(largest, pa.int64()))
        kept = self.clusters.filter(pc.and_(is_shown, pc.equal(self.clusters.column("cluster_rank"), 1))).to_pylist()
        rows = {row["cluster"]: row | {"records": largest[row["cluster"]]} for row in kept}
        return [rows[cluster] for cluster in largest], len(sizes)


@checks_options
def deduplicate(
    *dumps: Named,
    deduplicated: str | os.PathLike[str] | None = None,
    removed: str | os.PathLike[str] | None = None,
    mapping: str | os.PathLike[str] | None = None,
    review: str | os.PathLike[str] | None = None,
    review_all: bool = False,
    candidates: str | os.PathLike[str] | None = None,
    wrong: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: bool | None = None,
    any_urn: bool = False,
    fields: bool = True,
    keys: str | Iterable[str] = KEYS,
    weak: str | Iterable[str] = WEAK,
    max_class: int | str = 100,
    agree: str | Iterable[str] = ASPECTS,
    max_cluster: int = 50,
    keep: str | Iterable[str] = ("fullest",),
    carry: str | Iterable[str] = (),
    decisions: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    never_join: str | os.PathLike[str] | None = None,
    record: str | None = None,
    syntax: SyntaxName = "rfc8141",
    equivalence: LevelName = "namespace",
    trim: bool = False,
    recover: ViewName | Iterable[ViewName] = (),
    resolver_tail: ResolverTail = "cut",
    max_length: int = 65_536,
    nid: str | Iterable[str] = (),
    not_nid: str | Iterable[str] = (),
    rules: Rules = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    follow: bool = False,
    encoding: str | None = None,
    max_ratio: int = 1_000,
    max_size: int | str = 10**13,
    max_depth: int = 8,
    max_members: int = 10**7,
    jobs: int | None = None,
    strict: bool = False,
) -> Dedup:
    """Find the records of bibliographic dumps that describe the same book, article or other work.

    Records are joined if they share a URN or another identifier, and their descriptions do not conflict. The dumps are
    only read.

    Outputs, each a path; the suffix of a table sets its format (.parquet, .xlsx, .csv, .tsv, .jsonl):

    * `deduplicated`: the dumps without duplicates, a file or a folder. `removed`: the duplicates, in the same way.
    * `mapping`: a table that says which kept record replaces each removed one.
    * `review`: the groups in doubt that are not decided, as a table or, with .html, as a page. `review_all` adds the
      decided groups, and all from which a record is removed.
    * `candidates`: a table of pairs that share no key and may be the same.
    * `wrong`: a table of the wrong ISBN and ISSN of all records.
    * `force`: replace outputs that exist.

    Tables that people wrote: `decisions` is the path of an edited table of `review` or `candidates`, or a list of such
    paths; `never_join` is the path of a table with pairs of identifiers whose records are never joined.

    `any_urn`, and the parameters from `keys` to `record`, are the fields of `Policy`: which identifiers join records,
    which conflicts prevent it, and which record of a cluster stays. The other options are those of `scan`, with other
    defaults for three: `equivalence` is "namespace"; `syntax` is "rfc8141", as `urn:a:b#page=2` names the same work as
    `urn:a:b`; `resolver_tail` is "cut", as parameters of a link are not part of a name. `jobs` is the number of
    processes that read dumps above 16 MB in all, except MARC in ISO 2709 and MARCXML; None: the number of cores; 1:
    only this process. `progress`: whether to show a bar; None: in interactive sessions. `fields` is ignored.

    Returns a `Dedup` with a row for each record, all in memory (use the command for very large dumps), and counts.
    Records and inputs that cannot be read are in `report.failures`; with `strict`, a failure raises FatalError.

    Raises FatalError if no dump can be read, if `decisions`, `never_join` or `rules` cannot be read, for an unknown
    `encoding`, for an output that is missing (`carry` needs `deduplicated`) or cannot be written; ArgumentError (a
    ValueError and a TypeError) for other invalid options.

    >>> from urnscan import deduplicate, samples
    >>> result = deduplicate(samples() / "catalogue.marcxml.xml")
    >>> result.report.records, result.report.duplicates
    (5, 1)
    >>> result.clusters.select(["record_id", "cluster", "kept"]).slice(1, 1).to_pylist()
    [{'record_id': '990000102', 'cluster': 1, 'kept': True}]
    """
    policy, options = read_options(locals(), Policy, Options)
    inputs = named_inputs(dumps)
    rows: list[pa.RecordBatch] = []
    with contextlib.ExitStack() as stack:
        arguments = {"deduplicated": deduplicated, "removed": removed, "mapping": mapping, "review": review}
        arguments |= {"candidates": candidates, "wrong": wrong}
        names = {kind: local_name(path) for kind, path in arguments.items() if path is not None}
        paths = check_outputs(*names.values())
        files = {kind: stack.enter_context(FILES[kind](name, force=force)) for kind, name in names.items()}
        review_table, review_page = review_sinks(files.get("review"))
        outputs = Outputs(
            clusters=rows.append,
            mapping=files["mapping"].write if "mapping" in files else None,
            review=review_table,
            review_page=review_page,
            review_all=as_flag("review_all", review_all),
            candidates=files["candidates"].write if "candidates" in files else None,
            wrong=files["wrong"].write if "wrong" in files else None,
            dumps=files.get("deduplicated"),
            removed=files.get("removed"),
            paths=paths,
        )
        with watched(progress, "reading", lambda: plan_size(inputs, options, paths)) as shown:
            report = run(inputs, options, policy, outputs, shown)
        metadata = report.metadata(options, policy)
        commit_all(files.values(), metadata)
    return Dedup(as_table(rows, CLUSTERS, metadata), report)
