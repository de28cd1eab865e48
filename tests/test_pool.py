"""Threads that the stages of a run share, and the time that each stage takes."""

from __future__ import annotations

import threading
import time

import pytest

from urnscan.pool import STAGES, Pool, Timings


def burn(seconds):
    """Use so much CPU time of this thread."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


class TestResults:
    def test_in_the_order_of_what_was_given(self):
        """Contract: the result of a run depends on no thread."""
        late = threading.Event()

        def work(number):
            if number == 0:
                late.wait(5)
            late.set()
            return number

        with Pool(2) as pool:
            assert list(pool.results("ranges", work, range(50))) == list(range(50))

    def test_no_more_is_begun_than_threads_can_do(self):
        """Contract: memory is bounded. What is taken late is begun late."""
        begun = []
        with Pool(2) as pool:
            results = pool.results("ranges", begun.append, range(50))
            next(results)
            time.sleep(0.05)
            assert len(begun) <= 3


@pytest.mark.full
class TestTimings:
    """`--timings` tells where the time of a run is."""

    def test_threads_are_added_up(self):
        """CPU time is that of all threads; wall time that in which any of them is in the stage."""
        both = threading.Barrier(2)

        def work(_):
            both.wait(10)
            burn(0.05)
            both.wait(10)

        with Pool(2) as pool:
            list(pool.results("classes", work, range(2)))
        spent = pool.timings.spent["classes"]
        assert 0.1 <= spent.cpu < 0.2
        assert spent.wall >= 0.05
        assert spent.threads == 0

    def test_wall_time_of_two_threads_is_counted_once(self, monkeypatch):
        clock = iter([0.0, 10.0, 40.0])  # when it was made, when the stage began, when it ended
        monkeypatch.setattr(time, "monotonic", lambda: next(clock))
        timings = Timings()
        with timings.measure("scan"), timings.measure("scan"):
            pass
        assert timings.spent["scan"].wall == 30

    def test_an_iterator_is_measured_while_it_works(self):
        """Not while its items are used: those threads do other stages."""
        timings = Timings()

        def items():
            burn(0.02)
            yield 1
            burn(0.02)

        for _ in timings.steps("scan", items()):
            burn(0.2)
        assert 0.04 <= timings.spent["scan"].cpu < 0.15

    def test_a_stage_that_fails_ends(self):
        timings = Timings()
        with pytest.raises(ZeroDivisionError), timings.measure("file"):
            raise ZeroDivisionError
        assert timings.spent["file"].threads == 0

    def test_lines(self):
        timings = Timings()
        timings.count("scan", 1_234_567)
        timings.count("classes", 1)
        lines = list(timings.lines())
        assert [line.split()[0] for line in lines] == ["start", *STAGES, "rest", "all"]
        assert lines[1].endswith(" s  1,234,567 bytes")
        assert lines[3].endswith(" s  1 row")
        assert all(" s CPU" in line for line in lines)
