"""CRC-32, by the fastest library there is."""

from __future__ import annotations

import functools
from collections.abc import Callable


@functools.cache
def fastest_crc32() -> Callable[..., int]:
    """The function for CRC-32 of isal, or of zlib."""
    try:
        from isal.isal_zlib import crc32  # noqa: PLC0415 (there is none for some machines)
    except ImportError:
        from zlib import crc32  # noqa: PLC0415
    return crc32
