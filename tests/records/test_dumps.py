"""The dumps that `tests.support.dumps` makes are what they should be: well-formed by readers that share nothing with the house's, and
clustered as they say by a few lines that are slow and plain.
"""

from __future__ import annotations

import csv
import functools
import io
import itertools
import json
import re
from collections import Counter

import lxml.etree
import pymarc
import pytest

import urnscan
from tests.support.dump_formats import VOCABULARY
from tests.support.dumps import FORMATS, make_dump
from urnscan.records.fields import Own
from urnscan.records.identifiers import as_text

WORKS = 40
PLACEHOLDERS = {"urn:isbn:9780000000002", "urn:uuid:00000000-0000-0000-0000-000000000000"}
XML = ("marcxml", "pica-xml", "mods", "dc", "oai-pmh", "onix", "pubmed", "endnote")
RECORD = {"marcxml": "record", "mods": "mods", "dc": "dc", "oai-pmh": "record", "onix": "Product"} | {
    "pubmed": "PubmedArticle",
    "endnote": "record",
    "pica-xml": "record",
}
PICA_OWN = {"004A": "isbn", "004U": "urn", "004V": "doi", "005A": "issn", "017C": ""}
both = pytest.mark.parametrize("fields", [False, True])
each = pytest.mark.parametrize("format_name", FORMATS)


@functools.cache  # most tests look at the same dumps
def made(format_name, fields, seed=1):
    return make_dump(format_name, seed, WORKS, fields=fields)


# --- readers: for each record all of its values, and those in its own fields, each with its scheme --------------------


def of_marc(record):
    values, own = [], []
    for field in record.fields:
        parts = [] if field.is_control_field() else field.subfields
        values += [part.value for part in parts]
        first, second = ("", "") if not parts else field.indicators
        for part in parts:
            if (field.tag, part.code) in {("020", "a"), ("022", "a")}:
                own.append((part.value, {"020": "isbn", "022": "issn"}[field.tag]))
            elif (field.tag, first, part.code) == ("024", "7", "a"):
                own.append((part.value, field["2"]))
            elif (field.tag, second, part.code) == ("856", "0", "u"):
                own.append((part.value, ""))
    return values, own


def of_unimarc(record):
    fields = [field for field in record.fields if not field.is_control_field()]
    own = {"010": "isbn", "011": "issn", "856": ""}
    found = [(field["a" if field.tag < "8" else "u"], own[field.tag]) for field in fields if field.tag in own]
    found += [(field["a"], field["2"]) for field in fields if field.tag == "017"]
    return [part.value for field in fields for part in field.subfields], found


def unimarc(content):
    return [of_unimarc(record) for record in pymarc.MARCReader(content, utf8_handling="strict")]


def marc(content):
    return [of_marc(record) for record in pymarc.MARCReader(content, utf8_handling="strict")]


def marcxml(content):
    return [of_marc(record) for record in pymarc.parse_xml_to_array(io.BytesIO(content), strict=True)]


def local(node):
    return lxml.etree.QName(node).localname


def xml(format_name):
    def read(content):
        root = lxml.etree.fromstring(content)
        records = list(root.iter("{*}" + RECORD[format_name]))
        return [
            ([node.text or "" for node in record.iter() if len(node) == 0], own_of[format_name](record))
            for record in records
        ]

    def mods(record):
        found = record.findall("{*}identifier")
        return [(node.text, node.get("type")) for node in found if node.get("invalid") is None]

    def dc(record):
        return [(node.text, "") for node in record.iter("{http://purl.org/dc/elements/1.1/}identifier")]

    def onix(record):
        schemes = {"02": "isbn", "15": "isbn", "03": "ean", "06": "doi", "22": "urn"}
        found = record.findall("{*}ProductIdentifier")
        return [(node.findtext("{*}IDValue"), schemes[node.findtext("{*}ProductIDType")]) for node in found]

    def pubmed(record):
        found = record.findall("PubmedData/ArticleIdList/ArticleId")
        return [(node.text, node.get("IdType").removeprefix("pii")) for node in found]

    def endnote(record):
        schemes = {"isbn": "isbn", "electronic-resource-num": "doi", "url": ""}
        return [("".join(node.itertext()), schemes[node.tag]) for node in record.iter(*schemes)]

    def pica_xml(record):
        return [(field[0].text, PICA_OWN[field.get("tag")]) for field in record if field.get("tag") in PICA_OWN]

    own_of = {
        "pica-xml": pica_xml,
        "mods": mods,
        "dc": dc,
        "oai-pmh": dc,
        "onix": onix,
        "pubmed": pubmed,
        "endnote": endnote,
    }
    return read


