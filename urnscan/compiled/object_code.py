"""Object code of compiled functions: saved in files, loaded from them, and called without importing Numba, which is slow.

LLVM links the code. Python calls the code through two small C modules of Numba, which are loaded without the rest of
Numba. If a version of Numba has other C modules, no code is saved, and each process compiles the functions it calls.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import functools
import hashlib
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np

SOURCES = (
    "compiled/ascii.py compiled/compiler.py compiled/jit.py compiled/octets.py compiled/strings.py dedup/join/components.py "
    "grouping/classes.py grouping/ranges.py records/identifier_columns.py records/marc_runs.py records/marc_values.py records/marcxml_runs.py records/xml_runs.py scanner/grammar.py scanner/kernel.py scanner/url_context.py "
    "scanner/views/markup.py scanner/views/readings.py scanner/views/references.py scanner/views/windows.py "
    "formats/archives/tar_fast.py formats/archives/warc_fast.py formats/contents.py inputs/seen_inputs.py formats/small_files.py "
    "tables/rows.py tables/spelling_columns.py urn/lookalikes.py urn/prefix_filter.py urn/namespaces/check_digits.py urn/namespaces/judgement_columns.py urn/namespaces/trailing_text.py "
    "urn/namespaces/patterns.py urn/numbers/isbn.py urn/numbers/issn.py urn/problem_columns.py urn/syntax.py urn/trim.py"
).split()
"""Files on whose text compiled code depends: they define compiled functions, or constants that the functions use.

A function is compiled together with all functions that it calls. So a change in any of these files makes all compiled
code stale. `tests/compiled/test_jit.py` compares this list with the code.
"""

PACKAGE = Path(__file__).parents[1]
_SETTINGS = "NUMBA_BOUNDSCHECK", "NUMBA_CPU_FEATURES", "NUMBA_CPU_NAME", "NUMBA_OPT"
"""Environment variables that change the code which Numba generates."""
_MARK = ".complete"


class ObjectCode(NamedTuple):
    """One compiled function, with all functions that it calls, for one tuple of argument kinds."""

    entry: str
    """The symbol of the function that Python calls."""
    environment: str
    """The symbol of a pointer that must be set to an `Environment` object of Numba before the code runs."""
    octets: bytes
    """An object file, like those that a C compiler writes."""


def load(function: str, kinds: object) -> Callable[..., Any] | None:
    """A function for these kinds of arguments, from its saved code; None if no code is saved."""
    try:
        entry, environment, octets = _path(function, kinds).read_bytes().split(b"\n", 2)
    except (OSError, ValueError):
        return None
    return _linked(ObjectCode(entry.decode(), environment.decode(), octets), function)


def save(function: str, kinds: object, code: ObjectCode) -> None:
    """Save the code if a folder is writable, and remove code that was saved under another `source_key`."""
    new = None
    try:
        path = _path(function, kinds)
        for other in path.parent.glob(f"{function}.{sys.implementation.cache_tag}.*"):
            if _source_key() not in other.name:
                other.unlink(missing_ok=True)
        new = path.with_name(f"{path.name}-{uuid.uuid4().hex}")
        new.write_bytes(b"\n".join([code.entry.encode(), code.environment.encode(), code.octets]))
        new.replace(path)
    # The disk is full, or the folder is read-only and contains all code.
    except OSError:
        if new is not None:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)


def _path(function: str, kinds: object) -> Path:
    """The file for a function. Raises OSError if there is no folder for code."""
    folder = cache_folder()
    if folder is None:
        raise FileNotFoundError
    digest = hashlib.blake2b(f"{_machine()} {kinds}".encode(), digest_size=8).hexdigest()
    return folder / f"{function}.{sys.implementation.cache_tag}.{_source_key()}.{digest}.o"


def source_key(package: Path) -> str:
    """Digest of the SOURCES below `package`, and of the versions of Numba and NumPy, which become part of the code."""
    spec = importlib.util.find_spec("numba")
    numba = Path(spec.origin).with_name("_version.py").read_bytes() if spec and spec.origin else b""
    texts = [(package / source).read_bytes() for source in SOURCES]
    return hashlib.blake2b(b"\0".join([numba, np.__version__.encode(), *texts]), digest_size=8).hexdigest()


@functools.cache
def _source_key() -> str:
    return source_key(PACKAGE)


@functools.cache
def _machine() -> str:
    """The processor, and the settings of Numba that change the code."""
    features = llvm.get_host_cpu_features().flatten()
    settings = [f"{name}={os.environ.get(name, '')}" for name in _SETTINGS]
    return " ".join([llvm.get_process_triple(), llvm.get_host_cpu_name(), features, *settings])


@functools.cache
def cache_folder() -> Path | None:
    """The folder in which code is kept, or None.

    Candidates are NUMBA_CACHE_DIR if it is set; else the `__pycache__` of the package, then a folder in the user's home.
    The first candidate counts that is writable or already contains all compiled code.
    """
    try:
        _source_key(), _c_modules()
    # ImportError: Numba has other C modules. OSError: the package is in a zip file.
    except (ImportError, OSError):
        return None
    own = f"urnscan_{hashlib.blake2b(bytes(PACKAGE), digest_size=8).hexdigest()}"
    named = os.environ.get("NUMBA_CACHE_DIR")
    folders = [Path(named) / own] if named else [PACKAGE / "__pycache__", *(base / own for base in _user_caches())]
    return next((folder for folder in folders if _mark(folder).exists() or _is_writable(folder)), None)


def _user_caches() -> Iterator[Path]:
    """The user's cache folder for this package, if the user has a home."""
    with contextlib.suppress(RuntimeError):
        caches = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
        yield Path(os.environ.get("XDG_CACHE_HOME") or caches) / PACKAGE.name


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def is_complete() -> bool:
    """Whether `mark_complete` was called earlier, for the same code and the same kind of processor."""
    folder = cache_folder()
    return folder is not None and _mark(folder).exists()


