"""Records in XML: where they are, what they are called and say, what is damaged."""

import io
import re
import time
import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.support.examples import FEW
from tests.support.reading import buffer_of, read_from, read_records, set_longest
from urnscan.errors import DamageError
from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records import xml_records
from urnscan.records.fields import Own
from urnscan.records.identifiers import as_text
from urnscan.records.record import Record
from urnscan.records.xml_formats import is_kind
from urnscan.records.xml_records import XmlRecords
from urnscan.records.xml_runs import find_elements

RECOGNISERS = {
    kind: partial(is_kind, kind) for kind in ("marcxml", "mods", "dc", "oai", "sru", "onix", "pubmed", "endnote")
}
MARC = "http://www.loc.gov/MARC21/slim"
OAI = "http://www.openarchives.org/OAI/2.0/"
OAI_DC = "http://www.openarchives.org/OAI/2.0/oai_dc/"
DC = "http://purl.org/dc/elements/1.1/"
TERMS = "http://purl.org/dc/terms/"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
MODS = "http://www.loc.gov/mods/v3"
URN = re.compile(rb"urn:[a-z0-9-]+:[A-Za-z0-9:'.-]+")


def read(dump, *, own=False, block=1 << 20):
    """All that a reader gives of a dump that comes in blocks of so many bytes; what is promised of every dump is asserted."""
    dump = dump.encode() if isinstance(dump, str) else dump
    file = io.BytesIO(dump)

    def read_into(view):
        return file.readinto(view[:block])

    found = list(read_from(XmlRecords(own=own), Buffer(read_into)))
    end = 0
    for item in found:
        assert item.offset >= end
        end = item.offset
        if isinstance(item, Record):
            assert dump[item.offset :].startswith(item.data)
            end += len(item.data)
        else:
            assert "\n" not in item.reason
    assert end <= len(dump)
    return found


def names(dump):
    return [item.identifier if isinstance(item, Record) else "damaged" for item in read(dump)]


def urns(record):
    """What a scanner finds in the texts of a record."""
    return [urn for text in record.texts for urn in URN.findall(text)]


def marc(number, inside="", tag="record", attributes=""):
    prefix = tag.rpartition(":")[0]
    colon = prefix and f"{prefix}:"
    return f'<{tag}{attributes}><{colon}controlfield tag="001">{number}</{colon}controlfield>{inside}</{tag}>'


def collection(*records):
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<collection xmlns="{MARC}">\n{"".join(records)}\n</collection>\n'


def oai(*records):
    return (
        f'<?xml version="1.0"?><OAI-PMH xmlns="{OAI}" xmlns:xsi="{XSI}"><ListRecords>{"".join(records)}'
        "<resumptionToken>more</resumptionToken></ListRecords></OAI-PMH>"
    )


def harvested(number, metadata="", header=""):
    metadata = metadata and f"<metadata>{metadata}</metadata>"
    return f"<record><header{header}><identifier>oai:example.org:{number}</identifier></header>{metadata}</record>"


# Documents that are odd and well-formed.

said = st.sampled_from(
    [
        "Ships &amp; harbours",
        "urn:nbn:de:example-1",
        "urn&#58;example:a",
        "&#x75;rn:example:b'c",
        "urn:example:<!-- </record> urn:example:no -->d",
        "<![CDATA[<record>urn:example:e</record>]]>",
        "urn:example:<![CDATA[f&amp;g]]>",
        "<?note </record> urn:example:no ?>",
        "<!-- <record> -->",
        "urn:example:h&amp;i",
        "x = 'urn:example:j'",
        "a > b]]&gt; !?",
        "  \n ",
    ]
)
attribute = st.sampled_from(
    [
        "",
        ' a="urn:example:k"',
        " a = 'urn:example:l' b=\"m\"",
        ' a="1 > </record"'.replace("<", "&lt;"),
        ' a=">urn:example:n&#x41;"',
        '\n\tb="<"'.replace("<", "&lt;"),
        ' xmlns:extra="urn:example:extra"',
        " xmlns:o='urn:example:o'",
    ]
)


@st.composite
def elements(draw):
    colon = draw(st.shared(st.sampled_from(["", "m:", "marc-21:"]), key="prefix"))
    name = colon + draw(st.sampled_from(["datafield", "records", "recordX", "subfield"]))
    inside = "".join(draw(st.lists(said, max_size=3)))
    return f"<{name}{draw(attribute)}>{inside}</{name}{draw(st.sampled_from(['', ' ', chr(10)]))}>"


@st.composite
def documents(draw):
    prefix = draw(st.shared(st.sampled_from(["", "m:", "marc-21:"]), key="prefix"))
    declared = f'xmlns{prefix and ":" + prefix[:-1]}="{MARC}"'
    records = []
    for number in range(draw(st.integers(1, 4))):
        inside = "".join(draw(st.lists(elements(), max_size=3)))
        field = f"<{prefix}controlfield tag='001'>no. {number}</{prefix}controlfield>"
        end = draw(st.sampled_from(["", " ", "\r\n"]))
        record = f"<{prefix}record{draw(attribute)}>{draw(st.sampled_from(['', chr(10)]))}{inside}{field}{inside}</{prefix}record{end}>"
        records.append(record if draw(st.integers(0, 5)) else f"<{prefix}record/>")
        records.append(draw(st.sampled_from(["", "\n", "<!-- <record> -->", "<?x <record> ?>", "\n  "])))
    head = draw(
        st.sampled_from(
            [
                "",
                '<?xml version="1.0"?>',
                "<?xml version='1.0' encoding='utf-8'?>\n<!-- <record/> -->\n",
                '<?xml version="1.0"?><!DOCTYPE c [<!-- it\'s ]> --><!ENTITY r "<record/>"><!ENTITY s \'">\'>]>',
            ]
        )
    )
    root = f"{prefix}collection"
    return f"{head}<{root} {declared}>{''.join(records)}</{root}>\n"


