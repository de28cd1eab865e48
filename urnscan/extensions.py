"""Forms and record formats that other packages declare by entry points (docs/extending.md)."""

from __future__ import annotations

import functools
import glob
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def extensions(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, such as "urnscan.formats", in all installed packages, sorted by name; empty
    if there are none. `load` of an entry point imports the package, and raises every error of the import.
    """
    # `importlib.metadata` takes 40 ms to load, a tenth of a run on a small file. Most environments do not need it.
    heading = f"[{group}]".encode()
    if heading not in _declarations():
        return []
    from importlib.metadata import entry_points  # noqa: PLC0415 (see above)

    return sorted(entry_points(group=group), key=lambda point: (point.name, point.value))


@functools.cache
def _declarations() -> bytes:
    files = (name for folder in sys.path for name in glob.iglob(f"{glob.escape(folder)}/*-info/entry_points.txt"))
    return b"\n".join(Path(name).read_bytes() for name in files)
