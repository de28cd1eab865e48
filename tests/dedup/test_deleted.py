"""A record that says that it was deleted joins nothing, and is never kept in the place of a live one; nor one of holdings."""

from __future__ import annotations

import pytest

from tests.support.iso_2709 import marc
from urnscan.dedup.job import run
from urnscan.dedup.policy import Policy
from urnscan.dedup.write.outputs import Outputs
from urnscan.display.progress import Progress
from urnscan.run.options import Options

ISBN = "9780306406157"


def iso_2709(status: str, *, has_del: bool) -> bytes:
    deletion = [(b"DEL", b"  \x1faY")] if has_del else []
    record = marc((b"020", f"  \x1fa{ISBN}".encode()), (b"245", b"00\x1faLamps"), *deletion)
    return record[:5] + status.encode() + record[6:]


def marcxml(status: str, *, has_del: bool) -> bytes:
    deletion = '<datafield tag="DEL" ind1=" " ind2=" "><subfield code="a">Y</subfield></datafield>' if has_del else ""
    return (
        f'<record xmlns="http://www.loc.gov/MARC21/slim"><leader>00000{status}am a2200000 i 4500</leader>'
        f'<datafield tag="020" ind1=" " ind2=" "><subfield code="a">{ISBN}</subfield></datafield>'
        f'<datafield tag="245" ind1="0" ind2="0"><subfield code="a">Lamps</subfield></datafield>{deletion}</record>'
    ).encode()


def mrk(status: str, *, has_del: bool) -> bytes:
    deletion = "=DEL  \\\\$aY\n" if has_del else ""
    return f"=LDR  00000{status}am a2200000 i 4500\n=020  \\\\$a{ISBN}\n=245  00$aLamps\n{deletion}\n".encode()


def aleph(status: str, *, has_del: bool) -> bytes:
    number = "000000002" if has_del or status == "d" else "000000001"
    lines = [f"LDR   L 00000{status}am^a2200000^i^4500", f"020   L $$a{ISBN}", "24500 L $$aLamps"]
    return "".join(f"{number} {line}\n" for line in (*lines, *(["DEL   L $$aY"] if has_del else []))).encode()


def marc_in_json(status: str, *, has_del: bool) -> bytes:
    def field(tag: str, value: str) -> str:
        return f'{{"{tag}": {{"ind1": " ", "ind2": " ", "subfields": [{{"a": "{value}"}}]}}}}'

    fields = ", ".join([field("020", ISBN), field("245", "Lamps"), *([field("DEL", "Y")] if has_del else [])])
    return f'{{"leader": "00000{status}am a2200000 i 4500", "fields": [{fields}]}}\n'.encode()


def oai_pmh(status: str, *, has_del: bool) -> bytes:
    attribute = ' status="deleted"' if status == "d" or has_del else ""
    return (
        f'<record xmlns="http://www.openarchives.org/OAI/2.0/"><header{attribute}>'
        f"<identifier>oai:example.org:1</identifier></header>"
        f"<metadata>{marcxml('n', has_del=False).decode()}</metadata></record>"
    ).encode()


FORMATS = {
    "x.mrc": iso_2709,
    "x.xml": marcxml,
    "x.mrk": mrk,
    "x.seq": aleph,
    "x.jsonl": marc_in_json,
    "oai.xml": oai_pmh,
}


def rows_of(path, data: bytes, policy: Policy) -> list[dict]:
    if path.suffix == ".xml":
        data = b"<collection>" + data + b"</collection>"
    path.write_bytes(data)
    rows: list[dict] = []
    outputs = Outputs(clusters=lambda batch: rows.extend(batch.to_pylist()))
    run([str(path)], Options(), policy, outputs, Progress())
    return rows


@pytest.mark.parametrize("mark", [{"status": "d", "has_del": False}, {"status": "n", "has_del": True}])
@pytest.mark.parametrize("name", FORMATS)
def test_a_deleted_record_is_a_cluster_by_itself(tmp_path, name, mark):
    """MARC leader/05 d, the field DEL of Aleph and Alma, the header of OAI-PMH: also beside another deleted one."""
    make = FORMATS[name]
    live, deleted = make("n", has_del=False), make(**mark)
    live_twice = rows_of(tmp_path / name, live + live, Policy())
    assert [row["kept"] for row in live_twice] in ([True, False], [True])  # Aleph: two with one number are one record
    rows = rows_of(tmp_path / name, deleted + live, Policy(keep=("first",)))
    assert [row["decision"] for row in rows] == ["alone", "alone"]
    assert rows[1]["urns"] == [f"urn:isbn:{ISBN}"]
    if name != "x.seq":
        rows = rows_of(tmp_path / name, deleted + live + deleted, Policy())
        assert [row["decision"] for row in rows] == ["alone"] * 3


@pytest.mark.parametrize("kind", ["u", "v", "x", "y"])
@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("x.seq", "oai.xml")])
def test_a_record_of_holdings_has_no_number_of_what_is_held(tmp_path, name, kind):
    """MARC 21, leader/06: holdings have no title, so nothing in them contradicts the record of the book with their ISBN."""
    book = FORMATS[name]("n", has_del=False)
    holdings = book.replace(b"nam", b"n" + kind.encode() + b" ").replace(b"245", b"852")
    rows = rows_of(tmp_path / name, holdings + book + holdings.replace(b"Lamps", b"Attic"), Policy())
    assert [row["decision"] for row in rows] == ["alone"] * 3
    assert [len(row["urns"]) for row in rows] == [0, 1, 0]
    rows = rows_of(tmp_path / name, holdings + holdings, Policy())
    assert [row["decision"] for row in rows] == ["kept", "removed"]


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("x.seq", "oai.xml")])
def test_a_record_of_holdings_is_no_copy_of_a_book_with_its_number(tmp_path, name):
    """A catalogue counts its records of holdings and those of its books, each from 1."""
    book = FORMATS[name]("n", has_del=False)
    holdings = book.replace(b"nam", b"nx ").replace(b"245", b"852")
    rows = rows_of(tmp_path / name, book + holdings, Policy())
    assert [row["kept"] for row in rows] == [True, True]


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("x.seq", "oai.xml")])
def test_an_authority_is_no_copy_of_a_book_with_its_number(tmp_path, name):
    """MARC 21, leader/06 z: a system counts its authorities and its books, each from 1, and 003 is the same."""
    book = FORMATS[name]("n", has_del=False)
    authority = book.replace(b"nam", b"nz ").replace(b"245", b"155")
    rows = rows_of(tmp_path / name, book + authority + authority.replace(b"Lamps", b"Attic"), Policy())
    assert [row["kept"] for row in rows] == [True, True, False]


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("x.seq", "oai.xml")])
def test_a_record_of_mab2_among_others_has_no_identifiers(tmp_path, name):
    """Its tags have other meanings: 010 is the set of a volume, and no number of the Library of Congress."""
    book = FORMATS[name]("n", has_del=False)
    volume = book.replace(b"nam", b"nM2").replace(b"245", b"331")
    other = volume.replace(b"Lamps", b"Attic")
    rows = rows_of(tmp_path / name, book + volume + other, Policy())
    assert [row["decision"] for row in rows] == ["alone"] * 3
    assert [len(row["urns"]) for row in rows] == [1, 0, 0]
