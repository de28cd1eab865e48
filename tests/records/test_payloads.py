"""Records of OAI-PMH in the formats of repositories: identifiers and descriptions by the fields of each."""

import pytest

from tests.support.reading import keys_of, read_records
from urnscan.records.format_registry import FORMATS
from urnscan.records.identifiers import as_text
from urnscan.records.record import description_of
from urnscan.records.xml_formats import unread_inner

DC = "http://purl.org/dc/elements/1.1/"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
RESOURCE = (
    '<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI">10.5555/A</identifier>'
    "<creators><creator><creatorName>Wimpelfeld, Ansgar</creatorName></creator></creators><titles>"
    '<title titleType="AlternativeTitle">Inks</title><title>Lamps</title></titles><publicationYear>1998</publicationYear>'
    '<relatedIdentifiers><relatedIdentifier relatedIdentifierType="DOI">10.5555/other</relatedIdentifier></relatedIdentifiers>'
    "</resource>"
)


def of_xoai(*names, value):
    begin = "".join(f'<element name="{name}">' for name in names)
    return f'{begin}<element name="none"><field name="value">{value}</field></element>{"</element>" * len(names)}'


PAYLOADS = {
    "datacite": RESOURCE,
    "oai_datacite": (
        '<oai_datacite xmlns="http://schema.datacite.org/oai/oai-1.1/"><schemaVersion>4.3</schemaVersion><datacentreSymbol>X'
        f"</datacentreSymbol><payload>{RESOURCE}</payload></oai_datacite>"
    ),
    "dim": (
        '<dim:dim xmlns:dim="http://www.dspace.org/xmlns/dspace/dim"><dim:field mdschema="dc" element="contributor" '
        'qualifier="author" lang="">Wimpelfeld, Ansgar</dim:field><dim:field mdschema="dc" element="date" qualifier="issued">'
        '1998-02</dim:field><dim:field mdschema="dc" element="date" qualifier="available">2012</dim:field><dim:field '
        'mdschema="dc" element="identifier" qualifier="doi">10.5555/a</dim:field><dim:field mdschema="dc" '
        'element="relation" qualifier="uri">https://doi.org/10.5555/other</dim:field><dim:field mdschema="dc" '
        'element="title" qualifier="alternative">Inks</dim:field><dim:field mdschema="dc" element="title" '
        'lang="en_US">Lamps</dim:field></dim:dim>'
    ),
    "xoai": (
        '<metadata xmlns="http://www.lyncode.com/xoai"><element name="dc">'
        + of_xoai("contributor", "author", value="Wimpelfeld, Ansgar")
        + of_xoai("date", "issued", value="1998")
        + of_xoai("identifier", "uri", value="https://doi.org/10.5555/a")
        + of_xoai("relation", "uri", value="https://doi.org/10.5555/other")
        + of_xoai("title", "alternative", value="Inks")
        + of_xoai("title", value="Lamps")
        + '</element><element name="others"><field name="handle">10234/5</field></element></metadata>'
    ),
    # DSpace leaves out the element of the language where there is none.
    "xoai-none": (
        '<metadata xmlns="http://www.lyncode.com/xoai"><element name="dc"><element name="contributor"><element name="author">'
        '<field name="value">Wimpelfeld, Ansgar</field></element></element><element name="date"><element name="issued">'
        '<field name="value">1998</field></element></element><element name="identifier"><element name="uri">'
        '<field name="value">https://doi.org/10.5555/a</field></element></element><element name="title">'
        '<field name="value">Lamps</field></element></element></metadata>'
    ),
    "jats": (
        '<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><journal-meta><journal-id>Inks</journal-id></journal-meta>'
        '<article-meta><article-id pub-id-type="doi">10.5555/a</article-id><title-group><article-title>La<italic>mps</italic>'
        "</article-title></title-group><contrib-group><contrib><name><surname>Wimpelfeld</surname></name></contrib>"
        "</contrib-group><pub-date><year>1998</year></pub-date></article-meta></front><back><ref-list><ref>"
        '<pub-id pub-id-type="doi">10.5555/other</pub-id></ref></ref-list></back></article>'
    ),
    "etdms": (
        '<thesis xmlns="http://www.ndltd.org/standards/metadata/etdms/1.0/"><title>Lamps</title><creator>Wimpelfeld, Ansgar'
        "</creator><date>1998</date><identifier>https://doi.org/10.5555/a</identifier></thesis>"
    ),
    "edm": (
        f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="{DC}" xmlns:edm="http://www.europeana.eu/'
        'schemas/edm/"><edm:ProvidedCHO rdf:about="#1"><dc:identifier>doi:10.5555/a</dc:identifier><dc:title>Lamps</dc:title>'
        "<dc:creator>Wimpelfeld, Ansgar</dc:creator><dc:date>1998</dc:date></edm:ProvidedCHO><edm:WebResource "
        'rdf:about="https://doi.org/10.5555/other"/></rdf:RDF>'
    ),
    "xmetadissplus": (
        f'<x:xMetaDiss xmlns:x="http://www.d-nb.de/standards/xmetadissplus/" xmlns:dc="{DC}" xmlns:xsi="{XSI}" xmlns:pc="pc" '
        'xmlns:dcterms="http://purl.org/dc/terms/"><dc:title xsi:type="ddb:titleISO639-2">Lamps</dc:title><dc:creator>'
        "<pc:person><pc:name><pc:foreName>Ansgar</pc:foreName><pc:surName>Wimpelfeld</pc:surName></pc:name></pc:person>"
        '</dc:creator><dcterms:issued>1998</dcterms:issued><dc:identifier xsi:type="doi:doi">10.5555/a</dc:identifier>'
        "<dcterms:isPartOf>https://doi.org/10.5555/other</dcterms:isPartOf></x:xMetaDiss>"
    ),
}


