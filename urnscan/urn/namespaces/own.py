"""Custom rules: a file in the form of `rules.toml`, read and checked. A custom rule replaces the registered rule of the
same NID.
"""

from __future__ import annotations

import os
import string
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import regex

from urnscan.errors import ArgumentError, FatalError
from urnscan.urn.namespaces.judgement import KNOWN
from urnscan.urn.namespaces.patterns import automaton
from urnscan.urn.namespaces.registry import OURS, Resolver, Rule, Rulebook, rules_of

Rules: TypeAlias = Rulebook | str | os.PathLike[str] | None
"""Values of the option for custom rules: a result of `read_rules`, the path of a file, or None for the registered rules
only.
"""

# Maximum bytes of a file. Ours has 42,000.
_LARGEST = 1_000_000
# Maximum number of namespaces in a file. Compiled code counts rules in 16 bits.
_MAX = 5_000
_NID = regex.compile("[a-z0-9][a-z0-9-]{0,31}")
_NEEDED = ("title", "rule", "equality")
_KEYS = tuple(key.name for key in fields(Rule) if key.name != "nid")
_RESOLVER_KEYS = tuple(key.name for key in fields(Resolver))
_LINE = regex.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read_rules(path: str | os.PathLike[str]) -> Rulebook:
    """Read custom rules from a TOML file in the form of `urnscan/urn/namespaces/rules.toml`. The result has these rules
    and the registered rules of all other NIDs.

    Raises FatalError for a file that cannot be read or has another form, with the line and the key of a wrong rule.

    >>> import tempfile
    >>> from urnscan.urn.namespaces import judge
    >>> with tempfile.NamedTemporaryFile(suffix=".toml") as file:
    ...     _ = file.write(b'''[x-lamp]
    ... title = "Lamps"
    ... grammar = "(?<upper>[A-Za-z]+)[0-9]+"
    ... syntax = "our guide"
    ... rule = "the letters in any case"
    ... equality = "our guide"
    ... ''')
    ...     file.flush()
    ...     own = read_rules(file.name)
    >>> judge("urn:x-lamp:a1", own).nss, judge("urn:x-lamp:lamp", own).valid, judge("urn:issn:0317-8471", own).valid
    ('A1', False, True)
    """
    name = os.fsdecode(path)
    try:
        with Path(name).open("rb") as file:
            data = file.read(_LARGEST + 1)
    # ValueError: the path contains NUL.
    except (OSError, ValueError) as error:
        raise FatalError(f"{name}: cannot be read as rules: {getattr(error, 'strerror', None) or error}") from None
    return rules_in(data, name)


def rules_in(data: bytes, name: str) -> Rulebook:
    """The custom rules in `data`, the bytes of a TOML file, with the registered rules of all other NIDs. `name` is the
    file name in messages. Raises FatalError for a file of another form, or of more than 1,000,000 bytes.
    """
    import hashlib  # noqa: PLC0415 (most programs do without)

    if len(data) > _LARGEST:
        raise FatalError(f"{name}: too large for a file of rules; it may have {_LARGEST:,} bytes")
    file = _RulesFile(name, data)
    own = tuple(sorted(file.rules(), key=lambda rule: rule.nid))
    return Rulebook(hashlib.sha256(data).hexdigest(), own, data.decode())


def rulebook_of(rules: object) -> Rulebook:
    """The rulebook for a value of the option for custom rules: the registered rules for None, a Rulebook unchanged, and
    for a path the rules in this file.

    Raises FatalError for a file that cannot be read or has another form, ArgumentError for a value of another type.
    """
    if rules is None:
        return OURS
    if isinstance(rules, Rulebook):
        return rules
    if isinstance(rules, str | os.PathLike):
        return read_rules(rules)
    raise ArgumentError(f"rules must be a path, or what urnscan.namespaces.read_rules gives, not {rules!r:.60}")


