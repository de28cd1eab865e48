"""Lists of inputs, as `find` prints them: a path or URL on each line, or each with NUL after it."""

import codecs
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from urnscan.errors import FatalError, SourceError
from urnscan.stores.input import name_of

# A list with NULs has a NUL in so many bytes, as paths are at most half as long.
_TELLING = 1 << 13
_BLOCK = 1 << 18  # bytes per read
_LONGEST = 1 << 16  # maximum bytes of a path or URL


@dataclass(frozen=True, slots=True)
class PathList:
    """A list of inputs (paths and URLs) that is in a file or comes on standard input; not yet read."""

    source: str
    """Path of the list, or "-" for standard input."""

    @property
    def name(self) -> str:
        """Name of the list for messages: its path, or "standard input"."""
        return "standard input" if self.source == "-" else name_of(self.source)

    @property
    def is_file(self) -> bool:
        """Whether the list is a regular file, so that it can be read a second time. False for standard input."""
        try:
            return self.source != "-" and stat.S_ISREG(os.stat(self.source).st_mode)  # noqa: PTH116 (as in walk.py)
        except (OSError, ValueError):
            return False

    def read(self, most: int) -> Iterator[list[bytes]]:
        """Open and read the list. Yields its paths, unchecked, in groups of 1 to `most`: the first after 8,192 bytes or
        the end of the list, the others as soon as they arrive.

        LF separates paths, or NUL if the first 8,192 bytes of the list contain NUL. Empty paths are skipped, and, in a
        list with LF, a byte order mark. Raises FatalError if the list cannot be read, or is no list: without a
        separator for more than 65,536 bytes (a longer path may pass).
        """
        number, rest = 0, b""
        try:
            # Standard input stays open.
            with open(0 if self.source == "-" else self.source, "rb", closefd=self.source != "-") as file:
                block = file.read(_TELLING)
                separator = b"\0" if b"\0" in block else b"\n"
                if separator == b"\n" and block.startswith(codecs.BOM_UTF8):
                    block = block[len(codecs.BOM_UTF8) :] or file.read1(_BLOCK)
                while block:
                    *paths, rest = (rest + block).split(separator)
                    number += len(paths)
                    if len(rest) > _LONGEST:
                        reason = f"path {number + 1:,} has more than {_LONGEST:,} bytes; write one path on each line"
                        raise FatalError(f"{self.name}: {reason}")
                    yield from _in_parts(paths, most)
                    block = file.read1(_BLOCK)
        except (OSError, ValueError) as error:
            reason = error.strerror or str(error) if isinstance(error, OSError) else "no file can have such a name"
            raise FatalError(f"{self.name}: cannot be read as a list of inputs: {reason}") from error
        yield from _in_parts([rest], most)


def _in_parts(paths: list[bytes], most: int) -> Iterator[list[bytes]]:
    names = [path for path in paths if path]
    for at in range(0, len(names), most):
        yield names[at : at + most]


def with_remedy(error: SourceError, path: str) -> SourceError:
    """Return `error`, which is about the path `path` of a list; with advice on lists from Windows added if the path
    ends with CR.
    """
    if not path.endswith("\r"):
        return error
    reason = f"{error.reason}; in the list its name ends in CR: is the list from Windows? tr -d '\\r' takes it off"
    return SourceError(error.source, reason)
