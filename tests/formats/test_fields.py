"""CSV, JSON and JSON Lines by named fields: the values that others read there, and no text that ends the run."""

import csv
import gzip
import io
import itertools
import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import urnscan
from tests.support.reading import set_longest
from tests.support.tabular import gzipped, is_text, read_values, zipped
from urnscan.errors import DamageError, SourceError
from urnscan.formats.context import Layer, Reading
from urnscan.formats.limits import Budget, Limits
from urnscan.formats.tables import json_lines, text_fields
from urnscan.framing import buffer, rows
from urnscan.framing.json_values import ValueLines
from urnscan.stores.reader import Reader

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
FIELD = st.text(st.sampled_from('ab",;\t|\n\ré\0 '), max_size=8)
NAMES = st.sampled_from(["a", "b", "c", "a.b"])
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)


@pytest.fixture
def read(tmp_path):
    def read(name, data, *columns, encoding=None):
        (tmp_path / name).write_bytes(data)
        return read_values(tmp_path / name, *columns, encoding=encoding)

    return read


class Pieces(Reader):
    """Gives bytes as they are cut here; an error among them is raised."""

    def __init__(self, *pieces):
        self._pieces = list(pieces)

    def read_into(self, view):
        while self._pieces:
            if isinstance(self._pieces[0], Exception):
                raise self._pieces.pop(0)
            if self._pieces[0]:
                got = min(len(view), len(self._pieces[0]))
                view[:got] = self._pieces[0][:got]
                self._pieces[0] = self._pieces[0][got:]
                return got
            self._pieces.pop(0)
        return 0

    def close(self):
        pass


def read_pieces(function, columns, *pieces):
    layer = Layer("in", "in", Reading(columns=columns), Budget("in", Limits()))
    values, errors = [], []
    try:
        for found in function(Pieces(*pieces), layer):
            if isinstance(found, SourceError):
                errors.append(found.reason)
            else:
                values += [(found.place(at), value.as_py()) for at, value in enumerate(found.values)]
    except SourceError as error:
        errors.append(error.reason)
    return values, errors


def strings(value, path, place):
    """The strings that a path leads to, written down once more: recursion, and names with dots."""
    if isinstance(value, list):
        for at, inner in enumerate(value):
            yield from strings(inner, path, f"{place}[{at}]")
    elif isinstance(value, dict):
        for key, inner in value.items():
            below = place + ("" if place.endswith("/") else ".") + key
            if not path or path == key:
                yield from strings(inner, "", below)
            elif path.startswith(key + "."):
                yield from strings(inner, path[len(key) + 1 :], below)
    elif isinstance(value, str) and not path:
        yield place, value.encode()


def expected(values, columns):
    return sorted(
        found
        for row, value in enumerate(values)
        for column in columns
        for found in strings(value, column, f"{row}/")
        if found[1]
    )


@example([{"a": 1}, None], ["a"], "row", False, [8])
@given(
    values=st.lists(JSON, max_size=5),
    columns=st.lists(st.sampled_from(["a", "b", "a.b", "a.b.c"]), min_size=1, unique=True),
    form=st.sampled_from(["array", "indented", "lines", "row"]),
    ascii_only=st.booleans(),
    cuts=st.lists(st.integers(0, 200), max_size=4),
)
def test_json_is_read_as_python_reads_it(values, columns, form, ascii_only, cuts):
    """As an array, in lines, in a row; wherever reads end. A top-level array in lines is taken for its elements."""
    if form in ("lines", "row"):
        values = [value for value in values if not isinstance(value, list)]
        data = ("\n" if form == "lines" else " ").join(json.dumps(value, ensure_ascii=ascii_only) for value in values)
    else:
        data = json.dumps(values, ensure_ascii=ascii_only, indent=1 if form == "indented" else None)
    data = data.encode()
    marks = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(marks)]
    found, errors = read_pieces(text_fields.read_json, tuple(columns), *pieces)
    assert sorted(found) == expected(values, columns)
    assert all(error.startswith("no column") for error in errors)


