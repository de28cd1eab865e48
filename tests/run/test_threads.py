"""Threads side by side: results in order, errors that arrive, an end that comes."""

from __future__ import annotations

import threading
import time
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from urnscan.run import threads as parallel
from urnscan.run.threads import in_order

WORKERS = [1, 2, 3, 8]


def threads():
    """Those of in_order that live."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("urnscan-")]


def until(condition, seconds=60.0):
    """Wait for a condition; whether it came."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    assert until(lambda: not threads())


class TestOrder:
    """The results of all tasks in the order of the tasks."""

    @pytest.mark.full
    @FEW
    @given(
        st.lists(st.tuples(st.integers(0, 12), st.sampled_from([0, 0, 0, 0.001, 0.002])), max_size=25),
        st.sampled_from(WORKERS),
    )
    def test_uneven_tasks(self, tasks, workers):
        def work(task):
            number, (results, seconds) = task
            for result in range(results):
                time.sleep(seconds)
                yield number, result

        expected = [(number, result) for number, (results, _) in enumerate(tasks) for result in range(results)]
        assert list(in_order(enumerate(tasks), lambda: work, workers)) == expected

    @pytest.mark.full
    @pytest.mark.parametrize("workers", WORKERS)
    def test_uneven_workers(self, workers):
        """One of them is slow throughout."""
        speeds = count()

        def new_worker():
            speed = 0.002 * (next(speeds) % 2)

            def work(task):
                time.sleep(speed)
                yield task

            return work

        assert list(in_order(range(100), new_worker, workers)) == list(range(100))

    @pytest.mark.parametrize("workers", WORKERS)
    def test_none(self, workers):
        assert list(in_order([], lambda: iter, workers)) == []
        assert list(in_order([[], [], []], lambda: iter, workers)) == []

    @pytest.mark.parametrize("workers", WORKERS)
    def test_results_that_are_false(self, workers):
        tasks = [[None, 0, ""], [], [False]]
        assert list(in_order(tasks, lambda: iter, workers)) == [None, 0, "", False]

    def test_side_by_side(self):
        """Two tasks that wait for each other both end."""
        meeting = threading.Barrier(2, timeout=10)

        def work(task):
            meeting.wait()
            yield task

        assert list(in_order(range(4), lambda: work, 2)) == [0, 1, 2, 3]

    @pytest.mark.parametrize("workers", WORKERS)
    def test_one_worker_for_each_thread(self, workers):
        """What new_worker returns is one thread's own, and made in it."""
        made, used = [], set()

        def new_worker():
            thread = threading.get_ident()
            made.append(thread)

            def work(task):
                used.add((thread, threading.get_ident()))
                yield task

            return work

        list(in_order(range(50), new_worker, workers))
        assert len(made) == len(set(made)) <= workers
        assert all(one == other for one, other in used)
        assert threading.get_ident() not in made

    @pytest.mark.full
    @pytest.mark.parametrize("workers", WORKERS)
    def test_tasks_are_asked_for_by_one_thread_at_a_time(self, workers):
        asking = threading.Lock()

        def tasks():
            for number in range(60):
                assert asking.acquire(blocking=False)
                time.sleep(0.0005)
                asking.release()
                yield [number]

        assert list(in_order(tasks(), lambda: iter, workers)) == list(range(60))


class TestErrors:
    """What a task, a worker or `tasks` raises is raised where the results are taken, in its turn; the threads stop."""

    @pytest.mark.full
    @pytest.mark.parametrize("workers", WORKERS)
    @pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
    def test_of_a_task(self, workers, error):
        def work(task):
            yield task
            if task == 5:
                raise error("mine")

        results = in_order(count(), lambda: work, workers)
        assert [next(results) for _ in range(6)] == [0, 1, 2, 3, 4, 5]
        with pytest.raises(error, match="mine"):
            next(results)
        assert until(lambda: not threads())

    @pytest.mark.full
    @pytest.mark.parametrize("workers", WORKERS)
    def test_the_first_in_the_order_of_the_tasks(self, workers):
        """Though a later one came earlier."""

        def work(task):
            if task == 0:
                time.sleep(0.05)
            raise ZeroDivisionError(task)
            yield

        with pytest.raises(ZeroDivisionError, match="0"):
            list(in_order(range(10), lambda: work, workers))

    @pytest.mark.parametrize("workers", WORKERS)
    def test_of_tasks(self, workers):
        def tasks():
            yield [1]
            yield [2, 3]
            raise ZeroDivisionError

        taken = []
        with pytest.raises(ZeroDivisionError):
            taken.extend(in_order(tasks(), lambda: iter, workers))
        results = in_order(tasks(), lambda: iter, workers)
        assert [next(results) for _ in range(3)] == [1, 2, 3]
        with pytest.raises(ZeroDivisionError):
            next(results)

    @pytest.mark.parametrize("workers", WORKERS)
    def test_of_new_worker(self, workers):
        def new_worker():
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            list(in_order(count(), new_worker, workers))

    @pytest.mark.full
    @pytest.mark.parametrize("workers", WORKERS)
    def test_of_a_worker_that_is_no_generator(self, workers):
        def work(task):
            raise ZeroDivisionError(task)

        with pytest.raises(ZeroDivisionError):
            list(in_order(count(), lambda: work, workers))

    @pytest.mark.parametrize("workers", WORKERS)
    def test_is_the_same_error(self, workers):
        mine = ZeroDivisionError("mine")

        def work(_task):
            raise mine
            yield

        with pytest.raises(ZeroDivisionError) as caught:
            list(in_order([1], lambda: work, workers))
        assert caught.value is mine


