"""N-Triples and N-Quads by subject: against a plain reader of one line at a time, and what damage leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import buffer_of, read_records, set_longest
from urnscan.framing.lines import Damaged
from urnscan.records.fields import Own
from urnscan.records.format_registry import recognise
from urnscan.records.record import Record
from urnscan.records.triples import TripleRecords, is_other_rdf, is_triples

LINES = [
    b'<urn:x:a> <http://v.example/title> "A lamp" .\n',
    b'<urn:x:a> <http://v.example/title> "Eine Lampe"@de-AT .\r\n',
    b"<urn:x:a> <http://v.example/see> <urn:x:b> <http://g.example/1> .\n",
    b"<urn:x:b><http://v.example/see>_:b1.\n",
    b'  <urn:x:b> <http://v.example/n> "1"^^<http://t.example/int> . # why\n',
    b"_:b1 <http://v.example/see> _:b1.x.\n",
    b'_:b1.x <http://v.example/t> "\\u00E9 \\"\\U0001F4D6\\n" _:g .\r',
    b"<urn:x:a1> <http://v.example/see> <urn:x:{a}\xff> .\n",
    b"<urn:x:a> <http://v.example/see> <urn:x:c d> .\n",
    b'<urn:x:b> <http://v.example/title> "cut off\n',
    b'_:b1 <http://v.example/t> "\\u00ZZ" .\n',
    b'_:b1 <http://v.example/t> "a"@ .\n',
    b'"a" <http://v.example/t> "b" .\n',
    b"<urn:x:a> _:p <urn:x:b> .\n",
    b"<urn:x:a> <http://v.example/t> <urn:x:b> . <urn:x:c>\n",
    b"\xef\xbb\xbf",
    *[b"\n", b"\r\n", b"\r", b" \t\n", b"# a comment\n", b"\t# <urn:x:a>\r\n"],
]
DUMPS = st.builds(
    lambda parts, cut: b"".join(parts)[: None if cut == 0 else -cut],
    st.lists(st.one_of(st.sampled_from(LINES), st.sampled_from(LINES[:4])), max_size=12),
    st.integers(0, 30),
)


def read(dump, *, own=False, size=None):
    return read_records(TripleRecords(own=own), dump, (size,))


class Line:
    """One line by RDF 1.1 N-Triples §7, character by character."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def peek(self):
        return self.data[self.at : self.at + 1]

    def space(self):
        while self.peek() in (b" ", b"\t"):
            self.at += 1

    def escape(self, simple):
        self.at += 1
        kind = self.peek()
        self.at += 1
        digits = {b"u": 4, b"U": 8}.get(kind, 0)
        code = self.data[self.at : self.at + digits]
        assert (kind in simple and kind) or (
            digits and len(code) == digits and not code.strip(b"0123456789abcdefABCDEF")
        )
        self.at += digits

    def quoted(self, last, excluded, simple):
        self.at += 1
        while self.peek() != last:
            assert self.peek()
            assert self.peek() not in excluded
            if self.peek() == b"\\":
                self.escape(simple)
            else:
                self.at += 1
        self.at += 1

    def iri(self):
        assert self.peek() == b"<"
        self.quoted(b">", {bytes([byte]) for byte in (*range(0x21), *b'<"')}, ())

    def label(self):
        start = self.at
        while (byte := self.peek()) and (byte.isalnum() or byte in b"_:-." or byte[0] > 0x7F):
            self.at += 1
        while self.data[self.at - 1 : self.at] == b".":
            self.at -= 1
        assert self.at > start

    def node(self):
        if self.data.startswith(b"_:", self.at):
            self.at += 2
            assert self.peek() not in (b"-", b".")
            self.label()
        else:
            self.iri()

    def object(self):
        if self.peek() != b'"':
            return self.node()
        self.quoted(b'"', (b"\r", b"\n"), tuple(b"%c" % byte for byte in b"tbnrf\"'\\"))
        if self.peek() == b"@":
            self.at += 1
            tags = []
            while (byte := self.peek()) and (byte.isalnum() or byte == b"-"):
                tags.append(byte)
                self.at += 1
            parts = b"".join(tags).split(b"-")
            assert parts[0].isalpha()
            assert all(part.isalnum() for part in parts)
        elif self.data.startswith(b"^^", self.at):
            self.at += 2
            self.iri()
        return None

    def subject(self):
        """The subject of a statement, None of a line that says nothing; AssertionError for one that is neither."""
        self.space()
        if self.peek() in (b"", b"#"):
            return None
        start = self.at
        self.node()
        subject = self.data[start : self.at]
        self.space()
        self.iri()
        self.space()
        self.object()
        self.space()
        if self.peek() in (b"<", b"_"):
            self.node()
        self.space()
        assert self.peek() == b"."
        self.at += 1
        self.space()
        assert self.peek() in (b"", b"#")
        return subject


