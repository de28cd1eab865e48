"""Ignore files on the way of a walk: .gitignore, .ignore, and the list of a repository, .git/info/exclude.

As ripgrep does: the file that is nearest to an entry decides, in it the last pattern that matches; .ignore before
.gitignore, and both before .git/info/exclude. Files in folders above the walked one count up to the top of the
repository. What is in a repository is not the business of the .gitignore files around it.
"""
# Paths are octets.
# ruff: noqa: PTH118

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass

from urnscan.errors import SourceError
from urnscan.sources.ignore_patterns import Patterns

_LARGEST = 1 << 20  # octets of an ignore file
_OF_GIT, _OF_ALL, _LIST = b".gitignore", b".ignore", b".git/info/exclude"
_REPOSITORY = b".git"

_Rules = tuple[tuple[int, Patterns], ...]
"""Patterns of files, the nearest first, each with the octets of the path of its folder and the slash behind it."""


@dataclass(frozen=True, slots=True)
class IgnoreFiles:
    """The ignore files that decide about the entries of a folder."""

    folder: bytes
    """Real path of the folder, with a slash behind it."""
    general: _Rules = ()
    """Of .ignore files."""
    git: _Rules = ()
    """Of .gitignore files, and of the list of the repository."""
    errors: tuple[SourceError, ...] = ()
    """For ignore files in the folder itself that could not be read."""

    def is_ignored(self, name: bytes, *, is_folder: bool) -> bool:
        """Whether the entry of this name is passed over."""
        if name == _REPOSITORY:  # git itself never counts it among the files of a repository
            return True
        path = self.folder + name
        for rules in (self.general, self.git):
            for start, patterns in rules:
                verdict = patterns.decide(path[start:], is_folder=is_folder)
                if verdict is not None:
                    return verdict
        return False

    def below(self, name: bytes) -> IgnoreFiles:
        """The ignore files of a folder in this one."""
        return _entered(self.folder + name + b"/", self.general, self.git)


def ignore_files(root: str) -> IgnoreFiles:
    """The ignore files of a folder that was named, and of the folders above it up to the top of its repository.

    If those above ignore the folder itself, they do not count: it was named, so it is read.
    """
    real = os.path.realpath(os.fsencode(root))
    top, names = real, list[bytes]()
    while not os.path.lexists(os.path.join(top, _REPOSITORY)):
        above, name = os.path.split(top)
        if above == top:  # in no repository
            return _entered(os.path.join(real, b""), (), ())
        top = above
        names.insert(0, name)
    found = _entered(os.path.join(top, b""), (), ())
    for name in names:
        if found.is_ignored(name, is_folder=True):
            return _entered(os.path.join(real, b""), (), ())
        found = found.below(name)
    return found


def _entered(folder: bytes, general: _Rules, git: _Rules) -> IgnoreFiles:
    """The ignore files of a folder, given those of the folders above it."""
    errors: list[SourceError] = []

    def rules(name: bytes) -> _Rules:
        try:
            patterns = _read(folder + name)
        except SourceError as error:
            errors.append(error)
            return ()
        return () if patterns is None else ((len(folder), patterns),)

    own = rules(_OF_GIT)
    if os.path.lexists(folder + _REPOSITORY):
        git = rules(_LIST)
    return IgnoreFiles(folder, rules(_OF_ALL) + general, own + git, tuple(errors))


def _read(path: bytes) -> Patterns | None:
    """The patterns in a file; None if there is no regular file, as git follows no links to it. Raises SourceError."""
    name = path.decode("utf-8", "backslashreplace")
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            octets = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SourceError(name, f"cannot be read as a list of files to ignore: {error.strerror}") from error
    if len(octets) > _LARGEST:
        raise SourceError(name, f"has more than {_LARGEST:,} octets: nothing is ignored by it")
    lines = octets.removeprefix(codecs.BOM_UTF8).split(b"\n")
    return Patterns(line.removesuffix(b"\r") for line in lines)
