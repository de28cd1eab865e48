"""RIS: references against a plain reader of lines, and what becomes of those without an end."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import read_records, set_longest
from urnscan.records.identifiers import as_text
from urnscan.records.record import Damaged, Own, Record
from urnscan.records.tagged import RisRecords, is_ris

LINES = [
    *[b"TY  - BOOK\r\n", b"TY  - JOUR\n", b"ER  - \r\n", b"ER  - \n", b"ER  -\n", b"\n", b"\r\n", b"\xef\xbb\xbf"],
    *[
        b"AB  - on TY  - and ER  - \n",
        b"goes on\n",
        b" TY  - BOOK\n",
        b"ER  -x\n",
        b"TY -\n",
        b"er  - \n",
        b"\xff\xfe\n",
    ],
    *[b"ID  - lamp-1\n", b"UR  - urn:isbn:1\n", b"Provider: Example Press\n"],
]


def read(dump, *, own=False, size=None):
    return read_records(RisRecords(own=own), dump, (size,))


def tag_of(line):
    """Two characters, two spaces, a hyphen, and a space unless the line ends."""
    first, second, rest = line[:1], line[1:2], line[2:].rstrip(b"\r\n")
    is_tag = first.isalpha() and first.isupper() and (second.isdigit() or (second.isalpha() and second.isupper()))
    return line[:2] if is_tag and (rest == b"  -" or rest.startswith(b"  - ")) else None


def slowly(dump):
    """(offset, octets), without octets for damage."""
    found, begun, stray, at = [], None, False, 0
    if dump.startswith(b"\xef\xbb\xbf"):
        at = 3
    for line in io.BytesIO(dump[at:]):
        tag = tag_of(line)
        if tag == b"TY":
            if begun is not None:
                found.append((begun, None))
            begun, stray = at, False
        elif tag == b"ER" and begun is not None:
            found.append((begun, dump[begun : at + len(line)]))
            begun = None
        elif tag and begun is None and not stray:
            found.append((at, None))
            stray = True
        at += len(line)
    return found if begun is None else [*found, (begun, None)]


@given(st.lists(st.sampled_from(LINES), max_size=14), st.integers(0, 6), st.sampled_from([1, 3, None]))
def test_references_are_those_of_a_plain_reader(lines, cut, size):
    dump = b"".join(lines)[: None if cut == 0 else -cut]
    found = read(dump, size=size)
    assert [(each.offset, getattr(each, "octets", None)) for each in found] == slowly(dump)


def test_a_reference():
    """With CR LF, behind the lines of a provider; ID is what it is called, or AN."""
    one = b"TY  - BOOK\r\nTI  - A lamp\r\nAN  - 4711\r\nID  - lamp \r\nER  - \r\n"
    two = b"TY  - JOUR\nID  - \nAN  - 4711\nER  -"
    dump = b"\xef\xbb\xbfProvider: Example Press\r\nContent: text/plain\r\n\r\n" + one + b"\r\n\r\n" + two
    assert read(dump) == [
        Record(dump.index(one), one, "lamp", (one,)),
        Record(dump.index(two), two, "4711", (two,)),
    ]
    assert read(b"TY  - JOUR\nER  - \n")[0].identifier is None


@pytest.mark.parametrize("size", [1, 2, 18])
def test_blank_lines_that_come_with_another_read(size):
    """Fuzzing: of LF CR before a TY the CR was taken for the begin of a line where it came by itself."""
    dump = b"Provider: Example\n\rTY  - BOOK\nER  - \n"
    records = read(dump)
    assert [record.offset for record in records] == [19]
    assert read(dump, size=size) == records


def test_a_reference_without_an_end_is_damaged():
    """It may have lost a part, and must neither stand for a whole one nor be taken for its duplicate."""
    good = b"TY  - BOOK\nER  - \n"
    assert read(b"TY  - BOOK\nTI  - A la" + b"\n" + good + b"TI  - mp\nKW  - x\n\n" + good + good[:-7]) == [
        Damaged(0, "it has no ER before the next TY"),
        Record(22, good, None, (good,)),
        Damaged(40, "it does not begin with TY"),
        Record(58, good, None, (good,)),
        Damaged(76, "it has no ER"),
    ]


def test_own_identifiers():
    """With the lines in which they go on: exports list several ISBN so, and addresses, each of which is one."""
    lines = b"SN  - 978-3-99999-063-7 (pbk.)\r\n  978-3-99999-064-4\r\n\r\nDO  - 10.5555/1\r\nM3  - Thesis\r\nUR  - urn:x:1\r\n  https://host.example/1\r\nL1  - urn:x:2\r\n"
    (record,) = read(b"TY  - book\r\n" + lines + b"N1  - urn:x:3\nUR  - \nER  - \r\n", own=True)
    assert record.texts == ()
    assert record.own == [
        Own("978-3-99999-063-7 (pbk.)\r\n  978-3-99999-064-4", "isbn"),
        Own("10.5555/1", "doi"),
        Own("Thesis", "doi"),
        Own("urn:x:1"),
        Own("https://host.example/1"),
    ]
    assert as_text(record.own[0]) == "urn:isbn:9783999990637\nurn:isbn:9783999990644"


@pytest.mark.parametrize("tag", ["DO", "UR", "M3"])
def test_a_doi_that_is_broken_over_lines_is_one_value(tag):
    """Its beginning by itself would be that of all chapters."""
    (record,) = read(f"TY  - CHAP\n{tag}  - https://doi.org/10.5555/978-3-540-\n  74839-7_1\nER  - ".encode(), own=True)
    assert [as_text(own) for own in record.own] == [None]


@pytest.mark.parametrize(
    ("kind", "scheme"), [("CHAP", None), ("JOUR", None), ("CONF", None), ("JFULL", "issn"), ("THES", "isbn")]
)
def test_sn_counts_where_it_is_not_the_hosts(kind, scheme):
    """Table of fields by type of reference, 2011: SN of a chapter is the ISBN of the book, of an article the ISSN of
    the journal."""
    (record,) = read(f"TY  - {kind}\nSN  - 1\nER  - ".encode(), own=True)
    assert record.own == ([Own("1", scheme)] if scheme else [])


@pytest.mark.parametrize("size", [1, 13, None])
def test_no_record_is_longer_than_the_longest(monkeypatch, size):
    """The next are read, however long it is; told alike whatever the blocks are."""
    set_longest(monkeypatch, 50)
    good = b"TY  - BOOK\nER  - \n"
    long = good[:11] + b"AB  - x\n" * 9 + b"ER  - \n"
    endless = good[:11] + b"y" * 90 + b"\n"
    found = read(good + long + good + endless + good, size=size)
    assert [(each.offset, type(each)) for each in found] == [
        *[(0, Record), (18, Damaged), (108, Record), (126, Damaged), (137, Damaged), (228, Record)]
    ]


@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        (b"TY  - BOOK\r\n", True),
        (b"\xef\xbb\xbf\r\n\r\nTY  - BOOK\r\n", True),
        (b"Provider: Example Press\r\nDatabase: Lamps\r\n\r\nTY  - JOUR\r\n", True),
        (b"", None),
        (b"\xef\xbb", None),
        (b"\r\nTY  ", None),
        (b"Provider: Exam", None),
        (b"TY,AU,TI\n1,2,3\n", False),
        (b"<records>", False),
        (b"PMID- 1\nOWN - X\n", False),
        (b"FN Example\nVR 1.0\n", False),
        (b"00714cam a2200205 a 4500", False),
        (b"@book{TY  - ", False),
    ],
)
def test_recognition(head, is_one):
    assert is_ris(head, "") is is_one
