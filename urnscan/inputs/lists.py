"""Lists of what is to be read, as `find` prints them: one path or URL a line, or each with a NUL after it."""

import codecs
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from urnscan.errors import FatalError, SourceError
from urnscan.stores.input import name_of

# Bytes in which a list with NULs has at least one: paths are at most half as long.
_TELLING = 1 << 13
_BLOCK = 1 << 18  # bytes of the list that are read at once
_LONGEST = 1 << 16  # bytes of a path or URL


@dataclass(frozen=True, slots=True)
class PathList:
    """A file that names inputs."""

    source: str
    """Path of the list, or "-" for standard input."""

    @property
    def name(self) -> str:
        """Name in errors."""
        return "standard input" if self.source == "-" else name_of(self.source)

    @property
    def is_file(self) -> bool:
        """Whether the list can be read a second time."""
        try:
            return self.source != "-" and stat.S_ISREG(os.stat(self.source).st_mode)  # noqa: PTH116 (as in walk.py)
        except (OSError, ValueError):
            return False

    def read(self, most: int) -> Iterator[list[bytes]]:
        """The paths in groups of at most `most`, as the list arrives, without empty ones and a byte order mark.

        Raises FatalError if the list cannot be read, or if a line is too long for a path or URL.
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
                        reason = f"what follows {number:,} names is longer than any: is it a list of paths?"
                        raise FatalError(f"{self.name}: {reason}")
                    yield from _in_parts(paths, most)
                    block = file.read1(_BLOCK)
        except (OSError, ValueError) as error:
            reason = error.strerror or str(error) if isinstance(error, OSError) else "no file can have such a name"
            raise FatalError(f"{self.name}: cannot be read as a list of inputs: {reason}") from error
        yield from _in_parts([rest], most)


def _in_parts(paths: list[bytes], most: int) -> Iterator[list[bytes]]:
    """The paths that are not empty, no more than `most` at once."""
    names = [path for path in paths if path]
    for at in range(0, len(names), most):
        yield names[at : at + most]


def with_remedy(error: SourceError, path: str) -> SourceError:
    """The error for a path of a list, with a remedy if the name ends in CR, as in lists from Windows."""
    if not path.endswith("\r"):
        return error
    reason = f"{error.reason}; in the list its name ends in CR: is the list from Windows? tr -d '\\r' takes it off"
    return SourceError(error.source, reason)
