"""Parquet and Arrow IPC: every value of text and its place, nothing else, and no file that brings the run down."""

import io
import mmap
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.tabular import gzipped, is_text, read_values, zipped
from urnscan.errors import LimitError
from urnscan.formats.context import Layer, Reading
from urnscan.formats.limits import Budget, Limits
from urnscan.formats.tables import arrow, parquet, values
from urnscan.formats.tables import nested_text as leaves

TEXTS = st.one_of(st.none(), st.text(max_size=8), st.just("urn:example:a"))
BYTES = st.one_of(st.none(), st.binary(max_size=8))
TABLE = pa.table(
    {
        "id": [1, 2],
        "title": ["a", None],
        "raw": [b"\xff\xfe", b"x"],
        "authors": [[{"id": "i1", "n": 1}, {"id": "i2", "n": 2}], []],
        "map": pa.array([[("k", "v")], None], pa.map_(pa.string(), pa.string())),
        "name": pa.array(["d", "e"]).dictionary_encode(),
    }
)
BY_KIND = pa.schema([("kind", pa.dictionary(pa.int32(), pa.string()))])


def save_parquet(path, table):
    pq.write_table(table, path, row_group_size=3)


def save_file(path, table):
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, 2)


def save_stream(path, table):
    with pa.ipc.new_stream(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table, 2)


FORMS = {"a.parquet": save_parquet, "a.arrow": save_file, "a.bin": save_stream}
every_form = pytest.mark.parametrize("name", FORMS)


@pytest.fixture
def saved(tmp_path):
    def saved(name, table=TABLE):
        FORMS[name](tmp_path / name, table)
        return tmp_path / name

    return saved


def naive(value, place):
    """The values of text in a Python object, as (place, bytes): what is independent of Arrow's layout."""
    match value:
        case str():
            yield place, value.encode()
        case bytes():
            yield place, value
        case dict():
            for key, inner in value.items():
                yield from naive(inner, f"{place}.{key}")
        case [(_, _), *_] if all(isinstance(entry, tuple) for entry in value):
            for at, (key, inner) in enumerate(value):
                yield from naive(key, f"{place}[{at}].key")
                yield from naive(inner, f"{place}[{at}].value")
        case list():
            for at, inner in enumerate(value):
                yield from naive(inner, f"{place}[{at}]")


def read_array(array, limits=None):
    layer = Layer("in", "in", Reading(), Budget("in", limits or Limits()))
    found = leaves.read_column(array, "a", ("",), 0, layer)
    pairs = [(read.place(at), value.as_py()) for read in found for at, value in enumerate(read.values)]
    return sorted((place, value) for place, value in pairs if value)


def expected(table):
    found = []
    for name in table.column_names:
        for row, value in enumerate(table[name].to_pylist()):
            found += [pair for pair in naive(value, f"{row}/{name}") if pair[1]]
    return sorted(found)


LEAVES = [
    (pa.string(), TEXTS),
    (pa.large_string(), TEXTS),
    (pa.string_view(), TEXTS),
    (pa.binary(), BYTES),
    (pa.large_binary(), BYTES),
    (pa.binary_view(), BYTES),
    (pa.binary(2), st.one_of(st.none(), st.binary(min_size=2, max_size=2))),
    (pa.int64(), st.one_of(st.none(), st.integers(0, 9))),
]


def nested(inner):
    def grow(leaf):
        kind, values = leaf
        some = st.one_of(st.none(), st.lists(values, max_size=3))
        return st.sampled_from(
            [
                (pa.list_(kind), some),
                (pa.large_list(kind), some),
                (pa.list_(kind, 2), st.one_of(st.none(), st.lists(values, min_size=2, max_size=2))),
                (
                    pa.struct([("x", kind), ("y", pa.int8())]),
                    st.one_of(st.none(), st.fixed_dictionaries({"x": values})),
                ),
                (
                    pa.map_(pa.string(), kind),
                    st.one_of(st.none(), st.lists(st.tuples(st.text(min_size=1, max_size=3), values), max_size=3)),
                ),
            ]
        )

    return inner.flatmap(grow)


