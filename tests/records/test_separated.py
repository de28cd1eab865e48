"""CSV and TSV: rows cut to the byte, read as `csv` reads the whole file."""

import csv
import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import read_from, read_records, set_longest
from urnscan.errors import DamageError
from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.fields import Own
from urnscan.records.identifiers import as_text
from urnscan.records.record import Record, description_of
from urnscan.records.separated import SeparatedRecords, is_separated, values_in


def read(dump, *, own=False, block=None):
    return read_records(SeparatedRecords(own=own), dump, (block,))


def identifiers(found):
    return [one.identifier if isinstance(one, Record) else one.offset for one in found]


# A carriage return alone ends a row of `csv`, and it writes none in quotation marks.
def bare(text):
    """Without what ends a URN wherever it stands."""
    return text.replace('"', "").replace("\r", " ").rstrip(" \n")


cells = st.lists(st.sampled_from([*'ab,;\t|"\n é\0', "\r\n"]), max_size=6).map("".join)
tables = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width).filter(any), min_size=1, max_size=6)
)


def all_values(cell):
    values = values_in(cell)
    return [values] if isinstance(values, str) else values


@given(
    tables,
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.sampled_from([1, 5, 1 << 20]),
)
def test_rows_are_those_that_csv_reads(table, delimiter, end, quoting, mark, block):
    """And they are all of the dump behind the header; what a cell holds is a text of its own."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(["id", "urn", "url", "uri"][: len(table[0])])
    header = len(file.getvalue().encode())
    writer.writerows(table)
    written = file.getvalue()
    rows = [
        row
        for row in list(csv.reader(io.StringIO(written, newline=""), delimiter=delimiter))[1:]
        if "".join(row).strip(" ") or len(row) > 1
    ]
    dump = mark + written.encode()
    found = read(dump, block=block)
    assert b"".join(record.data for record in found) == dump[len(mark) + header :]
    assert [record.offset for record in found] == [dump.index(record.data, record.offset) for record in found]
    for record, row in zip(found, rows, strict=True):
        (text,) = record.texts
        assert bare(text.decode()) == bare("\0".join(row))
        assert bare(record.identifier or "").strip() == bare(row[0]).strip()
    for record, row in zip(read(dump, own=True, block=block), rows, strict=True):
        values = [value for cell in row for value in all_values(cell) if value.strip()]
        assert [bare(own.text) for own in record.own] == [bare(value) for value in values]


@pytest.mark.parametrize(
    "bad",
    [b'x,"b\n', b'"x,b,c\n', b'x,"b" c,"\n', b'x,"b"",c\n'],
)
@pytest.mark.parametrize(
    "rest", [b"1,b,c\n2,b,c\n", b'1,b,"c"\n2,"b","c"\n', b'"1","b ""c""","d"\n"2",,\n', b'1,b,c\n2,"b\nb",c\n']
)
def test_a_mark_that_is_not_closed_costs_its_line(bad, rest):
    """It swallows neither the rest of the dump nor the next row, whose first mark seems to close it."""
    header = b"id,a,b\n0,b,c\n"
    assert identifiers(read(header + bad + rest)) == ["0", len(header), "1", "2"]


def test_a_mark_that_is_not_closed_in_the_last_line():
    assert identifiers(read(b'id,a\n0,"b\nb"\n1,"b')) == ["0", 13]


def test_marks_within_values_are_text():
    """As they are to `csv`; so is what stands behind a closing one in the same line."""
    found = read(b'id,a\n5" disk,b "c" d\n"x"y,"z"\n')
    assert [record.texts[0].split(b"\0") for record in found] == [[b'5" disk', b'b "c" d'], [b"xy", b"z"]]


def test_rows_may_be_short():
    """Exports leave out empty cells at the end, or write more of them; lines without anything are no rows."""
    found = read(b"id,urn\n1\n\n  \r\n2,urn:x:y,, \n,,\n")
    assert [(record.data, record.texts[0]) for record in found] == [
        (b"1\n", b"1\n"),
        (b"2,urn:x:y,, \n", b"2\0urn:x:y\0\0 \n"),
        (b",,\n", b"\0\0\n"),
    ]


