"""Selection of the files in walked folders, on this machine and in stores."""

from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase

from urnscan.stores.temporary import TEMPORARY_SUFFIX

DELTA_LOG = "_delta_log"
"""Name of the log folder in a Delta table."""
LAKE = (
    "is a table of Delta or Iceberg, and all its Parquet files are read, removed rows included; to scan the table as it "
    "is now, give its batches to urnscan.scan_batches"
)
"""Text of the note about a folder that is a Delta or Iceberg table."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns that select files of walked folders; a file that is itself an argument is always an input.

    Patterns have the wildcards of `fnmatch`: `*`, `?`, `[seq]` and `[!seq]`. A pattern without "/" is matched with the
    base name; a pattern with "/" with the path below the walked folder, where wildcards also match "/". A pattern that
    ends with "/" matches only folders. Case is significant.
    """

    include: tuple[str, ...] = ()
    """A file is an input only if it matches at least one of these patterns. Empty: all files. Folders need no match."""
    exclude: tuple[str, ...] = ()
    """A file that matches any of these patterns is not an input; a folder that matches is not entered."""
    follow: bool = False
    """Whether symbolic links are followed, except links to a folder that contains the link."""

    def takes(self, name: str, relative: str, *, is_folder: bool = False) -> bool:
        """Whether the patterns make a file of a walked folder an input, or let a folder be entered (`is_folder`).

        False for a name that ends with TEMPORARY_SUFFIX: a file that a run is still writing. `name`: base name of the
        file or folder; `relative`: its path below the walked folder. Symbolic links are not checked (`follow`).
        """
        if name.endswith(TEMPORARY_SUFFIX) or _fits(self.exclude, name, relative, is_folder=is_folder):
            return False
        return is_folder or not self.include or _fits(self.include, name, relative, is_folder=False)


def _fits(patterns: tuple[str, ...], name: str, relative: str, *, is_folder: bool) -> bool:
    for pattern in patterns:
        glob = pattern.removesuffix("/")
        if (is_folder or glob == pattern) and fnmatchcase(relative if "/" in glob else name, glob):
            return True
    return False


def with_next(parts: list[str], positions: Collection[int]) -> set[int]:
    """Return `positions` in a pattern, and those that are also possible because `**` may match no folder.

    A position is the index of the part that the next name in a path must match, or `len(parts)` if the whole pattern is
    matched. `parts`: the parts of the pattern between "/". For `["**", "*.txt"]` and {0} the result is {0, 1}.
    """
    reachable = set(positions)
    for at, part in enumerate(parts):
        if at in reachable and part == "**":
            reachable.add(at + 1)
    return reachable
