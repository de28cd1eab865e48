"""SQLite: every stored value of text and bytes and its place, nothing run, nothing changed, damage said."""

import contextlib
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.tabular import gzipped, is_text, read_values, zipped
from urnscan.formats.tables import sqlite, values

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6).filter(
    lambda name: not name.lower().startswith("sqlite_") and name.lower() not in ("rowid", "oid", "_rowid_", "key")
)
VALUES = st.one_of(
    st.none(), st.integers(-9, 9), st.floats(allow_nan=False), st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    st.binary(max_size=9),
)  # fmt: skip


@pytest.fixture
def made(tmp_path):
    """A database from statements."""

    def made(*statements, name="a.db"):
        with contextlib.closing(sqlite3.connect(tmp_path / name)) as database:
            for statement in statements:
                database.execute(statement)
            database.commit()
        return tmp_path / name

    return made


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@FEW
@given(
    tables=st.dictionaries(
        NAMES,
        st.tuples(st.lists(NAMES, min_size=1, max_size=3, unique_by=str.lower), st.lists(VALUES, max_size=9)),
        max_size=3,
    ),
    encoding=st.sampled_from(["UTF-8", "UTF-16le", "UTF-16be"]),
)
def test_what_comes_out_is_what_was_put_in(tmp_path_factory, tables, encoding):
    """Any names, values of any type in any column, in each encoding of a database."""
    path = tmp_path_factory.getbasetemp() / "property.db"
    path.unlink(missing_ok=True)
    expected = []
    tables = {name: tables[name] for name in {name.casefold(): name for name in tables}.values()}
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA encoding = '{encoding}'")
        for name, (columns, cells) in tables.items():
            try:
                database.execute(f"CREATE TABLE {quoted(name)} ({', '.join(map(quoted, columns))})")
            except sqlite3.Error:  # names that are the same to SQLite
                continue
            for row, at in enumerate(range(0, len(cells), len(columns)), 1):
                cell = (cells[at : at + len(columns)] + [None] * 3)[: len(columns)]
                database.execute(f"INSERT INTO {quoted(name)} VALUES ({', '.join('?' * len(columns))})", cell)
                for column, value in zip(columns, cell, strict=True):
                    content = value.encode() if isinstance(value, str) else value
                    if isinstance(content, bytes) and content:
                        expected.append((f"{name}/{row}/{column}", content))
        database.commit()
    if path.stat().st_size:
        assert read_values(path) == (expected, [])


def test_places(made):
    """By row id, however it is called; in a table WITHOUT ROWID by running number."""
    path = made(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, x)",
        "INSERT INTO a VALUES (7, 'p'), (9, x'ff00'), (11, 5)",
        "CREATE TABLE b (k TEXT PRIMARY KEY, v) WITHOUT ROWID",
        "INSERT INTO b VALUES ('k1', 'v1'), ('k0', NULL)",
        "CREATE TABLE c (rowid, oid, x)",
        "INSERT INTO c VALUES ('r', 'o', 'x')",
        "CREATE TABLE d (t TEXT PRIMARY KEY)",
        "INSERT INTO d VALUES ('z'), ('y')",
        "CREATE TABLE e (rowid, oid, _rowid_)",
        "INSERT INTO e VALUES (0, 0, 'e0'), (0, 0, 'e1')",
    )
    assert read_values(path) == (
        [
            ("a/7/x", b"p"),
            ("a/9/x", b"\xff\0"),
            ("b/0/k", b"k0"),
            ("b/1/k", b"k1"),
            ("b/1/v", b"v1"),
            ("c/1/rowid", b"r"),
            ("c/1/oid", b"o"),
            ("c/1/x", b"x"),
            ("d/1/t", b"z"),
            ("d/2/t", b"y"),
            ("e/0/_rowid_", b"e0"),
            ("e/1/_rowid_", b"e1"),
        ],
        [],
    )


@pytest.mark.parametrize("around", [gzipped, zipped])
def test_in_compression_and_archives_the_values_are_the_same(made, around):
    path = made("CREATE TABLE t (a)", "INSERT INTO t VALUES ('x'), ('y')")
    member = "in/a.db!/" if around is zipped else ""
    assert read_values(around(path)) == ([(f"{member}t/1/a", b"x"), (f"{member}t/2/a", b"y")], [])