def test_a_header_without_known_names_shows_no_columns():
    """It may be a title above the table, or the list may have no delimiter: what is beyond is searched, too."""
    found = read(b"Report,2026\nid,urn,title\n1,urn:x:y,X")
    assert [record.texts[0] for record in found] == [b"id\0urn\0title\n", b"1\0urn:x:y\0X"]
    assert [record.texts[0] for record in read(b"Report\nid,urn\n1,urn:x:y")] == [b"id\0urn\n", b"1\0urn:x:y"]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (b'2,Inks,1998"3,Paper,2011\n', "it has 5 cells, but the header has 3"),
        (b"2,Inks, invented,1998\n", "it has 4 cells, but the header has 3"),
        (b'2,"Roe, 1998"3,"Doe, J"\n', None),
        (b'2,"Roe, 19"Doe"\n', "it has 2 cells, but the header has 3, and text follows a closing quotation mark"),
        (b'2,"Roe"3,,,\n', "it has 5 cells, but the header has 3, and text follows a closing quotation mark"),
        (b'2,5" disk,1998,\n', None),
        (b'"2" ,"5"" disk"\n', None),
        (b'2,"Inks" and paper,1998\n', None),
        (b'2,Inks,1998,"",\n', None),
    ],
)
def test_cells_that_do_not_fit_the_columns(row, fault):
    """Such a row may be two rows that ran together: a clean record was removed for it."""
    found = read(b"id,title,year\n1,Inks,1998\n" + row + b"4,Lamps,2012\n")
    assert [*identifiers(found)] == ["1", 26 if fault else "2", "4"]
    if fault:
        assert found[1] == Damaged(26, fault)


@pytest.mark.parametrize("header", [b"sep=;\r\n", b'"sep=;"\n', b"\xef\xbb\xbfsep=;\n", b"\n"])
def test_what_stands_before_the_header(header):
    """The line for Excel says what stands between values; none of it is a record."""
    dump = header + b"id;a,b,c,d\n1;x,y\n"
    if header == b"\n":
        dump = dump.replace(b",", b".")
    (record,) = read(dump)
    assert (record.identifier, record.offset) == ("1", len(dump) - 6)


@pytest.mark.parametrize("dump", [b"", b"id,urn", b"id,urn\n", b"\xef\xbb\xbf", b"sep=;\n", b'"id"'])
def test_no_rows(dump):
    """Whatever there is of a header."""
    assert read(dump) == []


def test_own_identifiers():
    """Columns that hold them, with what they are; not those of other things."""
    dump = 'Id,Title,ISBN,DOI,Journal,ISSN\n7,"urn:x:y, a",978-0-00-000000-2,10.5555/(é;1),,\n8,b,,,Tides,0000-0000\n9,b,,,,0000-0000\n'
    found = read(dump.encode(), own=True)
    assert [record.own for record in found] == [
        (Own("7"), Own("978-0-00-000000-2", "isbn"), Own("10.5555/(é;1)", "doi")),
        (Own("8"),),
        (Own("9"), Own("0000-0000", "issn")),
    ]
    assert [record.identifier for record in found] == ["7", "8", "9"]
    assert not any(record.texts for record in found)


@pytest.mark.parametrize(
    ("scheme", "names"),
    [
        (
            "isbn",
            "ISBN|isbn|ISBNs|ISBN-13|ISBN 13|isbn_13|ISBN13|ISBN-10|ISBN (print)|ISBN [PDF]|ISBN (13 digits)|eISBN|e-ISBN",
        ),
        ("isbn", "Print ISBN|ISBN_online|DC.Identifier.ISBN"),
        ("serial", "ISBN/ISSN|Standardnummer|Standard number|Standard Numbers"),
        ("ean", "EAN|EAN-13|GTIN|gtin_13"),
        ("doi", "DOI|DOIs|dc:identifier:doi"),
        ("issn", "ISSN|ISSN (online)"),
        (
            "",
            "Link|Links|URL|URLs|Online address|Persistent identifier|persistent_identifier|PID|Permalink|Identifier(s)|ID|@id",
        ),
    ],
)
def test_names_of_columns(scheme, names):
    """Case, punctuation, plural and what is in brackets behind do not matter."""
    for name in names.split("|"):
        (record,) = read(f"Title\t{name}\nx\ty\n".encode(), own=True)
        assert record.own == (Own("y", scheme),), name


@pytest.mark.parametrize(
    "name",
    [
        *["ISBN (set)", "ISBN (Gesamtwerk)", "ISBN (invalid)", "ISBN set", "Wrong ISBN", "Host ISBN", "DOI (journal)"],
        *["Linked data", "Related identifier", "Cover URL", "s", "", "Series", "LINK_TO_COVER", "Standard"],
    ],
)
def test_names_of_other_columns(name):
    """What else stands in them names something else."""
    (record,) = read(f"Title,{name}\nx,y\n".encode(), own=True)
    assert record.own == ()