def slowly(dump):
    """(offset, bytes, subject), and (offset, None, None) for damage."""
    found, at, run = [], 0, None
    if dump.startswith(b"\xef\xbb\xbf"):
        at = 3
    for data in dump[at:].splitlines(keepends=True):  # of bytes: at LF, CR LF and CR alone
        blank = len(data) - len(data.lstrip(b" \t"))
        try:
            subject = Line(data.rstrip(b"\r\n")).subject()
        except AssertionError:
            found.append((at + blank, None, None))
            run = None
        else:
            if subject is not None and subject == run:
                start = found[-1][0]
                found[-1] = (start, dump[start : at + len(data)], subject)
            elif subject is not None:
                found.append((at + blank, data[blank:], subject))
                run = subject
        at += len(data)
    return found


@given(DUMPS, st.sampled_from([1, 2, 7, None]))
def test_runs_are_those_of_a_plain_reader(dump, size):
    """And the same however the dump comes in; no line that is a statement is lost to its neighbours."""
    found = read(dump, size=size)
    assert [(each.offset, getattr(each, "data", None)) for each in found] == [each[:2] for each in slowly(dump)]
    for record in found:
        if isinstance(record, Record):
            assert dump[record.offset :].startswith(record.data)


def test_a_run_holds_the_comments_within_it_but_none_around_it():
    first = b"<a:b> <c:d> <e:f> .\n\n# of the same\n<a:b> <c:d> <g:h> . # last\n"
    dump = b"# begins\n" + first + b"# between\n\n_:b0 <c:d> <e:f> ."
    assert read(dump) == [
        Record(9, first, "a:b", (first,)),
        Record(dump.index(b"_:b0"), b"_:b0 <c:d> <e:f> .", "_:b0", (b"_:b0 <c:d> <e:f> .",)),
    ]


def test_a_subject_is_not_the_beginning_of_another():
    """_:b1 and _:b10, <a:b> and <a:bc>."""
    dump = b"_:b1 <c:d> <e:f> .\n_:b10 <c:d> <e:f> .\n<a:b> <c:d> <e:f> .\n<a:bc> <c:d> <e:f> .\n"
    assert [record.identifier for record in read(dump)] == ["_:b1", "_:b10", "a:b", "a:bc"]


def test_a_damaged_line_is_one_by_itself():
    good = b"<a:b> <c:d> <e:f> .\n"
    assert read(good + b"<a:b> <c:d> <e:f>\n" + good) == [
        Record(0, good, "a:b", (good,)),
        Damaged(20, "it is no statement of N-Triples or N-Quads"),
        Record(38, good, "a:b", (good,)),
    ]


@pytest.mark.parametrize("subject", [b"<a:b>", b"_:b0", rb"<a:\u00e9>"])
def test_pieces_of_a_subject_have_one_name_and_lose_no_statement(subject, monkeypatch):
    """What parts them is a damaged line or the longest length; comments and blank lines part nothing."""
    lines = [subject + b' <c:d> "%d" .\n' % number for number in range(40)]
    for between in (b"damaged\n", b"# a comment\n", b"\n \n", b""):
        dump = between.join(lines)
        for longest in (1 << 26, 100):
            set_longest(monkeypatch, longest)
            found = [each for each in read(dump) if isinstance(each, Record)]
            assert {record.identifier for record in found} == {subject.decode().strip("<>").replace("\\u00e9", "é")}
            held = b"".join(record.data for record in found)
            assert [line for line in held.splitlines(keepends=True) if line.startswith(subject)] == lines
            assert len(found) == (40 if b"damaged" in between else 1) or longest == 100


def test_escapes_are_decoded():
    """ECHAR and UCHAR, in IRIs too; two that are surrogates make one character, what is no character is U+FFFD."""
    line = rb'<a:\u00e9> <c:d> "urn\u003Aisbn:1\n\"\\u003a \U0001F4D6 \uD83D\uDCD6 \UFFFFFFFF \ud800" .'
    (record,) = read(line)
    assert record.data == line
    assert record.identifier == "a:é"
    assert record.texts == ('<a:é> <c:d> "urn:isbn:1\n"\\u003a 📖 📖 \ufffd \ufffd" .'.encode(),)


