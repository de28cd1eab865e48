"""What namespaces say of a name, said a second time: `regex` on the patterns of the table, and `python-stdnum`.

It shares the table with the package, and nothing of what runs it: no automata, no compiled code.

>>> verdict("urn:isbn:0-395-36341-1")
Verdict(valid=True, problem=None, form='urn:isbn:9780395363416')
"""

from __future__ import annotations

import functools
import string
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import regex
from hypothesis import strategies as st
from stdnum import isbn, issn
from stdnum.eu import eic
from stdnum.iso7064 import mod_11_2, mod_37_36, mod_97_10

TABLE = tomllib.loads((files("urnscan.urn.namespaces") / "rules.toml").read_text(encoding="utf-8"))
EXAMPLES = tomllib.loads(
    (Path(__file__).parents[1] / "urn" / "namespaces" / "examples.toml").read_text(encoding="utf-8")
)


class Verdict(NamedTuple):
    valid: bool | None
    problem: str | None
    form: str


def verdict(urn):
    """The judgement on a URN in lexical canonical form, without components."""
    _, nid, nss = urn.split(":", 2)
    entry = TABLE.get(nid, {})
    for name in ("grammar", "unsure"):
        folded = _fold(entry[name], nss) if name in entry else None
        if folded is None:
            continue
        if name == "unsure":
            return Verdict(None, None, f"urn:{nid}:{folded}")
        form = f"urn:{nid}:{_rewritten(entry.get('code'), folded)}"
        right = is_right(entry.get("check"), folded)
        if "%00" in nss and (right is not False or entry["check"] == "dnb"):
            return Verdict(None, None, form)
        if right or right is None:
            return Verdict(True, None, form)
        return (
            Verdict(True, "dnb-check-digit", form) if entry["check"] == "dnb" else Verdict(False, "check-digit", form)
        )
    if "grammar" not in entry and "unsure" not in entry:
        return Verdict(None, None, urn)
    head, *components = regex.split("(?=[?#])", nss, maxsplit=1)
    fits = any(name in entry and _fold(entry[name], head) for name in ("grammar", "unsure"))
    if components and fits and not _TRIMMABLE.match(components[0]):
        return Verdict(None, None, urn)
    problem = _not_meant(nid, entry, nss)
    if problem or components:
        return Verdict(None, problem, urn)
    return Verdict(False, "nss-grammar", urn)


_CUT = r"(?:[.,;:!?'*_)]|'[sS]|&amp)"
_TRIMMABLE = regex.compile(rf"{_CUT}++\Z|{_CUT}*[,;](?i:urn):|{_CUT}*&(?:(?i:urn):|lt;|gt;|quot;)")


def _not_meant(nid, entry, nss):
    """The longest part that fits before punctuation; or one letter alone, again and again."""
    for pattern in filter(None, map(entry.get, ("grammar", "unsure"))):
        for length in range(len(nss) - 1, 0, -1):
            if regex.match(r"[.,;:!?'*_)]+\Z|[.:!?*_]*[,;&/()']", nss, pos=length) and _fold(pattern, nss[:length]):
                if verdict(f"urn:{nid}:{nss[:length]}").valid is False:
                    break
                trimmable = _TRIMMABLE.match(nss, length)
                return "untrimmed" if trimmable else "run-on"
    letters = {character.lower() for character in nss if character.isalpha()}
    return "template" if len(letters) <= 1 and not regex.search("[0-9]", nss) else None


@functools.cache
def _compiled(pattern):
    return regex.compile(pattern, regex.ASCII | regex.VERSION1)


def _fold(pattern, nss):
    if {"?", "#"} & set(nss):  # RFC 2141 §2.3.2: no rule is applied
        return None
    match = _compiled(pattern).fullmatch(nss)
    if match is None:
        return None
    characters = list(nss)
    escaped = {place for found in regex.finditer("%[0-9A-F]{2}", nss) for place in range(*found.span())}
    for group, change in (("lower", str.lower), ("upper", str.upper)):
        for start, end in match.spans(group) if group in match.re.groupindex else ():
            for place in range(start, end):
                if place not in escaped:
                    characters[place] = change(characters[place])
    return "".join(characters)


