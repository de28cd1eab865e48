"""Hypothesis strategies: texts in which URNs begin, nearly begin and end in every way, and well-formed URNs."""

from __future__ import annotations

import string

from hypothesis import strategies as st

SCHEMES = [b"urn:", b"URN:", b"Urn:", b"uRn:", b"urN:"]
NIDS = [
    *[b"a", b"7", b"ab", b"Nbn", b"ISBN", b"x-1", b"a-", b"-a", b"ab-", b"a--b", b"xn--a", b"a_b", b"", b"\xc3\xa9"],
    *[b"urn", b"URN", b"uRn", b"urn-7", b"Urns"],
    *[b"a" * 31, b"B" * 32, b"c" * 33, b"d" * 31 + b"-", b"e" * 30 + b"-f", b"g" * 32 + b"-"],
]
MARKS = [
    *[b":", b"?+", b"?=", b"?", b"#", b"&", b"=", b"/", b"~", b"@", b"+", b"$", b"-", b"--", b"%"],
    *[
        b"%2c",
        b"%2C",
        b"%4",
        b"%f",
        b"%4g",
        b"%00",
        b"%c3%9F",
        b"%25",
        b"?+%4",
        b"?=%4",
        b"?+%2c",
        b"?=%2C",
        b"&key=%41",
        b"?+/",
        b"?=?",
        b"??",
        b"?#",
    ],
    *[b"?s=I2L", b"&c=ToC", b"?k-1=", b"&a", b"&a-=b", b"&1=2", b"&a=b?+c/d", b"?+a?", b"?+a?=b", b"?+a?b", b"#?/%2f"],
]
CLOSING = [
    b",",
    b";",
    b".",
    b"!",
    b"'",
    b"*",
    b"_",
    b":",
    b"?",
    b"(",
    b")",
    b"()",
    b"))",
    b"a)b(c)",
    b").",
    b"?+.",
    b"#)",
]
JOINTS = [b",urn:", b";urn:", b",URN:", b";;uRn:", b",urn:b1:c", b";urn:d1:e,", b",urn", b"/urn:", b"=urn:", b"1urn:"]
EXCLUDED = [
    *[bytes([byte]) for byte in (*range(33), *b'\\"&<>[]^`{|}~', 127, 128, 0xA0, 0xC3, 255)],
    *[
        b"\x1fa",
        b"\x1f7",
        b"\x1faurn:",
        b"\x1f?urn:",
        b"\x1fabUrn:",
        b"$$aurn:",
        b"\x1b(Burn:",
        b"$aurn:",
        "‡uurn:".encode(),
        "ǂ3Urn:".encode(),
        b"\xa1uurn:",
        b"\n",
        b"\n\n",
        b"\r\n",
    ],
    *["\N{EN DASH}".encode(), "\N{NON-BREAKING HYPHEN}a".encode(), "\N{MINUS SIGN}1".encode(), b"\xe2\x80"],
    *["ü".encode(), "文".encode(), "\N{FULLWIDTH COLON}".encode(), "\N{NO-BREAK SPACE}".encode()],
]
KNOWN = [  # names that their namespaces call equal in threes, or nearly
    *[b"urn:isbn:0-8044-2957-X", b"URN:ISBN:080442957x", b"urn:isbn:978-0-8044-2957-3", b"urn:isbn:0-8044-2957-1"],
    *[
        b"urn:issn:0317-8471",
        b"urn:Issn:03178471",
        b"urn:issn:0317-8472",
        b"urn:nbn:DE:101:1-2x",
        b"urn:nbn:de:101:1-2x",
    ],
    *[b"urn:uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", b"urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"],
    *[b"urn:gsma:IMEI:90420156-025763-0;vers=0", b"urn:gsma:imei:90420156-025763-0", b"urn:doi:10.1/A%2cb%00"],
]
LINKS = [  # URLs up to where a URN begins, and what is nearly one
    *[b"http://r.example/", b"HTTPS://U:p@R.Example:80/x?urn=", b"a://[2001:DB8::1]:8/b/", b"s+1.x://192.0.2.7/#"],
    *[b"https://r.example/http://inner.example/", b"https://r.example/?a=b&c=", b"http://r/?", b"http://r/a/../"],
    *[b"file:///", b"http://", b"://r/", b"9://r/", b"http://r:a/", b"http://[::/", b"http://[]/", b"http://[a]b/"],
    *[b"http://r/[", b"http://r/'", b"http://r/,", b"http://r/;", b"http://r%2C!/%", b"http://a@b@c/", b"http://@:/"],
]
LETTERS = [b"a", b"Z", b"b1", b"c", b"n", b"u", b"ur", b"rn:", b"urn", b"n:", b"return:foo:bar", b"x" * 9]

_scheme, _nid = st.sampled_from(SCHEMES), st.sampled_from(NIDS)
_piece = st.one_of(*map(st.sampled_from, (SCHEMES, MARKS, CLOSING, JOINTS, EXCLUDED, LETTERS, LINKS)))
_filler = st.builds(
    lambda byte, times: byte * times, st.sampled_from([b"x", b".", b" ", b"-", b"\n"]), st.integers(1, 150)
)
_tail = st.lists(
    st.one_of(*map(st.sampled_from, (LETTERS, MARKS, MARKS, CLOSING, CLOSING, JOINTS, EXCLUDED))), max_size=8
).map(b"".join)
_quoted_scheme = st.sampled_from([*SCHEMES, b"'urn:"])
near_urns = st.builds(lambda *parts: b"".join(parts), _quoted_scheme, _nid, st.just(b":"), _tail)
"""Bytes that begin as a URN does, and sometimes are one."""

