"""What happens when somebody asks the command to stop."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterable, Iterator
from typing import NoReturn

__all__ = ["heed", "uninterrupted"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heed() -> None:
    """From now on whoever asks to stop is heard, but for what the caller of the command wants to be ignored."""
    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup wants it
            signal.signal(number, _interrupt)


def _interrupt(number: int, _frame: object) -> NoReturn:
    """Stop and clean up; whoever asks again while that is done has to wait for it."""
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


@contextlib.contextmanager
def uninterrupted(outputs: Iterable[str]) -> Iterator[None]:
    """Who asks to stop meanwhile is heard at the end: between making a file and knowing of it nothing may come.

    With an output in a store it is heard at once: those may take long, and whoever waits for them may want to stop.
    """
    from urnscan.sources import is_remote  # noqa: PLC0415 (heavy: --help does without)

    if any(map(is_remote, outputs)):
        yield
        return
    asked: list[int] = []
    handled = [number for number in _SIGNALS if signal.getsignal(number) is _interrupt]
    for number in handled:
        signal.signal(number, lambda number, _frame: asked.append(number))
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, _interrupt)
    if asked:
        _interrupt(asked[0], None)