def oracle(document):
    """What lxml finds in the whole of a document: the name of each record and its URNs."""
    parser = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False)
    root = etree.fromstring(document.encode(), parser)
    for record in root.iter(f"{{{MARC}}}record"):
        texts = [uri for _, (_, uri) in etree.iterwalk(record, events=("start-ns",))]
        for element in record.iter():
            texts += [element.text or "", *element.attrib.values()]
            texts += [element.tail or ""] if element is not record else []
        name = record.findtext(f"{{{MARC}}}controlfield[@tag='001']")
        yield name, sorted(urn for text in texts for urn in URN.findall(text.encode()))


@given(documents(), st.integers(1, 40))
def test_the_records_are_those_that_lxml_finds_in_the_whole_document(document, block):
    """Against an oracle; cutting the stream anywhere changes nothing; the bytes are exact to both ends (in `read`)."""
    found = read(document)
    assert [(record.identifier, sorted(urns(record))) for record in found] == list(oracle(document))
    assert read(document, block=block) == found
    for record in found:
        assert record.data.startswith(b"<")
        assert record.data.endswith(b">")


def cuts(dump, *, block=1 << 20, by_code=True):
    """The records that are found, and what is damaged; without `by_code` one by one."""
    with pytest.MonkeyPatch.context() as patch:
        if not by_code:
            patch.setattr(xml_records, "find_elements", lambda *_: 0)
        return list(XmlRecords(own=False).cuts(buffer_of(dump, [block])))


TAGS = "<record> <record/> </record> </record\t> <recordX> <!-- --> <![CDATA[ ]]> <?x ?> <!DOCTYPE <?xml </extension> > < / \" '"
odd_bytes = st.sampled_from(
    [*TAGS.split(" "), "<extension>", " a='>'", ' a=">"', ' a="/>"', "<record", "</record", " "]
)


@given(
    documents(),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 9), odd_bytes), max_size=4),
    st.integers(1, 200),
)
def test_compiled_code_finds_the_records_that_are_found_one_by_one(document, changes, block):
    """In any bytes: what is damaged, nested, hidden or empty is where it is without compiled code."""
    for at, dropped, put in changes:
        document = document[:at] + put + document[at + dropped :]
    dump = document.encode()
    expected = cuts(dump, by_code=False)
    assert cuts(dump) == expected
    assert cuts(dump, block=block) == expected


UNUSUAL = {
    "empty": "<record a='b'/>",
    "a comment": marc(0, "<!-- </record> -->"),
    "a CDATA section": marc(0, "<![CDATA[</record>]]>"),
    "an instruction": marc(0, "<?x </record> ?>"),
    "a value with >": '<record a=">"><leader/></record>',
    "a value with > in apostrophes": "<record a='\">'><leader/></record>",
    "white space in its end tag": "<record><leader/></record >",
    "another in an extension": marc(0, f"<extension>{marc(1)}</extension>"),
    "no end": "<record><leader/>",
    "two ends": f"{marc(0)}</record>",
}


@pytest.mark.parametrize("unusual", UNUSUAL.values(), ids=UNUSUAL)
def test_compiled_code_finds_most_records_and_stops_before_an_unusual_one(unusual):
    """It goes on behind that one; what stands between records is no part of them."""
    usual = [marc(number, '\n<b:b c="x"> ! ? / </b:b>', attributes=' a="b"') for number in range(5)]
    dump = collection(*usual, "text", unusual, *usual).encode()
    found = cuts(dump)
    assert found == cuts(dump, by_code=False)
    name, starts, ends = np.frombuffer(b"record", np.uint8), np.empty(9, np.int64), np.empty(9, np.int64)
    count = find_elements(np.frombuffer(dump, np.uint8), dump.index(b"<record"), name, starts, ends)
    assert count == 5 + (unusual == UNUSUAL["two ends"])
    assert [dump[start:end].decode() for start, end in zip(starts[:5], ends[:5], strict=True)] == usual


@FEW
@given(st.lists(documents(), min_size=2, max_size=3))
def test_several_documents_one_behind_the_other(several):
    """Concatenated responses are read as the documents one by one."""
    found = [(record.identifier, urns(record)) for record in read("".join(several))]
    assert found == [(record.identifier, urns(record)) for document in several for record in read(document)]


# What is told of each kind.