class TestEnd:
    """The threads stop when the iterator is closed; "a thread that waits for input then does not hold up the end"."""

    @pytest.mark.parametrize("workers", WORKERS)
    def test_closed_early(self, workers):
        def work(_task):
            yield from count()

        results = in_order(count(), lambda: work, workers)
        assert next(results) == 0
        assert threads()
        results.close()
        assert until(lambda: not threads())

    @pytest.mark.parametrize("workers", WORKERS)
    def test_worker_that_holds_something_lets_go(self, workers):
        """A file that a task has open is closed when it is stopped."""
        opened, closed = [], []

        def work(task):
            opened.append(task)
            try:
                yield from [task] * 100
            finally:
                closed.append(task)

        results = in_order(count(), lambda: work, workers)
        next(results)
        results.close()
        assert until(lambda: not threads())
        assert sorted(opened) == sorted(closed) != []

    @pytest.mark.full
    def test_thread_that_waits_does_not_hold_up_the_end(self):
        given_up = threading.Event()

        def work(task):
            yield task
            given_up.wait(20)

        results = in_order(range(10), lambda: work, 1)
        assert next(results) == 0
        began = time.monotonic()
        results.close()
        assert time.monotonic() - began < 15
        given_up.set()

    def test_waiting_threads_are_no_reason_for_the_interpreter_to_stay(self):
        given_up = threading.Event()

        def work(task):
            yield task
            given_up.wait(20)

        results = in_order(range(2), lambda: work, 2)
        next(results)
        assert all(thread.daemon for thread in threads())
        given_up.set()
        results.close()

    def test_not_begun(self):
        """Nothing is done before the first result is asked for."""
        asked = []
        results = in_order((asked.append(task) or [task] for task in range(3)), lambda: iter, 2)
        assert not threads()
        results.close()
        assert asked == []


class TestBounds:
    """ "Only so many results wait as keep the threads busy, however slowly they are taken." """

    @pytest.mark.full
    @pytest.mark.parametrize("workers", WORKERS)
    def test_tasks_are_not_begun_without_bound(self, workers):
        begun = []

        def work(task):
            begun.append(task)
            yield task

        results = in_order(count(), lambda: work, workers)
        for taken in range(20):
            assert next(results) == taken
            time.sleep(0.01)
            assert len(begun) <= taken + 1 + parallel._TASKS * workers
        assert until(lambda: len(begun) >= 20 + workers - 1), "the threads are kept busy"
        results.close()

    @pytest.mark.full
    @pytest.mark.parametrize("workers", WORKERS)
    def test_results_of_a_task_do_not_pile_up(self, workers):
        """A huge file is one task with very many results."""
        made = [0] * 1_000

        def work(task):
            for result in count():
                made[task] = result + 1
                yield result

        results = in_order(range(1_000), lambda: work, workers)
        for taken in range(30):
            assert next(results) == taken
            time.sleep(0.005)
            assert made[0] <= taken + 1 + parallel._RESULTS + 1
            assert sum(made[1:]) <= workers * (parallel._RESULTS + 1)
        results.close()

    def test_small_results_wait_to_the_end_of_their_task(self):
        """A second web archive is read while the results of the first are still taken: two workers take half the time."""
        first_waits, second_ended = threading.Event(), threading.Event()

        def work(task):
            if task == 0:
                first_waits.wait(20)
            yield from [task] * 100
            if task == 1:
                second_ended.set()

        results = in_order(range(2), lambda: work, 2, lambda _: 1000)
        taken = []
        consumer = threading.Thread(target=lambda: taken.extend(results))
        consumer.start()
        ended = second_ended.wait(20)
        first_waits.set()
        consumer.join()
        assert ended
        assert taken == [0] * 100 + [1] * 100

    @FEW
    @given(st.lists(st.integers(0, parallel._WAITING // 2), min_size=1, max_size=60), st.sampled_from(WORKERS))
    def test_results_that_wait_have_so_many_bytes_at_most(self, sizes, workers):
        """But for a few of each task, which may be of any size: else the first might have to wait for later ones."""
        waiting, most = 0, 0
        lock = threading.Lock()

        def work(_task):
            nonlocal waiting, most
            for size in sizes:
                with lock:
                    waiting += size
                    most = max(most, waiting)
                yield size

        total = 0
        for size in in_order(range(4), lambda: work, workers, lambda size: size):
            time.sleep(0.0001)
            with lock:
                waiting -= size
            total += size
        assert total == 4 * sum(sizes)
        few = sorted(sizes)[-parallel._RESULTS - 2 :]  # one is in the hand of the worker, one in that of the caller
        assert most <= parallel._WAITING + 4 * sum(few)

    @pytest.mark.full
    @pytest.mark.parametrize("workers", WORKERS)
    def test_slow_first_task_does_not_let_the_others_run_ahead(self, workers):
        slow = threading.Event()
        begun = []

        def work(task):
            begun.append(task)
            if task == 0:
                slow.wait(20)
            yield task

        results = in_order(range(10_000), lambda: work, workers)
        taken = []
        consumer = threading.Thread(target=lambda: taken.append(next(results)))
        consumer.start()
        time.sleep(0.15)
        assert len(begun) <= parallel._TASKS * workers + 1
        slow.set()
        consumer.join()
        assert taken == [0]
        results.close()
