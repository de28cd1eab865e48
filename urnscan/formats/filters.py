"""Filters: commands of the user that convert files to text, such as `pdf:pdftotext % -` (`--filter`)."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from urnscan.errors import ArgumentError, FatalError, option
from urnscan.formats.captures import Capture
from urnscan.formats.media_types import media_type

ANY = "*"
"""Instead of a suffix in `Filter.kinds`: the filter is for all files."""
PATH = "%"
"""Word of a command, or end of a word after "=", that is replaced by the path of the file."""
_OF_RECORD = " ?#"  # characters that end the file name in the name of a record of a web archive


@dataclass(frozen=True, slots=True)
class Filter:
    """A command that converts files to text, and the kinds of files for which the command is used."""

    kinds: tuple[str, ...]
    """All in lower case: suffixes with dot (`.pdf`); media types or patterns of media types (`image/*`); `*`, all
    files.
    """
    command: tuple[str, ...]
    """Words of the command. If no word has the placeholder `%` for the path, the file is its standard input."""
    timeout: int
    """Maximum seconds that the command may take for a file."""

    @property
    def name(self) -> str:
        """Name of the command without folder, as `pdftotext`; also the name of its text as a member of the file."""
        return Path(self.command[0]).name

    @property
    def has_types(self) -> bool:
        """Whether `kinds` contains a media type or a pattern of media types (`image/*`): then `fits` needs `head`."""
        return any("/" in kind for kind in self.kinds)

    def fits(self, name: str, head: bytes = b"", capture: Capture | None = None) -> bool:
        """Whether the filter is for a file: one of `kinds` is `ANY`, the suffix of `name` in any case, or a media type
        of the file.

        The file has up to two media types: by its first bytes `head` (`media_types.LONGEST` are enough), and that of
        `capture`, the record of a web archive that contains the file. Of the name of such a record only the part before
        a space, ? or # counts.
        """
        types = [media_type(head)] if self.has_types else []
        if capture is not None:
            name = name[: min(map(f"{name}{_OF_RECORD}".index, _OF_RECORD))]
            types.append(capture.mime)
        suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122 (a Path for each member would cost)
        return any(
            kind in (ANY, suffix) or any(fnmatchcase(mime, kind) for mime in types if mime) for kind in self.kinds
        )


def takes_path(word: str) -> bool:
    """Whether `%` in a word of a command is replaced by the path: the word is `%`, or ends with `=%`.

    `%` in any other word is kept, for safety: in a script, such as `sh -c 'cat %'`, a file name could run programs.
    """
    return word == PATH or word.endswith(f"={PATH}")


def read_filters(texts: Iterable[str], timeout: int) -> tuple[Filter, ...]:
    """Parse filters `KIND[,KIND...]:COMMAND`, as `pdf,eps:pdftotext % -`; `timeout`: maximum seconds for a file. A kind
    is a suffix, a media type (`image/*`) or `*`.

    Raises ArgumentError for a text that is not of this form, and if the command is not installed.

    >>> (log_filter,) = read_filters(["txt,.LOG:cat"], 60)
    >>> log_filter.kinds, log_filter.command, log_filter.name
    (('.txt', '.log'), ('cat',), 'cat')
    """
    return tuple(_read(text, timeout) for text in texts)


def listed_filters(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the arguments of `--filter`, with each `@FILE` replaced by the lines of the file; others are unchanged.

    Lines are stripped; empty lines, and lines that begin with #, are skipped. Raises FatalError for a file that cannot
    be read.
    """
    filters: list[str] = []
    for text in texts:
        if not text.startswith("@"):
            filters.append(text)
            continue
        path = text.removeprefix("@")
        try:
            lines = Path(path).read_text("utf-8").splitlines()
        except (OSError, ValueError) as error:
            # ValueError: not UTF-8, or NUL in the path.
            reason = getattr(error, "strerror", None) or error
            raise FatalError(f"{path}: the filters cannot be read: {reason}") from None
        filters += [line for line in map(str.strip, lines) if line and not line.startswith("#")]
    return tuple(filters)


def _read(text: str, timeout: int) -> Filter:
    named = option("filters", None)
    kinds, colon, line = text.partition(":")
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ArgumentError(f"{named}: invalid command in {text!r}: {error}") from None
    suffixes = [kind.strip().lower() for kind in kinds.split(",")]
    if not (colon and words and all(suffixes)):
        raise ArgumentError(
            f"{named}: invalid filter {text!r}; write SUFFIX[,SUFFIX...]:COMMAND, as in 'pdf:pdftotext % -'"
        )
    if shutil.which(words[0]) is None:
        raise ArgumentError(f"{named}: command not found: {words[0]}; install it, or write its whole path")
    shown = (kind if kind == ANY or "/" in kind else f".{kind.removeprefix('.')}" for kind in suffixes)
    return Filter(tuple(shown), tuple(words), timeout)
