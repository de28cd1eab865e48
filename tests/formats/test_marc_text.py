"""MARC as text: each subfield is a text of its own, at the place where it stands in the file."""

import gzip
import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan import find, scan
from urnscan.errors import DamageError
from urnscan.formats.documents.marc_text import Subfields, _delimiter, is_marc_text
from urnscan.stores.reader import PieceReader

NAME = "urn:nbn:de:101:1-2"
FORMS = {
    "mrk": f"=856  40$u{NAME}$zFree\n",
    "mrk with a leader": f"=LDR  00000nam\n=001  1\n=856  40$u{NAME}$zFree\n",
    "mrk, marked": f"\ufeff=856  4\\$u{NAME}$zx\n",
    "aleph": f"000000001 24510 L $$aInks\n000000001 85640 L $$u{NAME}$$zFree\n",
    "MARC::Record": f"LDR 00755cam  22002414a 4500\n001     1\n856 40 _u{NAME}\n       _zFree\n",
    "a second subfield": f"245 10 _aInks\n       _u{NAME}\n",
    "a line": f"856 40 $u{NAME}$zFree\n",
    "a line with a pipe": f"856 40 |u{NAME}|zFree\n",
    "a leader and a line": f"LEADER 00000nam\n001    1\n856 4# |u{NAME}|zFree\n",
    "dagger": f"856 40 ‡u{NAME}‡zFree\n",
    "mrk with a space": f"=LDR 00000nam\n=856 40$u{NAME}$zFree\n",
    "mrk after blank lines": f"\n \r\n=856  40$u{NAME}$zFree\n",
    "PICA+": f"003@ $0123\n004U $0{NAME}$bx\n",
    "PICA+ with a dollar": f"021A $a5 $$ a lamp\n004U/01 $0{NAME}$bx\n",
    "PICA+ of WinIBW": f"SET: S1 [1] TTL: 1 PPN: 1\nEingabe: 1\n\n004U ƒ0{NAME}ƒbx\n",
    "yaz": f"856 40 $u {NAME} $z Free\n",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_each_subfield_is_a_text_of_its_own(tmp_path, text):
    """The code before a name is no letter of a word, and the next subfield no part of the name; places are those in the file."""
    data = text.encode()
    (tmp_path / "a.txt").write_bytes(data)
    (found,) = scan(tmp_path / "a.txt").occurrences.to_pylist()
    assert (found["text"], found["start"]) == (NAME, data.index(NAME.encode()))
    assert found["line"] == data[: found["start"]].count(b"\n") + 1
    assert found["member"] is None


def _zipped(data):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.mrk", data)
    return file.getvalue()


def test_winibw_in_windows_1252(tmp_path):
    """The sign before a subfield is the byte 0x83."""
    (tmp_path / "a.txt").write_bytes(f"003@ ƒ0123\n004U ƒ0{NAME}ƒbx\n".encode("cp1252"))
    assert scan(tmp_path / "a.txt").occurrences.column("text").to_pylist() == [NAME]


@pytest.mark.parametrize("pack", [gzip.compress, _zipped], ids=["gzip", "zip"])
def test_inside_other_forms(tmp_path, pack):
    (tmp_path / "a").write_bytes(pack(FORMS["mrk"].encode()))
    assert scan(tmp_path / "a").occurrences.column("text").to_pylist() == [NAME]


def test_the_next_subfield_is_no_part_of_a_name_behind_a_label(tmp_path):
    """A view reads the same text, so `$zFree` does not stick to a name."""
    (tmp_path / "a.mrk").write_text("=024  7\\$aURN: nbn:de:101:1-2$zFree\n")
    assert scan(tmp_path / "a.mrk", recover=["labels"]).occurrences.column("urn").to_pylist() == [NAME]


def test_in_another_text_a_dollar_is_one(tmp_path):
    """RFC 2141 §2.2 allows `$` in a name."""
    (tmp_path / "a.txt").write_text(f"See {NAME}$zFree\n=856  40$u{NAME}\n")
    assert scan(tmp_path / "a.txt").occurrences.column("text").to_pylist() == [f"{NAME}$zFree"]
    assert [each.text for each in find(f"{NAME}$zFree")] == [f"{NAME}$zFree"]


def test_a_dump_is_deduplicated_as_it_is(tmp_path):
    """`dedup` copies records byte for byte, so it reads the bytes of the file."""
    from urnscan import deduplicate

    (tmp_path / "a.mrk").write_text("=LDR  00000nam a2200000 a 4500\n=001  1\n=020  \\\\$a9783161484100\n\n" * 2)
    assert deduplicate(tmp_path / "a.mrk").report.records == 2


@pytest.mark.parametrize(
    "text", ["123 apples", "=SUM(A1)", "LDR", "2024-01-01 urn:a:b", "Line 100 $a", "1 urn:a:b\n2 urn:a:b\n"]
)
def test_other_texts_are_no_marc(text):
    assert is_marc_text(text.encode(), None) is not True
    assert is_marc_text(text.encode() + b"\nx\n", None) is False or text == "LDR"


@given(st.sampled_from(sorted(FORMS)), st.lists(st.integers(1, 7), min_size=1, max_size=8))
def test_the_result_does_not_depend_on_where_the_bytes_are_cut(name, sizes):
    data = FORMS[name].encode() * 3
    delimiter = _delimiter(data)
    if delimiter is None:
        return
    pieces, at = [], 0
    while at < len(data):
        for size in sizes:
            pieces.append(data[at : at + size])
            at += size
    assert _read(Subfields(PieceReader(iter(pieces)), delimiter)) == _read(
        Subfields(PieceReader(iter([data])), delimiter)
    )


def _read(reader):
    view, out = memoryview(bytearray(5)), b""
    while got := reader.read_into(view):
        out += bytes(view[:got])
    return out


def test_damage_comes_after_the_bytes_before_it():
    """What is read before damage counts, and what follows it (not-read.md, damage)."""

    class Damaged(PieceReader):
        calls = 0

        def read_into(self, view):
            self.calls += 1
            if self.calls == 2:
                raise DamageError("a", "is damaged")
            return super().read_into(view)

    reader = Subfields(Damaged(iter([b"=856  40$ua", b"$ub"])), _delimiter(b"=856  40$ua"))
    view = memoryview(bytearray(100))
    assert bytes(view[: reader.read_into(view)]) == b"=856  40\x1fua"
    with pytest.raises(DamageError):
        reader.read_into(view)
    assert bytes(view[: reader.read_into(view)]) == b"\x1fub"
    assert reader.read_into(view) == 0
