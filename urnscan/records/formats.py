"""The registry of the formats of dumps, and how one is told from the others; XML formats differ only in `xml_kinds`.

Tables say what the fields of a format mean: `fields.toml`, `keys.toml` and `descriptions.toml`. The command's help lists
the names of formats again (`cli/dedup_command.py`), as these modules load slowly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from types import MappingProxyType

from urnscan.framing.buffer import HEAD, Buffer
from urnscan.records.bibtex import BibtexRecords, is_bibtex
from urnscan.records.decoded_text import decoded
from urnscan.records.description import NOTHING, Description, unpack
from urnscan.records.json_records import JsonArrayRecords, JsonLineRecords, is_json_array, is_json_lines, show_json
from urnscan.records.lines import LineRecords
from urnscan.records.marc import MarcRecords, is_marc, show_marc
from urnscan.records.marc_lines import AlephRecords, MarcEditRecords, YazRecords, is_aleph, is_marc_edit, is_yaz
from urnscan.records.marc_octets import unpack_marc
from urnscan.records.pica import PicaRecords, is_pica_normalised, is_pica_plain, show_pica
from urnscan.records.record import RecordReader
from urnscan.records.separated import SeparatedRecords, is_separated
from urnscan.records.tagged import (
    EndNoteRecords,
    MedlineRecords,
    RisRecords,
    WebOfScienceRecords,
    is_endnote,
    is_medline,
    is_ris,
    is_web_of_science,
)
from urnscan.records.triples import TO_TRIPLES, TripleRecords, is_other_rdf, is_triples
from urnscan.records.xml_records import XmlRecords, is_kind, show_xml

_TELLING = 1 << 12  # octets that tell the format of most dumps


@dataclass(frozen=True, slots=True)
class Format:
    """A format of dumps."""

    name: str
    title: str
    open: Callable[..., RecordReader]
    """Class of the reader of one dump."""
    recognise: Callable[[bytes, str], bool | None] = lambda _head, _name: False
    """Whether a dump with these first octets and this file name, lower case, has the format; None: more are needed."""
    separator: bytes = b""
    """Octets between two records, besides white space, and not behind the last."""
    framed: bool = False
    """Whether something stands around the records, so that two dumps, one behind the other, do not make one."""
    line_ends: int = 1
    """Number of line ends, at least, between the last record of a dump and another dump behind it."""
    keyed: bool = False
    """Whether two records with the same identifier in one dump are parts of one record."""
    numbered: bool = True
    """Whether the name of a record is a number of the record itself; in Dublin Core it is any identifier of the thing."""
    has_fields: bool = True
    """Whether a record has fields, so that it can have keys other than URNs."""
    recipe: str = ""
    """How to make a dump that is read of one in this format, which is recognised and not read; empty if it is read."""
    in_columns: bool = False
    """Whether compiled code takes nearly all records apart: then a process that reads some of them saves nothing."""
    show: Callable[[bytes], str] = decoded
    """Function that shows a record to a person; it never raises."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Suffixes of names that programs take for this format, lower case."""
        return (".xml",) if self.open is XmlRecords else _SUFFIXES.get(self.name, ())


_SUFFIXES = {
    "marc": (".mrc", ".marc"),
    "mrk": (".mrk",),
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "ntriples": (".nt", ".nq"),
    "rdf": (".rdf", ".ttl", ".xml"),
    "ris": (".ris",),
    "nbib": (".nbib",),
    "enw": (".enw",),
    "ciw": (".ciw",),
    "bibtex": (".bib",),
    "csv": (".csv", ".tsv"),
}
SUFFIXES = frozenset({".xml"}.union(*_SUFFIXES.values()))
"""Suffixes of names that programs take for one format or another."""


