"""Native identifiers (ISBN, DOI, …) and their URNs, for namespaces whose registration defines the conversion.

Each namespace has an object with the methods `to_urn` and `from_urn`: `isbn.to_urn("0-395-36341-1")`.
"""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import unquote
from uuid import UUID

from urnscan.urn.namespaces.native import Native
from urnscan.urn.numbers import isbn as isbn_number
from urnscan.urn.numbers import issn as issn_number
from urnscan.urn.parser import encode_nss
from urnscan.urn.syntax import pattern_of, percent_encoded


class Doi(Native):
    """Converter between DOI names and `urn:doi`, by the IANA template ("Character set", "Syntax"), ISO 26324 and the
    DOI Handbook.

    `to_urn` percent-encodes `%`, `?`, `#` and each character that RFC 2141 does not allow in a URN, such as `&`. By the
    registration, slashes stay, and ASCII letters are equal in any case.

    `to_urn` decodes the path of an address (`https://doi.org/`). It refuses an address with a bare `?` or `#`, which
    may not belong to the DOI. A URN with more encodings than necessary, or with a colon instead of the first slash, is
    another name by the registration; `from_urn` returns the same DOI.

    >>> doi.to_urn("doi:10.1000/456#789"), doi.to_urn("https://doi.org/10.1000/456%23789")
    ('urn:doi:10.1000/456%23789', 'urn:doi:10.1000/456%23789')
    >>> doi.from_urn("URN:DOI:10.1000/456%23789")
    '10.1000/456#789'
    """

    nid = "doi"
    kind = "DOI"
    label = r"(?i:(?:info:doi/|doi(?!\.org/))\s*+:?+\s*+)?"
    # The suffix has printable characters, and spaces only between them. That "directory indicator" and registrant code
    # are numbers is only practice, but nobody plans to change it.
    form = r"[0-9]++(?:\.[0-9]++)*+/(?: *+[^\p{C}\p{Z}]++)++"
    wanted = "numbers joined by full stops, a slash and printable characters, as in 10.1000/182"
    _address = r"(?i:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/(?:(?:urn:)?doi:)?)"

    def _nss(self, identifier: str) -> str:
        name = self._bare(identifier)
        address = pattern_of(self._address).match(name)
        if address:
            name = name[address.end() :]
            if "?" in name or "#" in name:
                reason = "a ? or # that belongs to a DOI is encoded in an address, as %3F or %23"
                raise self._error(identifier, reason)
            name = self._decoded(name, identifier)
        return "/".join(part and encode_nss(part) for part in self._formed(name, identifier).split("/"))

    def _identifier(self, nss: str) -> str:
        return self._formed(self._decoded(pattern_of("^([0-9.]++):").sub(r"\1/", nss), nss), nss)

    def _decoded(self, text: str, identifier: str) -> str:
        if pattern_of("%(?![0-9A-Fa-f]{2})").search(text):
            raise self._error(identifier, 'a "%" without two hex digits after it')
        try:
            return unquote(text, errors="strict")
        except UnicodeDecodeError:
            raise self._error(identifier, "what is percent-encoded in it is not UTF-8") from None


class Eidr(Native):
    """Converter between EIDR identifiers, which are DOIs, and `urn:eidr`: RFC 7972 §1, §2; SMPTE RP 2079.

    A URN has a colon instead of the slash. Results are in capital letters. `to_urn` accepts only DOIs that begin with
    10.5240, also with their address (`https://doi.org/10.5240/…`). `from_urn` accepts any prefix.

    >>> eidr.to_urn("10.5240/7791-8534-2C23-9030-8610-5")
    'urn:eidr:10.5240:7791-8534-2C23-9030-8610-5'
    >>> eidr.from_urn("urn:eidr:10.5240:7791-8534-2c23-9030-8610-5")
    '10.5240/7791-8534-2C23-9030-8610-5'
    """

    nid = "eidr"
    kind = "EIDR identifier"
    label = r"(?i:(?:(?:doi(?!\.org/)|eidr)\s*:?\s*)?(?:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/)?)"
    form = r"10\.5240/(?:[0-9A-Fa-f]{4}-){5}[0-9A-Za-z]"
    wanted = (
        "10.5240/, five groups of four hexadecimal digits and a check character, "
        "as in 10.5240/7791-8534-2C23-9030-8610-5"
    )

    def _nss(self, identifier: str) -> str:
        return self._written(identifier).replace("/", ":")

    def _identifier(self, nss: str) -> str:
        return nss.replace(":", "/", 1)


