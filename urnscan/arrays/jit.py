"""Compiled functions: threads run them side by side (`nogil`), and code that is kept on disk spares later runs the compiler."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from urnscan.arrays import object_code
from urnscan.display.progress import running_cell, tell_if_interactive

IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
"""Whether functions are compiled at all, and can call others that are."""

_TIME = "about a minute"
_PAUSE = 0.5  # seconds between two functions: where there are no cells, they may be of two calls
NOT_KEPT = "no folder for the result can be written (NUMBA_CACHE_DIR names one)"
"""The reason why compiled code is not kept, for messages."""
_CONTIGUOUS, _WRITABLE, _ALIGNED = 0x1, 0x400, 0x100  # flags of an array
_PYTHON_KINDS: dict[type, type] = {np.bool_: bool, np.int64: int, np.float64: float}  # the same to Numba
_LOCK = threading.RLock()

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Scalar = TypeVar("_Scalar", bound=np.generic)
_Result = TypeVar("_Result")


class Part:
    """A function that only compiled functions call."""

    def __init__(self, function: Callable[..., Any], **options: bool | str) -> None:
        functools.update_wrapper(self, function)
        self._function, self._options = function, options

    def __call__(self, *_: object) -> Any:  # noqa: ANN401 (any function)
        """Refuse: the code has no entry for Python."""
        raise TypeError("only compiled functions can call this function")

    @functools.cached_property
    def dispatcher(self) -> Any:  # noqa: ANN401 (Numba carries no types)
        """Numba's form of the function."""
        return _compiler().dispatcher(self._function, _resolved, **self._options)


class Entry(Part):
    """A compiled function that Python calls. At its first call for each kind of arguments its code is loaded or compiled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._codes: dict[object, Callable[..., Any]] = {}

    def __call__(self, *arguments: object) -> Any:  # noqa: ANN401 (any function)
        """Call the compiled code."""
        kinds = (*map(_kind, arguments),)
        return (self._codes.get(kinds) or self._prepared(kinds, arguments))(*arguments)

    def with_last(self, last: tuple[object, ...]) -> Callable[..., Any]:
        """The function with its last arguments given, whose kinds are looked at only now."""
        last_kinds = (*map(_kind, last),)
        codes: dict[object, Callable[..., Any]] = {}

        def call(*first: object) -> Any:  # noqa: ANN401 (any function)
            kinds = (*map(_kind, first),)
            code = codes.get(kinds)
            if code is None:
                code = codes[kinds] = self._prepared((*kinds, *last_kinds), (*first, *last))
            return code(*first, *last)

        return call

    @property
    def kinds(self) -> list[object]:
        """The kinds of arguments for which there is code in this process."""
        return [*self._codes]

    def _prepared(self, kinds: tuple[object, ...], arguments: tuple[object, ...]) -> Callable[..., Any]:
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        is_ours = name.startswith(f"{object_code.PACKAGE.name}.")  # a change of others would not be seen
        with _LOCK:
            code = self._codes.get(kinds) or (object_code.load(name, kinds) if is_ours else None)
            if code is None:
                with _WATCH.compilation():
                    code, kept = _compiler().compile_for(self.dispatcher, arguments)
                if kept is not None and is_ours:
                    object_code.save(name, kinds, kept)
            self._codes[kinds] = code
        return code


class External(NamedTuple):
    """A function of the C library that compiled functions call."""

    name: str
    result: str
    arguments: tuple[str, ...]


def _kind(value: object) -> object:
    """All of an argument's type on which compiled code depends."""
    if isinstance(value, np.ndarray):
        flags: int = value.flags.num
        if not flags & _CONTIGUOUS:
            raise TypeError("compiled functions are for arrays without gaps")
        # Each call asks for these: code compiled for octets would read beyond the end of an array of numbers.
        return value.dtype, value.ndim, flags & (_WRITABLE | _ALIGNED)
    if isinstance(value, tuple):
        return type(value), *map(_kind, value)
    return _PYTHON_KINDS.get(type(value), type(value))


def _resolved(value: object) -> object:
    """The form of a value that Numba knows."""
    if isinstance(value, Part):
        return value.dispatcher
    return _compiler().external(*value) if isinstance(value, External) else value


def _compiler() -> ModuleType:
    from urnscan.arrays import compiler  # noqa: PLC0415 (it loads Numba)

    return compiler