KINDS = {
    "marcxml": (
        collection(
            marc(
                "99-1",
                '<datafield tag="020" ind1=" " ind2=" "><subfield code="a">9780999941201</subfield></datafield>'
                '<datafield tag="776" ind1=" " ind2=" "><subfield code="z">9783999990637</subfield></datafield>'
                '<datafield tag="024" ind1="7" ind2=" "><subfield code="a">urn:nbn:de:example-1</subfield>'
                '<subfield code="2">urn</subfield></datafield>',
            )
        ),
        "99-1",
        (Own("9780999941201", "isbn"), Own("urn:nbn:de:example-1", "urn")),
    ),
    "mods": (
        (
            f'<modsCollection xmlns="{MODS}"><mods ID="m1"><identifier type="ISBN"> 9780999941201 </identifier>'
            '<identifier type="issn" invalid="yes">9299-4170</identifier><identifier>urn:example:lamp</identifier>'
            '<relatedItem><identifier type="doi">10.5555/host</identifier></relatedItem>'
            "<location><url>https://example.org/urn:example:contents</url></location>"
            "<recordInfo><recordIdentifier>rec-7</recordIdentifier></recordInfo></mods></modsCollection>"
        ),
        "rec-7",
        (Own("9780999941201", "isbn"), Own("urn:example:lamp", "")),
    ),
    "dc": (
        (
            f'<list xmlns:oai_dc="{OAI_DC}" xmlns:dc="{DC}" xmlns:dcterms="{TERMS}" xmlns:xsi="{XSI}"><oai_dc:dc>'
            "<dc:title>Lamps</dc:title><dc:identifier> </dc:identifier><dc:identifier>a-1</dc:identifier>"
            '<dcterms:identifier xsi:type="dcterms:ISBN">9780999941201</dcterms:identifier>'
            "<dc:source>urn:example:printed</dc:source></oai_dc:dc></list>"
        ),
        "a-1",
        (Own("a-1", ""), Own("9780999941201", "dcterms:isbn")),
    ),
    "onix": (
        (
            '<ONIXMessage release="3.0" xmlns="http://ns.editeur.org/onix/3.0/reference"><Header><Sender/></Header><Product>'
            "<RecordReference>org.example.1</RecordReference>"
            "<ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>9780999941201</IDValue></ProductIdentifier>"
            "<ProductIdentifier><ProductIDType>22</ProductIDType><IDValue>urn:example:lamp</IDValue></ProductIdentifier>"
            "<RelatedMaterial><RelatedProduct><ProductIdentifier><ProductIDType>03</ProductIDType>"
            "<IDValue>9783999990637</IDValue></ProductIdentifier></RelatedProduct></RelatedMaterial>"
            "</Product></ONIXMessage>"
        ),
        "org.example.1",
        (Own("9780999941201", "isbn"), Own("urn:example:lamp", "urn")),
    ),
    "pubmed": (
        (
            '<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">4711</PMID><Article>'
            '<ELocationID EIdType="doi" ValidYN="Y">10.5555/a</ELocationID><ELocationID EIdType="doi" ValidYN="N">10.5555/no'
            "</ELocationID></Article><CommentsCorrectionsList><CommentsCorrections><PMID>4712</PMID></CommentsCorrections>"
            '</CommentsCorrectionsList></MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="doi">10.5555/a'
            '</ArticleId><ArticleId IdType="pmc">PMC12345</ArticleId></ArticleIdList><ReferenceList><Reference>'
            '<ArticleIdList><ArticleId IdType="doi">10.5555/cited</ArticleId></ArticleIdList></Reference></ReferenceList>'
            "</PubmedData></PubmedArticle></PubmedArticleSet>"
        ),
        "4711",
        (Own("10.5555/a", "doi"), Own("PMC12345", "pmc")),
    ),
    "endnote": (
        (
            '<xml><records><record><database name="My.enl">My.enl</database><rec-number>7</rec-number>'
            '<ref-type name="Book">6</ref-type><isbn><style face="normal">9780999941201</style></isbn>'
            '<urls><related-urls><url><style face="normal">urn:example:</style><style face="bold">lamp</style></url>'
            "</related-urls></urls><electronic-resource-num>10.5555/a</electronic-resource-num></record></records></xml>"
        ),
        "7",
        (Own("10.5555/a", "doi"), Own("urn:example:lamp", ""), Own("9780999941201", "isbn")),
    ),
    "oai": (
        oai(
            harvested(
                1, f'<oai_dc:dc xmlns:oai_dc="{OAI_DC}" xmlns:dc="{DC}"><dc:identifier>a-1</dc:identifier></oai_dc:dc>'
            )
        ),
        "oai:example.org:1",
        (Own("oai:example.org:1", ""), Own("a-1", "")),
    ),
    "sru": (
        (
            '<zs:searchRetrieveResponse xmlns:zs="http://www.loc.gov/zing/srw/"><zs:numberOfRecords>1</zs:numberOfRecords>'
            "<zs:records><zs:record><zs:recordSchema>marcxml</zs:recordSchema><zs:recordData>"
            f'<record xmlns="{MARC}"><controlfield tag="001">99-2</controlfield><datafield tag="022"><subfield code="a">'
            "9299-417X</subfield></datafield></record></zs:recordData></zs:record></zs:records></zs:searchRetrieveResponse>"
        ),
        "99-2",
        (Own("9299-417X", "issn"),),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_identifier_and_own_identifiers_of_each_kind(kind):
    """Those of related items, hosts and other editions are not the record's own, nor are invalid ones."""
    document, identifier, own = KINDS[kind]
    (record,) = read(document, own=True)
    assert (record.identifier, record.own, record.texts) == (identifier, own, ())
    (record,) = read(document)
    assert (record.identifier, record.own) == (identifier, ())


@pytest.mark.parametrize("kind", KINDS)
def test_exactly_one_recogniser_says_true(kind):
    """By content, with a byte order mark as without, and not before the record has begun."""
    document = KINDS[kind][0].encode()
    for head in (document, b"\xef\xbb\xbf" + document, document + b"\n" + KINDS["mods"][0].encode()):
        assert [name for name, recognise in RECOGNISERS.items() if recognise(head, "")] == [kind]
    assert {is_kind(document[:12], "") for is_kind in RECOGNISERS.values()} == {None}


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ("<collection><record><leader>0</leader></record></collection>", "marcxml"),
        (f'<record xmlns="{MARC}"/>', "marcxml"),
        ("<modsCollection><mods><titleInfo/></mods></modsCollection>", "mods"),
        (f'<mets xmlns:m="{MODS}"><xmlData><m:mods/></xmlData></mets>', "mods"),
        (f'<records xmlns:dc="{DC}"><record><dc:title/></record></records>', "dc"),
        (f'<metadata xmlns="http://example.org/"><!-- --><title xmlns="{TERMS}"/></metadata>', "dc"),
        ("<ListRecords><record>\n <header/></record></ListRecords>", "oai"),
        (f'<x xmlns:d="{TERMS}"><d:dcterms><d:title/></d:dcterms></x>', "dc"),
        (f'<records xmlns:d="{DC}"><record><metadata><d:title/></metadata></record></records>', "oai"),
        ("<find-doc><record><metadata><oai_marc/></metadata></record></find-doc>", "oai"),
        ("<present><record><record_header/><metadata><oai_marc/></metadata></record></present>", "oai"),
        ("<oai_marc/>", "marcxml"),
        ("<PubmedArticleSet><PubmedBookArticle/></PubmedArticleSet>", "pubmed"),
        ("<xml><records><record><source-app/></record></records></xml>", "endnote"),
        ("<ONIXmessage><product><a001>1</a001></product></ONIXmessage>", "onix"),
        ('<ONIXMessage xmlns="http://www.editeur.org/onix/2.1/reference"><Product/></ONIXMessage>', "onix"),
        ("<ONIXMessage><Product><RecordReference/></Product></ONIXMessage>", "onix"),
    ],
)
def test_kinds_without_their_namespaces_and_with_others(document, kind):
    """Many dumps declare none: then the first element in it tells."""
    assert [name for name, recognise in RECOGNISERS.items() if recognise(document.encode(), "")] == [kind]
    assert len(read(document)) == 1