ODD_LINES = [
    *[
        '{"a": 1}',
        '{"a": null}',
        '{"a": {"a": "x"}}',
        '{"a": ["x"]}',
        '{"a": ""}',
        "{}",
        "[]",
        '["x"]',
        "1",
        '"a"',
        "",
        " ",
    ],
    *['{"a": "x", "a": "y"}', '{"a": "x", "\\u0061": "y"}', '{"b": "\\u00e9 \\ud83d\\ude00"}', '{"a": "\\ud800"}'],
    *[
        '{"a": "x"',
        '{"a": "x"}}',
        '{"a": "x"} {"a": "y"}',
        '{"a":',
        '"x"}',
        '{"a": NaN}',
        '{"b": NaN, "a": "x"}',
        "\x1e{}",
    ],
    *[
        '{"a": "\x01"}',
        '{"a": "\\q"}',
        '{"a": 1e999, "b": 01}',
        '{"b": "a", "c": "\\"a\\""}',
        '{"a": "x"}\r',
        '{"a.b": "x"}',
    ],
    # Values that go over line ends, beside lines that hold two values.
    *[
        '{"a": "x"}{"a": "y"}\n{"a":\n{"a": "x"}}',
        '{"a": {"b": 1}\n{"c": 1}}',
        '{"a": "}\n{"}',
        '{"a": "x"}\n\n{"a": "y"}{}',
        # As many of the name as there are values, though one of them has it twice and another has it with an escape.
        '{"a": "x", "a": "y"}\n{"\\u0061": "z"}',
    ],
    *["[" * 2000, '{"c": ' + "[" * 2000 + "]" * 2000 + "}", '{"a": "%s"}' % ("x" * 300)],
]


@given(
    st.lists(
        st.one_of(
            st.dictionaries(NAMES, TEXT, max_size=3).map(json.dumps),
            JSON.map(json.dumps),
            st.sampled_from(ODD_LINES),
            st.sampled_from(ODD_LINES).map(lambda line: line.replace("a", "\udcff")),
        ),
        max_size=12,
    ),
    st.lists(st.sampled_from(["a", "b", "é"]), min_size=1, unique=True),
    st.sampled_from([1, 40, 1 << 18]),
)
def test_lines_of_json_are_read_alike_one_by_one_and_many_at_a_time(lines, columns, most):
    """What is unusual in a line costs no value, no place and no error."""
    first = json.dumps(dict.fromkeys(columns, "first"))
    data = "\n".join([first, *lines]).encode("utf-8", "surrogateescape")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_lines, "_MAX", most)
        found = read_pieces(text_fields.read_json, tuple(columns), data)
        patch.setattr(text_fields, "_IS_PLAIN", lambda _: None)
        assert found == read_pieces(text_fields.read_json, tuple(columns), data)


def test_usual_lines_are_read_many_at_a_time(monkeypatch):
    """Else they take four times as long, also arrays. An unusual line is read alone, and those after it together again."""
    seen = []
    one_by_one = ValueLines.read
    monkeypatch.setattr(ValueLines, "read", lambda *given: (seen.append(each) or each for each in one_by_one(*given)))
    lines = [
        json.dumps({"a": [str(number), None, [[], ["x"]]] if number % 2 else str(number)}) for number in range(100)
    ]
    lines[50] = '{"a": [{"b": "x"}]}'
    values, _ = read_pieces(text_fields.read_json, ("a",), "\n".join([*lines, ""]).encode())
    assert values[:4] == [("0/a", b"0"), ("1/a[0]", b"1"), ("1/a[2][1][0]", b"x"), ("2/a", b"2")]
    assert len(values) == 150
    assert [value.value for value in seen] == [(("a", "0"),), (("a", [(("b", "x"),)]),)]


