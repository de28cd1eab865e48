"""How functions are compiled: `nogil`, so that threads run them side by side, and cached, so that only the first run waits."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys

__all__ = ["IS_COMPILED", "compiled", "from_c", "inlined", "lean", "read_only"]

IS_COMPILED = not vars(numba.config)["DISABLE_JIT"]
"""Whether functions are compiled at all, and can call others that are."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Scalar = TypeVar("_Scalar", bound=np.generic)


class _Cache(FunctionCache):
    """Numba's own cache, but that it does not get ready to compile where it only has to load.

    Numba imports all that it may need to compile before it looks into the cache: 0.17 s, a quarter of a start. What was
    compiled needs only its run time; where the cache has nothing, the compiler gets ready by itself.
    """

    def load_overload(self, signature: object, target: object) -> object:
        """What the cache has for a signature; None for nothing."""
        rtsys.initialize(target)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target)  # type: ignore[no-untyped-call]


def compiled(function: _Function, **options: bool) -> _Function:
    """The function compiled by Numba at its first call; with NUMBA_DISABLE_JIT=1 the function itself."""
    njit: Any = numba.njit  # its types do not know all of its options
    dispatcher = njit(nogil=True, **options)(function)
    if dispatcher is not function:
        with contextlib.suppress(RuntimeError):  # no writable place for the cache: compile anew in each process
            dispatcher._cache = _Cache(function)  # type: ignore[no-untyped-call]  # noqa: SLF001 (as `cache=True` does)
    return cast(_Function, dispatcher)


def lean(function: _Function) -> _Function:
    """The same for a function that makes no arrays, without counting references to those it is given.

    Numba counts them, atomically, wherever an array is handed on: that can take longer than what is done with it.
    """
    return compiled(function, _nrt=False)


def inlined(function: _Function) -> _Function:
    """The same, a lean function that becomes part of each function that calls it: what is handed to it costs nothing."""
    return compiled(function, _nrt=False, forceinline=True)


def from_c(name: str, result: str, *arguments: str) -> Any:  # noqa: ANN401 (only compiled code can call it)
    """A function of the C library for compiled functions; types are named as Numba names them."""
    kinds = (getattr(numba.types, argument) for argument in arguments)
    return numba.types.ExternalFunction(name, getattr(numba.types, result)(*kinds))


def read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """The same array, read-only: to Numba that is a type of its own, and each type it meets costs a compilation."""
    view = array.view()
    view.flags.writeable = False
    return view