_FORMATS = (
    Format("marc", "MARC (ISO 2709)", MarcRecords, is_marc, line_ends=0, in_columns=True, show=show_marc),
    Format("marcxml", "MARCXML", XmlRecords, partial(is_kind, "marcxml"), framed=True, in_columns=True, show=show_xml),
    Format("mrk", "MARC in lines (MarcEdit)", MarcEditRecords, is_marc_edit, line_ends=2, show=MarcEditRecords.show),
    Format("marc-lines", "MARC in lines (yaz-marcdump)", YazRecords, is_yaz, line_ends=2, show=YazRecords.show),
    # The last record of one dump and the first of another may have the same number.
    Format("aleph", "Aleph Sequential", AlephRecords, is_aleph, framed=True, show=AlephRecords.show),
    Format("mods", "MODS", XmlRecords, partial(is_kind, "mods"), framed=True),
    Format("dc", "Dublin Core", XmlRecords, partial(is_kind, "dc"), framed=True, numbered=False),
    Format("oai", "OAI-PMH", XmlRecords, partial(is_kind, "oai"), framed=True, show=show_xml),
    Format("sru", "SRU", XmlRecords, partial(is_kind, "sru"), framed=True, show=show_xml),
    Format("onix", "ONIX", XmlRecords, partial(is_kind, "onix"), framed=True),
    Format("pubmed", "PubMed (XML)", XmlRecords, partial(is_kind, "pubmed"), framed=True),
    Format("endnote", "EndNote (XML)", XmlRecords, partial(is_kind, "endnote"), framed=True),
    Format("json", "JSON array", JsonArrayRecords, is_json_array, separator=b",", framed=True, show=show_json),
    Format("jsonl", "JSON Lines", JsonLineRecords, is_json_lines, show=show_json),
    Format("pica", "PICA+ (normalised)", PicaRecords, is_pica_normalised, show=show_pica),
    Format("pica-plain", "PICA+ (plain)", PicaRecords, is_pica_plain, line_ends=2),
    # A blank node has a meaning in one dump only, so two dumps do not make one.
    Format("ntriples", "N-Triples or N-Quads", TripleRecords, is_triples, framed=True, keyed=True, numbered=False),
    Format("rdf", "RDF/XML, Turtle or TriG", RecordReader, is_other_rdf, recipe=TO_TRIPLES),
    Format("ris", "RIS", RisRecords, is_ris),
    Format("nbib", "PubMed (MEDLINE)", MedlineRecords, is_medline, line_ends=2),
    Format("enw", "EndNote (import format)", EndNoteRecords, is_endnote, line_ends=2),
    Format("ciw", "Web of Science (field tagged)", WebOfScienceRecords, is_web_of_science, framed=True),
    Format("bibtex", "BibTeX", BibtexRecords, is_bibtex),
    Format("csv", "CSV or TSV", SeparatedRecords, is_separated, framed=True),
    Format("line", "lines", LineRecords, has_fields=False),
)
FORMATS: Mapping[str, Format] = MappingProxyType({each.name: each for each in _FORMATS if not each.recipe})
"""Formats that are read, by the names that `--record` takes, in the order in which they are asked; lines only if named."""


_TRACES = {
    "marc": rb"\x1e\x1d",
    "pica": rb"[0-9]{3}[A-Z@][ /][^\x1e\n]{0,9}\x1f",
    "ris": rb"(?m:^)[A-Z][A-Z0-9]  - ",
    "mrk": rb"(?m:^)=[0-9]{3}  ",
    "aleph": rb"(?m:^)[0-9]{9} [0-9A-Z]{3}[0-9A-Za-z^ ]{2} [A-Z ] ",
    "bibtex": rb"(?m:^)[ \t]*+@[A-Za-z]++[ \t]*+[{(]",
}
"""Octets that a dump of a format has, and hardly any other text: the first that is found tells the likely format."""


@lru_cache(maxsize=1 << 12)  # of duplicates, many are copies
def description_of(packed: bytes) -> Description:
    """Read the packed description of a record."""
    if not packed:
        return NOTHING
    return unpack_marc(packed) or unpack(packed)


def recognise(buffer: Buffer, name: str) -> Format | None:
    """Find the format of the dump with this file name that a buffer gives. Takes nothing from the buffer."""
    count = _TELLING
    while True:
        more = buffer.has(count)
        head = buffer.octets[buffer.at : buffer.at + count]
        unsure = False
        for format_ in _FORMATS:
            known = format_.recognise(head, name.lower())
            if known:
                return format_
            unsure |= known is None
        if not (more and unsure and count < HEAD):
            return None
        count = HEAD


def likely(head: bytes) -> Format | None:
    """The format whose traces are in a dump that is not recognised, for a message; None if there are none."""
    return next((FORMATS[name] for name, trace in _TRACES.items() if re.search(trace, head)), None)
