"""What the report shows of a run: how large clusters are, the largest of them, and some side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan import __version__
from urnscan.arrow import number_array, string_array
from urnscan.dedup.harvest import Dump
from urnscan.dedup.joining import Numbers
from urnscan.dedup.policy import Policy
from urnscan.errors import SourceError
from urnscan.options import Options
from urnscan.report.dedup import Common, Example, ExampleRecord, Input, Large, Summary
from urnscan.tables import canonical_column
from urnscan.views import make_scanner

__all__ = ["EXCERPT", "Chosen", "Place"]

EXCERPT = 3_000
"""Octets of a record that are shown."""
_LARGEST = 10  # clusters that are named
_FIRST = 6  # clusters that are shown, in their order
_SIDE_BY_SIDE = 3  # records of a cluster
_NAMED = 5  # records and URNs of a large cluster
_COMMON = 100
_FAILURES = 20

Place = tuple[str, str | None, int]
"""Where a record stands: source, member, offset."""
_Row = Mapping[str, Any]


class Chosen:
    """The clusters that are shown, and the rows of some of their records."""

    def __init__(self, cluster: Numbers) -> None:
        """`cluster` is that of each record."""
        sizes = np.bincount(cluster, minlength=1)
        largest = np.argsort(-sizes, kind="stable")[:_LARGEST]
        small = np.flatnonzero((sizes > 1) & (sizes <= _SIDE_BY_SIDE))[:_FIRST]
        self._sizes = sizes
        self._largest = largest[sizes[largest] > 1].tolist()
        self._shown = list(dict.fromkeys([*small.tolist(), *self._largest[:2]]))
        self._wanted = number_array(np.array([*self._largest, *self._shown], np.int64))
        self._rows: dict[int, list[_Row]] = defaultdict(list)
        self._without = 0  # records that name no URN

    def take(self, rows: pa.RecordBatch) -> None:
        """Look at CLUSTERS rows."""
        self._without += pc.sum(pc.equal(pc.list_value_length(rows.column("urns")), 0)).as_py()
        wanted = pc.and_(
            pc.is_in(rows.column("cluster"), value_set=self._wanted), pc.less_equal(rows.column("rank"), _NAMED)
        )
        for row in rows.filter(wanted).to_pylist():
            self._rows[row["cluster"]].append(row)

    def places(self) -> Mapping[Place, int]:
        """Where the records stand of which excerpts are to be shown, and how many octets they have."""
        rows = (row for cluster in self._shown for row in self._beside(cluster))
        return {_place(row): row["length"] for row in rows}

    def _beside(self, cluster: int) -> Sequence[_Row]:
        """The records of a cluster that are shown side by side, in the order of their ranks."""
        return sorted(self._rows[cluster], key=lambda row: row["rank"])[:_SIDE_BY_SIDE]

    def summary(
        self,
        dumps: Iterable[Dump],
        options: Options,
        policy: Policy,
        common: Sequence[tuple[str, int]],
        failures: Sequence[SourceError],
        excerpts: Mapping[Place, bytes],
    ) -> Summary:
        """The page's content; `excerpts` are the octets that `places` asked for, the first EXCERPT of each record."""
        sizes = Counter(self._sizes[1:].tolist())
        spellings = _finder(options)
        records = sum(size * count for size, count in sizes.items())
        return Summary(
            version=__version__,
            inputs=[Input(dump.name, dump.format.title, dump.records, dump.damaged) for dump in dumps],
            records=records,
            clusters=sizes.total(),
            duplicates=records - sizes.total(),
            without=self._without,
            sizes=sizes,
            largest=[self._large(cluster) for cluster in self._largest],
            common=[Common(urn, count) for urn, count in common[:_COMMON]],
            more_common=max(0, len(common) - _COMMON),
            examples=[
                Example(
                    cluster,
                    int(self._sizes[cluster]),
                    [_example(row, excerpts[_place(row)], spellings) for row in self._beside(cluster)],
                )
                for cluster in self._shown
            ],
            settings=_settings(options, policy),
            failures=[str(failure) for failure in failures[:_FAILURES]],
            more_failures=max(0, len(failures) - _FAILURES),
        )

    def _large(self, cluster: int) -> Large:
        rows = self._rows[cluster]
        urns = list(dict.fromkeys(urn for row in rows for urn in row["joined_by"]))
        names = [row["record_id"] or f"record {row['record']:,}" for row in rows]
        return Large(cluster, int(self._sizes[cluster]), urns[:_NAMED], names, max(0, len(urns) - _NAMED))


def _place(row: _Row) -> Place:
    return row["source"], row["member"], row["offset"]


def _example(row: _Row, excerpt: bytes, spellings: Callable[[bytes], Iterable[tuple[str, str]]]) -> ExampleRecord:
    return ExampleRecord(
        source=row["source"] if row["member"] is None else f"{row['source']} {row['member']}",
        number=row["record"],
        offset=row["offset"],
        identifier=row["record_id"],
        excerpt=excerpt.decode("utf-8", "replace"),
        rest=row["length"] - len(excerpt),
        urns=row["urns"],
        joined_by=row["joined_by"],
        spellings=[text for text, urn in spellings(excerpt) if urn in row["joined_by"]],
        kept=row["kept"],
    )


def _finder(options: Options) -> Callable[[bytes], Iterable[tuple[str, str]]]:
    """What finds the URNs in octets: as they are spelled there, and their canonical forms."""
    scanner = make_scanner(options.grammar(count_lines=False), options.recover)

    def find(octets: bytes) -> Iterable[tuple[str, str]]:
        for matches in scanner.scan_octets(np.frombuffer(octets, np.uint8)):
            forms = canonical_column(matches, options.level).to_pylist()
            yield from zip(string_array(matches.text, matches.text_offsets).to_pylist(), forms, strict=True)

    return find


def _settings(options: Options, policy: Policy) -> Sequence[tuple[str, str]]:
    """The options that say what was joined, as the command knows them."""
    switches = {"--fields": policy.fields, "--trim": options.trim}
    return [
        ("--equivalence", options.equivalence),
        ("--syntax", options.syntax),
        ("--keep", policy.keep),
        ("--weak", ",".join(policy.weak) or "nothing"),
        ("--max-class", f"{policy.max_class:,}"),
        *((name, "yes" if is_on else "no") for name, is_on in switches.items()),
        *([("--recover", ",".join(options.recover))] if options.recover else []),
    ]