def triples(content):
    own = {"isbn": "isbn", "issn": "issn", "doi": "doi", "identifier": "", "sameAs": ""}
    by_subject = {}
    for line in content.decode().splitlines():
        said = re.fullmatch(r'<(\S+)> <\S+[/#](\w+)> (?:<(\S+)>|("(?:[^"\\]|\\.)*"))(?: <\S+>)? \.', line)
        subject, name, iri, literal = said.groups()
        value = iri or json.loads(literal)
        values, owned = by_subject.setdefault(subject, ([], []))
        values.append(value)
        owned += [(value, own[name])] if name in own else []
    return list(by_subject.values())


def of_object(said):
    def flat(value):
        if isinstance(value, dict | list):
            for inner in value.values() if isinstance(value, dict) else value:
                yield from flat(inner)
        else:
            yield str(value)

    own = {"isbn": "isbn", "issn": "issn", "doi": "doi", "identifier": ""}
    return list(flat(said)), [(text, own[key]) for key in said if key in own for text in flat(said[key])]


def pica(sign, field_end, record_end):
    def read(content):
        for record in content.decode().replace("\r\n", "\n").strip("\n").split(record_end):
            values, owned = [], []
            for field in filter(None, record.split(field_end)):
                tag, _, rest = field.partition(" ")
                parts = re.findall(f"{re.escape(sign)}([0-9A-Za-z])((?:[^{sign}]|{re.escape(sign * 2)})*)", rest)
                texts = [text.replace(sign * 2, sign) for _, text in parts]
                values += texts
                owned += [(texts[0], PICA_OWN[tag])] if tag in PICA_OWN else []
            yield values, owned

    return read


def ris(content):
    own = {"SN": "isbn", "DO": "doi", "M3": "doi", "UR": ""}
    for record in content.decode().replace("\r\n", "\n").split("ER  - \n")[:-1]:
        lines = [(line[:2], line[6:]) for line in record.strip().split("\n")]
        assert lines[0][0] == "TY"
        yield [text for _, text in lines], [(text, own[tag]) for tag, text in lines if tag in own]


def tagged(line, own, end="\n\n"):
    """`line`: pattern of a line with a tag, and its value."""

    def read(content):
        for record in re.split(rf"{end}(?=\S)", content.decode()):
            pairs = re.findall(line, record.replace("\n      ", " "), re.MULTILINE)
            yield (
                [text for _, text in pairs],
                [(re.sub(r" \[doi\]$", "", text), own[tag]) for tag, text in pairs if tag in own],
            )

    return read


def marc_lines(head, sign):
    """`head`: pattern of what stands before the subfields: the tag, and indicators."""

    def read(content):
        for record in re.split(r"\n\n|(?<=\n)(?=[0-9]{9} FMT)", content.decode().strip("\n")):
            values, own = [], []
            for line in record.strip("\n").split("\n"):
                if not (match := re.match(head, line)) or match[1] < "010" or match[1] > "999":
                    continue
                first, second = match[2]
                _, *parts = re.split(sign, line[match.end() :])
                held = [*zip(parts[::2], parts[1::2], strict=True)]
                values += [value for _, value in held]
                if match[1] in ("020", "022"):
                    own.append((dict(held)["a"], {"020": "isbn", "022": "issn"}[match[1]]))
                elif (match[1], first) == ("024", "7"):
                    own.append((dict(held)["a"], dict(held)["2"]))
                elif (match[1], second) == ("856", "0"):
                    own.append((dict(held)["u"], ""))
            yield values, own

    return read


def bibtex(content):
    own = {"isbn": "isbn", "doi": "doi", "url": "", "urn": ""}
    for record in re.split(r"\n\}\n+", content.decode())[:-1]:
        first, *lines = record.split("\n")
        assert re.fullmatch(r"@book\{\w+,", first)
        pairs = [re.fullmatch(r'\s+(\w+) = [{"](.*)[}"],?', line).groups() for line in lines]
        pairs = [(name, re.sub(r"\\([%&_])", r"\1", value)) for name, value in pairs]
        yield [value for _, value in pairs], [(value, own[name]) for name, value in pairs if name in own]


