"""Letters before `urn:` that are the last byte of a character: in Shift_JIS, GBK, GB 18030, Big5 and CP949.

The kernel asks only where a byte of 0x81 or more stands before such a letter, so other text costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from urnscan.compiled.bytes import ByteArray

_LOOK_BACK = 1 << 10  # bytes; as many are in memory
_BOUNDARY = re.compile(rb"[\x00-\x2f](?=[^\x00-\x2f]*\Z)")  # no byte of a character of several is below 0x30


class MultiByte:
    """The decisions about such letters in one text after another, each from its beginning to its end."""

    def __init__(self) -> None:
        self.characters_at: Callable[[int], re.Pattern[bytes] | None] | None = None
        """Gives for a place in the text a character of several bytes in its encoding. None: no encoding is known."""
        self._boundary = 0

    def begin(self) -> None:
        """Begin with another text."""
        self._boundary = 0

    def ends_at(self, data: ByteArray, at: int, base: int) -> bool:
        """Whether a character of several bytes ends before `at` in a block that begins at the byte `base` of the text."""
        characters = self.characters_at(base + at) if self.characters_at else None
        if characters is None:
            return False
        # From the last place where a character surely ends, or where the last decision saw an end: so time is linear.
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