def test_a_column_that_says_that_the_row_is_a_part():
    """However it is spelt, as in exports of Zotero."""
    dump = b"Item Type,Publication Title,ISBN-13,ISSN\nbookSection,Tides,1,2\nbook,,3,4\n"
    assert [[own.text for own in record.own] for record in read(dump, own=True)] == [[], ["3", "4"]]


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        *[("Item Type", "bookSection"), ("Item Type", "encyclopediaArticle"), ("Item Type", "dictionaryEntry")],
        *[("Document Type", "Book chapter"), ("Document Type", "Conference paper"), ("type", "reference-entry")],
        *[("type", "book-part"), ("type", "book-track"), ("type", "book-section"), ("ENTRYTYPE", "inproceedings")],
    ],
)
def test_types_of_parts(header, kind):
    """Zotero, Scopus, Crossref, BibTeX: the ISBN is that of the book in which the part stands."""
    (part, book) = read(f"{header},ISBN\n{kind},9783001234568\nBook,9783001234568\n".encode(), own=True)
    assert (part.own, book.own) == ((), (Own("9783001234568", "isbn"),))


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_rows_that_end_with_a_carriage_return(mark, block):
    """As Excel for Mac writes them: they are read as the same table with LF is."""
    for dump in (
        b'id,urn\n1,"a, b"\n2,"a\nurn:x:y"\n\n3,c',
        b'sep=;\nid;urn\n1;x\n2;"x\n3;y\n',
        b"id\turn\n1\t2\n",
        b'id,urn\n1,x\n2,"y""\n3,y\n',
    ):
        old = mark + dump.replace(b"\n", b"\r")
        for own in (False, True):
            found, expected = read(old, own=own, block=block), read(mark + dump, own=own)
            assert identifiers(found) == identifiers(expected)
            for one, other in zip(found, expected, strict=True):
                if isinstance(one, Record):
                    assert (one.offset, one.data) == (other.offset, other.data.replace(b"\n", b"\r"))
                    assert [own.text.replace("\r", "\n") for own in one.own] == [own.text for own in other.own]


def test_a_carriage_return_is_text_where_line_feeds_end_rows():
    found = read(b'id,a\r\n1,"b\rc"\r\n2,b\rc\n')
    assert identifiers(found) == ["1", "2"]


def test_a_row_is_called_the_same_whatever_is_asked_for():
    """A NUL in a row and a carriage return in its identifier: they are text, also where all text of the row is wanted."""
    dump = b"a\tid\n\0\tb\rc\n"
    assert [record.identifier for own in (False, True) for record in read(dump, own=own)] == ["b\rc"] * 2


def test_carriage_returns_are_recognised():
    assert is_separated(b"id,a\r" + b"1,b\r" * 3, "")
    assert is_separated(b"id,a\r1,b\r", "") is None


@pytest.mark.parametrize("written", [b'="9783001234568"', b'"=""9783001234568"""', b'" =9783001234568"'])
def test_digits_that_excel_is_to_take_for_text(written):
    """A formula whose value is a string; what only looks so is left."""
    (record,) = read(b"PPN,ISBN\n" + written + b"," + written + b"\n", own=True)
    expected = " =9783001234568" if b" " in written else "9783001234568"
    assert record.own == (Own(expected, "isbn"),)
    assert record.identifier == expected.strip()


def test_rows_that_are_too_long(monkeypatch):
    """Only that row; if it is a mark that is not closed, only its line."""
    set_longest(monkeypatch, 100)
    dump = b"id,a\n0,b\n" + b"x" * 200 + b'\n1,b\n2,"' + b"\n,,b" * 50 + b'"\n3,c\n'
    for block in (1, 7, 1 << 20):
        found = read(dump, block=block)
        assert identifiers(found)[:4] == ["0", 9, "1", 214]
        assert identifiers(found)[-1] == "3"


@pytest.mark.full
@pytest.mark.parametrize(
    "dump",
    [
        b'a,"b\n' + b"x,y\n" * 20_000,
        b'a,"\n' * 20_000,
        b'a,"b""\n' * 20_000,
        b'a,"b"x\n"' * 10_000,
        b'a,"' + b'""' * 400_000,
        b'"",' * 200_000,
    ],
)
def test_damage_is_passed_in_linear_time(dump):
    began = time.process_time()
    read(b"id,a\n" + dump)
    assert time.process_time() - began < 10  # 0.3 s alone; a second reading of each line would take minutes