def table(delimiter):
    own = {"isbn": "isbn", "issn": "issn", "doi": "doi", "urn": "", "url": ""}

    def read(content):
        rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter, strict=True)
        for row in rows:
            yield list(row.values()), [(row[name], scheme) for name, scheme in own.items() if row[name]]

    return read


def line(content):
    for text in content.decode().splitlines():
        yield [text], [(text, "")]


READERS = {
    "marc": marc,
    "unimarc": unimarc,
    "marc-in-json": lambda content: [of_marc(record) for record in pymarc.parse_json_to_array(io.BytesIO(content))],
    "mrk": lambda content: [of_marc(record) for record in pymarc.MARCMakerReader(content.decode())],
    "marc-lines": marc_lines(r"(\w{3}) (..)(?= \$)", r" \$(.) "),
    "aleph": marc_lines(r"\d{9} (\w{3})(..) L ", r"\$\$(.)"),
    "nbib": tagged(r"^([A-Z]+) *- (.*)", {"ISBN": "isbn", "LID": "doi", "AID": ""}),
    "ovid": tagged(r"^([A-Z]+) *- (.*)", {"DO": "doi", "UR": ""}),
    "enw": tagged(r"^%(\S) (.*)", {"@": "isbn", "R": "doi", "U": ""}),
    "ciw": lambda content: tagged(r"^([A-Z]{2}) (.*)", {"DI": "doi"}, "ER \n\n")(content.removesuffix(b"\nEF\n")),
    "marcxml": marcxml,
    "ntriples": triples,
    "nquads": triples,
    "ris": ris,
    "bibtex": bibtex,
    **{name: xml(name) for name in XML if name != "marcxml"},
    "jsonl": lambda content: [of_object(json.loads(text)) for text in content.splitlines()],
    "json": lambda content: [of_object(said) for said in json.loads(content)],
    "pica": pica("\x1f", "\x1e", "\n"),
    "pica-plain": pica("$", "\n", "\n\n"),
    "csv": table(","),
    "tsv": table("\t"),
    "line": line,
}


# --- what is true of them ---------------------------------------------------------------------------------------------


def urns_in(texts):
    """The canonical forms of the URNs in several texts; a line end ends each."""
    return {found.urn for found in urnscan.find("\n".join(filter(None, texts)), equivalence="namespace")}


def classes(dump, fields):
    """Of each record the classes of URNs that join, by the plain rule."""
    found = []
    for values, own in READERS[dump.format](dump.data):
        texts = [as_text(Own(*name)) for name in own] if fields else values
        found.append({urn for urn in urns_in(texts) - PLACEHOLDERS if urn.split(":")[1] not in dump.weak})
    sizes = Counter(urn for urns in found for urn in urns)
    return [{urn for urn in urns if sizes[urn] <= dump.max_class} for urns in found]


def joined(found):
    """The first record of the cluster of each."""
    cluster = list(range(len(found)))
    first = {}
    for at, urns in enumerate(found):
        for urn in urns:
            one, other = cluster[at], cluster[first.setdefault(urn, at)]
            cluster = [min(one, other) if number in (one, other) else number for number in cluster]
    return cluster


def partition(clusters):
    """Clusters called by the first record of each."""
    return [clusters.index(cluster) for cluster in clusters]


@pytest.mark.full
@both
@each
def test_an_independent_reader_finds_the_clusters(format_name, fields):
    """The truth follows from the bytes: by another reader of the format, the namespaces' equality and no cleverness."""
    for seed in (1, 2):
        dump = made(format_name, fields, seed)
        assert partition(joined(classes(dump, fields))) == partition(dump.clusters)


