"""Limits, failed checksums and names that the nested readers of one input share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from urnscan.errors import LimitError, SourceError
from urnscan.formats.captures import Capture, Where
from urnscan.formats.filters import Filter
from urnscan.formats.media_types import LONGEST
from urnscan.formats.processes import Processes

INSIDE = "!/"
"""Stands between an input and its member, and between that and a member of its own."""
_LONGEST_NAME = 2_000  # characters: it stands beside every hit
_MOST_WRONG = 10_000  # failed checksums that are reported one by one: an input made to harm has millions
_FREE = 1 << 28  # octets that anything may unfold to, whatever its ratio


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on what an input unfolds to. The defaults stop files made to harm, and hardly any others."""

    ratio: int = 1000
    """Octets that may come out of one octet of the input, once it unfolds to more than 256 MiB."""
    size: int = 10**13
    """Octets that may come out of an input, all layers together."""
    depth: int = 8
    """Layers of compression, archives and tables in each other."""
    members: int = 10**7
    """Members of all archives in an input."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Options that the readers of a run go by."""

    encoding: str | None = None
    """Encoding of text without a byte order mark; None: it is read as it is."""
    columns: tuple[str, ...] = ()
    """The fields of tables to be read; none: all that hold text."""
    limits: Limits = field(default_factory=Limits)
    where: Where | None = None
    """Conditions on the captures of web archives; only texts in such are read. None: all texts."""
    filters: tuple[Filter, ...] = ()
    """Commands that make text of files; the first that fits is used."""
    processes: Processes = field(default_factory=Processes, compare=False, repr=False)
    """The processes that were started to read."""


class Budget:
    """Counts of the octets that an input has and unfolds to, which end it at the limits; and its errors that end nothing."""

    def __init__(self, name: str, limits: Limits, on_read: Callable[[int], object] = lambda _: None) -> None:
        """`name` is the input's; `on_read` is told how many octets of the input itself were read, for progress."""
        self._name = name
        self._limits = limits
        self._on_read = on_read
        self._read = self._unfolded = self._members = 0
        self._wrong: list[SourceError] = []
        self._more_wrong = 0

    def count_read(self, octets: int) -> None:
        """Count octets of the input itself that were read."""
        self._read += octets
        self._on_read(octets)

    def count_unfolded(self, octets: int) -> None:
        """Count octets that came out of a compression or a table. Raises LimitError."""
        self._unfolded += octets
        self.check_announced(0)

    def check_announced(self, octets: int) -> None:
        """Check octets that are announced, before memory is taken for them. Raises LimitError past the limits."""
        limits = self._limits
        if not self.allows(octets):
            if self._unfolded + octets > limits.size:
                raise self._past(f"unfolds to more than {limits.size:,} octets", "--max-size")
            raise self._past(f"unfolds to more than {limits.ratio:,} times its size", "--max-ratio")

    def allows(self, octets: int) -> bool:
        """True if so many more octets may come out of the input."""
        unfolded, limits = self._unfolded + octets, self._limits
        return unfolded <= limits.size and (unfolded <= _FREE or unfolded <= limits.ratio * self._read)

    def count_member(self, count: int = 1) -> None:
        """Count a member of an archive, or several. Raises LimitError."""
        self._members += count
        if self._members > (most := self._limits.members):
            raise self._past(f"has more than {most:,} member{'s' * (most != 1)}", "--max-members")

    def allows_members(self, count: int) -> bool:
        """True if the input may have so many more members."""
        return self._members + count <= self._limits.members

    def count_members(self, count: int) -> bool:
        """Count members of an archive, if the limit allows all of them; whether it does."""
        is_allowed = self.allows_members(count)
        self._members += count if is_allowed else 0
        return is_allowed

    def _past(self, what: str, option: str) -> LimitError:
        return LimitError(self._name, f"{what}: read no further; {option} allows more")

    def failed_checksum(self, name: str, what: str) -> None:
        """Collect the error for an input or member in which the checksum `what` failed."""
        self.collect(SourceError(name, f"{what} is wrong: what was read of it may be damaged"))

    def collect(self, error: SourceError) -> None:
        """Keep an error that ends nothing, such as a wrong checksum; it is reported behind the text."""
        if len(self._wrong) < _MOST_WRONG:
            self._wrong.append(error)
        else:
            self._more_wrong += 1

    def collected(self) -> Iterator[SourceError]:
        """Errors collected since the last call."""
        wrong, more = self._wrong, self._more_wrong
        self._wrong, self._more_wrong = [], 0
        yield from wrong
        if more:
            yield SourceError(self._name, f"{more:,} more errors of this kind in it")


@dataclass(frozen=True, slots=True)
class Layer:
    """Names and limits of one level of nesting: an input, or a member in it."""

    name: str
    """Name in errors: the input, then the members on the way in."""
    file_name: str
    """File name that may tell a form, without the suffix of a compression around it."""
    reading: Reading
    budget: Budget
    member: str | None = None
    """The way from the input to here, by the names of members; None where it leads into none."""
    depth: int = 0
    capture: Capture | None = None
    """The record of a web archive around it, if there is one."""

    @property
    def is_deepest(self) -> bool:
        """Whether nothing in this layer is read."""
        return self.depth == self.reading.limits.depth

    def unpacked(self, suffixes: tuple[str, ...]) -> "Layer":
        """The layer of what is in a compressed file; `suffixes` are those that such files have. Raises SourceError."""
        lower = self.file_name.lower()
        suffix = next((suffix for suffix in suffixes if lower.endswith(suffix)), "")
        stem = self.file_name[: len(self.file_name) - len(suffix)]
        return self._deeper(self.name, stem + ".tar" if suffix.startswith(".t") else stem, self.member)

    @property
    def is_wanted(self) -> bool:
        """Whether its text is read."""
        return self.reading.where is None or self.reading.where.fits(self.capture)

    def filter(self, head: Callable[[int], bytes]) -> Filter | None:
        """The command that makes text of what is in this layer; `head` gives so many of its first octets."""
        filters = self.reading.filters
        octets = head(LONGEST) if any(each.has_types for each in filters) else b""
        return next((each for each in filters if each.fits(self.file_name, octets, self.capture)), None)

    def inside(self, member: str, capture: Capture | None = None) -> "Layer":
        """The layer of a member of an archive, in its own record or in that around it. Raises SourceError where that is too deep."""
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
            reason = f"nested more than {self.depth} deep: not read; --max-depth allows more"
            raise SourceError(self.name, reason)
        return Layer(name, file_name, self.reading, self.budget, member, self.depth + 1, self.capture)


def _shortened(name: str) -> str:
    """The name, or so much of its beginning and its end as is enough to know it by."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME // 2]}…{name[-_LONGEST_NAME // 2 :]}"