def oai(*payloads):
    records = [
        f"<record><header><identifier>oai:x.example:{number}</identifier><datestamp>2024-01-0{number}</datestamp></header>"
        f"<metadata>{payload}</metadata></record>"
        for number, payload in enumerate(payloads, 1)
    ]
    head = '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>'
    return records, (head + "\n".join(records) + "</ListRecords></OAI-PMH>").encode()


@pytest.mark.parametrize("name", PAYLOADS)
def test_payloads_are_read_by_their_fields(name):
    """What relates to another work is not the record's own; the bytes of each record are a piece of the answer."""
    records, dump = oai(PAYLOADS[name], PAYLOADS[name])
    assert FORMATS["oai"].recognise(dump, "") is True
    assert FORMATS["oai"].unread(dump) == ""
    found = read_records(FORMATS["oai"].reader(own=True, described=True), dump)
    assert [record.data.decode() for record in found] == records
    for number, record in enumerate(found, 1):
        assert [*filter(None, map(as_text, record.own))] == ["urn:doi:10.5555/a"]
        description = description_of(record.description)
        assert [description.title, description.year[:4]] == ["Lamps", "1998"]
        assert description.author.startswith("Wimpelfeld")
        assert (record.identifier, description.changed) == (f"oai:x.example:{number}", f"2024-01-0{number}")


def test_another_payload_is_told():
    """Its URNs may name a vocabulary, so they do not count, and a line says so: docs/reference/dedup/formats.md."""
    _, dump = oai('<ead xmlns="urn:isbn:1-931666-22-9"><archdesc/></ead>')
    assert unread_inner(dump) == "ead"
    assert unread_inner(dump[:60]) == ""
    assert unread_inner(dump.replace(b"<header>", b'<header status="deleted">')) == ""


def test_a_payload_has_the_key_of_its_header():
    _, dump = oai(PAYLOADS["dim"])
    (record,) = read_records(FORMATS["oai"].reader(own=False, keys=True), dump)
    assert "id:oai:x.example:1" in keys_of(["id"], record)