KINDS = st.recursive(st.sampled_from(LEAVES), nested, max_leaves=3)


@st.composite
def tables(draw):
    rows = draw(st.integers(0, 7))
    columns = {}
    for name in draw(st.lists(st.sampled_from(["a", "b", "ä c"]), min_size=1, unique=True)):
        kind, values = draw(KINDS)
        columns[name] = pa.array(draw(st.lists(values, min_size=rows, max_size=rows)), kind)
    return pa.table(columns)


@every_form
@FEW
@given(table=tables())
def test_what_comes_out_is_what_python_sees(tmp_path_factory, name, table):
    """Any nesting of the types that are read, in any number of row groups and batches."""
    path = tmp_path_factory.getbasetemp() / name
    try:
        FORMS[name](path, table)
    except (pa.ArrowException, NotImplementedError):  # some nestings Parquet cannot write
        return
    found, errors = read_values(path)
    assert (sorted(found), errors) == (expected(table), [])


@FEW
@given(table=tables(), cuts=st.lists(st.integers(0, 7), max_size=2))
def test_slices_are_read_as_what_they_are(table, cuts):
    """Offsets, null bitmaps and children of a slice begin before it."""
    layer = Layer("in", "in", Reading(), Budget("in", Limits()))
    for start in cuts:
        part = table.slice(start)
        found = []
        for name, column in zip(part.column_names, part.columns, strict=True):
            row = 0
            for chunk in column.chunks:
                for read in leaves.read_column(chunk, name, ("",), row, layer):
                    found += [(read.place(at), value.as_py()) for at, value in enumerate(read.values) if value.as_py()]
                row += len(chunk)
        assert sorted(found) == expected(part)


@every_form
def test_places(saved, name):
    values, errors = read_values(saved(name))
    assert errors == []
    assert dict(values) == {
        "0/title": b"a",
        "0/raw": b"\xff\xfe",
        "1/raw": b"x",
        "0/authors[0].id": b"i1",
        "0/authors[1].id": b"i2",
        "0/map[0].key": b"k",
        "0/map[0].value": b"v",
        "0/name": b"d",
        "1/name": b"e",
    }


@every_form
@pytest.mark.parametrize("around", [gzipped, zipped])
def test_in_compression_and_archives_the_values_are_the_same(saved, name, around):
    path = saved(name)
    inside, errors = read_values(around(path))
    member = f"in/{name}!/" if around is zipped else ""
    assert errors == []
    assert inside == [(member + place, value) for place, value in read_values(path)[0]]


@every_form
def test_columns(saved, name):
    """`--column` names a column or a dotted path; it is said where none of them is there, and where one is not text."""
    path = saved(name)
    assert read_values(path, "authors.id") == ([("0/authors[0].id", b"i1"), ("0/authors[1].id", b"i2")], [])
    assert read_values(path, "map.key", "title") == ([("0/title", b"a"), ("0/map[0].key", b"k")], [])
    assert read_values(path, "nope", "title", "authors.x") == ([("0/title", b"a")], [])
    assert read_values(path, "nope", "authors.x") == (
        [],
        ["in: no column 'nope', 'authors.x'; it has id, title, raw, authors, map, name"],
    )
    assert read_values(path, "id") == ([], ["in: column 'id' is int64, not text"])
    assert read_values(path, "id", "nope") == ([], ["in: column 'id' is int64, not text"])


@every_form
def test_an_error_lists_no_more_than_twenty_columns(saved, name):
    table = pa.table({f"c{number}": ["x"] for number in range(30)})
    (error,) = read_values(saved(name, table), "x")[1]
    assert error.endswith("c18, c19 and 10 more")


