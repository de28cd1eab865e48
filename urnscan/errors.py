"""Errors. The type of an error says what the run does about it.

Exception
├── UrnscanError
│   ├── SourceError      one input, or a part of it, could not be read: reported and counted, the run goes on
│   │   ├── DamageError  a part is damaged; what follows it in the same text can still be read
│   │   └── LimitError   it unfolds to more than the limits allow: nothing more of this input is read
│   ├── FatalError       the run ends: wrong usage, or an output that cannot be written
│   └── ArgumentError    (also a ValueError and a TypeError) a function was given a wrong argument
└── ValueError
    └── InvalidURN       a text is not a URN: why, and at which position

A notebook shows these errors as sentences, without a traceback.
"""

__all__ = ["ArgumentError", "DamageError", "FatalError", "InvalidURN", "LimitError", "SourceError", "UrnscanError"]


class _Sentence(Exception):  # noqa: N818 (base of the classes below)
    """Exception whose message needs no traceback beside it."""

    def _more(self) -> tuple[str, ...]:
        """Lines that stand below the message."""
        return ()

    def _render_traceback_(self) -> list[str]:
        """Lines that IPython shows in the place of a traceback: the message, and the line of the notebook."""
        import linecache  # noqa: PLC0415 (nobody else needs them)
        import traceback  # noqa: PLC0415

        from urnscan.display.text import printable  # noqa: PLC0415

        lines = [f"{type(self).__name__}: {printable(str(self))}", *self._more()]
        lines += [printable(note) for note in getattr(self, "__notes__", ())]
        frames = traceback.walk_tb(self.__traceback__)
        own = [(frame, line) for frame, line in frames if frame.f_globals.get("__name__") == "__main__"]
        if own:
            frame, line = own[-1]
            code = printable(linecache.getline(frame.f_code.co_filename, line).strip())
            lines.append(f"  in line {line}: {code}" if code else f"  in line {line}")
        return lines


class UrnscanError(_Sentence):
    """Base of the errors that urnscan raises on purpose; `str()` gives one clear line."""


class SourceError(UrnscanError):
    """An input, or a part of it, could not be read; the run goes on with the others.

    `source` is the name of the input. `reason` says why it failed and, if there is a remedy, what to do.
    """

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = source
        self.reason = reason

    def __reduce__(self) -> tuple[type["SourceError"], tuple[str, str]]:
        return type(self), (self.source, self.reason)  # as of InvalidURN

    @classmethod
    def from_os(cls, source: str, error: OSError) -> "SourceError":
        """Make a SourceError of an error of the operating system, in its words."""
        return cls(source, error.strerror or str(error))


class DamageError(SourceError):
    """A damaged part of an input: who reads on gets what follows it, which is not next to what came before."""


class LimitError(SourceError):
    """An input unfolds to more than the limits of the run allow; what was read of it until then counts."""


class FatalError(UrnscanError):
    """The run cannot begin, or cannot go on."""


class ArgumentError(UrnscanError, ValueError, TypeError):
    """A function of the library was given a name that is no option, or a value that the option does not take."""


class InvalidURN(_Sentence, ValueError):  # noqa: N818 (the name is what it says)
    """A text is no URN in the chosen syntax.

    `reason` says why for people, `code` for programs: one of `urnscan.urn.syntax.REASONS`, which never change.
    `position` is the index, from 0, of the first octet or character that cannot be part of a URN. `text` is the text
    that was parsed, its octets as characters; it may be empty.
    """

    def __init__(self, reason: str, position: int, code: str, text: str = "") -> None:
        super().__init__(f"{reason} (at position {position})")
        self.reason = reason
        self.position = position
        self.code = code
        self.text = text

    def __reduce__(self) -> tuple[type["InvalidURN"], tuple[str, int, str, str]]:
        # Exceptions are pickled by their args, which hold the message alone; worker processes of other engines pickle.
        return type(self), (self.reason, self.position, self.code, self.text)

    def _more(self) -> tuple[str, ...]:
        from urnscan.display.text import pointed  # noqa: PLC0415 (as above)

        return tuple(f"  {line}" for line in pointed(self.text, self.position)) if self.text else ()
