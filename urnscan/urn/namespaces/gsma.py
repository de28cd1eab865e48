"""IMEI and IMEISV and their URNs: RFC 7254 §3, §4; 3GPP TS 23.003 §6 and Annex B.

An IMEI has 14 digits, eight for the type (TAC) and six for the device, and where people read it the check digit behind
them. In a URN the digit behind them is spare and always 0 (§4.2.3). An IMEISV has the two digits of the software
version instead, which in the URN become the parameter `svn` (§4.1).
"""

from __future__ import annotations

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN

__all__ = ["from_urn", "to_urn"]

_IMEI = Native(
    nid="gsma",
    kind="IMEI",
    label=regex.compile(r"(?i:imei(?:/?sv)?)\s*:?\s*"),
    form=regex.compile(r"(?:[0-9][- ]?){13}[0-9](?:[- ]?[0-9]){0,2}"),
    wanted="14 digits, 15 with the check digit (or the spare 0), 16 with the software version, as in 49-015420-323751-8",
)
_NAME = regex.compile(r"imei:(?P<type>[0-9]{8})-(?P<serial>[0-9]{6})-(?P<spare>[0-9])(?:;svn=(?P<version>[0-9]{2}))?")


def to_urn(identifier: str) -> str:
    """The URN of an IMEI (14 or 15 digits) or IMEISV (16 digits).

    White space and a label (`IMEI`, `IMEISV:`) around it, hyphens and spaces in it are cut. A 15th digit is the check
    digit, or 0, the spare of signalling messages; the URN has 0 there in any case. Raises ValueError for anything else.

    >>> to_urn("IMEI 49-015420-323751-8"), to_urn("9042015602576342")
    ('urn:gsma:imei:49015420-323751-0', 'urn:gsma:imei:90420156-025763-0;svn=42')
    """
    from stdnum import luhn  # noqa: PLC0415 (loaded only if used)

    digits = _IMEI.compact(identifier)
    device, rest = digits[:14], digits[14:]
    if len(rest) == 1 and rest not in ("0", luhn.calc_check_digit(device)):
        raise _IMEI.error(identifier, "the check digit is wrong")
    version = f";svn={rest}" if len(rest) == 2 else ""
    return _IMEI.urn(f"imei:{device[:8]}-{device[8:]}-0{version}", identifier)


def from_urn(urn: str | URN) -> str:
    """The IMEI of a URN with its check digit, the IMEISV of one that tells the software version, grouped by hyphens.

    Where a URN has the check digit already, its IMEI is the same as that of the URN with 0, which is another name.
    Raises InvalidURN for what is no URN, ValueError for another namespace, for names that hold no IMEI of this form,
    and for those with a digit that is neither 0 nor the check digit.

    >>> from_urn("urn:gsma:imei:49015420-323751-0;vers=0"), from_urn("urn:gsma:imei:90420156-025763-0;svn=42")
    ('49-015420-323751-8', '90-420156-025763-42')
    """
    from stdnum import imei, luhn  # noqa: PLC0415 (loaded only if used)

    nss = _IMEI.nss(urn)
    name = _NAME.fullmatch(nss)
    if name is None:
        raise _IMEI.error(nss, "it has another form than the IMEI of RFC 7254 §3")
    device = name["type"] + name["serial"]
    check = luhn.calc_check_digit(device)
    if name["spare"] not in ("0", check):
        raise _IMEI.error(nss, "its last digit is neither 0 nor the check digit")
    return str(imei.format(device + (name["version"] or check)))
