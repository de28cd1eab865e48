"""Parallel requests to servers, with results in the order of the requests."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias, TypeVar

Item = TypeVar("Item")
Request: TypeAlias = Callable[[], Iterator[Item]]

_MAX = 32  # pending requests


def in_turn(parts: Iterable[Iterator[Item] | Request[Item]], most: int = _MAX) -> Generator[Item, None, None]:
    """Yield the items of all parts, in the order of the parts. Up to `most` requests run ahead, in threads; none beyond
    a part that is an iterator.

    A part is an iterator of items, or a request: a function that returns such an iterator, and may wait for a server. A
    thread calls the request and makes its first item; all other items are made in the thread of the caller. An error of
    a part is raised at the place of its items. Closing the generator cancels the requests that wait for a thread, and
    does not wait for the others.
    """
    begun: deque[Future[Iterator[Item]]] = deque()
    # No thread is started before it is needed.
    threads = ThreadPoolExecutor(most, "urnscan-ahead")
    try:
        for part in parts:
            if callable(part):
                begun.append(threads.submit(_begin, part))
            while begun and (len(begun) >= most or not callable(part) or begun[0].done()):
                yield from begun.popleft().result()
            if not callable(part):
                yield from part
        while begun:
            yield from begun.popleft().result()
    finally:
        # The end does not wait for a server that does not answer.
        threads.shutdown(wait=False, cancel_futures=True)


def _begin(request: Request[Item]) -> Iterator[Item]:
    """Call a request, and wait for its first item."""
    items = request()
    return itertools.chain(list(itertools.islice(items, 1)), items)
