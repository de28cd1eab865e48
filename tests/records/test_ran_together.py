"""Two records that ran together, because the lines between them are lost, are damaged: a clean record was removed
for such a record, which has most fields."""

import pytest

from tests.support.reading import read_records
from urnscan.framing.lines import Damaged
from urnscan.records.format_registry import FORMATS
from urnscan.records.record import Record

MRK = "=LDR  00000nam a2200000 a 4500\n=001  {0}\n=020  \\\\$a9780306406157\n=245  10$a{1}\n"
YAZ = "00000nam a2200000 a 4500\n001 {0}\n020    $a 9780306406157\n245 10 $a {1}\n"
ALEPH = "000000001 LDR   L 00000nam^a2200000^a^4500\n000000001 001   L {0}\n000000001 24510 L $$a{1}\n"
RIS = "TY  - BOOK\nID  - {0}\nT1  - {1}\nSN  - 9780306406157\nER  - \n"
NBIB = "PMID- {0}\nTI  - {1}\n"
OVID = "<{0}. >\nUI  - {0}\nTI  - {1}\n"
ENW = "%0 Journal Article\n%F {0}\n%T {1}\n"
CIW = "PT J\nAU Roe, K\nTI {1}\nUT WOS:{0}\nER\n"
PICA = "003@ $0{0}\n021A $a{1}\n"
BINARY = "003@ \x1f0{0}\x1e021A \x1fa{1}\x1e\n"


def read(name, dump):
    return read_records(FORMATS[name].reader(own=True, keys=True, described=True), dump.encode())


def merged(form, name, lost, *, cut):
    """A clean record before and after two records, without `cut` bytes at the end of the first and `lost` bytes at the
    beginning of the second.
    """
    between = "" if name == "pica" else "\n"
    a, b, c, d = (form.format(number, f"Inks {number}").rstrip("\n") for number in (1, 2, 3, 4))
    text = b[: len(b) - cut] + ("\n" if not cut and name != "pica" else "") + c[lost:]
    return f"{a}\n{between}{text}\n{between}{d}\n"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("name", "form", "lost", "cut"),
    [
        *[("mrk", MRK, 31, 0), ("mrk", MRK, 0, 6), ("marc-lines", YAZ, 25, 0), ("marc-lines", YAZ, 0, 3)],
        *[("aleph", ALEPH, 43, 0), ("ris", RIS, 11, 6), ("ris", RIS, 0, 9), ("nbib", NBIB, 0, 3)],
        *[("ovid", OVID, 6, 0), ("ovid", OVID, 0, 3), ("enw", ENW, 0, 4), ("ciw", CIW, 5, 3), ("ciw", CIW, 0, 12)],
        *[("pica-plain", PICA, 0, 0), ("pica-plain", PICA, 0, 4), ("pica", BINARY, 0, 0), ("pica", BINARY, 0, 4)],
    ],
)
def test_two_records_are_one_that_is_damaged(name, form, lost, cut, line_end):
    found = read(name, merged(form, name, lost, cut=cut).replace("\n", line_end))
    assert [type(each) for each in found] == [Record, Damaged, Record]


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("mrk", "=LDR  00000nam a2200000 a 4500\n=001  u1033898\n=001  5\n=245  10$aInks\n"),
        ("mrk", MRK.format(1, "Inks") + "=245  10$aTinten\n=500  \\\\$aInks, see 001\n=001  1\n"),
        ("marc-lines", "00000nam a2200000 a 4500\n001 1\n200 1  $a Inks\n200 1  $a Tinten\n001 1\n"),
        ("ris", "TY  - JOUR\nID  - 10.5555/a [doi]\nID  - S0140 [pii]\nTI  - Inks\nAN  - 1\nAN  - 2\nER  - \n"),
        ("ris", "TY  - JOUR\nID  - 1\nTI  - Inks\nTI  - Tinten\nAB  - has\n TY  - BOOK\nPB  - CITY  - LAMP\nER  - \n"),
        ("nbib", "PMID- 12\nTI  - Inks\nTI  - Tinten\nCIN - Lamps. PMID- 13, PMID: 14\n"),
        ("ciw", "PT J\nAU Roe, PT J\nAF Roe, PT J\nTI Inks\nUT WOS:1\nER\n"),
        ("enw", "%0 Journal Article\n%T Inks, 5%0 of\n%T Tinten\n%M 1\n%M 2\n"),
        ("pica-plain", "003@ $01\n021A $aInks\n003@ $01\n"),
    ],
)
def test_what_real_records_repeat_is_no_sign(name, record):
    """Two neighbouring control numbers (Sirsi, Invenio), two titles, identifiers of Ovid."""
    assert [type(each) for each in read(name, record)] == [Record]
