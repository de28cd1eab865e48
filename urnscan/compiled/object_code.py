"""Object code of compiled functions: saved in files, loaded from files, and called without importing Numba, which is
slow.

LLVM links the code. Python calls the code through two small C modules of Numba, which are loaded without the rest of
Numba. A wheel can contain the code of all functions, for several variants of a processor (`hatch_build.py`).
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from urnscan.compiled.numba_internals import ObjectCode, c_modules, python_function, symbols, version_text

SOURCES = (
    "compiled/ascii.py compiled/compiler.py compiled/jit.py compiled/numba_internals.py compiled/bytes.py compiled/strings.py dedup/join/components.py "
    "grouping/classes.py grouping/ranges.py records/identifier_columns.py records/marc_runs.py records/marc_values.py records/marcxml_runs.py records/xml_runs.py scanner/beginning.py scanner/ending.py scanner/grammar.py scanner/kernel.py scanner/url_context.py "
    "scanner/views/label_words.py scanner/views/markup.py scanner/views/readings.py scanner/views/references.py scanner/views/windows.py "
    "formats/archives/tar_fast.py formats/archives/warc_fast.py formats/contents.py inputs/seen_inputs.py formats/small_files.py "
    "tables/rows.py tables/spelling_columns.py urn/lookalikes.py urn/prefix_filter.py urn/namespaces/check_digits.py urn/namespaces/judgement_columns.py urn/namespaces/trailing_text.py "
    "urn/namespaces/patterns.py urn/numbers/digits.py urn/numbers/isbn.py urn/numbers/issn.py urn/problem_columns.py urn/reject_reasons.py urn/syntax.py urn/trim.py"
).split()
"""Files on whose text compiled code depends: they define compiled functions, or constants that the functions use.

A function is compiled together with all functions that it calls. So a change in any of these files makes all compiled
code stale. `tests/compiled/test_jit.py` compares this list with the code.
"""

PACKAGE = Path(__file__).parents[1]
WHEEL = PACKAGE / "object_code"
"""The folder of the code from the wheel, if the package was installed from a wheel with compiled code."""
_V2 = "cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3"
_X86_VARIANTS = {"x86-64-v3": f"{_V2} avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave", "x86-64-v2": _V2}
"""Processor for which a wheel has code -> the features that a processor needs to run that code; the best comes first.

