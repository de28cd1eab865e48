"""Keys of records: identifiers beside URNs, each in one form for all its spellings (`oclc:1234`).

`keys.toml` says which identifiers are keys, how they are written, and in which fields they stand.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from urnscan.records.fields import Own, read_data
from urnscan.records.identifiers import names_other

URN = "urn"
"""The kind of key that every record may have without fields: a URN."""
INSTITUTION, AGENCY, ACCESSION = "institution", "firstagency", "accession"
"""Kinds of identifiers: whose number the name of a record is, who made the record first, and a name with its database."""
_ANY = "*"
IN_LIST = re.compile("[,;|]")
LONGEST = 2_000  # characters of a value; no identifier has as many
FILLERS = frozenset(("none", "null", "unknown", "n/a", "na", "nan"))
_LONGEST_FILLER = max(map(len, FILLERS))
PLAIN_ADDRESS = re.compile(r"(?i:https?)://([A-Za-z0-9.-]++)(/[^\s?#]*+)")  # host and path alone
MOST_SCHEMES = 1 << 10  # kinds of identifiers that are kept in mind: a dump may name any
OCTETS = "octets"
"""The key of a record by all of its octets."""


@dataclass(frozen=True, slots=True)
class Key:
    """A row of `keys.toml`: a beginning of keys."""

    name: str
    kind: str
    meaning: str
    unsure: bool = False
    """Whether it joins only records with the same title and part."""
    always: bool = False
    """Whether nearly every record has one."""

    @property
    def beginning(self) -> str:
        """The beginning of such keys: `oclc:`."""
        return f"{self.name}:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """A row of `keys.toml`: a way to write an identifier."""

    key: str
    pattern: str
    unless: str
    """A pattern of the beginning of values that the row does not fit; empty: of none."""
    form: Callable[[str], str | None] | None
    keeps_case: bool
    several: bool

    def key_of(self, groups: Sequence[str | None]) -> str | None:
        """The key of an identifier with these groups of the pattern; None if it only fills a field."""
        said = ["".join(group.split()) for group in groups if group]
        last = said[-1]
        if not last.strip("0-") or (len(last) <= _LONGEST_FILLER and last.lower() in FILLERS):
            return None
        joined = "/".join(said)
        if not self.keeps_case:
            joined = joined.lower()
        elif len(said) > 1:
            joined = said[0].lower() + joined[len(said[0]) :]
        name = self.form(joined) if self.form else joined
        return f"{self.key}:{name}" if name else None


class Spellings:
    """The ways to write identifiers of a kind, as one pattern."""

    def __init__(self, rows: Sequence[Spelling]) -> None:
        self.rows = rows
        self.several = any(row.several for row in rows)
        """Whether a value may be a list."""
        patterns = (f"(?!{row.unless}){row.pattern}" if row.unless else row.pattern for row in rows)
        self._pattern = re.compile("|".join(f"({pattern})" for pattern in patterns), re.IGNORECASE | re.DOTALL)
        counts = [re.compile(row.pattern).groups + 1 for row in rows]
        ends = list(itertools.accumulate(counts, initial=1))
        self._rows = {
            end: (row, slice(end, end + count - 1)) for row, end, count in zip(rows, ends, counts, strict=False)
        }
        """Rows by the number of their group, with the places of the groups in it."""

    def read(self, text: str) -> list[str]:
        """The keys in a value; none in one that is too long."""
        if len(text) > LONGEST:
            return []
        found = []
        for part in IN_LIST.split(text) if self.several else (text,):
            if match := self._pattern.fullmatch(part.strip()):
                row, inner = self._rows[match.lastindex or 0]
                if (key := row.key_of(match.groups()[inner])) is not None:
                    found.append(key)
        return found


@functools.cache
def keys() -> Mapping[str, Key]:
    """The rows of keys by their beginnings."""
    return {entry["name"]: Key(**entry) for entry in read_data("keys.toml")["key"]}


def unsure() -> tuple[str, ...]:
    """Beginnings of the keys that join only records with the same title and part."""
    return tuple(key.beginning for key in keys().values() if key.unsure)


def always() -> tuple[str, ...]:
    """Beginnings of the keys that nearly every record has."""
    return tuple(key.beginning for key in keys().values() if key.always)


def kinds() -> tuple[str, ...]:
    """All kinds of keys, in the order of the table; the first is `urn`."""
    return tuple(dict.fromkeys((URN, *(key.kind for key in keys().values()))))


@functools.cache
def _spellings() -> Mapping[str, Sequence[Spelling]]:
    """The ways to write identifiers by the kinds that records name."""
    by_name: dict[str, list[Spelling]] = {}
    for entry in read_data("keys.toml")["spelling"]:
        form = _FORMS[entry["form"]] if "form" in entry else None
        row = Spelling(
            key=entry["key"],
            pattern=entry["pattern"],
            unless=entry.get("unless", ""),
            form=form,
            keeps_case=entry.get("case") == "keep",
            several=entry.get("several", False),
        )
        for name in entry["of"].split():
            by_name.setdefault(name, []).append(row)
    return by_name


def _rows(scheme: str) -> Sequence[Spelling]:
    """The ways to write identifiers of a kind as records name it."""
    rows = _spellings().get("".join(filter(str.isalnum, scheme.lower())))
    if rows is None:
        rows = () if names_other(scheme) else _spellings()[_ANY]
    return rows


class KeyReader:
    """Reads the keys of the records of one dump."""

    def __init__(self, wanted: Sequence[str], dump: int, *, named: bool = True) -> None:
        """`wanted`: kinds of keys. `dump`: number of the dump, from 1. `named`: the name of a record is a key."""
        self.dump, self.named = dump, named
        self._names = frozenset(key.name for key in keys().values() if key.kind in wanted)
        self.has_local = "local" in self._names
        """Whether the name of a record without an institution is a key."""
        self.has_octets = OCTETS in self._names
        """Whether the octets of a record are a key."""
        self.of_scheme = functools.lru_cache(MOST_SCHEMES)(self._read_scheme)
        """Gives the ways to write identifiers of a kind; None if they give no keys."""

    def of_own(self, own: Own) -> Sequence[str]:
        """The keys in an own identifier."""
        spellings = self.of_scheme(own.scheme)
        return () if spellings is None else spellings.read(own.text)

    def _read_scheme(self, scheme: str) -> Spellings | None:
        """The ways to write identifiers of a kind; None if they give no keys."""
        rows = [row for row in _rows(scheme) if row.key in self._names]
        return Spellings(rows) if rows else None


def _lccn(number: str) -> str | None:
    """An LCCN in the form of the Library of Congress: `85-2` is `85000002`."""
    before, hyphen, behind = number.partition("-")
    if hyphen:
        number = before + behind.zfill(6)
    return number if re.fullmatch("[a-z]{0,3}[0-9]{8}|[a-z]{0,2}20[0-3][0-9]{7}", number) else None


def _ark(name: str) -> str:
    """An ARK without hyphens, and without what may stand at its end and means nothing."""
    return name.replace("-", "").rstrip("/.")


def _arxiv(name: str) -> str:
    """An identifier of arXiv; before 2007 its archive may have had a subject class: `math.GT/0309136`."""
    archive, slash, number = name.partition("/")
    return f"{archive.partition('.')[0]}/{number}" if slash else name


def _wos(number: str) -> str:
    return f"wos:{number}"


@functools.cache
def _tracking() -> tuple[frozenset[str], tuple[str, ...]]:
    """Names in queries that say nothing about the thing, and beginnings of such names."""
    names = read_data("keys.toml")["tracking"]["names"].split()
    beginnings = tuple(name.removesuffix("*") for name in names if name.endswith("*"))
    return frozenset(name for name in names if not name.endswith("*")), beginnings


def url(address: str) -> str | None:
    """An address without its scheme, `www.`, default port, fragment, slash at the end and tracking; None if it names a site."""
    if plain := PLAIN_ADDRESS.fullmatch(address):  # as mostly
        path = plain[2].rstrip("/")
        return plain[1].lower().removeprefix("www.") + path if path else None
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    names, beginnings = _tracking()
    query = [
        each
        for each in parts.query.split("&")
        if each and (name := each.partition("=")[0].lower()) not in names and not name.startswith(beginnings)
    ]
    path = parts.path.rstrip("/")
    if not parts.hostname or not (path or query):
        return None
    host = parts.hostname.removeprefix("www.") + (f":{port}" if port not in (None, 80, 443) else "")
    return host + path + ("?" + "&".join(query) if query else "")


_FORMS: Mapping[str, Callable[[str], str | None]] = {
    "lccn": _lccn,
    "ark": _ark,
    "arxiv": _arxiv,
    "wos": _wos,
    "url": url,
}
