"""MARC 21 in ISO 2709: where records begin and end, what is damaged, what is read all the same; pymarc as the oracle."""

import time
import unicodedata
import warnings

import pymarc
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.iso_2709 import book, marc
from tests.support.reading import buffer_of, outline, owns, read_from, read_records, refuse, set_longest
from urnscan.errors import DamageError
from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records import description
from urnscan.records import marc as marc_module
from urnscan.records.fields import Own, admitting, of_subfields, of_value, own_fields
from urnscan.records.marc import MarcRecords, is_marc
from urnscan.records.marc_bytes import of_marc8, split_field, unpack_marc
from urnscan.records.record import Record

END = "the dump ends before its record terminator (1D)"
LOST_END = "it ends without a record terminator (1D)"


URN_FIELD = (b"024", b"7 \x1faurn:nbn:de:gbv:999-tide-1\x1f2urn")


def read(dump, *, own=False, sizes=(None,)):
    return read_records(MarcRecords(own=own), dump, sizes)


def test_records_and_what_is_between_them():
    one, two, three = book(1), book(2, URN_FIELD), book(3)
    dump = b"\xef\xbb\xbf" + one + b"\r\n\n" + two + b"\0 \0" + three + b"\n\x1a"
    found = read(dump)
    assert found == [
        Record(dump.index(content), content, identifier, (content,))
        for content, identifier in ((one, "1"), (two, "2"), (three, "3"))
    ]


def test_own_identifiers_come_with_their_schemes_and_no_texts():
    dump = book(
        7,
        (b"020", b"  \x1fa978-0-9999412-0-1 (pbk.)\x1fz9783999990638"),
        URN_FIELD,
        (b"856", b"40\x1fuhttps://example.org/urn:nbn:de:x\x1fgurn:nbn:de:y"),
        (b"856", b"42\x1fuhttps://example.org/toc"),
        (b"776", b"08\x1fz9783999990775"),
    )
    [record] = read(dump, own=True)
    assert record.texts == ()
    assert owns(record) == [
        ("978-0-9999412-0-1 (pbk.)", "isbn"),
        ("urn:nbn:de:gbv:999-tide-1", "urn"),
        ("https://example.org/urn:nbn:de:x", ""),
        ("urn:nbn:de:y", ""),
    ]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (("020", "", "", "a1 z2"), "1:isbn"),
        (("022", "0", " ", "a1 l2 m3 y4 z5"), "1:issn"),
        (("024", "0", " ", "a1"), "1:isrc"),
        (("024", "1", " ", "a1"), "1:upc"),
        (("024", "2", " ", "a1"), "1:ismn"),
        (("024", "3", " ", "a1 d2 z3"), "1:ean"),
        (("024", "4", " ", "a1"), "1:sici"),
        (("024", "7", " ", "2DOI a1 z3"), "1:doi"),
        (("024", "7", " ", "a1"), "1:"),
        (("024", "8", " ", "a1 2doi"), "1:"),
        (("024", "", "", "a1"), "1:"),
        (("856", "4", " ", "u1 g2 z3"), "1: 2:"),
        (("856", "", "", "u1"), "1:"),
        (("856", "4", "0", "u1 u2"), "1: 2:"),
        (("856", "4", "1", "u1"), ""),
        (("856", "4", "2", "u1 g2"), ""),
        (("856", "4", "8", "u1"), ""),
        (("857", "4", "0", "g1"), "1:"),
        (("035", " ", " ", "a(DE-599)1"), ""),
        (("773", "0", "8", "z1 x2 o3"), ""),
        (("776", "0", "8", "z1"), ""),
    ],
)
def test_which_fields_are_the_record_s_own(field, expected):
    """Each of the rows of the table, and their neighbours that name something else (Bibliographic Format, 020-024, 856)."""
    tag, first, second, subfields = field
    rows = admitting(own_fields("marc").get(tag, ()), first or " ", second)
    found = of_subfields([(each[0], each[1:]) for each in subfields.split()], rows)
    assert " ".join(f"{own.text}:{own.scheme}" for own in found) == expected


