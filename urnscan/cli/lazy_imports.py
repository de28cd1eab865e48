"""Loading of heavy libraries, without garbage collection."""

from __future__ import annotations

import contextlib
import gc
import resource
import sys
from collections.abc import Iterator
from importlib.abc import MetaPathFinder
from types import ModuleType

from urnscan.errors import FatalError

# Bytes of address space that the libraries and a small scan need.
_MIN = 1 << 30


class _NoPandas(MetaPathFinder):
    """Import finder that makes pandas look as if it was not installed."""

    def find_spec(self, fullname: str, *_: object) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Context in which modules are imported without garbage collection, to save time.

    It loads pyarrow first, and sets the allocator of the system as its memory pool. Afterwards, the objects that exist
    are never searched for garbage. Raises FatalError if the memory limit of the process is below 1 GiB.
    """
    # With less, LLVM, which loads the compiled code, would abort the process without a message.
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY and most < _MIN:
        raise FatalError(f"the memory limit is {most >> 20} MB (ulimit -v); set it to at least {_MIN >> 20} MB")
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        import pyarrow as pa

        # The tables are large and short-lived. The allocator of the system keeps freed memory, which saves half of the
        # time that the kernel spends on new pages.
        pa.set_memory_pool(pa.system_memory_pool())
        _keep_from_pandas(pa)
        _load_functions()
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def _load_functions() -> None:
    """Load `pyarrow.compute` without the documentation of the options, which takes half of the time of the import."""
    # pyarrow reads the documentation from docstrings, with a parser that it contains. During the import, this parser is
    # replaced by a parser that finds nothing.
    name = "pyarrow.vendored.docscrape"
    if name in sys.modules:
        return
    parser = ModuleType(name)
    parser.NumpyDocString = lambda _docstring: {"Parameters": ()}  # type: ignore[attr-defined]
    sys.modules[name] = parser
    try:
        # Another version of pyarrow may need more of the parser: then its functions are loaded later, as usual.
        with contextlib.suppress(Exception):
            import pyarrow.compute  # noqa: F401 (loaded for all modules)
    finally:
        del sys.modules[name]


def _keep_from_pandas(pa: ModuleType) -> None:
    """Let the module `pyarrow` search for pandas now, once, and not find it."""
    # pyarrow imports pandas at the first conversion of Python objects, to check whether they are objects of pandas. No
    # command has such objects, and the import takes longer than a small merge. A program that asks pyarrow for a frame
    # still gets a frame.
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(finder)