def compiled(function: _Function) -> _Function:
    """Compile a function that Python calls at its first call; with NUMBA_DISABLE_JIT=1 return the function itself.

    It must not make arrays: it is given arrays for its results. NumPy's functions that make arrays take long to compile.
    """
    return cast(_Function, Entry(function)) if IS_COMPILED else function


def with_last(function: Callable[..., _Result], *last: object) -> Callable[..., _Result]:
    """A compiled function with its last arguments given. A call looks at the kinds of the others alone, which takes less time.

    Nobody may change the kind of an array that is given, as by making it read-only.
    """
    if isinstance(function, Entry):
        return function.with_last(last)
    return lambda *first: function(*first, *last)


def inner(function: _Function) -> _Function:
    """Compile a function that only compiled functions call; Python cannot call it."""
    return cast(_Function, Part(function, no_cpython_wrapper=True)) if IS_COMPILED else function


def inlined(function: _Function) -> _Function:
    """Make a function part of each function that calls it, so that a call costs nothing; Python cannot call it."""
    return cast(_Function, Part(function, inline="always")) if IS_COMPILED else function


class _Watch:
    """Counts functions that are compiled in this process, and tells before the first of a call."""

    def __init__(self) -> None:
        self.compiled = 0
        self.tell: Callable[[str], None] = tell_if_interactive
        self.count: Callable[[int], object] | None = None
        self.is_all = False
        """Whether all that follows is told in one line."""
        self._is_told = False
        self._ended = time.monotonic()
        self._cell: int | None = None

    def begin(self, *, is_all: bool) -> None:
        """Tell before the next function, and then either no more or before the first of each call."""
        self.is_all, self._is_told = is_all, False

    @contextlib.contextmanager
    def compilation(self) -> Iterator[None]:
        """In this block one function is compiled."""
        before, self._cell = self._cell, running_cell()
        is_late = time.monotonic() - self._ended > _PAUSE
        if not self.is_all and (is_late if self._cell is None else self._cell != before):
            self._is_told = False
        if not self._is_told:
            self._is_told = True
            self.tell(notice())
        yield
        self._ended = time.monotonic()
        self.end_one()

    def end_one(self) -> None:
        """Count one function that was compiled."""
        self.compiled += 1
        if self.count:
            self.count(1)


_WATCH = _Watch()


def tell_with(tell: Callable[[str], None]) -> None:
    """Have `tell` called with a line before the first function is compiled in this process, and then no more."""
    _WATCH.tell = tell
    _WATCH.begin(is_all=True)


@contextlib.contextmanager
def all_in_one() -> Iterator[None]:
    """In this block one line tells of all that is compiled."""
    before = _WATCH.is_all
    _WATCH.begin(is_all=True)
    try:
        yield
    finally:
        _WATCH.begin(is_all=before)


def count_with(count: Callable[[int], object] | None) -> None:
    """Have `count` called with 1 after each function that is compiled from now on; None: have nothing called."""
    _WATCH.count = count


def count_one() -> None:
    """Count a function that another process compiled for this one."""
    _WATCH.end_one()


def count() -> int:
    """Number of functions that were compiled in or for this process, without those that are part of others."""
    return _WATCH.compiled


def notice() -> str:
    """The line that tells that functions are being compiled."""
    folder = kept_in()
    if folder is None:
        return f"compiling takes {_TIME}, in each run, as {NOT_KEPT}"
    other = "" if folder == object_code.PACKAGE else f"; the result is kept in {folder}"
    if _WATCH.is_all:
        return f"compiling for this machine, once, takes {_TIME}{other}"
    return (
        "compiling for this machine, once, what this call needs: up to a minute; "
        f"urnscan.warm_up() does it for all calls{other}"
    )


def kept_in() -> Path | None:
    """The folder in which compiled code is kept; None if there is none. A read-only one counts if it holds all."""
    folder = object_code.cache_folder()
    if folder is None:
        return None
    return object_code.PACKAGE if folder.is_relative_to(object_code.PACKAGE) else folder.parent


def from_c(name: str, result: str, *arguments: str) -> Any:  # noqa: ANN401 (only compiled code can call it)
    """A function of the C library for compiled functions; types are named as Numba names them."""
    return External(name, result, arguments)


def read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """A read-only view of `array`: to Numba that is a type of its own, and each type it meets costs a compilation."""
    view = array.view()
    view.flags.writeable = False
    return view