@every_form
def test_rows_are_counted_over_the_whole_file(saved, name):
    table = pa.table({"a": [f"v{row}" for row in range(11)]})
    assert read_values(saved(name, table))[0] == [(f"{row}/a", b"v%d" % row) for row in range(11)]


@every_form
def test_text_that_is_not_utf8_is_bytes(saved, name):
    """pyarrow trusts what it reads to be UTF-8, and falls over it when it looks."""
    offsets, raw = pa.py_buffer(struct.pack("<3i", 0, 2, 3)), pa.py_buffer(b"\xff\xc3a")
    column = pa.Array.from_buffers(pa.string(), 2, [None, offsets, raw])
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), column)
    table = pa.table({"a": column, "b": lists})
    assert sorted(read_values(saved(name, table))[0]) == [
        ("0/a", b"\xff\xc3"),
        ("0/b[0]", b"\xff\xc3"),
        ("1/a", b"a"),
        ("1/b[0]", b"a"),
    ]


@every_form
@FEW
@given(data=st.data())
def test_damaged_copies_end_in_errors(tmp_path_factory, name, data):
    """Cut off or with bytes flipped: no crash, no traceback, and what is read is bounded."""
    folder = tmp_path_factory.getbasetemp()
    path = folder / name
    FORMS[name](path, TABLE)
    raw = bytearray(path.read_bytes())
    for at in data.draw(st.lists(st.integers(4 if "arrow" not in name else 8, len(raw) - 1), max_size=3)):
        raw[at] ^= data.draw(st.integers(1, 255))
    damaged = folder / ("damaged-" + name.replace("bin", "arrows"))
    damaged.write_bytes(raw[: data.draw(st.one_of(st.just(len(raw)), st.integers(8, len(raw))))])
    read_values(damaged)
    read_values(gzipped(damaged))


@every_form
def test_what_is_cut_off_is_said(saved, name):
    path = saved(name)
    path.write_bytes(path.read_bytes()[:-60])
    _, errors = read_values(path)
    assert errors
    assert not errors[0].endswith(":")


@pytest.mark.parametrize("name", ["a.arrow", "a.arrows"])
def test_where_arrow_ends_too_early_is_said(tmp_path, name):
    """Zeros in the place of a message, an end between two messages, and what stands behind the end."""
    path = tmp_path / name
    is_file = name == "a.arrow"
    batches = [pa.record_batch({"a": [f"value {number}"]}) for number in range(3)]
    new = pa.ipc.new_file if is_file else pa.ipc.new_stream
    with new(path, batches[0].schema) as file:
        for batch in batches:
            file.write_batch(batch)
    raw = path.read_bytes()
    begins = [at for at in range(0, len(raw), 8) if raw.startswith(b"\xff\xff\xff\xff", at)]
    third = begins[3]  # behind the schema and two batches
    whole = [(f"{row}/a", f"value {row}".encode()) for row in range(3)]
    for content, expected, said in (
        (raw, whole, ""),
        (
            raw[:third] + bytes(8) + raw[third + 8 :],
            whole[:2],
            "no footer" if is_file else "its Arrow stream ends at byte",
        ),
        (raw[:third], whole[:2], "no footer at byte" if is_file else ""),  # a stream may end so
        (raw + b"\0" * 99, whole, "no footer at byte" if is_file else ""),
        (raw + raw, whole, "no footer at byte" if is_file else "its Arrow stream ends at byte"),
    ):
        path.write_bytes(content)
        found, errors = read_values(path)
        assert found == expected
        assert len(errors) == bool(said)
        assert said in "".join(errors)


