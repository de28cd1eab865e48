"""Signals that stop the command: Ctrl-C, SIGTERM and SIGHUP."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterable, Iterator
from typing import NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def handle_signals() -> None:
    """From now on, Ctrl-C raises KeyboardInterrupt, and SIGTERM and SIGHUP raise SystemExit with 128 + their number, in
    the main thread. After the first of these signals, further ones are ignored, so that the command can clean up.
    Signals that the caller ignores (nohup) stay ignored.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(number: int, _frame: object) -> NoReturn:
    """Ignore further signals, and end the command by an exception, so that everything is cleaned up."""
    for handled in _SIGNALS:
        signal.signal(handled, signal.SIG_IGN)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


@contextlib.contextmanager
def uninterrupted(outputs: Iterable[str]) -> Iterator[None]:
    """Context that delays the signals of `handle_signals` to its end, so that no signal arrives between the creation of
    a file and the registration of the file for removal. At the end, a delayed signal raises KeyboardInterrupt or
    SystemExit; but if the block raises an error, that error is raised.

    `outputs` are paths and URLs: if one is a URL of a server, signals are not delayed.
    """
    from urnscan.stores.urls import is_remote

    # An upload may take long, and the user must be able to stop it.
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