def _rewritten(code, nss):
    plain = nss.replace("-", "").upper()
    match code:
        case None:
            return nss
        case "isbn":
            return isbn.to_isbn13(plain) if isbn.is_valid(plain) else plain
        case "issn":
            return issn.format(plain)
        case "gsma":
            return nss.removesuffix(";vers=0")
    raise AssertionError(code)


def is_right(check, nss):
    """Whether a check digit is right; None if there is none to compute."""
    plain = nss.replace("-", "").upper()
    match check:
        case None:
            return None
        case "isbn":
            return isbn.is_valid(nss)
        case "issn":
            return issn.is_valid(nss)
        case "mod_11_2":
            return mod_11_2.is_valid(plain)
        case "mod_97_10":
            return mod_97_10.is_valid(plain)
        case "mod_37_36":
            return mod_37_36.is_valid(plain.rpartition(":")[2])
        case "eic":
            return eic.is_valid(nss)
        case "dnb":
            return _dnb(nss) if nss[:3] in ("de:", "de-") else None
    raise AssertionError(f"the check {check!r} has no second implementation here: add one, by another library")


_DNB = dict(
    pair.split("=")
    for pair in (
        "0=1 1=2 2=3 3=4 4=5 5=6 6=7 7=8 8=9 9=41 A=18 B=14 C=19 D=15 E=16 F=21 G=22 H=23 I=24 J=25 K=42 L=26 M=27 N=13 "
        "O=28 P=29 Q=31 R=12 S=32 T=33 U=11 V=34 W=35 X=36 Y=37 Z=38 +=49 :=17 _=43 -=39 .=47 /=45"
    ).split()
)


def _dnb(nss):
    """https://www.persistent-identifier.de/?link=316, with strings."""
    name = f"URN:NBN:{nss[:-1]}".upper()
    if not set(name) <= set(_DNB):
        return None
    digits = "".join(_DNB[character] for character in name)
    total = sum(place * int(digit) for place, digit in enumerate(digits, 1))
    return nss[-1] == str(total // int(digits[-1]))[-1]


def names(nid):
    """Names of a namespace: its examples, spelled in many ways, and with a character changed, put in or left out."""
    entry = EXAMPLES[nid]
    known = [name for kind in ("valid", "unsure", "invalid") for name, _ in entry.get(kind, [])]
    known += [name for kind in ("equivalent", "different") for group in entry.get(kind, []) for name in group["names"]]
    nss = st.sampled_from(sorted({name.split(":", 2)[2] for name in known}))
    spelled = st.one_of(nss, nss, nss.map(str.lower), nss.map(str.upper), nss.map(str.swapcase))
    character = st.one_of(
        st.sampled_from(string.ascii_letters + string.digits + "-:.;/_+@'()%?#~"), st.sampled_from(["%2d", "%00"])
    )
    changed = st.builds(
        lambda text, at, left, put: text[: at % len(text)] + put + text[at % len(text) + left :],
        spelled,
        st.integers(0, 200),
        st.integers(0, 1),
        st.one_of(st.just(""), character),
    )
    made = [
        st.from_regex(_for_hypothesis(TABLE[nid][name]), fullmatch=True)
        for name in ("grammar", "unsure")
        if name in TABLE[nid]
    ]
    return st.one_of(spelled, changed, changed, *made).map(lambda text: f"urn:{nid}:{text}")


def _for_hypothesis(pattern):
    """The pattern as the standard library spells it, over the characters of URNs."""
    import re

    number = iter(range(1000))
    named = regex.sub(r"\(\?<(\w+)>", lambda found: f"(?P<{found[1]}{next(number)}>", pattern)
    plain = regex.sub(r"(\\.)|(\[[^\]]*\])|\.", lambda found: found[0] if found[0] != "." else "[!-~]", named)
    return re.compile(plain, re.ASCII)
