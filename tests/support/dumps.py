"""Bibliographic dumps with planted duplicates, and the truth about them, in every format.

A work has records that share its identifiers, all of them one or each with the next (a chain), each time in another
spelling that the namespace calls equal. Between them stands what misleads: an ISSN that different works share, a placeholder
and the URN of a vocabulary in more records than `Dump.max_class`, works whose identifiers differ in one digit or in the case
of a letter that counts, works with the same title, records without a URN. With `fields` the identifiers stand in fields of
their own, native ones as catalogues write them, and URNs of other works in notes, host items and relations.

>>> dump = make_dump("line", seed=1, works=20)
>>> len(dump.clusters) == len(dump.data.splitlines())
True
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

import stdnum.isan
import stdnum.isbn
import stdnum.issn

from tests.support.dump_formats import WRITERS
from urnscan.urn.namespaces.check_digits import DNB_NUMBERS, dnb_digit

__all__ = ["FORMATS", "Dump", "make_dump"]

FORMATS = tuple(WRITERS)


@dataclass(frozen=True, kw_only=True)
class Dump:
    """A dump and what is true of it."""

    format: str
    name: str
    """Of a file in which it could lie."""
    data: bytes
    records: list[bytes]
    """The bytes of each record, as they stand in `data`, from front to back."""
    clusters: list[int]
    """Of each record the work that it describes."""
    identifiers: list[str | None]
    """What the dump calls each record."""
    weak: tuple[str, ...] = ("issn",)
    """The NIDs that join nothing."""
    max_class: int = 7
    """A class that more records share joins nothing; no work has so many."""


# --- identifiers -----------------------------------------------------------------------------------------------------


def _any_case(rng: random.Random, text: str) -> str:
    """All in small letters, all in capital ones, or mixed."""
    return rng.choice([str.lower, str.upper, lambda mixed: "".join(map(_flip(rng), mixed))])(text)


def _flip(rng: random.Random) -> Callable[[str], str]:
    return lambda char: rng.choice([char.lower(), char.upper()])


def _hex_case(rng: random.Random, text: str) -> str:
    """The digits of %HH in any case."""
    first, *others = text.split("%")
    return "%".join([first, *(_any_case(rng, other[:2]) + other[2:] for other in others)])


def _other_digit(rng: random.Random, text: str, digits: str = "0123456789") -> str:
    """The text with one of its last digits changed."""
    places = [at for at, char in enumerate(text) if char in digits and "%" not in text[max(at - 2, 0) : at]]
    at = rng.choice(places[-4:])
    return text[:at] + rng.choice([digit for digit in digits if digit != text[at]]) + text[at + 1 :]


@dataclass(frozen=True)
class Identifier:
    """What names a work; `value` is what its spellings have in common."""

    value: str
    nid = ""

    def urn(self, rng: random.Random) -> str:
        """One of its spellings as a URN."""
        return f"{rng.choice(['urn', 'urn', 'URN', 'Urn'])}:{_any_case(rng, self.nid)}:{self.nss(rng)}"

    def nss(self, rng: random.Random) -> str:
        raise NotImplementedError

    def native(self, rng: random.Random) -> str:
        """One of its spellings by its own standard."""
        raise NotImplementedError

    def link(self, rng: random.Random) -> str:
        """At a resolver."""
        return f"https://resolver.example/{self.urn(rng)}"

    def near(self, rng: random.Random) -> Identifier:
        """Another one that differs in a digit, its check digits right as well."""
        return type(self)(_other_digit(rng, self.value))


class Isbn(Identifier):
    """`value`: the nine digits that its two forms share."""

    nid = "isbn"

    def nss(self, rng: random.Random) -> str:
        ten = self.value + "0123456789X"[sum(int(digit) * place for place, digit in enumerate(self.value, 1)) % 11]
        form = rng.choice([ten, stdnum.isbn.to_isbn13(ten)])
        form = rng.choice([form, stdnum.isbn.format(form)])
        return rng.choice([form, form.lower()])

    def native(self, rng: random.Random) -> str:
        return self.nss(rng)


class Issn(Identifier):
    """`value`: the seven digits before the check digit."""

    nid = "issn"

    def nss(self, rng: random.Random) -> str:
        digits = self.value + stdnum.issn.calc_check_digit(self.value)
        form = rng.choice([digits, stdnum.issn.format(digits)])
        return rng.choice([form, form.lower()])

    def native(self, rng: random.Random) -> str:
        return self.nss(rng)


class Nbn(Identifier):
    """`value`: the NSS in canonical form."""

    nid = "nbn"

    def nss(self, rng: random.Random) -> str:
        prefix, hyphen, name = self.value.partition("-")  # RFC 8458 section 4.3: the prefix in any case
        return _hex_case(rng, (_any_case(rng, prefix) if hyphen else prefix) + hyphen + name)

    def link(self, rng: random.Random) -> str:
        country = self.value[:2]
        return _RESOLVERS.get(country, "https://nbn-resolving.org/") + self.urn(rng)

    def near(self, rng: random.Random) -> Identifier:
        prefix, hyphen, name = self.value.partition("-")
        if prefix.startswith("de"):
            return _german(prefix, _other_digit(rng, name[:-1]))
        swapped = name.swapcase()
        if hyphen and swapped != name and "%" not in name and rng.random() < 0.5:
            return Nbn(f"{prefix}-{swapped}")
        return Nbn(_other_digit(rng, self.value))


def _german(prefix: str, name: str) -> Nbn:
    """With the check digit of the Deutsche Nationalbibliothek."""
    data = f"urn:nbn:{prefix}-{name}".encode()
    return Nbn(f"{prefix}-{name}{dnb_digit(data, 0, len(data), DNB_NUMBERS)}")


class Uuid(Identifier):
    """`value`: in small letters."""

    nid = "uuid"

    def nss(self, rng: random.Random) -> str:
        return _any_case(rng, self.value)

    def native(self, rng: random.Random) -> str:
        return rng.choice(["{}", "{{{}}}"]).format(self.nss(rng))

    def near(self, rng: random.Random) -> Identifier:
        return Uuid(_other_digit(rng, self.value, "0123456789abcdef"))


class Doi(Identifier):
    """`value`: in small letters, as a URN has it."""

    nid = "doi"

    def nss(self, rng: random.Random) -> str:
        return _any_case(rng, self.value)

    def bare(self) -> str:
        return unquote(self.value)

    def native(self, rng: random.Random) -> str:
        name = _any_case(rng, self.value)
        return rng.choice(
            [unquote(name), f"doi:{unquote(name)}", f"https://doi.org/{name}", f"http://dx.doi.org/{name}"]
        )


class Isan(Identifier):
    """`value`: 16 hexadecimal digits."""

    nid = "isan"

    def nss(self, rng: random.Random) -> str:
        return _any_case(rng, stdnum.isan.format(self.value))

    def native(self, rng: random.Random) -> str:
        return f"{rng.choice(['', 'ISAN '])}{stdnum.isan.format(self.value)}"


_RESOLVERS = {
    "fi": "http://urn.fi/",
    "se": "http://urn.kb.se/resolve?urn=",
    "nl": "https://www.persistent-identifier.nl/?identifier=",
    "no": "https://urn.nb.no/",
}


def _slug(rng: random.Random) -> str:
    return "".join(rng.choices("abcdefghkmnprstuvw", k=rng.randint(3, 6)))


def _nbn(rng: random.Random) -> Nbn:
    number = rng.randint(100000, 999999)
    return rng.choice(
        [
            lambda: _german("de:gbv:999", f"{_slug(rng)}-{number}-"),
            lambda: _german("de:101:1", f"20{number}"),
            lambda: _german("de:bvb:99", f"{_slug(rng)}{number}"),
            *[lambda: Nbn(f"fi-fe2026{number}"), lambda: Nbn(f"fi-{_slug(rng)}{number}")],
            *[lambda: Nbn(f"se:uu:diva-{number}"), lambda: Nbn(f"at:at-ubw:1-{number}.{_slug(rng)}-0")],
            *[lambda: Nbn(f"ch:bel-{number}"), lambda: Nbn(f"nl:ui:13-{_slug(rng)}{number}")],
            *[lambda: Nbn(f"no-nb_digibok_{number}"), lambda: Nbn(f"hr:204:{number}")],
            *[lambda: Nbn(f"it:unipd-{number}%2C{_slug(rng)}"), lambda: Nbn(f"cz:aba001-{number}%C3%A9")],
        ]
    )()


def _doi(rng: random.Random) -> Doi:
    number = rng.randint(10000, 99999)
    return Doi(
        rng.choice(
            [
                f"10.9999/{_slug(rng)}.2026.{number}",
                f"10.99999/s{number}-026-0{number}-7",
                f"10.9998/(sici)1999-{number}(199806)49:8%3C693::aid-{_slug(rng)}4%3E3.0.co;2-o",
            ]
        )
    )


_KINDS: tuple[Callable[[random.Random], Identifier], ...] = (
    lambda rng: Isbn(f"{rng.choice(['3', '0', '952', '91', '1'])}{rng.randint(0, 10**9):09}"[:9]),
    _nbn,
    lambda rng: Uuid(str(uuid.UUID(int=rng.getrandbits(128), version=4))),
    _doi,
    lambda rng: Isan(f"{rng.getrandbits(24):012X}{rng.getrandbits(8):04X}"),
)
_PLACEHOLDERS: tuple[Identifier, ...] = (Isbn("000000000"), Uuid("00000000-0000-0000-0000-000000000000"))


# --- records ---------------------------------------------------------------------------------------------------------


class Name(NamedTuple):
    """An own identifier of a record, as written there."""

    scheme: str
    """`urn`, `link`, or what it is natively."""
    text: str


@dataclass(kw_only=True)
class Entry:
    """What a record says, in whatever format."""

    number: str
    work: int
    title: str
    creator: str
    year: int
    own: list[Name] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Sentences, perhaps with a URN."""
    others: list[str] = field(default_factory=list)
    """URNs of other works: of hosts, of what it cites."""

    def of(self, *schemes: str) -> list[str]:
        """Its own identifiers of these schemes."""
        return [name.text for name in self.own if name.scheme in schemes]


