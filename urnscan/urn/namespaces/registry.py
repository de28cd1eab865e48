"""The IANA registry of URN namespaces, and the standing of a NID (RFC 8141 §5, RFC 3406 §3).

The table is `urn-namespaces.csv` beside this file, as read from the registry on the date in
`urn-namespaces.SOURCE.txt`.

>>> nid_status("isbn"), nid_status("urn-5"), nid_status("x-test"), nid_status("xn--a"), nid_status("hathi")
('formal', 'informal', 'experimental', 'reserved', 'unregistered')
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

import regex

from urnscan.urn.syntax import as_text

__all__ = ["Namespace", "NidStatus", "nid_status", "registered"]

NidStatus = Literal["formal", "informal", "experimental", "reserved", "unregistered"]

_RESERVED = regex.compile("[a-z][a-z]-.*|urn-[0-9]+")


@dataclass(frozen=True, slots=True)
class Namespace:
    """An entry of the registry."""

    nid: str
    """The NID as registered."""
    kind: Literal["formal", "informal"]
    """Formal namespaces have a name, informal ones a number (`urn-5`)."""
    reference: str
    """RFC numbers and addresses of registration templates, joined by "; "."""
    description: str
    """Description in the registry."""


@functools.cache
def registered() -> Mapping[str, Namespace]:
    """The registered namespaces by their NID in lower case (RFC 8141 §5).

    >>> registered()["nbn"].reference
    'https://www.iana.org/assignments/urn-formal/nbn; RFC8458'
    """
    with (files(__package__) / "urn-namespaces.csv").open(encoding="utf-8") as table:
        return MappingProxyType({row["nid"].lower(): Namespace(**row) for row in csv.DictReader(table)})  # type: ignore[arg-type]


def nid_status(nid: str) -> NidStatus:
    """The standing of a NID, in any case. It is no reason to doubt that a match is a URN.

    `formal` and `informal` are registered; `experimental` is `X-…` (RFC 3406 §3.1); `reserved` are two letters and a
    hyphen, among them `xn--` (RFC 8141 §5.1), and unregistered numbers of informal namespaces (§5.2). All other
    texts are `unregistered`, also those that cannot be a NID. Raises TypeError for a value that is no text.

    >>> nid_status("ISBN"), nid_status("x-test"), nid_status("urn-4711"), nid_status("hathi")
    ('formal', 'experimental', 'reserved', 'unregistered')
    """
    nid = as_text("a NID", nid).lower()
    if nid in registered():
        return registered()[nid].kind
    if nid.startswith("x-"):
        return "experimental"
    return "reserved" if _RESERVED.fullmatch(nid) else "unregistered"
