"""`urnscan explain URN...`: what URNs are made of, or why texts are none."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from urnscan.cli.arguments import Parser, add_meaning
from urnscan.cli.terminal import printable

__all__ = ["explain_command"]


def explain_command(words: Sequence[str]) -> bool:
    """Run it with these arguments; whether all are URNs."""
    from urnscan.explanation import explain  # noqa: PLC0415

    arguments = _parser().parse_args(words)
    all_are = True
    for number, text in enumerate(arguments.texts):
        found = explain(text, syntax=arguments.syntax, equivalence=arguments.equivalence)
        if not found.is_urn:
            all_are = False
        if arguments.json:
            print(json.dumps(found.as_dict()))
            continue
        if number:
            print()
        print(printable(text))
        for name, value in found.as_dict().items():
            if name == "directives":
                rows = [(name, f"{keyword} = {directive}") for keyword, directive in value.items()]
            elif name in ("text", "is_urn", "valid") or value is None or value == ():
                rows = []
            else:
                rows = [(name, ", ".join(value) if isinstance(value, tuple) else str(value))]
            for label, shown in rows:
                print(f"  {label.replace('_', ' '):<12} {printable(shown)}")
        if found.position is not None:
            print(f"  {'':<12} {printable(text)}")
            print(f"  {'':<12} {' ' * len(printable(text[: found.position]))}^")
    return all_are


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="urnscan explain",
        description="Take URNs apart, or say where and why a text is none.",
        epilog="Exit status: 0 all are URNs, 1 some are not, 2 wrong usage.",
        allow_abbrev=False,
    )
    parser.add_argument("texts", metavar="URN", nargs="+")
    add_meaning(parser, scan=False)
    parser.add_argument("--json", action="store_true", help="print a JSON object a line")
    return parser
