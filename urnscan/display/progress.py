"""Progress bar of a run: stage, octets, rate, and the time left if the size is known.

The command shows it on a terminal, the library in a notebook and in an interactive session.
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

_DELAY = 0.5  # seconds: a shorter run of the library shows no bar


@dataclass(frozen=True, slots=True)
class Progress:
    """Functions that a run calls: for each failure, after reading with the number of octets, and at each stage with its name."""

    on_failure: Callable[[object], None] = lambda _: None
    on_progress: Callable[[int], object] = lambda _: None
    on_stage: Callable[[str], object] = lambda _: None


def show_if_wanted(
    wanted: bool | None, stage: str, total: Callable[[], int | None], stack: contextlib.ExitStack
) -> Progress:
    """Show a bar until the stack is closed, if it is wanted and the run takes longer than half a second.

    `wanted` None means: in a notebook, and in an interactive session on a terminal. `stage` is the name of the first stage.
    `total` returns the octets that will be read, or None if unknown.
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
    """Show a bar made of text until the stack is closed, on standard error or on `file`, after `delay` seconds.

    Lines that `on_failure` writes there stand above the bar.
    """
    from tqdm import tqdm  # noqa: PLC0415 (only a run with a bar needs it)

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
    """Bar in the output of a notebook cell; it appears after half a second."""

    def __init__(self, stage: str, total: int | None) -> None:
        from tqdm.notebook import tqdm  # noqa: PLC0415 (as above)

        self._bar = tqdm(desc=stage, total=total, unit="B", unit_scale=True, leave=False, display=False)
        self._began = time.monotonic()
        self._cell = contextvars.copy_context()  # from it the kernel knows the cell, in any thread
        self._shown: Any = None

    def update(self, octets: int) -> None:
        """Add octets that were read."""
        self._bar.update(octets)
        self._show()

    def tell(self, stage: str) -> None:
        """Show the name of the stage that begins."""
        self._bar.set_description(stage)
        self._show()

    def close(self) -> None:
        """Remove the bar, so that a saved notebook does not contain it."""
        self._bar.close()
        self._bar.container.close()
        if self._shown is not None:
            self._shown.update({"text/plain": ""}, raw=True)

    def _show(self) -> None:
        from IPython.display import display  # noqa: PLC0415 (installed wherever a notebook runs)

        if self._shown is None and time.monotonic() - self._began >= _DELAY:
            self._shown = self._cell.run(display, self._bar.container, display_id=True)