@given(
    rows=st.lists(st.lists(FIELD, min_size=1, max_size=4), max_size=6),
    delimiter=st.sampled_from(",;\t|"),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    mark=st.booleans(),
)
def test_csv_is_read_as_dictreader_reads_it(tmp_path_factory, rows, delimiter, ends, mark):
    """Quoting, embedded line ends, ragged rows, NUL, any delimiter and line end."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=ends, quoting=csv.QUOTE_ALL)
    writer.writerow(["x", "urn", "y"])
    writer.writerows(rows)
    data = out.getvalue().encode()
    path = tmp_path_factory.getbasetemp() / "a.csv"
    path.write_bytes((b"\xef\xbb\xbf" if mark else b"") + data)
    reader = csv.DictReader(io.StringIO(out.getvalue(), newline=""), delimiter=delimiter)
    want = [
        (f"{number}/{name}", row[name].encode())
        for number, row in enumerate(reader)
        for name in ("x", "urn")
        if row[name]
    ]
    assert read_values(path, "urn", "x") == (want, [])


def test_without_named_fields_they_are_text(tmp_path):
    for name, data in (("a.csv", b"urn\nurn:a:b\n"), ("a.json", b'{"urn": "urn:a:b"}')):
        (tmp_path / name).write_bytes(data)
        assert is_text(tmp_path / name)
        assert not is_text(tmp_path / name, "urn")


def test_what_has_no_name_is_known_by_its_beginning(tmp_path):
    for data, columns, want in (
        (b'\xef\xbb\xbf \n{ "a": "x"}', ["a"], False),
        (b'[\n {"a": "x"}]', ["a"], False),
        (b"[1] a note", ["a"], True),
        (b"{\\rtf1}", ["a"], True),
        (b"x\ta\ty\n1\t2\t3\n", ["a"], False),
        (b'"x;";"a"\n1;2\n', ["a"], False),
        (b"no such field\n1;2\n", ["a"], True),
        (b"x;a" + b" " * text_fields.HEAD + b"\n", ["a"], True),
        ("x,a\n1,2\n".encode("utf-16"), ["a"], False),
    ):
        (tmp_path / "thing").write_bytes(data)
        assert is_text(tmp_path / "thing", *columns) is want


def test_a_damaged_first_line_of_json_lines_costs_itself(read):
    """It was cut into many records, so that all behind it had other numbers."""
    values, errors = read("a.jsonl", b'\xf3"a": "one", "b": 1}\n{"a": "two"}\n{"a": "three"}\n', "a")
    assert values == [("1/a", b"two"), ("2/a", b"three")]
    assert len(errors) == 1
    assert errors[0].startswith("in: record 0 at byte 0 damaged")


def test_a_slow_pipe_is_not_asked_for_more_than_tells():
    layer = Layer("in", "in", Reading(columns=("a",)), Budget("in", Limits()))
    assert text_fields.is_json(b"x", layer) is False
    assert text_fields.is_json(b" [ ", layer) is None
    assert text_fields.is_csv(b"x,a", layer) is None
    assert text_fields.is_csv(b"x,b\n", layer) is False
    bare = Layer("in", "a.csv", Reading(), Budget("in", Limits()))
    assert text_fields.is_csv(b"", bare) is text_fields.is_json(b"", bare) is False


def test_fields_that_are_not_there_are_said(read):
    assert read("a.csv", b"a;b c\n1;2\n", "x") == ([], ["in: no column 'x'; it has a, b c"])
    assert read("a.csv", b"a\x1bb;c\n1;2\n", "x") == ([], ["in: no column 'x'; it has a\\x1bb, c"])
    assert read("a.json", b'[{"a": 1}, {"b": ""}]', "x") == ([], ["in: no column 'x'; it has a, b"])
    assert read("a.json", b'[{"a": "1"}]', "x", "a") == ([("0/a", b"1")], [])
    assert read("a.csv", b"a,b\n1,2\n", "x", "b") == ([("0/b", b"2")], [])


@pytest.mark.parametrize("around", [gzipped, zipped])
def test_in_compression_and_archives_the_values_are_the_same(tmp_path, around):
    for name, data in (("a.csv", b"urn\nx\n"), ("a.jsonl", b'{"urn": "x"}\n')):
        (tmp_path / name).write_bytes(data)
        member = f"in/{name}!/" if around is zipped else ""
        assert read_values(around(tmp_path / name), "urn") == ([(f"{member}0/urn", b"x")], [])


def test_bytes_that_are_not_utf8_survive(read):
    assert read("a.csv", b"a\n\xff\xc3x\xe9\n", "a")[0] == [("0/a", b"\xff\xc3x\xe9")]
    assert read("a.json", b'{"a": "\xff\xc3x"}', "a")[0] == [("0/a", b"\xff\xc3x")]


def test_escapes_of_surrogates(read):
    """A pair is a character, half of one is U+FFFD: it cannot be written in UTF-8."""
    data = b'[{"a": "\\ud83d\\ude00"}, {"a": "\\ud83d|\\udc80"}]'
    assert read("a.json", data, "a")[0] == [("0/a", "😀".encode()), ("1/a", "�|�".encode())]


def test_encodings_and_marks(read):
    """A mark wins, else the encoding that was named."""
    for codec in ("utf-16", "utf-32", "utf-8-sig"):
        assert read("a.csv", "a,b\n1,é\n".encode(codec), "b") == ([("0/b", "é".encode())], [])
        assert read("a.json", '{"b": "é"}'.encode(codec), "b") == ([("0/b", "é".encode())], [])
    assert read("a.csv", b"b\n\xe9\n", "b", encoding="latin-1") == ([("0/b", "é".encode())], [])
    values, errors = read("a.csv", b"b\nx\xff\ny", "b", encoding="shift_jis")
    assert [place for place, _ in values] == ["0/b", "1/b"]
    assert "invalid SHIFT_JIS" in errors[0]


def test_damaged_records_end_at_their_line(read):
    data = b'{"a": "0"}\n{"a": "1\n{"a": [2,\n{"a": "3"}\n{"a": "4",}\n{"a": "5"}'
    values, errors = read("a.jsonl", data, "a")
    assert values == [("0/a", b"0"), ("3/a", b"3"), ("5/a", b"5")]
    assert errors == [
        "in: record 1 at byte 11 damaged: it is not JSON: Unterminated string starting at, column 7",
        "in: record 2 at byte 20 damaged: it is not JSON: Expecting value, column 10",
        "in: record 4 at byte 41 damaged: it is not JSON: Expecting property name enclosed in double quotes, column 11",
    ]


@pytest.mark.parametrize("end", ["\n", ",\n"])
def test_a_damaged_record_over_several_lines_costs_itself(read, end):
    """Each of its lines was taken for a record of its own, damaged once more."""
    good = ['{\n "a": "0"\n}', '{\n "a": ["1"\n}', '{\n "a": "2"\n}']
    data = end.join(good)
    values, errors = read("a.json", (f"[\n{data}\n]" if "," in end else data).encode(), "a")
    assert values == [("0/a", b"0"), ("2/a", b"2")]
    assert len(errors) == 1
    assert errors[0].startswith("in: record 1 at byte ")


@pytest.mark.full
def test_damaged_records_take_time_by_their_number(read):
    """Not by what stands before them: each looked through all that was held."""
    for data in (b"x\n" * 200_000, b'{"a":' + (b"[" + b"1," * 500 + b"\n") * 2000 + b'?\n{"a": "x"}\n'):
        began = time.process_time()
        read("a.json", data, "a")
        assert time.process_time() - began < 10


@pytest.mark.parametrize("length", [2000, 2047, 2048, 2049, 5000, 100_000])
@pytest.mark.parametrize("block", [700, 1 << 20])
def test_records_of_any_length_are_read_whole(read, monkeypatch, length, block):
    """The decoder gets a part of the text at first: numbers and strings go on behind it."""
    monkeypatch.setattr(buffer, "_BLOCK", block)
    number = "1" * (length - 4) + ".5e1"
    data = f'{number} {{"a": "{"y" * length}"}}\n{number}\n[{number}, {{"a":\n"x"}}]'
    assert read("a.json", data.encode(), "a") == ([("1/a", b"y" * length), ("4/a", b"x")], [])


def test_keys_are_cut_and_escaped_in_places(read):
    """They may be long, stand in the place of each value, and be no characters at all."""
    key = "k" * 1000
    data = b'{"a": {"\\ud800k\\udcff": "x"}}\n{"a": {"%s": {"l": ["y", "z"]}}}' % key.encode()
    short = "k" * 200 + "…"
    assert read("a.json", data, "a") == (
        [("0/a.\\ud800k\\xff", b"x"), (f"1/a.{short}.l[0]", b"y"), (f"1/a.{short}.l[1]", b"z")],
        [],
    )
    assert read("a.json", b'{"\\ud800": 1}', "a")[1] == ["in: no column 'a'; it has \\ud800"]
    deep = b'{"a": ' + b'{"0123456789": ' * 500 + b'["x", "y"]' + b"}" * 501
    values, errors = read("a.json", deep, "a")
    assert errors == []
    assert [len(place) for place, _ in values] == [2001, 2001]


def test_an_array_that_ends_early_is_said(read):
    assert read("a.json", b'[{"a": "x"},', "a") == (
        [("0/a", b"x")],
        ["in: record 1 at byte 12 damaged: its array is truncated"],
    )
    values, errors = read("a.json", b'[{"a": "x"}, {"a": "y', "a")
    assert values == [("0/a", b"x")]
    assert "record 1 at byte 13 damaged: it is truncated" in errors[0]


def test_of_many_damaged_records_few_are_told(read):
    values, errors = read("a.jsonl", b"nonsense\n" * 1000 + b'{"a": "x"}', "a")
    assert values == [("1000/a", b"x")]
    assert len(errors) == 11
    assert errors[-1] == "in: 990 more records could not be read"


@pytest.mark.full
@pytest.mark.parametrize(
    "data",
    [b"[" * 1_000_000, b'{"a":' * 1_000_000, b'{"a": ' + b"[" * 100_000 + b'"x"' + b"]" * 100_000 + b"}"],
)
def test_deep_nesting_is_damage(read, data):
    values, errors = read("a.json", data, "a")
    assert values == []
    assert "its brackets nest too deep" in errors[0] or "it is truncated" in errors[0]


def test_huge_numbers_do_no_harm(read):
    data = b'{"n": ' + b"9" * 1_000_000 + b', "m": 1e999999, "a": "x"}'
    assert read("a.json", data, "a") == ([("0/a", b"x")], [])


def test_records_that_are_too_long_are_said(read, monkeypatch):
    set_longest(monkeypatch, 1000)
    monkeypatch.setattr(buffer, "_BLOCK", 256)
    data = b'{"a": "x"}\n{"a": "' + b"y" * 5000 + b'"}\n{"a": "z"}\n'
    values, errors = read("a.jsonl", data, "a")
    assert values == [("0/a", b"x"), ("2/a", b"z")]
    assert errors == ["in: record 1 at byte 11 damaged: it is longer than 1,000 bytes"]


def test_rows_that_are_too_long_are_said(read, monkeypatch):
    """A quotation mark that is never closed, a line that never ends."""
    set_longest(monkeypatch, 1000)
    monkeypatch.setattr(buffer, "_BLOCK", 256)
    values, errors = read("a.csv", b"a,b\n1,x\n2," + b"y" * 5000 + b"\n3,z\n", "b")
    assert values == [("0/b", b"x"), ("2/b", b"z")]
    assert errors == ["in: row 1 at byte 8 damaged: it is longer than 1,000 bytes"]
    values, errors = read("a.csv", b'a,b\n1,x\n2,"' + b"y\n" * 3000 + b"3,z\n", "a")
    assert values[0] == ("0/a", b"1")
    assert values[-1][1] == b"3"
    assert "row 1 at byte 8 damaged: a quotation mark in it is never closed" in errors[0]


def test_a_quotation_mark_that_is_never_closed_costs_its_line(read):
    """All behind it was read as one value. Its line is read alone, and told to be damaged."""
    values, errors = read("a.csv", b'a,b\n1,x\n2,"y\n3,z\n', "a", "b")
    assert values == [
        (f"{row}/{name}", value)
        for row, name, value in (
            (0, "a", b"1"),
            (0, "b", b"x"),
            (1, "a", b"2"),
            (1, "b", b"y"),
            (2, "a", b"3"),
            (2, "b", b"z"),
        )
    ]
    assert errors == ["in: row 1 at byte 8 damaged: a quotation mark in it is never closed; only its line is read"]
    said = "in: damaged header: a quotation mark in it is never closed"
    assert read("a.csv", b'a,"b\n1,x\n', "a") == ([("0/a", b"1")], [said])
    for data in (b'a\n"x"', b'a\n"x"\n', b'a\n"x\ny"\r\n', b'a\nx"', b"a\n", b'"a"'):
        assert read("a.csv", data, "a")[1] == []


def test_an_error_that_ends_the_reading_is_the_only_one():
    """A quotation mark may have been closed behind it."""
    ended = SourceError("in", "ended")
    assert read_pieces(text_fields.read_csv, ("a",), b'a\n"x\n', ended) == ([("0/a", b"x")], ["ended"])


@pytest.mark.parametrize("before", ["\n\n", "\r\n", " \n", "\t \r\r\n", "\ufeff\n", "\n" * 2000])
@pytest.mark.parametrize("most", [1, 1 << 20])
def test_blank_lines_before_a_header_are_passed_over(before, most, monkeypatch):
    """The first of them was taken for a header without names: nothing was found, and nothing said."""
    monkeypatch.setattr(buffer, "_BLOCK", most)
    data = f"{before}\tu,v\nurn:a:1,2\n".encode()
    assert read_pieces(text_fields.read_csv, ("u",), data) == ([("0/u", b"urn:a:1")], [])
    layer = Layer("in", "in", Reading(columns=("u",)), Budget("in", Limits()))
    assert text_fields.is_csv(data, layer)
    assert text_fields.is_csv(before.encode(), layer) is None
    assert read_pieces(text_fields.read_csv, ("u",), before.encode()) == ([], [])


@pytest.mark.parametrize("most", [1, 1 << 20])
@pytest.mark.parametrize("name", ["a.csv", "a"])
def test_a_header_of_several_lines(read, name, most, monkeypatch):
    """Its first line was taken for all of it, and columns behind that denied."""
    monkeypatch.setattr(buffer, "_BLOCK", most)
    data = b'id;"title,\nlong\r\n";u\n1;x;urn:a:1\n2;"y\n";urn:a:2\n'
    assert read(name, data, "u") == ([("0/u", b"urn:a:1"), ("1/u", b"urn:a:2")], [])
    if name == "a.csv":
        assert read(name, data, "x")[1] == ["in: no column 'x'; it has id, title,\\nlong, u"]


def test_a_header_that_is_never_closed_is_not_looked_for_to_the_end(monkeypatch):
    """Of a long text that begins with a quotation mark."""
    monkeypatch.setattr(text_fields, "HEAD", 100)
    monkeypatch.setattr(rows, "HEAD", 100)
    monkeypatch.setattr(buffer, "_BLOCK", 50)
    _, errors = read_pieces(text_fields.read_csv, ("u",), b'"a\n' * 1000)
    assert errors == ["damaged header: a quotation mark in it is never closed", "no column 'u'; it has a"]
    layer = Layer("in", "in", Reading(columns=("u",)), Budget("in", Limits()))
    assert text_fields.is_csv(b'"a\n' * 10, layer) is None
    assert text_fields.is_csv(b'"a\n' * 1000, layer) is False


@pytest.mark.parametrize("most", [1, 1 << 20])
@pytest.mark.parametrize("sep", ["sep=;\n", '"sep=;"\r\n', "\nsep=;\r\n\n", "\ufeffsep=;\r"])
def test_a_line_says_what_stands_between_values(read, sep, most, monkeypatch):
    """For Excel; it was taken for the header."""
    monkeypatch.setattr(buffer, "_BLOCK", most)
    data = (sep + "a,b,c;u\n1;urn:a:1\n").encode()
    for name in ("a.csv", "a"):
        assert read(name, data, "u") == ([("0/u", b"urn:a:1")], [])
    assert read("a.csv", data, "b")[1] == ["in: no column 'b'; it has a,b,c, u"]


def test_all_values_of_a_key_that_stands_twice_are_read(read):
    """Python's reader keeps the last; on the way to a value, in what is named, and in lists."""
    data = (
        b'{"u": "1", "\\u0075": "2"}\n{"u": {"x": "3", "y": "4", "x": ["5"]}}\n'
        b'{"a": {"u": "6"}, "a": [{"u": "7", "u": "8"}], "a.u": "9"}'
    )
    assert read("a.json", data, "u") == (
        [("0/u", b"1"), ("0/u", b"2"), ("1/u.x", b"3"), ("1/u.y", b"4"), ("1/u.x[0]", b"5")],
        [],
    )
    assert sorted(read("a.json", data, "a.u")[0]) == [
        ("2/a.u", b"6"),
        ("2/a.u", b"9"),
        ("2/a[0].u", b"7"),
        ("2/a[0].u", b"8"),
    ]


