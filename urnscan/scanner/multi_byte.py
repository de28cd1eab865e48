"""Letters before `urn:` that are the last byte of a character, in Shift_JIS, GBK, GB 18030, Big5 and CP949.

The kernel asks only if a byte of 0x81 or more precedes the letter, so other text costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from urnscan.compiled.bytes import ByteArray

# Bytes before a `urn:` that are always in memory.
_LOOK_BACK = 1 << 10
# The last byte below 0x30. No byte of a character of several bytes is below 0x30.
_BOUNDARY = re.compile(rb"[\x00-\x2f](?=[^\x00-\x2f]*\Z)")


class MultiByte:
    """Decides whether a letter before `urn:` is the last byte of a character of several bytes, as in Shift_JIS. Set
    `characters_at`; then for each text call `begin`, and `ends_at` for ascending places.
    """

    def __init__(self) -> None:
        self.characters_at: Callable[[int], re.Pattern[bytes] | None] | None = None
        """A function that returns, for a byte offset in the text, the pattern of a character of several bytes in the
        encoding there, or None. None: no encoding is known.
        """
        self._boundary = 0

    def begin(self) -> None:
        """Begin another text, so that places may again be lower than before. `characters_at` stays."""
        self._boundary = 0

    def ends_at(self, data: ByteArray, at: int, base: int) -> bool:
        """Whether a character of several bytes ends directly before `data[at]`. `data` is a block of the text, which
        begins at byte offset `base` of the text, with the 1,024 bytes before `at` if there are so many. False if no
        encoding is known there. Precondition: in a text, `base + at` never decreases from call to call.
        """
        characters = self.characters_at(base + at) if self.characters_at else None
        if characters is None:
            return False
        # Start at the last place where a character definitely ends, or where the last decision stopped. So the time is
        # linear.
        start = max(0, at - _LOOK_BACK, self._boundary - base)
        before = data[start:at].tobytes()
        place = boundary.end() if (boundary := _BOUNDARY.search(before)) else 0
        is_character = False
        while place < len(before):
            last, character = place, characters.match(before, place)
            is_character = character is not None
            place = character.end() if character else place + 1
            self._boundary = base + start + last
        return is_character
