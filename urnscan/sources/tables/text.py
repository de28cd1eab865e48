"""Text front to back, as the readers of records take it: decoded, a part of it held, what is behind let go of."""

import codecs
import re

from urnscan.errors import DamageError, SourceError
from urnscan.sources.reader import Reader

__all__ = ["Text"]

_BLOCK = 1 << 20  # octets read at a time


class Text:
    """A text in UTF-8, of which a part is held; octets that are not UTF-8 are escaped as Python does it."""

    def __init__(self, reader: Reader) -> None:
        self.text = ""
        self.at = 0
        """Where in `text` that begins which is still to be looked at."""
        self.error: SourceError | None = None
        """What ended the reading."""
        self.damage: DamageError | None = None
        self.plain = True
        """Whether all octets are UTF-8."""
        self._reader = reader
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._block = memoryview(bytearray(_BLOCK))
        self._octets = 0  # before `_counted`
        self._counted = 0  # a place in `text`
        self._ended = False

    def is_at_end(self, between: re.Pattern[str]) -> bool:
        """Pass over what the pattern matches; whether nothing follows it yet."""
        match = between.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at == len(self.text)

    def more(self) -> bool:
        """Let go of what is behind, and read as much again as there is, or a block; whether there was any."""
        self.octet(self.at)
        self._counted = 0
        parts = [self.text[self.at :]]
        self.at = 0
        length = before = len(parts[0])
        while not self._ended and self.damage is None and length < max(2 * before, before + 1):
            got = 0
            try:
                got = self._reader.read_into(self._block)
            except DamageError as error:
                self.damage = error
            except SourceError as error:
                self.error = error
            if not got and self.damage is None:
                self._ended = True
            parts.append(self._decode(self._block[:got], final=not got))
            length += len(parts[-1])
        self.text = "".join(parts)
        return length > before

    def octet(self, at: int) -> int:
        """How many octets stand before a place in `text`, which is not before the one that this was asked for last."""
        self._octets += len(self.text[self._counted : at].encode("utf-8", "surrogateescape"))
        self._counted = at
        return self._octets

    def raise_error(self) -> None:
        """At the end: raise what it is that ended it, if that is an error."""
        if self.error is not None:
            raise self.error
        if self.damage is not None:
            raise self.damage

    def end_damage(self) -> DamageError:
        """Go on behind the damage; its error."""
        error, self.damage = self.damage, None
        if error is None:
            raise ValueError("there is no damage")
        return error

    def skip_line(self) -> bool:
        """Go on behind the next line feed; whether there is one."""
        while (end := self.text.find("\n", self.at)) < 0:
            self.at = len(self.text)
            if not self.more():
                return False
        self.at = end + 1
        return True

    def _decode(self, octets: memoryview, *, final: bool) -> str:
        state = self._decoder.getstate()
        try:
            return self._decoder.decode(octets, final)
        except UnicodeDecodeError:
            self.plain = False
            self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
            self._decoder.setstate(state)
            return self._decoder.decode(octets, final)
