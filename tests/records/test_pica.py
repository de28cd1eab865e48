"""PICA+, normalised and plain: where records begin and end, what is damaged, what a value is once it is unescaped."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.reading import buffer_of, outline, owns, read_from, read_records, set_longest
from urnscan.errors import DamageError
from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.format_registry import FORMATS
from urnscan.records.pica import PicaRecords, is_pica_normalised, is_pica_plain
from urnscan.records.record import Record, description_of

NO_FIELD = "it does not begin with a field of PICA+"
CUT_OFF = "it is truncated"
NO_BEGINNING = "it begins in the middle: what came before could not be read"

TIDE = [
    ("001A", "0", "0001:01-02-26"),
    ("003@", "0", "12345678X"),
    ("004A", "0", "3-16-148410-0", "f", "Pb. : EUR 9.90", "A", "978-3-16-148410-0"),
    ("004P", "0", "9783999990775"),
    ("004U", "0", "urn:nbn:de:gbv:999-tide-$1"),
    ("004V", "0", "10.1000/182"),
    ("006X", "0", "77", "S", "OCoLC"),
    ("017C", "u", "https://example.org/urn:nbn:de:x", "4", "LF"),
    ("017D", "u", "https://example.org/online"),
    ("021A", "a", "Die Gezeiten", "h", "E. Muster"),
    ("045F/01", "a", "551.46"),
    ("101@", "a", "20"),
    ("201B/01", "0", "02-02-26"),
    ("209A/01", "a", "Q 12 $ 3"),
]
TIDE_OWN = [
    ("3-16-148410-0", "isbn"),
    ("978-3-16-148410-0", "isbn"),
    ("urn:nbn:de:gbv:999-tide-$1", "urn"),
    ("10.1000/182", "doi"),
    ("77", "ocolc"),
    ("https://example.org/urn:nbn:de:x", ""),
]


def parts(field):
    tag, *rest = field
    return tag, list(zip(rest[::2], rest[1::2], strict=True))


def normalised(fields, end=b"\n"):
    lines = (f"{tag} {subfields_after(chr(0x1F), subfields)}\x1e" for tag, subfields in map(parts, fields))
    return "".join(lines).encode() + end


def plain(fields, sign="$", end=b"\n"):
    lines = (f"{tag} {subfields_after(sign, subfields)}".encode() + end for tag, subfields in map(parts, fields))
    return b"".join(lines)


def subfields_after(sign, subfields):
    return "".join(sign + code + (value.replace("$", "$$") if sign == "$" else value) for code, value in subfields)


def short(ppn):
    return [("003@", "0", ppn), ("021A", "a", "Die Lampe")]


def read(dump, *, own=False, sizes=(None,)):
    return read_records(PicaRecords(own=own), dump, sizes)


def values(record):
    """What stands in its subfields, by its texts."""
    return [value.rstrip(b"\r\n\x1e\x1d") for text in record.texts for value in _subfields(text)]


def _subfields(text):
    for field in text.replace(b"\x1e", b"\n").split(b"\n"):
        yield from (each[1:] for each in field.split(b"\x1f")[1:])


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\x1d", b"\x1d\n"], ids=repr)
def test_normalised_records(end, mark):
    """Each with the byte that ends it; what is called binary PICA ends records with 1D, with or without a line end."""
    kept = end if end.endswith(b"\n") and b"\x1d" not in end else end[:1]
    one, two = normalised(TIDE, b""), normalised(short("2"), b"")
    dump = mark + one + end + two + end
    assert read(dump) == [
        Record(len(mark), one + kept, "12345678X", (one + kept,)),
        Record(len(mark + one + end), two + kept, "2", (two + kept,)),
    ]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf\n"])
@pytest.mark.parametrize("sign", ["$", "ƒ"])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=repr)
def test_plain_records(line_end, sign, mark):
    """Parted by blank lines, which belong to none."""
    one, two = plain(TIDE, sign, line_end), plain(short("2"), sign, line_end)
    dump = mark + one + line_end + two + b" \t" + line_end * 3 + one
    found = read(dump)
    assert [(each.offset, each.data) for each in found] == [
        (len(mark), one),
        (len(mark + one + line_end), two),
        (len(dump) - len(one), one),
    ]
    assert outline(found) == ["12345678X", "2", "12345678X"]
    assert values(found[0]) == [value.encode() for field in TIDE for _, value in parts(field)[1]]


def test_a_dollar_is_a_character_of_a_urn_and_a_single_one_ends_it():
    """`$` may stand in a URN (RFC 8141, sub-delims): undoubled it must not, and doubled it must."""
    [record] = read(b"003@ $01\n004U $0urn:example:a$$b$$$furn:example:c$$\n209A $$a\n")
    assert record.texts == (b"003@ \x1f01\n004U \x1f0urn:example:a$b$\x1ffurn:example:c$\n209A $a\n",)


@pytest.mark.parametrize("data", [normalised(TIDE), plain(TIDE), plain(TIDE, "ƒ"), plain(TIDE, "$", b"\r\n")])
def test_own_identifiers_are_the_same_in_each_serialisation(data):
    [record] = read(data, own=True)
    assert record.texts == ()
    assert (record.identifier, owns(record)) == ("12345678X", TIDE_OWN)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (("004C", "0", "1"), [("1", "upc")]),
        (("004F", "0", "1", "f", "2"), [("1", "ismn")]),
        (("004L", "0", "1"), [("1", "ean")]),
        (("004R", "0", "1"), [("1", "hdl")]),
        (("005A", "0", "1", "A", "2", "l", "3", "m", "4"), [("1", "issn"), ("2", "issn")]),
        (("005I", "0", "1", "l", "3"), [("1", "issn")]),
        (("006X", "0", "1"), [("1", "")]),
        (("006X", "0", "1", "S", "", "S", "DOI"), [("1", "doi")]),
        (("017C/01", "u", " 1 ", "y", "2"), [("1", "")]),
        *(((tag, "0", "1", "u", "2"), []) for tag in "004D 004I 004J 004K 004P 004W 005B 005P 017D 017F 017G".split()),
        (("039D", "C", "ISBN", "6", "1"), []),
        (("004U", "0", ""), []),
    ],
)
def test_which_fields_are_the_record_s_own(field, expected):
    """Each of the rows of the table, and their neighbours that name something else (K10plus)."""
    assert owns(read(normalised([*short("1"), field]), own=True)[0]) == expected


def test_a_number_may_stand_before_the_first_field():
    """As in exports of ZDB."""
    one, two = b"12345678X     \x1e" + normalised(TIDE), b"77\x1e" + normalised(short("2"))
    dump = one + b" " + two
    assert is_pica_normalised(dump, "")
    assert [(each.data, each.identifier) for each in read(dump)] == [(one, "12345678X"), (two, "2")]
    assert owns(read(dump, own=True)[0]) == TIDE_OWN


@pytest.mark.parametrize(
    ("dump", "identifiers"),
    [
        (normalised([("021A", "a", "See 003@ ", "0", "5")]), [None]),
        (normalised([("101@", "a", "1"), ("003@", "a", "x", "0", " 7 ")]), ["7"]),
        (plain([("021A", "a", "x 003@ "), ("003@", "0", "7", "a", "8")]), ["7"]),
        (b"003@ \x1f0BV\xff1\x1e\n", ["BV\ufffd1"]),
        (b"003@ \x1f0\x1e\n", [None]),
        (b"003@ $01", ["1"]),
        (b"003@ \x1f01\x1e\n" * 2, ["1", "1"]),
    ],
)
def test_the_identifier_is_the_ppn(dump, identifiers):
    assert outline(read(dump)) == identifiers


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (normalised(short("2"))[:-3] + b"\n", CUT_OFF),
        (normalised(short("2"))[2:], NO_FIELD),
        (b"# comment\n", NO_FIELD),
        (b"\x1e\n", NO_FIELD),
    ],
)
def test_what_is_damaged_costs_no_neighbour_normalised(broken, reason):
    dump = normalised(short("1")) + b"\n" + broken + normalised(short("3"))
    found = read(dump)
    assert outline(found) == ["1", reason, "3"]
    assert found[1].offset == len(normalised(short("1"))) + 1


def test_what_is_damaged_costs_no_neighbour_plain():
    dump = plain(short("1")) + b"\nBackup of today\n\n" + plain(short("3"))
    assert outline(read(dump)) == ["1", NO_FIELD, "3"]


def test_a_line_of_a_plain_record_that_is_no_field_goes_on_with_a_value():
    [record] = read(b"003@ $01\n021A $aDie\nLampe urn:example:a\n004U $0urn:example:b\n", own=True)
    assert owns(record) == [("urn:example:b", "urn")]


@pytest.mark.parametrize("cut", [3, 8, 12, len(normalised(short("2"))) - 3])
def test_a_normalised_dump_that_is_cut_off_ends_with_a_damaged_record(cut):
    found = read(normalised(short("1")) + normalised(short("2"))[:cut])
    assert outline(found) in (["1", NO_FIELD], ["1", CUT_OFF])
    assert outline(read(normalised(short("1")) + normalised(short("2"))[:-1])) == ["1", "2"]


@pytest.mark.parametrize("serialised", [normalised, lambda fields: plain(fields) + b"\n"])
def test_what_is_too_long_counts_once_and_reading_goes_on(monkeypatch, serialised):
    set_longest(monkeypatch, 9_000)
    dump = serialised(short("1")) + serialised(short("2") * 1000) + serialised(short("3"))
    found = read(dump, sizes=(999,))
    assert [type(each) for each in found] == [Record, Damaged, Record]
    assert "longer than" in found[1].reason
    assert outline(found)[::2] == ["1", "3"]


@pytest.mark.parametrize("size", [1, 999, 1 << 20])
@pytest.mark.parametrize("serialised", [normalised, lambda fields: plain(fields) + b"\n"])
def test_the_longest_record_is_one(monkeypatch, serialised, size):
    """To the byte, whatever the blocks are."""
    data = serialised(TIDE)
    length = len(read(data)[0].data)
    for longest, kind in ((length, Record), (length - 1, Damaged)):
        set_longest(monkeypatch, longest)
        for dump in (data, data + data, data[: data.index(b"\n", length - 1) + 1]):
            assert {type(each) for each in read(dump, sizes=(size,))} == {kind}


@pytest.mark.parametrize("serialised", [normalised, lambda fields: plain(fields) + b"\n"])
@pytest.mark.parametrize(("lost", "rest"), [((4, 5), NO_FIELD), ((6, 9), NO_BEGINNING), ((9, 12), NO_FIELD)])
def test_reading_goes_on_behind_a_loss_of_bytes(serialised, lost, rest):
    """Asked again after `Buffer.resume`: of the record in which the loss was both parts are damaged, the next is read."""
    two = serialised(short("2"))
    blocks = iter(
        [
            serialised(short("1")) + two[: lost[0]],
            DamageError("dump.gz", "damaged"),
            two[lost[1] :] + serialised(short("3")),
            b"",
        ]
    )

    def read_into(view):
        block = next(blocks)
        if isinstance(block, Exception):
            raise block
        view[: len(block)] = block
        return len(block)

    buffer = Buffer(read_into)
    reader = PicaRecords(own=False)
    assert outline(read_from(reader, buffer)) in (["1", CUT_OFF], ["1", NO_FIELD])
    assert buffer.resume()
    assert outline(read_from(reader, buffer)) == [rest, "3"]


_value = st.text(st.sampled_from("ab$ 0ƒ:ü@"), max_size=8).filter(lambda value: value == value.strip())
_field = st.tuples(
    st.sampled_from(["004U", "004A", "021A", "003@", "017C", "209A/01", "045F/123"]),
    st.lists(st.tuples(st.sampled_from("0aAuS"), _value), min_size=1, max_size=3),
).map(lambda field: (field[0], *itertools.chain(*field[1])))
_fields = st.lists(_field, min_size=1, max_size=5)


def slowly(data):
    """The values of a plain record, character by character (https://format.gbv.de/pica/plain)."""
    for line in data.decode().splitlines():
        text = line.partition(" ")[2]
        value, at = None, 0
        while at < len(text):
            if text[at] != "$":
                value += text[at]
            elif text[at + 1] == "$":
                value += "$"
                at += 1
            else:
                if value is not None:
                    yield value.encode()
                value = ""
                at += 1
            at += 1
        yield value.encode()


@given(_fields)
@example([("021A", "a", "$$"), ("021A", "a", "$", "0", "$$$")])
def test_plain_is_what_normalised_is(fields):
    """Identifier, own identifiers and values are the same in both; so are those that plain code finds."""
    for own in (False, True):
        [one], [two] = read(plain(fields), own=own), read(normalised(fields), own=own)
        assert (one.identifier, one.own) == (two.identifier, two.own)
        assert values(one) == values(two)
        assert values(one) == ([] if own else list(slowly(one.data)))


_pieces = st.sampled_from(
    [
        normalised(short("1")),
        normalised(TIDE, b"\x1d"),
        plain(short("3")),
        plain(TIDE, "ƒ", b"\r\n"),
        b"\n",
        b" \t\n",
        b"\r\n",
        b"\0",
        b"\x1d",
        b"\x1e",
        b"\x1f",
        b"003@ ",
        b"$",
        b"junk",
    ]
)
_dumps = st.lists(_pieces | st.binary(max_size=9), max_size=8).map(b"".join)


@given(_dumps)
def test_records_are_bytes_of_the_dump_in_their_order(dump):
    """Any bytes at all: nothing raises, and records and what parts them make up what is not damaged."""
    end = 0
    found = read(dump)
    for each in found:
        assert (end or 0) <= each.offset < len(dump)
        if isinstance(each, Damaged):
            end = None
        else:
            if end is not None:
                between = dump[end : each.offset].removeprefix(b"" if end else b"\xef\xbb\xbf")
                assert between.strip(b" \t\n\v\f\r\0\x1a") == b""
            assert dump[each.offset : each.offset + len(each.data)] == each.data
            assert not each.data[:1].isspace()
            end = each.offset + len(each.data)
    assert [(each.offset, outline([each])) for each in read(dump, own=True)] == [
        (each.offset, outline([each])) for each in found
    ]


@pytest.mark.full
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "hostile", [b"003@ \x1f" * 300_000, b"\n003@ $" * 300_000, b"\n 003@ " * 300_000, (b"\n" + b" " * 64) * 30_000]
)
def test_time_is_linear_in_what_is_read(hostile):
    """Two million bytes that begin over and over; were the time quadratic, it would be minutes."""
    for _ in read_from(PicaRecords(own=True), buffer_of(b"003@ $01\n" + hostile)):
        pass


