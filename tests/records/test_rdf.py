"""RDF/XML, Turtle and TriG: records as those of N-Triples, with the blank nodes below them; hostile and damaged dumps."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.framing.buffer import Buffer
from urnscan.records.formats import description_of, recognise
from urnscan.records.keys import KeyReader
from urnscan.records.rdf import RdfRecords, is_rdf
from urnscan.records.record import UnreadableError
from urnscan.records.triples import TripleRecords

SPACES = """\
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
 xmlns:bf="http://id.loc.gov/ontologies/bibframe/" xmlns:bflc="http://id.loc.gov/ontologies/bflc/"
"""
BIBFRAME = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE rdf:RDF [<!ENTITY bf "http://id.loc.gov/ontologies/bibframe/">]>
<rdf:RDF{SPACES}>
  <bf:Instance rdf:about="http://catalogue.example/instances/1">
    <rdf:type rdf:resource="&bf;Print"/>
    <bf:title><bf:Title><bf:mainTitle>The lantern makers</bf:mainTitle><bf:subtitle>a history</bf:subtitle></bf:Title></bf:title>
    <bf:identifiedBy>
      <bf:Isbn><rdf:value>9783161484100</rdf:value><bf:qualifier>(hardback)</bf:qualifier></bf:Isbn>
    </bf:identifiedBy>
    <bf:identifiedBy>
      <bf:Isbn>
        <rdf:value>0451450523</rdf:value><bf:status><bf:Status><rdfs:label>invalid</rdfs:label></bf:Status></bf:status>
      </bf:Isbn>
    </bf:identifiedBy>
    <bf:identifiedBy><bf:OclcNumber><rdf:value>12345678</rdf:value></bf:OclcNumber></bf:identifiedBy>
    <bf:provisionActivity><bf:Publication><bf:date>1998</bf:date></bf:Publication></bf:provisionActivity>
  </bf:Instance>
  <bf:Work rdf:about="http://catalogue.example/works/1">
    <bf:contribution>
      <bflc:PrimaryContribution>
        <bf:agent><bf:Person rdf:about="http://names.example/7"><rdfs:label>Winter, Ada</rdfs:label></bf:Person></bf:agent>
      </bflc:PrimaryContribution>
    </bf:contribution>
  </bf:Work>
</rdf:RDF>
"""
TURTLE = """\
# Books of a shop
@prefix schema: <https://schema.org/> .
PREFIX bibo: <http://purl.org/ontology/bibo/>
@prefix dcterms: <http://purl.org/dc/terms/> .
@base <http://shop.example/> .

<1> a schema:Book ; schema:name "Inks" ; schema:isbn 0451450523 ; schema:datePublished "1987" ;
    schema:author [ a schema:Person ; schema:name "Ada Winter" ] .
<2> a bibo:Article ; dcterms:title "Wicks" ; bibo:doi "10.1000/182" ; dcterms:issued "2003" ;
    dcterms:isPartOf [ a bibo:Journal ; bibo:issn "0317-8471" ] .
[] a schema:ScholarlyArticle ; schema:name "Oil" ;
    schema:identifier [ a schema:PropertyValue ; schema:value "https://doi.org/10.1000/182" ] .
"""


def records(dump, reader=RdfRecords):
    octets = dump.encode() if isinstance(dump, str) else dump
    return list(reader(own=True, described=True, keys=True).read(Buffer(io.BytesIO(octets).readinto)))


def own(record):
    return [(each.text, each.scheme) for each in record.own if each.text != record.identifier]


def xml(inner, head=""):
    return f'{head}<rdf:RDF{SPACES}><rdf:Description rdf:about="http://a.example/">{inner}</rdf:Description></rdf:RDF>'


class TestVocabularies:
    def test_bibframe(self):
        """Page of dedup, RDF: titles and identifiers stand in nodes below an instance; one with a status does not count."""
        instance, work, agent = records(BIBFRAME)
        assert instance.identifier == "http://catalogue.example/instances/1"
        assert own(instance) == [("9783161484100 (hardback)", "isbn"), ("12345678", "oclc")]
        assert KeyReader(("oclc",), 1, named=False).of_record(instance) == ["oclc:12345678"]
        described = description_of(instance.description)
        assert (described.title, described.year) == ("The lantern makers\x1fa history", "1998")
        assert described.format == "print"
        assert (work.identifier, description_of(work.description).author) == (
            "http://catalogue.example/works/1",
            "Winter, Ada",
        )
        assert agent.identifier == "http://names.example/7"

    def test_bibo_and_schema_org(self):
        """The identifier of a journal below an article is not its own; a number keeps its noughts; an IRI gets its base."""
        book, article, other = records(TURTLE)
        assert (book.identifier, own(book)) == ("http://shop.example/1", [("0451450523", "isbn")])
        assert description_of(book.description)[:2] == ("Inks", "1987")
        assert description_of(book.description).author == "Ada Winter"
        assert own(article) == [("10.1000/182", "doi")]
        assert description_of(article.description).format == "contribution"
        assert own(other) == [("https://doi.org/10.1000/182", "")]

    def test_blank_nodes_have_the_same_numbers_in_each_run(self):
        """`urnscan diff` knows a record by its name, and decisions know it by a digest of its octets."""
        first, second = records(TURTLE), records(TURTLE)
        assert first == second
        assert first[2].identifier.startswith("_:b")
        assert b"".join(record.octets for record in first)[first[1].offset :].startswith(first[1].octets)


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('"\\\n\r'), max_size=8)
PREDICATES = st.sampled_from(
    ["http://purl.org/dc/terms/title", "http://purl.org/ontology/bibo/isbn", "http://a.example/p"]
)