_TITLES = ("Gesammelte Werke", "Annual report", "Lähteitä ja tutkimuksia", "Poems & letters", "Die Inseln: eine Reise")
_CREATORS = ("Sand, Mara", "Öhman, Aino", "Vogel, K. <Herausgeber>", "O'Dea, Finn")
_BOUND = ("", "", " (pbk.)", " (geb.) : EUR 24.00", " (hardback : alk. paper)", " kart.")


def _works(rng: random.Random, count: int) -> Iterator[list[list[Identifier]]]:
    """For each work the identifiers of each of its records, such that these hang together."""
    before: list[Identifier] = []
    taken: set[str] = set()
    for _ in range(count):
        records = rng.choices((0, 1, 2, 3, 5), (2, 3, 4, 3, 1))[0]
        names = [rng.choice(_KINDS)(rng) for _ in range(max(records, 1))]
        if before and rng.random() < 0.4:
            names[0] = rng.choice(before).near(rng)
        names = [name for name in names if f"{name.nid}:{name.value}" not in taken] if records else []
        taken.update(f"{name.nid}:{name.value}" for name in names)
        before = names or before
        if not names:
            yield [[]]
        elif rng.random() < 0.5:
            yield [names[max(at - 1, 0) : at + 1] for at in range(len(names))]
        else:
            yield [[names[place] for place in sorted({0, at})] for at in range(len(names))]