@pytest.mark.parametrize(
    ("subfields", "expected"),
    [
        ([("a", "1"), ("q", "(set)")], ["1 (set)"]),
        ([("a", "1"), ("q", "set ;"), ("q", "pbk.")], ["1 (set) (pbk.)"]),
        ([("a", "1"), ("q", "set (pbk.) :"), ("c", "$9")], ["1 (set  pbk.)"]),
        ([("q", "lost"), ("a", "1"), ("z", "2"), ("q", "set"), ("a", "3"), ("q", "v. 1")], ["1", "3 (v. 1)"]),
        ([("a", "1"), ("q", " : ")], ["1"]),
    ],
)
def test_a_qualifier_stays_with_its_isbn(subfields, expected):
    """MARC 020 $q is what stood in brackets behind the number until 2013: the ISBN of a set is known by it."""
    assert of_subfields(subfields, own_fields("marc")["020"]) == [Own(text, "isbn") for text in expected]


def test_subfields_without_code_or_value_are_nothing():
    assert of_subfields([("", "1"), ("a", ""), ("a", " 2 ")], own_fields("marc")["020"]) == [Own("2", "isbn")]


@pytest.mark.parametrize("length", [0, 99999, 25, 150, 300])
@pytest.mark.parametrize("own", [False, True])
def test_a_wrong_length_in_the_leader_is_no_damage(length, own):
    """Conversions of the character set leave it as it was; it must not lead into the neighbours."""
    content = book(2, URN_FIELD, length=length)
    dump = book(1) + content + book(3)
    found = read(dump, own=own)
    assert outline(found) == ["1", "2", "3"]
    assert found[1].data == content
    assert owns(found[1]) == ([("urn:nbn:de:gbv:999-tide-1", "urn")] if own else [])


@pytest.mark.parametrize("length", [None, 0])
@pytest.mark.parametrize(
    "width",
    [
        lambda value: len(value.decode()),
        lambda value: len(unicodedata.normalize("NFD", value.decode()).encode()),
        lambda value: len(value.replace(b"&#x27;", b"'")),
    ],
    ids=["less", "more", "references"],
)
def test_a_directory_that_counts_wrong_is_no_damage_while_the_fields_are_as_many(width, length):
    """Counted in characters, or before umlauts were composed or a character became a reference: the fields are found in
    their turn, also in the last.
    """
    content = marc(
        (b"001", b"2"),
        (b"245", "10\x1faÜber Öl für Türöffner: &#x27;auf&#x27;".encode()),
        URN_FIELD,
        width=width,
        length=length,
    )
    [record] = read(content, own=True)
    assert (record.identifier, owns(record)) == ("2", [("urn:nbn:de:gbv:999-tide-1", "urn")])


def test_a_directory_may_name_fields_out_of_order():
    """ISO 2709 binds a field to its entry by the place that this says, not by the order."""
    fields = b"2\x1e", b"  \x1fa3161484100\x1e"
    directory = b"020%04d%05d" % (len(fields[1]), len(fields[0])) + b"001%04d00000" % len(fields[0])
    content = directory + b"\x1e" + b"".join(fields) + b"\x1d"
    content = b"%05dnam a2200049   4500" % (24 + len(content)) + content
    [record] = read(content, own=True)
    assert (record.identifier, owns(record)) == ("2", [("3161484100", "isbn")])


def test_a_record_longer_than_its_leader_can_say():
    """Past 99,999 bytes neither the leader nor the directory can tell the places of fields."""
    notes = [(b"500", b"  \x1fa" + b"word " * 1000) for _ in range(30)]
    content = book(1, *notes, URN_FIELD, length=99999)
    found = read(content + book(2), own=True)
    assert outline(found) == ["1", "2"]
    assert found[0].data == content
    assert owns(found[0]) == [("urn:nbn:de:gbv:999-tide-1", "urn")]


def test_a_record_terminator_in_a_field_ends_nothing():
    """Its length and its directory agree with the 1D behind; pymarc reads it so as well."""
    content = book(1, (b"500", b"  \x1fastray \x1d and 450 \x1d more"), URN_FIELD)
    assert pymarc.Record(content)["001"].data == "1"
    assert [each.data for each in read(content + book(2))] == [content, book(2)]


def test_what_looks_like_a_leader_in_a_field_begins_no_record():
    """Its directory would have to end where its base address says."""
    content = book(1, (b"500", b"  \x1faleader 00065nam a2200049   4500001000200000 of another"), length=0)
    assert outline(read(content)) == ["1"]