def test_own_identifiers():
    """The subject, and objects of predicates that name the same thing; a predicate in a literal is none."""
    dump = b"".join(
        b"<https://r.example/1> <%s> %s .\n" % pair
        for pair in [
            (b"http://purl.org/dc/terms/identifier", rb'"urn\u003Aisbn:x"'),
            (b"http://purl.org/ontology/bibo/isbn13", b'"978-3-99999-063-7"@en'),
            (b"http://www.w3.org/2002/07/owl#sameAs", b"<urn:uuid:1>"),
            (b"http://schema.org/identifier", b"_:value"),
            (b"http://purl.org/dc/terms/isPartOf", b"<urn:isbn:2>"),
            (b"http://purl.org/dc/terms/title", rb'"x . \n<a:b> <http://purl.org/ontology/bibo/doi> <urn:x:3> ."'),
            (b"https://schema.org/\\u0069sbn", b'"1"'),
        ]
    )
    (record,) = read(dump, own=True)
    assert record.texts == ()
    assert [*record.own] == [
        Own("https://r.example/1"),
        Own("urn:isbn:x"),
        Own("978-3-99999-063-7", "isbn"),
        Own("urn:uuid:1"),
        Own("1", "isbn"),
    ]
    assert [*read(b"_:b0 <c:d> <e:f> .", own=True)[0].own] == []


@pytest.mark.parametrize("size", [1, 13, None])
def test_no_record_is_longer_than_the_longest(monkeypatch, size):
    """A run is cut between lines; a line that is too long is damaged, and the next are read."""
    set_longest(monkeypatch, 50)
    line = b"<a:b> <c:d> <e:f> .\n"
    long = b'<a:b> <c:d> "' + b"x" * 80 + b'" .\n'
    found = read(line * 5 + long + line + b"#" * 200 + b"\n" + line, size=size)
    assert [(each.offset, len(getattr(each, "data", b""))) for each in found] == [
        *[(0, 40), (40, 40), (80, 20), (100, 0), (100 + len(long), 20), (321 + len(long), 20)]
    ]


@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        (b"<a:b> <c:d> <e:f> .\n", True),
        (b"\xef\xbb\xbf# made today\n\n_:b <c:d> 'x' .\n", False),
        (b'# made today\n\n_:b <c:d> "x" <g:h> .\r\n<', True),
        (b"", None),
        (b"# made", None),
        (b"<a:b> <c:", None),
        (b'<?xml version="1.0"?>', False),
        (b"<rdf:RDF xmlns", False),
        (b"@prefix a: <b:c> .\n", False),
        (b"<a:b> a <c:d> .\n", False),
        (b'{"id": 1}\n', False),
        (b"00714cam", False),
    ],
)
def test_recognition(head, is_one):
    assert is_triples(head, "") is is_one


RDF_XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- made today -->
<!DOCTYPE rdf:RDF [<!ENTITY bf "http://id.loc.gov/ontologies/bibframe/">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>
"""
TURTLE = "# Books\n@prefix a: <http://a/> . # of a\nBASE <http://b/>\n<1> a a:Book ."


@pytest.mark.parametrize(
    ("head", "name", "is_one"),
    [
        (RDF_XML, "", True),
        (TURTLE, "", True),
        ("\ufeff@base <http://a/> .", "", True),
        ("prefix : <http://a/>\n:a :b :c .", "", True),
        ("<http://a/> a <http://b/> ;", "a.ttl", True),
        ("<http://a/> a <http://b/> ;", "a.txt", False),
        ("PREFIX a: <http://a/>\nSELECT * { ?s ?p ?o }", "", False),
        ("# only a comment", "", None),
        ("# a comment\n@pre", "", None),
        ("@book{a, title={B}}", "a.bib", False),
        ("@prefix of mine", "", False),
        ("<html><rdf:RDF></rdf:RDF></html>", "", False),
        ('<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><rdf:RDF/></OAI-PMH>', "a.rdf", False),
        ("{}", "a.json", False),
        ("", "", None),
    ],
)
def test_recognition_of_other_rdf(head, name, is_one):
    """Page of dedup, RDF: RDF/XML, Turtle and TriG are told as what they are."""
    assert is_other_rdf(head.encode(), name) is is_one


@pytest.mark.parametrize(
    ("dump", "name", "format_"),
    [
        (RDF_XML, "dump.rdf", "rdf"),
        (TURTLE, "dump", "rdf"),
        ("<http://a/> <http://b/> <http://c/> .\n", "dump.ttl", "ntriples"),
        ("@article{a,\n title={B}\n}\n", "dump.bib", "bibtex"),
    ],
)
def test_other_rdf_takes_no_dump_from_a_format_that_is_read(dump, name, format_):
    """N-Triples are Turtle, and stay what they are, and so does BibTeX; Turtle with commas is no CSV."""
    assert recognise(buffer_of(dump.encode()), name).name == format_
