"""CRC-32, by the fastest installed library."""

from __future__ import annotations

import functools
from collections.abc import Callable


@functools.cache
def fastest_crc32() -> Callable[..., int]:
    """Return the function `crc32(data, value=0)` of isal or, if isal is not installed, the same function of zlib."""
    try:
        from isal.isal_zlib import crc32  # noqa: PLC0415 (isal does not exist for some machines)
    except ImportError:
        from zlib import crc32  # noqa: PLC0415
    return crc32