def test_reading_goes_on_behind_a_loss():
    """The line in which it does may be half a row, and is none."""
    parts = [io.BytesIO(b"id,a\n1,a\n2,"), io.BytesIO(b"a\n4,a\n")]

    def read_into(view):
        if not (got := parts[0].readinto(view)) and len(parts) > 1:
            del parts[0]
            raise DamageError("dump", "damaged")
        return got

    buffer, reader = Buffer(read_into), SeparatedRecords(own=False)
    assert identifiers(read_from(reader, buffer)) == ["1", 9]
    assert buffer.resume()
    assert next(read_from(reader, buffer)) == Damaged(11, "its beginning is missing")


ROWS = b"1,b,c\n2,b,c\n3,b,c\n"


@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        (b"id,a,b\n" + ROWS, "", True),
        (b"\xef\xbb\xbfid;a\r\n1;2\r\n1;2\r\n1;2\r\n", "", True),
        (b"sep=|\nid|a\n1|2\n1|2\n1|2\n", "", True),
        (b',"title, short"\n1,"b\n,c"\n2,\n3,b\n', "", True),
        (b"id\turn\n1\t2\n1\t2\n1\t2\n", "", True),
        (b"urn\nurn:x:y\n", "x.csv", True),
        (b"id", "x.tsv", True),
        (b"\n", "x.csv", None),
        (b'[{"a": 1}]', "x.csv", False),
        (b"<records>", "x.tab", False),
        (b"LDR\t00000nam\n001\tx1\n020\t$a123\n245\t$aA\n", "x.tsv", False),
        (b"001\tx1\n020\t$a123\n245\t$aA\n260\t$bB\n", "", False),
        (b"id,a,b\n1,b,c\n2,b,c\n", "", None),
        (b"id,a", "", None),
        (b"id,a,b\n" + b"1,b\n" * 3, "", False),
        (b"id,id\n1,2\n1,2\n1,2\n", "", False),
        (b"It was late, and cold.\nHe sat, smoking.\nIt rained, too.\nShe left, late.\n", "", False),
        (
            b"A letter            M. Ahn, Example\nNumber 3            P. Lee, Example\n" * 2,
            "",
            False,
        ),  # set in columns
        (b"urn:x:y\nurn:x:z\n" * 4, "", False),
        (b"TY  - BOOK\nAU  - Ahn, Mina\nER  - \n\n", "", False),
        (b"<a>\t<b>\t<c> .\n" * 5, "", False),
        (b'{"a": 1, "b": 2}\n' * 5, "", False),
        (b"@book{a,\n b = {c},\n d = {e},\n f = {g},\n", "", False),
        (b"00100nam a22" + b"\x1f" * 70_000, "", False),
    ],
)
def test_recognition(head, name, expected):
    """By the name, or where the header and three rows agree; text with commas is no table."""
    assert is_separated(head, name) is expected


def test_a_header_that_is_never_closed_is_told():
    """Else a table would have columns that nobody named, with exit status 0."""
    buffer = Buffer(io.BytesIO(b'"title,urn\nx,urn:ex:a\n').readinto)
    damaged, cut = read_from(SeparatedRecords(own=False), buffer)
    assert damaged == Damaged(0, "the header, which names the columns: a quotation mark in it is never closed")
    assert cut.data == b"x,urn:ex:a\n"


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        ("Inks||Tinten", ["Inks", "Tinten"]),
        ("Roe, K.::0000-1::600||Wimpelfeld, A.", ["Roe, K.", "Wimpelfeld, A."]),
        ("Roe, K.::0000-1::-1", "Roe, K."),
        ("[0306406152]", ["0306406152"]),
        ("['9780306406157', '0306406152']", ["9780306406157", "0306406152"]),
        ('["10.5555/a","10.5555/b"]', ["10.5555/a", "10.5555/b"]),
        ("[Inks, an abstract]", ["Inks, an abstract"]),
        ("[Inks] and lamps", "[Inks] and lamps"),
        ("std::vector", "std::vector"),
        ("", ""),
    ],
)
def test_values_in_a_cell(cell, values):
    """DSpace writes all values of a field into one cell, LibraryThing brackets around an ISBN, pandas lists."""
    assert values_in(cell) == values


def test_each_value_of_a_cell_is_an_identifier():
    """The bytes of the row stay as they are."""
    row = b"a,http://hdl.example/5||https://doi.org/10.5555/lamp,[0306406152],Lamps||Lampen,2020\n"
    dump = b"id,dc.identifier.uri[],dc.identifier.isbn[en],dc.title[en_US],dc.date.issued[]\n" + row
    (record,) = read_records(SeparatedRecords(own=True, described=True), dump)
    assert record.data == row
    assert [*filter(None, map(as_text, record.own))] == ["urn:doi:10.5555/lamp", "urn:isbn:9780306406157"]
    description = description_of(record.description)
    assert (description.title, description.year) == ("Lamps", "2020")