def test_row_groups_around_a_damaged_one_are_read(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"a": [f"value {row}" * 50 for row in range(9)]})
    pq.write_table(table, path, row_group_size=3, use_dictionary=False, compression="snappy", write_statistics=False)
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(0)
    raw = bytearray(path.read_bytes())
    raw[chunk.data_page_offset + 5 : chunk.data_page_offset + chunk.total_compressed_size] = bytes(
        chunk.total_compressed_size - 5
    )
    path.write_bytes(raw)
    values, errors = read_values(path)
    assert [place for place, _ in values] == ["0/a", "1/a", "2/a", "6/a", "7/a", "8/a"]
    assert len(errors) == 1
    assert errors[0].startswith("in: row group 1, column 'a' damaged: ")


@pytest.mark.parametrize("batch", [1, 2, 1 << 16])
@pytest.mark.parametrize("is_dictionary", [False, True])
def test_damage_in_a_column_costs_only_this_column(tmp_path, monkeypatch, batch, is_dictionary):
    """Only damaged data is lost: a page of one column costs no value of another, and no value comes twice."""
    monkeypatch.setattr(parquet, "_MAX_ROWS", batch)
    path = tmp_path / "a.parquet"
    rows = [f"value {row}" * 50 for row in range(8)]
    table = pa.table({"a": rows, "b": rows, "b.x": rows, "c": [{"x": row} for row in rows]})
    kind = {"use_dictionary": is_dictionary, "write_statistics": False, "write_page_checksum": True}
    pq.write_table(table, path, row_group_size=4, data_page_size=1, write_batch_size=2, **kind)
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(1)
    raw = bytearray(path.read_bytes())
    # The last page has the last two rows.
    raw[(chunk.dictionary_page_offset or chunk.data_page_offset) + chunk.total_compressed_size - 1] ^= 1
    path.write_bytes(raw)
    values, (error,) = read_values(path)
    places = [place for place, _ in values]
    whole = [f"{row}/{name}" for row in range(8) for name in ("a", "b", "b.x", "c.x")]
    lost = {f"{row}/b" for row in range(2 if batch <= 2 else 0, 4)}
    assert sorted(places) == sorted(set(whole) - lost)
    assert error.startswith("in: row group 0, column 'b' damaged: ")


def test_columns_with_one_name_are_all_read(tmp_path, monkeypatch):
    """A join makes two columns of one name; the second was lost without a word."""
    monkeypatch.setattr(parquet, "_MAX_ROWS", 2)
    columns = [pa.array([f"{name}{row}" for row in range(3)]) for name in "abc"]
    pq.write_table(pa.Table.from_arrays(columns, ["x", "x", "y"]), tmp_path / "a.parquet")
    values, errors = read_values(tmp_path / "a.parquet")
    found = [
        (f"{row}/{place}", b"%b%d" % (name, row))
        for row in range(3)
        for place, name in (("x", b"a"), ("x", b"b"), ("y", b"c"))
    ]
    assert (sorted(values), errors) == (found, [])


def test_a_wrong_checksum_of_a_page_is_damage(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"a": ["x" * 100]})
    pq.write_table(
        table, path, use_dictionary=False, compression="none", write_page_checksum=True, write_statistics=False
    )
    path.write_bytes(path.read_bytes().replace(b"x" * 100, b"x" * 99 + b"y"))
    values, errors = read_values(path)
    assert values == []
    assert "row group 0, column 'a' damaged" in errors[0]


def test_a_batch_behind_a_damaged_one_is_read_with_its_own_rows(tmp_path):
    """The framing of a stream tells where the next message begins."""
    path = tmp_path / "a.arrow"
    table = pa.table({"a": ["x" * 300 + str(row) for row in range(6)]})
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table, 2)
    raw = bytearray(path.read_bytes())
    second = [at for at in range(len(raw)) if raw[at : at + 4] == b"\x28\xb5\x2f\xfd"][3]
    raw[second : second + 4] = b"oops"
    path.write_bytes(raw)
    values, errors = read_values(path)
    assert [place for place, _ in values] == ["0/a", "1/a", "4/a", "5/a"]
    assert len(errors) == 1
    assert "damaged" in errors[0]