def test_columns(made):
    path = made(
        "CREATE TABLE t (a, b)",
        "INSERT INTO t VALUES ('x', 'y')",
        "CREATE TABLE u (a, c)",
        "INSERT INTO u VALUES ('z', 'w')",
    )
    assert read_values(path, "a") == ([("t/1/a", b"x"), ("u/1/a", b"z")], [])
    assert read_values(path, "u.a", "b") == ([("t/1/b", b"y"), ("u/1/a", b"z")], [])
    assert read_values(path, "a", "v.a") == ([("t/1/a", b"x"), ("u/1/a", b"z")], [])
    assert read_values(path, "x", "v.a") == ([], ["in: no column 'x', 'v.a'; it has t.a, t.b, u.a, u.c"])


def test_nothing_that_the_schema_brings_is_run(made):
    """Views, virtual tables and generated columns are left out; an index of an expression does not serve the query."""
    path = made(
        "CREATE TABLE t (a, up GENERATED ALWAYS AS (upper(a)) VIRTUAL, low GENERATED ALWAYS AS (lower(a)) STORED)",
        "CREATE INDEX i ON t (upper(a), a, low)",
        "INSERT INTO t (a) VALUES ('Ab'), ('Aa')",
        "CREATE VIEW v AS SELECT a || 'urn:a:b' FROM t",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END",
    )
    assert read_values(path)[0] == [("t/1/a", b"Ab"), ("t/1/low", b"ab"), ("t/2/a", b"Aa"), ("t/2/low", b"aa")]


@pytest.fixture
def made_with(made):
    """A database from statements, if this SQLite has the modules in them."""

    def made_with(*statements):
        try:
            return made(*statements)
        except sqlite3.OperationalError as error:
            if "no such module" not in str(error):
                raise
            return pytest.skip(str(error))

    return made_with


def test_tables_that_are_called_as_shadows_are_read(made_with):
    """All that began with the name of a virtual table and _ was left out without a word, and its columns denied."""
    path = made_with(
        "CREATE VIRTUAL TABLE book USING fts5(title, columnsize=0)",
        "CREATE TABLE book_author (v)",
        "INSERT INTO book_author VALUES ('urn:a:1')",
        "CREATE TABLE book_old_data (id, block)",
        "INSERT INTO book_old_data VALUES ('urn:a:2', 'urn:a:3')",
        "CREATE TABLE book_docsize (note)",
        "INSERT INTO book_docsize VALUES ('urn:a:4')",
    )
    found = [("book_author/1/v", b"urn:a:1"), ("book_old_data/1/id", b"urn:a:2"), ("book_old_data/1/block", b"urn:a:3")]
    values, errors = read_values(path)
    assert [each for each in values if b"urn:" in each[1]] == [*found, ("book_docsize/1/note", b"urn:a:4")]
    assert errors == []
    assert read_values(path, "book_author.v") == (found[:1], [])


@pytest.mark.parametrize("module", ["fts3(x)", "fts4(x)", "fts5(x)", "fts5(x, tokenize=trigram)"])
def test_texts_of_a_full_text_index_are_read_once(made_with, module):
    """Its ordinary tables are read. Those with the index itself hold words, and no URN is a word."""
    path = made_with(f"CREATE VIRTUAL TABLE t USING {module}", "INSERT INTO t VALUES ('urn:a:1')")
    found, errors = read_values(path)
    assert [place.split("/")[0] for place, value in found if b"urn:" in value] == ["t_content"]
    assert errors == []


def test_texts_beside_an_r_tree_are_read(made_with):
    """Its auxiliary columns."""
    path = made_with("CREATE VIRTUAL TABLE r USING rtree(id, a, b, +note)", "INSERT INTO r VALUES (1, 2, 3, 'urn:a:1')")
    assert ("r_rowid/1/a0", b"urn:a:1") in read_values(path)[0]


@pytest.mark.parametrize(
    "statement",
    [
        b"CREATE VIRTUAL TABLE",
        b"create/* ' */ virtual",
        b" CREATE -- x\n\tVIRTUAL ",
        b"CREATE\xef\xbb\xbfVIRTUAL",
        b"CREATE" + b"/**/" * 1000 + b"VIRTUAL TABLE",
    ],
)
def test_a_virtual_table_is_known_by_its_statement(statement):
    assert sqlite._VIRTUAL.match(statement)
    assert not sqlite._VIRTUAL.match(b"CREATE TABLE virtual")


