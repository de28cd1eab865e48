"""Progress bar of a run: stage, bytes or rows, rate, and the remaining time if the total is known.

The command shows the bar on a terminal, the library in a notebook and in an interactive session.
"""

from __future__ import annotations

import contextlib
import contextvars
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO

# Seconds after which the library shows the bar. A shorter run shows no bar.
_DELAY = 0.5
# Seconds after which the rate is good enough for showing the remaining time.
_TELLING = 1.0
# A terminal with fewer columns has no room for all parts of a bar.
_NARROW = 60


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a run, such as scanning, for the progress bar: its name and the total amount of its work."""

    name: str
    """Name of the stage, a verb: `scanning`."""
    total: int | None = None
    """Amount of work in `unit`; None if unknown."""
    unit: str = "B"
    """Unit of the work: bytes (`B`), `ROWS`, `FUNCTIONS` or `TEXTS`."""


ROWS, FUNCTIONS, TEXTS = " rows", " functions", " texts"
"""Units of stages."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Functions that a run calls to report failures and to move its progress bar. Those that are not set do nothing."""

    on_failure: Callable[[Any], None] = lambda _: None
    """Called with each failure (SourceError) and each note (SourceNote)."""
    on_progress: Callable[[int], object] = lambda _: None
    """Called with the amount of work done since the last call, in the unit of the stage."""
    on_stage: Callable[[Stage], object] = lambda _: None
    """Called with each stage after the first, when it begins: the bar starts again at 0."""
    close: Callable[[], object] = lambda: None
    """Removes a text bar for the rest of the run; later calls of the other functions show nothing."""


def show_if_wanted(
    wanted: bool | None, stage: str, total: Callable[[], int | None], stack: contextlib.ExitStack
) -> Progress:
    """Show a progress bar, from half a second after this call until `stack` is closed, and return the functions that
    move the bar. Without a bar, they do nothing.

    `wanted`: True, False, or None for a bar only in a notebook or an interactive session on a terminal. `stage`: name
    of the first stage. `total` returns the number of bytes that will be read, or None if unknown; it is called only if
    there is a bar.
    """
    in_notebook = _is_in_notebook()
    if wanted is None:
        wanted = _is_interactive()
    if not wanted or sys.stderr is None:
        return Progress()
    if in_notebook and importlib.util.find_spec("ipywidgets") is not None:
        return _open_widget(Stage(stage, total()), stack)
    return open_bar(Stage(stage, total()), stack, file=sys.stdout if in_notebook else sys.stderr, delay=_DELAY)


def tell_if_interactive(message: str) -> None:
    """Print `urnscan: ` and the message on standard error, above the bar, if this is a notebook or an interactive
    session on a terminal; otherwise do nothing.
    """
    if _is_interactive() and sys.stderr is not None:
        with without_bar():
            sys.stderr.write(f"urnscan: {message}\n")
            sys.stderr.flush()


def _is_interactive() -> bool:
    return _is_in_notebook() or (hasattr(sys, "ps1") and sys.stderr is not None and sys.stderr.isatty())


def _is_in_notebook() -> bool:
    return getattr(_shell(), "kernel", None) is not None


def running_cell() -> int | None:
    """Number of the cell that runs, in a notebook or in IPython, in any thread; None elsewhere."""
    return getattr(_shell(), "execution_count", None)


