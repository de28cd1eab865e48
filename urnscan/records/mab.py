"""MAB2 and MAB-XML, the former format of German libraries: recognised, and not read.

MAB2 has a leader with `M2.0`, in four forms: for tapes, for diskettes (after `###`), in Aleph Sequential, and in MARCXML.
"""

from __future__ import annotations

import re

from urnscan.framing.buffer import MARK
from urnscan.records.format import Format
from urnscan.records.record import RecordReader

_LEADER = re.compile(rb"\s*+(?:###\s*+)?(?:[0-9]{9} LDR.{0,3} L )?[0-9-]{5}[a-z]M2\.0[0-9]")
_XML = re.compile(
    rb"\s*+<(?:[^>]*+>\s*+<)*?(?:[a-z]+:)?"
    rb"(?:(?:datei|datensatz)\s[^>]*(?:mabxml|mabVersion)|leader>[0-9 -]{5}[a-z]M2\.0)"
)


def is_mab(head: bytes, _name: str) -> bool:
    """Whether a dump whose first bytes are `head` begins with a leader of MAB2, or is MAB-XML; False also if `head` is
    too short to show it.
    """
    text = head.removeprefix(MARK)
    return bool(_LEADER.match(text) or _XML.match(text))


FORMATS = (
    Format(
        name="mab",
        title="MAB2 or MAB-XML",
        reader=RecordReader,
        recognise=is_mab,
        suffixes=(".mab",),
        recipe="ask for MARC 21 of it, or convert it with Catmandu::MAB2 (Perl)",
    ),
)
