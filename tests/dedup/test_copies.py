"""Dumps without some of their records: only removals, and what is left is a dump."""

import io
import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from urnscan.dedup.write.copies import Places, copy_without
from urnscan.framing.buffer import Buffer

blank = st.text(" \n\t\r", max_size=3)


def places(records, most=3):
    """Places of records, as batches of a few of them give them."""
    for start in range(0, len(records), most):
        offset, length, stays = zip(*records[start : start + most], strict=True)
        yield Places(np.array(offset), np.array(length), np.array(stays, np.bool_))


def without(dump, records, separator=b"", step=1 << 20, most=3):
    source = io.BytesIO(dump)
    written = []
    copy_without(Buffer(lambda view: source.readinto(view[:step])), places(records, most), separator, written.append)
    return b"".join(written)


def is_subsequence(short, long):
    rest = iter(long)
    return all(byte in rest for byte in short)


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


@st.composite
def lines(draw):
    """A dump of lines or of what stands without anything between, with comments before some records."""
    dump, records = draw(st.sampled_from([b"", b"[", b"# head\n"])), []
    for text in draw(st.lists(st.sampled_from([b"one", b"two\n", b"three\r\n", b"{}"]), max_size=9)):
        dump += draw(st.sampled_from([b"", b"", b"", b"# note\n", b" note ", b",", b"]\n[", b"\n\n"]))
        records.append((len(dump), len(text), draw(st.booleans())))
        dump += text
    return dump + draw(st.sampled_from([b"", b"\n", b"]", b",bad]"])), records


class TestCopyWithout:
    """ "byte for byte as they came … so that `diff` against the input shows only removals" """

    @given(dump=dumps(), step=st.integers(1, 9))
    def test_kept_records_stay_and_nothing_is_new(self, dump, step):
        content, records = dump
        found = without(content, records, step=step)
        assert is_subsequence(found, content)
        kept = b"".join(content[offset : offset + length] for offset, length, stays in records if stays)
        assert b"".join(found.split()).replace(b"<!--anote-->", b"") == b"<all>" + kept + b"</all>"
        assert found.count(b"note") == content.count(b"note")  # what stands between records is nobody's

    @given(dump=dumps())
    def test_all_kept_is_the_dump(self, dump):
        content, records = dump
        assert without(content, [(offset, length, True) for offset, length, _ in records]) == content

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

    @given(dump=lines(), step=st.integers(1, 9), separator=st.sampled_from([b"", b","]))
    def test_neighbours_are_copied_as_each_alone(self, dump, step, separator):
        """Runs of records, which are copied at one time, change no byte: they save time alone."""
        content, records = dump
        alone = without(content, records, separator, most=1)
        assert without(content, records, separator, step, most=len(records) or 1) == alone

    def test_several_arrays(self):
        """A comma goes with the record before or behind it in its own array."""
        dump = b'[{"a": 1}, {"b": 2}]\n[{"c": 3}, {"d": 4}]\n[{"e": 5}]'
        places = [dump.index(b'{"' + letter) for letter in (b"a", b"b", b"c", b"d", b"e")]
        for gone in range(1 << len(places)):
            kept = [not gone >> number & 1 for number in range(len(places))]
            records = [(place, 8, stays) for place, stays in zip(places, kept, strict=True)]
            found, decoder, values, at = without(dump, records, b",").decode(), json.JSONDecoder(), [], 0
            while at < len(found):
                value, at = decoder.raw_decode(found, at)
                values.append([key for each in value for key in each])
                at += len(found[at:]) - len(found[at:].lstrip())
            letters = [letter for letter, stays in zip("abcde", kept, strict=True) if stays]
            assert values == [[letter for letter in letters if letter in array] for array in ("ab", "cd", "e")]

    def test_beside_what_could_not_be_read(self):
        """A damaged element stays, and so does a comma before or behind it, but not both."""
        assert without(b"[bad, {1}]", [(6, 3, False)], b",") == b"[bad]"
        assert without(b"[{1}, bad]", [(1, 3, False)], b",") == b"[bad]"
        assert without(b"[bad, {1}, {2}]", [(6, 3, False), (11, 3, True)], b",") == b"[bad, {2}]"

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
        assert without(dump, places) == b"one\n" + damaged + b"\n" + damaged + b"three\n"

    def test_a_line_that_is_no_record_does_not_run_into_the_next(self):
        """A comment, or a damaged line: its end is not that of the record behind it."""
        dump = b"one\n# two\none\nthree\n"
        assert without(dump, [(0, 4, True), (10, 4, False), (14, 6, True)]) == b"one\n# two\nthree\n"
