"""Compilation by Numba.

Only `jit` imports this module, and only if compiled code is missing: Numba takes half a second to load.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterator
from typing import Any

import numba
from numba.core.options import DefaultOptions

from urnscan.compiled.object_code import ObjectCode, can_link

_LEAN: dict[str, bool] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
"""A private option of Numba: `_nrt=False` switches off the counting of references to arrays.

Numba counts them atomically whenever a function passes an array to another. The counting can take longer than the work
on the array. A version of Numba without the option counts references, and the results are the same.
"""


def dispatcher(function: Callable[..., Any], resolved: Callable[[object], object], **options: bool | str) -> Any:  # noqa: ANN401 (Numba carries no types)
    """Numba's form of a function. `resolved` returns Numba's form of a value that the function uses by name."""
    used = {*_globals(function.__code__)}
    names = {name: resolved(value) if name in used else value for name, value in function.__globals__.items()}
    cells = tuple(types.CellType(resolved(cell.cell_contents)) for cell in function.__closure__ or ())
    copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    njit: Any = numba.njit  # its types lack some options
    return njit(nogil=True, no_cfunc_wrapper=True, **_LEAN, **options)(copy)


def _globals(code: types.CodeType) -> Iterator[str]:
    """Names of globals that a function uses, also inside its comprehensions."""
    yield from (step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL")
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals(constant)


def external(name: str, result: str, arguments: tuple[str, ...]) -> object:
    """A function of the C library. Types have Numba's names, such as `uintp`."""
    kinds = (getattr(numba.types, argument) for argument in arguments)
    return numba.types.ExternalFunction(name, getattr(numba.types, result)(*kinds))


def compile_for(function: Any, arguments: tuple[object, ...]) -> tuple[Callable[..., Any], ObjectCode | None]:  # noqa: ANN401 (as above)
    """Compile a dispatcher for the types of these arguments: the function to call, and the object code to save on disk.

    The object code is None if it cannot be saved: the code needs Python objects, or this version of Numba has other
    private attributes.
    """
    typeof: Any = numba.typeof
    called = function.compile(tuple(map(typeof, arguments)))
    try:
        result = function.overloads[function.signatures[-1]]
        environments = [result.environment, *result._find_referenced_environments()]  # noqa: SLF001 (all that is kept is private)
        module = result.library._final_module  # noqa: SLF001
        if any(environment.consts for environment in environments) or not can_link(_missing(module)):
            return called, None
        octets = result.library._get_compiled_object()  # noqa: SLF001
        return called, ObjectCode(result.fndesc.llvm_cpython_wrapper_name, result.fndesc.env_name, octets)
    except (AttributeError, RuntimeError, ValueError):
        return called, None


def _missing(module: Any) -> Iterator[str]:  # noqa: ANN401 (as above)
    """Symbols that an LLVM module uses but does not define, except LLVM's own."""
    for value in (*module.functions, *module.global_variables):
        if value.is_declaration and not value.name.startswith("llvm."):
            yield value.name
