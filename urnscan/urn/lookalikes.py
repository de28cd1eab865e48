"""Lookalikes: names whose decoded characters mislead people who read them.

RFC 8141 §3.2 warns of `urn:example:%D0%B0123,z456`: its first letter is Cyrillic and looks like a Latin "a". The rules
are those of UTS #39, "Unicode Security Mechanisms", applied word by word:

* A word is a run of letters, digits and their marks. Characters such as `:`, `-`, `/` or a space separate words. So the
  Latin letters at the beginning of `urn:lex:ru:…` do not count for the Russian word after them. A mark counts with its
  letter; invisible characters are ignored.
* `mixed-scripts`: the letters and digits of a word do not belong to one writing system (§5.1, by Script_Extensions).
  Latin may be combined with Japanese, Chinese or Korean, as the level "Highly Restrictive" allows (§5.2).
* `confusable`: a word has Latin letters, and all its other letters look like ASCII letters or digits, so the whole word
  may be read as Latin. Another case: a letter that looks like ASCII is the only letter of its word, the name also has
  ASCII letters or digits, and no other word has a letter that is clearly not Latin. A longer word without Latin letters
  is never confusable, even if all its letters look like Latin ones, as in Russian acronyms. Letters of scripts that are
  written from right to left are never confusable.
* `invisible-character`: a zero-width space, a soft hyphen, a control of direction and the like. Variation selectors are
  allowed. Joiners are allowed where they change the display: inside emoji and after letters that join.

An octet that is not UTF-8 counts as U+FFFD, which separates words: its meaning is unknown.
"""

from __future__ import annotations

import functools
import string
import unicodedata
from typing import NamedTuple

from urnscan.urn.syntax import pattern_of

# Maximum characters of a word that is cached.
_SHORT = 64
_RECOMMENDED = (
    "Arab Armn Beng Bopo Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hebr Hira Kana Khmr Knda Laoo Latn Mlym Mymr "
    "Orya Sinh Taml Telu Thaa Thai Tibt"
).split()
"""Scripts in everyday use (UAX #31, table 5). All other scripts count together as one script."""
_REST = frozenset({"Zzzz"})

_USED_IN = {
    "Hani": ("Hanb", "Jpan", "Kore"),
    "Hira": ("Jpan",),
    "Kana": ("Jpan",),
    "Hang": ("Kore",),
    "Bopo": ("Hanb",),
    "Latn": ("Hanb", "Jpan", "Kore"),
}
"""Script -> writing systems that combine the script with other scripts (UTS #39 §5.1, §5.2)."""

_UNJOINED = "".join(
    rf"\p{{scx={script}}}" for script in "Zyyy Zinh Latn Grek Cyrl Armn Geor Hebr Ethi Hani Hira Kana Hang Bopo".split()
)
"""Characters of scripts in which a joiner does not change the display."""

_ASCII = frozenset(string.ascii_letters + string.digits)

_SUSPICIOUS = r"(?V1)[[\p{L}\p{N}]--[\p{scx=Latn}\p{scx=Zyyy}]]|\p{DI}"
"""A quick test: a character that may be a problem. Most names are Latin and have no such character."""
_JOINED = rf"[[\p{{L}}\p{{M}}]--[{_UNJOINED}]]|[\p{{Extended_Pictographic}}\p{{Emoji_Modifier}}\uFE0F]"
_INVISIBLE = (
    rf"(?V1)(?<!{_JOINED})[\u200C\u200D]|(?<!\U0001F3F4[\U000E0020-\U000E007F]*)[\U000E0020-\U000E007F]"
    r"|[\p{DI}--[\p{Variation_Selector}\u180E\u200C\u200D\U000E0020-\U000E007F]]"
)
_IGNORABLE = r"\p{DI}+"
_WORD = r"[\p{L}\p{M}\p{N}]+"
_OF_ALL_SCRIPTS = r"\p{M}|\p{scx=Zyyy}"


def lookalikes(nss: str) -> tuple[str, ...]:
    """The codes of the problems of an NSS, in the order of the list above.

    >>> lookalikes("%D0%B0123,z456"), lookalikes("p%D0%B0ypal"), lookalikes("soft%C2%ADhyphen")
    (('confusable',), ('mixed-scripts', 'confusable'), ('invisible-character',))
    >>> lookalikes("ru:%D0%BC%D0%B8%D1%80-1869"), lookalikes("Stra%C3%9Fe"), lookalikes("caf%E9")
    ((), (), ())
    """
    # This is the fastest way to decode. It is safe, since a URN contains neither a backslash nor a "%" without digits.
    octets = nss.replace("%", r"\x").encode("ascii").decode("unicode_escape").encode("latin-1")
    text = octets.decode("utf-8", "replace")
    if not pattern_of(_SUSPICIOUS).search(text):
        return ()
    shown = pattern_of(_IGNORABLE).sub("", text)
    texts = pattern_of(_WORD).findall(unicodedata.normalize("NFC", shown))
    words = [_word(text) for text in texts if not text.isascii()]
    problems = []
    if any(word.mixed for word in words):
        problems.append("mixed-scripts")
    if _is_confusable([word for word in words if word.non_latin], not _ASCII.isdisjoint(shown)):
        problems.append("confusable")
    if shown != text and pattern_of(_INVISIBLE).search(text):
        problems.append("invisible-character")
    return tuple(problems)


class _Word(NamedTuple):
    """The scripts of a word."""

    mixed: bool
    """Whether no writing system uses all letters and digits of the word."""
    latin: bool
    """Whether the word has letters that are only Latin."""
    non_latin: str
    """Letters and digits of the word that are never Latin."""


def _word(text: str) -> _Word:
    """The scripts of a word. Only short words are cached, since a hostile text may have many long ones."""
    return _short_word(text) if len(text) <= _SHORT else _short_word.__wrapped__(text)


@functools.lru_cache(maxsize=1 << 13)
def _short_word(text: str) -> _Word:
    systems = set(map(_systems, text)) - {frozenset()}
    return _Word(
        mixed=len(systems) > 1 and not frozenset.intersection(*systems),
        latin=_systems("a") in systems,
        non_latin="".join(char for char in text if (used := _systems(char)) and "Latn" not in used),
    )


def _is_confusable(words: list[_Word], among_ascii: bool) -> bool:
    """Whether words with letters that are not Latin may be read as Latin."""
    if any(word.latin and _like_ascii().issuperset(word.non_latin) for word in words):
        return True
    are_lone = among_ascii and {len(word.non_latin) for word in words} == {1}
    return are_lone and all(_like_ascii().issuperset(word.non_latin) for word in words)


@functools.cache
def _systems(char: str) -> frozenset[str]:
    """The writing systems that use a letter or digit; empty for marks, and for characters of all scripts."""
    if pattern_of(_OF_ALL_SCRIPTS).match(char):
        return frozenset()
    scripts = [script for script in _RECOMMENDED if pattern_of(rf"\p{{scx={script}}}").match(char)]
    return frozenset(system for script in scripts for system in (script, *_USED_IN.get(script, ()))) or _REST


@functools.cache
def _like_ascii() -> frozenset[str]:
    """Characters that look like an ASCII letter or digit, by the confusables of Unicode 17; all are below U+20000."""
    from homoglyphs_fork import Homoglyphs  # noqa: PLC0415 - hardly ever needed

    alike = Homoglyphs.get_table({chr(code) for code in range(0x20000)})
    return frozenset(char for letter in _ASCII for char in alike[letter] if unicodedata.bidirectional(char) == "L")
