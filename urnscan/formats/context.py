"""Context of the nested readers of one input: its name, the way to a member, the options and limits of reading."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from urnscan.errors import SourceError
from urnscan.formats.captures import Capture, Where
from urnscan.formats.filters import Filter
from urnscan.formats.limits import Budget, Limits
from urnscan.formats.media_types import LONGEST
from urnscan.formats.processes import Processes

INSIDE = "!/"

"""Separates the name of an input from that of its member, and the name of a member from that of a member inside it."""
# Characters of a name, which is written next to every hit.
_LONGEST_NAME = 2_000


def full_name(source: str, member: str | None) -> str:
    """A source, and the member in it: `a.zip!/b.txt`."""
    return source if member is None else source + INSIDE + member


@dataclass(frozen=True, slots=True)
class Reading:
    """Options of a run for its readers."""

    encoding: str | None = None
    """Encoding of text without a byte order mark; None: its bytes are read unchanged."""
    columns: tuple[str, ...] = ()
    """The fields of tables to be read; empty: all that contain text."""
    limits: Limits = field(default_factory=Limits)
    where: Where | None = None
    """Conditions on the captures of web archives; only texts in captures that fulfil them are read. None: all texts."""
    filters: tuple[Filter, ...] = ()
    """Commands that make text of files; the first that fits is used."""
    processes: Processes = field(default_factory=Processes, compare=False, repr=False)
    """The processes that were started to read."""
    results: bool = True
    """Whether tables that urnscan wrote are scanned, with a note; if not, they are told, and not read."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Names and limits of one level of nesting: an input, or a member in it."""

    name: str
    """Name in errors: the input, then the members on the way in."""
    file_name: str
    """File name by which a form may be recognised, without the suffix of a compression around it."""
    reading: Reading
    budget: Budget
    member: str | None = None
    """Names of the members from the input to here, such as `a.zip!/b.txt`; None for the input itself."""
    depth: int = 0
    capture: Capture | None = None
    """The record of a web archive around it, if there is one."""

    @property
    def is_deepest(self) -> bool:
        """Whether the limit of depth is reached: nothing inside this layer is read."""
        return self.depth == self.reading.limits.depth

    def unpacked(self, suffixes: tuple[str, ...]) -> "Layer":
        """The layer of the text in a compressed file; `suffixes` are those of its form. Raises SourceError if it is too deep."""
        lower = self.file_name.lower()
        suffix = next((suffix for suffix in suffixes if lower.endswith(suffix)), "")
        stem = self.file_name[: len(self.file_name) - len(suffix)]
        return self._deeper(self.name, stem + ".tar" if suffix.startswith(".t") else stem, self.member)

    @property
    def is_wanted(self) -> bool:
        """True if the text of this layer is scanned: `--where` may leave out its capture."""
        return self.reading.where is None or self.reading.where.fits(self.capture)

    def filter(self, head: Callable[[int], bytes]) -> Filter | None:
        """The command that makes text of what is in this layer; `head` gives a number of its first bytes."""
        filters = self.reading.filters
        data = head(LONGEST) if any(command.has_types for command in filters) else b""
        return next((command for command in filters if command.fits(self.file_name, data, self.capture)), None)

    def inside(self, member: str, capture: Capture | None = None) -> "Layer":
        """The layer of a member of an archive, with its own capture or that of this layer. Raises SourceError if it is too deep."""
        layer = self._deeper(self.name_of(member), member.rsplit("/", 1)[-1], self.of_value(member))
        return layer if capture is None else replace(layer, capture=capture)

    def name_of(self, member: str) -> str:
        """Name of a member of this archive in errors."""
        return _shortened(self.name + INSIDE + member)

    def of_value(self, place: str) -> str:
        """The way to a value of a table, or to a member, at this layer."""
        return _shortened(place if self.member is None else self.member + INSIDE + place)

    def _deeper(self, name: str, file_name: str, member: str | None) -> "Layer":
        if self.is_deepest:
            reason = f"is nested more than {self.depth} deep, so it is not read; --max-depth allows more"
            raise SourceError(self.name, reason)
        return Layer(name, file_name, self.reading, self.budget, member, self.depth + 1, self.capture)


def _shortened(name: str) -> str:
    """The name; of a long one the beginning and the end, with "…" between them."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME // 2]}…{name[-_LONGEST_NAME // 2 :]}"
