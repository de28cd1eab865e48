"""The check digits and characters of names, each by the algorithm that its standard gives.

`python-stdnum` has nearly all of them. A name that comes here fits the grammar of its namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["CHECKS", "DNB_NUMBERS", "Check", "dnb_digit"]


@dataclass(frozen=True, slots=True)
class Check:
    """A check digit or character."""

    title: str
    is_right: Callable[[str], bool | None]
    """Whether that of a NSS is right; None where it has none, or none that can be computed."""
    problem: str = "check-digit"
    decides: bool = True
    """Whether a wrong one makes a name invalid; otherwise it is only told."""


def _isbn(nss: str) -> bool:
    from stdnum import isbn  # noqa: PLC0415 (loaded when used, like all of that library: it takes longer than ours)

    return bool(isbn.is_valid(nss))


def _issn(nss: str) -> bool:
    from stdnum import issn  # noqa: PLC0415

    return bool(issn.is_valid(nss))


def _mod_11_2(nss: str) -> bool:
    from stdnum.iso7064 import mod_11_2  # noqa: PLC0415

    return bool(mod_11_2.is_valid(_characters(nss)))


def _mod_97_10(nss: str) -> bool:
    from stdnum.iso7064 import mod_97_10  # noqa: PLC0415

    return bool(mod_97_10.is_valid(_characters(nss)))


def _mod_37_36(nss: str) -> bool:
    from stdnum.iso7064 import mod_37_36  # noqa: PLC0415

    return bool(mod_37_36.is_valid(_characters(nss.rpartition(":")[2])))  # of an EIDR what follows the prefix


def _eic(nss: str) -> bool:
    from stdnum.eu import eic  # noqa: PLC0415

    return bool(eic.is_valid(nss))


def _characters(nss: str) -> str:
    return nss.replace("-", "").upper()


_DNB_TABLE = (
    "0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l m n o p q r s t u v w x y z + : _ - . /",
    "1 2 3 4 5 6 7 8 9 41 18 14 19 15 16 21 22 23 24 25 42 26 27 13 28 29 31 12 32 33 11 34 35 36 37 38 49 17 43 39 47 45",
)
DNB_NUMBERS = dict(zip(_DNB_TABLE[0].split(), map(int, _DNB_TABLE[1].split()), strict=True))
"""The number of each character that a name with a check digit of the Deutsche Nationalbibliothek may hold."""


def dnb_digit(name: str) -> str | None:
    """The check digit of the Deutsche Nationalbibliothek for a name without it, `urn:nbn:` included; None where `name`
    holds what has no number in its table.

    https://www.persistent-identifier.de/?link=316: characters become numbers, written one after the other; the digits
    are multiplied by their places and added up; the sum is divided by the last digit, and the last digit of what comes
    out is the check digit.

    >>> dnb_digit("urn:nbn:de:gbv:089-332175294")
    '5'
    """
    try:
        digits = [int(digit) for character in name.lower() for digit in str(DNB_NUMBERS[character])]
    except KeyError:
        return None
    total = sum(place * digit for place, digit in enumerate(digits, 1))
    return str(total // digits[-1] % 10)


def _dnb(nss: str) -> bool | None:
    if not nss.startswith(("de:", "de-")):
        return None
    name = f"urn:nbn:{nss}"
    digit = dnb_digit(name[:-1])
    return None if digit is None else digit == name[-1]


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "isbn": Check("ISBN-10 modulo 11, ISBN-13 modulo 10 (ISO 2108)", _isbn),
        "issn": Check("modulo 11 with weights 8 to 2 (ISO 3297)", _issn),
        "mod_11_2": Check("ISO/IEC 7064 MOD 11-2", _mod_11_2),
        "mod_97_10": Check("ISO/IEC 7064 MOD 97-10", _mod_97_10),
        "mod_37_36": Check("ISO/IEC 7064 MOD 37,36", _mod_37_36),
        "eic": Check("the check character of the EIC reference manual", _eic),
        "dnb": Check(
            "the check digit of the Deutsche Nationalbibliothek", _dnb, problem="dnb-check-digit", decides=False
        ),
    }
)
