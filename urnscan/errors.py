"""Errors. The type of an error says what the run does about it.

Exception
├── UrnscanError
│   ├── SourceError      one input, or a part of it, could not be read: reported and counted, the run goes on
│   │   ├── DamageError  a part is damaged; what follows it in the same text can still be read
│   │   ├── LimitError   it unfolds to more than the limits allow: nothing more of this input is read
│   │   ├── FormatError  it is no dump of records: of very many a deduplication names only the first
│   │   │   └── UnknownFormatError  it is in no format that is known, though it was named or resembles one
│   │   ├── RecordError  a record of a dump is damaged: of very many a deduplication names only the first
│   │   └── SourceNote   no failure: scanned in another form than its own, or a table of an earlier run
│   │       ├── PdfNote      what reads PDFs is not installed: all of these are told in one line
│   │       ├── NoWebArchiveNote  it is not a web archive, and only those are read: all of these are reported in one line
│   │       └── NoDumpNote   in a folder or an archive, it is in no format of records: all of these are told in one line
│   ├── FatalError       the run ends: wrong usage, or an output that cannot be written
│   └── ArgumentError    (also a ValueError and a TypeError) a function was given a wrong argument
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
    """In this block messages name options as they are typed at the shell."""
    global _is_at_shell  # noqa: PLW0603 (a process has one reader)
    _is_at_shell = True
    try:
        yield
    finally:
        _is_at_shell = False


def option(name: str, value: bool | int | str | None = True) -> str:
    """An option in a message, as its reader types it; without a value where it is None.

    >>> option("force"), option("jobs", 1), option("record", "marc"), option("record", None)
    ('force=True', 'jobs=1', 'record="marc"', 'record')
    >>> with at_shell():
    ...     option("force"), option("jobs", 1), option("record", "marc"), option("record", None)
    ('--force', '-j 1', '--record marc', '--record')
    """
    if _is_at_shell:
        typed = {"jobs": "-j", "filters": "--filter"}.get(name, f"--{name.replace('_', '-')}")
        return typed if value is None or value is True else f"{typed} {value}"
    if value is None:
        return name
    return f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}"


def similar(word: str, words: Iterable[str]) -> Sequence[str]:
    """Up to three words with a similar spelling, the most similar first."""
    import difflib  # noqa: PLC0415 (only a mistyped word needs it)

    return difflib.get_close_matches(word, words, cutoff=_NEAR)


def unknown_value(value: object, choices: Iterable[str]) -> str:
    """The words of a message about a value that is not one of the choices, with the choice that may be meant.

    >>> unknown_value("wrap", ("percent", "wraps"))
    "unknown value 'wrap'; choose from percent, wraps; is it wraps?"
    """
    known = list(choices)
    near = [choice for choice in known if value and str(value) in choice] or similar(str(value), known)
    return f"unknown value {value!r}; choose from {', '.join(known)}" + (f"; is it {near[0]}?" if near else "")


def checks_options(function: _Function) -> _Function:
    """Let a function raise ArgumentError for a wrong call: an option that it does not have (with the nearest of those
    that it has), an argument too many, or one that is missing.

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
    """The reason why a function does not take these arguments; empty if it does."""
    import inspect  # noqa: PLC0415 (only a wrong call needs it)

    try:
        inspect.signature(function).bind(*arguments, **options)
    except TypeError as error:
        return f"{error}; options are given by name" if "too many positional" in str(error) else str(error)
    return ""


class _Sentence(Exception):  # noqa: N818 (base of the classes below)
    """Exception whose message needs no traceback beside it."""

    def _more(self) -> list[str]:
        """Lines that stand below the message."""
        return []

    def _render_traceback_(self) -> list[str]:
        """Lines that IPython shows in the place of a traceback: the message, and the line of the notebook."""
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
    """Base of the errors that urnscan raises on purpose; `str()` gives one clear line, without secrets of addresses."""

    def __init__(self, message: str) -> None:
        super().__init__(without_secrets(message))