def _shell() -> Any:  # noqa: ANN401 (of IPython, if that is there)
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def open_bar(
    stage: Stage,
    stack: contextlib.ExitStack,
    *,
    file: TextIO | None = None,
    delay: float = 0,
) -> Progress:
    """Show a text bar on `file` (None: standard error), from `delay` seconds after this call until `stack` is closed.
    `stage` is the first stage. Returns the functions that move the bar; its `on_failure` does nothing.
    """
    from tqdm import tqdm  # noqa: PLC0415 (only a run with a bar needs it)

    class Bar(tqdm):  # type: ignore[type-arg]
        """A bar that leaves room for the ^C that a terminal shows at the end of the line, and clears the ^C, too."""

        @property
        def format_dict(self) -> dict[str, Any]:
            """Values from which tqdm draws the bar; `ncols` is the width of the terminal without the room for ^C."""
            values = super().format_dict
            columns = values["ncols"] and max(values["ncols"] - len("^C"), 1)
            return {**values, "ncols": columns, "bar_format": _bar_format(columns, values["total"], values["elapsed"])}

        def clear(self, nolock: bool = False) -> None:
            """Clear the whole line."""
            self.display(" " * (self.ncols or 0))
            super().clear(nolock)

        def close(self) -> None:
            """Remove the bar. If the bar was never shown, there is nothing to clear."""
            if not self.disable and self.last_print_t >= self.start_t + (self.delay or 0):
                self.clear()
            super().close()

    began = time.monotonic()
    # At most one bar: that of the current stage.
    bars: list[Bar] = []

    is_open = True

    def remove() -> None:
        while bars:
            bars.pop().close()

    def close() -> None:
        nonlocal is_open
        is_open = False
        remove()

    def begin(stage: Stage) -> None:
        remove()
        if not is_open:
            return
        left = max(0.0, began + delay - time.monotonic())
        bars.append(Bar(**_bar_options(stage), dynamic_ncols=True, file=file, delay=left))

    def update(more: int) -> None:
        for bar in bars:
            bar.update(more)

    begin(stage)
    stack.callback(close)
    return Progress(on_progress=update, on_stage=begin, close=close)


def _bar_options(stage: Stage) -> dict[str, Any]:
    return {
        "desc": stage.name,
        "total": stage.total,
        "unit": stage.unit,
        "unit_scale": True,
        "leave": False,
        # There are few updates, so tqdm can check the clock at each update.
        "miniters": 0,
        # The rate is an average of about the last twenty updates, so the remaining time does not jump.
        "smoothing": 0.05,
    }


def _bar_format(columns: int | None, total: int | None, seconds: float) -> str | None:
    """The layout of a bar for tqdm; None is the default. `columns`: width of the terminal, None if unknown. `seconds`:
    time since the stage began.
    """
    if total is None:
        return None
    times = "{elapsed}<{remaining}" if seconds >= _TELLING else "{elapsed}"
    if columns and columns < _NARROW:
        return "{desc}: {percentage:3.0f}% [" + times + ", {rate_fmt}]"
    return "{l_bar}{bar}| {n_fmt}/{total_fmt} [" + times + ", {rate_fmt}{postfix}]"


@contextlib.contextmanager
def without_bar() -> Iterator[None]:
    """Context manager that hides the bar, so that lines can be written to the terminal; at the end, the bar is drawn
    again below them. Does nothing without a bar.
    """
    tqdm = sys.modules.get("tqdm")
    # If tqdm is not loaded, no bar was ever shown.
    if tqdm is None:
        yield
    else:
        with tqdm.tqdm.external_write_mode(file=sys.stderr):
            yield


def _open_widget(stage: Stage, stack: contextlib.ExitStack) -> Progress:
    """Show a bar in the output of a notebook cell, until `stack` is closed, and return the functions that move it."""
    from IPython.display import display  # noqa: PLC0415 (installed wherever a notebook runs)
    from tqdm.notebook import tqdm  # noqa: PLC0415 (as above)

    bar = tqdm(**_bar_options(stage), display=False)
    began = time.monotonic()
    # The kernel finds the cell through this context, also if another thread shows the bar.
    cell = contextvars.copy_context()
    handles: list[Any] = []

    def show() -> None:
        if not handles and time.monotonic() - began >= _DELAY:
            handles.append(cell.run(display, bar.container, display_id=True))

    def update(more: int) -> None:
        bar.update(more)
        show()

    def begin_next(stage: Stage) -> None:
        bar.unit, bar.total = stage.unit, stage.total
        bar.set_description_str(stage.name, refresh=False)
        bar.reset(stage.total)
        show()

    def close() -> None:
        bar.close()
        bar.container.close()
        for handle in handles:
            handle.update({"text/plain": ""}, raw=True)

    stack.callback(close)
    return Progress(on_progress=update, on_stage=begin_next)
