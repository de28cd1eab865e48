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
* `not-nfc`: the text is not composed, so the same letters may be spelled in another way, as `e` and U+0301 for `é`.
* `compatibility-character`: a character that NFKC replaces, though NFC does not: a letter of full width, a ligature, a
  superscript.
* `invisible-character`: a zero-width space, a soft hyphen, a control of direction and the like. Variation selectors are
  allowed. Joiners are allowed where they change the display: inside emoji and after letters that join.

The text is composed first (NFC). A byte that is not UTF-8 counts as U+FFFD, which separates words: its meaning is
unknown.
"""

from __future__ import annotations

import functools
import string
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from urnscan.urn.syntax import pattern_of

if TYPE_CHECKING:
    from urnscan.compiled.bytes import Integers

_RECOMMENDED = (
    "Latn Arab Armn Beng Bopo Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hebr Hira Kana Khmr Knda Laoo Mlym Mymr "
    "Orya Sinh Taml Telu Thaa Thai Tibt"
).split()
"""Scripts in everyday use (UAX #31, table 5), Latin first. All other scripts count together as one script."""
_SYSTEMS_OF_SEVERAL = {
    "Hanb": ("Hani", "Bopo", "Latn"),
    "Jpan": ("Hani", "Hira", "Kana", "Latn"),
    "Kore": ("Hani", "Hang", "Latn"),
}
"""Writing system -> the scripts that it combines (UTS #39 §5.1, §5.2)."""

FIRST_SUSPECT = 0x280
"""The first code point that always needs a check. Below it are only Latin letters and characters of all scripts, of
which only those in SUSPECT may have a problem.
"""
_SOFT_HYPHEN = 0xAD
SUSPECT = bytes(
    code == _SOFT_HYPHEN or unicodedata.normalize("NFKC", chr(code)) != chr(code) for code in range(FIRST_SUSPECT)
)
"""For each code point below FIRST_SUSPECT: 1 if it needs a check (the soft hyphen, and characters that NFKC replaces),
else 0.
"""

# The traits of a character are a set of bits. The lowest bits are the writing systems that use a letter or digit: a bit
# for each script of _RECOMMENDED, then for each system of _SYSTEMS_OF_SEVERAL, then for all other scripts together. A
# mark, and a character of all scripts, has none of these bits.
_LATIN = 1
_REST = 1 << len(_RECOMMENDED) + len(_SYSTEMS_OF_SEVERAL)
_SYSTEMS = 2 * _REST - 1
_BITS = {script: 1 << place for place, script in enumerate((*_RECOMMENDED, *_SYSTEMS_OF_SEVERAL))}
_ONLY_LATIN = _LATIN | sum(_BITS[system] for system, scripts in _SYSTEMS_OF_SEVERAL.items() if "Latn" in scripts)
_KNOWN = _REST << 1
"""Every character has this trait, so 0 can mean "not looked up yet"."""
_WORD = _REST << 2
"""A character of a word: a letter, a digit, or a combining mark."""
_ASCII = _REST << 3
"""An ASCII letter or digit."""
_LIKE_ASCII = _REST << 4
"""A letter or digit that looks like an ASCII letter or digit."""
IGNORABLE = _REST << 5
"""Trait (bit) of a character that is not displayed."""
_INVISIBLE = _REST << 6
"""An ignorable character without a use in a name."""
_JOINER = _REST << 7
_CAN_JOIN = _REST << 8
"""A character after which a joiner changes the display."""
_FLAG = _REST << 9
"""The black flag, which the tag characters after it turn into the flag of a region."""
_TAG = _REST << 10
COMPOSED = _REST << 11
"""Trait (bit) of a character that NFC may replace, move, or combine with the character before it."""

COMPATIBILITY = _REST << 12
"""Trait (bit) of a character that NFKC replaces, but NFC does not."""

MIXED, CONFUSABLE, INVISIBLE, NOT_NFC, REPLACED = 4, 8, 16, 128, 256
"""Bits of the problems, the same as in the marks (sets of problems) of `problem_columns`."""
_CODES = {MIXED: "mixed-scripts", CONFUSABLE: "confusable", INVISIBLE: "invisible-character"}
_CODES |= {NOT_NFC: "not-nfc", REPLACED: "compatibility-character"}

_UNJOINED = "".join(
    rf"\p{{scx={script}}}" for script in "Zyyy Zinh Latn Grek Cyrl Armn Geor Hebr Ethi Hani Hira Kana Hang Bopo".split()
)
"""Characters of scripts in which a joiner does not change the display."""
_LETTER_OF_ONE_SCRIPT = r"(?V1)[[\p{L}\p{N}]--\p{scx=Zyyy}]"
_TRAITS = {
    _WORD: r"[\p{L}\p{M}\p{N}]",
    _ASCII: "[A-Za-z0-9]",
    IGNORABLE: r"\p{DI}",
    _INVISIBLE: r"(?V1)[\p{DI}--[\p{Variation_Selector}\u180E\u200C\u200D\U000E0020-\U000E007F]]",
    _JOINER: r"[\u200C\u200D]",
    _CAN_JOIN: rf"(?V1)[[\p{{L}}\p{{M}}]--[{_UNJOINED}]]|[\p{{Extended_Pictographic}}\p{{Emoji_Modifier}}\uFE0F]",
    _FLAG: r"\U0001F3F4",
    _TAG: r"[\U000E0020-\U000E007F]",
    COMPOSED: r"\P{NFC_QC=Y}|\P{ccc=0}",
    COMPATIBILITY: r"(?V1)[\p{NFKC_QC=N}--\p{NFC_QC=N}]",
}
"""Trait -> pattern of the characters with this trait."""


def lookalikes(nss: str) -> tuple[str, ...]:
    """Return the codes of the ways in which the percent-decoded characters of an NSS, perhaps with components, may
    mislead a reader, in this order; empty without problems.

    * `mixed-scripts`: one word has letters of scripts that are not used together;
    * `confusable`: a word has Latin letters, and all its other letters look like ASCII letters or digits; or the name
      has ASCII letters or digits, and each word that is not Latin is a single letter that looks like ASCII. A longer
      word without Latin letters is not confusable;
    * `invisible-character`: a character that is not displayed, unless it has a use at its place, as in emoji;
    * `not-nfc`: the text is not composed (NFC);
    * `compatibility-character`: a character that NFKC replaces, though NFC does not.

    >>> lookalikes("%D0%B0123,z456"), lookalikes("p%D0%B0ypal"), lookalikes("soft%C2%ADhyphen")
    (('confusable',), ('mixed-scripts', 'confusable'), ('invisible-character',))
    >>> lookalikes("ru:%D0%BC%D0%B8%D1%80-1869"), lookalikes("Stra%C3%9Fe"), lookalikes("caf%E9")
    ((), (), ())
    """
    text = unquote_to_bytes(nss).decode("utf-8", "replace")
    if not any(code >= FIRST_SUSPECT or SUSPECT[code] for code in map(ord, text)):
        return ()
    traits = [traits_of(char) for char in text]
    shown = "".join(char for char, trait in zip(text, traits, strict=True) if not trait & IGNORABLE)
    composed = unicodedata.normalize("NFC", shown)
    problems = problems_of_words([traits_of(char) for char in composed])
    if problems & CONFUSABLE:
        problems = problems_of_words([traits_of(char, exact=True) for char in composed])
    if has_invisible(traits):
        problems |= INVISIBLE
    if not unicodedata.is_normalized("NFC", text):
        problems |= NOT_NFC
    if any(trait & COMPATIBILITY for trait in traits):
        problems |= REPLACED
    return tuple(code for bit, code in _CODES.items() if problems & bit)


# The next two functions are plain loops over integers: the compiled code of `problem_columns` calls them, too.


def problems_of_words(traits: Sequence[int] | Integers) -> int:
    """Return the problems of the words of a text as a union of bits; 0 without problems. A word is a run of letters,
    digits and combining marks.

    MIXED: a word mixes scripts that are not used together. CONFUSABLE: a word has Latin letters, and all its other
    letters look like ASCII; or the text has ASCII letters or digits, and each word that is not Latin is a single
    letter, which looks like ASCII. A longer word without Latin letters is never CONFUSABLE.

    `traits` are the results of `traits_of` for each character of the text, composed (NFC) and without IGNORABLE ones.
    Without `exact`, all letters that are not Latin count as letters that look like ASCII: CONFUSABLE then means that a
    call with exact traits must decide.
    """
    problems = 0
    has_ascii = has_lone = has_other = False
    # State of the current word: the writing systems that use all its letters and digits; how many letters and digits
    # are not Latin; whether it has a letter that is only Latin; whether all that are not Latin look like ASCII.
    common, not_latin, has_latin, is_like_ascii = _SYSTEMS, 0, False, True
    for place in range(len(traits) + 1):
        trait = traits[place] if place < len(traits) else 0
        systems = trait & _SYSTEMS
        if systems:
            common &= systems
            has_latin |= systems == _ONLY_LATIN
            if not systems & _LATIN:
                not_latin += 1
                is_like_ascii &= trait & _LIKE_ASCII != 0
        has_ascii |= trait & _ASCII != 0
        if not trait & _WORD:
            if not common:
                problems |= MIXED
            if not_latin:
                if has_latin and is_like_ascii:
                    problems |= CONFUSABLE
                is_lone = not_latin == 1 and is_like_ascii
                has_lone |= is_lone
                has_other |= not is_lone
            common, not_latin, has_latin, is_like_ascii = _SYSTEMS, 0, False, True
    if has_lone and has_ascii and not has_other:
        problems |= CONFUSABLE
    return problems


def has_invisible(traits: Sequence[int] | Integers) -> bool:
    """Whether a text has an invisible character without a use at its place, such as a zero-width space, or a joiner
    after a letter that does not join. `traits` are the results of `traits_of` for each character of the text.
    """
    can_join = is_flag = False
    for trait in traits:
        if trait & _INVISIBLE or (trait & _JOINER and not can_join) or (trait & _TAG and not is_flag):
            return True
        can_join = trait & _CAN_JOIN != 0
        is_flag = trait & _FLAG != 0 or (is_flag and trait & _TAG != 0)
    return False


@functools.lru_cache(maxsize=1 << 13)
def traits_of(char: str, *, exact: bool = False) -> int:
    """Return the traits of one character as a union of bits, never 0: bits such as IGNORABLE (not displayed), and for a
    letter or digit a bit for each writing system that uses it (one for all rare scripts together; none for a character
    of all scripts, such as 1).

    Without `exact`, every letter or digit of a script other than Latin gets the bit for looking like ASCII. With it,
    only those in the table of confusables get it; the table takes long to load.
    """
    traits = _KNOWN | sum(trait for trait, pattern in _TRAITS.items() if pattern_of(pattern).fullmatch(char))
    if pattern_of(_LETTER_OF_ONE_SCRIPT).fullmatch(char):
        scripts = [script for script in _RECOMMENDED if pattern_of(rf"\p{{scx={script}}}").match(char)]
        of_several = [system for system, used in _SYSTEMS_OF_SEVERAL.items() if not set(used).isdisjoint(scripts)]
        traits |= sum(_BITS[system] for system in (*scripts, *of_several)) or _REST
    if traits & _SYSTEMS and not traits & _LATIN and (not exact or char in _like_ascii()):
        traits |= _LIKE_ASCII
    return traits


@functools.cache
def _like_ascii() -> frozenset[str]:
    """The characters of direction L (left to right) that look like an ASCII letter or digit, by the confusables of
    Unicode 17.
    """
    from homoglyphs_fork import Homoglyphs  # noqa: PLC0415 - hardly ever needed

    alike = Homoglyphs.get_table({chr(code) for code in range(0x20000)})
    letters = string.ascii_letters + string.digits
    return frozenset(char for letter in letters for char in alike[letter] if unicodedata.bidirectional(char) == "L")