def test_a_header_of_countless_columns_is_refused(read, monkeypatch):
    monkeypatch.setattr(text_fields, "_LONGEST_HEADER", 10_000)
    assert "its first line has more than 10,000 bytes" in read("a.csv", b"a," * 10_000, "a")[1][0]
    (error,) = read("a.csv", b"ab," * 3000 + b"\n", "x")[1]
    assert len(error) < 200


def test_fields_longer_than_pythons_own_limit_are_read(read):
    data = b"a\n" + b"x" * 200_000 + b"\n"
    assert read("a.csv", data, "a") == ([("0/a", b"x" * 200_000)], [])


def test_behind_a_damage_the_next_whole_line_is_read():
    """What is before and behind it is not one record, even if it looks so."""
    lost = DamageError("in", "lost")
    head, tail = b'{"a": "1"}\n{"a": "2', b'3"}\n{"a": "4"}\n'
    assert read_pieces(text_fields.read_json, ("a",), head, lost, tail) == ([("0/a", b"1"), ("2/a", b"4")], ["lost"])
    head, tail = b"a,b\n1,x\n2,y", b"z\n3,w\n"
    assert read_pieces(text_fields.read_csv, ("b",), head, lost, tail) == ([("0/b", b"x"), ("2/b", b"w")], ["lost"])


