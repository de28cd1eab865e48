"""The formats of `dumps`: each writes records as systems do that export it, pretty or compact by chance.

Own identifiers stand in the fields that the format has for them, URNs of other works in its notes, host items and relations.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import pymarc

if TYPE_CHECKING:
    from tests.support.dumps import Entry

__all__ = ["VOCABULARY", "WRITERS", "Writer", "Written"]

VOCABULARY = "urn:isbn:1-931666-22-9"
"""The XML namespace of EAD 2002, an ISBN; in each record."""


class Written(NamedTuple):
    """A dump in parts."""

    records: list[bytes]
    head: bytes = b""
    between: bytes = b""
    tail: bytes = b""


@dataclass(frozen=True, kw_only=True)
class Writer:
    """How a format is written."""

    suffix: str
    write: Callable[[random.Random, Sequence[Entry]], Written]
    native: frozenset[str] = frozenset({"isbn", "issn", "doi"})
    """The identifiers for which it has fields."""
    clean: bool = False
    """Whether these hold the bare identifier."""
    called: Callable[[Entry], str | None] = attrgetter("number")
    """What the dump calls a record."""


# --- MARC 21 and UNIMARC ---------------------------------------------------------------------------------------------

Field = tuple[str, str, list[tuple[str, str]]]


def _marc_fields(entry: Entry) -> list[Field]:
    """The data fields of a record: tag, indicators, subfields."""
    codes = {"urn": "urn", "doi": "doi", "uuid": "uuid", "isan": "isan"}
    fields: list[Field] = [("020", "  ", [("a", text), ("q", "Broschur")]) for text in entry.of("isbn")]
    fields += [("022", "  ", [("a", text)]) for text in entry.of("issn")]
    fields += [("024", "7 ", [("a", n.text), ("2", codes[n.scheme])]) for n in entry.own if n.scheme in codes]
    fields += [
        ("035", "  ", [("a", f"(OCoLC){entry.number}")]),
        ("100", "1 ", [("a", entry.creator), ("4", "aut")]),
        ("245", "10", [("a", entry.title), ("c", entry.creator)]),
        ("264", " 1", [("a", "Köln"), ("b", "Verlag"), ("c", str(entry.year))]),
    ]
    fields += [("500", "  ", [("a", note)]) for note in entry.notes]
    fields += [("773", "08", [("i", "In"), ("t", "Host"), ("o", urn)]) for urn in entry.others[:1]]
    fields += [("776", "08", [("i", "Print"), ("o", urn)]) for urn in entry.others[1:2]]
    fields += [("856", "40", [("u", text), ("3", "Volltext")]) for text in entry.of("link")]
    fields += [("856", "42", [("u", f"https://r.example/{urn}")]) for urn in entry.others[2:]]
    return [*fields, ("887", "  ", [("a", f'<ead xmlns="{VOCABULARY}"/>'), ("2", "ead")])]


def _unimarc_fields(entry: Entry) -> list[Field]:
    """The same record in UNIMARC: its coded data are where MARC 21 has the author, and its ISBN where that has the LCCN."""
    fields: list[Field] = [("010", "  ", [("a", text), ("b", "br."), ("d", "12 EUR")]) for text in entry.of("isbn")]
    fields += [("011", "  ", [("a", text)]) for text in entry.of("issn")]
    fields += [
        ("017", "70", [("a", n.text), ("2", n.scheme)]) for n in entry.own if n.scheme in _ALL - {"isbn", "issn"}
    ]
    fields += [("017", "70", [("a", text), ("2", "urn")]) for text in entry.of("urn")]
    fields += [
        ("100", "  ", [("a", f"20260101d{entry.year}    m  y0frey50      ba")]),
        ("200", "1 ", [("a", entry.title), ("f", entry.creator)]),
        ("214", " 0", [("a", "Paris"), ("c", "Presses"), ("d", str(entry.year))]),
    ]
    fields += [("300", "  ", [("a", note)]) for note in entry.notes]
    fields += [("461", " 0", [("t", "Host"), ("u", urn)]) for urn in entry.others[:1]]
    fields += [("452", " 0", [("t", "Print"), ("u", urn)]) for urn in entry.others[1:]]
    fields += [("856", "4 ", [("u", text)]) for text in entry.of("link")]
    return [*fields, ("886", "2 ", [("2", "ead"), ("a", VOCABULARY)])]


_LEADER = "00000nam a2200000 c 4500"


def _control_fields(entry: Entry) -> list[tuple[str, str]]:
    return [("001", entry.number), ("003", "XX-999"), ("008", f"260101s{entry.year}    gw ||||| |||| 00||||ger  ")]


def _marc(fields: Callable[[Entry], list[Field]], _: random.Random, entries: Sequence[Entry]) -> Written:
    records = []
    for entry in entries:
        record = pymarc.Record(leader=_LEADER)
        record.add_field(*(pymarc.Field(tag=tag, data=data) for tag, data in _control_fields(entry)))
        for tag, indicators, subfields in fields(entry):
            parts = [pymarc.Subfield(code, value) for code, value in subfields]
            record.add_field(pymarc.Field(tag=tag, indicators=pymarc.Indicators(*indicators), subfields=parts))
        records.append(record.as_marc())
    return Written(records)


def _marc_in_json(rng: random.Random, entries: Sequence[Entry]) -> Written:
    """An array, as pymarc and yaz-marcdump write it; the leader stands before the fields or behind."""
    records = [pymarc.Record(data=raw).as_dict() for raw in _marc(_marc_fields, rng, entries).records]
    ordered = [dict(reversed(record.items())) if rng.random() < 0.5 else record for record in records]
    indent = rng.choice([None, 2])
    return Written([json.dumps(record, indent=indent).encode() for record in ordered], b"[\n", b",\n", b"\n]\n")


def _mrk(rng: random.Random, entries: Sequence[Entry]) -> Written:
    """As MarcEdit writes it, and pymarc shows a record."""
    records = [pymarc.Record(data=raw) for raw in _marc(_marc_fields, rng, entries).records]
    return Written([str(record).strip().encode() + b"\n" for record in records], between=b"\n")


def _marc_lines(_: random.Random, entries: Sequence[Entry]) -> Written:
    """As yaz-marcdump writes it."""
    records = []
    for entry in entries:
        lines = [_LEADER, *(f"{tag} {data}" for tag, data in _control_fields(entry))]
        for tag, indicators, subfields in _marc_fields(entry):
            lines.append(f"{tag} {indicators}" + "".join(f" ${code} {value}" for code, value in subfields))
        records.append("".join(f"{line}\n" for line in lines).encode())
    return Written(records, between=b"\n", tail=b"\n")


def _aleph(_: random.Random, entries: Sequence[Entry]) -> Written:
    records = []
    for at, entry in enumerate(entries, 1):
        lines = ["FMT   L BK", f"LDR   L {_LEADER.replace(' ', '^')}"]
        lines += [f"{tag}   L {data.replace(' ', '^')}" for tag, data in _control_fields(entry)]
        for tag, indicators, subfields in _marc_fields(entry):
            lines.append(f"{tag}{indicators} L " + "".join(f"$${code}{value}" for code, value in subfields))
        records.append("".join(f"{at:09} {line}\n" for line in lines).encode())
    return Written(records)


# --- XML -------------------------------------------------------------------------------------------------------------


class Element(NamedTuple):
    """An element with text or with elements in it."""

    name: str
    content: str | Sequence[Element]
    attributes: Mapping[str, str] = {}


def _serialised(element: Element, indent: str | None, refers: bool) -> str:
    """Pretty with an indent (what stands before the element's lines), else in one line; `refers`: `:` as a reference."""
    opened = element.name + "".join(f" {name}={quoteattr(value)}" for name, value in element.attributes.items())
    if not element.content:
        return f"<{opened}/>"
    if isinstance(element.content, str):
        text = escape(element.content)
        return f"<{opened}>{text.replace(':', '&#x3A;') if refers else text}</{element.name}>"
    deeper = None if indent is None else f"{indent}  "
    between = "" if deeper is None else f"\n{deeper}"
    end = "" if indent is None else f"\n{indent}"
    inside = "".join(between + _serialised(child, deeper, refers) for child in element.content)
    return f"<{opened}>{inside}{end}</{element.name}>"


def _xml(
    record: Callable[[Entry], Element], opened: str, closed: str, rng: random.Random, entries: Sequence[Entry]
) -> Written:
    """A document of records in a wrapper, whose namespace is the default or has a prefix."""
    pretty = rng.random() < 0.5
    prefixed = 'xmlns="' in opened and rng.random() < 0.3
    between = "\n  " if pretty else ""
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {VOCABULARY} -->\n{opened}{between}'
    records = [_serialised(record(entry), "  " if pretty else None, rng.random() < 0.1) for entry in entries]
    head, tail, *records = (_prefixed(text) if prefixed else text for text in (head, f"\n{closed}\n", *records))
    return Written([text.encode() for text in records], head.encode(), between.encode(), tail.encode())


def _prefixed(markup: str) -> str:
    """With a prefix before each name that has none."""
    return re.sub(r"<(/?)(?=\w+[ />])", r"<\1p:", markup).replace(' xmlns="', ' xmlns:p="')


def _elements(name: str, texts: Iterable[str], **attributes: str) -> list[Element]:
    return [Element(name, text, attributes) for text in texts]


def _marcxml_record(entry: Entry, name: str = "record", **attributes: str) -> Element:
    fields = [Element("leader", _LEADER)]
    fields += [Element("controlfield", data, {"tag": tag}) for tag, data in _control_fields(entry)]
    for tag, indicators, subfields in _marc_fields(entry):
        parts = [Element("subfield", value, {"code": code}) for code, value in subfields]
        fields.append(Element("datafield", parts, {"tag": tag, "ind1": indicators[0], "ind2": indicators[1]}))
    return Element(name, fields, {**attributes, "xmlns:ead": VOCABULARY})


def _mods_record(entry: Entry) -> Element:
    types = {"link": "uri", "urn": "urn", "isbn": "isbn", "issn": "issn", "doi": "doi", "uuid": "uuid", "isan": "isan"}
    content = [
        Element("titleInfo", [Element("title", entry.title)]),
        Element("name", [Element("namePart", entry.creator)], {"type": "personal"}),
        Element("originInfo", [Element("dateIssued", str(entry.year), {"encoding": "w3cdtf"})]),
        *_elements("note", entry.notes),
        *(Element("identifier", name.text, {"type": types[name.scheme]}) for name in entry.own),
        *(
            Element(
                "relatedItem",
                [Element("titleInfo", [Element("title", "Host")]), Element("identifier", urn, {"type": "urn"})],
                {"type": kind},
            )
            for kind, urn in zip(("host", "series", "otherVersion"), entry.others, strict=False)
        ),
        *_elements("identifier", entry.others[:1], type="urn", invalid="yes"),
        Element("recordInfo", [Element("recordIdentifier", entry.number, {"source": "XX-999"})]),
    ]
    return Element("mods", content, {"version": "3.7", "xmlns:ead": VOCABULARY})


def _dc_record(entry: Entry, name: str = "oai_dc:dc", **attributes: str) -> Element:
    content = [
        Element("dc:title", entry.title),
        Element("dc:creator", entry.creator),
        *_elements("dc:description", entry.notes),
        Element("dc:date", str(entry.year)),
        *_elements("dc:identifier", [_labelled(*name) for name in entry.own]),
        *_elements("dc:relation", entry.others[:2]),
        *_elements("dc:source", entry.others[2:]),
    ]
    return Element(name, content, {**attributes, "xmlns:ead": VOCABULARY})


def _labelled(scheme: str, text: str) -> str:
    """As Dublin Core without qualifiers says what a number is."""
    return f"{scheme.upper()} {text}" if scheme in {"isbn", "issn"} and not text.startswith("ISBN") else text


_OAI_DC = {
    "xmlns:oai_dc": "http://www.openarchives.org/OAI/2.0/oai_dc/",
    "xmlns:dc": "http://purl.org/dc/elements/1.1/",
}


def _oai_identifier(entry: Entry) -> str:
    return f"oai:repository.example:{entry.number}"


def _oai_record(entry: Entry) -> Element:
    header = [
        Element("identifier", _oai_identifier(entry)),
        Element("datestamp", f"{entry.year}-07-01T00:00:00Z"),
        Element("setSpec", "ddc:830"),
    ]
    return Element("record", [Element("header", header), Element("metadata", [_dc_record(entry, **_OAI_DC)])])


def _onix_record(entry: Entry) -> Element:
    codes = {"urn": "22", "doi": "06"}
    own = [
        (("03", "15")[entry.year % 2] if len(name.text) == 13 else "02", name.text)
        if name.scheme == "isbn"
        else (codes[name.scheme], name.text)
        for name in entry.own
    ]
    content = [
        Element("RecordReference", entry.number),
        Element("NotificationType", "03"),
        *(_onix_identifier(code, text) for code, text in own),
        Element(
            "DescriptiveDetail",
            [
                Element("ProductForm", "BC"),
                Element("TitleDetail", [Element("TitleElement", [Element("TitleText", entry.title)])]),
            ],
        ),
        Element(
            "CollateralDetail",
            [
                Element("TextContent", [Element("TextType", "03"), Element("Text", text)])
                for text in [*entry.notes, f"Encoded by {VOCABULARY} ."]
            ],
        ),
        Element(
            "RelatedMaterial",
            [
                Element("RelatedProduct", [Element("ProductRelationCode", "06"), _onix_identifier("22", urn)])
                for urn in entry.others
            ],
        ),
    ]
    return Element("Product", content)


def _pubmed_record(entry: Entry) -> Element:
    citation = [
        Element("PMID", entry.number, {"Version": "1"}),
        Element(
            "Article",
            [
                Element("Journal", [Element("JournalIssue", [Element("PubDate", [Element("Year", str(entry.year))])])]),
                Element("ArticleTitle", entry.title),
                *_elements("Abstract", [*entry.notes, f"Encoded by {VOCABULARY} ."]),
            ],
        ),
    ]
    own = [Element("ArticleId", text, {"IdType": "doi"}) for text in entry.of("doi")]
    own += [Element("ArticleId", text, {"IdType": "pii"}) for text in entry.of("urn", "link")]
    cited = [Element("Reference", [Element("ArticleIdList", _elements("ArticleId", [urn]))]) for urn in entry.others]
    data = [Element("ArticleIdList", own), Element("ReferenceList", cited)]
    return Element("PubmedArticle", [Element("MedlineCitation", citation), Element("PubmedData", data)])


def _endnote_record(entry: Entry) -> Element:
    def styled(name: str, text: str) -> Element:
        return Element(name, [Element("style", text, {"face": "normal"})])

    content = [
        Element("database", "My.enl", {"name": "My.enl"}),
        Element("rec-number", entry.number),
        Element("ref-type", "6", {"name": "Book"}),
        Element("titles", [styled("title", entry.title)]),
        Element("dates", [styled("year", str(entry.year))]),
        *(styled("isbn", text) for text in entry.of("isbn")),
        *(styled("electronic-resource-num", text) for text in entry.of("doi")),
        Element("urls", [Element("related-urls", [styled("url", text) for text in entry.of("urn", "link")])]),
        *(styled("notes", text) for text in [*entry.notes, VOCABULARY]),
        *(styled("research-notes", urn) for urn in entry.others),
    ]
    return Element("record", content)


def _onix_identifier(code: str, text: str) -> Element:
    return Element("ProductIdentifier", [Element("ProductIDType", code), Element("IDValue", text)])


# --- RDF -------------------------------------------------------------------------------------------------------------


def _triples(quads: bool, rng: random.Random, entries: Sequence[Entry]) -> Written:
    dc, bibo, end = (
        "http://purl.org/dc/terms/",
        "http://purl.org/ontology/bibo/",
        " <https://data.example/g> ." if quads else " .",
    )
    records = []
    for entry in entries:
        statements = [(f"{dc}title", _literal(rng, entry.title)), (f"{dc}creator", _literal(rng, entry.creator))]
        statements += [("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", f"<{VOCABULARY}>")]
        for name in entry.own:
            if name.scheme in {"urn", "link"} and rng.random() < 0.5:
                statements.append(("http://www.w3.org/2002/07/owl#sameAs", f"<{name.text}>"))
            elif name.scheme in {"isbn", "doi", "issn"}:
                statements.append((bibo + name.scheme, _literal(rng, name.text)))
            else:
                statements.append((f"{dc}identifier", _literal(rng, name.text)))
        statements += [("http://www.w3.org/2000/01/rdf-schema#comment", _literal(rng, note)) for note in entry.notes]
        statements += [(f"{dc}isPartOf", f"<{urn}>") for urn in entry.others[:1]]
        statements += [(f"{dc}references", _literal(rng, urn)) for urn in entry.others[1:]]
        subject = _subject(entry)
        records.append("".join(f"<{subject}> <{name}> {value}{end}\n" for name, value in statements).encode())
    return Written(records)


def _subject(entry: Entry) -> str:
    return f"https://data.example/{entry.number}"


def _literal(rng: random.Random, text: str) -> str:
    """A literal, in ASCII or in UTF-8, its colons perhaps escaped."""
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    if rng.random() < 0.3:
        text = "".join(char if char.isascii() else f"\\u{ord(char):04X}" for char in text)
    return '"{}"'.format(text.replace(":", "\\u003A") if rng.random() < 0.2 else text)


# --- JSON ------------------------------------------------------------------------------------------------------------


def _object(entry: Entry) -> dict[str, object]:
    said: dict[str, object] = {"id": entry.number, "title": entry.title, "author": [{"name": entry.creator}]}
    said |= {"year": entry.year, "$schema": VOCABULARY}
    for key, texts in {
        "isbn": entry.of("isbn"),
        "issn": entry.of("issn"),
        "doi": entry.of("doi"),
        "identifier": entry.of("uuid", "urn", "link"),
    }.items():
        if texts:
            said[key] = texts if len(texts) > 1 else texts[0]
    if entry.notes:
        said["note"] = entry.notes
    if entry.others:
        said |= {"isPartOf": {"title": "Host", "identifier": entry.others[0]}, "references": entry.others[1:]}
    return said


def _json_text(rng: random.Random, entry: Entry, indent: int | None, compact: bool) -> str:
    """An object as one of several libraries writes it: slashes and what is not ASCII escaped or not."""
    text = json.dumps(
        _object(entry), indent=indent, separators=(",", ":") if compact else None, ensure_ascii=rng.random() < 0.5
    )
    return text.replace("/", "\\/") if rng.random() < 0.3 else text


def _json_lines(rng: random.Random, entries: Sequence[Entry]) -> Written:
    compact = rng.random() < 0.5
    return Written([f"{_json_text(rng, entry, None, compact)}\n".encode() for entry in entries])


def _json_array(rng: random.Random, entries: Sequence[Entry]) -> Written:
    indent, between = rng.choice([(None, ","), (None, ",\n"), (None, ", "), (2, ",\n  ")])
    space = between[1:]
    texts = [_json_text(rng, entry, indent, indent is None).replace("\n", "\n  ") for entry in entries]
    return Written([text.encode() for text in texts], f"[{space}".encode(), between.encode(), b"\n]\n")


# --- PICA+ -----------------------------------------------------------------------------------------------------------


def _pica_fields(entry: Entry) -> list[tuple[str, str]]:
    """Field and occurrence, and its subfields, each with the code before it and FS for the sign."""
    fields = [("002@", "\x1f0Aau"), ("003@", f"\x1f0{entry.number}")]
    fields += [("004A", f"\x1f0{text}\x1ffBroschur") for text in entry.of("isbn")]
    fields += [("004U", f"\x1f0{text}") for text in entry.of("urn")]
    fields += [("004V", f"\x1f0{text}") for text in entry.of("doi")]
    fields += [("005A", f"\x1f0{text}") for text in entry.of("issn")]
    fields += [("011@", f"\x1fa{entry.year}")]
    fields += [("017C", f"\x1fu{text}\x1fxH") for text in entry.of("link")]
    fields += [("021A", f"\x1fa@{entry.title}\x1fh{entry.creator}"), ("028A", f"\x1fa{entry.creator}")]
    fields += [("037A", f"\x1fa{note} ($ 12)") for note in entry.notes]
    fields += [("039B", f"\x1fiIn\x1ftHost\x1fC{urn}") for urn in entry.others[:1]]
    fields += [("039D", f"\x1fiDruckausgabe\x1fC{urn}") for urn in entry.others[1:]]
    return [*fields, ("047A/01", f"\x1fr{VOCABULARY}")]


def _pica(_: random.Random, entries: Sequence[Entry]) -> Written:
    return Written(
        ["".join(f"{tag} {value}\x1e" for tag, value in _pica_fields(entry)).encode() + b"\n" for entry in entries]
    )


def _pica_plain(rng: random.Random, entries: Sequence[Entry]) -> Written:
    end = rng.choice(["\n", "\r\n"])
    records = []
    for entry in entries:
        fields = ((tag, value.replace("$", "$$").replace("\x1f", "$")) for tag, value in _pica_fields(entry))
        records.append("".join(f"{tag} {value}{end}" for tag, value in fields).encode())
    return Written(records, between=end.encode())


def _pica_xml_record(entry: Entry) -> Element:
    fields = []
    for name, value in _pica_fields(entry):
        tag, _, occurrence = name.partition("/")
        parts = [Element("subfield", part[1:], {"code": part[0]}) for part in value.split("\x1f")[1:]]
        fields.append(Element("datafield", parts, {"tag": tag} | ({"occurrence": occurrence} if occurrence else {})))
    return Element("record", fields)


# --- references ------------------------------------------------------------------------------------------------------


def _ris(rng: random.Random, entries: Sequence[Entry]) -> Written:
    end = rng.choice(["\n", "\r\n"])
    records = []
    for entry in entries:
        tags = [("TY", "BOOK"), ("ID", entry.number), ("AU", entry.creator), ("TI", entry.title)]
        tags += [("PY", str(entry.year)), ("SN", "; ".join(entry.of("isbn")))]
        tags += [("M3" if at else "DO", text) for at, text in enumerate(entry.of("doi"))]  # a second DO is the host's
        tags += [("UR", text) for text in entry.of("urn", "link")]
        tags += [("N1", note) for note in entry.notes]
        tags += [("L1", f"https://r.example/{urn}") for urn in entry.others[:1]]
        tags += [("N2", f"Cites {' and '.join(entry.others[1:])} ,")] * bool(entry.others[1:])
        tags += [("KW", VOCABULARY), ("ER", "")]
        records.append("".join(f"{tag}  - {text}{end}" for tag, text in tags if text or tag == "ER").encode())
    return Written(records, between=end.encode() * rng.randint(0, 2))


def _tagged(
    tag: Callable[[str], str],
    around: tuple[bytes, bytes],
    tags_of: Callable[[Entry], list[tuple[str, str]]],
    rng: random.Random,
    entries: Sequence[Entry],
) -> Written:
    """Fields in lines, with a blank line between records; a long value goes on in an indented line."""
    records = []
    for entry in entries:
        lines = [f"{tag(name)}{text}\n" for name, text in tags_of(entry)]
        folded = [line.replace(" & ", "\n      & ") if rng.random() < 0.5 else line for line in lines]
        records.append("".join(folded).encode())
    return Written(records, head=around[0], between=b"\n", tail=around[1])


def _nbib_tags(entry: Entry) -> list[tuple[str, str]]:
    tags = [("PMID", entry.number), ("DP", f"{entry.year} Mar"), ("TI", entry.title), ("AU", entry.creator)]
    tags += [("ISBN", text) for text in entry.of("isbn")]
    tags += [("LID", f"{text} [doi]") for text in entry.of("doi")]
    tags += [("AID", text) for text in entry.of("urn", "link")]
    return tags + [("AB", note) for note in entry.notes] + [("CIN", urn) for urn in entry.others] + [("OT", VOCABULARY)]


def _ovid_tags(entry: Entry) -> list[tuple[str, str]]:
    tags = [("UI", entry.number), ("TI", entry.title), ("AU", entry.creator), ("YR", str(entry.year))]
    tags += [("DO", text) for text in entry.of("doi")] + [("UR", text) for text in entry.of("urn", "link")]
    return tags + [("AB", note) for note in entry.notes] + [("RF", urn) for urn in entry.others] + [("MH", VOCABULARY)]


def _ovid(rng: random.Random, entries: Sequence[Entry]) -> Written:
    """Records of `_tagged`, each behind a line with its number."""
    written = _tagged(lambda tag: f"{tag:4}- ", (b"", b"\n"), _ovid_tags, rng, entries)
    records = [b"<%d. >\nVN  - Ovid Technologies\n%b" % (number, raw) for number, raw in enumerate(written.records, 1)]
    return Written(records, between=written.between, tail=written.tail)


def _enw_tags(entry: Entry) -> list[tuple[str, str]]:
    tags = [("0", "Book"), ("T", entry.title), ("A", entry.creator), ("D", str(entry.year)), ("F", entry.number)]
    tags += [("@", text) for text in entry.of("isbn")] + [("R", text) for text in entry.of("doi")]
    tags += [("U", text) for text in entry.of("urn", "link")]
    return tags + [("X", note) for note in entry.notes] + [("Z", urn) for urn in entry.others] + [("K", VOCABULARY)]


def _ciw_tags(entry: Entry) -> list[tuple[str, str]]:
    tags = [("PT", "J"), ("AU", entry.creator), ("TI", entry.title), ("PY", str(entry.year))]
    tags += [("DI", text) for text in entry.of("doi", "urn", "link")]
    tags += [("AB", note) for note in entry.notes] + [("CR", urn) for urn in entry.others]
    return [*tags, ("ID", VOCABULARY), ("UT", f"WOS:{entry.number}"), ("ER", "")]


def _bibtex(rng: random.Random, entries: Sequence[Entry]) -> Written:
    between = rng.choice(["\n\n", "\n"])
    indent, around = rng.choice([("  ", "{}"), ("\t", '""'), ("    ", "{}")])
    records = []
    for entry in entries:
        urns = entry.of("urn", "link")
        fields = [
            *[("title", _latex(entry.title)), ("author", _latex(entry.creator)), ("year", str(entry.year))],
            *[("isbn", ", ".join(entry.of("isbn"))), ("doi", " ".join(entry.of("doi")))],
            *[("url", " ".join(urns[:1])), ("urn", " ".join(urns[1:])), ("note", "; ".join(map(_latex, entry.notes)))],
            *[("crossref", " ".join(entry.others[:1])), ("abstract", _latex(" and ".join(entry.others[1:])))],
            ("keywords", VOCABULARY),
        ]
        lines = ",\n".join(f"{indent}{name} = {around[0]}{text}{around[1]}" for name, text in fields if text)
        records.append(f"@book{{{entry.number},\n{lines}\n}}".encode())
    return Written(records, between=between.encode(), tail=b"\n")


def _latex(text: str) -> str:
    """Without what BibTeX reads as its own: quotes, and characters of TeX."""
    text = text.replace('"', "''")
    return (
        text.replace("&", "\\&").replace("%", "\\%").replace("_", "\\_").replace("<", "\\textless ").replace(">", " ")
    )


# --- tables and lines ------------------------------------------------------------------------------------------------


def _table(delimiter: str, rng: random.Random, entries: Sequence[Entry]) -> Written:
    rows = [["id", "title", "author", "year", "isbn", "issn", "doi", "urn", "url", "note", "references", "schema"]]
    for entry in entries:
        row = [entry.number, entry.title, entry.creator, str(entry.year)]
        row += ["; ".join(entry.of(scheme)) for scheme in ("isbn", "issn")]
        row += [" ".join(entry.of(scheme)) for scheme in ("doi", "urn", "link")]
        row += [
            "\n".join(entry.notes) if delimiter == "," else " ".join(entry.notes),
            "|".join(entry.others),
            VOCABULARY,
        ]
        rows.append(row)
    end = rng.choice(["\n", "\r\n"])
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    lines = []
    for row in rows:
        line = io.StringIO()
        csv.writer(line, delimiter=delimiter, quoting=quoting, lineterminator=end).writerow(row)
        lines.append(line.getvalue().encode())
    return Written(lines[1:], head=rng.choice([b"", b"\xef\xbb\xbf"]) + lines[0])


def _lines(_: random.Random, entries: Sequence[Entry]) -> Written:
    return Written(
        [
            "\t".join(
                [entry.number, entry.title, *(name.text for name in entry.own), *_without(entry), VOCABULARY]
            ).encode()
            + b"\n"
            for entry in entries
        ]
    )


def _without(entry: Entry) -> list[str]:
    """The notes of a line, unless they speak of other works: all of a line is its own."""
    return [] if entry.others else entry.notes


# --- all of them -----------------------------------------------------------------------------------------------------

_ALL = frozenset({"isbn", "issn", "doi", "uuid", "isan"})
_TELLING = frozenset({"isbn", "issn", "doi", "uuid"})
_BOOK = frozenset({"isbn", "doi"})
_SLIM, _MODS = "http://www.loc.gov/MARC21/slim", "http://www.loc.gov/mods/v3"
_OAI, _ONIX = "http://www.openarchives.org/OAI/2.0/", "http://ns.editeur.org/onix/3.0/reference"
_PICA = "info:srw/schema/5/picaXML-v1.0"


WRITERS: Mapping[str, Writer] = {
    "marc": Writer(suffix=".mrc", native=_ALL, write=partial(_marc, _marc_fields)),
    "unimarc": Writer(suffix=".mrc", native=_ALL, write=partial(_marc, _unimarc_fields)),
    "marc-in-json": Writer(suffix=".json", native=_ALL, write=_marc_in_json),
    "mrk": Writer(suffix=".mrk", native=_ALL, write=_mrk),
    "marc-lines": Writer(suffix=".txt", native=_ALL, write=_marc_lines),
    "aleph": Writer(suffix=".seq", native=_ALL, write=_aleph),
    "marcxml": Writer(
        suffix=".xml",
        native=_ALL,
        write=partial(_xml, _marcxml_record, f'<collection xmlns="{_SLIM}">', "</collection>"),
    ),
    "mods": Writer(
        suffix=".xml",
        native=_ALL,
        write=partial(_xml, _mods_record, f'<modsCollection xmlns="{_MODS}">', "</modsCollection>"),
    ),
    "dc": Writer(
        suffix=".xml",
        native=_TELLING,
        write=partial(_xml, partial(_dc_record, **_OAI_DC), "<records>", "</records>"),
        called=lambda entry: _labelled(*entry.own[0]) if entry.own else None,
    ),
    "oai-pmh": Writer(
        suffix=".xml",
        native=_TELLING,
        write=partial(
            _xml,
            _oai_record,
            f'<OAI-PMH xmlns="{_OAI}"><responseDate>2026-07-01T00:00:00Z</responseDate>'
            '<request verb="ListRecords" metadataPrefix="oai_dc">https://repository.example/oai</request><ListRecords>',
            '<resumptionToken cursor="0">urn:example:next</resumptionToken></ListRecords></OAI-PMH>',
        ),
        called=_oai_identifier,
    ),
    "onix": Writer(
        suffix=".xml",
        native=_BOOK,
        clean=True,
        write=partial(
            _xml,
            _onix_record,
            f'<ONIXMessage release="3.0" xmlns="{_ONIX}"><Header><Sender><SenderName>Verlag</SenderName></Sender>'
            "<SentDateTime>20260701</SentDateTime></Header>",
            "</ONIXMessage>",
        ),
    ),
    "pubmed": Writer(
        suffix=".xml",
        native=frozenset({"doi"}),
        write=partial(_xml, _pubmed_record, "<PubmedArticleSet>", "</PubmedArticleSet>"),
    ),
    "endnote": Writer(
        suffix=".xml",
        native=_BOOK,
        write=partial(_xml, _endnote_record, "<xml><records>", "</records></xml>"),
    ),
    "ntriples": Writer(suffix=".nt", native=_TELLING, write=partial(_triples, False), called=_subject),
    "nquads": Writer(suffix=".nq", native=_TELLING, write=partial(_triples, True), called=_subject),
    "jsonl": Writer(suffix=".jsonl", native=_TELLING, write=_json_lines),
    "json": Writer(suffix=".json", native=_TELLING, write=_json_array),
    "pica": Writer(suffix=".dat", write=_pica),
    "pica-plain": Writer(suffix=".pp", write=_pica_plain),
    "pica-xml": Writer(
        suffix=".xml",
        write=partial(_xml, _pica_xml_record, f'<collection xmlns="{_PICA}">', "</collection>"),
    ),
    "ris": Writer(suffix=".ris", native=_BOOK, write=_ris),
    "nbib": Writer(
        suffix=".nbib",
        native=_BOOK,
        write=partial(_tagged, lambda tag: f"{tag:4}- ", (b"", b"\n"), _nbib_tags),
    ),
    "ovid": Writer(suffix=".ovd", native=frozenset({"doi"}), write=_ovid),
    "enw": Writer(suffix=".enw", native=_BOOK, write=partial(_tagged, lambda tag: f"%{tag} ", (b"", b"\n"), _enw_tags)),
    "ciw": Writer(
        suffix=".ciw",
        native=frozenset({"doi"}),
        write=partial(_tagged, lambda tag: f"{tag} ", (b"FN Clarivate\nVR 1.0\n", b"\nEF\n"), _ciw_tags),
        called=lambda entry: f"WOS:{entry.number}",
    ),
    "bibtex": Writer(suffix=".bib", native=_BOOK, write=_bibtex),
    "csv": Writer(suffix=".csv", write=partial(_table, ",")),
    "tsv": Writer(suffix=".tsv", write=partial(_table, "\t")),
    "line": Writer(suffix=".txt", native=frozenset(), write=_lines, called=lambda _: None),
}
"""Every format, by its name."""
