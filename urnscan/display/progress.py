"""A bar that shows how far a run is: octets, rate, the time that is left where the size is known, and the stage.

The command has one on its terminal, the library in a notebook and in an interactive session.
"""

from __future__ import annotations

import contextlib
import contextvars
import importlib.util
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TextIO

__all__ = ["Progress", "open_bar", "show_if_wanted"]

_DELAY = 0.5  # seconds: what is done sooner shows no bar


@dataclass(frozen=True, slots=True)
class Progress:
    """What a run is to call: of each failure, of how many octets were read, of what comes now."""

    on_failure: Callable[[object], None] = lambda _: None
    on_progress: Callable[[int], object] = lambda _: None
    on_stage: Callable[[str], object] = lambda _: None


def show_if_wanted(
    wanted: bool | None, stage: str, total: Callable[[], int | None], stack: contextlib.ExitStack
) -> Progress:
    """A bar until the stack is closed, if the run takes a while; `wanted` is None: in a notebook, and in an interactive
    session on a terminal.

    `stage` is what comes first, `total` gives how many octets will be read, None where nobody knows.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    in_notebook = getattr(shell, "kernel", None) is not None
    if wanted is None:
        wanted = in_notebook or (hasattr(sys, "ps1") and sys.stderr is not None and sys.stderr.isatty())
    if not wanted or sys.stderr is None:
        return Progress()
    if in_notebook and importlib.util.find_spec("ipywidgets") is not None:
        bar = stack.enter_context(contextlib.closing(_Widget(stage, total())))
        return Progress(on_progress=bar.update, on_stage=bar.tell)
    return open_bar(stage, total(), stack, file=sys.stdout if in_notebook else sys.stderr, delay=_DELAY)


def open_bar(
    stage: str,
    total: int | None,
    stack: contextlib.ExitStack,
    *,
    on_failure: Callable[[object], None] = lambda _: None,
    file: TextIO | None = None,
    delay: float = 0,
) -> Progress:
    """A bar made of text until the stack is closed, on standard error or on `file`, from so many seconds on.

    What `on_failure` writes there stands above it.
    """
    from tqdm import tqdm  # noqa: PLC0415 (it is loaded where there is a bar)

    bar = tqdm(
        desc=stage, total=total, unit="B", unit_scale=True, leave=False, dynamic_ncols=True, file=file, delay=delay
    )
    began = time.monotonic()
    stack.enter_context(bar)

    def tell(now: str) -> None:
        bar.set_description(now, refresh=time.monotonic() - began >= delay)

    def fail(failure: object) -> None:
        with tqdm.external_write_mode(file=file or sys.stderr):
            on_failure(failure)

    return Progress(fail, bar.update, tell)


class _Widget:
    """A bar in the output of a cell, from the moment on at which the run turns out to take a while."""

    def __init__(self, stage: str, total: int | None) -> None:
        from tqdm.notebook import tqdm  # noqa: PLC0415 (as above)

        self._bar = tqdm(desc=stage, total=total, unit="B", unit_scale=True, leave=False, display=False)
        self._began = time.monotonic()
        self._cell = contextvars.copy_context()  # by which a kernel knows the cell whose output it is, in any thread
        self._shown: Any = None

    def update(self, octets: int) -> None:
        """So many more were read."""
        self._bar.update(octets)
        self._show()

    def tell(self, stage: str) -> None:
        """What comes now."""
        self._bar.set_description(stage)
        self._show()

    def close(self) -> None:
        """Take it away: what is kept of a notebook should not have it."""
        self._bar.close()
        self._bar.container.close()
        if self._shown is not None:
            self._shown.update({"text/plain": ""}, raw=True)

    def _show(self) -> None:
        from IPython.display import display  # noqa: PLC0415 (it is there where a notebook is)

        if self._shown is None and time.monotonic() - self._began >= _DELAY:
            self._shown = self._cell.run(display, self._bar.container, display_id=True)
