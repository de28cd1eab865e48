"""Patterns with `*`, `?`, `[` and `**` -> the paths that match, each folder sorted by the bytes of the names."""
# A Path for each of a million files would cost more than all the rest of a walk.
# ruff: noqa: PTH112, PTH114, PTH119

import os
import re
from collections.abc import Collection, Iterator
from errno import ENOENT, ENOTDIR
from fnmatch import fnmatchcase
from typing import TypeAlias

from urnscan.errors import SourceError
from urnscan.inputs.own_outputs import OwnOutputs
from urnscan.inputs.selection import with_next
from urnscan.inputs.walk import identity
from urnscan.stores.input import name_of
from urnscan.stores.temporary import TEMPORARY_SUFFIX

_MAGIC = re.compile(r"[*?\[]")

_Candidate: TypeAlias = tuple[str, bool, bool]
"""A path, whether it is a folder, and whether it is a link."""


def is_pattern(path: str) -> bool:
    """Whether a path contains `*`, `?` or `[`."""
    return _MAGIC.search(path) is not None


def matches(pattern: str, own: OwnOutputs, *, follow: bool) -> Iterator[str | SourceError]:
    """Yield the paths that match a pattern, depth first, each folder sorted by the bytes of the names. The pattern must
    contain `*`, `?` or `[`.

    `*`, `?` and `[…]` match inside a name, `**` any number of folders. They match hidden files, too, but no temporary
    files of runs. A folder that matches is yielded, and not entered. A folder that cannot be listed yields an error.
    Outputs of the run (`own`) are not yielded. `follow`: whether `**` follows symbolic links to folders, but never in
    circles. Raises FatalError for an output of the run that is there already, and that urnscan did not write.
    """
    # Not `glob` of the standard library: it follows links in circles, yields the files of a folder, and does not sort.
    parts = pattern.split("/")
    first = next(at for at, part in enumerate(parts) if _MAGIC.search(part))
    # Paths in results begin as the user wrote the pattern.
    top = "".join(part + "/" for part in parts[:first])
    folder = top.rstrip("/") or top[:1] or "."
    only_folders = parts[-1] == ""
    parts = [part for part in parts[first:] if part]
    positions = with_next(parts, {0})
    if len(parts) in positions:
        if os.path.isdir(folder):
            yield folder
        return
    way = [(_candidates(top, parts, positions), positions, identity(folder, follow=follow))]
    while way:
        candidates, positions, _ = way[-1]
        candidate = next(candidates, None)
        if candidate is None:
            way.pop()
            continue
        if isinstance(candidate, SourceError):
            yield candidate
            continue
        path, is_folder, is_link = candidate
        name = os.path.basename(path)
        next_positions = {at + 1 for at in positions if parts[at] != "**" and fnmatchcase(name, parts[at])}
        if is_folder:
            next_positions = with_next(parts, next_positions)
        if len(parts) in next_positions:
            if is_folder or not (only_folders or own.has_file(path, is_link=is_link)):
                yield path
        elif is_folder:
            key = identity(path, follow=follow)
            # Only `**` can meet a folder twice, and only through links.
            if all(key != above for _, _, above in way) if follow else not is_link:
                next_positions |= {at for at in positions if parts[at] == "**"}
            if next_positions:
                next_positions = with_next(parts, next_positions)
                way.append((_candidates(path + "/", parts, next_positions), next_positions, key))


def _candidates(folder: str, parts: list[str], positions: Collection[int]) -> Iterator[_Candidate | SourceError]:
    """Yield (path, is folder, is link) for the entries of a folder (with "/" at its end, or empty) that may match one
    of the parts `parts[i]` of a pattern, for i in `positions`; an error if the folder is there and cannot be listed.
    The caller must match the names.
    """
    names = {parts[at] for at in positions}
    if not any(map(_MAGIC.search, names)):
        # Plain names are looked up without a listing, for which the user may lack permission.
        for name in sorted(names, key=os.fsencode):
            path = folder + name
            if os.path.lexists(path):
                yield path, os.path.isdir(path), os.path.islink(path)
        return
    try:
        with os.scandir(folder or ".") as listing:
            entries = sorted(listing, key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        if error.errno not in (ENOENT, ENOTDIR):
            yield SourceError.from_os(name_of(folder.rstrip("/") or folder[:1] or "."), error)
        return
    for entry in entries:
        if not entry.name.endswith(TEMPORARY_SUFFIX):
            path, is_link = folder + entry.name, entry.is_symlink()
            yield path, os.path.isdir(path) if is_link else entry.is_dir(), is_link
