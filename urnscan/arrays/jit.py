"""Compiled functions: threads run them side by side (`nogil`), and a cache on disk spares later runs the compiler."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.core import event
from numba.core.options import DefaultOptions
from numba.core.registry import cpu_target

from urnscan.display.progress import running_cell, tell_if_interactive

IS_COMPILED = not vars(numba.config)["DISABLE_JIT"]
"""Whether functions are compiled at all, and can call others that are."""

SOURCES = (
    "arrays/ascii.py arrays/jit.py arrays/octets.py arrays/strings.py dedup/components.py "
    "grouping/classes.py grouping/ranges.py scanner/grammar.py scanner/kernel.py scanner/trim.py scanner/url_context.py "
    "scanner/views/markup.py scanner/views/readings.py scanner/views/references.py scanner/views/windows.py "
    "sources/archives/warc_heads.py sources/seen_inputs.py sources/small_files.py "
    "tables/rows.py tables/spellings.py urn/beginnings.py urn/namespaces/check_digits.py urn/namespaces/columns.py urn/namespaces/endings.py "
    "urn/namespaces/patterns.py urn/spellings.py urn/syntax.py"
).split()
"""Files whose text compiled code depends on: compiled functions, and the constants that become part of them.

A function is compiled together with all that it calls, so a change in any of these files makes every cached function
stale. `tests/arrays/test_jit.py` compares this list with the code.
"""

_PACKAGE = Path(__file__).parents[1]
_SECONDS = 20
_PAUSE = 0.5  # seconds between two functions: where there are no cells, they may be of two calls
NOT_KEPT = "no folder for the result can be written (NUMBA_CACHE_DIR names one)"
"""The reason why compiled code is not kept, for messages."""
_LEAN: dict[str, bool] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
"""A private option: references to arrays are not counted. Numba counts them, atomically, wherever an array is handed on:
that can take longer than the work on it. Where Numba has the option no longer, all else stays.
"""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Scalar = TypeVar("_Scalar", bound=np.generic)


def source_key(package: Path) -> str:
    """Digest of the SOURCES below `package`, the versions of Numba and NumPy, and whether indices are checked.

    Numba itself keeps the processor and the types of the arguments in its index.
    """
    versions = f"{numba.__version__} {np.__version__} {vars(numba.config)['BOUNDSCHECK']}"
    texts = [(package / source).read_bytes() for source in SOURCES]
    return hashlib.blake2b(b"\0".join([versions.encode(), *texts]), digest_size=8).hexdigest()


@functools.cache
def _cache_type() -> Any:  # noqa: ANN401 (Numba carries no types)
    """Class of the caches on disk, or None where functions are compiled anew in each process.

    It builds on private parts of Numba. A version of Numba without them makes starts slow and changes nothing else.
    """
    try:
        key = source_key(_PACKAGE)
        from numba.core.caching import (  # noqa: PLC0415 (may be gone one day)
            CompileResultCacheImpl,
            FunctionCache,
            IndexDataCacheFile,
        )
        from numba.core.runtime.nrt import rtsys  # noqa: PLC0415

        locators = [_complete_or_writable(locator) for locator in CompileResultCacheImpl._locator_classes]  # noqa: SLF001
    except (AttributeError, ImportError, OSError):
        return None

    class Place(CompileResultCacheImpl):
        """The folder of the cache of one function: the first that holds all, or can be written."""

        _locator_classes = locators

    class Cache(FunctionCache):
        """Numba's cache of one function, with three differences.

        Its files are named by `source_key`, too: Numba alone watches only the file of the function itself. Loading does
        not prepare for compilation: Numba imports its compiler first, which takes 0.17 s of each start. A folder that
        cannot be written is used if it holds all: Numba would compile again, for each user of an installation.
        """

        _impl_class = Place

        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)  # type: ignore[no-untyped-call]
            self._prefix = self._impl.filename_base
            named = (self.cache_path, f"{self._prefix}.{key}", self._impl.locator.get_source_stamp())
            self._cache_file = IndexDataCacheFile(*named)  # type: ignore[no-untyped-call]

        def load_overload(self, signature: object, target: object) -> object:
            """Compiled code for a signature, or None."""
            try:
                rtsys.initialize(target)
                with self._guard_against_spurious_io_errors():
                    return self._load_overload(signature, target)  # type: ignore[no-untyped-call]
            except (AttributeError, TypeError):
                return super().load_overload(signature, target)  # type: ignore[no-untyped-call]

        def save_overload(self, signature: object, data: object) -> None:
            """Keep compiled code if the folder can be written, and remove that of other keys."""
            with contextlib.suppress(OSError):  # a full disk, or a folder that is used though it is read-only
                super().save_overload(signature, data)  # type: ignore[no-untyped-call]
                for path in Path(self.cache_path).iterdir():
                    if path.name.startswith(f"{self._prefix}.") and key not in path.name:
                        path.unlink(missing_ok=True)

    return Cache


def _complete_or_writable(locator: Any) -> Any:  # noqa: ANN401 (Numba carries no types)
    """A class of Numba that names the folder of a cache, which also takes a read-only folder that `mark_complete` marked."""

    class Locator(locator):  # type: ignore[misc]
        def ensure_cache_path(self) -> None:
            try:
                super().ensure_cache_path()
            except OSError:
                if not _mark(Path(type(self)(notice, __file__).get_cache_path())).exists():
                    raise

    return Locator


def compiled(function: _Function) -> _Function:
    """Compile a function that Python calls at its first call; with NUMBA_DISABLE_JIT=1 return the function itself.

    It must not make arrays: it is given arrays for its results. NumPy's functions that make arrays take long to compile.
    """
    dispatcher = _dispatcher(function)
    if dispatcher is not function:
        # Without a cache in this Numba, or a writable place for it, functions are compiled anew in each process.
        with contextlib.suppress(AttributeError, RuntimeError, TypeError):
            dispatcher._cache = _cache_type()(function)  # noqa: SLF001 (as `cache=True` does)
        _WATCH.entries.add(dispatcher)
    return cast(_Function, dispatcher)


def inner(function: _Function) -> _Function:
    """Compile a function that only compiled functions call; Python cannot call it."""
    dispatcher = _dispatcher(function, no_cpython_wrapper=True)
    if dispatcher is not function:
        # A call from Python would jump to the address 0.
        dispatcher._insert = lambda *_: None  # noqa: SLF001
        dispatcher._compile_for_args = _refuse  # noqa: SLF001
    return cast(_Function, dispatcher)


def inlined(function: _Function) -> _Function:
    """Make a function part of each function that calls it, so that a call costs nothing."""
    return cast(_Function, _dispatcher(function, inline="always"))


def _dispatcher(function: Callable[..., Any], **options: bool | str) -> Any:  # noqa: ANN401 (Numba carries no types)
    njit: Any = numba.njit  # its types do not know all of its options
    return njit(nogil=True, no_cfunc_wrapper=True, **_LEAN, **options)(function)


def _refuse(*_: object) -> None:
    raise TypeError("only compiled functions can call this function")


class _Watch(event.Listener):
    """Counts our functions that are compiled in this process, and tells before the first of a call."""

    def __init__(self) -> None:
        self.entries: set[object] = set()
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

    def on_start(self, compilation: Any) -> None:  # noqa: ANN401 (as above)
        """Called before a function is compiled."""
        if compilation.data["dispatcher"] in self.entries:
            self.compiled += 1
            before, self._cell = self._cell, running_cell()
            is_late = time.monotonic() - self._ended > _PAUSE
            if not self.is_all and (is_late if self._cell is None else self._cell != before):
                self._is_told = False
            if not self._is_told:
                self._is_told = True
                self.tell(notice())

    def on_end(self, compilation: Any) -> None:  # noqa: ANN401 (as above)
        """Called when a function is compiled."""
        if compilation.data["dispatcher"] in self.entries:
            self._ended = time.monotonic()
            if self.count:
                self.count(1)


_WATCH = _Watch()
event.register("numba:compile", _WATCH)  # type: ignore[no-untyped-call]


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


def count() -> int:
    """Number of functions that were compiled in this process, without those that are part of others."""
    return _WATCH.compiled


def notice() -> str:
    """The line that tells that functions are being compiled."""
    folder = kept_in()
    if folder is None:
        return f"compiling takes some {_SECONDS} seconds, in each run, as {NOT_KEPT}"
    other = "" if folder == _PACKAGE else f"; the result is kept in {folder}"
    if _WATCH.is_all:
        return f"compiling for this machine, once, takes some {_SECONDS} seconds{other}"
    return (
        f"compiling for this machine, once, what this call needs: up to {_SECONDS} seconds; "
        f"urnscan.warm_up() does it for all calls{other}"
    )


def kept_in() -> Path | None:
    """The folder in which compiled code is kept; None if there is none.

    It is NUMBA_CACHE_DIR, or that of the package, or one in the user's home. A read-only one counts if it holds all.
    """
    folder = _cache_folder()
    if folder is None:
        return None
    return _PACKAGE if folder.is_relative_to(_PACKAGE) else folder.parent


@functools.cache
def _cache_folder() -> Path | None:
    """The folder of the cache of this module's functions."""
    try:
        return Path(_cache_type()(notice).cache_path)
    except (AttributeError, RuntimeError, TypeError):
        return None


