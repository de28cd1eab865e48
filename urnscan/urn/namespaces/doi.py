"""DOI names and their URNs: IANA template of urn:doi, "Character set" and "Syntax"; ISO 26324, DOI Handbook.

What a URN cannot hold is percent-encoded as UTF-8. Slashes and other reserved characters that it can hold stay (RFC
3986 §2.2), as they do in the addresses at doi.org: "the same rule is applied in creating a URN". ASCII letters are
equal in any case.
"""

from __future__ import annotations

from urllib.parse import unquote

import regex

from urnscan.urn.namespaces.native import Native
from urnscan.urn.parser import URN, encode_nss

__all__ = ["from_urn", "to_urn"]

_DOI = Native(
    nid="doi",
    kind="DOI",
    label=regex.compile(r"(?i:(?:info:doi/|doi(?!\.org/))\s*+:?+\s*+)?"),
    # Printable characters, spaces inside only. "Directory indicator" and registrant code are numbers by practice, which
    # there is no plan to change.
    form=regex.compile(r"[0-9]++(?:\.[0-9]++)*+/(?: *+[^\p{C}\p{Z}]++)++"),
    wanted="numbers joined by full stops, a slash and printable characters, as in 10.1000/182",
)
_ADDRESS = regex.compile(r"(?i:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/(?:(?:urn:)?doi:)?)")
_COLON = regex.compile("([0-9.]++):")
_BARE_PERCENT = regex.compile("%(?![0-9A-Fa-f]{2})")


def to_urn(identifier: str) -> str:
    """The URN of a DOI in the canonical form of its namespace.

    White space and a label (`doi:`, `DOI`) around it are cut; of an address (`https://doi.org/`) the path is decoded.
    Raises ValueError for anything else, also for an address with a bare `?` or `#`, of which nobody knows whether it
    belongs to the DOI.

    >>> to_urn("doi:10.1000/456#789"), to_urn("https://doi.org/10.1000/456%23789")
    ('urn:doi:10.1000/456%23789', 'urn:doi:10.1000/456%23789')
    """
    doi = _DOI.bare(identifier)
    address = _ADDRESS.match(doi)
    if address:
        doi = doi[address.end() :]
        if "?" in doi or "#" in doi:
            raise _DOI.error(identifier, "a ? or # that belongs to a DOI is encoded in an address, as %3F or %23")
        doi = _decoded(doi, identifier)
    if _DOI.form.fullmatch(doi) is None:
        raise _DOI.error(identifier, _DOI.why_not(doi))
    return _DOI.urn("/".join(part and encode_nss(part) for part in doi.split("/")), identifier)


def from_urn(urn: str | URN) -> str:
    """The DOI of a URN, decoded, without "doi:" before it.

    A URN in which more is encoded than must be, or which has a colon for the first slash (DOI Handbook, "Encoding Rules
    for URL Presentation"), is another name by the registration; it leads to the same DOI. Raises InvalidURN for what is
    no URN, ValueError for another namespace and for what is no DOI.

    >>> from_urn("URN:DOI:10.1000/456%23789")
    '10.1000/456#789'
    """
    nss = _DOI.nss(urn)
    colon = _COLON.match(nss)
    doi = _decoded(f"{colon[1]}/{nss[colon.end() :]}" if colon else nss, nss)
    if _DOI.form.fullmatch(doi) is None:
        raise _DOI.error(nss, _DOI.why_not(doi))
    return doi


def _decoded(text: str, identifier: str) -> str:
    """Percent-encoding undone; raises ValueError where it is none, or none of UTF-8."""
    if _BARE_PERCENT.search(text):
        raise _DOI.error(identifier, 'a "%" without two hex digits behind it')
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise _DOI.error(identifier, "what is percent-encoded in it is no UTF-8") from None
