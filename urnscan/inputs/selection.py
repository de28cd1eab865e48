"""Rules for the files in walked folders: which are inputs, on this machine and in stores."""

from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase

from urnscan.stores.temporary import TEMPORARY_SUFFIX

DELTA_LOG = "_delta_log"
"""Name of the folder with the log of a table of Delta."""
LAKE = (
    "is a table of Delta or Iceberg, and all its Parquet files are read, removed rows included; to scan the table as it "
    "is now, give its batches to urnscan.scan_batches"
)
"""Text of the note about the folder of such a table."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns that select the files of a walked folder; a file that was named is an input in any case.

    A pattern with a "/" in it is matched on the path from the walked folder on, where `*` crosses "/" too; any other on
    the base name; one that ends in "/" matches folders only. Case counts.
    """

    include: tuple[str, ...] = ()
    """A file must match one of these, if there are any."""
    exclude: tuple[str, ...] = ()
    """A file must match none of these; a folder that matches one is not entered."""
    follow: bool = False
    """Whether links in folders are followed; a link to a folder around it never is."""

    def takes(self, name: str, relative: str, *, is_folder: bool = False) -> bool:
        """Whether a file of a walked folder is an input, or a folder in it is entered.

        `relative` is the path from the walked folder on. Temporary files of runs never are.
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
    """Positions in a pattern, and those that follow a `**` at one of them, as it may match no folder at all."""
    reachable = set(positions)
    for at, part in enumerate(parts):
        if at in reachable and part == "**":
            reachable.add(at + 1)
    return reachable
