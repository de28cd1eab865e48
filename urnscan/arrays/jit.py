"""Compiled functions: threads run them side by side (`nogil`), and a cache on disk spares later runs the compiler."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.core.options import DefaultOptions

__all__ = ["IS_COMPILED", "SOURCES", "compiled", "from_c", "inlined", "lean", "read_only", "source_key"]

IS_COMPILED = not vars(numba.config)["DISABLE_JIT"]
"""Whether functions are compiled at all, and can call others that are."""

SOURCES = (
    "arrays/ascii.py",
    "arrays/jit.py",
    "arrays/octets.py",
    "arrays/strings.py",
    "dedup/components.py",
    "grouping/classes.py",
    "grouping/ranges.py",
    "scanner/columns.py",
    "scanner/grammar.py",
    "scanner/kernel.py",
    "scanner/trim.py",
    "scanner/url_context.py",
    "scanner/views/candidates.py",
    "scanner/views/steps.py",
    "scanner/views/windows.py",
    "sources/states.py",
    "sources/seen_inputs.py",
    "sources/small_files.py",
    "tables/rows.py",
    "urn/namespaces/check_digits.py",
    "urn/namespaces/columns.py",
    "urn/namespaces/patterns.py",
    "urn/syntax.py",
)
"""Files whose text compiled code depends on: compiled functions, and the constants that become part of them.

A function is compiled together with all that it calls, so a change in any of these files makes every cached function
stale. `tests/arrays/test_jit.py` compares this list with the code.
"""

_LEAN: dict[str, bool] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
"""A private option; where Numba has it no longer, references are counted, and all else stays."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Scalar = TypeVar("_Scalar", bound=np.generic)


def source_key(package: Path) -> str:
    """Digest of everything besides the processor that decides what a cached function does.

    That is the text of all SOURCES below `package`, the versions of Numba and NumPy, and whether indices are checked.
    Numba itself keeps the processor and the types of the arguments in its index.
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in (numba.__version__, np.__version__, str(vars(numba.config)["BOUNDSCHECK"])):
        digest.update(part.encode() + b"\0")
    for source in SOURCES:
        digest.update(hashlib.blake2b((package / source).read_bytes()).digest())
    return digest.hexdigest()


@functools.cache
def _cache_type() -> Any:  # noqa: ANN401 (Numba carries no types)
    """Class of the caches on disk, or None where functions are compiled anew in each process.

    It builds on private parts of Numba. A version of Numba without them makes starts slow and changes nothing else.
    """
    try:
        key = source_key(Path(__file__).parents[1])
        from numba.core.caching import FunctionCache, IndexDataCacheFile  # noqa: PLC0415 (may be gone one day)
        from numba.core.runtime.nrt import rtsys  # noqa: PLC0415
    except (ImportError, OSError):
        return None

    class Cache(FunctionCache):
        """Numba's cache of one function, with two differences.

        Its files are named by `source_key`, too: Numba alone watches only the file of the function itself, and would go
        on with old code after a change of a function that is called in another file.
        Loading does not prepare for compilation: Numba imports its compiler first, which takes 0.17 s of each start.
        """

        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)  # type: ignore[no-untyped-call]
            own = self._impl.locator.get_source_stamp()
            self._prefix = self._impl.filename_base
            self._cache_file = IndexDataCacheFile(self.cache_path, f"{self._prefix}.{key}", own)  # type: ignore[no-untyped-call]

        def load_overload(self, signature: object, target: object) -> object:
            """Compiled code for a signature, or None."""
            try:
                rtsys.initialize(target)
                with self._guard_against_spurious_io_errors():
                    return self._load_overload(signature, target)  # type: ignore[no-untyped-call]
            except (AttributeError, TypeError):
                return super().load_overload(signature, target)  # type: ignore[no-untyped-call]

        def save_overload(self, signature: object, data: object) -> None:
            """Keep compiled code, and remove that of other keys."""
            super().save_overload(signature, data)  # type: ignore[no-untyped-call]
            for path in Path(self.cache_path).iterdir():
                if path.name.startswith(f"{self._prefix}.") and key not in path.name:
                    path.unlink(missing_ok=True)

    return Cache


def compiled(function: _Function, **options: bool) -> _Function:
    """Compile `function` with Numba at its first call; with NUMBA_DISABLE_JIT=1 return the function itself."""
    njit: Any = numba.njit  # its types do not know all of its options
    dispatcher = njit(nogil=True, **options)(function)
    if dispatcher is not function:
        # Without a cache in this Numba, or a writable place for it, functions are compiled anew in each process.
        with contextlib.suppress(AttributeError, RuntimeError, TypeError):
            dispatcher._cache = _cache_type()(function)  # noqa: SLF001 (as `cache=True` does)
    return cast(_Function, dispatcher)


def lean(function: _Function) -> _Function:
    """Compile a function that makes no arrays, without counting references to the arrays that it is given.

    Numba counts them, atomically, wherever an array is handed on: that can take longer than the work on it.
    """
    return compiled(function, **_LEAN)


def inlined(function: _Function) -> _Function:
    """Compile a lean function into each of its callers, so that a call costs nothing."""
    return compiled(function, forceinline=True, **_LEAN)


def from_c(name: str, result: str, *arguments: str) -> Any:  # noqa: ANN401 (only compiled code can call it)
    """A function of the C library for compiled functions; types are named as Numba names them."""
    kinds = (getattr(numba.types, argument) for argument in arguments)
    return numba.types.ExternalFunction(name, getattr(numba.types, result)(*kinds))


def read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """A read-only view of `array`: to Numba that is a type of its own, and each type it meets costs a compilation."""
    view = array.view()
    view.flags.writeable = False
    return view