@pytest.mark.parametrize(
    ("dump", "recognise", "other"),
    [
        (normalised(TIDE), is_pica_normalised, is_pica_plain),
        (b"\xef\xbb\xbf\n" + plain(TIDE), is_pica_plain, is_pica_normalised),
        (b"101@/001 ", None, is_pica_plain),
        (plain(TIDE, "ƒ"), is_pica_plain, is_pica_normalised),
    ],
)
def test_a_dump_is_recognised_by_its_first_field(dump, recognise, other):
    told = [other(dump[:count], "") for count in range(len(dump))]
    assert True not in told
    if recognise:
        told = [recognise(dump[:count], "") for count in range(len(dump))]
        assert told[-1] is True
        assert sorted(told, key=[None, True].index) == told  # never no, and yes stays yes


@pytest.mark.parametrize("recognise", [is_pica_normalised, is_pica_plain])
@pytest.mark.parametrize(
    "head", [b"{", b"<?xml", b"00065nam a2200049   4500", b"TY  - BOOK", b"003@,021A,004U\n1,2,3", b"300@ $a\n003@ $01"]
)
def test_other_formats_are_not_recognised(head, recognise):
    assert recognise(head.ljust(64), "x.pica") is False


WINIBW = "SET: S1 [14] TTL: {number}           PPN: 12{number}                 SEITE1 .{end}{end}Eingabe: 0206:06-09-18 \u00c4nderung: 0206:07-09-18 12:33:44 Status: 0206:06-09-18{end}"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("sizes", [(None,), (1,), (7, 3)])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_of_winibw_are_in_no_record(end, sizes, mark):
    """A download has lines about each record, and two of them come before a blank line of their own."""
    dump, expected = b"", []
    for number in (1, 2, 3):
        dump += (mark + WINIBW.format(number=number, end=end)).encode()
        record = plain([*short(f"12{number}"), ("004A", "0", "9780306406157")], "ƒ", end.encode())
        expected.append((len(dump), record, f"12{number}"))
        dump += record + end.encode()
    assert is_pica_plain(dump[:4096], "") is True
    records = read(dump, own=True, sizes=sizes)
    assert [(record.offset, record.data, record.identifier) for record in records] == expected
    assert {owns(record)[0] for record in records} == {("9780306406157", "isbn")}


