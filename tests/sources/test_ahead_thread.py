"""Text that a thread decompresses ahead: the same as without it, in the same order, in bounded memory, up to a clean end."""

import contextlib
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sources.test_compression import CODING, COMPRESS, EVERY_FORM, NO_LIMITS, Octets, damaged, text_of
from tests.support.examples import FEW
from urnscan.errors import DamageError, LimitError
from urnscan.pool import Pool
from urnscan.run.options import Options
from urnscan.run.pipeline import Outputs, run
from urnscan.sources.buffer import Buffer
from urnscan.sources.compression import ahead_thread
from urnscan.sources.compression.ahead_thread import Ahead, Notes
from urnscan.sources.compression.codecs import Unpacked
from urnscan.sources.cores import Cores
from urnscan.sources.layers import Budget, Layer, Limits, Reading

ONE_CORE = Cores(1)


class Counting(Cores):
    """Knows how many threads were begun, and how many cores are in use."""

    begun = 0
    helped_all = 0.0

    def helped(self):
        self.helped_all += (seconds := super().helped())
        return seconds

    def take(self):
        is_free = super().take()
        self.begun += is_free
        return is_free

    @property
    def in_use(self):
        return self._working


@contextlib.contextmanager
def two_cores(batch=1 << 20, *, count=2):
    """One of them is this thread's; the other is asked for after the first part of a text."""
    with pytest.MonkeyPatch.context() as patch:
        cores = Counting(count)
        patch.setattr(ahead_thread, "_LONG", 0)
        patch.setattr(ahead_thread, "_BATCH", batch)
        with cores.used():
            yield cores
            assert cores.in_use == 1
        assert not threads()


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "urnscan-ahead"]


def events(form, octets, size, limits=NO_LIMITS, cores=ONE_CORE):
    """All that a reader of a compressed file gives, and what was counted and collected when it did."""
    read = []
    budget = Budget("file", limits, read.append)
    layer = Layer("file", "file", Reading(limits=limits, cores=cores), budget)
    view = memoryview(bytearray(size))
    found = []
    with (
        Buffer(Octets(octets), budget.count_read) as buffer,
        Unpacked(CODING[form], buffer, layer) as reader,
    ):
        got = -1
        while got:
            try:
                got = reader.read_into(view)
                found.append(bytes(view[:got]))
            except (DamageError, LimitError) as error:
                found.append(str(error))
            found.append((sum(read), budget._unfolded, [each.reason for each in budget.collected()]))
    return found


@EVERY_FORM
@FEW
@given(
    sizes=st.lists(st.sampled_from([0, 20, 3000, 300_000]), min_size=1, max_size=4),
    damage=st.sampled_from(["none", "flip", "cut", "garbage"]),
    where=st.floats(0, 0.999),
    size=st.sampled_from([1000, 1 << 16, 1 << 20]),
    batch=st.sampled_from([1, 1000, 1 << 20]),
)
def test_nothing_else_is_seen(form, sizes, damage, where, size, batch):
    """The text, the errors and the wrong checksums in their places, and what is counted when they are given."""
    members = [COMPRESS[form](text_of(number, each)) for number, each in enumerate(sizes)]
    octets = damaged(b"".join(members), damage, where)
    expected = events(form, octets, size)
    with two_cores(max(batch, size // 100)) as cores:
        assert events(form, octets, size, cores=cores) == expected


@EVERY_FORM
def test_the_limits_end_it_at_the_same_octet(form):
    """A bomb whose text is decompressed ahead is no larger a bomb."""
    octets = COMPRESS[form](bytes(3 << 20))
    limits = Limits(size=2 << 20)
    expected = events(form, octets, 1 << 16, limits)
    assert any("unfolds to more than" in str(each) for each in expected)
    with two_cores() as cores:
        assert events(form, octets, 1 << 16, limits, cores) == expected
    assert cores.begun or form == "bzip2", "a block of it is all"


@pytest.mark.parametrize(("count", "begun"), [(1, 0), (2, 1)])
def test_a_thread_begins_only_where_a_core_is_free(count, begun):
    """Where each worker has a file of its own, another thread would only cost time."""
    octets = COMPRESS["gzip"](text_of(1, 600_000))
    with two_cores(count=count) as cores:
        events("gzip", octets, 1 << 16, cores=cores)
    assert cores.begun == begun


@pytest.mark.parametrize(("jobs", "begun"), [(1, 0), (2, 1)])
def test_a_run_has_no_more_threads_than_it_may_have(jobs, begun, tmp_path, monkeypatch):
    """`-j 1` is for those who run one process for each core."""
    path = tmp_path / "long.gz"
    path.write_bytes(COMPRESS["gzip"](text_of(1, 600_000)))
    monkeypatch.setattr(ahead_thread, "_LONG", 0)
    options = Options(jobs=jobs)
    cores = Counting(jobs)
    object.__setattr__(options, "reading", replace(options.reading, cores=cores))
    with Pool(jobs) as pool:
        report = run([str(path)], options, Outputs(classes=lambda _: None, pool=pool))
        assert pool.timings.spent["scan"].cpu > cores.helped_all
    assert report.octets == 600_000
    assert cores.begun == begun
    assert cores.in_use == 0
    assert (cores.helped_all > 0) == begun, "`--timings` counts the thread as one that scans"


def test_nobody_known_to_work_has_no_thread():
    """On Spark, each core has a process of its own, and these do not know of each other."""
    cores = Cores(8)
    assert not cores.take()
    with cores.used():
        assert cores.take()


def test_a_reader_that_is_closed_early_ends_its_thread():
    """As where a user looks at the first lines only."""
    octets = COMPRESS["gzip"](text_of(1, 1_500_000))
    with two_cores(1 << 14) as cores:
        layer = Layer("file", "file", Reading(cores=cores), Budget("file", Limits()))
        with Unpacked(CODING["gzip"], Octets(octets), layer) as reader:
            view = memoryview(bytearray(1 << 19))
            assert reader.read_into(view) == len(view)
            assert threads()


def test_only_so_much_is_made_ahead():
    """A reader that is slow does not fill the memory, also not with parts that are large."""
    made = []

    def parts():
        for number in range(100):
            made.append(number)
            yield bytes(3000)

    with two_cores(1000) as cores:
        ahead = Ahead(parts(), Notes(), cores)
        given = 0
        for part in ahead:
            given += len(part)
            assert len(made) * 3000 <= given + (ahead_thread._MOST + 2) * 1000 + 2 * 3000
        assert given == 300_000


def test_what_the_parts_raise_is_raised_in_its_place():
    """An error of ours is no silent end of a text."""

    def parts():
        yield b"one"
        yield b"two"
        raise ZeroDivisionError("mine")

    with two_cores() as cores:
        ahead = Ahead(parts(), Notes(), cores)
        assert [next(ahead), next(ahead)] == [b"one", b"two"]
        with pytest.raises(ZeroDivisionError, match="mine"):
            next(ahead)
        assert list(ahead) == []
    assert cores.begun == 1
