"""Lookalikes: names whose decoded characters mislead people who read them.

RFC 8141 §3.2 warns of `urn:example:%D0%B0123,z456`: its first letter is Cyrillic and looks like a Latin "a". The rules
are those of UTS #39, "Unicode Security Mechanisms", applied word by word:

* A word is a run of letters, digits and their marks, between characters such as `:`, `-`, `/` or a space. So the Latin
  letters at the beginning of `urn:lex:ru:…` say nothing about the Russian word behind them. Marks belong to their
  letters; invisible characters are ignored.
* `mixed-scripts`: the letters and digits of a word do not belong to one writing system (§5.1, by Script_Extensions).
  Allowed is what the level "Highly Restrictive" allows (§5.2): Latin with Japanese, Chinese or Korean.
* `confusable`: a word has Latin letters, and all its other letters look like ASCII letters or digits: all of it may be
  read as Latin. Or such a letter is the only letter of its word, in a name with ASCII letters or digits, and no other
  word shows that the name is not all Latin. A longer word without Latin letters is never confusable, even if all its
  letters look like Latin ones, as in Russian acronyms. Letters that are written from right to left never are either.
* `invisible-character`: a zero-width space, a soft hyphen, a control of direction and the like. Variation selectors are
  allowed, and joiners where they change what is seen: inside emoji and behind letters that join.

An octet that is not UTF-8 counts as U+FFFD, a character between words: what it stands for is not known.
"""

from __future__ import annotations

import functools
import string
import unicodedata
from typing import NamedTuple

from urnscan.urn.syntax import pattern_of

_SHORT = 64  # characters of a word
_RECOMMENDED = (
    "Arab Armn Beng Bopo Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hebr Hira Kana Khmr Knda Laoo Latn Mlym Mymr "
    "Orya Sinh Taml Telu Thaa Thai Tibt"
).split()
"""Scripts in everyday use (UAX #31, table 5). All others count as one more script."""
_REST = frozenset({"Zzzz"})

_USED_IN = {
    "Hani": ("Hanb", "Jpan", "Kore"),
    "Hira": ("Jpan",),
    "Kana": ("Jpan",),
    "Hang": ("Kore",),
    "Bopo": ("Hanb",),
    "Latn": ("Hanb", "Jpan", "Kore"),
}
"""Script -> writing systems that use it beside other scripts (UTS #39 §5.1, §5.2)."""

_UNJOINED = "".join(
    rf"\p{{scx={script}}}" for script in "Zyyy Zinh Latn Grek Cyrl Armn Geor Hebr Ethi Hani Hira Kana Hang Bopo".split()
)
"""Characters of scripts in which a joiner changes nothing that can be seen."""

_ASCII = frozenset(string.ascii_letters + string.digits)

_SUSPICIOUS = r"(?V1)[[\p{L}\p{N}]--[\p{scx=Latn}\p{scx=Zyyy}]]|\p{DI}"
"""A character that may be a problem. Most names are Latin and have none."""
_JOINED = rf"[[\p{{L}}\p{{M}}]--[{_UNJOINED}]]|[\p{{Extended_Pictographic}}\p{{Emoji_Modifier}}\uFE0F]"
_INVISIBLE = (
    rf"(?V1)(?<!{_JOINED})[\u200C\u200D]|(?<!\U0001F3F4[\U000E0020-\U000E007F]*)[\U000E0020-\U000E007F]"
    r"|[\p{DI}--[\p{Variation_Selector}\u180E\u200C\u200D\U000E0020-\U000E007F]]"
)
_IGNORABLE = r"\p{DI}+"
_WORD = r"[\p{L}\p{M}\p{N}]+"
_OF_ALL_SCRIPTS = r"\p{M}|\p{scx=Zyyy}"


def lookalikes(nss: str) -> tuple[str, ...]:
    """The codes of the problems of an NSS, in the order in which they are listed above.

    >>> lookalikes("%D0%B0123,z456"), lookalikes("p%D0%B0ypal"), lookalikes("soft%C2%ADhyphen")
    (('confusable',), ('mixed-scripts', 'confusable'), ('invisible-character',))
    >>> lookalikes("ru:%D0%BC%D0%B8%D1%80-1869"), lookalikes("Stra%C3%9Fe"), lookalikes("caf%E9")
    ((), (), ())
    """
    # The fastest way to decode: a URN has neither a backslash nor a lone %.
    octets = nss.replace("%", r"\x").encode("ascii").decode("unicode_escape").encode("latin-1")
    text = octets.decode("utf-8", "replace")
    if not pattern_of(_SUSPICIOUS).search(text):
        return ()
    shown = pattern_of(_IGNORABLE).sub("", text)
    found = pattern_of(_WORD).findall(unicodedata.normalize("NFC", shown))
    words = [_word(word) for word in found if not word.isascii()]
    problems = []
    if any(word.mixed for word in words):
        problems.append("mixed-scripts")
    if _is_confusable([word for word in words if word.others], not _ASCII.isdisjoint(shown)):
        problems.append("confusable")
    if shown != text and pattern_of(_INVISIBLE).search(text):
        problems.append("invisible-character")
    return tuple(problems)


class _Word(NamedTuple):
    mixed: bool
    latin: bool
    """Whether the word has letters that are only Latin."""
    others: str
    """Letters and digits that are never Latin."""


def _word(word: str) -> _Word:
    """Composition of a word. It is kept for later if the word is short: a hostile text may have many long ones."""
    return _short_word(word) if len(word) <= _SHORT else _short_word.__wrapped__(word)


@functools.lru_cache(maxsize=1 << 13)
def _short_word(word: str) -> _Word:
    systems = set(map(_systems, word)) - {frozenset()}
    return _Word(
        mixed=len(systems) > 1 and not frozenset.intersection(*systems),
        latin=_systems("a") in systems,
        others="".join(char for char in word if (used := _systems(char)) and "Latn" not in used),
    )


def _is_confusable(words: list[_Word], among_ascii: bool) -> bool:
    """Whether words with letters that are not Latin may be read as Latin."""
    if any(word.latin and _like_ascii().issuperset(word.others) for word in words):
        return True
    are_lone = among_ascii and {len(word.others) for word in words} == {1}
    return are_lone and all(_like_ascii().issuperset(word.others) for word in words)


@functools.cache
def _systems(char: str) -> frozenset[str]:
    """The writing systems that use a letter or digit; empty for marks, and for characters of all scripts."""
    if pattern_of(_OF_ALL_SCRIPTS).match(char):
        return frozenset()
    found = [script for script in _RECOMMENDED if pattern_of(rf"\p{{scx={script}}}").match(char)]
    return frozenset(system for script in found for system in (script, *_USED_IN.get(script, ()))) or _REST


@functools.cache
def _like_ascii() -> frozenset[str]:
    """Characters that look like an ASCII letter or digit, by the confusables of Unicode 17; all are below U+20000."""
    from homoglyphs_fork import Homoglyphs  # noqa: PLC0415 - hardly ever needed

    alike = Homoglyphs.get_table({chr(code) for code in range(0x20000)})
    return frozenset(char for known in _ASCII for char in alike[known] if unicodedata.bidirectional(char) == "L")
