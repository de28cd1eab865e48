"""ORC: every value of text and its place, and no file that brings the run down, though the library of Apache crashes."""

import io
import random
import signal

import pyarrow as pa
import pytest
from hypothesis import given
from pyarrow import orc

from tests.sources.test_columnar import TABLE, expected, tables
from tests.support.examples import FEW
from tests.support.tabular import gzipped, is_text, read_values, zipped
from urnscan.sources import scripts
from urnscan.sources.layers import Limits
from urnscan.sources.tables import orc as form
from urnscan.sources.tables import orc_script


def orc_of(table, **options):
    out = io.BytesIO()
    orc.write_table(table, out, **options)
    return out.getvalue()


@pytest.fixture
def saved(tmp_path):
    def saved(octets, name="a.orc"):
        (tmp_path / name).write_bytes(octets)
        return tmp_path / name

    return saved


def in_stripes(count=4, rows=1024, **options):
    """A table in so many stripes, and its file; the writer ends a stripe no sooner than behind 1,024 rows."""
    rng = random.Random(1)
    table = pa.table({"a": [f"value {rng.randbytes(50).hex()}" for _ in range(count * rows)], "n": range(count * rows)})
    return table, orc_of(table, stripe_size=1024, batch_size=rows, dictionary_key_size_threshold=0, **options)


@pytest.mark.parametrize("name", ["a.orc", "000000_0"])
def test_places(saved, name):
    """The values and places are those of Parquet, also in a file of Hive, whose name does not tell."""
    table = TABLE.set_column(5, "name", pa.array(["d", "e"]))
    values, errors = read_values(saved(orc_of(table), name))
    assert (sorted(values), errors) == (expected(table), [])


@FEW
@given(table=tables())
@pytest.mark.slow
def test_what_comes_out_is_what_python_sees(tmp_path_factory, table):
    """Any nesting of the types that ORC can write."""
    path = tmp_path_factory.getbasetemp() / "a.orc"
    try:
        path.write_bytes(orc_of(table))
        read = orc.ORCFile(path).read()
    except (pa.ArrowException, NotImplementedError):
        return
    found, errors = read_values(path)
    assert (sorted(found), errors) == (expected(read), [])


def test_columns(saved):
    path = saved(orc_of(TABLE.drop(["name"])))
    assert read_values(path, "authors.id") == ([("0/authors[0].id", b"i1"), ("0/authors[1].id", b"i2")], [])
    assert read_values(path, "nope", "title") == ([("0/title", b"a")], [])
    assert read_values(path, "nope") == ([], ["in: no column 'nope': it has id, title, raw, authors, map"])
    assert read_values(path, "id") == ([], ["in: column 'id' is int64, not text"])


@pytest.mark.parametrize("around", [gzipped, zipped])
def test_in_compression_and_archives_the_values_are_the_same(saved, around):
    path = saved(orc_of(TABLE.select(["title", "raw"])))
    inside, errors = read_values(around(path))
    member = "in/a.orc!/" if around is zipped else ""
    assert (inside, errors) == ([(member + place, value) for place, value in read_values(path)[0]], [])


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["uncompressed", "zlib", "snappy", "lz4", "zstd"])
def test_every_codec_stripe_by_stripe(saved, compression):
    table, octets = in_stripes(compression=compression)
    assert orc.ORCFile(io.BytesIO(octets)).nstripes == 4
    values, errors = read_values(saved(octets))
    assert (values, errors) == ([(f"{row}/a", value.encode()) for row, value in enumerate(table["a"].to_pylist())], [])


def test_a_damaged_stripe_costs_itself(saved):
    """The rows behind it keep their numbers, as another column of it can be read."""
    table, octets = in_stripes(compression="zlib")
    middle = len(octets) // 2 + 9_000
    values, errors = read_values(saved(octets[:middle] + b"\xff" * 200 + octets[middle + 200 :]))
    lost = set(range(4096)) - {int(place.split("/")[0]) for place, _ in values}
    assert len(lost) == 1024
    assert min(lost) % 1024 == 0
    assert len(errors) == 1
    assert errors[0].startswith(f"in: stripe {min(lost) // 1024} damaged: ")
    assert "counted" not in errors[0]
    assert dict(values) == {f"{row}/a": table["a"][row].as_py().encode() for row in range(4096) if row not in lost}


def test_what_is_cut_off_is_said(saved):
    octets = in_stripes(1)[1]
    for end in (len(octets) - 1, len(octets) // 2, 4):
        errors = read_values(saved(octets[:end]))[1]
        assert len(errors) == 1
        assert errors[0].startswith("in: cannot be read as ORC: ")


def test_text_that_begins_with_these_letters_is_text(saved):
    assert is_text(saved(b"ORCHID urn:a:b", "a.txt"))
    assert is_text(saved(b"ORC", "a.txt"))
    assert is_text(saved(b"\0\0urn:a:b"))


def test_a_crash_costs_a_stripe(saved, tmp_path, monkeypatch):
    """Another process goes on behind it; a file in which it crashes again and again is given up."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal\n"
        f"source = open({orc_script.__file__!r}).read().replace('        try:\\n            batch', "
        "'        if number in CRASHES: os.kill(os.getpid(), signal.SIGSEGV)\\n        try:\\n            batch')\n"
        "CRASHES = eval(os.environ['CRASHES'])\n"
        "exec(compile(source, 'script', 'exec'))\n"
    )
    monkeypatch.setattr(form.orc_script, "__file__", str(script))
    path = saved(in_stripes(4)[1])
    monkeypatch.setenv("CRASHES", "[1, 3]")
    values, errors = read_values(path)
    assert len(values) == 2048
    assert errors == [
        f"in: stripe {number} damaged: what reads ORC was ended by signal {signal.SIGSEGV}; "
        "rows behind it are counted without it"
        for number in (1, 3)
    ]
    monkeypatch.setenv("CRASHES", "range(99)")
    monkeypatch.setattr(form, "_MOST_CRASHES", 2)
    values, errors = read_values(path)
    assert values == []
    assert errors[-1] == "in: what reads ORC has ended 3 times: read no further"


@pytest.mark.slow
def test_a_process_that_is_silent_is_ended(saved, tmp_path, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(form.orc_script, "__file__", str(script))
    monkeypatch.setattr(scripts, "_PATIENCE", 1)
    assert read_values(saved(in_stripes(1)[1])) == (
        [],
        ["in: cannot be read as ORC: what reads ORC took more than 1 s for a stripe"],
    )


@pytest.mark.slow
def test_damaged_copies_end_in_errors(saved):
    """Octets flipped in the metadata at the end: pyarrow crashes on some of these in the process that reads them."""
    rng = random.Random(3)
    octets = orc_of(TABLE.drop(["name"]), compression="uncompressed")
    for _ in range(25):
        damaged = bytearray(octets)
        for _ in range(rng.choice([1, 1, 3])):
            damaged[rng.randrange(3, len(damaged))] ^= 1 << rng.randrange(8)
        read_values(saved(bytes(damaged)), limits=Limits(size=1 << 24))


def test_the_limits_end_it(saved):
    """Many times its size comes out of a column that repeats."""
    octets = orc_of(pa.table({"a": ["urn:example:" + "x" * 10_000] * 3000}), compression="zstd")
    assert len(octets) < 100_000
    assert "unfolds to more than 1,000,000 octets" in read_values(saved(octets), limits=Limits(size=10**6))[1][0]