The names of processors and features are those of LLVM; the x86-64 psABI defines the variants.
"""
_SETTINGS = "NUMBA_BOUNDSCHECK", "NUMBA_OPT"
_PROCESSOR = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"
"""Environment variables that name another processor for which Numba compiles."""
_MARK = ".complete"


def load(function: str, kinds: object) -> Callable[..., Any] | None:
    """The compiled function with this name (`module.function`; the module must be imported), for these kinds (types) of
    arguments, made from saved code, which Python can call; None if no code is saved for this processor and these
    versions of the sources.
    """
    for folder, machine in _places():
        try:
            entry, environment, data = _path(folder, machine, function, kinds).read_bytes().split(b"\n", 2)
        except (OSError, ValueError):
            continue
        return _linked(ObjectCode(entry.decode(), environment.decode(), data), function)
    return None


def save(function: str, kinds: object, code: ObjectCode) -> None:
    """Save the code of a function (`module.function`), compiled for these kinds (types) of arguments, to a file in
    `cache_folder`, and remove code of the same function that was compiled from other sources. Does nothing if there is
    no folder; ignores an OSError, such as for a full disk.
    """
    folder, new = cache_folder(), None
    if folder is None:
        return
    try:
        for other in folder.glob(f"{function}.{sys.implementation.cache_tag}.*"):
            if _source_key() not in other.name:
                other.unlink(missing_ok=True)
        path = _path(folder, _machine(), function, kinds)
        new = path.with_name(f"{path.name}-{uuid.uuid4().hex}")
        new.write_bytes(b"\n".join([code.entry.encode(), code.environment.encode(), code.data]))
        new.replace(path)
    # The disk is full, or the folder is read-only and contains all code.
    except OSError:
        if new is not None:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)


def _path(folder: Path, machine: str, function: str, kinds: object) -> Path:
    return folder / f"{function}.{_stamp(machine)}.{_digest(str(kinds))}.o"


def _stamp(machine: str) -> str:
    return f"{sys.implementation.cache_tag}.{_source_key()}.{machine}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def source_key(package: Path) -> str:
    """Digest (16 hex digits) of the texts of all SOURCES (files with compiled functions and their constants) in the
    folder `package`, and of the versions of Numba, NumPy and llvmlite. Raises OSError if a file cannot be read.
    """
    versions = [version_text(), np.__version__.encode(), llvmlite.__version__.encode()]
    texts = [(package / source).read_bytes() for source in SOURCES]
    return hashlib.blake2b(b"\0".join([*versions, *texts]), digest_size=8).hexdigest()


@functools.cache
def _source_key() -> str:
    return source_key(PACKAGE)


@functools.cache
def _machine() -> str:
    host = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return _machine_of(*map(os.environ.get, _PROCESSOR, host))


def _machine_of(*processor: str | None) -> str:
    settings = (f"{name}={os.environ.get(name, '')}" for name in _SETTINGS)
    return _digest(" ".join([llvm.get_process_triple(), *map(str, processor), *settings]))


def variants() -> list[str]:
    """The kinds of processors whose code in a wheel this processor can run, too, best first: `x86-64-v3`, `x86-64-v2`.
    Empty for an old x86-64; only `generic` if this processor is not x86-64.
    """
    if not llvm.get_process_triple().startswith("x86_64"):
        return ["generic"]
    features = llvm.get_host_cpu_features()
    return [name for name, needs in _X86_VARIANTS.items() if all(map(features.get, needs.split()))]


@functools.cache
def wheel_machine() -> str | None:
    """The best code in the wheel that this process can run, as the digest of the machine in its file names. None if the
    wheel has no such code, if saved code cannot be loaded here, or if the environment has NUMBA_CPU_NAME or
    NUMBA_CPU_FEATURES.
    """
    if any(name in os.environ for name in _PROCESSOR) or not WHEEL.exists() or not _can_load():
        return None
    machines = (_machine_of(name, "") for name in variants())
    return next((machine for machine in machines if _mark(WHEEL, machine).exists()), None)


def _places() -> Iterator[tuple[Path, str]]:
    """Yield folders with code that can run here, each with the digest of the machine for which the code was compiled. A
    folder may be missing.
    """
    if machine := wheel_machine():
        yield WHEEL, machine
    if folder := cache_folder():
        yield folder, _machine()


@functools.cache
def _can_load() -> bool:
    try:
        _source_key(), c_modules()
    # ImportError: Numba has other C modules. OSError: the package is in a zip file.
    except (ImportError, OSError):
        return False
    return True


@functools.cache
def cache_folder() -> Path | None:
    """The folder in which compiled code is saved; None if no folder is suitable, or saved code cannot be loaded.

    The only candidate is a folder in NUMBA_CACHE_DIR if that is set; else they are the `__pycache__` of the package, then
    a folder in the user's caches. The first that is writable, or already contains all compiled code, is made and returned.
    """
    if not _can_load():
        return None
    own = f"urnscan_{hashlib.blake2b(bytes(PACKAGE), digest_size=8).hexdigest()}"
    named = os.environ.get("NUMBA_CACHE_DIR")
    folders = [Path(named) / own] if named else [PACKAGE / "__pycache__", *(base / own for base in _user_caches())]
    return next((folder for folder in folders if _mark(folder, _machine()).exists() or _is_writable(folder)), None)


def _user_caches() -> Iterator[Path]:
    """Yield the user's cache folder for this package, which need not exist; nothing for a user without a home."""
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
    """Whether the code of all functions is saved for these sources and this processor: a wheel brought it, or
    `mark_complete` was called earlier, perhaps by another process.
    """
    return any(_mark(folder, machine).exists() for folder, machine in _places())


def count() -> int:
    """Number of files of saved code, from the wheel or from earlier runs, for these sources and this processor: one for
    each function and kinds of arguments.
    """
    return sum(1 for folder, machine in _places() for _ in folder.glob(f"*.{_stamp(machine)}.*.o"))


def mark_complete() -> None:
    """Write the mark (an empty file) that all functions are compiled and saved, so that `is_complete` is true from now
    on, and remove the marks of other versions for this processor; nothing is checked. Does nothing if `is_complete` is
    true, or without a `cache_folder`. Raises OSError if the folder cannot be written.
    """
    folder = cache_folder()
    if folder is not None and not is_complete():
        for old in folder.glob(f"{_machine()}.{sys.implementation.cache_tag}.*{_MARK}"):
            old.unlink(missing_ok=True)
        _mark(folder, _machine()).touch()


def _mark(folder: Path, machine: str) -> Path:
    """The file that exists if the folder contains all functions for the machine."""
    return folder / f"{machine}.{sys.implementation.cache_tag}.{_source_key()}{_MARK}"


def _linked(code: ObjectCode, function: str) -> Callable[..., Any]:
    """A Python function that calls the object code, linked into this process. `function` is `module.name`; the module
    must be imported.
    """
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.data))
    engine.finalize_object()
    module, _, name = function.rpartition(".")
    address = engine.get_function_address(code.entry)
    called, environment = python_function(sys.modules[module], name, address, engine)
    ctypes.c_void_p.from_address(engine.get_global_value_address(code.environment)).value = environment
    return called


@functools.cache
def _engine() -> Any:  # noqa: ANN401 (llvmlite carries no types)
    """The linker of this process, with the addresses of the symbols that saved code needs."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, address in symbols().items():
        llvm.add_symbol(name, address)
    # For x86, Numba generates code that is not relocatable; it must be linked as static code.
    target = llvm.Target.from_default_triple()
    relocation = "static" if target.name.startswith("x86") else "default"
    machine = target.create_target_machine(reloc=relocation, codemodel="jitdefault", jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
