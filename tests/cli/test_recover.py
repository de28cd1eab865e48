"""`--recover`: URNs that do not stand there literally, with the view that shows them."""

from __future__ import annotations

import gzip
import json

import pyarrow.parquet as pq
import pytest

from urnscan.scanner.views.kinds import KINDS

pytestmark = pytest.mark.full

TEXT = (
    b"<a href='https://resolver.example/?urn=urn%3Anbn%3Ade%3A101%3A1-2&x=y'>1</a>\n"
    b'{"id": "urn\\u003aisbn\\u003a0395363411"}\n'
    b"<p>urn&#58;issn&#58;0317-8471 and urn:oid:1.2</p>\n"
    b"as in urn:ietf:params:rtp-\n   hdrext:sdes:mid\n"
    b"URN: nbn:fi-fe1\n"
    b"<p>urn:uuid:<b>f81d4fae</b>-7dec-11d0-a765-00a0c91e6bf6</p>\n"
    b"ISBN 978-0-306-40615-7\n"
)
FOUND = [
    ("urn:nbn:de:101:1-2", "percent", "resolver.example"),
    ("urn:isbn:0395363411", "escapes", None),
    ("urn:issn:0317-8471", "entities", None),
    ("urn:oid:1.2", None, None),
    ("urn:ietf:params:rtp-hdrext:sdes:mid", "wraps", None),
    ("URN:nbn:fi-fe1", "labels", None),
    ("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "markup", None),
    ("urn:isbn:9780306406157", "bare", None),
]
BESIDES = {"markup": ["entities"]}
"""Views whose names another one shows, too, where it is alone: markup reads character references."""


class TestRecover:
    @pytest.mark.core
    def test_all(self, urnscan):
        urnscan.write("a.html", TEXT)
        urnscan("a.html", "--recover", "all", "-o", "c.parquet", "--occurrences", "occ.parquet")
        assert urnscan.rows("occ.parquet", "text", "via", "resolver") == FOUND
        for (offset, length), (text, via, _) in zip(urnscan.rows("occ.parquet", "start", "length"), FOUND, strict=True):
            assert (TEXT[offset : offset + length].decode() == text) == (via is None)
        assert urnscan.rows("c.parquet", "urn") == sorted(
            ((text.replace("URN", "urn"),) for text, _, _ in FOUND), key=lambda row: row[0].encode()
        )

    def test_off_by_default(self, urnscan):
        urnscan.write("a.html", TEXT)
        urnscan("a.html", "--occurrences", "occ.parquet")
        assert urnscan.rows("occ.parquet", "text", "via") == [("urn:oid:1.2", None), ("urn:ietf:params:rtp-", None)]

    @pytest.mark.parametrize("kind", KINDS)
    def test_each_shows_its_own(self, urnscan, kind):
        urnscan.write("a.html", TEXT)
        found = [json.loads(line) for line in urnscan.printed("a.html", "--json", "--recover", kind)]
        assert {row["via"] for row in found} == {None, kind}
        assert [(row["text"], row["via"]) for row in found if row["via"]] == [
            (text, kind) for text, via, _ in FOUND if via in (kind, *BESIDES.get(kind, ()))
        ]

    def test_several(self, urnscan):
        urnscan.write("a.html", TEXT)
        lines = urnscan.printed("a.html", "--recover", "percent,labels")
        assert [line.split(":", 2)[1] for line in lines] == ["1", "3", "4", "6"]

    def test_unknown(self, urnscan):
        (line,) = urnscan("-", "--recover", "percent,rot13", status=2).err.splitlines()
        assert "rot13" in line
        assert "percent, entities, escapes, wraps, labels" in line

    def test_the_metadata_says_so(self, urnscan):
        urnscan.write("a.html", TEXT)
        urnscan("a.html", "--recover", "wraps,percent", "-o", "c.parquet")
        made = json.loads(pq.read_metadata(urnscan.folder / "c.parquet").metadata[b"urnscan"])
        assert made["recover"] == ["wraps", "percent"]

    @pytest.mark.parametrize(
        ("recover", "jobs"),
        [("all", 1), ("all", 2), ("percent,entities,labels", 2), ("percent,entities,escapes,labels", 2)],
    )
    def test_a_huge_file_in_parts(self, urnscan, recover, jobs):
        """A part begins where no hidden URN can be cut: the same bytes whatever -j, and nothing lost between parts."""
        text = TEXT + b"and so on\n" * 500
        times = (20 << 20) // len(text)
        urnscan.write("a.html", text * times)
        urnscan("a.html", "--recover", recover, "-o", "c.parquet", "-j", str(jobs))
        rows = urnscan.rows("c.parquet", "occurrence_count", "urn")
        assert {count for count, _ in rows} == {times}
        shown = {
            text.replace("URN", "urn") for text, via, _ in FOUND if via is None or recover == "all" or via in recover
        }
        assert shown <= {urn for _, urn in rows}

    def test_in_compressed_text_and_tables(self, urnscan):
        """What is read is the text, in whatever form it is kept."""
        urnscan.write("a.html.gz", gzip.compress(TEXT))
        urnscan("a.html.gz", "--recover", "all", "--occurrences", "occ.parquet")
        assert urnscan.rows("occ.parquet", "text", "via", "resolver") == FOUND
