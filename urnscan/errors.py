"""Errors. The type of an error decides how the run continues.

Exception
├── UrnscanError
│   ├── SourceError      an input, or a part of an input, could not be read: reported and counted, the run goes on
│   │   ├── DamageError  a part of a text is damaged; the text after the damage can still be read
│   │   ├── LimitError   an input unfolds to more than the limits allow: the rest of this input is not read
│   │   ├── FormatError  an input is not a dump of records: the command names the first 20
│   │   │   └── UnknownFormatError  unknown record format: the user named the input, or it resembles a dump
│   │   ├── RecordError  a record of a dump is damaged: the command names the first 100
│   │   └── SourceNote   not a failure: an input was not read in its own form, or is an output of urnscan
│   │       ├── OwnOutputNote     a file in a folder or a list is an output of this run
│   │       ├── PdfNote           PDFs are not read as PDFs: pypdfium2 is not installed; one line for all PDFs
│   │       ├── NoWebArchiveNote  the input is not a web archive, and `where` needs one; one line for all inputs
│   │       └── NoDumpNote        a file in a folder or an archive has no record format; one line for all files
│   ├── FatalError       the run ends: wrong usage, or an output that cannot be written
│   └── ArgumentError    (also a ValueError and a TypeError) a function was called with a wrong argument
└── ValueError
    └── InvalidURN       a text is not a URN: why, and at which position

A notebook shows these errors as sentences, without a traceback.
"""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from urnscan.display.addresses import without_secrets

