r"""BibTeX: entries against a slow reader of characters, LaTeX's escapes, and entries that are never closed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import buffer_of, read_from, set_longest
from urnscan.framing.lines import Damaged
from urnscan.records.bibtex import BibtexRecords, is_bibtex
from urnscan.records.fields import Own
from urnscan.records.record import Record

PARTS = [
    *[
        b"@book{lamp,",
        b"@Misc(tide,",
        b"@article {ink ,",
        b"@\nbook\n{",
        b"\n@book{lamp,",
        b"\n  @misc(x,",
        b"@string{a = ",
        b"@comment{",
    ],
    *[
        b"\n@comment(",
        b"\n@a{",
        b" title = {",
        b" year = 2001,",
        b" doi = ",
        b"a@b.example (",
        b"\\",
        b"# base",
        b"\xff",
        b"\n",
    ],
    *[b"{", b"}", b"{", b"}", b"}", b"(", b")", b")", b'"', b'"', b"{{{{{{{{", b"}}}}}}}}", b"x", b"%", b"@", b"="],
]


def read(dump, *, own=False, size=None):
    return list(read_from(BibtexRecords(own=own), buffer_of(dump, (size,))))


def end_of(dump, at, opening):
    """Behind the delimiter that closes an entry: braces count everywhere, quotes and `)` outside of them."""
    depth, quoted, lines = 0, False, 0
    while at < len(dump):
        byte = dump[at : at + 1]
        if byte == b"\n" and re.match(rb"[ \t]*@[A-Za-z]+[ \t]*[{(]", dump[at + 1 :]):
            lines += 1
            if lines == 2:
                return None
        if byte == b"{":
            depth += 1
        elif byte == b"}":
            depth = max(depth - 1, 0)
            if depth == 0 and opening == b"{":
                return at + 1
        elif opening == b"(" and depth == 0:
            if byte == b'"':
                quoted = not quoted
            elif byte == b")" and not quoted:
                return at + 1
        at += 1
    return None


def slowly(dump):
    """(offset, bytes), without bytes for damage."""
    found, at = [], 0
    while begins := re.compile(rb"@\s*([A-Za-z][\w.+-]*)\s*([{(])").search(dump, at):
        at = begins.end()
        opening = begins[2]
        end = end_of(dump, begins.end() - (opening == b"{"), opening)
        if begins[1].lower() in (b"comment", b"string", b"preamble"):
            at = end or at
        elif end:
            found.append((begins.start(), dump[begins.start() : end]))
            at = end
        else:
            found.append((begins.start(), None))
            line = re.compile(rb"\n[ \t]*@[A-Za-z]+[ \t]*[{(]").search(dump, begins.start())
            at = line.start() if line else len(dump)
    return found


@given(st.lists(st.sampled_from(PARTS), max_size=30).map(b"".join), st.sampled_from([1, 3, None]), st.booleans())
def test_entries_are_those_of_a_slow_reader(dump, size, own):
    found = read(dump, size=size, own=own)
    assert [(each.offset, getattr(each, "data", None)) for each in found] == slowly(dump)
    assert found == read(dump, own=own)


def test_entries():
    """Behind each other in a line, in parentheses, with quotes and braces in each other; the key is a text of its own."""
    one = b'@book{urn:isbn:1,title="A {"lamp"} and {}"}'
    two = b'@Misc ( tide , title = "A ) {)}", note = {)} )'
    dump = b"Joe, joe@press.example\n@string{a = {b}} @comment{@book{no,}}\n" + one + two + b" end\n@book{, }"
    assert read(dump) == [
        Record(dump.index(one), one, "urn:isbn:1", (one[:16], one[16:])),
        Record(dump.index(two), two, "tide", (two[:12], two[12:])),
        Record(dump.index(b"@book{, }"), b"@book{, }", None, (b"@book{", b", }")),
    ]


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        (b"@a{O'Neil:2001+%#, }", "O'Neil:2001+%#"),
        (b"@a{b}", "b"),
        (b"@a{year = 2001}", None),
        (b"@a{\n\xff ,}", "\ufffd"),
    ],
)
def test_the_identifier_is_the_key(entry, key):
    assert read(entry)[0].identifier == key


def test_never_closed():
    """It goes on with the next line that begins like an entry; a value may quote one that does."""
    good = b"@book{b, title = {x}}\n"
    assert read(b"@book{a, title = {x}\n" + good + good) == [
        Damaged(0, "it is never closed"),
        Record(21, good[:-1], "b", (b"@book{b", b", title = {x}}")),
        Record(43, good[:-1], "b", (b"@book{b", b", title = {x}}")),
    ]
    quotes = b"@book{a, note = {so:\n" + good + b"}}"
    assert [record.data for record in read(quotes + good)] == [quotes, good[:-1]]
    assert read(b"@book{a, title = {x}\n") == [Damaged(0, "it is never closed")]


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (rb"a\_b\%20\#\&\$", b"a_b%20#&$"),
        (rb"a{\_}b{\textunderscore}c\textunderscore{}d\textunderscore e", b"a_b_c_d_e"),
        (rb"{\textasciitilde}x \~{}y", b"~x ~y"),
        (rb"urn:nbn:de:\-101:1\/-x\allowbreak 7", b"urn:nbn:de:101:1-x7"),
        (rb"10.5555/{\textless}1{\textgreater}", b"10.5555/<1>"),
        (
            rb"\url{urn:x:\string_1} \textunderscored \\_ \"O {\_x}",
            rb"\url{urn:x:_1} \textunderscored \\_ " + rb"\"O {_x}",
        ),
    ],
)
def test_escapes_are_undone(latex, plain):
    assert read(b"@a{b, url = {" + latex + b"}}")[0].texts == (b"@a{b", b", url = {" + plain + b"}}")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b'"urn:x1:a" # "_b"', b'"urn:x1:a_b"'),
        (b'{urn:x1:a}\n#{\\_b} #"c"# 1', b'"urn:x1:a_bc1"'),
        (b'"urn:x1:a" # base # "b"', b'"urn:x1:a" base "b"'),
        (b'base # "urn:x1:a"', b'"" base "urn:x1:a"'),
        (b'{"urn:x1:a" # "b"}', b'{"urn:x1:a" # "b"}'),
        (b'"x {"} # {"} # y"', b'"x {"} # {"} # y"'),
        (b'"urn:x1:a"', b'"urn:x1:a"'),
    ],
)
def test_pieces_of_a_value_are_one_text(value, said):
    """`#` joins strings and numbers; a macro between stands for text that is not known. Within a string it is text."""
    (record,) = read(b"@a{b, note = " + value + b", url = {c#d}}")
    assert record.texts == (b"@a{b", b", note = " + said + b", url = {c#d}}")
    assert record.data == b"@a{b, note = " + value + b", url = {c#d}}"


def test_own_identifiers():
    """Names in any case; values in braces, quotes, parts; no macro that is not known, no field in a value."""
    (record,) = read(
        b'@Book{a, ISBN = {978-3-99999-063-7, {978}}, doi = "10.5555/" # {a\\_{B}} # 1,\n'
        b"note = {, url = {urn:x:1}, }, crossref = {urn:x:2}, url = {\\url{https://r.example/\n urn:x:3}},\n"
        b'urn = base # "urn:x:4", {uuid = 1} "uuid = 2" uuid = 3, eprint = {urn:x:5}, eprinttype = {URN}, issn = {1}}',
        own=True,
    )
    assert record.texts == ()
    assert [*record.own] == [
        Own("978-3-99999-063-7, 978", "isbn"),
        Own("10.5555/a_B1", "doi"),
        Own("https://r.example/ urn:x:3"),
        Own("3", "uuid"),
        Own("urn:x:5", "urn"),
    ]


@pytest.mark.parametrize(
    ("entry", "own"),
    [
        (b"@incollection{a, isbn = {1}}", []),
        (b"@article{a, issn = {1}}", []),
        (b"@periodical{a, issn = {1}}", [Own("1", "issn")]),
        (b"@misc{a, eprint = {1}}", []),
        (b"@misc{a, eprint = {1}, eprinttype = {arxiv}}", []),
        (b"@misc{a, archivePrefix = {DOI}, eprint = {1}}", [Own("1", "doi")]),
        (b'@misc(a, doi = {)} # "1)")', [Own(")1)", "doi")]),
        (b"@misc{a, doi = {{{{{{{{{{1}}}}}}}}}}, url = {2}}", [Own("1", "doi"), Own("2")]),
        (b"@misc{a, note = {{{{{{{{{{url = {2}}}}}}}}}}}}", []),
        (b"@misc{a, note = {\n@misc{b, url = {1}}}, url = {2}}", [Own("2")]),
    ],
)
def test_what_is_an_own_identifier(entry, own):
    """isbn and issn of a part are its host's; what an eprint is, another field says; braces may be deep."""
    assert [*read(entry, own=True)[0].own] == own


