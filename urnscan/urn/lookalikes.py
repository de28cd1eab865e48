"""Names that look like other names: what is odd in the characters that percent-encoded octets stand for.

RFC 8141 §3.2 warns of `urn:example:%D0%B0123,z456`: shown to people, its first letter, Cyrillic, is taken for a Latin one.
How to tell that is Unicode's, in UTS #39, "Unicode Security Mechanisms". What this room makes of it:

* A name is judged word by word. A word is what letters, digits and their marks make up, between whatever is none of
  these: `:`, `-`, `/`, a space, … So the Latin letters with which a namespace begins its names (`urn:lex:ru:…`) say
  nothing of the Russian word behind them. Marks go with their letters, and invisible characters are looked through.
* `mixed-scripts`: the letters and digits of a word are not of one writing system (§5.1, by Script_Extensions), but for
  what the level "Highly Restrictive" admits (§5.2): Latin among Japanese, Chinese or Korean.
* `confusable`: a word holds Latin letters, and its others all look like ASCII letters or digits, so that all of it may
  be read as Latin. Or such a character is the only letter of its word, in a name with ASCII letters or digits, and no
  other word tells that the name is not all Latin. A longer word is a word of its script, even if it looks like Latin
  all through, as Russian acronyms do. What runs from right to left looks like nothing in ASCII.
* `invisible-character`: one that is not shown, as a zero-width space, a soft hyphen or a control of direction, but for
  variation selectors and for joiners where they do their work: inside emoji and behind letters that join.

Octets that are not UTF-8 stand for no characters that are known, and have none of these problems.
"""

from __future__ import annotations

import functools
import string
import unicodedata
from typing import NamedTuple

import regex

__all__ = ["lookalikes"]

_LONG_WORD = 64  # characters: longer ones are not kept
_RECOMMENDED = (
    "Arab Armn Beng Bopo Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hebr Hira Kana Khmr Knda Laoo Latn Mlym Mymr "
    "Orya Sinh Taml Telu Thaa Thai Tibt"
).split()
"""The scripts in everyday use (UAX #31, table 5). The rest counts as one, which goes with none of these."""
_REST = frozenset({"Zzzz"})

_USED_IN = {
    "Hani": ("Hanb", "Jpan", "Kore"),
    "Hira": ("Jpan",),
    "Kana": ("Jpan",),
    "Hang": ("Kore",),
    "Bopo": ("Hanb",),
    "Latn": ("Hanb", "Jpan", "Kore"),
}
"""The writing systems that take a script in beside others (UTS #39 §5.1, §5.2)."""

_UNJOINED = [
    "Zyyy",
    "Zinh",
    "Latn",
    "Grek",
    "Cyrl",
    "Armn",
    "Geor",
    "Hebr",
    "Ethi",
    "Hani",
    "Hira",
    "Kana",
    "Hang",
    "Bopo",
]
"""Scripts in which a joiner changes nothing that is seen."""

_ASCII = frozenset(string.ascii_letters + string.digits)


class _Patterns(NamedTuple):
    suspicious: regex.Pattern[str]
    """A character that can be one of these problems. Most names, Latin as they are, hold none."""
    invisible: regex.Pattern[str]
    ignorable: regex.Pattern[str]
    word: regex.Pattern[str]
    shared: regex.Pattern[str]
    """What tells nothing of a script: marks, and what all scripts use."""
    scripts: dict[str, regex.Pattern[str]]


@functools.cache
def _patterns() -> _Patterns:
    def compiled(pattern: str) -> regex.Pattern[str]:
        return regex.compile(pattern, regex.VERSION1)

    unjoined = "".join(rf"\p{{scx={script}}}" for script in _UNJOINED)
    behind = rf"[[\p{{L}}\p{{M}}]--[{unjoined}]]|[\p{{Extended_Pictographic}}\p{{Emoji_Modifier}}\uFE0F]"
    flag = r"\U0001F3F4[\U000E0020-\U000E007F]*"
    return _Patterns(
        suspicious=compiled(r"[[\p{L}\p{N}]--[\p{scx=Latn}\p{scx=Zyyy}]]|\p{DI}"),
        invisible=compiled(
            rf"(?<!{behind})[\u200C\u200D]|(?<!{flag})[\U000E0020-\U000E007F]"
            r"|[\p{DI}--[\p{Variation_Selector}\u180E\u200C\u200D\U000E0020-\U000E007F]]"
        ),
        ignorable=compiled(r"\p{DI}+"),
        word=compiled(r"[\p{L}\p{M}\p{N}]+"),
        shared=compiled(r"\p{M}|\p{scx=Zyyy}"),
        scripts={script: compiled(rf"\p{{scx={script}}}") for script in _RECOMMENDED},
    )


