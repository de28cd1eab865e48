"""Fields in lines with tags: records against a plain reader of lines, and what becomes of those without an end."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import buffer_of, keys_of, read_from, read_records, set_longest
from urnscan.errors import DamageError
from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.citations import RisRecords, is_ris
from urnscan.records.fields import Own
from urnscan.records.format_registry import FORMATS, recognise
from urnscan.records.identifiers import as_text
from urnscan.records.keys import kinds
from urnscan.records.record import Record

LINES = [
    *[b"TY  - BOOK\r\n", b"TY  - JOUR\n", b"ER  - \r\n", b"ER  - \n", b"ER  -\n", b"\n", b"\r\n"],
    *[
        b"AB  - on TY  - and ER  - \n",
        b"goes on\n",
        b" TY  - BOOK\n",
        b"ER  -x\n",
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
    """(offset, bytes), without bytes for damage."""
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
    """A dump that begins with TY and ER is in the form of the specification: nothing but TY begins a record."""
    dump = b"TY  - GEN\nER  - \n" + b"".join(lines)[: None if cut == 0 else -cut]
    found = read(dump, size=size)
    assert [(each.offset, getattr(each, "data", None)) for each in found] == slowly(dump)


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
    assert [*record.own] == [
        Own("978-3-99999-063-7 (pbk.)\n  978-3-99999-064-4", "isbn"),
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
    assert [*record.own] == ([Own("1", scheme)] if scheme else [])


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
        (b"1.\r\nTY  - BOOK\r\n", True),
        (b"(1)\r\nTY  - BOOK\r\n", False),
        (b"1", None),
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


# --- formats without a last line --------------------------------------------------------------------------------------

WITHOUT_LAST = {
    "nbib": [b"PMID- 1\r\n", b"PMID- 2\n", b"TI  - A lamp\n", b"      goes on\n", b" PMID- 3\n", b"PMC - \n"],
    "enw": [b"%0 Book\n", b"%0 Thesis\r\n", b"%T A lamp\n", b"goes on\n", b" %0 Book\n", b"%%0 x\n"],
    "mrk": [b"=LDR  00000nam\r\n", b"=LDR  00000cam\n", b"=001  1\n", b"goes on\n", b"=LDR\n", b"==LDR  x\n"],
}
COMMON = [b"\n", b"\r\n", b" \t\n", b"\xff\n"]


def without_last(dump, first, tag):
    """Places of records by a plain reader of lines: each begins with its first line, and ends with the last that is not blank."""
    found, at, begun, end, stray = [], 0, None, 0, False
    for line in io.BytesIO(dump):
        if re.match(first, line):
            if begun is not None:
                found.append((begun, dump[begun:end]))
            begun, stray = at, False
        elif begun is None and not stray and re.match(tag, line):
            found.append((at, None))
            stray = True
        at += len(line)
        end = at if line.strip() else end
    return found if begun is None else [*found, (begun, dump[begun:end])]


@pytest.mark.parametrize("name", WITHOUT_LAST)
@given(st.data(), st.sampled_from([1, 3, None]))
def test_records_without_a_last_line_are_those_of_a_plain_reader(name, data, size):
    """They end where the next begins; blank lines behind them are in none, so they part what is left."""
    layout = FORMATS[name].reader.layout
    lines = data.draw(st.lists(st.sampled_from(WITHOUT_LAST[name] + COMMON), max_size=14))
    dump = b"".join(lines)
    found = read_records(FORMATS[name].reader(own=False), dump, (size,))
    expected = without_last(dump, layout.first, layout.tagged)
    assert [(each.offset, getattr(each, "data", None)) for each in found] == expected


@given(
    st.lists(st.tuples(st.sampled_from("12"), st.sampled_from([b"FMT", b"LDR", b"001", b"245"])), max_size=14),
    st.sampled_from([1, 3, None]),
)
def test_records_of_aleph_have_one_number(lines, size):
    """All neighbours with the same number are one record, until a FMT or LDR comes again."""
    expected, last = [], None
    for number, tag in lines:
        if number != last or (tag in (b"FMT", b"LDR") and tag in expected[-1]):
            expected.append([])
        expected[-1].append(tag)
        last = number
    dump = b"".join(b"00000000%b %b   L x\n" % (number.encode(), tag) for number, tag in lines)
    found = read_records(FORMATS["aleph"].reader(own=False), dump, (size,))
    assert [[line[10:13] for line in each.data.splitlines()] for each in found] == expected
    assert b"".join(each.data for each in found) == dump


def test_records_of_yaz_end_with_a_blank_line():
    """Its warnings behind one are in none."""
    one, two = b"00532nam a2200145uc 4500\n001 1\n", b"     nam a22     uc 4500\n001 2\n020    $a 978\n"
    dump = b"<!-- Skipping bad byte -->\n" + one + b"\n(Base address at offsets 12..16)\n" + two + b"\n020    $a lost\n"
    assert FORMATS["marc-lines"].recognise(dump, "") is True
    assert [
        (each.offset, getattr(each, "data", None))
        for each in read_records(FORMATS["marc-lines"].reader(own=True), dump)
    ] == [
        (dump.index(one), one),
        (dump.index(two), two),
        (len(dump) - 15, None),
    ]


@pytest.mark.parametrize("warning", [b"<!-- Skipping bad byte 10 (0x0a) at offset 0 (0x0) -->", b"(No record)", b""])
def test_warnings_of_yaz_may_be_longer_than_the_first_bytes(warning):
    """Bad bytes before the first record: yaz-marcdump writes a warning for each of them. The first look at a dump is at
    4 KiB.
    """
    dump = (warning + b"\n") * (4096 // (len(warning) + 1) + 1) + b"00532nam a2200145uc 4500\n001 1\n020    $a 978\n\n"
    format_ = recognise(buffer_of(dump), "dump.txt")
    assert format_ is not None
    assert format_.name == "marc-lines"


@pytest.mark.parametrize(
    ("name", "dump"),
    [
        ("mrk", b"\n\xef\xbb\xbf=LDR  00532nam a2200145uc 4500\n"),
        ("marc-lines", b"<!-- Skipping bad byte -->\r\n(x)\r\n00532nam a2200145uc 4500\r\n001 1\r\n"),
        ("aleph", b"\n000000001 LDR   L 00532nam^a2200145uc^4500\n"),
        ("nbib", b"\nPMID- 4711\nTI  - Inks\n"),
        ("ovid", b"<1. >\nUI  - 1\n"),
        ("enw", b"\n%0 Book\n"),
        ("ciw", b"FN Clarivate Analytics Web of Science\r\nVR 1.0\r\nPT J\r\n"),
        ("marcxml", b"\n<!-- x --><collection><record><leader>00532nam a2200145uc 4500</leader>"),
    ],
)
def test_a_beginning_of_a_dump_is_never_refused(name, dump):
    """A format says no only if no more bytes could make the dump one of its own."""
    recognised = FORMATS[name].recognise
    assert recognised(dump, "") is True
    assert False not in {recognised(dump[:count], "") for count in range(len(dump))}
    assert recognised(b"x" * 4096, "") is False


@pytest.mark.parametrize(
    ("name", "dump", "called", "own"),
    [
        (
            "nbib",
            b"\nPMID- 4711\nIS  - 9299-4170 (Print)\nLID - S0140(20)1 [pii]\nLID - 10.5555/a [doi]\nPMC - PMC12345\n",
            "4711",
            [("S0140(20)1 [pii]", ""), ("10.5555/a [doi]", "")],
        ),
        ("nbib", b"PMID- 1\nISBN- 9783999990521\nBTI - Inks\n", "1", [("9783999990521", "isbn")]),
        ("nbib", b"PMID- 1\nISBN- 9783999990521\nBTI - Inks\nCTI - Black\n", "1", []),
        (
            "enw",
            b"%0 Edited Book\n%@ 9783999990521\n%R 10.5555/a\n%U https://a.example/1\n%F lamp\n%M 12\n",
            "lamp",
            [("9783999990521", "isbn"), ("10.5555/a", "doi"), ("https://a.example/1", "")],
        ),
        ("enw", b"%0 Book Section\n%@ 9783999990521\n%M 12\n", "12", []),
        (
            "ciw",
            b"FN Clarivate\nVR 1.0\nPT J\nSN 9299-4170\nBN 9783999990521\nDI 10.5555/a\nD2 10.5555/book\nUT WOS:1\nER\n\nEF\n",
            "WOS:1",
            [("10.5555/a", "doi")],
        ),
    ],
)
def test_own_identifiers_of_references(name, dump, called, own):
    """Those of the journal, and of the book of a chapter, are not its own."""
    (record,) = read_records(FORMATS[name].reader(own=True), dump)
    assert (record.identifier, [(each.text, each.scheme) for each in record.own]) == (called, own)
    assert FORMATS[name].recognise(dump, "") is True


@pytest.mark.parametrize(
    ("name", "dump", "expected"),
    [
        ("nbib", b"PMID- 7\nPMC - PMC12345\n", ["pmid:7", "pmcid:pmc12345"]),
        ("enw", b"%0 Journal Article\n%M 12345\n%~ Lamps\n", ["accession:lamps/12345"]),
        ("ciw", b"PT J\nUT WOS:000123456789012\nPM 7\nER\n", ["accession:wos:000123456789012", "pmid:7"]),
    ],
)
def test_keys_of_references(name, dump, expected):
    (record,) = read_records(FORMATS[name].reader(own=False, keys=True), dump)
    assert keys_of([kind for kind in kinds() if kind not in ("id", "octets")], record) == expected


@pytest.mark.parametrize(
    ("name", "last"), [("nbib", b"TI  - x"), ("enw", b"%T x"), ("mrk", b"=245  10$ax"), ("aleph", b"000000002 245 x")]
)
def test_what_cannot_be_read_to_its_end_is_cut_off(name, last):
    """A part of a record must not stand for it."""
    lines = WITHOUT_LAST.get(name, [b"000000001 001   L 1\n", b"000000002 001   L 2\n"])
    stream = io.BytesIO(lines[0] + lines[1] + last)

    def read_into(view):
        count = stream.readinto(view)
        if not count:
            raise DamageError("a", "cut")
        return count

    first, second = read_from(FORMATS[name].reader(own=True), Buffer(read_into))
    assert first.data == lines[0]
    assert second == Damaged(len(lines[0]), "it is truncated")
