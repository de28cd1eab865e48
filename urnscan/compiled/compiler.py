"""Compilation by Numba.

Only `jit` imports this module, and only if compiled code is missing, because Numba takes half a second to load.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterator
from typing import Any

import numba

from urnscan.compiled.numba_internals import ObjectCode, last_compiled, lean_options

_LEAN = lean_options()


def dispatcher(function: Callable[..., Any], resolved: Callable[[object], object], **options: bool | str) -> Any:  # noqa: ANN401 (Numba carries no types)
    """A new dispatcher of Numba for a copy of a Python function: the object that compiles the function for given types
    of arguments. Nothing is compiled yet; `function` is not changed.

    `resolved` is called with each global or enclosed value that the function uses, such as another compiled function,
    and returns the value that Numba uses instead. `options`: further ones of `numba.njit`; `nogil`, `no_cfunc_wrapper`
    and `_nrt` are set here.
    """
    used = {*_globals(function.__code__)}
    names = {name: resolved(value) if name in used else value for name, value in function.__globals__.items()}
    cells = tuple(types.CellType(resolved(cell.cell_contents)) for cell in function.__closure__ or ())
    copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    njit: Any = numba.njit  # its types lack some options
    return njit(nogil=True, no_cfunc_wrapper=True, **_LEAN, **options)(copy)


def _globals(code: types.CodeType) -> Iterator[str]:
    yield from (step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL")
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals(constant)


def external(name: str, result: str, arguments: tuple[str, ...]) -> object:
    """Numba's declaration of a function of the C library, such as `memcpy`, which compiled code can call. `result` and
    `arguments` are Numba's names of types, such as `uintp`.
    """
    kinds = (getattr(numba.types, argument) for argument in arguments)
    return numba.types.ExternalFunction(name, getattr(numba.types, result)(*kinds))


def compile_for(function: Any, arguments: tuple[object, ...]) -> tuple[Callable[..., Any], ObjectCode | None]:  # noqa: ANN401 (as above)
    """Compile a function for the types of these arguments, and do not call it. `function` is a result of `dispatcher`.

    Returns the compiled function, which Python can call, and the object code to save on disk (None if the code cannot
    be saved). Saves nothing.
    """
    typeof: Any = numba.typeof
    return function.compile(tuple(map(typeof, arguments))), last_compiled(function)
