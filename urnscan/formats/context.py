"""Context of the nested readers of an input: names, path to a member, options and limits of reading."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from urnscan.errors import SourceError
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
    """Name of a source and a member, joined as in `a.zip!/b.txt`; the source alone if `member` is None."""
    return source if member is None else source + INSIDE + member


@dataclass(frozen=True, slots=True)
class Reading:
    """How a run reads its inputs: encoding, columns, limits, conditions and filters."""

    encoding: str | None = None
    """Encoding of text without a byte order mark; None: the bytes are read unchanged."""
    columns: tuple[str, ...] = ()
    """Names of the columns of tables that are read; empty: all columns with text."""
    limits: Limits = field(default_factory=Limits)
    """Limits on the bytes, members and levels of nesting that come out of an input."""
    where: Where | None = None
    """Conditions on captures (records of web archives): only texts in captures that fulfil all are read. None: all."""
    filters: tuple[Filter, ...] = ()
    """Commands that convert files to text; the first that fits a file is used."""
    processes: Processes = field(default_factory=Processes, compare=False, repr=False)
    """Processes that the run started for reading."""
    results: bool = True
    """Whether tables that urnscan wrote are scanned, with a note; False: not read, with an error."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A level of nesting, which is an input, or a member in an input: its names, and the limits of the input."""

    name: str
    """Name for messages: the input, then the members on the path, as in `a.tar!/b.zip!/c.txt`."""
    file_name: str
    """Base name, whose suffix may show a form; inside a compression without the suffix of the compression."""
    reading: Reading
    budget: Budget
    """Counts of the bytes and members that came out of the input, and errors; shared by all layers of the input."""
    member: str | None = None
    """Names of the members from the input to this layer, such as `b.zip!/c.txt`; None for the input itself."""
    depth: int = 0
    """Number of layers around this layer: 0 for the input itself."""
    capture: Capture | None = None
    """The record of a web archive that contains this layer; None outside of web archives."""

    @property
    def is_deepest(self) -> bool:
        """Whether the limit of depth is reached, so that nothing inside this layer may be opened."""
        return self.depth == self.reading.limits.depth

    def unpacked(self, suffixes: tuple[str, ...]) -> "Layer":
        """The layer for the content of this compressed file. Raises SourceError beyond the limit of depth.

        `suffixes` of the compression are cut off `file_name`: `a.csv.gz` becomes `a.csv`, and `a.tgz` becomes `a.tar`.
        """
        lower = self.file_name.lower()
        suffix = next((suffix for suffix in suffixes if lower.endswith(suffix)), "")
        stem = self.file_name[: len(self.file_name) - len(suffix)]
        return self._deeper(self.name, stem + ".tar" if suffix.startswith(".t") else stem, self.member)

    @property
    def is_wanted(self) -> bool:
        """Whether the text of this layer is scanned: without `--where`, or if the capture fulfils the conditions."""
        return self.reading.where is None or self.reading.where.fits(self.capture)

    def filter(self, head: Callable[[int], bytes]) -> Filter | None:
        """The command (`--filter`) that converts this layer to text, or None; `head(n)` gives the first n bytes."""
        filters = self.reading.filters
        data = head(LONGEST) if any(command.has_types for command in filters) else b""
        return next((command for command in filters if command.fits(self.file_name, data, self.capture)), None)

    def inside(self, member: str, capture: Capture | None = None) -> "Layer":
        """The layer for a member of this archive. Raises SourceError beyond the limit of depth.

        `capture`: metadata of the member's record in a web archive; None: the capture of this layer.
        """
        layer = self._deeper(self.name_of(member), member.rsplit("/", 1)[-1], self.of_value(member))
        return layer if capture is None else replace(layer, capture=capture)

    def name_of(self, member: str) -> str:
        """Name of a member of this archive, for messages."""
        return _shortened(self.name + INSIDE + member)

    def of_value(self, place: str) -> str:
        """Path inside the input to a value of a table, or to a member, in this layer: `a.db!/rows/7/url`."""
        return _shortened(place if self.member is None else self.member + INSIDE + place)

    def _deeper(self, name: str, file_name: str, member: str | None) -> "Layer":
        if self.is_deepest:
            reason = f"is nested more than {self.depth} deep, so it is not read; --max-depth allows more"
            raise SourceError(self.name, reason)
        return Layer(name, file_name, self.reading, self.budget, member, self.depth + 1, self.capture)


def _shortened(name: str) -> str:
    """A name of at most 2,001 characters: of a longer name the beginning, "…" and the end."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME // 2]}…{name[-_LONGEST_NAME // 2 :]}"