def test_pica_in_xml_is_read_as_pica():
    """With the same table; also inside of SRU, whose record it is a part of."""
    inner = (
        b'<record xmlns="info:srw/schema/5/picaXML-v1.0"><datafield tag="003@"><subfield code="0">12</subfield></datafield>'
        b'<datafield tag="004A"><subfield code="0">9780306406157</subfield></datafield><datafield tag="011@"><subfield '
        b'code="a">1998</subfield></datafield><datafield tag="021A"><subfield code="a">Die @Lampe</subfield></datafield>'
        b'<datafield tag="028A"><subfield code="A">Wimpelfeld</subfield></datafield></record>'
    )
    outer = (
        b"<zs:record><zs:recordSchema>picaxml</zs:recordSchema><zs:recordData>"
        + inner
        + b"</zs:recordData></zs:record>"
    )
    head, tail = b'<zs:r xmlns:zs="http://www.loc.gov/zing/srw/"><zs:records>', b"</zs:records></zs:r>"
    as_lines = b"003@ $012\n004A $09780306406157\n011@ $a1998\n021A $aDie @Lampe\n028A $AWimpelfeld\n"
    (expected,) = read_records(PicaRecords(own=True, described=True), as_lines)
    for name, dump, data in (
        ("pica-xml", b"<collection>" + inner + b"</collection>", inner),
        ("sru", head + outer + tail, outer),
    ):
        assert FORMATS[name].recognise(dump, "") is True
        (record,) = read_records(FORMATS[name].reader(own=True, described=True), dump)
        assert (record.data, record.identifier, owns(record)) == (data, "12", owns(expected))
        assert description_of(record.description) == description_of(expected.description)