def _entries(rng: random.Random, works: int, native: frozenset[str], *, clean: bool, fields: bool) -> list[Entry]:
    """The records of all works, shuffled, with what misleads."""
    titles = [f"{rng.choice(_TITLES)}{rng.choice(['', ' 2', ', 3. Auflage'])}" for _ in range(works)]
    series = [Issn(f"{rng.randint(0, 10**7 - 1):07}") for _ in range(max(works // 6, 1))]
    planned = [(work, names) for work, records in enumerate(_works(rng, works)) for names in records]
    rng.shuffle(planned)  # where a work's records stand tells nothing
    entries = []
    for at, (work, shared) in enumerate(planned):
        names = list(shared)
        if at < 2 or rng.random() < 0.25:
            names.append(series[0] if at < 2 else rng.choice(series))
        if at % 3 == 0 or len(planned) < 3 * (Dump.max_class + 2):
            names.append(_PLACEHOLDERS[0])
        if at % 4 == 0 and len(planned) > 4 * (Dump.max_class + 2):
            names.append(_PLACEHOLDERS[1])
        rng.shuffle(names)
        own = [_written(rng, name, native if fields else frozenset(), clean=clean) for name in names]
        apart = [name for name in own if not fields and rng.random() < 0.3]
        entries.append(
            Entry(
                number=f"{at + 1:08}{'X' if at % 11 == 3 else at % 10}",
                work=work,
                title=titles[work],
                creator=_CREATORS[work % len(_CREATORS)],
                year=1990 + work % 36,
                own=[name for name in own if name not in apart],
                notes=[f'Persistent identifier: {name.text} (2026), "checked"' for name in apart],
            )
        )
    if fields:
        every = [(work, name) for work, names in planned for name in names]
        for entry in entries:
            others = [name for work, name in rng.sample(every, min(4, len(every))) if work != entry.work]
            urns = [name.urn(rng) for name in others]
            entry.notes = [f"Review of <{urn}> & others" for urn in urns[1:2]]
            entry.others = urns[:1] + urns[2:]
    return entries


def _written(rng: random.Random, name: Identifier, native: frozenset[str], *, clean: bool) -> Name:
    """An identifier in one of its spellings, natively if the format has a place for that."""
    if name.nid in native and rng.random() < 0.7:
        text = name.bare() if isinstance(name, Doi) and clean else name.native(rng)
        if name.nid == "isbn":
            text = text.replace("-", "") if clean else rng.choice(["", "", "ISBN "]) + text + rng.choice(_BOUND)
        return Name(name.nid, text)
    return Name("link", name.link(rng)) if rng.random() < 0.3 and not clean else Name("urn", name.urn(rng))


def make_dump(format: str, seed: int, works: int, *, fields: bool = False) -> Dump:  # noqa: A002
    """A dump of so many works, one of FORMATS; with `fields` for a run that goes by the records' own fields.

    Fewer than 12 works have too few records for what misleads by its frequency.
    """
    if works < 12:
        raise ValueError("at least 12 works are wanted")
    rng = random.Random(f"{format} {seed} {works} {fields}")
    writer = WRITERS[format]
    entries = _entries(rng, works, writer.native, clean=writer.clean, fields=fields)
    written = writer.write(rng, entries)
    return Dump(
        format=format,
        name=f"dump{writer.suffix}",
        data=written.head + written.between.join(written.records) + written.tail,
        records=written.records,
        clusters=[entry.work for entry in entries],
        identifiers=[writer.called(entry) for entry in entries],
    )
