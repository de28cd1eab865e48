"""Look-alikes said a second time, for characters below U+0800 but for modifier letters: by their names, and a table by hand.

It shares nothing with `urnscan.urn.lookalikes`, neither the data nor the way.

>>> misleading("%D0%B0123,z456"), misleading("p%D0%B0ypal"), misleading("Gr%C3%BC%C3%9Fe")
(['confusable'], ['mixed-scripts', 'confusable'], [])
"""

from __future__ import annotations

import unicodedata
from itertools import groupby
from urllib.parse import unquote_to_bytes

LIKE_ASCII = set("ͺͿΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγινορσυϒϜϨϬϭϱϲϳϸϹϺЅІЈАВЕЗКМНОРСТУХЬабгеорсухшѕіјѡѴѵҮүһҽӀӏӠԁԌԛԜԝՍՏՕագզհոռսցւքօ")
"""From confusables.txt of UTS #39: what looks like an ASCII letter or digit, but for what runs from right to left."""
INVISIBLE = {"\xad", "\u034f", "\u061c"}
SCRIPTS = {"LATIN", "GREEK", "COPTIC", "CYRILLIC", "ARMENIAN", "HEBREW", "ARABIC", "SYRIAC", "THAANA", "NKO"}
OTHERWISE_NAMED = {"FEMININE": "LATIN", "MASCULINE": "LATIN", "ARABIC-INDIC": "ARABIC", "EXTENDED": "ARABIC"}


def is_judged(text):
    """Whether all characters of a name are such that Python's own Unicode, an older one, knows them."""
    return all(
        (ord(char) < 0x500 and unicodedata.category(char) not in ("Lm", "Cn")) or char == "\ufffd"
        for char in unquote_to_bytes(text).decode(errors="replace")
    )


def misleading(rest):
    """The problems of what stands behind the NID."""
    text = unquote_to_bytes(rest).decode(errors="replace")
    shown = unicodedata.normalize("NFC", "".join(char for char in text if char not in INVISIBLE))
    words = [
        list(run) for is_word, run in groupby(shown, lambda char: unicodedata.category(char)[0] in "LMN") if is_word
    ]
    mixed = any(len({script(char) for char in word} - {None}) > 1 for word in words)
    found = ["mixed-scripts"] * mixed + ["confusable"] * is_confusable(words)
    return found + ["invisible-character"] * bool(INVISIBLE & set(text))


def is_confusable(words):
    lone, others = False, False
    for word in words:
        scripts = {script(char) for char in word}
        foreign = [char for char in word if script(char) not in (None, "LATIN")]
        if foreign and LIKE_ASCII.issuperset(foreign):
            if "LATIN" in scripts:
                return True
            if len(foreign) == 1:
                lone = True
                continue
        others = others or bool(foreign)
    return lone and not others and any(char.isascii() and char.isalnum() for word in words for char in word)


def script(char):
    """The script of a letter or digit, by its name."""
    if unicodedata.category(char)[0] == "M":
        return None
    first = unicodedata.name(char, "NONE").split()[0]
    first = OTHERWISE_NAMED.get(first, first)
    return first if first in SCRIPTS else None
