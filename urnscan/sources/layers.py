"""Limits, failed checksums and names that the nested readers of one input share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self

from urnscan.errors import LimitError, SourceError

__all__ = ["INSIDE", "Budget", "Layer", "Limits", "Reading"]

INSIDE = "!/"
"""Stands between an input and its member, and between that and a member of its own."""
_LONGEST_NAME = 2_000  # characters: it stands beside every hit
_MOST_WRONG = 10_000  # failed checksums that are told one by one: an input made to harm has millions
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


class Budget:
    """Counts what was read of an input and what came out of it, and ends it at the limits.

    It also collects the units of the input whose checksums failed. Their octets are given like all others.
    """

    def __init__(self, name: str, limits: Limits, on_read: Callable[[int], object] = lambda _: None) -> None:
        """`name` is the input's; `on_read` is told how many octets of the input itself were read, for progress."""
        self._name = name
        self._limits = limits
        self._on_read = on_read
        self._read = self._unfolded = self._members = 0
        self._wrong: list[SourceError] = []
        self._more_wrong = 0

    def took(self, octets: int) -> None:
        """Count octets of the input itself that were read."""
        self._read += octets
        self._on_read(octets)

    def gave(self, octets: int) -> None:
        """Count octets that came out of a compression or a table. Raises LimitError."""
        self._unfolded += octets
        self.may_give(0)

    def may_give(self, octets: int) -> None:
        """Check octets that are announced, before memory is taken for them. Raises LimitError past the limits."""
        unfolded = self._unfolded + octets
        if unfolded > self._limits.size:
            reason = f"unfolds to more than {self._limits.size:,} octets: read no further; --max-size allows more"
            raise LimitError(self._name, reason)
        if unfolded > _FREE and unfolded > self._limits.ratio * self._read:
            reason = (
                f"unfolds to more than {self._limits.ratio:,} times its size: read no further; --max-ratio allows more"
            )
            raise LimitError(self._name, reason)

    def member(self) -> None:
        """Count a member of an archive. Raises LimitError."""
        self._members += 1
        if self._members > self._limits.members:
            reason = f"has more than {self._limits.members:,} members: read no further; --max-members allows more"
            raise LimitError(self._name, reason)

    def failed_checksum(self, error: SourceError) -> None:
        """Collect the error for a unit whose checksum failed."""
        if len(self._wrong) < _MOST_WRONG:
            self._wrong.append(error)
        else:
            self._more_wrong += 1

    def failed_checksums(self) -> Iterator[SourceError]:
        """Errors collected since the last call."""
        wrong, more = self._wrong, self._more_wrong
        self._wrong, self._more_wrong = [], 0
        yield from wrong
        if more:
            yield SourceError(self._name, f"{more:,} more checksums in it are wrong")


@dataclass(frozen=True, slots=True)
class Layer:
    """Names and limits of one level of nesting: an input, or a member in it."""

    name: str
    """Name in errors: the input, then the members on the way in."""
    file_name: str
    """File name by whose suffix a form is recognised, without the suffix of a compression around it."""
    reading: Reading
    budget: Budget
    member: str | None = None
    """The way from the input to here, by the names of members; None where it leads into none."""
    depth: int = 0

    def unpacked(self, suffixes: tuple[str, ...]) -> Self:
        """The layer of what is in a compressed file; `suffixes` are those that such files have. Raises SourceError."""
        lower = self.file_name.lower()
        suffix = next((suffix for suffix in suffixes if lower.endswith(suffix)), "")
        stem = self.file_name[: len(self.file_name) - len(suffix)]
        return self._deeper(file_name=stem + ".tar" if suffix.startswith(".t") else stem)

    def inside(self, member: str) -> Self:
        """The layer of a member of an archive. Raises SourceError where that is too deep."""
        way = member if self.member is None else self.member + INSIDE + member
        return self._deeper(name=self.name_of(member), file_name=member.rsplit("/", 1)[-1], member=_shortened(way))

    def name_of(self, member: str) -> str:
        """Name of a member of this archive in errors."""
        return _shortened(self.name + INSIDE + member)

    def of_value(self, place: str) -> str:
        """`member` of a value of a table at this layer."""
        return _shortened(place if self.member is None else self.member + INSIDE + place)

    def _deeper(self, **changes: str) -> Self:
        if self.depth == self.reading.limits.depth:
            reason = f"nested more than {self.depth} deep: not read; --max-depth allows more"
            raise SourceError(self.name, reason)
        return replace(self, depth=self.depth + 1, **changes)  # type: ignore[arg-type]


def _shortened(name: str) -> str:
    """The name, or so much of its beginning and its end as is enough to know it by."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME // 2]}…{name[-_LONGEST_NAME // 2 :]}"
