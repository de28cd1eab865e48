"""Decorators and calls of compiled functions.

Compiled functions release the GIL, so threads run them in parallel. Compiled code is saved on disk for later runs.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from urnscan.compiled import object_code
from urnscan.display.progress import running_cell, tell_if_interactive

IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
"""Whether functions are compiled. With the environment variable NUMBA_DISABLE_JIT=1 they run as plain Python."""

_TIME = "about a minute"
# Outside notebooks, a pause of this many seconds between two compilations means that the user made a new call.
_PAUSE = 0.5
NOT_KEPT = "the result cannot be saved; set NUMBA_CACHE_DIR to a folder that can be written"
"""Text for messages: compiled code is not saved, and what to do."""
# Bits of NumPy's array flags.
_CONTIGUOUS, _WRITABLE, _ALIGNED = 0x1, 0x400, 0x100
_PYTHON_KINDS: dict[type, type] = {np.bool_: bool, np.int64: int, np.float64: float}
"""NumPy scalar type -> the Python type that Numba compiles to the same code."""
_LOCK = threading.RLock()

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Scalar = TypeVar("_Scalar", bound=np.generic)
_Result = TypeVar("_Result")


class CompiledFunction:
    """A function that is compiled together with its callers. Only compiled functions can call it: a call from Python
    raises TypeError, except for the subclass `Entry`. `options`: further ones of `numba.njit`, as of `dispatcher`.
    """

    def __init__(self, function: Callable[..., Any], **options: bool | str) -> None:
        functools.update_wrapper(self, function)
        self._function, self._options = function, options

    def __call__(self, *_: object) -> Any:  # noqa: ANN401 (any function)
        """Always raise TypeError."""
        raise TypeError("only compiled functions can call this function")

    @functools.cached_property
    def dispatcher(self) -> Any:  # noqa: ANN401 (Numba carries no types)
        """Numba's dispatcher of the function: the object that compiles it. The first access loads Numba."""
        return _compiler().dispatcher(self._function, _resolved, **self._options)


