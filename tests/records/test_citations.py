"""References as databases and programs write them: each dialect gives the same records as the standard form."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import keys_of, read_records
from urnscan.framing.lines import Damaged
from urnscan.records.citations import is_ris
from urnscan.records.fields import Own
from urnscan.records.format_registry import FORMATS
from urnscan.records.record import description_of
from urnscan.records.separated import is_separated

MARK = b"\xef\xbb\xbf"
FIELDS = st.fixed_dictionaries(
    {
        "title": st.sampled_from(["Invented inks", "Imaginary lighthouses: a survey", "Über Lampen"]),
        "author": st.sampled_from(["Wimpelfeld, Ansgar", "Roe, K."]),
        "year": st.integers(1950, 2026).map(str),
        "doi": st.sampled_from(["10.5555/lamp.1", "10.5555/INK(2)3"]),
    }
)
RIS = {"TY": "JOUR", "title": "TI", "author": "AU", "year": "PY", "doi": "DO", "ER": ""}
# Format -> its lines; a field stands for its value.
LINES = {
    "ris": ["TY  - JOUR", "TI  - {title}", "AU  - {author}", "PY  - {year}", "DO  - {doi}", "ER  - "],
    "ris, tabs": ["TY  -\tJOUR", "TI  -\t{title}", "AU  -\t{author}", "PY  -\t{year}", "DO  -\t{doi}", "ER  -\t"],
    "ris, tabs before": ["TY\t-\tJOUR", "TI\t- {title}", "AU\t- {author}", "PY\t- {year}", "DO\t- {doi}", "ER\t-"],
    "ris, one space": ["TY - JOUR", "TI - {title}", "AU - {author}", "PY - {year}", "DO - {doi}", "ER - "],
    "ris, Ovid": ["TY  - JOUR", "DB  - Lamps <1998>", "T1  - {title}", "A1  - {author}", "Y1  - {year}//", "DO  - {doi}", "ER  -  "],
    "ris, Cochrane": ["TY  -  JOUR", "TI  -  {title}", "AU  -  {author}", "PY  -  {year}", "DO  -  {doi}", "ER  -  "],
    "ris, no TY": ["C1  - 7", "TI  - {title}", "AU  - {author}", "PY  - {year}", "DO  - {doi}", "ER  - "],
    "nbib": ["PMID- 7", "TI  - {title}", "FAU - {author}", "DP  - {year} Mar", "LID - {doi} [doi]"],
    "nbib, ERIC": ["OWN - ERIC", "TI  - {title}", "AU  - {author}", "DP  - {year}", "AID - http://dx.doi.org/{doi}"],
    "ovid": ["<7. >", "VN  - Ovid Technologies", "TI  - {title}", "AU  - {author}", "YR  - {year}", "DO  - {doi}"],
    "enw": ["%0 Journal Article", "%T {title}", "%A {author}", "%D {year}", "%R {doi}"],
    "enw, tabs": ["%0\tJournal Article", "%T\t{title}", "%A\t{author}", "%D\t{year}", "%R\t{doi}"],
    "ciw": ["PT J", "TI {title}", "AU {author}", "PY {year}", "DI {doi}", "ER"],
}  # fmt: skip
# What stands between records: blank lines, marks of files that were joined, numbers, names of providers, what Ovid writes
# after a record.
BETWEEN = {
    "ris, Ovid": [
        "{number}. \n",
        "\n\n{number}.\n",
        "\n \n{number}. \n",
        "NL  - J Lamps\n\nLink to the Ovid Full Text or citation: https://ovid.example/?AN=1&id=doi:10.5555/z \n\n{number}. \n",
    ],
    "ris, Cochrane": ['Record #{number} of 9\nProvider: Example Press\nContent: text/plain; charset="UTF-8"\n\n'],
    "ovid": ["\n", "\n\n"],
}
LINE_ENDS = ["\n", "\r\n", "\r"]


def in_form(name, fields, line_end):
    return "".join(line.format(**fields) + line_end for line in LINES[name]).encode()


@pytest.mark.parametrize("name", LINES)
@given(st.data(), st.lists(FIELDS, min_size=1, max_size=4), st.sampled_from([1, 5, None]))
def test_each_dialect_gives_the_same_records(name, data, entries, size):
    """The bytes of a record are a piece of the dump, from its first line to the end of its last, and nothing else."""
    format_ = FORMATS[name.partition(",")[0]]
    line_end = data.draw(st.sampled_from(LINE_ENDS))
    between = st.sampled_from(BETWEEN.get(name, ["\n", "\n\n"])) | st.just(
        "\n\ufeff" if name in BETWEEN else "\ufeff\n"
    )
    dump, expected = b"", []
    for number, fields in enumerate(entries, 1):
        content = in_form(name, fields, line_end)
        around = data.draw(between).format(number=number).replace("\n", line_end).encode()
        dump += around
        expected.append((len(dump), content))
        dump += content
    assert format_.recognise(dump[:4096], "") is True
    assert is_separated(dump[:4096], "") is False
    records = read_records(format_.reader(own=True, described=True), dump, (size,))
    assert [(record.offset, record.data) for record in records] == expected
    for record, fields in zip(records, entries, strict=True):
        assert fields["doi"] in [
            own.text.removesuffix(" [doi]").removeprefix("http://dx.doi.org/") for own in record.own
        ]
        description = description_of(record.description)
        assert [description.title, description.author, description.year] == [
            fields[name] for name in ("title", "author", "year")
        ]


JOINED = ["ris", "nbib", "ovid", "enw", "ciw"]


@pytest.mark.parametrize("name", JOINED)
@given(st.lists(st.tuples(FIELDS, st.sampled_from(LINE_ENDS), st.booleans()), min_size=2, max_size=4))
def test_files_that_were_joined_give_the_records_of_each(name, files):
    """Each may have its own line ends, and a byte order mark."""
    content = [in_form(name, fields, line_end) for fields, line_end, _ in files]
    ends = [line_end.encode() for _, line_end, _ in files]
    marks = [MARK * is_marked for _, _, is_marked in files]
    dump = b"".join(itertools.chain.from_iterable(zip(marks, content, ends, strict=True)))
    found = read_records(FORMATS[name].reader(own=True), dump)
    assert [record.data for record in found] == content


@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        (b"Record #1 of 2\r\nProvider: Example Press\r\n\r\nTY  -  JOUR\r\n", True),
        (b"<1. >\nTY  - JOUR\n", True),
        (b"12. \nTY  - JOUR\n", True),
        (b"TI  - A lamp\nDO  - 10.5555/a\nER  - \n", True),
        (b"TI  - A lamp\nDO  - 10.5555/a\n", None),
        (b"TY - JOUR\nER - \n", True),
        (b"TY - the type of a reference\n", None),
        (b"Record #1", None),
        (b"Prose of one line\nand more\nTY  - JOUR\n", False),
    ],
)
def test_ris_is_known_by_its_first_tag(head, is_one):
    assert is_ris(head, "") is is_one


@pytest.mark.parametrize(("head", "is_one"), [(b"<1. >\nUI  - 1\n", True), (b"<1>\nUI", False), (b"<p>\n", False)])
def test_ovid_is_known_by_its_number(head, is_one):
    assert FORMATS["ovid"].recognise(head.ljust(1024), "") is is_one


def test_a_record_without_type_that_lost_its_end_is_damaged():
    """Two records would be taken for one, and the second be removed with the first."""
    one, two = b"TI  - A lamp\nDO  - 10.5555/a\n", b"TI  - An ink\nDO  - 10.5555/b\nER  - \n"
    for between in (b"\n", b"\n \n", b"\r\n"):
        dump = two + one + between + two
        damaged = Damaged(len(two), "it has no ER before the next record")
        assert read_records(FORMATS["ris"].reader(own=True), dump)[1] == damaged
    (record,) = read_records(FORMATS["ris"].reader(own=True), two.replace(b"lamp\n", b"lamp\n\nmore\n"))
    assert record.data == two


@pytest.mark.parametrize("line", [b"ER - positive\n", b"ER -positive\n", b"TY - the first tag\n"])
def test_words_of_a_text_are_no_tags(line):
    """Lines of an abstract that a program broke: ER is a receptor, too."""
    dump = b"TY  - JOUR\nAB  - Tumours that are\n" + line + b"DO  - 10.5555/a\nER  - \n"
    (record,) = read_records(FORMATS["ris"].reader(own=True), dump)
    assert (record.data, [*record.own]) == (dump, [Own("10.5555/a", "doi")])


@pytest.mark.parametrize(
    ("name", "dump", "expected"),
    [
        (
            "ris",
            b"TY  - JOUR\nAN  - CN-00778158\nC3  - PUBMED 21314913,EMBASE 361273489\nER  - \n",
            ["accession:cn-00778158", "pmid:21314913", "accession:embase/361273489"],
        ),
        ("nbib", b"OWN - ERIC\nOID - EJ1131633\n", ["accession:eric/ej1131633"]),
        ("ovid", b"<1. >\nDB  - Embase\nUI  - 621381829\n", ["accession:embase/621381829"]),
    ],
)
def test_numbers_of_databases_are_keys(name, dump, expected):
    """Cochrane lists the numbers that a trial has in PubMed and Embase."""
    (record,) = read_records(FORMATS[name].reader(own=False, keys=True), dump)
    assert sorted(keys_of(["pmid", "accession"], record)) == sorted(expected)


def test_a_reference_is_no_table():
    """Rows of one column, or of two with tabs, would be removed one by one out of a record."""
    text = b"AU  -\tRoe, K.\nTI  -\tA lamp\nPY  -\t1998\nER  -\t\n"
    assert [is_separated(re.sub(rb"  -", between, text), name) for between in (b"  -", b" -", b"\t-") for name in ("", "a.tsv")] == [False] * 6  # fmt: skip