def test_an_error_that_ends_the_reading_comes_behind_what_was_read():
    ended = SourceError("in", "ended")
    assert read_pieces(text_fields.read_json, ("a",), b'{"a": "1"}\n{"a": "', ended) == ([("0/a", b"1")], ["ended"])
    assert read_pieces(text_fields.read_csv, ("b",), b"a,b\n1,x\n", ended) == ([("0/b", b"x")], ["ended"])


@pytest.mark.parametrize(("name", "line"), [("a.csv.gz", b"%b\n"), ("a.jsonl.gz", b'{"a": "%b"}\n')])
def test_a_wrong_checksum_costs_no_other_line(tmp_path, name, line):
    """Nothing is missing of such a member: all is read, also the line that it does not end."""
    data = b"".join(line % text for text in (b"a", b"urn:a:1", b"urn:b:1", b"urn:b:2", b"urn:c:1"))
    members = [bytearray(gzip.compress(data[at : at + 30])) for at in range(0, len(data), 30)]
    for member in members[1:]:
        member[-8] ^= 1
    (tmp_path / name).write_bytes(b"".join(members))
    found = urnscan.scan(tmp_path / name, column="a")
    assert found.occurrences.column("text").to_pylist() == ["urn:a:1", "urn:b:1", "urn:b:2", "urn:c:1"]
    assert len(found.report.failures) == len(members) - 1


@given(
    data=st.text(st.sampled_from('{}[]",:a1\\\n\r u\x00é'), min_size=1, max_size=40),
    name=st.sampled_from(["a.json", "a.csv"]),
)
def test_any_text_ends(tmp_path_factory, data, name):
    """Nonsense in a name that promises more: errors and values, no crash and no end that never comes."""
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(data.encode())
    read_values(path, "a")
