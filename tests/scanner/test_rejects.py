"""What begins like a URN and is none: listed with its place and its reason, however the work is cut and shared out."""

from __future__ import annotations

import gzip
import re
import struct
import tempfile
import zlib
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.run.test_pipeline import contents, sizes, write_tree
from tests.support import oracle
from tests.support.oracle import SYNTAXES, rejects
from tests.support.results import rows_of
from urnscan.errors import InvalidURN
from urnscan.run import pipeline, worker
from urnscan.run.options import Options
from urnscan.run.pipeline import Outputs, run
from urnscan.run.tasks import Sizes
from urnscan.tables.parquet_writer import ParquetOutput
from urnscan.tables.schemas import REJECTS
from urnscan.urn.parser import parse
from urnscan.urn.reject_reasons import REASONS

ROOT = Path(__file__).parents[2]
TEXT = b"""<cbc:ID>urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017</cbc:ID> urn:isbn
urn:urn:foo:bar, urn:x:100% of it; urn: and "urn:" and 'urn:', urn:%s:{x}|urn:ab-:c"""


def found(*paths, **options):
    """The rows of a run, and its report; nothing else is asked for."""
    batches = []
    report = run([str(path) for path in paths], Options(**options), Outputs(rejects=batches.append))
    rows = rows_of(batches, REJECTS)
    assert report.rejects == len(rows)
    assert report.classes is None
    return rows, report


def expected(files, syntax="rfc2141", **options):
    """The rows of these (name, bytes), in their order."""
    return [
        {
            "source": name,
            "member": None,
            "start": reject.start,
            "line": reject.line,
            "text": reject.text.decode(),
            "reason": reject.code,
            "message": message(reject, syntax),
            "position": reject.position,
        }
        for name, data in files
        for reject in rejects(data, syntax, **options)
    ]


def message(reject, syntax):
    """What the parser says of the text, also where it goes on behind the 256 bytes."""
    with pytest.raises(InvalidURN) as caught:
        parse((reject.name + reject.behind) or reject.text, syntax)
    assert (caught.value.code, caught.value.position) == (reject.code, reject.position)
    return caught.value.reason