@pytest.mark.parametrize(
    "head",
    [
        b'{"id": 1}',
        b"[<record>]",
        b"00714cam a2200205 a 4500",
        b"@book{x}",
        b"TY  - BOOK",
        b"_:a <http://www.loc.gov/MARC21/slim> <record> .",
    ],
)
def test_what_is_not_xml_is_told_at_once(head):
    assert {recognise(head, "dump.xml") for recognise in RECOGNISERS.values()} == {False}


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"<http://example.org/record> <http://purl.org/dc/terms/title> <urn:example:record> .",
        b"<html><body><record>no</record><product>lamp</product></body></html>",
        b"<records><record><title>A</title></record></records>",
        f'<r:RDF xmlns:r="r" xmlns:d="{DC}"><r:Description><d:title/></r:Description></r:RDF>'.encode(),
        f'<OAI-PMH xmlns="{OAI}"><ListIdentifiers><header/></ListIdentifiers></OAI-PMH>'.encode(),
        f'<OAI-PMH xmlns="{OAI}"><error code="badResumptionToken"/></OAI-PMH>'.encode(),
        b"<collection/>",
    ],
)
def test_what_has_no_known_records_is_never_true(head):
    assert {recognise(head, "") for recognise in RECOGNISERS.values()} == {None}


def test_elements_nested_too_deep_end_no_others():
    """An end tag below 256 elements closed the collection, and with it the namespaces of all records behind."""
    record = marc(1, tag="m:record")
    deep = "<w>" * 256 + "<m:collection></m:collection>" + "</w>" * 256
    dump = f'<m:collection xmlns:m="{MARC}">{record}{deep}{record * 2}</m:collection>'
    assert names(dump) == ["1", "1", "1"]


def test_the_isbn_of_a_set_is_known_by_the_qualifier_behind_it():
    """MARCXML keeps it in 020 $q; it goes with its number, as in ISO 2709."""
    field = '<datafield tag="020" ind1=" " ind2=" ">{}</datafield>'
    said = '<subfield code="a">{}</subfield><subfield code="q">{}</subfield>'
    fields = (field.format(said.format(*pair)) for pair in (("9780999941201", "v. 1"), ("9783999990637", "(set)")))
    (record,) = read(collection(marc(1, "".join(fields))), own=True)
    assert [as_text(own) for own in record.own] == ["urn:isbn:9780999941201", None]


