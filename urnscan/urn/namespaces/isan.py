"""ISAN and their URNs: RFC 4246 §2, §3; ISO 15706."""

from __future__ import annotations

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_GROUP = "[0-9A-Fa-f]{4}[- ]?"
_CHECK = "[0-9A-Za-z]"
_ISAN = Native(
    nid="isan",
    kind="ISAN",
    label=regex.compile(r"(?i:v?-?isan)\s*:?\s*"),
    # Two check characters or none: one alone could be the root's or the version's.
    form=regex.compile(
        rf"(?:{_GROUP}){{4}}{_CHECK}(?:[- ]?(?:{_GROUP}){{2}}{_CHECK})?"
        "|(?:[0-9A-Fa-f]{4}[- ]?){3}[0-9A-Fa-f]{4}(?:(?:[- ]?[0-9A-Fa-f]{4}){2})?"
    ),
    wanted="16 hexadecimal digits, or 24 with a version, in fours, each part with its check character or both without, "
    "as in 0000-0000-D07A-0090-Q-0000-0000-X",
)


def to_urn(identifier: str) -> str:
    """The URN of an ISAN, with or without a version, in the canonical form of its namespace.

    White space and a label (`ISAN`) around it are cut, hyphens (which may be spaces or missing) are set, and the check
    characters, which every URN has (RFC 4246 §3), are added where it comes without any. Raises ValueError for what is
    no ISAN or has a wrong check character.

    >>> to_urn("ISAN 0000 0000 D07A 0090")
    'urn:isan:0000-0000-D07A-0090-Q'
    """
    from stdnum import isan  # noqa: PLC0415 (loaded only if used)

    number = _ISAN.compact(identifier)
    if not isan.is_valid(number):  # the registration names no algorithm, so that its grammar does not check this
        raise _ISAN.error(identifier, "a check character is wrong: ISO/IEC 7064 MOD 37,36")
    return _ISAN.urn(isan.format(number), identifier)


def from_urn(urn: str | URN) -> str:
    """The ISAN of a URN in capital letters and with hyphens, without "ISAN" before it.

    Check characters are added where the URN has none, and not verified where it has: the two examples of RFC 4246 §2
    fail, and `to_urn` does not take them. Raises InvalidURN for what is no URN, ValueError for another namespace and
    for what is no ISAN.

    >>> from_urn("urn:isan:0000-0000-d07a-0090-q-0000-0000-x")
    '0000-0000-D07A-0090-Q-0000-0000-X'
    """
    from stdnum import isan  # noqa: PLC0415 (loaded only if used)

    return str(isan.format(_ISAN.compact(_ISAN.nss(urn))))
