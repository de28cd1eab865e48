"""Runs of the pipeline as rows of Python, and the rows that the oracle expects."""

from __future__ import annotations

import os

from tests.grouping.test_out_of_core import Occurrence, plain_classes
from tests.support.oracle import oracle
from tests.support.registrations import verdict
from tests.support.rows import occurrence_row
from tests.support.spelled import joined, spelled
from urnscan.display.progress import Progress
from urnscan.errors import SourceNote
from urnscan.run.options import Options
from urnscan.run.pipeline import Outputs, run
from urnscan.tables.schemas import CODED_CLASSES, OCCURRENCES
from urnscan.urn.equivalence import get_level
from urnscan.urn.namespaces import nid_status
from urnscan.urn.parser import parse


class Result:
    """The tables of a run as rows, and its report; checks what holds for every run."""

    def __init__(self, inputs, *, spill_folder=None, outputs=(), **options):
        self.options = Options(**options)
        found, classes, self.failed, self.progress = [], [], [], []
        self.report = run(
            [os.fspath(path) for path in inputs],
            self.options,
            Outputs(occurrences=found.append, classes=classes.append, paths=outputs, spill_folder=spill_folder),
            Progress(self.failed.append, self.progress.append),
        )
        self.occurrences = rows_of(found, OCCURRENCES)
        self.classes = rows_of(classes, CODED_CLASSES)
        assert self.report.occurrences == len(self.occurrences)
        assert self.report.classes == len(self.classes)
        assert self.report.failures == [each for each in self.failed if not isinstance(each, SourceNote)]
        assert self.report.notes == [each for each in self.failed if isinstance(each, SourceNote)]
        assert self.report.seconds > 0

    @property
    def texts(self):
        return [row["text"] for row in self.occurrences]


def rows_of(batches, schema):
    for batch in batches:
        batch.validate(full=True)
        assert batch.schema.equals(schema)
    return [row for batch in batches for row in batch.to_pylist()]


def expected_occurrences(files, syntax="rfc2141", equivalence="lexical", **options):
    """The rows of these (name, bytes), in their order."""
    return [
        occurrence_row(record, name, None, syntax, equivalence)
        for name, data in files
        for record in oracle(data, syntax, keep_query=equivalence == "resolution", **options)
    ]


def expected_classes(occurrences, syntax="rfc2141", equivalence="lexical"):
    """The classes of these rows of occurrences."""
    rows, texts = [], {}
    for row in occurrences:
        texts.setdefault(row["urn"], set()).add(row["text"])
    for row in plain_classes(
        Occurrence(row["urn"], row["text"], row["source"], row["member"], row["start"]) for row in occurrences
    ):
        urn = parse(row["urn"], syntax)
        judged = verdict(urn.canonical)
        rows.append(
            {
                "urn": row["urn"],
                "nid": urn.nid,
                "nss": urn.nss,
                "nid_status": nid_status(urn.nid),
                **{name: row[name] for name in ("occurrence_count", "source_count", "spelling_count", "spellings")},
                **{name: row[name] for name in ("first_source", "first_member", "first_start")},
                "valid": judged.valid,
                "problem": joined(
                    filter(None, [judged.problem]), *(spelled(text, syntax)[1] for text in texts[row["urn"]])
                ),
            }
        )
    assert get_level(equivalence, syntax)
    return rows