def test_identifiers_are_trimmed_and_may_be_missing_or_not_utf_8():
    dump = marc((b"245", b"10\x1faA")) + marc((b"001", b"  ")) + marc((b"005", b"x"), (b"001", b" BV\xff1 "))
    assert outline(read(dump)) == [None, None, "BV\ufffd1"]


@pytest.mark.parametrize(
    ("broken", "reasons"),
    [
        (book(2)[:60], [LOST_END]),  # cut off in its directory
        (book(2, URN_FIELD)[:110], [LOST_END]),  # in a field
        (book(2, *[URN_FIELD] * 5)[:200], [LOST_END]),  # in one after which the next record has as many as are missing
        (book(2)[:-1], [LOST_END]),  # its terminator is lost
        (book(8)[:-1] + book(2)[:-1], [LOST_END] * 2),
        (b"<html>Error 500</html>", ["it has no leader"]),
        (b"\x1d", ["it has no leader"]),
        (b"Error\x1d", ["it has no leader"]),
        (book(2)[3:], ["it has no leader"]),
        (book(2)[:24] + book(2)[27:], ["its directory is not made of entries of 12 bytes"]),
        (book(2, length=67)[:30] + b"0" + book(2)[30:], ["its directory is not made of entries of 12 bytes"]),
        (b"00026nam a2200025   4500\x1e\x1d", ["its directory is not made of entries of 12 bytes"]),
        (book(2)[:-9] + b"\x1d", ["its directory points past its end"]),
    ],
)
def test_what_is_damaged_costs_no_neighbour(broken, reasons):
    dump = book(1) + b"\n" + broken + book(3)
    found = read(dump)
    assert outline(found) == ["1", *reasons, "3"]
    assert found[1].offset == len(book(1)) + 1
    assert found[-1].data == book(3)
    assert dump[found[-1].offset :] == book(3)


@pytest.mark.full
def test_bytes_lost_across_the_end_of_a_record_make_no_record_of_two():
    """It would count as one of them, and take what is left of the other with it where that is a duplicate.

    Each beginning and each end of what is lost are tried, and one in three of their pairs.
    """
    one = book(2, (b"020", b"  \x1fa3161484100"), URN_FIELD, (b"500", b"  \x1faWith a map"))
    two = book(
        31, (b"490", b"0 \x1faTide tables"), (b"500", b"  \x1faBound with others"), (b"653", b"  \x1faLamps, oil, tin")
    )
    both, behind_leader, last_field = one + two, two[24:], two[two.index(b"  \x1faLamps") :]
    for start in range(24, len(one) - 1):
        for end in range(len(one) + 1 + start % 3, len(both) - 1, 3):
            found = read_records(MarcRecords(own=False), book(1) + both[:start] + both[end:] + book(3), together=2)
            assert (outline(found)[0], outline(found)[-1]) == ("1", "3")
            for each in found[1:-1]:
                if isinstance(each, Record) and not each.data.endswith(behind_leader):
                    # Of the second only the end of a field is left, exactly as long as what the first has lost.
                    assert len(both) - end <= len(last_field), (start, end)
                    assert len(each.data) == len(one), (start, end)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (book(2, URN_FIELD)[:-10] + book(3)[30:], "its directory describes 112 of its 137 bytes"),
        (
            book(2, length=0)[:-1] + b"  \x1faa field of no entry\x1e\x1d",
            "its directory describes 65 of its 89 bytes",
        ),
        (book(2, length=0)[:-5] + b", and a bit\x1e\x1d", "its directory describes 52 of its 73 bytes"),
        (book(2)[:-5] + b"\x1emp\x1e\x1d", None),
        (book(2)[:49] + b"1\x1e10\x1fa\x1e lamp\x1e\x1e\x1d", "its fields are not where its directory says"),
        (book(2, length=0)[:-1] + b"\x1e\x1d", None),
    ],
    ids=["fused", "behind", "longer", "stray", "moved", "twice"],
)
def test_bytes_that_neither_leader_nor_directory_account_for(content, reason):
    """But a field terminator within a field, or one too many at the end, is no damage."""
    found = read(book(1) + content + book(3))
    assert outline(found) == ["1", reason or "2", "3"]


@pytest.mark.parametrize("cut", [1, 20, 24, 40, 49, 60, len(book(2)) - 1])
def test_a_dump_that_is_cut_off_ends_with_a_damaged_record(cut):
    assert outline(read(book(1) + book(2)[:cut])) == ["1", END]