near_links = st.builds(
    lambda *parts: b"".join(parts),
    st.sampled_from(LINKS),
    st.one_of(st.just(b""), _filler),
    near_urns,
    st.one_of(st.just(b""), st.sampled_from([b"&x=y", b"?x=y", b"#y", b"?+x?=y&z#", b"&u=urn:ab:c", b"?urn:ab:c"])),
)
"""Bytes that begin as a URL with a URN in it does, and sometimes are one."""

any_bytes = st.lists(
    st.one_of(near_urns, near_urns, near_links, _piece, st.sampled_from(KNOWN), _filler, st.binary(max_size=4)),
    max_size=12,
).map(b"".join)
"""Bytes rich in what begins, continues, ends and spoils a URN."""

_PCHAR = string.ascii_letters + string.digits + "-._~!$&'()*+,;=:@"
_RFC2141 = string.ascii_letters + string.digits + "()+,-.:=@;$_!*'/?#"


def _unit(chars: str) -> st.SearchStrategy[tuple[str, str]]:
    """One character of a set, or a %HH, as spelled and in canonical form."""
    return st.one_of(
        st.sampled_from(chars).map(lambda char: (char, char)),
        st.text(string.hexdigits, min_size=2, max_size=2).map(lambda digits: (f"%{digits}", f"%{digits.upper()}")),
    )


def _join(units: list[tuple[str, str]]) -> tuple[str, str]:
    return "".join(spelled for spelled, _ in units), "".join(folded for _, folded in units)


def _run(first: str, then: str) -> st.SearchStrategy[tuple[str, str]]:
    """One character of the first set and any number of the second."""
    return st.builds(lambda head, tail: _join([head, *tail]), _unit(first), st.lists(_unit(then), max_size=12))


def _spelled(run: st.SearchStrategy[tuple[str, str]]) -> st.SearchStrategy[str]:
    return run.map(lambda pair: pair[0])


def _nids(syntax: str) -> st.SearchStrategy[str]:
    alnum, ldh = string.ascii_letters + string.digits, string.ascii_letters + string.digits + "-"
    body = st.text(ldh, max_size=30)
    if syntax == "rfc2141":
        nid = st.builds(str.__add__, st.sampled_from(alnum), st.one_of(body, st.text(ldh, min_size=31, max_size=31)))
    else:
        nid = st.builds(lambda *parts: "".join(parts), st.sampled_from(alnum), body, st.sampled_from(alnum))
    return nid.filter(lambda nid: nid.lower() != "urn")


_fragment = st.one_of(
    st.just(""), _spelled(st.lists(_unit(_PCHAR + "/?"), max_size=8).map(_join)).map(lambda f: "#" + f)
)
_r_component = _spelled(_run(_PCHAR, _PCHAR + "/?")).map(lambda r: "?+" + r.replace("?=", "?/"))
_q_component = _spelled(_run(_PCHAR, _PCHAR + "/?")).map(lambda q: "?=" + q)
_keyword = st.from_regex(r"[A-Za-z](-?[A-Za-z0-9]){0,5}", fullmatch=True)
_value = _spelled(st.lists(_unit(_PCHAR.replace("&", "") + "/?"), max_size=8).map(_join))
_query = st.lists(st.builds("{}={}".format, _keyword, _value), min_size=1, max_size=4).map(lambda q: "?" + "&".join(q))


def _or_none(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(st.just(""), part)


_NSS_AND_TAIL = {
    "rfc2141": (_run(_RFC2141, _RFC2141), st.just("")),
    "rfc8141": (
        _run(_PCHAR, _PCHAR + "/"),
        st.builds(lambda *parts: "".join(parts), _or_none(_r_component), _or_none(_q_component), _fragment),
    ),
    "rfc2141bis-03": (_run(_PCHAR, _PCHAR), st.builds(str.__add__, _or_none(_query), _fragment)),
}


def urn_pairs(syntax: str) -> st.SearchStrategy[tuple[str, str]]:
    """Well-formed URNs as (spelled, lexical canonical form)."""
    nss, tail = _NSS_AND_TAIL[syntax]
    return st.builds(
        lambda scheme, nid, nss, tail: (f"{scheme}{nid}:{nss[0]}{tail}", f"urn:{nid.lower()}:{nss[1]}"),
        _scheme.map(bytes.decode),
        _nids(syntax),
        nss,
        tail,
    )


def spoiled_urns(syntax: str) -> st.SearchStrategy[bytes]:
    """Well-formed URNs with a piece put in somewhere, which may or may not leave them well-formed."""
    return st.builds(
        lambda pair, piece, at: pair[0][:at].encode() + piece + pair[0][at:].encode(),
        urn_pairs(syntax),
        _piece,
        st.integers(0, 60),
    )


cuttings = st.lists(st.one_of(st.integers(1, 4), st.integers(1, 100)), min_size=1, max_size=6)
"""The sizes of the pieces in which a stream delivers a text."""
