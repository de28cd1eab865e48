"""Parts that wait for a server, begun side by side and taken in their order."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias, TypeVar

Item = TypeVar("Item")
Request: TypeAlias = Callable[[], Iterator[Item]]

_MOST = 32  # parts that are begun, unless less is asked for


def in_turn(parts: Iterable[Iterator[Item] | Request[Item]], most: int = _MOST) -> Generator[Item, None, None]:
    """The items of all parts, part by part.

    A part that is a function waits for a server until its first item: up to `most` such parts are begun ahead, in threads.
    """
    begun: deque[Future[Iterator[Item]]] = deque()
    threads = ThreadPoolExecutor(most, "urnscan-ahead")  # starts none before it has to
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
        threads.shutdown(wait=False, cancel_futures=True)  # a server that is silent does not delay the end


def _begin(request: Request[Item]) -> Iterator[Item]:
    """Get the first item of a part; the others are still to come."""
    items = request()
    return itertools.chain(list(itertools.islice(items, 1)), items)
