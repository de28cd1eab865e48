"""What a run goes by: one frozen record, the same for the command and for Python; and its way out of keywords."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from urnscan import __version__
from urnscan.display.sizes import octets_of
from urnscan.errors import ArgumentError
from urnscan.scanner.blocks import MAX_LENGTH, Grammar, ResolverTail
from urnscan.scanner.views import KINDS
from urnscan.sources import Limits, Reading, Selection, check_encoding
from urnscan.urn.equivalence import Level, get_level
from urnscan.urn.syntax import get_syntax

__all__ = ["OF_INPUTS", "Options", "as_flag", "as_strings", "as_whole_number", "named_inputs", "read_keywords"]

OF_INPUTS = frozenset(
    {
        *("include", "exclude", "follow", "encoding", "column", "strict", "jobs", "memory"),
        *("max_ratio", "max_size", "max_depth", "max_members"),
    }
)
"""The options that mean nothing where a column is handed over."""
_MOST_JOBS = 1024
_NO_LIMITS = Limits()


@dataclass(frozen=True)
class Options:
    """What a run goes by; the names and meanings are those of the command's options.

    Raises ValueError and TypeError for a value that is none, FatalError for an unknown encoding.

    >>> Options(syntax="rfc8141", recover="percent", jobs=2).recover
    ('percent',)
    >>> Options(equivalence="resolution")
    Traceback (most recent call last):
        ...
    ValueError: rfc2141 defines no resolution equivalence: only rfc2141bis-03 does
    """

    syntax: str = "rfc2141"
    """By which a match begins and ends, one of `urnscan.SYNTAXES`."""
    equivalence: str = "lexical"
    """Which matches are one class, one of `urnscan.LEVELS`."""
    trim: bool = False
    """Punctuation at the end of a match, and what comes behind `,urn:` and `;urn:`, does not count as the URN's."""
    resolver_tail: ResolverTail = "keep"
    """Cut: of a URL in which a URN stands, what follows the URN does not count as the URN's."""
    recover: tuple[str, ...] = ()
    """The views in which hidden URNs are looked for, names of `views.KINDS`, or `all`."""
    max_length: int = MAX_LENGTH
    """Octets after which a match is cut."""
    include: tuple[str, ...] = ()
    """Globs; of a folder only files that one of them matches are read; none: all."""
    exclude: tuple[str, ...] = ()
    """Globs; files and folders in a folder that one of them matches are passed over."""
    follow: bool = False
    """Symbolic links in a folder are followed."""
    encoding: str | None = None
    """The encoding of inputs without a byte order mark; None: they are read as octets, which is right for all supersets of
    ASCII.
    """
    column: tuple[str, ...] = ()
    """The fields of tables that are read, and the fields of CSV, TSV and JSON; none: all text of tables."""
    max_ratio: int = _NO_LIMITS.ratio
    """Octets that may come out of an octet of a compressed input."""
    max_size: int = _NO_LIMITS.size
    """Octets that may come out of a compressed input; also as text, such as "2TB"."""
    max_depth: int = _NO_LIMITS.depth
    """Layers of compression, archives and tables in each other."""
    max_members: int = _NO_LIMITS.members
    """Members of the archives in an input."""
    jobs: int = field(
        default_factory=lambda: len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    )
    """Threads."""
    memory: int = 10**9
    """Octets that grouping may take before it spills to disk; also as text, such as "500MB"."""
    strict: bool = False
    """The first input that cannot be read ends the run."""

    def __post_init__(self) -> None:
        for name in ("syntax", "equivalence", "encoding"):
            value = getattr(self, name)
            if not isinstance(value, str) and not (name == "encoding" and value is None):
                raise TypeError(f"{name} must be a string, not {value!r}")
        get_level(self.equivalence, self.syntax)
        for name in ("include", "exclude", "column", "recover"):
            object.__setattr__(self, name, as_strings(name, getattr(self, name)))
        for name in ("trim", "follow", "strict"):
            object.__setattr__(self, name, as_flag(name, getattr(self, name)))
        for kind in self.recover:
            if kind not in (*KINDS, "all"):
                raise ValueError(f"no view is called {kind!r}: choose from {', '.join(KINDS)}, all")
        object.__setattr__(self, "recover", KINDS if "all" in self.recover else tuple(dict.fromkeys(self.recover)))
        if "" in self.column:
            raise ValueError("a column has an empty name")
        for name in ("memory", "max_size"):
            if isinstance(size := getattr(self, name), str):
                try:
                    object.__setattr__(self, name, octets_of(size))
                except ValueError as error:
                    raise ValueError(f"{name}: {error}") from None
        for name in ("jobs", "memory", "max_length", "max_ratio", "max_size", "max_depth", "max_members"):
            object.__setattr__(self, name, as_whole_number(name, getattr(self, name)))
        self.grammar(count_lines=False)
        for name in ("jobs", "memory", "max_ratio", "max_size", "max_depth", "max_members"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if self.jobs > _MOST_JOBS:
            raise ValueError(f"jobs must be at most {_MOST_JOBS:,}")
        if self.encoding is not None:
            check_encoding(self.encoding)

    @cached_property
    def level(self) -> Level:
        """The level of equivalence."""
        return get_level(self.equivalence, self.syntax)

    @property
    def selection(self) -> Selection:
        """Which files of a folder are inputs."""
        return Selection(self.include, self.exclude, self.follow)

    @cached_property
    def reading(self) -> Reading:
        """How inputs are read."""
        limits = Limits(self.max_ratio, self.max_size, self.max_depth, self.max_members)
        return Reading(self.encoding, self.column, limits)

    def metadata(self) -> dict[str, Any]:
        """What outputs say of the options that say what is found, and of the version that found it."""
        names = ("syntax", "equivalence", "trim", "resolver_tail", "max_length")
        told = {"version": __version__} | {name: getattr(self, name) for name in names}
        return told | {"recover": list(self.recover)}

    def identity(self) -> dict[str, Any]:
        """All by which it is decided what comes out of an input, and the version: two runs with the same find the same in it."""
        aside = ("include", "exclude", "follow", "jobs", "memory", "strict")
        return {"version": __version__} | {
            each.name: getattr(self, each.name) for each in fields(self) if each.name not in aside
        }

    def grammar(self, *, count_lines: bool, rejects: bool = False) -> Grammar:
        """What the scanner goes by."""
        return Grammar(
            syntax=get_syntax(self.syntax),
            max_length=self.max_length,
            trim=self.trim,
            resolver_tail=self.resolver_tail,
            keep_query=self.level.keep_query,
            count_lines=count_lines,
            rejects=rejects,
        )


def as_strings(name: str, value: object) -> tuple[str, ...]:
    """The strings that an option is given, one or several. Raises TypeError for anything else."""
    strings = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    if not all(isinstance(string, str) for string in strings):
        raise TypeError(f"{name} must be strings, not {value!r}")
    return strings


def as_flag(name: str, value: object) -> bool:
    """Whether an option is chosen. Raises TypeError for what does not say it: "no" would be a yes."""
    if value not in (True, False):  # also as numpy has them, and as 1 and 0
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def as_whole_number(name: str, value: Any) -> int:  # noqa: ANN401 (whatever it is)
    """The number that an option is given. Raises TypeError for what is none."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}") from None


def read_keywords(
    function: str, given: Mapping[str, Any], *kinds: type, without: Collection[str] = ()
) -> tuple[Any, ...]:
    """A record of each kind, made of the keyword arguments of a function of the library.

    Raises ArgumentError for one that is a field of none, or of those that the function is `without`, and for a value that
    is none; FatalError as Options.
    """
    names = [tuple(each.name for each in fields(kind) if each.name not in without) for kind in kinds]
    known = [name for some in names for name in some]
    for name in given:
        if name not in known:
            import difflib  # noqa: PLC0415 (for those who mistype)

            meant = difflib.get_close_matches(name, known, 1)
            remedy = f"did you mean {meant[0]!r}?" if meant else f"it has {', '.join(known)}"
            raise ArgumentError(f"{function} has no option {name!r}: {remedy}")
    try:
        return tuple(
            kind(**{name: given[name] for name in some if name in given})
            for kind, some in zip(kinds, names, strict=True)
        )
    except (TypeError, ValueError) as error:
        raise ArgumentError(str(error)) from None


def named_inputs(inputs: Collection[str | bytes | os.PathLike[str]]) -> tuple[str, ...]:
    """What was given as inputs, as the command has it. Raises ArgumentError where it is nothing, or cannot be one."""
    if not inputs:
        raise ArgumentError('nothing to read: name files, folders, patterns or URLs, or "-" for standard input')
    for each in inputs:
        if not isinstance(each, str | bytes | os.PathLike):
            raise ArgumentError(
                f"an input is a path, a pattern or a URL, not {' '.join(repr(each).split()):.60}; "
                "several are so many arguments: *paths"
            )
    names = tuple(map(os.fsdecode, inputs))
    if "" in names:
        raise ArgumentError("an input has an empty name")
    return names
