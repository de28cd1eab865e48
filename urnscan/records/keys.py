"""Keys of records: identifiers other than URNs, in a common form for all spellings (`oclc:1234`).

`keys.toml` says which identifiers are keys, how they are written, and which fields contain them.
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
"""Kind of the key that records of all formats may have: a URN."""
INSTITUTION, AGENCY, ACCESSION = "institution", "firstagency", "accession"
"""Schemes of identifiers: the institution that assigned the ID of the record, the agency that made the record first,
and an ID with its database.
"""
_ANY = "*"
IN_LIST = re.compile("[,;|]")
# Characters of a value. Identifiers are shorter.
LONGEST = 2_000
FILLERS = frozenset(("none", "null", "unknown", "n/a", "na", "nan"))
_LONGEST_FILLER = max(map(len, FILLERS))
# An address with only a host and a path, both in groups.
_PLAIN_ADDRESS = re.compile(r"(?i:https?)://([A-Za-z0-9.-]++)(/[^\s?#]*+)")
# Schemes in a cache: a dump may name any number of schemes.
MAX_SCHEMES = 1 << 10
DESCRIPTION = "description"
"""Name and kind of the key that joins two citations of an article by their descriptions."""
BYTES = "octets"
"""Name of the key that is a hash of all bytes of a record."""


@dataclass(frozen=True, slots=True)
class Key:
    """A row `key` of `keys.toml`: what is known of all keys with a common prefix (`oclc:`)."""

    name: str
    """Prefix of the keys, without the colon."""
    kind: str
    """Kind of the keys, as in `--keys`."""
    meaning: str
    """The meaning of the keys, in words."""
    shared: str
    """Words for the number that records with the same key share: `same OCLC number`."""
    unsure: bool = False
    """True for a supporting key, which is trusted less than others: it joins only records with the same title, author,
    year and part.
    """
    copied: bool = False
    """True for the number of a record in a catalogue, which copies of the record keep (`oclc:1234`): it joins no records
    with different identifiers of which a work has only one, such as two DOIs (`single`).
    """
    always: bool = False
    """Whether nearly every record has a key of this row."""

    @property
    def beginning(self) -> str:
        """The prefix of the keys, with the colon: `oclc:`."""
        return f"{self.name}:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """A row `spelling` of `keys.toml`: a way in which identifiers are written, and the key that they give."""

    key: str
    """Name of the key that the row gives, without colon."""
    pattern: str
    """Pattern of a whole value, in any case; its groups are the parts of the key."""
    unless: str = ""
    """Pattern of the start of values, in any case, to which the row does not apply; empty: it applies to all values."""
    form: Callable[[str], str | None] | None = None
    """Function that normalizes the identifier, or returns None if it is invalid; None: the identifier is not changed.
    """
    keeps_case: bool = False
    """Whether the identifier keeps its case; otherwise it becomes lower case."""
    several: bool = False
    """Whether a value may be a list, separated by `,`, `;` or `|`."""

    def key_of(self, groups: Sequence[str | None]) -> str | None:
        """Return the key of an identifier, as in `oclc:1234`, from the groups that `pattern` matched in it; None for a
        filler (`none`, `000`), or an identifier that `form` refuses.
        """
        parts = ["".join(group.split()) for group in groups if group]
        last = parts[-1]
        if not last.strip("0-") or (len(last) <= _LONGEST_FILLER and last.lower() in FILLERS):
            return None
        joined = "/".join(parts)
        if not self.keeps_case:
            joined = joined.lower()
        elif len(parts) > 1:
            joined = parts[0].lower() + joined[len(parts[0]) :]
        name = self.form(joined) if self.form else joined
        return f"{self.key}:{name}" if name else None


class Spellings:
    """The ways in which identifiers of a kind are written, compiled to a single pattern; they are tried in the order of
    `rows`.
    """

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
        """Rows by the number of their group in the pattern, with a slice for the groups inside it."""

    def read(self, text: str) -> list[str]:
        """Return the keys in a value: one (`oclc:1`) if the whole value fits a spelling, without white space around it
        and in any case; if the value is a list (with `,`, `;` or `|`) and `several` is True, one for each part that
        fits. Empty if no spelling fits, for fillers and invalid identifiers (`Spelling.key_of`), and if the value is
        longer than 2,000 characters.
        """
        if len(text) > LONGEST:
            return []
        keys_in_text = []
        for part in IN_LIST.split(text) if self.several else (text,):
            if match := self._pattern.fullmatch(part.strip()):
                row, groups_of_row = self._rows[match.lastindex or 0]
                if (key := row.key_of(match.groups()[groups_of_row])) is not None:
                    keys_in_text.append(key)
        return keys_in_text


@functools.cache
def keys() -> Mapping[str, Key]:
    """Return the rows `key` of `keys.toml`: prefix of keys without the colon (`oclc`) -> row, in the order of the
    table.
    """
    return {entry["name"]: Key(**entry) for entry in read_data("keys.toml")["key"]}


def unsure() -> tuple[str, ...]:
    """Return the prefixes (`url:`) of supporting keys, which are trusted less: they join only records whose
    descriptions agree.
    """
    return tuple(key.beginning for key in keys().values() if key.unsure)


def copied() -> tuple[str, ...]:
    """Return the prefixes (`oclc:`) of the numbers of catalogues (`Key.copied`). A record of another work that was
    made from a copy keeps the number of the original, so these keys alone do not join records with two different URNs
    of a kind (DOI, ISBN, ISSN, NBN).
    """
    return tuple(key.beginning for key in keys().values() if key.copied)


def single() -> tuple[str, ...]:
    """Return the prefixes (`urn:doi:`, `oclc:`) of the URNs and keys of which a work usually has only one."""
    return tuple(f"{name}:" for name in read_data("keys.toml")["single"]["names"].split())


def always() -> tuple[str, ...]:
    """Return the prefixes (`local:`) of the keys that nearly every record has."""
    return tuple(key.beginning for key in keys().values() if key.always)


def kinds() -> tuple[str, ...]:
    """Return all kinds of keys (values of `--keys`), in the order of the table; the first is `urn`."""
    return tuple(dict.fromkeys((URN, *(key.kind for key in keys().values()))))


@functools.cache
def _spellings() -> Mapping[str, Sequence[Spelling]]:
    """Scheme of an identifier (lower-case letters and digits) -> its spellings; `*`: for a scheme that names no known
    kind.
    """
    by_name: dict[str, list[Spelling]] = {}
    for entry in read_data("keys.toml")["spelling"]:
        values = {**entry, "form": _FORMS[entry["form"]] if "form" in entry else None}
        names = values.pop("of").split()
        row = Spelling(**values)
        for name in names:
            by_name.setdefault(name, []).append(row)
    return by_name


class KeyReader:
    """Reads the keys in identifiers of the records of a dump. A key is an identifier other than a URN, in a common form
    (`oclc:1234`).
    """

    def __init__(self, kinds_of_keys: Sequence[str], dump: int, *, named: bool = True) -> None:
        """Only keys of `kinds_of_keys` (values of `--keys`) are read. `dump`: number of the dump, from 1. `named`:
        whether the ID of a record gives a key.
        """
        self.dump, self.named = dump, named
        self._names = frozenset(key.name for key in keys().values() if key.kind in kinds_of_keys)
        self.has_local = "local" in self._names
        """Whether the ID of a record without an institution gives a key."""
        self.has_bytes = BYTES in self._names
        """Whether the bytes of a record make a key."""
        self.of_scheme = functools.lru_cache(MAX_SCHEMES)(self._read_scheme)
        """Function from the scheme of an identifier (its kind, as the record names it) to its spellings; None if such
        identifiers give no keys. The function has a cache.
        """

    def of_own(self, own: Own) -> Sequence[str]:
        """Return the keys in a record-level identifier (`Own`): usually one, several for a list; empty if it gives no
        keys.
        """
        spellings = self.of_scheme(own.scheme)
        return () if spellings is None else spellings.read(own.text)

    def _read_scheme(self, scheme: str) -> Spellings | None:
        rows = _spellings().get("".join(filter(str.isalnum, scheme.lower())))
        if rows is None:
            # Other identifiers of a known kind (`isbn`) have no keys.
            rows = () if names_other(scheme) else _spellings()[_ANY]
        chosen = [row for row in rows if row.key in self._names]
        return Spellings(chosen) if chosen else None


def _lccn(number: str) -> str | None:
    """Normalize an LCCN in lower case: `85-2` is `85000002`; None if `number` is not an LCCN."""
    year, hyphen, serial = number.partition("-")
    if hyphen:
        number = year + serial.zfill(6)
    return number if re.fullmatch("[a-z]{0,3}[0-9]{8}|[a-z]{0,2}20[0-3][0-9]{7}", number) else None


def _ark(name: str) -> str:
    return name.replace("-", "").rstrip("/.")


def _arxiv(name: str) -> str:
    """Remove the subject class of an old arXiv identifier: `math.GT/0309136` is `math/0309136`."""
    archive, slash, number = name.partition("/")
    return f"{archive.partition('.')[0]}/{number}" if slash else name


@functools.cache
def _tracking() -> tuple[frozenset[str], tuple[str, ...]]:
    names = read_data("keys.toml")["tracking"]["names"].split()
    prefixes = tuple(name.removesuffix("*") for name in names if name.endswith("*"))
    return frozenset(name for name in names if not name.endswith("*")), prefixes


def url(address: str) -> str | None:
    """Return a URL without scheme, user name, `www.`, port 80 or 443, slash at the end of the path, fragment, and
    parameters that only track readers. The host gets lower case; path and query are not decoded. None for the URL of a
    whole site, and for a text that is not a URL.

    "https://www.example.org/a/?utm_source=x#top" -> "example.org/a"
    """
    # Most addresses need no more than this.
    if plain := _PLAIN_ADDRESS.fullmatch(address):
        path = plain[2].rstrip("/")
        return plain[1].lower().removeprefix("www.") + path if path else None
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    names, prefixes = _tracking()
    query = [
        parameter
        for parameter in parts.query.split("&")
        if parameter and (name := parameter.partition("=")[0].lower()) not in names and not name.startswith(prefixes)
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
    "wos": lambda number: f"wos:{number}",
    "url": url,
}