def test_onix_short_tags_and_the_single_elements_of_its_release_2():
    """Codes of list 5 are the same in both; b004 and the like were deprecated, and stand in old dumps."""
    (record,) = read(
        "<ONIXmessage><header/><product><a001>r</a001><b004>0999941208</b004><productidentifier><b221>06</b221>"
        "<b244>10.5555/1</b244></productidentifier><productidentifier><b221>01</b221><b233>SKU</b233>"
        "<b244>9780999941201</b244></productidentifier></product></ONIXmessage>",
        own=True,
    )
    assert record.identifier == "r"
    assert set(record.own) == {
        Own("0999941208", "isbn"),
        Own("10.5555/1", "doi"),
        Own("9780999941201", "publishernumber"),
    }


def test_oai_holds_any_kind_and_deleted_records_have_a_header_alone():
    """Of what is in the metadata own identifiers count, if it is one record: METS holds many, and they are parts."""
    mods = f'<mods xmlns="{MODS}"><identifier type="doi">10.5555/1</identifier></mods>'
    many = f'<mets xmlns="http://www.loc.gov/METS/"><dmdSec>{mods}</dmdSec><dmdSec>{mods}</dmdSec></mets>'
    response = oai(
        harvested(1, mods),
        harvested(2, header=' status="deleted"'),
        harvested(3, f'<collection xmlns="{MARC}">{marc(3)}</collection>'),
        harvested(4, many),
        "<record><header/><metadata>" + marc(5, attributes=f' xmlns="{MARC}"') + "</metadata></record>",
    )
    found = read(response * 2, own=True)
    assert [record.identifier for record in found] == [*(f"oai:example.org:{n}" for n in (1, 2, 3, 4)), "5"] * 2
    assert [len(record.own) for record in found[:5]] == [2, 0, 1, 1, 0]


@pytest.mark.parametrize("own", [False, True])
def test_a_deleted_record_names_nothing(own):
    """OAI-PMH §2.5.1: it is not the live record of the same identifier, which would be taken for its duplicate."""
    header = "<identifier>urn:example:1</identifier><setSpec>urn:example:set</setSpec>"
    deleted, live = read(
        oai(
            f'<record><header status="deleted">{header}</header><about>urn:example:1</about></record>',
            f"<record><header>{header}</header></record>",
        ),
        own=own,
    )
    assert deleted.identifier == live.identifier == "urn:example:1"
    assert (deleted.texts, deleted.own) == ((), ())
    assert live.own == (Own("urn:example:1"),) if own else urns(live) == [b"urn:example:1", b"urn:example:set"]


SRW = "http://www.loc.gov/zing/srw/"


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (f'<OAI-PMH xmlns="{OAI}"><request/><error code="noRecordsMatch">none</error></OAI-PMH>', "oai"),
        (oai(), "oai"),
        (f'<o:OAI-PMH xmlns:o="{OAI}"><o:ListRecords/></o:OAI-PMH>\n' * 2, "oai"),
        (
            f'<z:searchRetrieveResponse xmlns:z="{SRW}"><z:numberOfRecords>0</z:numberOfRecords></z:searchRetrieveResponse>',
            "sru",
        ),
        (collection(), "marcxml"),
        (f'<m:collection xmlns:m="{MARC}"/>', "marcxml"),
        (f'<modsCollection xmlns="{MODS}"/>', "mods"),
        ("<modsCollection></modsCollection>", "mods"),
        ('<!DOCTYPE ONIXMessage SYSTEM "onix.dtd"><ONIXMessage><Header><FromCompany/></Header></ONIXMessage>', "onix"),
        ("<ONIXmessage/>", "onix"),
    ],
)
def test_a_document_without_records_is_known_by_what_would_hold_them(document, kind):
    """Where it has ended; and where a record follows, that tells."""
    assert [name for name, recognise in RECOGNISERS.items() if recognise(document.encode(), "")] == [kind]
    assert read(document) == []
    cut = document.rstrip()[: -1 if document.count("\n") < 2 else -14].encode()
    assert {recognise(cut, "") for recognise in RECOGNISERS.values()} == {None}
    other = "mods" if kind == "onix" else "onix"
    following = (document + KINDS[other][0]).encode()
    assert [name for name, recognise in RECOGNISERS.items() if recognise(following, "")] == [other]


# Texts.


@pytest.mark.parametrize("between", ["<!-- %s -->", "<?x %s?>", "<![CDATA[%s]]>", "<!-- %s", "<? %s"])
@pytest.mark.parametrize("block", [1000, 1700, 3000, None])
def test_what_hides_tags_between_records_may_reach_into_the_next_blocks(between, block):
    """Of what follows nothing is passed by: where more bytes are read, places count from elsewhere."""
    one = "<record><leader/><controlfield tag='001'>%d</controlfield></record>\n"
    records = [one % number for number in range(60)]
    document = (
        f"<collection xmlns='{MARC}'>{''.join(records[:20])}{between % ('-' * 5 + 'x' * 5000)}{''.join(records[20:])}"
    )
    dump = document.encode() + b"</collection>"
    found = read_records(XmlRecords(own=False), dump, [block])
    assert [record.identifier for record in found] == [str(number) for number in range(60)]