def test_comments_in_a_schema_take_no_time(made):
    """Forty in a row took for ever."""
    path = made(
        "CREATE TABLE t (a)",
        "INSERT INTO t VALUES ('x')",
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET sql = 'CREATE{'/**/' * 5000} TABLE t (a)'",
    )
    assert read_values(path) == ([("t/1/a", b"x")], [])


def test_names_are_never_taken_for_strings(made):
    """In double quotes SQLite takes what is no name for a string, and would find it in every row."""
    path = made('CREATE TABLE "a`b" ("c`""d")', "INSERT INTO \"a`b\" VALUES ('x')")
    assert read_values(path) == ([('a`b/1/c`"d', b"x")], [])
    assert sqlite._quoted("a`b") == "`a``b`"


def test_a_write_ahead_log_is_said_not_read(tmp_path):
    """To read it SQLite would write into the folder; the database itself is read as it was before."""
    path = tmp_path / "a.db"
    with contextlib.closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("PRAGMA wal_autocheckpoint=0")
        writer.execute("CREATE TABLE t (a)")
        writer.commit()
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        writer.execute("INSERT INTO t VALUES ('logged')")
        writer.commit()
        kept = tmp_path / "kept"
        kept.mkdir()
        for name in ("a.db", "a.db-wal"):
            (kept / name).write_bytes((tmp_path / name).read_bytes())
        before = {file.name: file.read_bytes() for file in kept.iterdir()}
        (error,) = read_values(kept / "a.db")[1]
        assert "-wal file next to it are not read" in error
        assert "sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'" in error
        assert {file.name: file.read_bytes() for file in kept.iterdir()} == before
    assert read_values(path) == ([("t/1/a", b"logged")], [])
    assert read_values(gzipped(path)) == ([("t/1/a", b"logged")], [])


def test_a_database_is_read_where_nobody_may_write(made):
    """In WAL mode SQLite makes files beside it, unless it is told that it does not change."""
    path = made("PRAGMA journal_mode=WAL", "CREATE TABLE t (a)", "INSERT INTO t VALUES ('x')", name="a ?#%.db")
    before = set(path.parent.iterdir())
    assert read_values(path) == ([("t/1/a", b"x")], [])
    assert set(path.parent.iterdir()) == before


def test_a_value_that_is_too_long_is_said_and_the_others_are_read(made, monkeypatch):
    """Python reads a row ahead: the row before one that fails must not be lost."""
    monkeypatch.setattr(sqlite, "LONGEST", 2000)
    path = made(
        "CREATE TABLE t (a, b)",
        "INSERT INTO t VALUES ('1', ''), ('2', ''), (zeroblob(2001), ''), ('4', ''), (zeroblob(3000), ''), ('6', '')",
    )
    found, errors = read_values(path)
    assert [place for place, _ in found] == ["t/1/a", "t/2/a", "t/4/a", "t/6/a"]
    assert errors == [f"in: row {row} of table 't' has a value of more than 2,000 bytes: not read" for row in (3, 5)]


def test_a_damaged_table_does_not_harm_the_others(made):
    path = made(
        "CREATE TABLE t (a)",
        "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
        "SELECT 'value ' || i FROM n",
        "CREATE TABLE u (a)",
        "INSERT INTO u VALUES ('whole')",
    )
    content = bytearray(path.read_bytes())
    at = content.index(b"value 1500")
    page = at // 4096 * 4096
    content[page : page + 8] = b"\xff" * 8
    path.write_bytes(content)
    found, errors = read_values(path)
    assert found[-1] == ("u/1/a", b"whole")
    rows = [int(place.split("/")[1]) for place, _ in found[:-1]]
    assert rows == list(range(1, len(rows) + 1))
    assert len(rows) > 1000
    assert len(errors) == 1
    assert errors[0].startswith("in: table 't' damaged: ")