def test_encrypted_parquet_is_said_to_be(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PARE" + bytes(100) + b"PARE")
    assert read_values(path) == ([], ["in: is encrypted, and is not read; decrypt it first"])
    (tmp_path / "parental.txt").write_bytes(b"PARENTS and more")
    assert is_text(tmp_path / "parental.txt")


def test_text_that_begins_as_a_stream_would_is_text(tmp_path):
    path = tmp_path / "a.txt"
    for raw in (b"\xff\xff\xff\xff", b"\xff\xff\xff\xff\x10\0\0\0" + b"urn:a:b " * 9, b"\xff" * 99):
        path.write_bytes(raw)
        assert is_text(path)
    path.rename(tmp_path / "a.arrows")
    assert read_values(tmp_path / "a.arrows")[1]


def test_a_slow_pipe_is_not_asked_for_more_than_tells():
    layer = Layer("in", "in", Reading(), Budget("in", Limits()))
    for form in (parquet.FORM, *arrow.FORMS):
        assert form.recognise(b"u", layer) is False
    assert parquet.is_parquet(b"PAR", layer) is None
    assert arrow.is_arrow_stream(b"\xff\xff\xff\xff\x05\0\0\0", layer) is False


@pytest.mark.full
def test_a_dictionary_that_unfolds_ends_at_the_limit(tmp_path):
    """A value of 1 MB that stands in each of a million rows takes no memory but its own."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int32()), ["x" * 1_000_000])
    path = tmp_path / "a.arrow"
    with pa.ipc.new_stream(path, pa.schema({"a": column.type})) as writer:
        writer.write_table(pa.table({"a": column}))
    _, errors = read_values(path, limits=Limits(ratio=2))
    assert "unpacks to more than 2 times its size" in errors[0]


def test_dictionaries_of_parquet_that_unfold_are_kept(tmp_path, monkeypatch):
    """Decoded value by value, a batch of such rows would take all the memory that there is."""
    monkeypatch.setattr(parquet, "_LARGE_DICTIONARY", 1000)
    asked = []
    open_file = parquet._Parquet._open
    monkeypatch.setattr(
        parquet._Parquet, "_open", lambda self, source, kept: (asked.append(kept), open_file(self, source, kept))[1]
    )
    table = pa.table({"a": ["x" * 2000] * 50, "b": ["y"] * 50, "c": [["z"]] * 50})
    pq.write_table(table, tmp_path / "a.parquet")
    values, errors = read_values(tmp_path / "a.parquet")
    assert (sorted(values), errors) == (expected(table), [])
    assert asked[-1] == ["a", "c.list.element"]


@pytest.mark.parametrize(("longest", "most"), [(2000, 5), (99, 101)])
def test_batches_are_as_long_as_the_longest_value_of_a_dictionary_allows(tmp_path, monkeypatch, longest, most):
    """Decoded, a small dictionary with a long value could take all memory; one with short values never does."""
    monkeypatch.setattr(parquet, "_UNFOLDED", 10_000)
    table = pa.table({"a": ["x" * 10, "y" * 99, "z" * longest] * 100})
    pq.write_table(table, tmp_path / "a.parquet")
    lengths = []
    read = parquet.read_column
    monkeypatch.setattr(
        parquet, "read_column", lambda column, *rest: (lengths.append(len(column)), read(column, *rest))[1]
    )
    values, errors = read_values(tmp_path / "a.parquet")
    assert (sorted(values), errors) == (expected(table), [])
    assert max(lengths) == most


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_long_values_are_given_one_at_a_time(tmp_path, monkeypatch, kind):
    """Not several of them in one batch, and a large column not at all at once."""
    monkeypatch.setattr(leaves, "MAX_BYTES", 100)
    monkeypatch.setattr(leaves, "_LONGEST", 1000)
    table = pa.table({"a": pa.array(["x" * 90, "y" * 90, "z" * 1000, "w"], kind)})
    save_stream(tmp_path / "a.arrow", table)
    seen = []
    count = Budget.count_unfolded
    monkeypatch.setattr(Budget, "count_unfolded", lambda self, raw: (seen.append(raw), count(self, raw))[1])
    assert len(read_values(tmp_path / "a.arrow")[0]) == 4
    assert len([raw for raw in seen if raw]) == 4
    save_stream(tmp_path / "a.arrow", pa.table({"a": pa.array(["z" * 1001], kind)}))
    assert "a value has 1,001 bytes" in read_values(tmp_path / "a.arrow")[1][0]


def test_bytes_far_behind_in_a_large_column():
    """Their offsets do not fit into 32 bits, their lengths do."""
    offsets = struct.pack("<3q", (1 << 31) + 5, (1 << 31) + 6, (1 << 31) + 8)
    raw = pa.py_buffer(mmap.mmap(-1, (1 << 31) + 8))  # takes no memory until it is written to
    column = pa.Array.from_buffers(pa.large_binary(), 2, [None, pa.py_buffer(offsets), raw])
    assert leaves._piece(column).to_pylist() == [b"\0", b"\0\0"]


def test_batches_and_dictionaries_that_are_too_large_are_refused(tmp_path, monkeypatch):
    """pyarrow takes memory for what a message says that it unfolds to."""
    monkeypatch.setattr(arrow, "_LARGEST", 1 << 16)
    save_stream(tmp_path / "a.arrow", pa.table({"a": ["x" * (1 << 17)]}))
    assert "unfolds to" in read_values(tmp_path / "a.arrow")[1][0]
    save_file(tmp_path / "a.arrow", pa.table({"a": pa.array(["x" * (1 << 17)]).dictionary_encode()}))
    assert "has a message of 131," in read_values(tmp_path / "a.arrow")[1][0]


def test_what_is_added_to_a_dictionary_counts_with_it(tmp_path, monkeypatch):
    """Each part is small, and all of them are held."""
    monkeypatch.setattr(arrow, "_LARGEST", 1 << 16)
    texts = ["x" * 40_000, "y" * 40_000]
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.ipc.new_stream(tmp_path / "a.arrows", BY_KIND, options=options) as writer:
        for count in (1, 2):
            writer.write_batch(pa.record_batch([pa.array(texts[:count]).dictionary_encode()], BY_KIND))
    values, errors = read_values(tmp_path / "a.arrows")
    assert [value for _, value in values] == [b"x" * 40_000]
    assert "its dictionaries have 80," in errors[0]


def test_a_large_batch_is_mapped_where_it_is_in_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "_MAPPED", 100)
    monkeypatch.setattr(arrow, "_LARGEST", 200)
    table = pa.table({"a": ["x" * 300, "y"], "b": ["z", "w"]})
    save_file(tmp_path / "a.arrow", table)
    assert sorted(read_values(tmp_path / "a.arrow")[0]) == expected(table)
    assert "has a message of" in read_values(gzipped(tmp_path / "a.arrow"))[1][0]


def test_parquet_in_a_pipe_is_held_up_to_a_limit(saved, monkeypatch):
    monkeypatch.setattr(values, "_IN_MEMORY", 1000)
    (error,) = read_values(gzipped(saved("a.parquet")))[1]
    assert error == "in: has more than 1,000 bytes, and is read back and forth; unpack it first"


def test_a_message_that_says_it_is_endless_takes_no_memory(tmp_path):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, TABLE.schema):
        pass
    (tmp_path / "a.arrows").write_bytes(sink.getvalue()[:-8] + b"\xff\xff\xff\xff\xff\xff\xff\x03" + b"x" * 99)
    assert "truncated Arrow file (in the message at byte" in read_values(tmp_path / "a.arrows")[1][0]


@pytest.mark.parametrize("index", [1, 9, -1])
def test_indices_out_of_a_dictionary_are_damage(tmp_path, index):
    """pyarrow would read what is behind it."""
    column = pa.DictionaryArray.from_arrays(pa.array([0, index], pa.int8()), ["a"], safe=False)
    save_file(tmp_path / "a.arrow", pa.table({"a": column}))
    assert "an index leads out of its dictionary" in read_values(tmp_path / "a.arrow")[1][0]


@pytest.mark.parametrize("kind", [pa.string(), pa.list_(pa.int8()), pa.list_(pa.string())])
def test_offsets_out_of_their_column_are_damage(tmp_path, kind):
    """Read unchecked from a crafted file, they lead anywhere in memory."""
    offsets = pa.py_buffer(struct.pack("<4i", 0, 1 << 20, 2, 3))
    inner = pa.array([1, 2, 3], pa.int8()) if kind == pa.list_(pa.int8()) else pa.array(["a", "b", "c"])
    if kind == pa.string():
        column = pa.Array.from_buffers(kind, 3, [None, offsets, pa.py_buffer(b"abc")])
    else:
        column = pa.Array.from_buffers(kind, 3, [None, offsets], children=[inner])
    save_file(tmp_path / "a.arrow", pa.table({"a": column, "b": ["x", "y", "z"]}))
    values, errors = read_values(tmp_path / "a.arrow")
    if kind == pa.list_(pa.int8()):  # nothing to be read in it
        assert len(values) == 3
    else:
        assert "damaged" in errors[0]


def test_columns_of_other_types_are_left_alone(saved):
    """Numbers, unions of them, null: no text, and no error unless they are named."""
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([3, 4]), pa.array([1, 2])])
    table = pa.table({"u": union, "n": pa.nulls(2), "t": ["x", "y"]})
    assert read_values(saved("a.arrow", table)) == ([("0/t", b"x"), ("1/t", b"y")], [])
    assert "not text" in read_values(saved("a.arrow", table), "u")[1][0]


def test_text_in_types_that_are_not_read_is_said(saved):
    """It was passed over without a word."""
    union = pa.UnionArray.from_dense(
        pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array(["a"]), pa.array([1])]
    )
    inside = pa.StructArray.from_arrays([union, pa.array(["x", "y"])], ["u", "t"])
    table = pa.table({"u": union, "s": inside})
    kind = "dense_union<0: string=0, 1: int64=1>"
    assert read_values(saved("a.arrow", table)) == (
        [("0/s.t", b"x"), ("1/s.t", b"y")],
        [
            f"in: column 'u' has text in a type that is not read: {kind}",
            f"in: column 's' has text in a type that is not read: struct<u: {kind}, t: string>",
        ],
    )
    assert read_values(saved("a.arrow", table), "u") == ([], [f"in: column 'u' is {kind}, not text"])
    assert read_values(saved("a.arrow", table), "s.t") == ([("0/s.t", b"x"), ("1/s.t", b"y")], [])


def test_list_views_and_runs_are_said_not_to_be_read(saved):
    """Hardly any file has them. What else is in the table is read."""
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 3], pa.int32()), pa.array(["a", "b"]))
    views = pa.array([["c"], ["d"], []], pa.list_view(pa.string()))
    table = pa.table(
        {"r": runs, "v": views, "n": pa.array([[1], [], []], pa.list_view(pa.int8())), "t": ["x", "y", "z"]}
    )
    said = "has text in a type that is not read: "
    assert read_values(saved("a.arrow", table)) == (
        [("0/t", b"x"), ("1/t", b"y"), ("2/t", b"z")],
        [
            f"in: column 'r' {said}run_end_encoded<run_ends: int32, values: string>",
            f"in: column 'v' {said}list_view<item: string>",
        ],
    )
    assert read_values(saved("a.arrow", table), "v") == ([], ["in: column 'v' is list_view<item: string>, not text"])


def test_rows_without_values_count_too(tmp_path):
    """A few bytes of a file may say that a column is null in billions of rows."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": pa.nulls(100_000, pa.string())}), path)
    assert read_values(path) == ([], [])
    assert "max_size" in read_values(path, limits=Limits(size=10_000))[1][0]


