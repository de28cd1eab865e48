"""Records as text that a person reads, one line for each field where the format has no lines of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from urnscan.records import marc

__all__ = ["shown"]

_CONTROL = re.compile("[\0-\x1f\x7f]+")  # what would end the line of a field, or is not seen


def shown(format_name: str, octets: bytes) -> str:
    r"""A record of a format by its name in formats.py. Nothing raises: what cannot be read is shown as it stands.

    >>> print(shown("pica", b"021A \x1faDie Uhrmacher\x1fhA. Wimpelfeld\x1e\n"))
    021A $aDie Uhrmacher$hA. Wimpelfeld
    """
    return _SHOWN.get(format_name, _decoded)(octets)


def _decoded(octets: bytes) -> str:
    return octets.decode("utf-8", "replace")


def _marc(octets: bytes) -> str:
    """As in editors of MARC: tag, indicators, subfields with `$` before their codes."""
    try:
        fields = [_field(tag, value) for tag, value in marc.fields(octets)]
    except ValueError:
        return _decoded(octets)
    return "\n".join((f"LDR    {_line(octets[:24])}", *fields))


def _field(tag: bytes, value: bytes) -> str:
    indicators, *subfields = value.split(b"\x1f")
    if not subfields:
        return f"{_line(tag)}    {_line(value)}"
    return " ".join(
        (f"{_line(tag)} {_line(indicators):2}", *(f"${_line(each[:1])} {_line(each[1:])}" for each in subfields))
    )


def _pica(octets: bytes) -> str:
    """The plain form (https://format.gbv.de/pica/plain): a dollar in a value is doubled."""
    return "\n".join(_pica_fields(octets))


def _pica_fields(octets: bytes) -> Iterator[str]:
    for field in octets.strip(b"\r\n\x1d").split(b"\x1e"):
        if field:
            yield "$".join(_line(each.replace(b"$", b"$$")) for each in field.split(b"\x1f"))


def _line(octets: bytes) -> str:
    return _CONTROL.sub(" ", _decoded(octets))


_SHOWN: Mapping[str, Callable[[bytes], str]] = MappingProxyType({"marc": _marc, "pica": _pica})
