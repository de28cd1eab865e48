"""What is read twice has to be the same, and what can be read once only is kept."""

import io

from urnscan.dedup.reread import Spool, SummedReader
from urnscan.errors import DamageError, SourceError
from urnscan.stores.reader import past_damage


class TestSummedReader:
    """A dump that is read twice has to be the same both times."""

    def test_sum(self):
        first, second, other = (SummedReader(io.BytesIO(data).readinto) for data in (b"abc", b"abc", b"abd"))
        for summed in (first, second, other):
            while summed.read_into(memoryview(bytearray(2))):
                pass
        assert (first.byte_count, first.checksum) == (second.byte_count, second.checksum)
        assert first.checksum != other.checksum

    def test_damage_is_passed_over_and_errors_end(self):
        """They were told when the dump was read first."""
        answers = [3, DamageError("x", "is damaged"), 2, SourceError("x", "cut off"), 1]

        def read(_view):
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        summed = SummedReader(read)
        read_on = past_damage(summed.read_into)
        view = memoryview(bytearray(5))
        assert [read_on(view) for _ in range(3)] == [3, 2, 0]
        assert summed.byte_count == 5


def test_spool(tmp_path):
    """A pipe can be read once: what came out of it is kept."""
    spool = Spool(tmp_path)
    read_into = SummedReader(io.BytesIO(b"abcdef").readinto, spool=spool).read_into
    view = memoryview(bytearray(4))
    assert [bytes(view[: read_into(view)]) for _ in range(3)] == [b"abcd", b"ef", b""]
    assert spool.byte_count == 6
    again = spool.read_again(0, 6)
    assert bytes(view[: again(view)]) == b"abcd"
    spool.close()
    assert not list(tmp_path.iterdir())
