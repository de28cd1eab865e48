"""What a run goes by: one frozen record, the same for the command and for Python."""

from __future__ import annotations

import operator
import os
import sys
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from urnscan import __version__
from urnscan.equivalence import Level, get_level
from urnscan.scanner import MAX_LENGTH, Grammar, ResolverTail
from urnscan.sources import Limits, Reading, Selection, check_encoding
from urnscan.syntax import get_syntax
from urnscan.views import KINDS

__all__ = ["Options"]

_LONGEST = 1 << 28  # octets of a match: buffers hold two of them
_MOST_JOBS = 1024
_NO_LIMITS = Limits()


@dataclass(frozen=True)
class Options:
    """What a run goes by; the names and meanings are those of the command's options.

    Raises ValueError for a value that is none, FatalError for an unknown encoding.
    """

    syntax: str = "rfc2141"
    equivalence: str = "lexical"
    trim: bool = False
    resolver_tail: ResolverTail = "keep"
    """Cut: of a URL in which a URN stands, what follows the URN does not count as the URN's."""
    recover: tuple[str, ...] = ()
    """The views in which hidden URNs are looked for, names of `views.KINDS`, or `all`."""
    max_length: int = MAX_LENGTH
    """Octets after which a match is cut."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    follow: bool = False
    encoding: str | None = None
    column: tuple[str, ...] = ()
    """The fields of tables that are read, and the fields of CSV, TSV and JSON; none: all text of tables."""
    max_ratio: int = _NO_LIMITS.ratio
    """Octets that may come out of an octet of a compressed input."""
    max_size: int = _NO_LIMITS.size
    """Octets that may come out of a compressed input."""
    max_depth: int = _NO_LIMITS.depth
    """Layers of compression, archives and tables in each other."""
    max_members: int = _NO_LIMITS.members
    """Members of the archives in an input."""
    jobs: int = field(
        default_factory=lambda: len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    )
    """Threads."""
    memory: int = 10**9
    """Octets that grouping may take before it spills to disk."""
    strict: bool = False

    def __post_init__(self) -> None:
        get_level(self.equivalence, self.syntax)
        for name in ("include", "exclude", "column", "recover"):
            strings = getattr(self, name)
            strings = (strings,) if isinstance(strings, str) else tuple(strings)
            if not all(isinstance(string, str) for string in strings):
                raise TypeError(f"{name} must be strings, not {strings!r}")
            object.__setattr__(self, name, strings)
        for kind in self.recover:
            if kind not in (*KINDS, "all"):
                raise ValueError(f"no view is called {kind!r}: choose from {', '.join(KINDS)}, all")
        object.__setattr__(self, "recover", KINDS if "all" in self.recover else tuple(dict.fromkeys(self.recover)))
        if "" in self.column:
            raise ValueError("a column has an empty name")
        for name in ("jobs", "memory", "max_length", "max_ratio", "max_size", "max_depth", "max_members"):
            try:
                object.__setattr__(self, name, operator.index(getattr(self, name)))
            except TypeError:
                raise TypeError(f"{name} must be a whole number, not {getattr(self, name)!r}") from None
        self.grammar(count_lines=False)
        for name in ("jobs", "memory", "max_ratio", "max_size", "max_depth", "max_members"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        for name, most in (("max_length", _LONGEST), ("jobs", _MOST_JOBS)):
            if getattr(self, name) > most:
                raise ValueError(f"{name} must be at most {most:,}")
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
