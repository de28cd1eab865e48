"""Loading of what is heavy, without what Python would do meanwhile for nothing."""

from __future__ import annotations

import contextlib
import gc
import resource
from collections.abc import Iterator

from urnscan.errors import FatalError

__all__ = ["loading"]

_LEAST = 1 << 30  # octets of addresses, with which the libraries are loaded and little is read


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """What is loaded in this context stays to the end: nobody looks for garbage in it, then or later.

    Python would, again and again as objects become more; that is a twelfth of a start. Raises FatalError where the
    process may have so little memory that LLVM, which loads what is compiled, would end it without a word of ours.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY and most < _LEAST:
        raise FatalError(
            f"this process may have {most >> 20} MB of memory (ulimit -v): let it have {_LEAST >> 20} at least"
        )
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        import pyarrow as pa  # noqa: PLC0415

        # Our tables are large and live shortly. The allocator of the system keeps freed memory, which saves half of the
        # time that the kernel spends on new pages.
        pa.set_memory_pool(pa.system_memory_pool())
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