def test_what_is_too_long_counts_once_and_reading_goes_on(monkeypatch):
    set_longest(monkeypatch, 150_000)
    junk = b"no records here. " * 30_000
    found = read(book(1) + junk + b"\x1d" + book(2) + junk, sizes=(9999,))
    assert [type(each) for each in found] == [Record, Damaged, Record, Damaged]
    assert "longer than" in found[1].reason
    assert outline(found)[::2] == ["1", "2"]


def test_reading_goes_on_behind_a_loss_of_bytes():
    """Asked again after `Buffer.resume`, the rest of the record in which the loss was is damaged, the next is read."""
    parts = iter([book(1) + book(2)[:50], DamageError("dump.mrc.gz", "damaged"), book(2)[60:] + book(3), b""])

    def read_into(view):
        part = next(parts)
        if isinstance(part, Exception):
            raise part
        view[: len(part)] = part
        return len(part)

    buffer = Buffer(read_into)
    reader = MarcRecords(own=False)
    assert outline(read_from(reader, buffer)) == ["1", END]
    assert buffer.resume()
    assert outline(read_from(reader, buffer)) == ["it has no leader", "3"]


_texts = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x1b\x1d\x1e\x1f"), max_size=12)
_identifiers = st.sampled_from(["3161484100", "urn:nbn:de:x", "10.1000/182", "2049-3630", "https://example.org/ü"])
_subfields = st.lists(st.tuples(st.sampled_from("agu2z3"), _identifiers | _texts), max_size=4)
_data_fields = st.tuples(
    st.sampled_from(["020", "022", "024", "245", "500", "773", "856", "9XX"]),
    st.sampled_from(" 0123478"),
    st.sampled_from(" 0128"),
    _subfields,
)


@st.composite
def pymarc_records(draw):
    record = pymarc.Record(force_utf8=True)
    if draw(st.booleans()):
        record.add_field(pymarc.Field(tag="001", data=draw(st.text("0123456789X", min_size=1, max_size=9))))
    record.add_field(pymarc.Field(tag="008", data="x" * draw(st.integers(0, 40))))
    for tag, first, second, subfields in draw(st.lists(_data_fields, max_size=6)):
        record.add_field(
            pymarc.Field(
                tag=tag,
                indicators=pymarc.Indicators(first, second),
                subfields=[pymarc.Subfield(code, value) for code, value in subfields],
            )
        )
    return record


def as_pymarc_has_them(record):
    """Identifier and own identifiers once more, from what pymarc reads."""
    control = record.get_fields("001")
    identifier = control[0].data.strip() or None if control else None
    own = []
    for field in record.fields:
        first, second = getattr(field, "indicators", None) or ("", "")
        subfields = getattr(field, "subfields", [])
        if field.tag in {"020", "022"}:
            own += [(each.value, {"020": "isbn", "022": "issn"}[field.tag]) for each in subfields if each.code == "a"]
        elif field.tag == "024":
            named = [each.value.strip().lower() for each in subfields if each.code == "2" and each.value]
            scheme = {"0": "isrc", "1": "upc", "2": "ismn", "3": "ean", "4": "sici"}.get(first, "")
            scheme = (named or [""])[0] if first == "7" else scheme
            own += [(each.value, scheme) for each in subfields if each.code == "a" and first in " 0123456789"]
        elif field.tag == "856" and second in " 0":
            own += [(each.value, "") for each in subfields if each.code in "ug"]
    return identifier, [(text.strip(), scheme) for text, scheme in own if text]


@given(st.lists(pymarc_records(), min_size=1, max_size=3), st.sampled_from([b"", b"\n"]))
def test_what_pymarc_writes_is_read_as_pymarc_reads_it(records, between):
    content = [record.as_marc() for record in records]
    found = read(between.join(content), own=True)
    assert [each.data for each in found] == content
    for each in found:
        assert (each.identifier, owns(each)) == as_pymarc_has_them(pymarc.Record(each.data))


@given(st.lists(st.binary(max_size=9).map(lambda data: data.translate(None, b"\x1d\x1e\x1f")), min_size=1, max_size=4))
def test_bytes_that_are_not_utf_8_are_no_damage(values):
    """MARC-8, Latin-1: read as pymarc does that leaves bytes as they are."""
    content = marc((b"001", b"1"), *((b"020", b"  \x1fa" + value) for value in values))
    [record] = read(content, own=True)
    raw = pymarc.Record(content, to_unicode=False)
    expected = [subfield.value for field in raw.get_fields("020") for subfield in field.subfields]
    assert [own.text for own in record.own] == [value.decode("utf-8", "replace").strip() for value in expected if value]