def test_values_do_not_run_into_one_another_and_comments_say_nothing():
    """No URN reaches over a tag, however values are quoted; one that a comment is in is whole."""
    (record,) = read(
        collection(
            marc(
                1,
                "<a b='urn:example:1' c=\"urn:example:2\">urn:example:3</a>urn:example:4<a/>x <!-- urn:example:no -->"
                "urn:example:<!-- -->5<?pi urn:example:no?><a xmlns='urn:example:6'/>",
            )
        )
    )
    assert sorted(urns(record)) == [b"urn:example:%d" % number for number in range(1, 7)]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("urn:example:a&#45;b", b"urn:example:a-b"),
        ("urn:example:a&#x00000002D;b", b"urn:example:a-b"),
        ("urn:example:a&apos;b", b"urn:example:a'b"),
        ("urn&colon;example&colon;a", b"urn:example:a"),
        ('<a b="urn&colon;example:a"/>', b"urn:example:a"),
        ("urn:example:a&nbsp;b", b"urn:example:a"),
        ("&unheard-of;urn:example:a", b"urn:example:a"),
        ("<![CDATA[&nbsp;]]>urn:example:a", b"urn:example:a"),
    ],
)
def test_references_are_decoded_also_to_entities_that_only_a_dtd_declares(written, meant):
    """ONIX 2.1 declares the named characters of HTML in an external DTD, others use them without: no record is lost."""
    (record,) = read(collection(marc(1, written)))
    assert urns(record) == [meant]


def test_an_entity_in_a_cdata_section_is_text():
    (record,) = read(collection(marc(1, "<![CDATA[&eacute;]]>&eacute;&other;")))
    assert "&eacute;\u00e9&other;".encode() in record.texts[0]


@pytest.mark.parametrize(
    ("declared", "codec"), [("ISO-8859-1", "latin-1"), ("windows-1252", "cp1252"), ("utf-8", "utf-8")]
)
def test_the_declared_encoding_is_that_of_the_texts(declared, codec):
    """The bytes stay as they came, the texts are UTF-8; the next document is UTF-8 again if it does not say."""
    text = f'<?xml version="1.0" encoding="{declared}"?><collection xmlns="{MARC}">{marc("é", "ü")}</collection>'
    dump = text.encode(codec) + f'<collection xmlns="{MARC}">{marc("é")}</collection>'.encode()
    first, second = read(dump)
    assert (first.identifier, second.identifier) == ("é", "é")
    assert "ü".encode() in first.texts[0]
    assert "ü".encode(codec) in first.data


@pytest.mark.parametrize("declared", ["UTF-16", "no-such", "utf-7", "rot13"])
def test_what_cannot_be_the_encoding_counts_as_utf_8(declared):
    """UTF-16 has been transcoded before it comes here; its declaration has not."""
    assert names(f'<?xml version="1.0" encoding="{declared}"?><collection xmlns="{MARC}">{marc("é")}</collection>') == [
        "é"
    ]


def test_bytes_that_are_not_utf_8_are_no_damage():
    (record,) = read(collection(marc(1, "Caf\u00e9")).encode("latin-1"))
    assert record.identifier == "1"


# Damage.


def test_a_broken_record_takes_no_good_one_with_it():
    """Each damage counts one, in its place."""
    broken = [
        "<record><a></record>",
        '<record type="x><a/></record>',
        "<record>&</record>",
        "<record>\x1e</record>",
        "<record>" + "<a>" * 100_000 + "</record>",
    ]
    for damage in broken:
        assert names(collection(marc(1), damage, marc(2))) == ["1", "damaged", "2"], damage[:40]


@pytest.mark.parametrize(
    "wrapper",
    [
        rb'<p:collection xmlns:p="http://www.\oc.gov/MARC21/slim">',
        b'<p:collection xmlns:p="http://www.\xffoc.gov/MARC21/slim">',
        b'<p:collection xmlns:p="http://www.&oc.gov/MARC21/slim">',
        b'<p:collection xmlns:p="">',
        b'<p:collection xmlns:q="http://www.loc.gov/MARC21/slim">',
        b'<p:collection xmlns:p="http://www.loc.gov/MARC21/slim>',
        b"",
    ],
)
@pytest.mark.parametrize("prefix", [b"p:", b""])
def test_damage_around_records_damages_none(wrapper, prefix):
    """Only damaged data is lost: a wrong byte in the namespace of the element around all records made each damaged."""
    wrapper = wrapper.replace(b"p:", prefix).replace(b":p", b":p" if prefix else b"")
    fields = b'<p:leader>00000nam a</p:leader><p:controlfield tag="001">%d</p:controlfield>'
    urn = b'<p:datafield tag="856"><p:subfield code="u" x:y="">urn:a:b</p:subfield></p:datafield>'
    records = (b"<p:record>" + fields % number + urn + b"</p:record>\n" for number in (1, 2))
    dump = wrapper + b"".join(records).replace(b"p:", prefix) + b"</%bcollection>" % prefix
    assert names(dump) == ["1", "2"]
    assert is_kind("marcxml", dump, "")
    assert [own.text for record in read(dump, own=True) for own in record.own] == ["urn:a:b"] * 2


def test_a_record_without_its_end_does_not_swallow_the_next():
    """It is cut off where the next begins, wherever that is; of what is left before the name of its element nobody knows."""
    whole = marc(1, '<a b="c">text</a>')
    for cut in range(1, 60):
        found = names(collection(whole[: len(whole) - cut], "\n", marc(2), marc(3)))
        assert found == ["damaged", "2", "3"], cut


