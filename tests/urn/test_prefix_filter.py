"""Beginnings of names, as `--nid`, `--not-nid` and `--weak` have them."""

import re

import numpy as np
import pytest

from urnscan.compiled.jit import compiled, read_only
from urnscan.urn.prefix_filter import begins, compiled_beginnings, read_beginnings
from urnscan.urn.syntax import get_syntax

RFC2141 = get_syntax("rfc2141")


@compiled
def in_bytes(data, beginnings):
    """Python cannot call `begins` itself."""
    return begins(data, 4, len(data), beginnings)


def has(urn, *beginnings, syntax=RFC2141):
    read = read_beginnings("nid", beginnings, syntax)
    return bool(in_bytes(read_only(np.frombuffer(urn.encode(), np.uint8)), compiled_beginnings(read)))


@pytest.mark.full
@pytest.mark.parametrize(
    ("beginning", "those", "others"),
    [
        ("isbn", "urn:isbn:1 URN:ISBN:x", "urn:isbn-x:1 urn:isb:1 urn:isbnn:1 urn:issn:isbn"),
        ("nbn:de", "urn:nbn:de:1 urn:nbn:de-1 urn:NBN:DE:1 urn:nbn:de urn:nbn:de%20", "urn:nbn:den:1 urn:nbn:de1 urn:nbn:d"),
        ("nbn:DE:", "urn:nbn:de:101 urn:nbn:de:", "urn:nbn:de-1 urn:nbn:de"),
        ("isbn:978*", "urn:isbn:9783 urn:isbn:978-3 urn:isbn:978", "urn:isbn:97 urn:isbn:0978"),
        ("isbn:978", "urn:isbn:978-3 urn:isbn:978", "urn:isbn:9783"),
        ("schemas-*", "urn:schemas-a:b urn:SCHEMAS-x-y:b", "urn:schemas:b urn:a:schemas-"),
        ("nbn:*", "urn:nbn:x", "urn:nbnx:x"),
        ("example:a%2c", "urn:example:a%2C urn:example:a%2cb", "urn:example:a%2 urn:example:a,"),
        ("example:a,b", "urn:example:a,b", "urn:example:a"),
        ("*", "urn:a:b", ""),
    ],
)  # fmt: skip
def test_which_names_have_it(beginning, those, others):
    """docs/reference/name-options.md: a NID in whole, an NSS up to where no letter or digit follows, a `*` for anything."""
    assert all(has(urn, beginning) for urn in those.split())
    assert not any(has(urn, beginning) for urn in others.split())


@pytest.mark.full
def test_one_of_several():
    assert [has(f"urn:{name}:1", "isbn", "nbn:1*", "x-*") for name in ("isbn", "nbn", "x-y", "issn")] == [1, 1, 1, 0]
    assert not has("urn:a:b")


def test_as_it_is_kept():
    """In small letters, each once, without what surrounds a NID in a URN."""
    given = [" ISBN", "urn:isbn:", "nbn:DE:", "URN:nbn:de", "x-*", "nbn:*", "*"]
    assert read_beginnings("nid", given, RFC2141) == ("isbn", "nbn:de:", "nbn:de", "x-*", "nbn", "*")


@pytest.mark.parametrize(
    ("beginning", "syntax", "says"),
    [
        ("", "rfc2141", "nid names no namespace; write it like isbn or nbn:de"),
        ("urn:", "rfc2141", "nid names no namespace; write it like isbn or nbn:de"),
        (":de", "rfc2141", "nid names no namespace; write it like isbn or nbn:de"),
        ("a b", "rfc2141", "nid: no URN begins with 'a b': ' ' is not allowed in a NID"),
        ("isbn,issn", "rfc2141", "nid: no URN begins with 'isbn,issn': ',' is not allowed in a NID"),
        ("URN", "rfc2141", "nid: no URN begins with 'URN': the NID \"urn\" is reserved"),
        ("x" * 33, "rfc2141", f"nid: no URN begins with '{'x' * 33}': a NID has at most 32 characters"),
        ("nbn:ü", "rfc2141", "nid: no URN begins with 'nbn:ü': 'ü' is not allowed in a URN"),
        ("nbn:%2", "rfc2141", "nid: no URN begins with 'nbn:%2': \"%\" is not followed by two hex digits"),
        ("x", "rfc8141", "nid: no URN begins with 'x': the NID \"x\" is too short"),
        (
            "example:a?+b",
            "rfc8141",
            "nid: 'example:a?+b' contains a component, which is not part of the NSS; leave it out",
        ),
        ("example:/", "rfc8141", "nid: no URN begins with 'example:/': \"/\" is not allowed here in the NSS"),
        ("example:a/b", "rfc2141bis-03", "nid: no URN begins with 'example:a/b': \"/\" is not allowed here in the NSS"),
    ],
)
def test_what_no_name_begins_with(beginning, syntax, says):
    """It would find nothing, so it is refused, with the reason; what one syntax refuses another may admit."""
    with pytest.raises(ValueError, match=f"^{re.escape(says)}"):
        read_beginnings("nid", [beginning], get_syntax(syntax))