ODD = st.sampled_from(
    [b"\xc3\xa9", b"\xe2\x82", b"\xff", b" ", b"", b"set", b"0-395-36341-1", b"urn:x-y:1", b"\xc2\xa0", b"\r\n"]
)
SUBFIELDS = st.lists(
    st.tuples(st.sampled_from([b"a", b"b", b"q", b"u", b"z", b"2", b"", b"\xc3\xa9"]), ODD), max_size=5
)
INDICATORS = st.sampled_from([b"  ", b"40", b"7 ", b"04", b"", b"1", b"\xc3\xa90", b"\xff\xff4", b"0\xe2\x82\xac"])


@st.composite
def fields_in_bytes(draw):
    """A tag of MARC 21 or UNIMARC, and its field: indicators, codes and values that may be of no kind that is allowed."""
    tag = draw(st.sampled_from("003 005 008 010 016 020 024 035 040 245 240 250 264 856 801".split()))
    subfields = [b"\x1f" + code + value for code, value in draw(SUBFIELDS)]
    return tag.encode(), draw(INDICATORS | ODD) + b"".join(subfields)


@example("marc", [(b"008", b"  \x1fa1")], True)  # a field without subfields has some
@given(st.sampled_from(["marc", "unimarc"]), st.lists(fields_in_bytes(), max_size=4), st.booleans())
def test_what_stands_in_fields(family, fields, is_refused):
    """Own identifiers and descriptions are those of `of_subfields`, which other formats use, of the decoded field; also where
    Python takes the record apart.
    """
    title = (b"245", b"10\x1faA") if family == "marc" else (b"200", b"1 \x1faA")
    fields = [title, *((tag, field.replace(b"\x1e", b"")) for tag, field in fields if tag != b"245")]
    own, described = own_fields(family, keys=True), description.described_fields(family)
    expected = []
    for tag, field in fields:
        indicators, subfields = split_field(field)
        rows = own.get(tag.decode(), ())
        if tag.startswith(b"00"):
            expected += of_value(indicators.strip(), rows)
        else:
            expected += of_subfields(subfields, admitting(rows, *indicators.ljust(2)[:2]))
    with pytest.MonkeyPatch.context() as patch:
        if is_refused:
            patch.setattr(MarcRecords, "fields_of", refuse)
        [found] = read_records(MarcRecords(own=True, described=True, keys=True), content := marc(*fields))
    assert list(found.own) == expected
    if not content.isascii():  # others may be read as MARC-8
        return
    leader = content[:24].decode()
    statements = [*description.of_text(leader, described["leader"], "a")]
    statements += description.of_text(str(len(fields)), described["count"])
    for tag, field in fields:
        indicators, subfields = split_field(field)
        describing = described.get(tag.decode(), ())
        if subfields:
            statements += description.of_subfields(subfields, describing, indicators.ljust(2)[1])
        else:
            statements += description.of_text(field.decode(), describing, "a")
    assert unpack_marc(found.description) == description.describe(statements)


_victim = book(2, (b"020", b"  \x1fa3161484100"), URN_FIELD)


@given(st.integers(0, len(_victim) - 1), st.integers(0, 255))
@example(len(_victim) - 1, 0)
@example(len(_victim) - 2, 0x1D)
@example(0, 0x20)
@example(91, 0xE1)
@example(4, ord("9"))
def test_an_byte_that_flips_costs_no_neighbour_and_no_record_that_pymarc_reads(place, byte):
    flipped = _victim[:place] + bytes([byte]) + _victim[place + 1 :]
    found = read(book(1) + flipped + book(3), own=True)
    assert outline(found)[0] == "1"
    assert outline(found)[-1] == "3"
    assert found[-1].data == book(3)
    base = _victim.index(b"\x1e") + 1
    if base <= place < len(_victim) - 1:  # what flips in the leader or the directory may lead pymarc to other bytes
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # pymarc guesses which letter a subfield code was that is not ASCII
                expected = as_pymarc_has_them(pymarc.Record(flipped, utf8_handling="replace"))
        except (ValueError, LookupError, Warning):
            return
        assert len(found) == 3
        assert (found[1].identifier, owns(found[1])) == expected