def is_begun() -> bool:
    """Whether any function is kept."""
    folder = cache_folder()
    return folder is not None and any(folder.glob(f"*.{sys.implementation.cache_tag}.{_source_key()}.*.o"))


def mark_complete() -> None:
    """Write the mark that all functions are compiled and saved, if a folder keeps them."""
    folder = cache_folder()
    if folder is not None and not is_complete():
        mark = _mark(folder)
        for old in folder.glob(f"{mark.name.split('.')[0]}.{sys.implementation.cache_tag}.*{_MARK}"):
            old.unlink(missing_ok=True)
        mark.touch()


def _mark(folder: Path) -> Path:
    """The file whose existence shows that the folder contains all compiled functions."""
    machine = hashlib.blake2b(_machine().encode(), digest_size=8).hexdigest()
    return folder / f"{machine}.{sys.implementation.cache_tag}.{_source_key()}{_MARK}"


def _linked(code: ObjectCode, function: str) -> Callable[..., Any]:
    """A Python function that calls the code."""
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.octets))
    engine.finalize_object()
    _, functions = _c_modules()
    environment = functions.Environment({})
    ctypes.c_void_p.from_address(engine.get_global_value_address(code.environment)).value = id(environment)
    module, _, name = function.rpartition(".")
    address = engine.get_function_address(code.entry)
    called: Callable[..., Any] = functions.make_function(sys.modules[module], name, "", address, environment, (engine,))
    return called


@functools.cache
def _engine() -> Any:  # noqa: ANN401 (llvmlite carries no types)
    """The linker of this process."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, address in _symbols().items():
        llvm.add_symbol(name, address)
    # For x86, Numba generates code that is not relocatable; it must be linked as static code.
    target = llvm.Target.from_default_triple()
    relocation = "static" if target.name.startswith("x86") else "default"
    machine = target.create_target_machine(reloc=relocation, codemodel="jitdefault", jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def can_link(symbols: Iterable[str]) -> bool:
    """Whether all these external symbols can be resolved without Numba. If one is missing, LLVM ends the process."""
    process = ctypes.CDLL(None)
    return all(symbol in _symbols() or hasattr(process, symbol) for symbol in symbols)


@functools.cache
def _symbols() -> dict[str, int]:
    """Addresses of the symbols that Numba's code needs in addition to those of Python and the C library."""
    symbols = {"_Py_NoneStruct": id(None)}
    for module in _c_modules():
        symbols |= {f"numba_{name}": address for name, address in module.c_helpers.items()}
    for value in vars(builtins).values():
        if isinstance(value, type) and issubclass(value, BaseException):
            symbols[f"PyExc_{value.__name__}"] = id(value)
    return symbols


@functools.cache
def _c_modules() -> tuple[Any, Any]:
    """The two C modules of Numba that compiled code needs. Raises ImportError if a version of Numba has other ones."""
    spec = importlib.util.find_spec("numba")
    folders = spec.submodule_search_locations if spec else None
    helpers, functions = (_module_in(folders, name) for name in ("_helperlib", "_dynfunc"))
    if not {"Environment", "make_function", "c_helpers"} <= {*dir(functions)} or not hasattr(helpers, "c_helpers"):
        raise ImportError("numba")
    return helpers, functions


def _module_in(folders: list[str] | None, name: str) -> Any:  # noqa: ANN401 (as above)
    """Module `name` of Numba, loaded from its file, so that the package `numba` is not imported."""
    spec = importlib.machinery.PathFinder.find_spec(f"numba.{name}", folders)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
