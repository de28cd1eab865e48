"""MAB2 is told, and not read as MARC or as lines of something else."""

import io

import pytest

from urnscan.framing.buffer import Buffer
from urnscan.records.format_registry import FORMATS, recognise

NAMESPACE = "http://www.ddb.de/professionell/mabxml/mabxml-1.xsd"


@pytest.mark.parametrize(
    "dump",
    [
        "00044nM2.01200024      h001 4711\x1e331 Lamps\x1e\x1d",
        "### 00044nM2.01200024      h\n001 4711\n331 Lamps\n",
        "\ufeff###\n00044cM2.01200024      h\n",
        "000000001 LDR   L -----nM2.01200024------h\n000000001 331   L $$aLamps\n",
        f'<?xml version="1.0"?>\n<datei xmlns="{NAMESPACE}">\n<datensatz typ="h" status="n" mabVersion="M2.0"><feld nr="001"/>',
        '<collection xmlns="http://www.loc.gov/MARC21/slim">\n<record type="x"><leader>00000nM2.01200024      u</leader>',
        "<OAI-PMH><marc:record><marc:leader>     nM2.01200024      h</marc:leader>",
        f'<datensatz xmlns="{NAMESPACE}" typ="u"><feld nr="001" ind=" ">4711</feld></datensatz>',
    ],
)
def test_mab_is_told(dump):
    """Its tags have other meanings than those of MARC: 331 is the title."""
    format_ = recognise(Buffer(io.BytesIO(dump.encode()).readinto), "a.txt")
    assert (format_ and format_.name, "mab" in FORMATS) == ("mab", False)
    assert "MARC 21" in format_.recipe


@pytest.mark.parametrize("dump", ["00044nam a2200025   4500001", "M2.0 is a version\n", "<datei><a/></datei>"])
def test_what_is_no_mab(dump):
    format_ = recognise(Buffer(io.BytesIO(dump.encode()).readinto), "a.txt")
    assert format_ is None or format_.name != "mab"
