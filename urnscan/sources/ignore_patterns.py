"""Patterns of .gitignore and .ignore, each as a regular expression for octets.

The rules are those of gitignore(5), and where it is silent those of git. A library (pathspec) answers for a whole path:
whether it or a folder above it is ignored. A walk asks for one entry, whose folders are not, and several files decide.

No pattern takes more than linear time: what stands between two wildcards is matched once, where it first occurs.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

_TOKEN = re.compile(
    rb"(?P<stars>\*+)|(?P<one>\?)|\\(?P<escaped>.)|(?P<plain>[^\\*?\[])"
    rb"|\[(?P<negated>[!^]?)(?P<set>(?:\\.|\[:[a-z]*:\]|.)(?:\\.|\[:[a-z]*:\]|[^\\\]])*)\]",
    re.DOTALL,
)
_ITEM = re.compile(rb"\[:(?P<name>[a-z]*):\]|\\?(?P<low>.)(?:-\\?(?P<high>.))?", re.DOTALL)  # of a set
_SLASH = ord("/")
_NAMED_SETS = {
    b"alnum": rb"[a-zA-Z0-9]",
    b"alpha": rb"[a-zA-Z]",
    b"blank": rb"[ \t]",
    b"cntrl": rb"[\x00-\x1f\x7f]",
    b"digit": rb"[0-9]",
    b"graph": rb"[!-~]",
    b"lower": rb"[a-z]",
    b"print": rb"[ -~]",
    b"punct": rb"[!-/:-@\[-`{-~]",
    b"space": rb"[ \t-\r]",
    b"upper": rb"[A-Z]",
    b"xdigit": rb"[a-fA-F0-9]",
}
_NOTHING = rb"(?!)"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file."""

    regex: bytes
    """Matches the whole name of an entry, or its whole path below the folder of the file."""
    by_name: bool
    """Whether the name is matched and not the path."""
    only_folders: bool
    is_ignored: bool
    """False for a line that begins with "!": what it matches is read."""


class Patterns:
    """The patterns of one ignore file; the last one that matches an entry decides."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        patterns = [pattern for line in lines if (pattern := parse(line)) is not None]
        self._patterns = [(pattern, re.compile(pattern.regex, re.DOTALL)) for pattern in reversed(patterns)]
        # Most entries match no pattern.
        self._any_name, self._any_path = (
            re.compile(b"|".join(each.regex for each in patterns if each.by_name is by_name) or _NOTHING, re.DOTALL)
            for by_name in (True, False)
        )

    def decide(self, path: bytes, *, is_folder: bool) -> bool | None:
        """Whether an entry is ignored, by its path below the folder of the file; None if no pattern matches it."""
        name = path.rpartition(b"/")[2]
        if self._any_name.fullmatch(name) or self._any_path.fullmatch(path):
            for pattern, regex in self._patterns:
                if (is_folder or not pattern.only_folders) and regex.fullmatch(name if pattern.by_name else path):
                    return pattern.is_ignored
        return None


def parse(line: bytes) -> Pattern | None:
    r"""Parse a line of an ignore file, without its line end; None if it has no pattern, or one that matches nothing.

    >>> parse(b"!/doc/*.txt ").regex, parse(b"build/").by_name, parse(b"# build") is None
    (b'doc/[^/]*\\.txt', True, True)
    """
    glob = _without_spaces(line)
    is_ignored = not glob.startswith(b"!")
    glob = glob.removeprefix(b"!")
    only_folders = glob.endswith(b"/")
    glob = glob.removesuffix(b"/")
    if not glob or line.startswith(b"#"):
        return None
    by_name = b"/" not in glob
    parts = _split(glob.removeprefix(b"/"))
    if parts is None:
        return None
    return Pattern(_segment(parts[0]) if by_name else _path(parts), by_name, only_folders, is_ignored)


def _split(glob: bytes) -> list[list[re.Match[bytes]]] | None:
    """The tokens of a pattern between its slashes; None if nothing matches it: a set without its end, a last backslash."""
    parts: list[list[re.Match[bytes]]] = [[]]
    at = 0
    while at < len(glob):
        token = _TOKEN.match(glob, at)  # a search would look for a token behind each bracket that is not closed
        if token is None:
            return None
        at = token.end()
        if b"/" in (token["plain"], token["escaped"]):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _without_spaces(line: bytes) -> bytes:
    r"""Cut off spaces at the end, unless a backslash stands before them: "a\ " keeps its space."""
    bare = line.rstrip(b" ")
    is_escaped = (len(bare) - len(bare.rstrip(b"\\"))) % 2 == 1
    return line[: len(bare) + 1] if is_escaped else bare


def _path(parts: list[list[re.Match[bytes]]]) -> bytes:
    """The expression for a pattern; `**` between slashes is any number of folders, and at the end all that is in one."""
    chunks: list[list[bytes]] = [[]]  # what stands between `**`
    for part in parts:
        if len(part) == 1 and len(part[0]["stars"] or b"") > 1:
            chunks.append([])
        else:
            chunks[-1].append(_segment(part))
    first, *others = chunks
    if not others:
        return b"/".join(first)
    *inner, last = others
    regex = b"".join(segment + b"/" for segment in first)
    for chunk in filter(None, inner):
        regex += b"(?>(?:[^/]+/)*?" + b"".join(segment + b"/" for segment in chunk) + b")"
    return regex + (b"(?:[^/]+/)*" + b"/".join(last) if last else b".+")


def _segment(tokens: Iterable[re.Match[bytes]]) -> bytes:
    """The expression for what stands between two slashes."""
    runs = [b""]  # what stands between stars
    for token in tokens:
        if token["stars"]:
            runs.append(b"")
        elif token["one"]:
            runs[-1] += b"[^/]"
        elif token["set"]:
            runs[-1] += _set(token["set"], is_negated=bool(token["negated"]))
        else:
            runs[-1] += re.escape(token["escaped"] or token["plain"])
    first, *others = runs
    if not others:
        return first
    *inner, last = others
    return first + b"".join(b"(?>[^/]*?" + run + b")" for run in inner) + b"[^/]*" + last


@functools.cache
def _named_set(name: bytes) -> frozenset[int] | None:
    regex = _NAMED_SETS.get(name)
    return None if regex is None else frozenset(octet for octet in range(256) if re.match(regex, bytes([octet])))


def _set(text: bytes, *, is_negated: bool) -> bytes:
    """The expression for what stands in brackets."""
    octets: set[int] = set()
    for item in _ITEM.finditer(text):
        if item["name"] is None:
            low = item["low"][0]
            octets.add(low)  # also if the range is none, as in [z-a]
            octets.update(range(low, (item["high"] or item["low"])[0] + 1))
        elif (named := _named_set(item["name"])) is not None:
            octets |= named
        else:
            return _NOTHING
    chosen = sorted((set(range(256)) - octets if is_negated else octets) - {_SLASH})
    return b"[" + b"".join(b"\\x%02x" % octet for octet in chosen) + b"]" if chosen else _NOTHING
