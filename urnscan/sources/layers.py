"""What the readers of one input share, however deep they are nested: limits, checksums, and what errors call them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

from urnscan.errors import LimitError, SourceError

__all__ = ["INSIDE", "Budget", "Checks", "Layer", "Limits", "Reading"]

INSIDE = "!/"
"""Stands between an input and its member, and between that and a member of its own."""
_LONGEST_NAME = 2_000  # characters: it stands beside every hit
_FREE = 1 << 28  # octets that anything may unfold to, whatever its ratio


@dataclass(frozen=True, slots=True)
class Limits:
    """What an input may unfold to; the defaults stop what was made to harm, and hardly anything else."""

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
    """What the readers of a run go by."""

    encoding: str | None = None
    """What text is in that has no byte order mark; None: it is read as it is."""
    columns: tuple[str, ...] = ()
    """The fields of tables to be read; none: all that hold text."""
    limits: Limits = field(default_factory=Limits)


class Checks:
    """Which octets a checksum vouches for, which are not to be trusted, and for which it is still to come.

    A unit is what one checksum covers: a gzip member, a file in a zip archive. It holds the octets that are given from
    its beginning until it is settled, at any depth below it. Who reads dates them: he sets `since` to `now` before each
    read, and the octets that it gives are from `since` to `now` then. One thread's own; it serves one input after another.
    """

    def __init__(self) -> None:
        self.now = 0
        """Counts the units that have begun or were settled."""
        self.since = 0
        """The first date of the octets that were given last; a reader that had them in store sets it back."""
        self.until: int | None = None
        """Their last date, where they were in store; else it is `now`."""
        self.refused: list[tuple[int, int]] = []
        """The first and the last date of each unit whose checksum failed and that is in no other such; in their order."""
        self._open: list[int] = []

    @property
    def settled(self) -> int:
        """Octets of an earlier date than this are settled: refused, or good."""
        return min(self._open, default=self.now + 1)

    def read(self, read_into: Callable[[memoryview], int], view: memoryview) -> tuple[int, int, int]:
        """Read: how many octets there were, and their first and last date. Raises what `read_into` raises."""
        self.since, self.until = self.now, None
        octets = read_into(view)
        return octets, self.since, self.now if self.until is None else self.until

    def forget(self) -> None:
        """Nothing that was read until now is of interest any more."""
        if not self._open:
            self.refused.clear()

    def begin(self) -> int:
        """A unit begins; gives its handle."""
        self.now += 1
        self._open.append(self.now)
        return self.now

    def confirm(self, unit: int) -> None:
        """The unit is good, or ended without a checksum that could tell."""
        self._open.remove(unit)
        self.now += 1

    def refuse(self, unit: int) -> None:
        """The checksum of the unit failed."""
        while self.refused and self.refused[-1][0] >= unit:  # it was inside of this one
            self.refused.pop()
        self.refused.append((unit, self.now))
        self.confirm(unit)


class Budget:
    """Counts what was read of an input and what came out of it, and ends it at the limits."""

    def __init__(self, name: str, limits: Limits, on_read: Callable[[int], object] = lambda _: None) -> None:
        """`name` is the input's; `on_read` is told how many octets of the input itself were read, for progress."""
        self._name = name
        self._limits = limits
        self._on_read = on_read
        self._read = self._unfolded = self._members = 0

    def took(self, octets: int) -> None:
        """So many octets of the input as it is were read."""
        self._read += octets
        self._on_read(octets)

    def gave(self, octets: int) -> None:
        """So many octets came out of a compression or a table. Raises LimitError."""
        self._unfolded += octets
        self.may_give(0)

    def may_give(self, octets: int) -> None:
        """So many octets more are said to come at once: past the limits no memory is taken for them. Raises LimitError."""
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
        """One more member of an archive begins. Raises LimitError."""
        self._members += 1
        if self._members > self._limits.members:
            reason = f"has more than {self._limits.members:,} members: read no further; --max-members allows more"
            raise LimitError(self._name, reason)


@dataclass(frozen=True, slots=True)
class Layer:
    """Where a reader stands: how it is called, and what it shares with those above and below it."""

    name: str
    """What errors call it: the input, then the members on the way in."""
    file_name: str
    """What tells its form where its octets do not: the name of the file or member, without the suffix of a compression."""
    reading: Reading
    checks: Checks
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
        """What errors call a member of this archive."""
        return _shortened(self.name + INSIDE + member)

    def of_value(self, place: str) -> str:
        """What `member` says of a value of a table at this layer."""
        return _shortened(place if self.member is None else self.member + INSIDE + place)

    def _deeper(self, **changes: str) -> Self:
        if self.depth == self.reading.limits.depth:
            reason = f"nested more than {self.depth} deep: not read; --max-depth allows more"
            raise SourceError(self.name, reason)
        return replace(self, depth=self.depth + 1, **changes)  # type: ignore[arg-type]


def _shortened(name: str) -> str:
    """The name, or so much of its beginning and its end as is enough to know it by."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME // 2]}…{name[-_LONGEST_NAME // 2 :]}"
