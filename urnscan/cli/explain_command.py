"""`urnscan explain [URN...]`: show the parts of URNs, or why a text is not a URN."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator

from urnscan.cli.arguments import FAILED, USAGE, About, Parser
from urnscan.cli.shared_options import flag, option
from urnscan.cli.terminal import say, write
from urnscan.errors import FatalError

# Maximum bytes of a line of standard input.
_LONGEST = 1 << 20
_KNOWN = "not a URN, nor an ISBN, ISSN, DOI, UUID or resolver link that has one"
_BEFORE = re.compile(r"(?:.*?:\d+:|\d+[ \t]+)(?=(?i:urn):)")
"""Pattern of the source and line, or the count, that `urnscan` prints before a URN."""


def explain_parser() -> Parser:
    """The parser of `urnscan explain`."""
    parser = Parser(
        About(
            "urnscan explain",
            usages=("urnscan explain [URN...] [--syntax NAME] [--equivalence LEVEL] [options]",),
            description="Show the parts of URNs: canonical form, namespace with its rule and result, components, and "
            "a link to a public resolver if there is one, with what becomes of the components there. An ISBN, ISSN, "
            "DOI or UUID and a link to a resolver are read as the URN that they represent, an ISBN also with a remark such "
            "as (pbk.). For any other text, show where and why it is not a URN.",
            daily=("--json", "-s", "-e", "--rules"),
            examples={
                "show what is wrong with an ISBN": "urnscan explain urn:isbn:0-395-36341-6",
                "show the components of RFC 8141": "urnscan explain --syntax rfc8141 'urn:example:a?=b#c'",
                "check a list, one name on each line": "urnscan explain --json - < names.txt",
            },
            statuses={0: "all are good", 1: "some are not URNs, or are invalid", USAGE: FAILED[USAGE]},
        )
    )
    texts = option(
        "URN",
        "a text that may be a URN, or - for standard input, with a text on each line; without one, standard input is "
        "read, unless it is a terminal; lines that urnscan prints are read, too",
        nargs="*",
    )
    parser.add_group("input", {"texts": texts})
    parser.add_group("output", {"--json": flag("print a JSON object for each, one on each line")})
    parser.add_meaning()
    parser.add_exits()
    return parser


def explain(arguments: argparse.Namespace) -> bool:
    """Run `urnscan explain`: print an explanation of each text, before the next is read. Returns whether all texts are
    or represent URNs, and no URN is invalid; False also for a line of 1 MiB or more, which is skipped.

    Raises FatalError if there is nothing to read or the rules cannot be read, OSError if standard input cannot be read
    or standard output cannot be written.
    """
    from urnscan.urn import explanation
    from urnscan.urn.namespaces import read_rules

    if not arguments.texts and (sys.stdin is None or sys.stdin.isatty()):
        raise FatalError("nothing to explain; give URNs, or - for standard input (see urnscan explain --help)")
    rules = None if arguments.rules is None else read_rules(arguments.rules)
    all_are_good = True
    is_first = True
    for text in _texts(arguments.texts or ["-"]):
        if text is None:
            all_are_good = False
            continue
        result = explanation.explain(text, syntax=arguments.syntax, equivalence=arguments.equivalence, rules=rules)
        all_are_good &= result.is_good
        if arguments.json:
            write(f"{json.dumps(result.as_dict())}\n", sys.stdout)
        else:
            write(f"{result}\n" if is_first else f"\n{result}\n", sys.stdout)
        is_first = False
        if not result.is_good and os.path.lexists(text):
            say(
                f"{text}: is a file or folder; urnscan explain - < FILE reads a name on each line, urnscan INPUT finds them"
            )
        elif not result.is_good and (shared := _shared_by_key(text)):
            say(f"{text}: is not a URN, but a key of urnscan dedup ({shared}); see --keys in man urnscan-dedup")
        elif result.position == 0 and text in arguments.texts:
            say(f"{text}: {_KNOWN}; urnscan INPUT finds names in files")
    return all_are_good


def _shared_by_key(text: str) -> str | None:
    from urnscan.records.keys import keys

    kind, colon, _ = text.partition(":")
    return keys()[kind].shared if colon and kind in keys() else None


def _texts(arguments: list[str]) -> Iterator[str | None]:
    for argument in arguments:
        if argument == "-":
            yield from _lines_of_standard_input()
        else:
            yield argument


def _lines_of_standard_input() -> Iterator[str | None]:
    """Yield the lines of standard input that are not empty, without white space around them; None for a line that is
    too long, which is reported. A place or count before a URN is removed: `a.txt:3:urn:x-a:1` -> `urn:x-a:1`.
    """
    if sys.stdin is None:
        raise FatalError("standard input is closed")
    lines = sys.stdin.buffer
    number = 0
    while line := lines.readline(_LONGEST + 1):
        number += 1
        if len(line) > _LONGEST and not line.endswith(b"\n"):
            say(f"standard input, line {number}: it has more than {_LONGEST:,} bytes and is passed over")
            while line and not line.endswith(b"\n"):
                line = lines.readline(_LONGEST)
            yield None
            continue
        text = line.decode("utf-8", "surrogateescape").removeprefix("\ufeff" if number == 1 else "").strip()
        if text:
            before = None if text[:4].lower() == "urn:" else _BEFORE.match(text)
            yield text[before.end() :] if before else text