class Ietf(Native):
    """Converter between numbers of RFC, BCP, STD and FYI documents and `urn:ietf`: RFC 2648 §2.

    `to_urn` accepts a space, a hyphen, a colon or nothing between the series and the number. Results have no leading
    zeros. `from_urn` refuses other names in `ietf` (drafts, meetings, parameters of protocols). A URN with leading
    zeros is another name, but `from_urn` returns the same document.

    >>> ietf.to_urn("BCP0014"), ietf.from_urn("URN:IETF:RFC:2648")
    ('urn:ietf:bcp:14', 'RFC 2648')
    """

    nid = "ietf"
    kind = "number of an RFC, BCP, STD or FYI"
    form = r"(?i:rfc|bcp|std|fyi)[- :]?0*+[1-9][0-9]*+"
    wanted = "the series and a number, as in RFC 2648"

    def _nss(self, identifier: str) -> str:
        text = self._compact(identifier)
        return f"{text[:3]}:{text[3:].lstrip(':0')}"

    def _identifier(self, nss: str) -> str:
        return self._nss(nss).replace(":", " ")


class Isan(Native):
    """Converter between ISANs (International Standard Audiovisual Numbers), with or without a version, and `urn:isan`:
    RFC 4246 §2, §3; ISO 15706.

    Results are in capital letters with hyphens and check characters; missing check characters are added, because every
    URN has them (RFC 4246 §3). `to_urn` refuses wrong check characters; `from_urn` does not verify them.

    >>> isan.to_urn("ISAN 0000 0000 D07A 0090"), isan.from_urn("urn:isan:0000-0000-d07a-0090-q-0000-0000-x")
    ('urn:isan:0000-0000-D07A-0090-Q', '0000-0000-D07A-0090-Q-0000-0000-X')
    """

    nid = "isan"
    kind = "ISAN"
    label = r"(?i:v?-?isan)\s*:?\s*"
    # Two check characters or none: one alone could be the root's or the version's.
    form = (
        "(?:[0-9A-Fa-f]{4}[- ]?){4}[0-9A-Za-z](?:[- ]?(?:[0-9A-Fa-f]{4}[- ]?){2}[0-9A-Za-z])?"
        "|(?:[0-9A-Fa-f]{4}[- ]?){3}[0-9A-Fa-f]{4}(?:(?:[- ]?[0-9A-Fa-f]{4}){2})?"
    )
    wanted = (
        "16 hexadecimal digits, or 24 with a version, in fours, each part with its check character or both without, "
        "as in 0000-0000-D07A-0090-Q-0000-0000-X"
    )

    def _nss(self, identifier: str) -> str:
        from stdnum import isan  # noqa: PLC0415 (loaded only if used)

        # `_judged` does not check the check characters, because the registration names no algorithm.
        if not isan.is_valid(self._compact(identifier)):
            raise self._error(identifier, "a check character is wrong: ISO/IEC 7064 MOD 37,36")
        return self._identifier(identifier)

    def _identifier(self, nss: str) -> str:
        from stdnum import isan  # noqa: PLC0415 (loaded only if used)

        return str(isan.format(self._compact(nss)))


class Isbn(Native):
    """Converter between ISBNs and `urn:isbn`: IANA template, "Syntax" and "Rules for Lexical Equivalence"; ISO 2108.

    `to_urn` accepts hyphens and spaces, and converts an ISBN-10 to an ISBN-13. `from_urn` returns a hyphenated ISBN-13;
    some hyphens are missing if the ranges of its group or registrant are not known.

    >>> isbn.to_urn("ISBN 0-395-36341-1"), isbn.from_urn("URN:ISBN:0395363411")
    ('urn:isbn:9780395363416', '978-0-395-36341-6')
    """

    nid = "isbn"
    kind = "ISBN"
    label, form, wanted = isbn_number.LABEL, isbn_number.FORM, isbn_number.WANTED

    def _identifier(self, nss: str) -> str:
        from stdnum import isbn  # noqa: PLC0415 (loaded only if used: it reads the table of all ranges)

        # `_compact` refuses prefixes other than 978 and 979, which the grammar of the namespace allows for the future.
        return str(isbn.format(self._compact(nss)))


class Isni(Native):
    """Converter between ISNIs (International Standard Name Identifiers) and `urn:isni`: IANA template, "Syntax" and
    "Rules for lexical equivalence"; ISO 27729.

    `to_urn` accepts an ISNI with or without spaces and hyphens, or its address (`https://isni.org/isni/`). `from_urn`
    returns blocks of four characters.

    >>> isni.to_urn("ISNI 0000 0001 2124 1960"), isni.from_urn("urn:isni:000000012150090x")
    ('urn:isni:0000000121241960', '0000 0001 2150 090X')
    """

    nid = "isni"
    kind = "ISNI"
    label = r"(?i:(?:isni(?!\.org/)\s*:?\s*)?(?:(?:https?://)?(?:www\.)?isni\.org/(?:isni/)?)?)"
    form = "(?:[0-9]{4}[- ]?){3}[0-9]{3}[0-9Xx]"
    wanted = "16 digits, the last perhaps X, with spaces between blocks of four, as in 0000 0001 2124 1960"

    def _identifier(self, nss: str) -> str:
        from stdnum import isni  # noqa: PLC0415 (loaded only if used)

        return str(isni.format(nss))


