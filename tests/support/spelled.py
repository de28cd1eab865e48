"""What is wrong with spellings, said a second time: from docs/reference/problems.md, with the oracle's patterns.

>>> spelled("urn:ab:c?+r?=a#%D0%B0bc", "rfc8141")
({'r_component': 'r', 'q_component': 'a', 'f_component': '%D0%B0bc'}, ['mixed-scripts', 'confusable'])
>>> joined(["confusable"], ["nss-grammar", "nul-octet"])
'nss-grammar; nul-octet; confusable'
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote_to_bytes

from tests.support.misleading import misleading
from tests.support.oracle import COMPILED

CODES = [
    *["nss-grammar", "check-digit", "untrimmed", "run-on", "template", "dnb-check-digit", "nul-octet"],
    *["repeated-keyword", "mixed-scripts", "confusable", "invisible-character", "not-utf-8", "needless-encoding"],
    *["not-nfc", "compatibility-character", "component-not-adopted"],
]
"""In the order in which the column `problem` has them."""


def spelled(text, syntax):
    """The components of a URN by the names of their columns, and the codes of what is wrong with it."""
    parts = {
        name: value.decode()
        for name, value in COMPILED[syntax].fullmatch(text.encode()).groupdict().items()
        if value is not None
    }
    rest, found = text.split(":", 2)[2], []
    keywords = (
        [each.split("=")[0] for each in parts["q"].split("&")] if syntax == "rfc2141bis-03" and "q" in parts else []
    )
    encoded = [unquote_to_bytes(each) for each in re.findall("%..", text)]
    found += ["nul-octet"] * (b"\0" in encoded) + ["repeated-keyword"] * (len(set(keywords)) < len(keywords))
    found += ["needless-encoding"] * any(each.isalnum() for each in encoded)
    try:
        unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        found.append("not-utf-8")
    text_of = unquote_to_bytes(rest).decode(errors="replace")
    found += ["not-nfc"] * (unicodedata.normalize("NFC", text_of) != text_of)
    found += ["compatibility-character"] * any(unicodedata.decomposition(char).startswith("<") for char in text_of)
    found += ["component-not-adopted"] * (syntax == "rfc2141bis-03" and not {"q", "f"}.isdisjoint(parts))
    found += [*misleading(parts["nss"]), *misleading(rest)]
    components = {f"{name}_component": parts.get(name) for name in "rqf"}
    return components, [code for code in CODES if code in found]


def joined(*codes):
    """Several lists of codes as the column `problem` has them together."""
    found = {code for each in codes for code in each}
    return "; ".join(code for code in CODES if code in found) or None
