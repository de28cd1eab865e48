"""The registry of the formats of dumps, and how one is told from the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from urnscan.framing.buffer import HEAD, Buffer
from urnscan.records.bibtex import BibtexRecords, is_bibtex
from urnscan.records.json_records import JsonArrayRecords, JsonLineRecords, is_json_array, is_json_lines
from urnscan.records.lines import LineRecords
from urnscan.records.marc import MarcRecords, is_marc
from urnscan.records.markup import (
    MarkupRecords,
    is_dublin_core,
    is_marcxml,
    is_mods,
    is_oai_pmh,
    is_onix,
    is_sru,
)
from urnscan.records.pica import PicaRecords, is_pica_normalised, is_pica_plain
from urnscan.records.record import RecordReader
from urnscan.records.separated import SeparatedRecords, is_separated
from urnscan.records.tagged import RisRecords, is_ris
from urnscan.records.triples import TripleRecords, is_triples

__all__ = ["FORMATS", "Format", "recognise"]

_TELLING = 1 << 12  # octets by which most dumps are known


class _Open(Protocol):
    def __call__(self, *, own: bool) -> RecordReader: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A way in which records are kept."""

    name: str
    title: str
    open: _Open
    """The reader for one dump; `own`: only identifiers of the records themselves are asked for."""
    recognise: Callable[[bytes, str], bool | None] = lambda _head, _name: False
    """Whether a dump of that file name, lower case, that begins with these octets has the format; None where more of
    them are needed to tell."""
    separator: bytes = b""
    """What stands between two records, besides white space, and not behind the last."""
    framed: bool = False
    """Whether something stands around the records, so that two dumps, one behind the other, are none."""
    line_ends: int = 1
    """How many of them, at least, stand between the last record of a dump and another dump behind it."""
    keyed: bool = False
    """Whether two records with the same identifier in one dump are parts of one record."""


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        format_.name: format_
        for format_ in (
            Format(name="marc", title="MARC 21 (ISO 2709)", open=MarcRecords, recognise=is_marc, line_ends=0),
            Format(name="marcxml", title="MARCXML", open=MarkupRecords, recognise=is_marcxml, framed=True),
            Format(name="mods", title="MODS", open=MarkupRecords, recognise=is_mods, framed=True),
            Format(name="dc", title="Dublin Core", open=MarkupRecords, recognise=is_dublin_core, framed=True),
            Format(name="oai", title="OAI-PMH", open=MarkupRecords, recognise=is_oai_pmh, framed=True),
            Format(name="sru", title="SRU", open=MarkupRecords, recognise=is_sru, framed=True),
            Format(name="onix", title="ONIX", open=MarkupRecords, recognise=is_onix, framed=True),
            Format(
                name="json",
                title="JSON array",
                open=JsonArrayRecords,
                recognise=is_json_array,
                separator=b",",
                framed=True,
            ),
            Format(name="jsonl", title="JSON Lines", open=JsonLineRecords, recognise=is_json_lines),
            Format(name="pica", title="PICA+ (normalised)", open=PicaRecords, recognise=is_pica_normalised),
            Format(name="pica-plain", title="PICA+ (plain)", open=PicaRecords, recognise=is_pica_plain, line_ends=2),
            Format(  # framed: a blank node means something in one dump alone
                name="ntriples",
                title="N-Triples or N-Quads",
                open=TripleRecords,
                recognise=is_triples,
                framed=True,
                keyed=True,
            ),
            Format(name="ris", title="RIS", open=RisRecords, recognise=is_ris),
            Format(name="bibtex", title="BibTeX", open=BibtexRecords, recognise=is_bibtex),
            Format(name="csv", title="CSV or TSV", open=SeparatedRecords, recognise=is_separated, framed=True),
            Format(name="line", title="lines", open=LineRecords),
        )
    }
)
"""Every format by the name that `--record` knows it by, in the order in which they are asked; lines only when named."""


def recognise(buffer: Buffer, name: str) -> Format | None:
    """The format of the dump of this file name that a buffer gives; None for none. Takes nothing from it."""
    count = _TELLING
    while True:
        more = buffer.has(count)
        head = buffer.octets[buffer.at : buffer.at + count]
        unsure = False
        for format_ in FORMATS.values():
            known = format_.recognise(head, name.lower())
            if known:
                return format_
            unsure |= known is None
        if not (more and unsure and count < HEAD):
            return None
        count = HEAD