def test_a_damaged_table_without_row_ids_is_said(made):
    path = made(
        "CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID",
        "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
        "SELECT 'value ' || i FROM n",
    )
    content = bytearray(path.read_bytes())
    page = content.index(b"value 2500") // 4096 * 4096
    content[page : page + 8] = b"\xff" * 8
    path.write_bytes(content)
    found, errors = read_values(path)
    assert len(found) > 1000
    assert len(errors) == 1


@given(data=st.data())
def test_damaged_copies_end_in_errors(tmp_path_factory, data):
    """Cut off or with bytes flipped: no crash, no traceback, no end that never comes."""
    folder = tmp_path_factory.getbasetemp()
    path = folder / "whole.db"
    if not path.exists():
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA page_size=512")
            database.execute("CREATE TABLE t (a, b)")
            database.execute("CREATE TABLE u (a PRIMARY KEY, b) WITHOUT ROWID")
            for number in range(60):
                database.execute("INSERT INTO t VALUES (?, ?)", (f"value {number}", b"x" * number * 20))
                database.execute("INSERT INTO u VALUES (?, ?)", (f"value {number}", "y"))
            database.commit()
    content = bytearray(path.read_bytes())
    for at in data.draw(st.lists(st.integers(16, len(content) - 1), max_size=4)):
        content[at] ^= data.draw(st.integers(1, 255))
    damaged = folder / "damaged.db"
    damaged.write_bytes(content[: data.draw(st.one_of(st.just(len(content)), st.integers(16, len(content))))])
    read_values(damaged)
    read_values(gzipped(damaged))


def test_pages_that_lead_back_end_the_reading(made):
    """An inner page all of whose children are one and the same: more rows than the file can hold."""
    path = made(
        "PRAGMA page_size=512",
        "CREATE TABLE t (a)",
        "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT 'v' FROM n",
    )
    content = bytearray(path.read_bytes())
    for page in range(512, len(content), 512):
        if content[page] == 5:  # an inner page: the number of its first child to all others, and to the next page
            cells = int.from_bytes(content[page + 3 : page + 5], "big")
            places = [int.from_bytes(content[at : at + 2], "big") for at in range(page + 12, page + 12 + 2 * cells, 2)]
            for place in places:
                content[page + place : page + place + 4] = content[page + places[0] : page + places[0] + 4]
    path.write_bytes(content)
    found, errors = read_values(path)
    assert len(found) < len(content)
    assert errors == [] or "damaged" in errors[0]
    many = sqlite._Database.__new__(sqlite._Database)
    many._rows, many._size, many._counts = 4, 10, False
    assert many._took(1, 0)
    assert not many._took(1, 0)


def test_row_ids_that_do_not_rise_give_no_row_twice(made):
    """Rows behind the last id were asked for again and again, until there were more than the file has room for."""
    path = made(
        "CREATE TABLE t (a)",
        *(f"INSERT INTO t (rowid, a) VALUES ({number}, 'value {number}')" for number in (1, 2, 3)),
        "CREATE TABLE big (b)",
        "INSERT INTO big VALUES (zeroblob(100000))",
    )
    content = bytearray(path.read_bytes())
    at = content.find(b"value 3") - 3  # in a cell: length, row id, length and type of the header, value
    assert content[at] == 3
    content[at] = 1
    path.write_bytes(content)
    found, errors = read_values(path)
    assert [value for _, value in found[:-1]] == [b"value 1", b"value 2", b"value 3"]
    assert errors == []


def test_more_rows_than_the_file_has_room_for_end_the_table(made, monkeypatch):
    """What was read before is given."""
    monkeypatch.setattr(sqlite, "_SMALLEST_ROW", 20)
    path = made(
        "CREATE TABLE t (a)",
        "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT 'v' FROM n",
    )
    found, errors = read_values(path)
    assert 0 < len(found) < 1000
    assert errors == ["in: table 't' damaged: it has more rows than its file has room for"]


@pytest.mark.parametrize("table", ["t (k INTEGER PRIMARY KEY, a)", "t (k INTEGER PRIMARY KEY, a) WITHOUT ROWID"])
@FEW
@given(lengths=st.lists(st.sampled_from([1, 5, 300, 700]), max_size=12))
def test_long_rows_among_short_ones_are_read_in_order(tmp_path_factory, table, lengths):
    """Short ones are read some at a time, long ones one by one."""
    path = tmp_path_factory.getbasetemp() / "long.db"
    path.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE TABLE {table}")
        database.executemany("INSERT INTO t VALUES (?, ?)", ((at, "x" * length) for at, length in enumerate(lengths)))
        database.commit()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sqlite, "_AT_ONCE", 3)
        patched.setattr(sqlite, "_SHORT", 200)
        assert read_values(path) == ([(f"t/{at}/a", b"x" * length) for at, length in enumerate(lengths)], [])