def lookalikes(nss: str) -> tuple[str, ...]:
    """What of a name, as it stands behind the NID, may mislead those who see it decoded, in the order of the codes above.

    >>> lookalikes("%D0%B0123,z456"), lookalikes("p%D0%B0ypal"), lookalikes("soft%C2%ADhyphen")
    (('confusable',), ('mixed-scripts', 'confusable'), ('invisible-character',))
    >>> lookalikes("ru:%D0%BC%D0%B8%D1%80-1869"), lookalikes("Stra%C3%9Fe"), lookalikes("caf%E9")
    ((), (), ())
    """
    try:  # as fast as it goes: in a URN neither a backslash nor a lone % can stand
        text = nss.replace("%", r"\x").encode("ascii").decode("unicode_escape").encode("latin-1").decode()
    except UnicodeDecodeError:
        return ()
    patterns = _patterns()
    if not patterns.suspicious.search(text):
        return ()
    shown = patterns.ignorable.sub("", text)
    found = patterns.word.findall(unicodedata.normalize("NFC", shown))
    words = [_word(word) for word in found if not word.isascii()]
    problems = []
    if any(word.mixed for word in words):
        problems.append("mixed-scripts")
    if _is_confusable([word for word in words if word.others], not _ASCII.isdisjoint(shown)):
        problems.append("confusable")
    if shown != text and patterns.invisible.search(text):
        problems.append("invisible-character")
    return tuple(problems)


class _Word(NamedTuple):
    mixed: bool
    latin: bool
    """Whether there are letters that are Latin and nothing else."""
    others: str
    """The letters and digits that are never Latin."""

    def looks_latin(self) -> bool:
        return _like_ascii().issuperset(self.others)


def _word(word: str) -> _Word:
    return _known_word(word) if len(word) <= _LONG_WORD else _known_word.__wrapped__(word)


@functools.lru_cache(maxsize=1 << 16)
def _known_word(word: str) -> _Word:
    systems = set(map(_systems, word)) - {frozenset()}
    return _Word(
        mixed=len(systems) > 1 and not frozenset.intersection(*systems),
        latin=_systems("a") in systems,
        others="".join(char for char in word if (used := _systems(char)) and "Latn" not in used),
    )


def _is_confusable(words: list[_Word], among_ascii: bool) -> bool:
    """Whether words that are not all Latin may be taken for it."""
    if any(word.latin and word.looks_latin() for word in words):
        return True
    lone = bool(words) and among_ascii and all(len(word.others) == 1 for word in words)
    return lone and all(word.looks_latin() for word in words)


@functools.cache
def _systems(char: str) -> frozenset[str]:
    """The writing systems in which a letter or digit is used; empty for marks, and for what all scripts use."""
    patterns = _patterns()
    if patterns.shared.match(char):
        return frozenset()
    found = [script for script, pattern in patterns.scripts.items() if pattern.match(char)]
    return frozenset(system for script in found for system in (script, *_USED_IN.get(script, ()))) or _REST


@functools.cache
def _like_ascii() -> frozenset[str]:
    """The characters of planes 0 and 1 that Unicode says look like an ASCII letter or digit; further on none do."""
    from homoglyphs_fork import Homoglyphs  # noqa: PLC0415 - hardly ever needed

    alike = Homoglyphs.get_table({chr(code) for code in range(0x20000)})
    return frozenset(char for known in _ASCII for char in alike[known] if unicodedata.bidirectional(char) == "L")
