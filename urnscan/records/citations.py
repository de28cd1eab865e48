"""Formats of references in lines with tags: RIS, PubMed, Ovid, EndNote, Web of Science (`tagged` reads them).

* RIS (RIS Format Specifications, Research Information Systems, 2001; the tags by type of reference, 2011): from a line
  with TY to a line with ER. After the two characters of a tag come two spaces, a hyphen and a space; some programs
  leave out the last space before a line end, or write a tab. If a dump has no TY at all, a record begins with any tag.
* MEDLINE, the format of PubMed: from `PMID- ` up to the next `PMID- `. ERIC begins records with `OWN - ERIC`.
* The tagged format of Ovid: from a line with a number, `<1. >`, up to the next line with a number.
* The import format of EndNote and Refer: from `%0 ` up to the next `%0 `.
* The field tagged format of Web of Science: from PT to ER. FN and VR come before the records, EF after them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from urnscan.framing.buffer import HEAD, MARK
from urnscan.records.format import Format
from urnscan.records.tagged import LINE_END, Layout, TaggedRecords, begins_with

# End of a tag.
_END = rb"(?=[ \t\r\n]|\Z)"
_RIS = rb"[ \t] ?-" + _END
# With one space, TY and ER are also words of a text: `ER - positive`.
_TY = rb"TY(?:(?:  |\t)-" + _END + rb"| - [A-Z]{3,8}[ \t]*+(?=[\r\n]|\Z))"
_ER = rb"ER(?:(?:  |\t)-" + _END + rb"| -[ \t]*+(?=[\r\n]|\Z))"
_TAG = rb"[A-Z][A-Z0-9]"
# Ovid writes several identifiers of an article into ID.
_RIS_ONCE = (("ID", "TI"), ("ID", "T1"))
_RIS_INSIDE = (
    rb"TY  - (?:BOOK|CHAP|CONF|CPAPER|EBOOK|ECHAP|EDBOOK|EJOUR|ELEC|GEN|JFULL|JOUR|MGZN|NEWS|RPRT|SER|THES)"
    rb"[ \t]*+[\r\n]"
)
# Ovid writes the short name of the journal after ER, then a link: "NL  - J Lamps".
_RIS_LAYOUT = Layout(
    begins="TY",
    first=_TY,
    ends="ER",
    last=_ER,
    tag=_TAG,
    after=_RIS,
    around=rb"NL" + _RIS,
    names=("ID", "AN"),
    once=_RIS_ONCE,
    inside=_RIS_INSIDE,
)


class RisRecords(TaggedRecords):
    """Reader of RIS dumps. A record is from a line with the tag TY to a line with ER; in a dump without TY, from any
    tag. Its ID is in ID or else in AN.
    """

    table = described_by = "ris"
    """Name of the tables with the fields of the format."""
    layout = replace(
        _RIS_LAYOUT,
        untyped=replace(
            _RIS_LAYOUT,
            begins="record",
            first=rb"(?!ER)" + _TAG + _RIS,
            # A blank line before a tag shows that the record before it has lost its ER.
            following=rb"(?:" + _TY + rb"|(?>(?:[ \t]*+" + LINE_END + rb"){1,16})" + _TAG + _RIS + rb")",
        ),
    )


class MedlineRecords(TaggedRecords):
    """Reader of dumps in MEDLINE, the format of PubMed. A record begins with the tag PMID (in ERIC, OWN); its ID is in
    PMID or else in OID.
    """

    table = described_by = "nbib"
    """Name of the tables with the fields of the format."""
    layout = Layout(
        begins="PMID",
        first=rb"(?:PMID *-[ \t]|OWN *-[ \t]ERIC)",
        tag=rb"[A-Z][A-Z0-9]{1,3}",
        after=rb"[ \t]{0,2}-" + _END,
        names=("PMID", "OID"),
        inside=rb"PMID- [0-9]{1,9}[ \t]*+[\r\n]",
    )


class OvidRecords(TaggedRecords):
    """Reader of dumps in the tagged format of Ovid. A record begins with a line such as `<1. >`; its ID is in UI or
    else in AN.
    """

    table = described_by = "ovid"
    """Name of the tables with the fields of the format."""
    layout = Layout(
        begins="a number in angle brackets",
        first=rb"<[0-9]{1,9}\. ?>[ \t]*+(?=[\r\n])",
        tag=_TAG,
        after=rb"  -" + _END,
        names=("UI", "AN"),
        once=(("UI", "TI"),),
    )


class EndNoteRecords(TaggedRecords):
    """Reader of dumps in the import format of EndNote. A record begins with the tag %0; its ID is in %F or else in
    %M.
    """

    table = described_by = "enw"
    """Name of the tables with the fields of the format."""
    layout = Layout(
        begins="%0",
        first=rb"%0[ \t]",
        inside=rb"%0 [A-Z][a-z]+(?: [A-Z][a-z]+)?[ \t]*+[\r\n]",
        before=b"%",
        tag=rb"[!-~]",
        after=_END,
        names=("F", "M"),
    )


class WebOfScienceRecords(TaggedRecords):
    """Reader of dumps in the field tagged format of Web of Science. A record is from the tag PT to ER; its ID is in UT."""

    table = described_by = "ciw"
    """Name of the tables with the fields of the format."""
    layout = Layout(
        begins="PT",
        first=rb"PT [A-Z]" + _END,
        ends="ER",
        last=rb"ER" + _END,
        tag=_TAG,
        after=_END,
        around=rb"(?:FN|VR|EF)" + _END,
        names=("UT",),
        once=(("UT",),),
        # Only AU or BA follow PT.
        inside=rb"PT [BJPS]\n(?:AU|BA) ",
    )


# Some databases write their name before the first record: "Provider: Example Press". Some number the records: "1.",
# "<1. >", "Record #1 of 2".
_RIS_AROUND = (
    rb"(?:[A-Za-z][A-Za-z ]{0,30}+:[^\r\n]*+"
    rb"|<?(?:Record #)?[0-9]{0,9}+(?: of [0-9]{1,9}+)?[.)]?[ \t]*+>?[ \t]*+)"
)
# The start of a line before the records, or of a tag.
_RIS_BEGUN = rb"(?:[A-Z]{0,2}+ ?|TY(?: ?| ? -?)[A-Z]*+|[A-Za-z][A-Za-z ]{0,30}+#?[0-9 of]*+|%b)\Z" % _RIS_AROUND
_RIS_HEAD = re.compile(
    rb"(?>(?:(?:%b)?%b%b)*)(?:%b)?(?:(%b)|(%b)|%b)" % (MARK, _RIS_AROUND, LINE_END, MARK, _TY, _TAG + _RIS, _RIS_BEGUN)
)


def is_ris(head: bytes, _name: str) -> bool | None:
    """Whether a dump that begins with `head` is RIS: its first line has the tag TY, or has another tag and a line with
    ER follows in `head`. Lines with names of providers, and with numbers, may come before. None: more bytes are needed.
    """
    match = _RIS_HEAD.match(head)
    if match is None:
        return None if MARK.startswith(head) else False
    if match[2]:
        return True if RisRecords.layout.ended.search(head, match.end()) else (None if len(head) < HEAD else False)
    return True if match[1] else None


is_web_of_science = partial(
    begins_with,
    re.compile(rb"FN [^\r\n]*+" + LINE_END + rb"VR [^\r\n]*+" + LINE_END + rb"|" + WebOfScienceRecords.layout.first),
)


FORMATS = (
    Format(
        name="ris",
        title="RIS",
        reader=RisRecords,
        recognise=is_ris,
        suffixes=(".ris",),
        trace=rb"(?:\A|[\r\n])(?:TY|ER)(?:  |\t)-(?:[ \t]|[\r\n])",
    ),
    *(
        Format(
            name=reader.table,
            title=title,
            reader=reader,
            recognise=partial(begins_with, reader.layout.first_line),
            suffixes=(suffix,),
            trace=trace,
            line_ends=2,
        )
        for reader, title, suffix, trace in (
            (MedlineRecords, "PubMed (MEDLINE)", ".nbib", rb"(?:\A|[\r\n])(?:PMID|OWN |STAT|LID )- "),
            (OvidRecords, "Ovid (tagged)", ".ovd", OvidRecords.layout.begun.pattern),
            (
                EndNoteRecords,
                "EndNote (import format)",
                ".enw",
                rb"(?:\A|[\r\n])%[A-Z] [^\r\n]++[\r\n]{1,2}%[0-9A-Z@] ",
            ),
        )
    ),
    Format(
        name="ciw",
        title="Web of Science (field tagged)",
        reader=WebOfScienceRecords,
        recognise=is_web_of_science,
        suffixes=(".ciw",),
        framed=True,
    ),
)
