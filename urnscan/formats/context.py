"""Context of the nested readers of an input: names of the levels of nesting (layers), options and limits of reading."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from urnscan.errors import SourceError, option
from urnscan.formats.captures import Capture, Where
from urnscan.formats.filters import Filter
from urnscan.formats.limits import Budget, Limits
from urnscan.formats.media_types import LONGEST
from urnscan.formats.processes import Processes

INSIDE = "!/"
"""Separator between the name of an input or member and the name of a member inside: `a.zip!/b.txt`."""
# Maximum characters of a name, which is written with each match.
_LONGEST_NAME = 2_000


def full_name(source: str, member: str | None) -> str:
    """Name of a source (path or URL of a file) and of a member in it: `a.zip!/b.txt`; `source` if `member` is None."""
    return source if member is None else source + INSIDE + member


@dataclass(frozen=True, slots=True)
class Reading:
    """Options of a run about reading its inputs, such as encoding, columns and limits."""

    encoding: str | None = None
    """Encoding of text without a byte order mark (`--encoding`); None: UTF-16 and UTF-32 are recognised by NULs, and
    other text is read unchanged.
    """
    columns: tuple[str, ...] = ()
    """Names of the columns of tables that are read (`--column`), case significant; empty: all columns with text."""
    limits: Limits = field(default_factory=Limits)
    """Limits on the bytes, members and levels of nesting that come out of an input."""
    where: Where | None = None
    """Conditions on records of web archives (`--where`): only texts in records that fulfil all are read. None: all
    texts.
    """
    filters: tuple[Filter, ...] = ()
    """Commands that convert files to text (`--filter`); the first that fits a file is used."""
    processes: Processes = field(default_factory=Processes, compare=False, repr=False)
    """Processes that the run started to read files; not compared and not shown."""
    results: bool = True
    """Whether tables that urnscan wrote are scanned, and noted; False: they are not read, which is an error."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A level of nesting, such as an input, a member of an archive in it, or the bytes in a compressed file.

    Has the names of this level, and the options and limits of the input. Immutable: methods return further layers.
    """

    name: str
    """Name for messages: the input, then the members on the path, as in `a.tar!/b.zip!/c.txt`."""
    file_name: str
    """Base name, whose suffix may show the format; in a compressed file without the suffix of the compression."""
    reading: Reading
    """Options of the run about reading."""
    budget: Budget
    """Counts the bytes and members that come out of the input, and collects errors; shared by all its layers."""
    member: str | None = None
    """Names of the members from the input to this layer, such as `b.zip!/c.txt`; None for the input itself, perhaps
    unpacked.
    """
    depth: int = 0
    """Number of layers around this layer: 0 for the input itself."""
    capture: Capture | None = None
    """The record of a web archive that contains this layer; None outside of web archives."""

    @property
    def is_deepest(self) -> bool:
        """Whether `depth` is the limit (`--max-depth`), so that nothing inside this layer may be opened."""
        return self.depth == self.reading.limits.depth

    def unpacked(self, suffixes: tuple[str, ...]) -> "Layer":
        """Return the layer for the unpacked bytes of this compressed file. Raises SourceError if it `is_deepest`.

        Its `file_name` lacks a suffix in `suffixes` (those of the compression): of `a.csv.gz` it is `a.csv`, and of
        `a.tgz` it is `a.tar`.
        """
        lower = self.file_name.lower()
        suffix = next((suffix for suffix in suffixes if lower.endswith(suffix)), "")
        stem = self.file_name[: len(self.file_name) - len(suffix)]
        return self._deeper(self.name, stem + ".tar" if suffix.startswith(".t") else stem, self.member)

    @property
    def is_wanted(self) -> bool:
        """Whether text in this layer is scanned: without `--where`, or if `capture` fulfils its conditions."""
        return self.reading.where is None or self.reading.where.fits(self.capture)

    def filter(self, head: Callable[[int], bytes]) -> Filter | None:
        """The first command of the user (`--filter`) that is for files such as this layer; None without such a command.

        `head(n)`: function that returns at least the first n bytes, fewer only if there are no more; called only if a
        filter names media types.
        """
        filters = self.reading.filters
        data = head(LONGEST) if any(command.has_types for command in filters) else b""
        return next((command for command in filters if command.fits(self.file_name, data, self.capture)), None)

    def inside(self, member: str, capture: Capture | None = None) -> "Layer":
        """Return the layer for the member of this archive with the name `member`. Raises SourceError if `is_deepest`.

        `capture`: metadata of the member, if it is a record of a web archive; None: that of this layer.
        """
        layer = self._deeper(self.name_of(member), member.rsplit("/", 1)[-1], self.of_value(member))
        return layer if capture is None else replace(layer, capture=capture)

    def name_of(self, member: str) -> str:
        """Name of a member of this archive, for messages: `a.tar!/b.txt`. Longer than 2,000 characters: its middle is
        replaced by "…".
        """
        return _shortened(self.name + INSIDE + member)

    def of_value(self, place: str) -> str:
        """Path from the input to `place`, the place of a value in this table or the name of a member in this archive:
        `a.db!/rows/7/url`.

        Only `place` if this layer is in no archive. Longer than 2,000 characters: its middle is replaced by "…".
        """
        return _shortened(place if self.member is None else self.member + INSIDE + place)

    def _deeper(self, name: str, file_name: str, member: str | None) -> "Layer":
        if self.is_deepest:
            reason = (
                f"is nested more than {self.depth} deep, so it is not read; {option('max_depth', None)} allows more"
            )
            raise SourceError(self.name, reason)
        return Layer(name, file_name, self.reading, self.budget, member, self.depth + 1, self.capture)


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME // 2]}…{name[-_LONGEST_NAME // 2 :]}"