class TestRows:
    """docs/reference/files.md, rejects: the columns, and what is listed."""

    def test_what_is_listed(self, tmp_path):
        (tmp_path / "a").write_bytes(TEXT)
        rows, _ = found(tmp_path / "a")
        assert [(row["line"], row["text"], row["reason"], row["position"]) for row in rows] == [
            (1, "urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017", "nid-character", 7),
            (1, "urn:isbn", "nid-colon-missing", 8),
            (2, "urn:urn:foo:bar,", "nid-reserved", 4),
            (2, "urn:x:100%", "percent-malformed", 9),
            (2, "urn:%s:{x}|urn:ab-:c", "nid-first-character", 4),
        ]
        assert rows == expected([(str(tmp_path / "a"), TEXT)])

    def test_what_looks_like_a_component(self, tmp_path):
        """RFC 8141 §2: a URN ends before what is none, and that is listed; the name before it is found."""
        ends = {
            "?id=5": ("question-mark", '"?" is followed by neither "+" nor "="'),
            "?%20": ("question-mark", '"?" is followed by neither "+" nor "="'),
            "?=": ("component-missing", "the q-component is empty"),
            "?+?=q": ("component-missing", "the r-component is empty"),
            "?=#f": ("component-missing", "the q-component is empty"),
            "?+/x": ("component-first-character", "the r-component cannot begin with '/'"),
            "?=?x": ("component-first-character", "the q-component cannot begin with '?'"),
        }
        texts = [f"urn:example:a{end}" for end in ends] + ["urn:example:a#b#c"]
        prose = ["urn:example:a?", "urn:example:a?)", "urn:example:a?,", "urn:example:a?+r?=q?#f?"]
        (tmp_path / "a").write_text("\n".join([*texts, *prose]))
        rows, report = found(tmp_path / "a", syntax="rfc8141")
        told = [*((text, *why, 13) for text, why in zip(texts, ends.values(), strict=False))]
        told.append(("urn:example:a#b#c", "second-fragment", 'a second "#"', 15))
        assert [(row["text"], row["reason"], row["message"], row["position"]) for row in rows] == told
        assert report.occurrences == len(texts) + len(prose)
        assert found(tmp_path / "a")[0] == [] == found(tmp_path / "a", nid="isbn", syntax="rfc8141")[0]

    @pytest.mark.parametrize("trim", [False, True])
    def test_a_dash_instead_of_a_hyphen(self, tmp_path, trim):
        """docs/reference/rejects.md: a dash before a letter or digit cuts a name; one of the sentence, or between two
        URNs, does not."""
        names = [f"urn:ab:c{dash}1" for dash in "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"]
        prose = ["urn:ab:c\u2013 d", "urn:ab:c\u2013urn:ab:d", "urn:ab:c\u2013", "urn:ab:c\u2018d", "urn:ab:c\u2211d"]
        (tmp_path / "a").write_text("\n".join([*names, *prose]), "utf-8")
        rows, report = found(tmp_path / "a", trim=trim)
        assert [(row["line"], row["text"], row["reason"], row["position"]) for row in rows] == [
            (line, "urn:ab:c", "non-ascii-character", 8) for line in range(1, len(names) + 1)
        ]
        assert {row["message"].partition(" ")[2] for row in rows} == {
            "is not allowed in a URN; type a hyphen (-) instead of this dash"
        }
        assert report.cut_short == len(names)

    def test_what_looks_like_a_directive(self, tmp_path):
        """rfc2141bis-03 §2.3, §2.4."""
        (tmp_path / "a").write_text("urn:ab:c?d urn:ab:c?s=d&1 urn:ab:c?s=d#e#f urn:ab:c? urn:ab:c?s=d&c=e#f")
        rows, _ = found(tmp_path / "a", syntax="rfc2141bis-03")
        assert [(row["text"], row["reason"], row["position"]) for row in rows] == [
            ("urn:ab:c?d", "query-directive", 8),
            ("urn:ab:c?s=d&1", "query-directive", 12),
            ("urn:ab:c?s=d#e#f", "second-fragment", 14),
        ]

    @pytest.mark.parametrize("end", ["?id=5", "?", "?=", "#", "&x=y", "?s=d&"])
    @pytest.mark.parametrize("syntax", SYNTAXES[1:])
    def test_the_rest_of_a_url(self, tmp_path, syntax, end):
        """Where it is cut off, it is no reject, but for the empty component, which is the URN's (RFC 8141 §2.3.2)."""
        (tmp_path / "a").write_text(f"https://r.example/urn:ab:c{end}\n")
        rows, _ = found(tmp_path / "a", syntax=syntax, resolver_tail="cut")
        wrong = ["component-missing"] if (syntax, end) == ("rfc8141", "?=") else []
        assert [row["reason"] for row in rows] == wrong

    @pytest.mark.parametrize("syntax", SYNTAXES)
    @pytest.mark.parametrize("trim", [False, True])
    def test_percent_past_the_text(self, tmp_path, syntax, trim):
        """`position` counts on where the text is cut at 256 bytes."""
        data = b"urn:ab:" + b"c" * 400 + b"%4 "
        (tmp_path / "a").write_bytes(data)
        (row,), report = found(tmp_path / "a", syntax=syntax, trim=trim)
        assert (row["text"], row["position"]) == (data[:256].decode(), 407)
        assert (row["reason"], row["message"]) == ("percent-malformed", REASONS["percent-malformed"])
        assert report.occurrences == 1

    def test_nothing_to_list(self, tmp_path):
        (tmp_path / "a").write_bytes(b"urn:a:b return:x urn: the urn:. (urn:) urn:-- urn:\xc3\xa9:b")
        assert found(tmp_path / "a")[0] == []

    def test_closed_list(self):
        """The page of the rejects has the codes that there are, and each is one of the parser's."""
        page = (ROOT / "docs" / "reference" / "rejects.md").read_text(encoding="utf-8")
        _, _, table = page.partition("| reason | what it says |\n")
        codes = re.findall(r"`([a-z-]+)`(?=[^|]*\|.*\|$)", table.partition("\n\n")[0], re.MULTILINE)
        assert sorted(codes) == sorted(oracle.CODES)
        assert set(codes) < set(REASONS)

    def test_not_asked_for(self, tmp_path):
        (tmp_path / "a").write_bytes(TEXT)
        assert run([str(tmp_path)], Options()).rejects is None