class _RulesFile:
    """The content of a file of custom rules, with its checks. Every error is a FatalError."""

    def __init__(self, name: str, data: bytes) -> None:
        self._name = name
        try:
            self._text = data.decode().removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise FatalError(f"{name}:{line}: is not in UTF-8, as TOML must be") from None

    def rules(self) -> Iterator[Rule]:
        import tomllib  # noqa: PLC0415 (most programs do without)

        try:
            table = tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as error:
            reason = str(error)
            place = _LINE.search(reason)
            line = int(place[1]) if place and place[1] else self._text.count("\n") + 1
            raise FatalError(f"{self._name}:{line}: invalid TOML: {_LINE.sub('', reason)}") from None
        except RecursionError:
            raise FatalError(f"{self._name}: invalid TOML: too many nested brackets") from None
        if not table:
            raise FatalError(f"{self._name}: contains no rules; begin a namespace with its NID, as in [x-lamp]")
        if len(table) > _MAX:
            raise FatalError(f"{self._name}: contains {len(table):,} namespaces; the maximum is {_MAX:,}")
        for nid, entry in table.items():
            self._check(nid, entry)
        yield from rules_of(table).values()

    def _check(self, nid: str, entry: Any) -> None:  # noqa: ANN401 (any TOML value)
        if not _NID.fullmatch(nid):
            advice = f"write {nid.lower()}" if _NID.fullmatch(nid.lower()) else "it has a-z, 0-9 and -, at most 32"
            self._wrong(f"is not a NID in lower case; {advice}", nid)
        if not isinstance(entry, dict):
            self._wrong(f"is a value, not a namespace; begin a namespace with its NID, as in [{nid}]", nid)
        for key, value in entry.items():
            if key not in _KEYS:
                self._wrong(f"unknown key; use {', '.join(_KEYS)}", nid, key)
            if key == "resolvers":
                self._check_resolvers(nid, value)
            elif not isinstance(value, str):
                self._wrong(f"must be a text in quotes, not {value!r:.60}", nid, key)
            elif not value or not value.isprintable():
                self._wrong("must be one line of text, and not empty", nid, key)
        needed = _NEEDED if "grammar" not in entry else (*_NEEDED, "syntax")
        for key in (key for key in needed if key not in entry):
            self._wrong(f"{key} is missing: {_MEANINGS[key]}", nid)
        for key, functions in KNOWN.items():
            if entry.get(key) not in (None, *functions):
                self._wrong(f"no {key} is called {entry[key]!r}; there are {', '.join(functions)}", nid, key)
            if key in entry and "grammar" not in entry:
                self._wrong("is of use only with grammar, which is missing", nid, key)
        if entry.get("check") == "dnb" and nid != "nbn":
            self._wrong('"dnb" is computed over urn:nbn: and the name: it is for [nbn] only', nid, "check")
        for key in ("grammar", "unsure"):
            if key in entry:
                try:
                    has_part = automaton(entry[key]).has_part
                except ValueError as error:
                    self._wrong(str(error), nid, key)
                if has_part and (key == "unsure" or entry.get("check") in (None, "dnb")):
                    self._wrong(f"(?<check>...) is of no use {_NO_PART[key]}", nid, key)

    def _check_resolvers(self, nid: str, resolvers: object) -> None:
        if not isinstance(resolvers, list) or not all(
            isinstance(resolver, dict)
            and {*resolver} == {*_RESOLVER_KEYS}
            and all(isinstance(text, str) for text in resolver.values())
            for resolver in resolvers
        ):
            self._wrong("must be a list of {names = '...', url = '...'}", nid, "resolvers")
        for resolver in resolvers:
            try:
                groups = regex.compile(resolver["names"]).groupindex
                parts = [*string.Formatter().parse(resolver["url"])]
            except (regex.error, RecursionError, ValueError) as error:
                self._wrong(str(error), nid, "resolvers")
            for _, field, form, conversion in parts:
                if field is not None and (field not in ("urn", "nss", *groups) or form or conversion):
                    self._wrong(
                        f"{{{field}}} in url is none of {{urn}}, {{nss}} and the groups of names", nid, "resolvers"
                    )
            if not resolver["url"].startswith(("https://", "http://")):
                self._wrong("url must begin with https:// or http://", nid, "resolvers")

    def _wrong(self, reason: str, nid: str, key: str | None = None) -> NoReturn:
        place = f"[{nid}]" if key is None else f"[{nid}] {key}"
        raise FatalError(f"{self._name}:{self._line(nid, key)}: {place}: {reason}")

    def _line(self, nid: str, key: str | None) -> int:
        """The line, from 1, in which the namespace or, if `key` is not None, this key of it begins; 1 if unknown."""
        import tomllib  # noqa: PLC0415

        # It is the last line for which the text before it, parsed alone, does not contain the namespace or the key.
        lines = self._text.split("\n")
        for number in range(len(lines), 0, -1):
            if (nid if key is None else key) in lines[number - 1]:
                try:
                    before: Mapping[str, Any] = tomllib.loads("\n".join(lines[: number - 1]))
                # The line is inside a value of several lines.
                except (tomllib.TOMLDecodeError, RecursionError):
                    continue
                entry = before.get(nid)
                if nid not in before or (key is not None and isinstance(entry, dict) and key not in entry):
                    return number
        return 1


_NO_PART = {"grammar": 'without check, and with "dnb", which is computed of the whole name', "unsure": "in unsure"}
_MEANINGS: Mapping[str, str] = {
    "title": "it says what the names name",
    "rule": 'it says in words which names are equal; "base" if there is no more than the rule of all URNs',
    "equality": "it says where that is laid down",
    "syntax": "it says where the grammar is laid down",
}