def test_rows_that_are_held_are_short(made, monkeypatch):
    """Each may be long, and many may share their bytes: together they would take all memory."""
    path = made("CREATE TABLE t (a)", "INSERT INTO t VALUES ('x'), (zeroblob(300000)), (zeroblob(300000)), ('y')")
    held = []
    took = sqlite._Database._took
    monkeypatch.setattr(
        sqlite._Database,
        "_took",
        lambda self, rows, content: (held.append((rows, content)), took(self, rows, content))[1],
    )
    assert len(read_values(path)[0]) == 4
    assert sum(rows for rows, _ in held) == 4
    assert max(content for _, content in held) <= 300_001


def test_a_long_name_is_cut_in_places_and_read_behind_other_tables(made):
    path = made("CREATE TABLE t (a)", "INSERT INTO t VALUES ('x')", f"CREATE TABLE u ({'c' * 500000})")
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("INSERT INTO u VALUES ('y')")
        database.commit()
    assert read_values(path) == ([("t/1/a", b"x"), ("u/1/" + "c" * 200 + "…", b"y")], [])


def test_a_name_that_is_damaged_is_said(made):
    """SQLite quotes it, and Python cannot decode what SQLite says."""
    path = made("CREATE TABLE tttt (a)")
    content = path.read_bytes()
    path.write_bytes(content.replace(b"tttt", b"tt\xffa", 1).replace(b"CREATE TABLE tttt (a)", b"CREATE TABLE tt(\xff"))
    path.write_bytes(content.replace(b"tttttttt", b"\xfftt\xfftttt").replace(b"CREATE TABLE", b"CREATE NABLE"))
    ((error,), found) = read_values(path)[::-1]
    assert found == []
    assert error.startswith("in: damaged SQLite database: malformed database schema (\ufffdtt\ufffd)")


def test_a_table_whose_name_cannot_be_asked_for_is_said(made):
    """Python's SQLite takes names in Unicode only; it was left out without a word."""
    path = made("CREATE TABLE tt5 (a)", "INSERT INTO tt5 VALUES ('x')")
    path.write_bytes(path.read_bytes().replace(b"tt5", b"tt\xff"))
    assert read_values(path) == ([], ["in: table 'tt\ufffd' damaged: its name is not UTF-8"])


def test_a_name_that_is_a_number_is_read(made):
    """The schema of a file that was made to harm; it was a traceback."""
    path = made('CREATE TABLE "5" (a)', "INSERT INTO \"5\" VALUES ('x')")
    content = path.read_bytes()
    types = content.rindex(b"\x17\x0f\x0f", 0, content.index(b"table55"))
    content = content.replace(b"table55", b"table\x055")
    path.write_bytes(content[:types] + b"\x17\x01\x0f" + content[types + 3 :])
    assert read_values(path) == ([("5/1/a", b"x")], [])


def test_what_is_no_database_behind_its_sign_is_said(tmp_path):
    path = tmp_path / "a.db"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 999)
    found, errors = read_values(path)
    assert found == []
    assert errors[0].startswith("in: damaged SQLite database: ")
    path.write_bytes(b"SQLite format 3 is what this text is about")
    assert is_text(path)


def test_in_memory_it_is_held_up_to_a_limit(made, monkeypatch):
    monkeypatch.setattr(values, "_IN_MEMORY", 1000)
    path = gzipped(made("CREATE TABLE t (a)"))
    assert read_values(path)[1] == ["in: has more than 1,000 bytes, and is read back and forth; unpack it first"]


def test_progress_comes_to_the_size_of_the_file(made):
    path = made("CREATE TABLE t (a)", "INSERT INTO t VALUES (zeroblob(100000))")
    counts = []
    read_values(path, on_read=counts.append)
    assert path.stat().st_size <= sum(counts) <= path.stat().st_size + 4096