class TestEverywhere:
    """The same rows whatever the threads, and however inputs are cut into parts, put together and read."""

    @pytest.mark.full
    @given(
        files=st.lists(st.one_of(contents, st.just(TEXT)), max_size=6),
        cut=sizes,
        syntax=st.sampled_from(SYNTAXES),
        options=st.fixed_dictionaries(
            {
                "trim": st.booleans(),
                "resolver_tail": st.sampled_from(["keep", "cut"]),
                "max_length": st.one_of(st.just(65_536), st.integers(8, 60)),
            }
        ),
        jobs=st.sampled_from([1, 2]),
    )
    def test_tree(self, files, cut, syntax, options, jobs):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(pipeline, "_SIZES", cut):
            written = write_tree(folder, files)
            rows, _ = found(folder, syntax=syntax, jobs=jobs, **options)
        assert rows == expected(written, syntax, **options)

    @pytest.mark.parametrize("part", range(20, 50, 3))
    def test_parts_of_a_huge_file(self, tmp_path, monkeypatch, part):
        """No part begins in the text of a reject, though no URN holds `{` or `|`; lines are those of the file."""
        monkeypatch.setattr(pipeline, "_SIZES", Sizes(part, 20, 3))
        data = b"urn:a{b}|c}{d:e\nurn:x:y%zz{f}{g}\n" * 8
        (tmp_path / "huge").write_bytes(data)
        with mock.patch.object(worker, "open_range", side_effect=worker.open_range) as ranges:
            rows, _ = found(tmp_path / "huge", jobs=2)
        assert ranges.call_count > 4
        assert rows == expected([(str(tmp_path / "huge"), data)])

    def test_same_bytes(self, tmp_path, monkeypatch):
        folder = tmp_path / "tree"
        folder.mkdir()
        write_tree(folder, [TEXT * number for number in range(1, 30)])
        written = []
        for number, (jobs, part, together) in enumerate([(1, 1 << 20, 1 << 20), (2, 300, 100), (3, 1_000, 1)]):
            monkeypatch.setattr(pipeline, "_SIZES", Sizes(part, together))
            rules = Options(jobs=jobs)
            with ParquetOutput(tmp_path / str(number), REJECTS) as output:
                report = run([str(folder)], rules, Outputs(rejects=output.write))
                output.commit(report.metadata(rules))
            written.append((tmp_path / str(number)).read_bytes())
        assert written[0] == written[1] == written[2]
        assert report.metadata(rules)["counts"]["rejects"] == report.rejects == 5 * sum(range(1, 30))


class TestInside:
    """In what is packed, `member` tells where."""

    def test_values_of_a_table(self, tmp_path):
        values = ["urn:a:b", "x\nurn:a.b:c", None, "urn:isbn", "ends in urn:", "urn:c%"]
        pq.write_table(pa.table({"id": values}), tmp_path / "a.parquet")
        rows, report = found(tmp_path / "a.parquet")
        assert [(row["member"], row["start"], row["line"], row["text"]) for row in rows] == [
            ("1/id", 2, 2, "urn:a.b:c"),
            ("3/id", 0, 1, "urn:isbn"),
            ("5/id", 0, 1, "urn:c%"),
        ]
        assert report.occurrences == 1

    def test_wrong_checksum(self, tmp_path):
        """What decodes counts: hits and rejects."""
        bad = gzip.compress(b" urn:a:2 urn:bad \n")
        bad = bad[:-8] + struct.pack("<I", zlib.crc32(b"else")) + bad[-4:]
        data = gzip.compress(b"urn:a:1 urn:good:\n") + bad + gzip.compress(b"urn:a:3 urn:best\n")
        (tmp_path / "x.gz").write_bytes(data)
        occurrences, batches, classes = [], [], []
        report = run(
            [str(tmp_path / "x.gz")],
            Options(),
            Outputs(occurrences=occurrences.append, classes=classes.append, rejects=batches.append),
        )
        rows = rows_of(batches, REJECTS)
        assert [row["text"] for row in rows] == ["urn:good:", "urn:bad", "urn:best"]
        assert [text for batch in occurrences for text in batch.column("text").to_pylist()] == [
            "urn:a:1",
            "urn:a:2",
            "urn:a:3",
        ]
        assert (report.occurrences, report.rejects, report.classes) == (3, 3, 3)
        assert len(report.failures) == 1


class TestPython:
    """`urnscan.scan(…, rejects=True)`."""

    def test_table(self, tmp_path):
        (tmp_path / "a").write_bytes(TEXT)
        scan = urnscan.scan(tmp_path, rejects=True)
        assert scan.rejects.schema.equals(REJECTS)
        assert scan.rejects.to_pylist() == expected([(str(tmp_path / "a"), TEXT)])
        assert scan.occurrences.num_rows == scan.report.occurrences > 0

    def test_not_asked_for(self, tmp_path):
        (tmp_path / "a").write_bytes(TEXT)
        assert urnscan.scan(tmp_path).rejects is None

    def test_none_found(self, tmp_path):
        (tmp_path / "a").write_bytes(b"urn:a:b")
        assert urnscan.scan(tmp_path, rejects=True).rejects.to_pylist() == []
