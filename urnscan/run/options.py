"""Options of a run: a frozen record, the same for the command and for Python, and functions that make options from
parameters.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from typing import Any, TypeAlias

from urnscan.display.text import bytes_of
from urnscan.errors import ArgumentError, option, unknown_value
from urnscan.formats.captures import read_where
from urnscan.formats.context import Reading
from urnscan.formats.encodings import check_encoding
from urnscan.formats.filters import listed_filters, read_filters
from urnscan.formats.limits import Limits
from urnscan.inputs.selection import Selection
from urnscan.scanner.grammar import MAX_LENGTH, Grammar, ResolverTail
from urnscan.scanner.views.kinds import KINDS, ViewName
from urnscan.tables.editions import EDITION
from urnscan.tables.schemas import OCCURRENCES
from urnscan.urn.equivalence import Level, LevelName, get_level
from urnscan.urn.namespaces.own import Rules, rulebook_of
from urnscan.urn.syntax import SyntaxName, as_strings, get_syntax
from urnscan.version import __version__

_POSITIVE = ("jobs", "memory", "filter_timeout", "max_ratio", "max_size", "max_depth", "max_members")
"""Options whose value must be at least 1."""
OF_INPUTS = frozenset({"include", "exclude", "follow", "encoding", "column", "where", "filters", "strict", *_POSITIVE})
"""Options that say how inputs are read. They have no meaning if the caller already has the texts in a column."""
_MAX_JOBS = 1024
_NO_LIMITS = Limits()


@dataclass(frozen=True)
class Options:
    """Options of a run, with the names and meanings of the options of the command `urnscan`.

    Raises ArgumentError for an invalid value, FatalError for an unknown encoding, and for a file of rules or a list of
    filters that cannot be read.

    >>> Options(syntax="rfc8141", recover="percent", jobs=2).recover
    ('percent',)
    >>> Options(equivalence="resolution")
    Traceback (most recent call last):
        ...
    urnscan.errors.ArgumentError: equivalence: resolution requires syntax="rfc2141bis-03"
    """

    syntax: SyntaxName = "rfc2141"
    """Standard that says where a match begins and ends: a name in `urnscan.SYNTAXES`."""
    equivalence: LevelName = "lexical"
    """Level of equivalence, which decides which matches are in the same class: a name in `urnscan.LEVELS`."""
    trim: bool = False
    """Whether punctuation at the end of a match is cut off, and also the rest of a list: `,urn:` with all text after
    it.
    """
    resolver_tail: ResolverTail = "keep"
    """Whether the rest of a URL after the URN in it is kept as a part of the match ("keep"), or cut off ("cut")."""
    recover: tuple[ViewName, ...] = ()
    """Names of views (decoded or joined forms of the text) in which hidden URNs are searched: in `views.kinds.KINDS`,
    or `all`, which becomes the names of all. Empty: only the text as it is.
    """
    max_length: int = MAX_LENGTH
    """Maximum bytes of a match. A longer match is cut."""
    nid: tuple[str, ...] = ()
    """Namespaces, or prefixes of names such as `nbn:de`, in any case (lower case in the record); only these names
    count. Empty: all names.
    """
    not_nid: tuple[str, ...] = ()
    """Namespaces, or prefixes of names, in any case (lower case in the record), that do not count."""
    rules: Rules = None
    """Custom rules of namespaces: a file, or the result of `urnscan.namespaces.read_rules`. The options contain the
    rules, not the path.
    """
    include: tuple[str, ...] = ()
    """Globs: of the files in a folder, only files that match a glob are read; case is significant. Empty: all files."""
    exclude: tuple[str, ...] = ()
    """Globs: files and folders in a folder that match a glob are skipped."""
    follow: bool = False
    """Whether symbolic links in a folder are followed."""
    encoding: str | None = None
    """Encoding of inputs without a byte order mark. None: UTF-16 and UTF-32 are recognised by NULs; other inputs are
    read as bytes, which fits all supersets of ASCII.
    """
    column: tuple[str, ...] = ()
    """Columns of tables, and fields of CSV, TSV and JSON, that are read. Empty: all texts of tables; CSV, TSV and JSON
    are then scanned as text.
    """
    where: str | None = None
    """Conditions on the records of web archives, such as `status=200 mime=text/*`: only records that fulfil all
    conditions are read, and nothing in inputs that are not web archives. None: everything is read.
    """
    filters: tuple[str, ...] = ()
    """Commands that convert files to text, such as `pdf:pdftotext % -`. The first command that fits a file is used.
    `@FILE` is replaced by the lines of a file.
    """
    filter_timeout: int = 600
    """Seconds that a filter may take for a file."""
    max_ratio: int = _NO_LIMITS.ratio
    """Maximum number of bytes to which a byte of a compressed input may expand, on average; checked above 256 MiB."""
    max_size: int = _NO_LIMITS.size
    """Maximum number of bytes to which a compressed input may expand, all levels of nesting together; also as text,
    such as "2TB".
    """
    max_depth: int = _NO_LIMITS.depth
    """Maximum number of compressions, archives and tables inside each other."""
    max_members: int = _NO_LIMITS.members
    """Maximum number of members of the archives in an input."""
    jobs: int = field(
        default_factory=lambda: len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    )
    """Number of threads; for large dumps of records, of processes."""
    memory: int = 10**9
    """Maximum bytes of memory that grouping uses for rows before it spills them to disk; also as text, such as "500MB".
    """
    strict: bool = False
    """Whether the first input that cannot be read ends the run."""

    def __post_init__(self) -> None:
        for name in ("syntax", "equivalence", "encoding", "where"):
            value = getattr(self, name)
            if not isinstance(value, str) and not (name in ("encoding", "where") and value is None):
                raise ArgumentError(f"{name} must be a string, not {value!r}")
        get_level(self.equivalence, self.syntax)
        if self.rules is not None:
            object.__setattr__(self, "rules", rulebook_of(self.rules))
        for names, read in (
            (("include", "exclude", "column", "recover", "nid", "not_nid"), as_strings),
            (("filters",), lambda name, value: listed_filters(as_strings(name, value))),
            (("trim", "follow", "strict"), as_flag),
            (("memory", "max_size"), _as_bytes),
            (("max_length", *_POSITIVE), as_whole_number),
        ):
            for name in names:
                object.__setattr__(self, name, read(name, getattr(self, name)))
        for name in ("recover", "nid", "not_nid"):
            # The command splits its values; in Python "percent,entities" is one string. A prefix such as `b1:c,` may
            # contain a comma after its NID.
            for value in getattr(self, name):
                if "," in value.partition(":")[0]:
                    raise ArgumentError(
                        f"{option(name, None)}: {value!r} is one value; give a list: {value.split(',')}"
                    )
        for kind in self.recover:
            if kind not in (*KINDS, "all"):
                raise ArgumentError(f"{option('recover', None)}: {unknown_value(kind, (*KINDS, 'all'))}")
        object.__setattr__(self, "recover", KINDS if "all" in self.recover else tuple(dict.fromkeys(self.recover)))
        if "" in self.column:
            raise ArgumentError("a column has an empty name")
        grammar = self.grammar(count_lines=False)
        object.__setattr__(self, "nid", grammar.nid)
        object.__setattr__(self, "not_nid", grammar.not_nid)
        for name in _POSITIVE:
            if getattr(self, name) < 1:
                raise ArgumentError(f"{option(name, None)} must be at least 1")
        if self.jobs > _MAX_JOBS:
            raise ArgumentError(f"{option('jobs', None)} must be at most {_MAX_JOBS:,}")
        if self.encoding is not None:
            check_encoding(self.encoding)
        # This checks conditions and filters.
        _ = self.reading

    @cached_property
    def level(self) -> Level:
        """The level named by `equivalence`, with the syntax and the custom rules, as an object that makes canonical
        forms.
        """
        return get_level(self.equivalence, self.syntax, self.rules)

    @property
    def selection(self) -> Selection:
        """The options `include`, `exclude` and `follow` as a record, which decides which files in a folder are inputs."""
        return Selection(self.include, self.exclude, self.follow)

    @cached_property
    def reading(self) -> Reading:
        """The options that say how inputs are read, as a record: encoding, columns, limits, conditions and filters."""
        limits = Limits(self.max_ratio, self.max_size, self.max_depth, self.max_members)
        where = None if self.where is None else read_where(self.where)
        filters = read_filters(self.filters, self.filter_timeout)
        return Reading(self.encoding, self.column, limits, where, filters)

    def metadata(self) -> dict[str, Any]:
        """Metadata of outputs, a new dict for JSON: `version`; `schema`, the edition (version of the columns) of the
        tables; under their names, the options `syntax`, `equivalence`, `trim`, `resolver_tail`, `max_length`, `where`,
        `recover`, `nid`, `not_nid` and `filters`; and `rules`, the digest of custom rules (None without custom rules).
        Other options, such as `include`, `column` and `encoding`, are not in it.
        """
        names = ("syntax", "equivalence", "trim", "resolver_tail", "max_length", "where")
        metadata = {"version": __version__, "schema": EDITION} | {name: getattr(self, name) for name in names}
        metadata |= {name: list(getattr(self, name)) for name in ("recover", "nid", "not_nid", "filters")}
        return metadata | {"rules": self.level.rulebook.sha256}

    def reading_metadata(self) -> dict[str, Any]:
        """More metadata of a partial result (the file of `--partial`), a dict for JSON: the options, such as `column`
        and `encoding`, that change what is read and are not in `metadata`; and `rules_text`, the text of custom rules
        (None without custom rules).
        """
        more = {name: value for name, value in self.identity().items() if name not in {"columns", *self.metadata()}}
        more = {name: list(value) if isinstance(value, tuple) else value for name, value in more.items()}
        return more | {"rules_text": self.level.rulebook.text}

    def identity(self) -> dict[str, Any]:
        """All values that change the result of an input, by name (lists of options are tuples): the version, the
        columns of OCCURRENCES, and all options except those about the choice of inputs, threads, memory and `strict`.
        `rules` is the digest of custom rules (None without custom rules).
        """
        without_effect = ("include", "exclude", "follow", "jobs", "memory", "strict")
        names = (field.name for field in fields(self) if field.name not in without_effect)
        values = {"version": __version__, "columns": OCCURRENCES.names} | {name: getattr(self, name) for name in names}
        return values | {"rules": self.level.rulebook.sha256}

    @property
    def leaves_out(self) -> bool:
        """Whether some names do not count: `nid` or `not_nid` is not empty."""
        return bool(self.nid or self.not_nid)

    def grammar(self, *, count_lines: bool, rejects: bool = False) -> Grammar:
        """The grammar (what the scanner finds) with the options of this record.

        `count_lines`: whether matches get line numbers; else these are 0. `rejects`: whether texts that are nearly URNs
        are collected, too, and matches before text that looks like a part of the URN (`urn:example:a%4`).
        """
        return Grammar(
            syntax=get_syntax(self.syntax),
            max_length=self.max_length,
            trim=self.trim,
            resolver_tail=self.resolver_tail,
            keep_query=self.level.keep_query,
            count_lines=count_lines,
            rejects=rejects,
            nid=self.nid,
            not_nid=self.not_nid,
        )


def as_flag(name: str, value: object) -> bool:
    """Return the value of the option `name` as a bool: True, False, a number equal to 1 or 0, or a flag of numpy.

    Raises ArgumentError for another value, such as the text "no".
    """
    # Flags of numpy, 1 and 0 are equal to True or False.
    if value not in (True, False):
        raise ArgumentError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def as_whole_number(name: str, value: Any) -> int:  # noqa: ANN401 (any value that a caller gives)
    """Return the value of the option `name` as an int. Raises ArgumentError if the value is not an integer."""
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} must be an integer, not {value!r}") from None


def _as_bytes(name: str, value: object) -> object:
    try:
        return bytes_of(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ArgumentError(f"{name}: {error}") from None


def read_options(parameters: Mapping[str, Any], *kinds: type, without: Collection[str] = ()) -> tuple[Any, ...]:
    """Return a record of each class in `kinds` (`Options` and other dataclasses), in order. A field gets the value that
    `parameters`, such as the `locals()` of a function, has under its name.

    Fields in `without`, or without a parameter, keep their defaults; other parameters are ignored. If the default of a
    field is calculated for each record (`jobs`), None means this default. Raises ArgumentError for a wrong value, and
    the FatalErrors of the classes, such as for an unknown encoding.
    """
    records = []
    for kind in kinds:
        names = parameters.keys() - without
        values = {field.name: parameters[field.name] for field in fields(kind) if field.name in names}
        calculated = {field.name for field in fields(kind) if field.default_factory is not MISSING}
        try:
            records.append(
                kind(**{name: value for name, value in values.items() if value is not None or name not in calculated})
            )
        except (TypeError, ValueError) as error:
            raise ArgumentError(str(error)) from None
    return tuple(records)


def local_name(path: str | bytes | os.PathLike[str]) -> str:
    """Return the name of an input or an output as a str, with the home folder instead of a `~` at its beginning. Raises
    ArgumentError for a value that is not a path.
    """
    try:
        return os.path.expanduser(os.fsdecode(path))  # noqa: PTH111 (a Path would change URLs)
    except TypeError:
        raise ArgumentError(f"a file must be a str or a path, not {type(path).__name__}") from None


Named: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""Argument that names inputs in Python."""


def named_inputs(inputs: Iterable[Named]) -> tuple[str, ...]:
    """The names of inputs (paths, patterns, URLs, `-`) that a caller passes, in order, with the home folder instead of
    a `~` at the beginning.

    A list or a tuple is replaced by its elements. Raises ArgumentError if there is no input, a name is empty, or a
    value cannot be an input. Whether an input exists is not checked.
    """
    paths: list[Any] = [path for paths in inputs for path in (paths if isinstance(paths, list | tuple) else [paths])]
    if not paths:
        raise ArgumentError('nothing to read; name files, folders, patterns or URLs, or "-" for standard input')
    for path in paths:
        if not isinstance(path, str | bytes | os.PathLike):
            shown = repr(path) if isinstance(path, int | float | bool | None) else type(path).__name__
            raise ArgumentError(
                f"an input is a path, a pattern or a URL, or a list of them, not {shown}; "
                "urnscan.find takes a text, urnscan.scan_frame a column of texts"
            )
    names = tuple(map(local_name, paths))
    if "" in names:
        raise ArgumentError("an input has an empty name")
    return names
