"""`--rejects FILE`: an output as the others are."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.full

TEXTS = {"a.txt": b"urn:cen.eu:x <urn:a:b> urn:isbn", "b.txt": b"\nurn:a:b%4"}
TEXTS_OF_REJECTS = [("urn:cen.eu:x",), ("urn:isbn",), ("urn:a:b%4",)]


@pytest.fixture
def texts(urnscan):
    for name, data in TEXTS.items():
        urnscan.write(f"texts/{name}", data)


@pytest.mark.usefixtures("texts")
class TestRejects:
    def test_alone(self, urnscan):
        """It is an output: nothing is printed beside it."""
        result = urnscan("texts", "--rejects", "r.parquet")
        assert result.out == b""
        assert result.summary.startswith("urnscan: 2 inputs, 41 bytes, 2 occurrences, 3 rejects, ")
        assert urnscan.rows("r.parquet", "text") == TEXTS_OF_REJECTS

    @pytest.mark.core
    def test_beside_the_others(self, urnscan):
        result = urnscan("texts", "-o", "c.parquet", "--occurrences", "o.parquet", "--rejects", "r.parquet")
        assert ", 2 occurrences, 1 class, 3 rejects, " in result.summary
        assert urnscan.rows("r.parquet", "text") == TEXTS_OF_REJECTS
        assert urnscan.rows("o.parquet", "text") == [("urn:a:b",)] * 2
        made = [pq.read_metadata(urnscan.folder / name).metadata[b"urnscan"] for name in ("c.parquet", "r.parquet")]
        assert made[0] == made[1]
        assert json.loads(made[1])["counts"]["rejects"] == 3

    def test_existing_file(self, urnscan):
        """Whole or not at all, and replaced with `--force` only."""
        urnscan.write("r.parquet", b"mine")
        result = urnscan("texts", "-o", "c.parquet", "--rejects", "r.parquet", status=2)
        assert "r.parquet" in result.err
        assert (urnscan.folder / "r.parquet").read_bytes() == b"mine"
        assert urnscan.names() == ["r.parquet", "texts"]
        urnscan("texts", "--rejects", "r.parquet", "--force")
        assert urnscan.rows("r.parquet", "text") == TEXTS_OF_REJECTS

    def test_is_not_read(self, urnscan):
        """An output in a folder that is scanned is no input."""
        urnscan("texts", "--rejects", "texts/r.parquet")
        result = urnscan("texts", "--rejects", "texts/r.parquet", "--force")
        assert result.summary.startswith("urnscan: 2 inputs, ")

    @pytest.mark.parametrize("option", ["-o", "--occurrences"])
    def test_named_twice(self, urnscan, option):
        result = urnscan("texts", option, "x.parquet", "--rejects", "./x.parquet", status=2)
        assert result.said == ["urnscan: x.parquet: named as two outputs; name two files"]

    def test_printing(self, urnscan):
        result = urnscan("texts", "--json", "--rejects", "r.parquet", status=2)
        assert len(result.said) == 1
        assert "--rejects" in result.said[0]