LISTS = {
    "nulls": pa.array([[None] * 2000]).cast(pa.list_(pa.string())),
    "empty": pa.array([[""] * 2000]),
    "the same": pa.array([["urn:x:y"] * 2000]),
    "lists": pa.array([[[]] * 2000]).cast(pa.list_(pa.list_(pa.string()))),
    "structs": pa.array([[{"a": None}] * 2000]).cast(pa.list_(pa.struct({"a": pa.string()}))),
    "maps": pa.array([[(str(key), None) for key in range(2000)]], pa.map_(pa.string(), pa.string())),
    "after many rows": pa.array([[]] * 5000 + [[None] * 2000]).cast(pa.list_(pa.string())),
}


@pytest.mark.parametrize("kind", LISTS)
def test_lists_that_unfold_end_at_the_limit(tmp_path, monkeypatch, kind):
    """Levels are run-length coded: some hundred bytes may say that a row is a list of billions of nulls."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": LISTS[kind]}), path, compression="zstd")
    assert read_values(path)[1] == []
    assert "max_size" in read_values(path, limits=Limits(size=22_000))[1][0]
    monkeypatch.setattr(parquet, "_LISTS", 1000)
    monkeypatch.setattr(parquet, "_LISTS_RATIO", 0)
    assert "values are too long; write smaller row groups" in read_values(path)[1][0]


def test_values_without_bytes_are_no_text():
    """Any number of them fits into any list, and a null in that would make a copy of all."""
    empty = pa.Array.from_buffers(pa.binary(0), 1 << 40, [None, pa.py_buffer(b"")])
    bits = pa.py_buffer(b"\xfe" + b"\xff" * ((1 << 17) - 1))
    lists = pa.Array.from_buffers(pa.list_(empty.type, 1 << 20), 1 << 20, [bits], children=[empty])
    assert read_array(lists) == []


def test_indices_are_looked_at_some_at_a_time(monkeypatch):
    """Of each index there are numbers of 64 bits, which take more than all indices of a large dictionary."""
    monkeypatch.setattr(leaves, "_MAX_ROWS", 3)
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1, 0, 0, 1], pa.int8()), ["x", "yy"])
    assert read_array(array) == [
        (f"{row}/a", text) for row, text in enumerate([b"x", b"yy", None, b"yy", b"x", b"x", b"yy"]) if text
    ]


def test_rows_that_take_no_room_are_looked_at_some_at_a_time():
    """A list of a fixed size takes no bytes for its rows, however many they are."""
    inner = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), [""])
    lists = pa.Array.from_buffers(pa.list_(inner.type, 0), 1 << 30, [None], children=[inner])
    with pytest.raises(LimitError):
        read_array(lists, Limits(size=1_000_000))


@every_form
def test_long_names_are_cut_in_places(saved, name):
    """They stand in the place of each value that is found."""
    table = pa.table({"n" * 1000: [{"m" * 1000: "x"}]})
    assert read_values(saved(name, table)) == ([("0/" + "n" * 200 + "…." + "m" * 200 + "…", b"x")], [])


@pytest.mark.full
def test_progress_comes_to_the_size_of_the_file(saved, tmp_path):
    """Parquet is read beside the reader that counts."""
    table = pa.table({"a": [str(row) * 50 for row in range(4000)]})
    for name in FORMS:
        path = saved(name, table) if name != "a.parquet" else tmp_path / name
        if name == "a.parquet":
            pq.write_table(table, path, row_group_size=1000)
        counts = []
        read_values(path, on_read=counts.append)
        assert 0.9 < sum(counts) / path.stat().st_size < 1.1 + 5000 / path.stat().st_size