def is_complete() -> bool:
    """Whether `mark_complete` was called in an earlier process, on such a processor, for the same code."""
    folder = _cache_folder()
    return folder is not None and _mark(folder).exists()


def mark_complete() -> None:
    """Remember that all functions are compiled and kept, if they are."""
    folder = _cache_folder()
    if folder is not None and not is_complete():
        mark = _mark(folder)
        for old in folder.glob(f"{mark.name.split('.')[0]}.*{mark.suffix}"):
            old.unlink(missing_ok=True)
        mark.touch()


def _mark(folder: Path) -> Path:
    """The file in the folder of this module's cache that tells that all is compiled."""
    machine = repr(cpu_target.target_context.codegen().magic_tuple()).encode()
    digest = hashlib.blake2b(machine, digest_size=8).hexdigest()
    return folder / f"jit-{sys.implementation.cache_tag}-{digest}.{source_key(_PACKAGE)}.complete"


def from_c(name: str, result: str, *arguments: str) -> Any:  # noqa: ANN401 (only compiled code can call it)
    """A function of the C library for compiled functions; types are named as Numba names them."""
    kinds = (getattr(numba.types, argument) for argument in arguments)
    return numba.types.ExternalFunction(name, getattr(numba.types, result)(*kinds))


def read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """A read-only view of `array`: to Numba that is a type of its own, and each type it meets costs a compilation."""
    view = array.view()
    view.flags.writeable = False
    return view
