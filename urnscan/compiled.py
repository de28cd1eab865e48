"""How functions are compiled: `nogil`, so that threads run them side by side, and cached, so that only the first run waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

__all__ = ["compiled", "read_only"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Scalar = TypeVar("_Scalar", bound=np.generic)


def compiled(function: _Function) -> _Function:
    """The function compiled by Numba at its first call; with NUMBA_DISABLE_JIT=1 the function itself."""
    try:
        return cast(_Function, numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:  # no writable place for the cache: compile anew in each process
        return cast(_Function, numba.njit(nogil=True)(function))


def read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """The same array, read-only: to Numba that is a type of its own, and each type it meets costs a compilation."""
    view = array.view()
    view.flags.writeable = False
    return view
