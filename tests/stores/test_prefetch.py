"""Parts of a list that wait for a server: begun side by side, taken in their order."""

from __future__ import annotations

import functools
import http.server
import itertools
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.inputs.arguments import find_listed
from urnscan.inputs.lists import PathList
from urnscan.stores.input import Input
from urnscan.stores.prefetch import in_turn


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=80))
def test_order(parts):
    """All items of all parts in their order, whichever wait."""
    numbers = itertools.count()
    items = [[next(numbers) for _ in range(count)] for _, count in parts]
    given = (
        (lambda some=some: iter(some)) if waits else iter(some) for (waits, _), some in zip(parts, items, strict=True)
    )
    assert list(in_turn(given)) == list(itertools.chain(*items))


def test_errors_come_in_their_turn():
    """What stands before the part that fails is given first."""

    def fail():
        raise ValueError("no")

    found = in_turn([lambda: iter([1]), fail, lambda: iter([2])])
    assert next(found) == 1
    with pytest.raises(ValueError, match="no"):
        next(found)


def test_no_more_are_begun_than_wait():
    """A list of ten million URLs is a stream: parts are asked for as they are taken."""
    asked = []
    found = in_turn((asked.append(number), functools.partial(iter, [number]))[1] for number in range(1000))
    next(found)
    assert len(asked) <= 40
    found.close()


@pytest.mark.full
def test_listed_urls_are_asked_for_together(tmp_path):
    """They were asked for one by one: 400 at 50 ms took 23 s. Their order stays, also with files between them."""
    lock, now, most = threading.Lock(), 0, 0

    class Slow(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            nonlocal now, most
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.05)
            is_there = not self.path.endswith("7.txt")
            self.send_response(200 if is_there else 404)
            self.send_header("Content-Length", "3")
            self.end_headers()
            self.wfile.write(b"abc")
            with lock:
                now -= 1

        def log_message(self, *_):
            """Print nothing."""

    (tmp_path / "a.txt").write_bytes(b"")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        names = [f"http://127.0.0.1:{server.server_port}/{number}.txt" for number in range(100)]
        names[50:50] = [str(tmp_path / "a.txt")]
        (tmp_path / "list").write_text("\n".join(names))
        found = list(find_listed([PathList(str(tmp_path / "list"))]))
        server.shutdown()
    told = [each.name if isinstance(each, Input) else each for each in found]
    assert [each for each in told if isinstance(each, str) and each.startswith("http")] == [
        name for name in names if name.startswith("http") and not name.endswith("7.txt")
    ]
    assert sum("does not exist" in str(each) for each in told) == 10
    assert most > 4
