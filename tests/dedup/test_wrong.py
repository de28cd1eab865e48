"""`--wrong`: the wrong ISBN and ISSN of all records, each with the record in which a person can correct it."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

import urnscan
from tests.support.iso_2709 import marc
from urnscan.errors import FatalError

WRONG, RIGHT, ISSN = "978-0-395-36341-5", "978-0-395-36341-6", "0317-8472"
RECORDS = [("a1", "Lamps", WRONG), ("a2", "Inks", RIGHT), ("a3", "Tide", "97803953634"), ("a4", "Oil", "")]


def iso_2709(records) -> bytes:
    return b"".join(
        marc((b"001", identifier.encode()), (b"020", f"  \x1fa{number}".encode()), (b"245", f"10\x1fa{title}".encode()))
        for identifier, title, number in records
    )


def bibtex(records) -> bytes:
    return "".join(f"@book{{{one[0]}, title = {{{one[1]}}}, isbn = {{{one[2]}}}}}\n" for one in records).encode()


def ris(records) -> bytes:
    return "".join(
        f"TY  - BOOK\nID  - {identifier}\nTI  - {title}\nSN  - {number}\nER  - \n"
        for identifier, title, number in records
    ).encode()


def table(records) -> bytes:
    return "".join(f"{','.join(row)}\n" for row in [("id", "title", "isbn"), *records]).encode()


def json_lines(records) -> bytes:
    return "".join(f'{{"id": "{one[0]}", "title": "{one[1]}", "isbn": "{one[2]}"}}\n' for one in records).encode()


def mods(records) -> bytes:
    inside = "".join(
        f'<mods><titleInfo><title>{title}</title></titleInfo><identifier type="isbn">{number}</identifier>'
        f"<recordInfo><recordIdentifier>{identifier}</recordIdentifier></recordInfo></mods>"
        for identifier, title, number in records
    )
    return f'<modsCollection xmlns="http://www.loc.gov/mods/v3">{inside}</modsCollection>'.encode()


FORMATS = {"mrc": iso_2709, "bib": bibtex, "ris": ris, "csv": table, "jsonl": json_lines, "xml": mods}


def wrong_in(*dumps, to, **options) -> list[tuple[object, ...]]:
    result = urnscan.deduplicate(*dumps, wrong=to, force=True, **options)
    rows = pq.read_table(to).to_pylist()
    assert result.report.wrong_numbers == len(rows)
    return [(row["record"], row["record_id"], row["title"], row["number"]) for row in rows]


@pytest.mark.parametrize("suffix", FORMATS)
def test_each_format(suffix, tmp_path):
    """Number, ID and title of the record are those by which a person finds it."""
    dump = tmp_path / f"dump.{suffix}"
    dump.write_bytes(FORMATS[suffix](RECORDS))
    assert wrong_in(dump, to=tmp_path / "wrong.parquet") == [
        (1, "a1", "Lamps", WRONG),
        (3, "a3", "Tide", "97803953634"),
    ]


def test_several_in_a_record_and_several_dumps(tmp_path):
    """Each wrong number has a row, also in a record that has a right one; a second dump counts from 1."""
    fields = [(b"020", f"  \x1fa{number}".encode()) for number in (RIGHT, WRONG, "0-395-36341-2")]
    (tmp_path / "a.mrc").write_bytes(
        iso_2709(RECORDS) + marc((b"001", b"b1"), *fields, (b"022", f"  \x1fa{ISSN}".encode()))
    )
    (tmp_path / "b.csv").write_bytes(table(RECORDS))
    found = wrong_in(tmp_path / "a.mrc", tmp_path / "b.csv", to=tmp_path / "wrong.parquet", agree="none")
    assert [(row[0], row[1], row[3]) for row in found] == [
        (1, "a1", WRONG),
        (3, "a3", "97803953634"),
        *((5, "b1", number) for number in (WRONG, "0-395-36341-2", ISSN)),
        (1, "a1", WRONG),
        (3, "a3", "97803953634"),
    ]
    assert found[0][2] == "Lamps", "titles are there without a comparison, too"


def test_damaged_and_deleted_records(tmp_path):
    """A damaged record is passed over, and the numbers of the others stay theirs; a deleted one need not be corrected."""
    broken = iso_2709(RECORDS[:1]).replace(b"\x1e\x1d", b"\x1d")
    deleted = iso_2709(RECORDS[:1])
    deleted = deleted[:5] + b"d" + deleted[6:]
    (tmp_path / "a.mrc").write_bytes(broken + deleted + iso_2709(RECORDS))
    assert [row[:2] for row in wrong_in(tmp_path / "a.mrc", to=tmp_path / "wrong.parquet")] == [(3, "a1"), (5, "a3")]


def test_marked_as_wrong(tmp_path):
    """MARC 020 $z and 022 $y are wrong on purpose."""
    fields = [(b"020", f"  \x1fz{WRONG}".encode()), (b"022", f"  \x1fa0317-8471\x1fy{ISSN}".encode())]
    (tmp_path / "a.mrc").write_bytes(marc((b"001", b"b1"), *fields))
    assert wrong_in(tmp_path / "a.mrc", to=tmp_path / "wrong.parquet") == []


@pytest.mark.full
def test_many_batches_and_processes(tmp_path):
    """Records of all batches, read by one process or by two, in their order."""
    records = [(f"n{number}", "Lamps", WRONG if number % 1000 == 7 else RIGHT) for number in range(20_000)]
    (tmp_path / "a.ris").write_bytes(ris(records))
    alone, together = (wrong_in(tmp_path / "a.ris", to=tmp_path / "w.parquet", jobs=jobs) for jobs in (1, 2))
    assert alone == together
    assert [row[0] for row in alone] == [*range(8, 20_000, 1000)]


def test_needs_fields(tmp_path):
    """`any_urn` does not look at fields: an empty list would say that nothing is wrong."""
    (tmp_path / "a.csv").write_bytes(table(RECORDS))
    with pytest.raises(FatalError, match="any_urn"):
        urnscan.deduplicate(tmp_path / "a.csv", wrong=tmp_path / "w.csv", any_urn=True)