def test_where_a_record_holds_another_of_the_same_name_depth_counts():
    """OAI with MARCXML, both in default namespaces, also where that is declared further out, or nowhere."""
    inner = marc(1, attributes=f' xmlns="{MARC}"')
    good = harvested(2, f'<collection xmlns="{MARC}">{marc(1)}</collection>')
    for cut in ("</metadata></record>", "</record></metadata></record>"):
        assert names(oai(harvested(1, inner).replace(cut, ""), good, harvested(3))) == [
            "damaged",
            "oai:example.org:2",
            "oai:example.org:3",
        ]
    bare = f"<x>{harvested(1, marc(1))}{harvested(2, marc(1))}</x>"
    assert names(bare) == ["oai:example.org:1", "oai:example.org:2"]


def mods(number, within=""):
    return f"<mods><identifier>{number}</identifier><recordInfo><recordIdentifier>{number}</recordIdentifier></recordInfo>{within}</mods>"


def test_a_record_may_carry_others_in_an_extension():
    """A union catalogue has the records of its libraries there: they are a part of it, and their names are not its own."""
    within = f"<extension><modsCollection>{mods(11)}{mods(12)}</modsCollection></extension>"
    several = f"<extension>{mods(31)}</extension><extension/><extension>{mods(32, within)}</extension>"
    dump = f'<modsCollection xmlns="{MODS}">{mods(1, within)}{mods(2)}{mods(3, several)}</modsCollection>'
    assert names(dump) == ["1", "2", "3"]
    assert [own.text for own in read(dump, own=True)[0].own] == ["1"]


@pytest.mark.parametrize("lost", ["</mods>", "</extension></mods>", "</identifier><recordInfo>"])
def test_records_in_an_extension_end_where_the_outer_record_lost_its_end(lost):
    """What cannot be within it is no part of it: the next records are read."""
    first = mods(1, f"<extension>{mods(11)}</extension>")
    start = first.rindex(lost) if lost in first[-30:] else first.index(lost)
    first = first[:start] + first[start + len(lost) :]
    found = names(f'<modsCollection xmlns="{MODS}">{first}{mods(2)}{mods(3)}</modsCollection>')
    assert found[-2:] == ["2", "3"]
    assert "damaged" in found


def test_a_document_type_declaration_keeps_the_encoding():
    """The XML declaration before it declares the encoding of the whole document, as in ONIX 2.1 in ISO 8859-1."""
    begin = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!DOCTYPE ONIXMessage SYSTEM "onix.dtd">'
    product = "<ONIXMessage><Product><RecordReference>M\u00fc</RecordReference></Product></ONIXMessage>"
    (record,) = read((begin + product).encode("latin-1"))
    assert record.identifier == "M\u00fc"


@pytest.mark.parametrize(
    "begin",
    [
        '<?xml version="1.0"?><!DOCTYPE record><!-- made from <?xml version="1.0" encoding="iso-8859-1"?> -->',
        '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE record><?from encoding="iso-8859-1"?>',
        '<?xml version="1.0"?><collection encoding="iso-8859-1">',
        # Another document, which ended, and whose root element may be a record.
        f'<?xml version="1.0" encoding="iso-8859-1"?>{marc("a")}<!DOCTYPE record>',
        f'<?xml version="1.0" encoding="iso-8859-1"?><collection>{marc("a")}</collection><!DOCTYPE record>',
    ],
)
def test_another_encoding_nearby_is_not_that_of_the_document(begin):
    *_, record = read((begin + marc("M\u00fc")).encode())
    assert record.identifier == "M\u00fc"


@pytest.mark.parametrize("next_document", ["<?xml version='1.0'?>", "<!DOCTYPE collection>"])
def test_another_document_ends_a_record(next_document):
    """Where a truncated response is followed by the next, what is open ends, and its namespaces are forgotten."""
    truncated = f'<m:collection xmlns:m="{MARC}">{marc(1, tag="m:record")}<m:record><m:leader>'
    found = read(truncated + next_document + f'<collection xmlns="{MARC}">{marc(2)}</collection>')
    assert [getattr(item, "identifier", None) for item in found] == ["1", None, "2"]
    assert found[1] == Damaged(
        truncated.index("<m:record><m:leader>"), "it is truncated: another document begins in it"
    )


def test_a_dump_that_ends_in_a_record():
    """Also where that is an OAI record whose metadata have the same name: it is one."""
    document = oai(harvested(1), harvested(2, marc(1, attributes=f' xmlns="{MARC}"')))
    start = document.rindex("<record><header>")
    for end in range(start + 8, document.index("<resumptionToken") - 1):
        found = read(document[:end])
        assert found[1:] == [Damaged(start, "it is truncated: the dump ends in it")]


def test_reading_goes_on_behind_a_loss_in_the_middle_of_a_record():
    """Asked again after `Buffer.resume`; the namespaces around are still known."""
    dump = collection(*map(marc, range(5))).encode()
    second, third = (dump.index(marc(number).encode()) for number in (1, 2))
    parts = iter([dump[: second + 9], None, dump[third + 9 :]])

    def read_into(view):
        part = next(parts, b"")
        if part is None:
            raise DamageError("dump.xml", "its checksum is wrong")
        view[: len(part)] = part
        return len(part)

    buffer, reader = Buffer(read_into), XmlRecords(own=False)
    found = [*read_from(reader, buffer)]
    assert buffer.resume()
    found += read_from(reader, buffer)
    assert [getattr(item, "identifier", None) for item in found] == ["0", None, "3", "4"]