class Entry(CompiledFunction):
    """A compiled function that Python can call. The first call with new argument types loads or compiles the code."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._codes: dict[object, Callable[..., Any]] = {}

    def __call__(self, *arguments: object) -> Any:  # noqa: ANN401 (any function)
        """Run the code that is compiled for arguments of these kinds (types; of arrays also dtype, dimensions and
        flags), and return its result. Without such code, load or compile it first. Raises TypeError for an array that
        is not contiguous.
        """
        kinds = (*map(_kind, arguments),)
        return (self._codes.get(kinds) or self._prepared(kinds, arguments))(*arguments)

    def with_last(self, last: tuple[object, ...]) -> Callable[..., Any]:
        """Return a function that takes the other (first) arguments, and calls this function with them and `last`. The
        kinds (types, and dtypes and flags of arrays) of `last` are determined now, and not at each call: they must not
        change.
        """
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
        """The kinds of arguments for which this process has code: a tuple for each variant of the code, with a kind
        (type; for an array dtype, dimensions and flags) for each argument.
        """
        return [*self._codes]

    def _prepared(self, kinds: tuple[object, ...], arguments: tuple[object, ...]) -> Callable[..., Any]:
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        # Only code of this package is saved: `object_code.SOURCES` would not notice a change in other packages.
        is_ours = name.startswith(f"{object_code.PACKAGE.name}.")
        with _LOCK:
            code = self._codes.get(kinds) or (object_code.load(name, kinds) if is_ours else None)
            if code is None:
                with _WATCH.compilation():
                    code, to_save = _compiler().compile_for(self.dispatcher, arguments)
                if to_save is not None and is_ours:
                    object_code.save(name, kinds, to_save)
            self._codes[kinds] = code
        return code


class External(NamedTuple):
    """The declaration of a function of the C library that compiled functions call; Python cannot. `result` and
    `arguments` are Numba's names of types, such as `uintp`.
    """

    name: str
    result: str
    arguments: tuple[str, ...]


def _kind(value: object) -> object:
    """Kind of an argument: calls whose arguments have the same kinds use the same compiled code. Raises TypeError for
    an array that is not contiguous.
    """
    if isinstance(value, np.ndarray):
        flags: int = value.flags.num
        if not flags & _CONTIGUOUS:
            raise TypeError("compiled functions are for arrays without gaps")
        # Each call checks dtype and dimensions: code compiled for bytes would read beyond the end of an array of numbers.
        return value.dtype, value.ndim, flags & (_WRITABLE | _ALIGNED)
    if isinstance(value, tuple):
        return type(value), *map(_kind, value)
    return _PYTHON_KINDS.get(type(value), type(value))


def _resolved(value: object) -> object:
    """The object that Numba uses in place of a value of Python: the dispatcher (which compiles) of a function, the
    declaration of an External, any other value unchanged.
    """
    if isinstance(value, FunctionType):
        value = _plain(value)
    if isinstance(value, CompiledFunction):
        return value.dispatcher
    return _compiler().external(*value) if isinstance(value, External) else value


@functools.cache
def _plain(function: Callable[..., Any]) -> CompiledFunction:
    """The compiled variant of a plain Python function that compiled functions call."""
    return CompiledFunction(function, no_cpython_wrapper=True)


def _compiler() -> ModuleType:
    from urnscan.compiled import compiler  # noqa: PLC0415 (it loads Numba)

    return compiler


def compiled(function: _Function) -> _Function:
    """Decorator for a function that Python calls: at the first call with arguments of some types, the function is
    compiled for them, or loaded if an earlier run saved it. With NUMBA_DISABLE_JIT=1, return the function unchanged.
    Arguments are given by position; arrays must be contiguous.

    The function must not create arrays, because NumPy functions that create arrays take long to compile. Callers pass
    arrays for the results.
    """
    return cast(_Function, Entry(function)) if IS_COMPILED else function


def with_last(function: Callable[..., _Result], *last: object) -> Callable[..., _Result]:
    """Return a function that takes the first arguments of `function`, and calls it with them and `last`. If `function`
    is compiled, a call checks only the kinds (types, dtypes) of the first arguments, which saves time.

    The kind of a bound array must not change afterwards: do not make it read-only, for example.
    """
    if isinstance(function, Entry):
        return function.with_last(last)
    return lambda *first: function(*first, *last)


def inner(function: _Function) -> _Function:
    """Decorator for a function that only compiled functions call: it is compiled with them, and a call from Python
    raises TypeError. With NUMBA_DISABLE_JIT=1, return the function unchanged.
    """
    return cast(_Function, _plain(function)) if IS_COMPILED else function


def inlined(function: _Function) -> _Function:
    """Decorator for a function that only compiled functions call: its code is copied into each of them, so that a call
    costs nothing; a call from Python raises TypeError. With NUMBA_DISABLE_JIT=1, return the function unchanged.
    """
    return cast(_Function, CompiledFunction(function, inline="always")) if IS_COMPILED else function


class _Watch:
    """Counter of the compilations in this process, or in others for it, with a message before the first one of a user's
    call.
    """

    def __init__(self) -> None:
        self.compiled = 0
        self.tell: Callable[[str], None] = tell_if_interactive
        self.count: Callable[[int], object] | None = None
        self.is_all = False
        """Whether a single message covers all later compilations."""
        self._is_reported = False
        self._ended = time.monotonic()
        self._cell: int | None = None

    def begin(self, *, is_all: bool) -> None:
        """Show a message before the next compilation; with `is_all`, no further one, else one for each call of the
        user.
        """
        self.is_all, self._is_reported = is_all, False

    @contextlib.contextmanager
    def compilation(self) -> Iterator[None]:
        """Context in which a function is compiled: shows a message before, if one is due, and counts the function."""
        earlier, self._cell = self._cell, running_cell()
        is_late = time.monotonic() - self._ended > _PAUSE
        if not self.is_all and (is_late if self._cell is None else self._cell != earlier):
            self._is_reported = False
        if not self._is_reported:
            self._is_reported = True
            self.tell(notice())
        yield
        self._ended = time.monotonic()
        self.end_one()

    def end_one(self) -> None:
        self.compiled += 1
        if self.count:
            self.count(1)


_WATCH = _Watch()


def tell_with(tell: Callable[[str], None]) -> None:
    """From now on, call `tell` with the line of `notice` (what compilation takes) instead of printing it: once, before
    the next function is compiled, for all functions from then on.
    """
    _WATCH.tell = tell
    _WATCH.begin(is_all=True)


@contextlib.contextmanager
def all_in_one() -> Iterator[None]:
    """Context in which users see at most one message about compilation, instead of one for each of their calls that
    needs it. After it, messages are as before.
    """
    earlier = _WATCH.is_all
    _WATCH.begin(is_all=True)
    try:
        yield
    finally:
        _WATCH.begin(is_all=earlier)


def count_with(count: Callable[[int], object] | None) -> None:
    """From now on, call `count(1)` after each function that is compiled in or for this process; None: stop that."""
    _WATCH.count = count


def count_one() -> None:
    """Add one to `count()`, for a function that another process compiled for this process."""
    _WATCH.end_one()


def count() -> int:
    """Number of compilations in or for this process. A function counts once for each combination of argument types; one
    marked `inner` or `inlined` does not count.
    """
    return _WATCH.compiled


def notice() -> str:
    """The message that users see while functions are compiled: how long that takes, and where the result is saved, if
    that is outside of the package.
    """
    folder = kept_in()
    if folder is None:
        return f"compiling takes {_TIME} in each run, as {NOT_KEPT}"
    other = "" if folder == object_code.PACKAGE else f"; the result is kept in {folder}"
    if _WATCH.is_all:
        return f"compiling for this machine, once, takes {_TIME}{other}"
    return (
        "compiling for this machine, once, what this call needs: up to a minute; "
        f"urnscan.warm_up() does it for all calls{other}"
    )


def kept_in() -> Path | None:
    """The folder to name to people as the place of saved code: the folder of the package if the code is inside it, else
    the folder above that of the code; None if there is no place for code. May create the folder.
    """
    folder = object_code.WHEEL if object_code.wheel_machine() else object_code.cache_folder()
    if folder is None:
        return None
    return object_code.PACKAGE if folder.is_relative_to(object_code.PACKAGE) else folder.parent


def from_c(name: str, result: str, *arguments: str) -> Any:  # noqa: ANN401 (only compiled code can call it)
    """Return a declaration of the function `name` of the C library, which compiled functions can call like a function;
    Python cannot. `result` and `arguments` are Numba's names of types, such as `uintp`.
    """
    return External(name, result, arguments)


def read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """A read-only view of `array`, which shares its memory; `array` itself stays as it is."""
    # Numba compiles a function separately for writable and for read-only arrays. Inputs that are always read-only save
    # the second compilation.
    view = array.view()
    view.flags.writeable = False
    return view