@given(st.integers(1, len(_victim) - 1), st.integers(1, len(_victim)))
def test_bytes_that_are_lost_cost_no_neighbour(place, count):
    found = read(book(1) + _victim[:place] + _victim[place + count :] + book(3))
    assert outline(found)[0] == "1"
    assert found[-1].data == book(3)


def _directory(count, entry, fields):
    base = 25 + 12 * count
    content = entry * (count - 1) + b"020000100000" + b"\x1e" + fields + b"\x1d"
    return b"%05dnam a22%05d   4500" % (min(24 + len(content), 99999), min(base, 99999)) + content


@pytest.mark.full
@pytest.mark.parametrize(
    "hostile",
    [
        _directory(7_000, b"020999999999", b"\x1e" * 7_000) * 10,  # entries that lead nowhere, in turn
        _directory(6_000, b"020999900000", b"  " + b"\x1fa" * 4_998 + b"\x1e" * 6_000) * 5,  # all to one long field
        b"00450" * 100_000,
        (b"99999nam a2299999   4500001000100000" * 15_000),
        (b"99999nam a2200037   4500001000100000\x1e\x1d" * 12_000),
        b"00000nam a2200037   4500" + b"0" * 500_000,
        b" \n" * 250_000,
    ],
    ids=["nowhere", "one", "leaders", "heads", "long", "directory", "blank"],
)
@pytest.mark.parametrize("end", [b"", b"\x1d"])
def test_time_is_linear_in_what_is_read(hostile, end):
    """Half a million bytes that begin over and over; were the time quadratic, it would be most of a minute."""
    began = time.process_time()
    for _ in read_from(MarcRecords(own=True), buffer_of(hostile + end)):
        pass
    assert time.process_time() - began < 10


def test_a_dump_is_recognised_by_its_leader_and_directory():
    dump = b"\xef\xbb\xbf\n" + book(1)
    told = [is_marc(dump[:count], "") for count in range(len(dump))]
    assert told[-1] is True
    assert sorted(told, key=[None, True].index) == told  # never no, and yes stays yes
    assert is_marc(book(1, length=0), "")
    assert is_marc(marc((b"001", b"1")).replace(b"4500", b"450 "), "")  # UNIMARC


@pytest.mark.parametrize(("written", "spoiled"), [(b"4500", b"45\x02\0"), (b"22", b"\t\n"), (b"001", b"0\x001")])
def test_a_first_record_with_faults_hides_no_dump(written, spoiled):
    """What stands behind its end tells the format, if not its own leader and directory."""
    first = book(1).replace(written, spoiled, 1)
    assert first != book(1)
    assert is_marc(first + book(2), "") is True
    found = read(first + book(2))
    assert found[-1].identifier == read(book(2))[0].identifier


@pytest.mark.parametrize(
    "head",
    [
        b"{}",
        b"<?xml version",
        b"003@ \x1f0123\x1e",
        b"0123456789" * 20 + b"\x1e",
        b"0123456789" * 2 + b"\n",
        b"12345,67890,12345,67890,12345,67890\n",
        b"TY  - BOOK\n",
        book(1)[1:],
    ],
)
def test_other_formats_are_not_recognised(head):
    assert is_marc(head.ljust(40), "x.mrc") is False


@pytest.mark.parametrize(("length", "fits"), [(20, True), (21, False)])
def test_by_how_much_a_conversion_may_change_a_field(length, fits):
    """By three for each byte that is not ASCII, and by eight where a reference may begin."""
    assert marc_module._may_have_been("ä & x".encode(), length) is fits


@pytest.mark.parametrize("escape", [b"\x1b$1", b"\x1b$,1", b"\x1b1", b"\x1b(1"])
@pytest.mark.parametrize("rest", [b"", b"!", b"!0"])
@pytest.mark.parametrize("after", [b"", b"\x1b(B inks"])
def test_an_incomplete_character_of_marc8_prints_nothing(capsys, escape, rest, after):
    """pymarc wrote `Multi-byte position 15 exceeds length` to standard error, without a record, when a review page was
    written; and it read the escape after such a character as a part of it, so that `inks` was lost.
    """
    text = of_marc8(b"Ink " + escape + b"!0!" + rest + after)
    assert text.split() == ["Ink", "\u4e00", *after[3:].decode().split()]
    assert capsys.readouterr() == ("", "")