_is_at_shell = False
_NEAR = 0.75
"""Least similarity of a name to be suggested: one wrong letter in four, or two letters swapped in six."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


@contextlib.contextmanager
def at_shell() -> Iterator[None]:
    """Context manager in which `option`, with which most messages name an option, uses the syntax of the shell:
    `--force`, not `force=True`. It applies to the whole process, and must not be nested.
    """
    global _is_at_shell  # noqa: PLW0603 (a process has one reader)
    _is_at_shell = True
    try:
        yield
    finally:
        _is_at_shell = False


def option(name: str, value: bool | int | str | None = True) -> str:
    """Return text for messages: an option with a value, in the syntax of the shell (inside `at_shell`) or of Python.

    `name`: the name in Python. `value` None: only the name of the option.

    >>> option("force"), option("jobs", 1), option("record", "marc"), option("record", None)
    ('force=True', 'jobs=1', 'record="marc"', 'record')
    >>> with at_shell():
    ...     option("force"), option("jobs", 1), option("record", "marc"), option("record", None)
    ('--force', '-j 1', '--record marc', '--record')
    """
    if _is_at_shell:
        typed = {"jobs": "-j", "filters": "--filter", "width": "--context"}.get(name, f"--{name.replace('_', '-')}")
        return typed if value is None or value is True else f"{typed} {value}"
    if value is None:
        return name
    return f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}"


def similar(word: str, words: Iterable[str]) -> Sequence[str]:
    """Return up to three of the words with a spelling similar to `word`, the most similar first; empty if none is
    similar.
    """
    import difflib  # noqa: PLC0415 (only a mistyped word needs it)

    return difflib.get_close_matches(word, words, cutoff=_NEAR)


def unknown_value(value: object, choices: Iterable[str]) -> str:
    """Return (not raise) the message about a value that is not among the choices.

    It suggests the first choice that contains the value, otherwise a choice with a similar spelling, if there is one.

    >>> unknown_value("wrap", ("percent", "wraps"))
    "unknown value 'wrap'; choose from percent, wraps; is it wraps?"
    """
    known = list(choices)
    near = [choice for choice in known if value and str(value) in choice] or similar(str(value), known)
    return f"unknown value {value!r}; choose from {', '.join(known)}" + (f"; is it {near[0]}?" if near else "")


def checks_options(function: _Function) -> _Function:
    """Decorator: a call that does not fit the signature of the function raises ArgumentError (which is also a
    TypeError).

    Such a call has an unknown option (the message names a similar one, if there is one), or an argument is missing or
    superfluous. Errors that the function itself raises pass unchanged.

    >>> import urnscan
    >>> urnscan.find("urn:isbn:0451450523", syntx="rfc8141")
    Traceback (most recent call last):
        ...
    urnscan.errors.ArgumentError: find has no option syntx; is it syntax?
    """
    code = function.__code__
    names = [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if name != "self"]
    known = frozenset(names)

    @functools.wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 (those of the function)
        if not known.issuperset(options):
            unknown = next(name for name in options if name not in known)
            near = similar(unknown, names)
            more = f"is it {near[0]}?" if near else f"it has {', '.join(names)}"
            raise ArgumentError(f"{function.__name__} has no option {unknown}; {more}")
        try:
            return function(*arguments, **options)
        except TypeError as error:
            if isinstance(error, UrnscanError) or not (wrong := _wrong_call(function, arguments, options)):
                raise
            raise ArgumentError(f"{function.__name__}: {wrong}") from None

    return cast(_Function, checked)


def _wrong_call(function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> str:
    import inspect  # noqa: PLC0415 (only a wrong call needs it)

    try:
        inspect.signature(function).bind(*arguments, **options)
    except TypeError as error:
        return f"{error}; options are given by name" if "too many positional" in str(error) else str(error)
    return ""


class _Sentence(Exception):  # noqa: N818 (base of the classes below)
    """Exception that notebooks show as a message, without a traceback."""

    def _more(self) -> list[str]:
        """Lines that a notebook shows after the message."""
        return []

    def _render_traceback_(self) -> list[str]:
        """Lines that IPython shows instead of a traceback, with the innermost line of the notebook that led to the
        error.
        """
        import linecache  # noqa: PLC0415 (only notebooks need them)
        import traceback  # noqa: PLC0415

        from urnscan.display.text import printable  # noqa: PLC0415

        said = f"{type(self).__name__}: {self}".splitlines()  # Polars adds lines: the expression
        lines = [*map(printable, filter(None, said)), *self._more()]
        lines += map(printable, getattr(self, "__notes__", ()))
        for frame, line in reversed(list(traceback.walk_tb(self.__traceback__))):
            if frame.f_globals.get("__name__") == "__main__":
                code = printable(linecache.getline(frame.f_code.co_filename, line).strip())
                return [*lines, f"  in line {line}: {code}" if code else f"  in line {line}"]
        return lines


class UrnscanError(_Sentence):
    """Base class of the errors of urnscan, except InvalidURN. `str()` gives the message, without users, passwords and
    tokens of URLs.
    """

    def __init__(self, message: str) -> None:
        super().__init__(without_secrets(message))


class SourceError(UrnscanError):
    """An input, or a part of an input, could not be read; the run goes on with the next part or input, except with the
    option `strict`, which ends it.

    Functions for whole inputs, such as `scan`, do not raise it: they collect such errors in `report.failures`. `source`
    is the name of the input, or of the member in an archive (`a.zip!/b.txt`). `reason` says why reading failed and, if
    there is a remedy, what to do. Both are without users, passwords and tokens of URLs.
    """

    max_reported: ClassVar[int | None] = None
    """Maximum number of errors of this type that the command prints in a run; further errors are only counted. None: no
    maximum.
    """
    others: ClassVar[str] = ""
    """Text that the command prints after the number of errors of this type that are only counted."""
    together: ClassVar[tuple[str, str] | None] = None
    """For a type whose errors the command reports in a single line: the text after the number of errors, and the text
    after the names of the first inputs. None: each error has a line.
    """

    count = 1
    """Number of failures or notes that this object represents: 1, or more for an object that says "20 more failures in
    it", or for the first of the notes that are reported in a single line.
    """

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = without_secrets(source)
        self.reason = without_secrets(reason)

    def __reduce__(self) -> tuple[type["SourceError"], tuple[str, str], dict[str, Any]]:
        # Pickled by its fields, like InvalidURN; `vars` restores `count`.
        return type(self), (self.source, self.reason), vars(self)

    @classmethod
    def from_os(cls, source: str, error: OSError) -> "SourceError":
        """Return (not raise) an error of this class about the input `source`, with the text of the operating system as
        its reason, such as "Permission denied".
        """
        return cls(source, error.strerror or str(error))


class DamageError(SourceError):
    """A failure: a part of an input is damaged. The text after it can still be read, and is, except with `strict`. No
    match joins text before the damage with text after it.
    """


class LimitError(SourceError):
    """A failure: an input unpacks to more bytes or members than the limits of the run (`max_ratio`, `max_size`,
    `max_members`) allow. The rest of this input is not read; matches before the limit count. The run goes on, except
    with `strict`.
    """


class FormatError(SourceError):
    """An input of a deduplication is not a dump in a record format that urnscan reads: for example a table, or a format
    that must be converted first (the reason says how). It is a failure: the input is skipped, and the run goes on,
    except with `strict`. The command prints the first 20.
    """

    max_reported = 20
    others = "more files are not dumps of records; --include reads only the files that match"


class UnknownFormatError(FormatError):
    """An input of a deduplication has an unknown record format, and is itself an argument (not only in a folder, a
    pattern or a list) or resembles a known format. It is a failure: the input is skipped, and the run goes on, except
    with `strict`. Other files are a NoDumpNote.
    """


class RecordError(SourceError):
    """A record of a dump (an input of a deduplication) is damaged and skipped, or no record of the dump can be read. It
    is a failure: the run goes on, except with `strict`. The command prints at most 20 for each input, then the
    number of the others, and 100 lines in all.
    """

    max_reported = 100
    others = "more damaged records; --report counts them for each dump"


class SourceNote(SourceError):  # noqa: N818 (it is no failure)
    """A remark about an input or a member that is not a failure: it is in `report.notes`, not in `report.failures`, and
    the exit status does not change. The command prints the first 20.

    Examples: a file in a form that stores text unpacked was scanned as raw bytes; an input is a table of an earlier
    run, and was scanned; an input is an output of this run, and was not; the Parquet files of a Delta or Iceberg table
    were scanned with their removed rows.
    """

    max_reported = 20
    others = "more notes, which are not failures"


class OwnOutputNote(SourceNote):
    """A note, not a failure: a file in a folder or a list is an output of this run. What an earlier run wrote there is
    not scanned; the exit status does not change. (An output that is itself named as an input is a FatalError.)
    """


class PdfNote(SourceNote):
    """A note, not a failure: a PDF was scanned as raw bytes, so its compressed text was not read, because pypdfium2 is
    not installed. The exit status does not change. A report, and the command, has one note for all PDFs, with their
    number.
    """

    together = ("PDFs are scanned unchanged, and their text is not read", "pip install 'urnscan[pdf]'")


class NoWebArchiveNote(SourceNote):
    """A note, not a failure: in a run with the option `where` (conditions on records of web archives), an input has no
    web archive in it, so nothing in it was scanned. The exit status does not change. A report, and the command, has one
    note for all such inputs, with their number.
    """

    together = ("files are not web archives", "--where reads nothing in them")


class NoDumpNote(SourceNote):
    """A note, not a failure: in a deduplication, a file in a folder or an archive is skipped, because its record format
    is unknown and it resembles none, like a README or a script. The exit status does not change. A report, and the
    command, has one note for all files, with their number.
    """

    together = (
        "files are not dumps of records",
        "name their format with --record, or read fewer files with --include",
    )


class FatalError(UrnscanError):
    """The run of a command or function cannot begin or go on: no input can be read, an output cannot be written, or the
    usage is wrong. It is raised, and the run ends.
    """


class ArgumentError(UrnscanError, ValueError, TypeError):
    """A function of the library was called with an unknown option, a missing or superfluous argument, or an invalid
    value. Also a ValueError and a TypeError.
    """


class InvalidURN(_Sentence, ValueError):  # noqa: N818 (the name is what it says)
    """A text is not a URN in the chosen syntax. A ValueError, and not a UrnscanError.

    `reason` says why for people, `code` for programs: one of the codes in `urnscan.urn.reject_reasons.REASONS`, which
    never change. `position` is the index, from 0, of the first character (of a bytes value: byte) that is wrong, or
    with which the wrong part begins (a reserved NID); it is the length of the text if more must follow. `text` is the
    text that was parsed (each byte of a bytes value becomes one character), or empty if it is unknown.
    """

    def __init__(self, reason: str, position: int, code: str, text: str = "") -> None:
        super().__init__(f"{reason} (at position {position})")
        self.reason = reason
        self.position = position
        self.code = code
        self.text = text

    def __reduce__(self) -> tuple[type["InvalidURN"], tuple[str, int, str, str]]:
        # Worker processes of other engines pickle errors, by default by `args`, which contain only the message.
        return type(self), (self.reason, self.position, self.code, self.text)

    def _more(self) -> list[str]:
        from urnscan.display.text import pointed  # noqa: PLC0415 (only notebooks need it)

        return [f"  {line}" for line in pointed(self.text, self.position)] if self.text else []


def count_of(errors: Iterable[SourceError]) -> int:
    """Number of failures and notes that the errors represent: the sum of their `count`, 0 without errors."""
    return sum(error.count for error in errors)


def count_in_metadata(notes: Iterable[SourceNote]) -> int:
    """Number of notes for the metadata of outputs: the sum of their `count`, without OwnOutputNotes."""
    # Two runs with the same inputs and options must write the same metadata, even if the first run wrote its output
    # into a folder that is an input.
    return count_of(note for note in notes if not isinstance(note, OwnOutputNote))