@pytest.mark.parametrize("size", [1, 13, None])
def test_no_record_is_longer_than_the_longest(monkeypatch, size):
    """It goes on behind, with the next line that begins like an entry."""
    set_longest(monkeypatch, 600)
    good = b"@book{b, title = {x}}\n"
    long = b"@book{a, title = {" + b"x" * 700 + b"}}\n"
    found = read(good + long + b"y" * 1000 + b"\n" + good + b"@book{c, " + b"x" * 700 + b"\n" + good, size=size)
    assert [(each.offset, getattr(each, "identifier", "")) for each in found] == [
        *[(0, "b"), (22, ""), (22 + len(long) + 1001, "b"), (44 + len(long) + 1001, ""), (754 + len(long) + 1001, "b")]
    ]
    assert [each.reason for each in found if isinstance(each, Damaged)] == [
        "it is longer than 600 bytes",
        "it is longer than 600 bytes",
    ]


@pytest.mark.full
@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "dump",
    [
        *[b"@a{\n" * 20_000, b" @a{b," * 20_000, b"@a{" + b"{" * 200_000, b"@a{k, " + b"a" * 200_000 + b"}"],
        *[b"@a(k, " + b'"{' * 100_000 + b"}", b"@a{k, x = {" + b"\\" * 200_000 + b"}}", b"@ " * 100_000],
        *[
            b"@a{k, " + b'" ' * 100_001 + b"}",
            b"@a{k, x = " + b"a # " * 50_000 + b"}",
            b"@a{" + b"\n @" * 100_000 + b"}",
        ],
    ],
    ids=range(10),
)
def test_time_is_linear(dump):
    """None of these may take the square of its length."""
    for own in (False, True):
        read(dump, own=own)


@pytest.mark.parametrize(
    ("head", "name", "is_one"),
    [
        (b"@book{a,", "", True),
        (b"\xef\xbb\xbf% Encoding: UTF-8\r\n\r\n@String{a = {b}}", "", True),
        (b"Press\nEXPORT DATE: 1 May 2020\n\n@ARTICLE{Lamp20011,\n", "", True),
        (b"%\n" * 99 + b"@misc(a,", "", True),
        (b"@book{,\n title={a},", "", True),
        (b"@book{,\n title", "", None),
        (b"a\n" * 99 + b"joe@press.example\n@misc{a,", "", False),
        (b"a\n" * 99 + b"joe@press.example\n@misc{a,", "lamps.bib", True),
        (b"a\n" * 99, "lamps.bib", None),
        (b"", "", None),
        (b"@boo", "", None),
        (b"% Encod", "", None),
        (b'{"@context": 1}', "", False),
        (b"<html>", "", False),
        (b"@prefix a: <b:c> .\n" * 30, "", False),
        (b"a,b,c\n" * 20, "", False),
        (b"TY  - BOOK\r\nUR  - a@b{c,\r\n", "", False),
    ],
)
def test_recognition(head, name, is_one):
    assert is_bibtex(head, name) is is_one