@pytest.mark.full
def test_what_is_too_long_is_no_record(monkeypatch):
    set_longest(monkeypatch, 1 << 16)
    dump = collection(marc(1), marc(2, "<a/>" * (1 << 15)), marc(3), marc(4, "<!--" + "x" * (1 << 17)), marc(5))
    for block in (1 << 18, 12_345):
        found = read(dump, block=block)
        assert [getattr(item, "identifier", None) for item in found] == ["1", None, "3", None, "5"]
        assert "longer than" in found[1].reason


# Attacks.

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))


def test_entities_of_a_document_are_not_expanded(tmp_path):
    """Billion laughs are harmless, and nothing is read from anywhere: entities are the text that they look like."""
    secret = tmp_path / "secret"
    secret.write_text("urn:example:secret")
    doctype = (
        f'<?xml version="1.0"?><!DOCTYPE collection SYSTEM "{secret.as_uri()}" [<!ENTITY l0 "urn:example:laugh">{LAUGHS}'
        f'<!ENTITY f SYSTEM "{secret.as_uri()}"><!ENTITY % p SYSTEM "{secret.as_uri()}"> %p; ]>'
    )
    laughing = marc(1, '<a b="&l11;">&l11; &f;</a>')
    (record,) = read(f'{doctype}<collection xmlns="{MARC}">{laughing}</collection>')
    assert urns(record) == []
    assert b"&l11; &f;" in record.texts[0]
    assert len(record.texts[0]) < 1000
    (damaged,) = read(collection(f"<record>{doctype}<a/></record>"))
    assert isinstance(damaged, Damaged)


IN_OAI = f'<x xmlns="{OAI}"><record><header/>'.encode()
IN_MARC = f'<x xmlns="{MARC}"><record>'.encode()
HOSTILE = {
    "unclosed records": (IN_MARC, b"<record>"),
    "unclosed comments": (IN_MARC, b"<record><!--"),
    "unclosed comments in one record": (IN_MARC, b"&a;<!--"),
    "unclosed sections": (IN_MARC, b"<record><leader/><![CDATA[</record>"),
    "instructions": (IN_OAI, b"<record><?x "),
    "marks": (b"", b"<!-<?"),
    "quotes": (IN_MARC, b"<record a='\">"),
    "declarations": (IN_MARC, b"<!DOCTYPE a [<!--"),
    "nested elements": (b"", b"<a xmlns='u'>"),
    "declared namespaces": (IN_MARC, b"</record><a xmlns:p='uuuuuuuu'><record>"),
    "end tags": (IN_OAI, b"</record"),
    "records in extensions": (IN_MARC, b"<record><extension>"),
    "nested records": (IN_OAI, b"<record ><metadata/>"),
}


@pytest.mark.full
@pytest.mark.parametrize(("start", "data"), HOSTILE.values(), ids=HOSTILE)
def test_time_is_linear_on_hostile_bytes(start, data):
    """A search from each of these to the end of the dump would take minutes."""
    began = time.process_time()
    read(start + data * (150_000 // len(data)))
    assert time.process_time() - began < 10


@pytest.mark.full
@pytest.mark.parametrize("inside", ["<record><a/></record>", "<record/>", "<record><p7:a p8:b=''/></record>"])
def test_time_is_linear_where_many_namespaces_are_declared(inside):
    """All of them were looked at for each record; what a record has is still declared."""
    declared = "".join(f" xmlns:p{n}='u{n}'" for n in range(10_000))
    within = f'<w xmlns:z="u">{inside}</w>' * 5_000
    began = time.process_time()
    found = read(f'<x xmlns="{MARC}"{declared}>{within}</x>')
    assert time.process_time() - began < 10
    assert sum(isinstance(item, Record) for item in found) == 5_000


@pytest.mark.full
def test_a_record_of_many_literals_each_unclosed_before_a_document():
    """Each is another name to be looked for; none is looked for in all the rest."""
    dump = "".join(f'<a{n}:record xmlns:a{n}="{MARC}"><a{n}:record/><?xml ?>' for n in range(2_000))
    assert len(read(dump)) == 4_000


@pytest.mark.full
def test_a_huge_attribute_and_a_huge_text():
    """Longer than libxml2 takes by default; a record may be."""
    (record,) = read(collection(marc(1, f'<a b="{"x" * 11_000_000}">{"y" * 11_000_000} urn:example:z</a>')))
    assert urns(record) == [b"urn:example:z"]


@pytest.mark.full
def test_memory_does_not_grow_with_the_dump():
    """A block or two and a record are held, also of names of elements and prefixes that come only once."""
    parts = (f'<b{n} xmlns:p{n}="u"></b{n}>{marc(n, "<a>" + "x" * 8_000 + "</a>")}'.encode() for n in range(3_000))
    first = f'<collection xmlns="{MARC}">'.encode()

    def read_into(view):
        data = first if first_time.pop() else next(parts, b"")
        first_time.append(False)
        view[: len(data)] = data
        return len(data)

    first_time = [True]
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_from(XmlRecords(own=False), Buffer(read_into), 1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 3_000
    assert peak < 8_000_000
