"""Parallel requests to servers, with results in the order of the requests."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias, TypeVar

Item = TypeVar("Item")
Request: TypeAlias = Callable[[], Iterator[Item]]

_MOST = 32  # pending requests


def in_turn(parts: Iterable[Iterator[Item] | Request[Item]], most: int = _MOST) -> Generator[Item, None, None]:
    """Yield the items of all parts, in order; up to `most` requests run in threads ahead of the consumer.

    A part is an iterator, or a request: a function that returns an iterator, and may wait for a server. Raises the
    errors of requests and iterators.
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
    """Call a request and wait for the first item. Returns an iterator of all items."""
    items = request()
    return itertools.chain(list(itertools.islice(items, 1)), items)