@given(st.dictionaries(st.integers(1, 9), st.lists(st.tuples(PREDICATES, TEXTS), min_size=1, unique=True), min_size=1))
def test_a_subject_is_read_as_in_n_triples(said):
    """N-Triples are Turtle: both readers give the same names, identifiers and descriptions."""
    escapes = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
    lines = [
        f'<http://a.example/{subject}> <{predicate}> "{text.translate(escapes)}" .\n'
        for subject, of_subject in said.items()
        for predicate, text in sorted(of_subject)
    ]
    dump = "".join(lines)
    found, expected = (
        [(each.identifier, sorted(each.own), each.description) for each in records(dump, reader)]
        for reader in (RdfRecords, TripleRecords)
    )
    assert found == expected


@given(st.lists(st.sampled_from([*BIBFRAME.split("\n"), *TURTLE.split(" "), "<", '"', "[", "(", "}", "\0", "é"])))
def test_any_text_is_read_or_refused(pieces):
    """Damage costs a dump one line, never a traceback."""
    said = ""
    try:
        records("\n".join(pieces))
    except UnreadableError as error:
        said = str(error)
    assert "\n" not in said


NESTED = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 12 if n else "a" * 48}">' for n in range(8))


@pytest.mark.parametrize(
    ("dump", "reason"),
    [
        (xml("<rdf:value>&e7;</rdf:value>", f"<!DOCTYPE r [{NESTED}]>"), "its entities unfold to more than"),
        (
            xml("<rdf:value>&e;</rdf:value>", '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>'),
            "in another file",
        ),
        (xml("", '<!DOCTYPE r [<!ENTITY % e SYSTEM "http://127.0.0.1:9/e"> %e;]>'), "in another file"),
        (xml(f'<rdf:value rdf:parseType="Literal">{"<b/>" * 20_000}</rdf:value>'), "a literal of XML"),
        (xml("\n<bf:title>"), "line 4: mismatched tag"),
        (xml("\n<rdf:li><rdf:li/></rdf:li>"), "line 4: Invalid node element"),
        ("@prefix a: <http://a/> .\na:x a:y b:z .\n", "line 2: Prefix"),
        (b"@prefix a: <http://a/> .\na:x a:y '\xff' .\n", "line 2 is not UTF-8"),
        ("@prefix a: <http://a/> .\na:x a:y " + "(" * 10 * sys.getrecursionlimit(), "nested too deep"),
    ],
)
def test_hostile_and_damaged_dumps(dump, reason):
    """Nothing outside of a dump is read, nothing unfolds without bound, and a line says what is wrong and where."""
    with pytest.raises(UnreadableError, match=reason):
        records(dump)


def test_a_long_text_in_pieces():
    """rdflib copied a text with each piece of it: ten minutes for twelve million characters."""
    (record,) = records(xml(f"<rdf:value>{'a&amp;' * 100_000}</rdf:value>"))
    assert record.octets.count(b"&") == 100_000


def test_a_dump_that_is_too_long(monkeypatch):
    """It is held in memory as a whole, so there is a limit, and the line says how there is none."""
    monkeypatch.setattr("urnscan.records.rdf.LONGEST", 100)
    with pytest.raises(UnreadableError, match=r"longer than 100 octets.*rapper"):
        records(TURTLE)


def test_without_rdflib(monkeypatch):
    """The extra is named."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UnreadableError, match=r"pip install 'urnscan\[rdf\]'"):
        records(TURTLE)


@pytest.mark.parametrize(
    ("head", "name", "is_one"),
    [
        (BIBFRAME, "", True),
        (TURTLE, "", True),
        ("\ufeff@base <http://a/> .", "", True),
        ("prefix : <http://a/>\n:a :b :c .", "", True),
        ("<http://a/> a <http://b/> ;", "a.ttl", True),
        ("<http://a/> a <http://b/> ;", "a.txt", False),
        ("PREFIX a: <http://a/>\nSELECT * { ?s ?p ?o }", "", False),
        ("# only a comment", "", None),
        ("@book{a, title={B}}", "a.bib", False),
        ("@prefix of mine", "", False),
        ("<html><rdf:RDF></rdf:RDF></html>", "", False),
        ('<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><rdf:RDF/></OAI-PMH>', "a.rdf", False),
        ("{}", "a.json", False),
        ("", "", None),
    ],
)
def test_recognition(head, name, is_one):
    assert is_rdf(head.encode(), name) is is_one


@pytest.mark.parametrize(
    ("dump", "name", "format_"),
    [
        (BIBFRAME, "dump.rdf", "rdf"),
        ("<http://a/> <http://b/> <http://c/> .\n", "dump.ttl", "ntriples"),
        ("@article{a,\n title={B}\n}\n", "dump.bib", "bibtex"),
    ],
)
def test_other_formats_stay_what_they_were(dump, name, format_):
    assert recognise(Buffer(io.BytesIO(dump.encode()).readinto), name).name == format_
