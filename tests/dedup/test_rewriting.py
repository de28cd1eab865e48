"""Dumps without some of their records: only removals, and what is left is a dump."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urnscan.dedup.rewriting import Dumps, Spool, Summed, copy_without, excerpt
from urnscan.errors import DamageError, FatalError, SourceError
from urnscan.records.buffer import Buffer
from urnscan.records.formats import FORMATS
from urnscan.sources import Input

blank = st.text(" \n\t\r", max_size=3)
MARC, JSON, BIBTEX = FORMATS["marc"], FORMATS["json"], FORMATS["bibtex"]


def without(dump, records, separator=b"", step=1 << 20):
    source = io.BytesIO(dump)
    written = []
    copy_without(Buffer(lambda view: source.readinto(view[:step])), records, separator, written.append)
    return b"".join(written)


def is_subsequence(short, long):
    rest = iter(long)
    return all(octet in rest for octet in short)


@st.composite
def dumps(draw):
    """A dump, where its records are and which are kept, and what its wrapper is without them."""
    texts = draw(st.lists(st.sampled_from(["<r/>", "<r>x</r>", "<rr></rr>"]), max_size=8))
    dump = b"<all>"
    records = []
    for text in texts:
        dump += draw(blank).encode() + draw(st.sampled_from([b"", b"", b"<!-- a note -->"])) + draw(blank).encode()
        records.append((len(dump), len(text), draw(st.booleans())))
        dump += text.encode()
    return dump + draw(blank).encode() + b"</all>\n", records


class TestCopyWithout:
    """ "octet for octet as they came … so that `diff` against the input shows only removals" """

    @settings(max_examples=300)
    @given(dump=dumps(), step=st.integers(1, 9))
    def test_kept_records_stay_and_nothing_is_new(self, dump, step):
        octets, records = dump
        found = without(octets, records, step=step)
        assert is_subsequence(found, octets)
        kept = b"".join(octets[offset : offset + length] for offset, length, stays in records if stays)
        assert b"".join(found.split()).replace(b"<!--anote-->", b"") == b"<all>" + kept + b"</all>"
        assert found.count(b"note") == octets.count(b"note")  # what stands between records is nobody's

    @given(dump=dumps())
    def test_all_kept_is_the_dump(self, dump):
        octets, records = dump
        assert without(octets, [(offset, length, True) for offset, length, _ in records]) == octets

    @settings(max_examples=300)
    @given(data=st.data(), kept=st.lists(st.booleans(), max_size=7), indent=st.sampled_from([None, 1, 4]))
    def test_json_stays_json(self, data, kept, indent):
        """The comma goes with the record before or behind which it stands."""
        values = [{"id": number, "a": ["x, y", {}]} for number in range(len(kept))]
        texts = [json.dumps(value, indent=indent) for value in values]
        dump, records = b"[", []
        for number, text in enumerate(texts):
            dump += b"," if number else b""
            dump += data.draw(blank).encode()
            records.append((len(dump), len(text), kept[number]))
            dump += text.encode() + data.draw(blank).encode()
        dump += b"]"
        found = without(dump, records, b",")
        assert json.loads(found) == [value for value, stays in zip(values, kept, strict=True) if stays]
        assert is_subsequence(found, dump)

    def test_lines_go_whole(self):
        """A record on lines of its own leaves no blank line, wherever it stands."""
        dump = b"<all>\n  <a/>\n  <b/>\n  <c/>\n</all>\n"
        places = [8, 15, 22]
        for gone in range(3):
            records = [(place, 4, number != gone) for number, place in enumerate(places)]
            assert without(dump, records).splitlines() == [
                line for line in dump.splitlines() if line.strip() != [b"<a/>", b"<b/>", b"<c/>"][gone]
            ]

    def test_what_could_not_be_read_stays(self):
        """A damaged record is no duplicate of anything: it is left where it is, also if it is large."""
        damaged = b"?" * (3 << 20)
        dump = b"one\n" + damaged + b"\ntwo\n" + damaged + b"three\n"
        places = [(0, 4, True), (4 + len(damaged) + 1, 4, False)]
        assert without(dump, places) == b"one\n" + damaged + damaged + b"three\n"


def test_excerpt():
    buffer = Buffer(io.BytesIO(b"0123456789").readinto)
    assert excerpt(buffer, 2, 3) == b"234"
    assert excerpt(buffer, 7, 30) == b"789"


class TestSummed:
    """A dump that is read twice has to be the same both times."""

    def test_sum(self):
        first, second, other = (Summed(io.BytesIO(octets).readinto) for octets in (b"abc", b"abc", b"abd"))
        for summed in (first, second, other):
            while summed.read_into(memoryview(bytearray(2))):
                pass
        assert (first.octets, first.sum) == (second.octets, second.sum)
        assert first.sum != other.sum

    def test_damage_is_passed_over_and_errors_end(self):
        """They were told when the dump was read first."""
        answers = [3, DamageError("x", "is damaged"), 2, SourceError("x", "cut off"), 1]

        def read(_view):
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        summed = Summed(read)
        view = memoryview(bytearray(5))
        assert [summed.read_on(view) for _ in range(3)] == [3, 2, 0]
        assert summed.octets == 5


def test_spool(tmp_path):
    """A pipe can be read once: what came out of it is kept."""
    spool = Spool(tmp_path)
    read_into = spool.keep(io.BytesIO(b"abcdef").readinto)
    view = memoryview(bytearray(4))
    assert [bytes(view[: read_into(view)]) for _ in range(3)] == [b"abcd", b"ef", b""]
    again = spool.read_again(0, 6)
    assert bytes(view[: again(view)]) == b"abcd"
    spool.close()
    assert not list(tmp_path.iterdir())


class TestDumps:
    """One file for all dumps where their records can follow one another, else a folder with a file for each."""

    def named(self, name):
        return Input(name, name, 1)

    def test_one_file(self, tmp_path):
        place = tmp_path / "out.mrc"
        with Dumps(str(place)) as dumps:
            for name in ("a.mrc", "b.mrc"):
                dumps.admit(self.named(name), MARC, None)
            for name in ("a.mrc", "b.mrc"):
                with dumps.open(self.named(name)) as write:
                    write(name.encode())
            assert not place.exists()
            dumps.commit()
        assert place.read_bytes() == b"a.mrcb.mrc"

    @pytest.mark.parametrize(
        ("first", "second", "message"),
        [
            (JSON, JSON, "two dumps of JSON array do not make one .b.; name a folder"),
            (MARC, BIBTEX, "would hold MARC 21 .ISO 2709. and BibTeX .b.; name a folder"),
        ],
    )
    def test_what_makes_no_dump(self, tmp_path, first, second, message):
        with Dumps(str(tmp_path / "out")) as dumps:
            dumps.admit(self.named("a"), first, None)
            with pytest.raises(FatalError, match=message):
                dumps.admit(self.named("b"), second, None)
        assert not list(tmp_path.iterdir())

    def test_folder(self, tmp_path):
        with Dumps(str(tmp_path)) as dumps:
            for name in ("x/a.json", "b.json.xz"):
                dumps.admit(self.named(name), JSON, None)
                with dumps.open(self.named(name)) as write:
                    write(b"[]")
            dumps.commit()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json"]

    def test_two_of_one_name_in_a_folder(self, tmp_path):
        with Dumps(str(tmp_path)) as dumps:
            dumps.admit(self.named("x/a.json"), JSON, None)
            with pytest.raises(FatalError, match=r"would be written for x/a.json and for y/a.json"):
                dumps.admit(self.named("y/a.json"), JSON, None)

    def test_what_exists_is_not_replaced(self, tmp_path):
        (tmp_path / "a.json").write_text("[]")
        with Dumps(str(tmp_path)) as dumps, pytest.raises(FatalError, match="exists already; --force replaces it"):
            dumps.admit(self.named("x/a.json"), JSON, None)
        with Dumps(str(tmp_path), force=True) as dumps:
            dumps.admit(self.named("x/a.json"), JSON, None)

    def test_folder_that_is_not_there(self, tmp_path):
        with pytest.raises(FatalError, match="this folder does not exist"):
            Dumps(str(tmp_path / "none") + "/")

    def test_other_encodings(self, tmp_path):
        """Octets as they came are not those that were read."""
        with Dumps(str(tmp_path / "out")) as dumps, pytest.raises(FatalError, match="is in utf-16-le"):
            dumps.admit(self.named("a"), JSON, "utf-16-le")
