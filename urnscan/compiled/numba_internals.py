"""All private parts of Numba that this package uses. No other module may use private parts.

They were tried with Numba 0.61.0, the lowest version that pyproject.toml allows, and with 0.68.1. CI tries the lowest
version and the newest each time: `.ci/lowest` installs the lowest versions and runs tests/compiled/test_jit.py, and
`.ci/run` installs the newest versions and runs all tests. If a version of Numba lacks a part,
`test_what_is_kept_is_called_without_numba` fails. Users of that version lose no results: no code is saved, and each
process compiles the functions that it calls.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
import importlib.machinery
import importlib.util
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple


class ObjectCode(NamedTuple):
    """The object code of a compiled function and of all functions called by that function, for arguments of some types."""

    entry: str
    """The symbol of the function that Python calls."""
    environment: str
    """The symbol of a pointer that must be set to an `Environment` object of Numba before the code runs."""
    data: bytes
    """An object file, in the format that C compilers write."""


def version_text() -> bytes:
    """The content of Numba's file `_version.py`, which differs between versions of Numba; empty if Numba is not
    installed.
    """
    # An import of Numba instead would take half a second.
    spec = importlib.util.find_spec("numba")
    return Path(spec.origin).with_name("_version.py").read_bytes() if spec and spec.origin else b""


def lean_options() -> dict[str, bool]:
    """Options for `numba.njit`: `_nrt=False`, which switches off reference counting of arrays; empty if this version of
    Numba has no such option.
    """
    # Numba counts references atomically whenever a function passes an array to another function. That can take longer
    # than the work on the array. Versions of Numba without this option count references; the results are the same.
    from numba.core.options import DefaultOptions  # noqa: PLC0415 (slow)

    return {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


def last_compiled(dispatcher: Any) -> ObjectCode | None:  # noqa: ANN401 (Numba carries no types)
    """The object code that a dispatcher (Numba's object that compiles a function) compiled last; None if the code
    cannot be saved.

    Code cannot be saved if it needs Python objects, if it uses external functions whose addresses are not known without
    Numba, or if this version of Numba has other private attributes. Precondition: the dispatcher has compiled
    something.
    """
    try:
        result = dispatcher.overloads[dispatcher.signatures[-1]]
        environments = [result.environment, *result._find_referenced_environments()]  # noqa: SLF001 (all that is kept is private)
        module = result.library._final_module  # noqa: SLF001
        if any(environment.consts for environment in environments) or not can_link(_missing(module)):
            return None
        data = result.library._get_compiled_object()  # noqa: SLF001
        return ObjectCode(result.fndesc.llvm_cpython_wrapper_name, result.fndesc.env_name, data)
    except (AttributeError, RuntimeError, ValueError):
        return None


def _missing(module: Any) -> Iterator[str]:  # noqa: ANN401 (as above)
    for value in (*module.functions, *module.global_variables):
        if value.is_declaration and not value.name.startswith("llvm."):
            yield value.name


def can_link(names: Iterable[str]) -> bool:
    """Whether the addresses of all external symbols with the given names are known without an import of Numba: they are
    in `symbols` or in this process. Raises ImportError if Numba is not installed, or if its version has other C modules.
    """
    # LLVM would end the process at a missing symbol.
    process = ctypes.CDLL(None)
    return all(name in symbols() or hasattr(process, name) for name in names)


@functools.cache
def symbols() -> dict[str, int]:
    """Name -> address of the symbols that code compiled by Numba needs, except symbols of Python and the C library.
    Raises ImportError if Numba is not installed, or if its version has other C modules.
    """
    addresses = {"_Py_NoneStruct": id(None)}
    for module in c_modules():
        addresses |= {f"numba_{name}": address for name, address in module.c_helpers.items()}
    for value in vars(builtins).values():
        if isinstance(value, type) and issubclass(value, BaseException):
            addresses[f"PyExc_{value.__name__}"] = id(value)
    return addresses


def python_function(module: ModuleType, name: str, address: int, engine: object) -> tuple[Callable[..., Any], int]:
    """A Python function with this module and name that calls the code at `address`, and the address of the new
    `Environment` object of Numba that the code needs: before the first call, the caller sets the pointer with the
    symbol `ObjectCode.environment` to it. The function keeps `engine`, the linker with the code, alive. Raises
    ImportError if Numba is not installed, or if its version has other C modules.
    """
    _, functions = c_modules()
    environment = functions.Environment({})
    return functions.make_function(module, name, "", address, environment, (engine,)), id(environment)


@functools.cache
def c_modules() -> tuple[Any, Any]:
    """The two C modules of Numba that compiled code needs, `_helperlib` and `_dynfunc`, loaded once from their files:
    the package `numba` is not imported. Raises ImportError if Numba is not installed, or if its version has other C
    modules.
    """
    spec = importlib.util.find_spec("numba")
    folders = spec.submodule_search_locations if spec else None
    helpers, functions = (_module_in(folders, name) for name in ("_helperlib", "_dynfunc"))
    if not {"Environment", "make_function", "c_helpers"} <= {*dir(functions)} or not hasattr(helpers, "c_helpers"):
        raise ImportError("numba")
    return helpers, functions


def _module_in(folders: list[str] | None, name: str) -> Any:  # noqa: ANN401 (as above)
    """Load the module `name` of Numba from `folders`, those of the package, without importing the package."""
    spec = importlib.machinery.PathFinder.find_spec(f"numba.{name}", folders)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