class SourceError(UrnscanError):
    """An input, or a part of it, could not be read; the run goes on with the others.

    `source` is the name of the input. `reason` says why it failed and, if there is a remedy, what to do.
    """

    most_told: ClassVar[int | None] = None
    """Lines that the command prints in a run about errors of this type; it only counts the others. None: all."""
    others: ClassVar[str] = ""
    """Words of the command behind the number of those that it only counts."""
    together: ClassVar[tuple[str, str] | None] = None
    """Words of the command in one line for all errors of this type: behind their number, and behind the names of the
    first inputs. None: each has a line.
    """

    count = 1
    """Failures, or notes, of which this tells: more than one where the others of an input are only counted."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = without_secrets(source)
        self.reason = without_secrets(reason)

    def __reduce__(self) -> tuple[type["SourceError"], tuple[str, str], dict[str, Any]]:
        return type(self), (self.source, self.reason), vars(self)  # as of InvalidURN; the last has the count

    @classmethod
    def from_os(cls, source: str, error: OSError) -> "SourceError":
        """Make a SourceError of an error of the operating system, in its words."""
        return cls(source, error.strerror or str(error))


class DamageError(SourceError):
    """A damaged part of an input. Text that is read behind it is not next to the text before it."""


class LimitError(SourceError):
    """An input unfolds to more than the limits of the run allow; what was read of it until then counts."""


class FormatError(SourceError):
    """An input of a deduplication is no dump in a format of records that is known. A folder may hold many such files."""

    most_told = 20
    others = "more files are not dumps of records; --include reads only the files that match"


class UnknownFormatError(FormatError):
    """An input of a deduplication is in no format of records that is known, though the user named it or it resembles one."""


class RecordError(SourceError):
    """A record of a dump is damaged, or all of them are."""

    most_told = 100
    others = "more damaged records; --report counts them for each dump"


class SourceNote(SourceError):  # noqa: N818 (it is no failure)
    """An input, or a member of it, was scanned as it is, though it has a form of its own; or it is a table of urnscan.

    It is told and counted apart from failures, and changes no exit status. A form belongs here only if it stores text
    as it is: where it packs text, the text is lost, and that is a failure. An output of the run itself is not
    scanned: it will be replaced. Of a table of Delta or Iceberg more is scanned than it has now.
    """

    most_told = 20
    others = "more notes: of these inputs, too, nothing was lost"


class OwnOutputNote(SourceNote):
    """An output of the run lies among its inputs, and is not scanned. Whether there is one depends on earlier runs."""


class PdfNote(SourceNote):
    """A PDF was scanned as it is, because what reads PDFs is not installed: all of these are told in one line."""

    together = ("PDFs are scanned as they are, and their text is not read", "pip install 'urnscan[pdf]'")


class NoWebArchiveNote(SourceNote):
    """An input of a run with `where` is not a web archive, so no text in it fits: all of these are reported in one line."""

    together = ("files are not web archives", "--where reads nothing in them")


class NoDumpNote(SourceNote):
    """A file met in a folder or an archive is in no format of records that is known, nor like one: a README, a script."""

    together = (
        "files are not dumps of records",
        "name their format with --record, or read fewer files with --include",
    )


class FatalError(UrnscanError):
    """The run cannot begin, or cannot go on."""


class ArgumentError(UrnscanError, ValueError, TypeError):
    """A function of the library was given a name that is no option, or a value that the option does not take."""


class InvalidURN(_Sentence, ValueError):  # noqa: N818 (the name is what it says)
    """A text is no URN in the chosen syntax.

    `reason` says why for people, `code` for programs: one of `urnscan.urn.reject_reasons.REASONS`, which never change.
    `position` is the index, from 0, of the first byte or character that cannot be part of a URN. `text` is the text
    that was parsed, its bytes as characters; it may be empty.
    """

    def __init__(self, reason: str, position: int, code: str, text: str = "") -> None:
        super().__init__(f"{reason} (at position {position})")
        self.reason = reason
        self.position = position
        self.code = code
        self.text = text

    def __reduce__(self) -> tuple[type["InvalidURN"], tuple[str, int, str, str]]:
        # Exceptions are pickled by their args, which hold the message alone; worker processes of other engines pickle.
        return type(self), (self.reason, self.position, self.code, self.text)

    def _more(self) -> list[str]:
        from urnscan.display.text import pointed  # noqa: PLC0415 (only notebooks need it)

        return [f"  {line}" for line in pointed(self.text, self.position)] if self.text else []


def count_of(errors: Iterable[SourceError]) -> int:
    """Number of failures, or of notes, of which errors tell."""
    return sum(error.count for error in errors)


def count_in_metadata(notes: Iterable[SourceNote]) -> int:
    """Number of notes for the metadata of outputs, which are equal for two runs with the same inputs and options."""
    return count_of(note for note in notes if not isinstance(note, OwnOutputNote))
