"""Requests to servers, started in parallel; their results in the order of the requests."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias, TypeVar

Item = TypeVar("Item")
Request: TypeAlias = Callable[[], Iterator[Item]]

_MOST = 32  # requests that are started ahead, by default


def in_turn(parts: Iterable[Iterator[Item] | Request[Item]], most: int = _MOST) -> Generator[Item, None, None]:
    """The items of all parts, part by part.

    A part that is a function is a request: it waits for a server until its first item. Up to `most` requests are started
    ahead, in threads.
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
        # A server that is silent does not delay the end.
        threads.shutdown(wait=False, cancel_futures=True)


def _begin(request: Request[Item]) -> Iterator[Item]:
    """Wait for the first item of a request; all its items."""
    items = request()
    return itertools.chain(list(itertools.islice(items, 1)), items)