@pytest.mark.full
@both
@each
def test_parts_make_up_the_dump(format_name, fields):
    """Records stand in the bytes from front to back, and what is between them parts them only."""
    dump = made(format_name, fields)
    assert len(dump.records) == len(dump.clusters) == len(dump.identifiers)
    at, between = 0, []
    for record in dump.records:
        start = dump.data.index(record, at)
        between.append(dump.data[at:start])
        at = start + len(record)
    head, rest = between[0], dump.data[at:]
    assert len(set(between[1:])) == 1
    assert not between[1].strip(b" \r\n,")
    assert VOCABULARY.encode() in dump.data
    if format_name in {
        "marc",
        "unimarc",
        "pica",
        "pica-plain",
        "ris",
        "nbib",
        "enw",
        "mrk",
        "aleph",
        "line",
        "ntriples",
        "nquads",
        "jsonl",
        "bibtex",
    }:
        assert not head.strip()
        assert not rest.strip()


@pytest.mark.full
@both
@pytest.mark.parametrize("format_name", XML)
def test_xml_is_well_formed(format_name, fields):
    """By libxml2, pretty or compact, with a prefix or without."""
    ways = set()
    for seed in range(12):
        dump = make_dump(format_name, seed, 12, fields=fields)
        root = lxml.etree.fromstring(dump.data)
        assert len(list(root.iter("{*}" + RECORD[format_name]))) == len(dump.records)
        ways.add((b"\n" in dump.records[0], dump.records[0].startswith(b"<p:")))
    assert len(ways) >= (2 if format_name in {"dc", "pubmed", "endnote"} else 3)


@both
def test_pymarc_reads_iso_2709(fields):
    """With the numbers in 001, and each record as long as its leader says."""
    dump = made("marc", fields)
    records = list(pymarc.MARCReader(dump.data))
    assert [record["001"].data for record in records] == dump.identifiers
    assert [len(record) for record in dump.records] == [int(record[:5]) for record in dump.records]


@pytest.mark.full
@each
def test_what_misleads_is_there(format_name):
    """Each of the decoys: without it a careless rule would pass."""
    dump = made(format_name, False)
    found = [urns_in(values) for values, _ in READERS[format_name](dump.data)]
    works = {}
    for urns, work in zip(found, dump.clusters, strict=True):
        for urn in urns:
            works.setdefault(urn, []).append(work)
    shared = {urn for urn, those in works.items() if len(set(those)) > 1}
    often = {urn for urn, those in works.items() if len(those) > dump.max_class}
    assert {urn.split(":")[1] for urn in shared - often} == {"issn"}
    assert often >= PLACEHOLDERS
    alone = [urns for urns in found if not urns - often]
    assert alone
    sizes = Counter(dump.clusters)
    assert 3 <= max(sizes.values()) <= dump.max_class
    twins = [
        (one, other)
        for one, other in itertools.combinations(works, 2)
        if len(one) == len(other) and 0 < sum(map(str.__ne__, one, other)) <= 2
    ]
    assert len({one.split(":")[1] for one, _ in twins}) >= 3
    assert all(namespaces_valid(urn) is not False for twin in twins for urn in twin)


def namespaces_valid(urn):
    return urnscan.urn.namespaces.judge(urn).valid


@pytest.mark.full
@each
def test_other_works_are_named_apart(format_name):
    """With `fields` all URNs together would join different works: only the own fields tell."""
    dump = made(format_name, True)
    if format_name != "line":
        assert partition(joined(classes(dump, False))) != partition(dump.clusters)


@pytest.mark.full
@each
def test_a_seed_is_a_dump(format_name):
    """The same bytes each time, others for another seed."""
    assert make_dump(format_name, 1, WORKS, fields=True) == made(format_name, True)
    assert made(format_name, True).data != made(format_name, True, 2).data


def test_spellings():
    """URNs of one class come in many: the case of URN, NID, prefix and digits, hyphens, both forms of an ISBN, links."""
    content = b"".join(made(*kind, seed).data for kind in (("line", False), ("marc", True)) for seed in range(8))
    for pattern in (
        *[rb"urn:isbn:97[89]-", rb"URN:ISBN:97[89]\d{10}", rb"(?i:urn:isbn):\d{9}[\dX]\b", rb"(?i:urn:isbn):[\d-]+x\b"],
        *[rb"https://nbn-resolving\.org/", rb"http://urn\.fi/", rb"%2c", rb"%2C", rb"urn:nbn:DE:", rb"doi\.org/10"],
        *[rb"urn:uuid:[0-9A-F-]{36}", rb"urn:uuid:[0-9a-f-]{36}", rb"97[89][\d-]+ \(", rb"\d{9}[\dX] kart\."],
    ):
        assert re.search(pattern, content), pattern
