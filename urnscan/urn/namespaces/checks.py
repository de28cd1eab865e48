"""The check digits that rules name, each by the algorithm of its standard. A name that comes here fits its grammar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from urnscan.urn.namespaces.check_digits import (
    DNB_NUMBERS,
    dnb_digit,
    isbn_is_right,
    issn_is_right,
    mod_11_2_is_right,
    mod_37_36_is_right,
    mod_97_10_is_right,
)

__all__ = ["CHECKS", "Check"]


@dataclass(frozen=True, slots=True)
class Check:
    """A check digit or character."""

    title: str
    is_right: Callable[[str], bool | None]
    """Whether the check digit of an NSS is right; None if it has none, or none that can be computed."""
    problem: str = "check-digit"
    decides: bool = True
    """Whether a wrong one makes a name invalid, or is only reported."""


def _by(is_right: Callable[[bytes, int, int], bool]) -> Callable[[str], bool]:
    """A check of a whole NSS by a check of octets."""
    return lambda nss: is_right(nss.encode(), 0, len(nss))


def _eic(nss: str) -> bool:
    from stdnum.eu import eic  # noqa: PLC0415 (loaded only if used)

    return bool(eic.is_valid(nss))


def _dnb(nss: str) -> bool | None:
    if not nss.startswith(("de:", "de-")):
        return None
    name = f"urn:nbn:{nss}".encode()
    digit = dnb_digit(name, 0, len(name) - 1, DNB_NUMBERS)
    return None if digit == -1 else str(digit) == nss[-1]


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "isbn": Check("ISBN-10 modulo 11, ISBN-13 modulo 10 (ISO 2108)", _by(isbn_is_right)),
        "issn": Check("modulo 11 with weights 8 to 2 (ISO 3297)", _by(issn_is_right)),
        "mod_11_2": Check("ISO/IEC 7064 MOD 11-2", _by(mod_11_2_is_right)),
        "mod_97_10": Check("ISO/IEC 7064 MOD 97-10", _by(mod_97_10_is_right)),
        "mod_37_36": Check("ISO/IEC 7064 MOD 37,36", _by(mod_37_36_is_right)),
        "eic": Check("the check character of the EIC reference manual", _eic),
        "dnb": Check(
            "the check digit of the Deutsche Nationalbibliothek", _dnb, problem="dnb-check-digit", decides=False
        ),
    }
)