class Issn(Native):
    """Converter between ISSNs and `urn:issn`: IANA template, "Syntax" and "Rules for Lexical Equivalence"; ISO 3297.

    Results have a hyphen after the fourth digit; X is a capital letter.

    >>> issn.to_urn("issn 1050124x"), issn.from_urn("urn:ISSN:03178471")
    ('urn:issn:1050-124X', '0317-8471')
    """

    nid = "issn"
    kind = "ISSN"
    label, form, wanted = issn_number.LABEL, issn_number.FORM, issn_number.WANTED


class Lei(Native):
    """Converter between LEIs (Legal Entity Identifiers) and `urn:lei`: IANA template, "Syntax"; ISO 17442.

    Results are in capital letters.

    >>> lei.to_urn("LEI: 7ltwfzyicnsx8d621k86"), lei.from_urn("urn:LEI:7LTWFZYICNSX8D621K86")
    ('urn:lei:7LTWFZYICNSX8D621K86', '7LTWFZYICNSX8D621K86')
    """

    nid = "lei"
    kind = "LEI"
    label = r"(?i:lei)(?:\s*:\s*|\s+)"
    form = "[0-9A-Za-z]{18}[0-9]{2}"
    wanted = "18 letters and digits and two check digits, as in 7LTWFZYICNSX8D621K86"

    def _identifier(self, nss: str) -> str:
        return self._judged(nss.upper(), nss)


class Oid(Native):
    """Converter between object identifiers in dotted notation and `urn:oid`: RFC 3061 §2.

    >>> oid.to_urn("oid:1.3.6.1.4.1"), oid.from_urn("URN:OID:0.9.2342.19200300.100.4")
    ('urn:oid:1.3.6.1.4.1', '0.9.2342.19200300.100.4')
    """

    nid = "oid"
    kind = "object identifier"
    label = r"(?i:oid)\s*:?\s*"
    form = r"(?:0|[1-9][0-9]*+)(?:\.(?:0|[1-9][0-9]*+))*+"
    wanted = "numbers without leading zeros, joined by full stops, as in 1.3.6.1"


class PublicId(Native):
    """Converter between public identifiers of SGML and XML and `urn:publicid`: RFC 3151 §1.1, §2.

    `to_urn` normalises white space (§1.1) and transcribes by the rules of §2: a space becomes `+`, `//` becomes `:`,
    `::` becomes `;`. `from_urn` also reads other spellings of the same identifier (`%2F%2F` for `:`).

    >>> publicid.to_urn("-//OASIS//DTD DocBook XML V4.1.2//EN")
    'urn:publicid:-:OASIS:DTD+DocBook+XML+V4.1.2:EN'
    >>> publicid.from_urn("urn:publicid:ISO%2FIEC+10179%3A1996:DTD+DSSSL+Architecture:EN")
    'ISO/IEC 10179:1996//DTD DSSSL Architecture//EN'
    """

    nid = "publicid"
    kind = "public identifier"
    # Production 13 of XML 1.0, normalised.
    form = r"[A-Za-z0-9 '()+,./:=?;!*#@$_%-]+"
    wanted = "ASCII letters, digits, spaces and -'()+,./:=?;!*#@$_%, as in -//OASIS//DTD DocBook XML V4.1.2//EN"
    _transcribed: ClassVar = {" ": "+", "//": ":", "::": ";"}
    _special: ClassVar = str.maketrans({"+": " ", ":": "//", ";": "::"})

    def _nss(self, identifier: str) -> str:
        text = self._formed(self._normalised(self._bare(identifier)), identifier)
        special = pattern_of("//|::|[ +:/;'?#%]")
        return special.sub(lambda match: self._transcribed.get(match[0]) or percent_encoded(match[0].encode()), text)

    def _identifier(self, nss: str) -> str:
        text = self._formed(unquote(nss.translate(self._special)), nss)
        if text != self._normalised(text):
            raise self._error(nss, "its white space is not normalised (RFC 3151 §1.1)")
        return text

    def _normalised(self, text: str) -> str:
        return pattern_of("[\x20\x09\x0d\x0a]+").sub(" ", text).strip(" ")


class Uuid(Native):
    """Converter between UUIDs of any version and `urn:uuid`: RFC 4122 §3, RFC 9562 §4.

    Results are in small letters with hyphens. `to_urn` also accepts a UUID in braces or without hyphens.

    >>> uuid.to_urn("{F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6}")
    'urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6'
    >>> uuid.from_urn("urn:uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6")
    'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'
    """

    nid = "uuid"
    kind = "UUID"
    label = r"(?i:[ug]uid)\s*:?\s*"
    _plain = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
    form = rf"{_plain}|\{{{_plain}\}}|[0-9A-Fa-f]{{32}}"
    wanted = "32 hexadecimal digits, grouped by hyphens as in f81d4fae-7dec-11d0-a765-00a0c91e6bf6, or without any"

    def _nss(self, identifier: str) -> str:
        return str(UUID(self._compact(identifier)))


doi, eidr, ietf, isan, isbn, isni = Doi(), Eidr(), Ietf(), Isan(), Isbn(), Isni()
issn, lei, oid, publicid, uuid = Issn(), Lei(), Oid(), PublicId(), Uuid()
