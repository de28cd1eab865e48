"""Loading of what is heavy, without what Python would do meanwhile for nothing."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["loading"]


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """What is loaded in this context stays to the end: nobody looks for garbage in it, then or later.

    Python would, again and again as objects become more; that is a twelfth of a start.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
