"""`urnscan explain URN...`: show the parts of URNs, or why a text is no URN."""

from __future__ import annotations

import argparse
import json

from urnscan.cli.arguments import USAGE, About, Parser, add_help, add_meaning
from urnscan.display.text import pointed, printable

__all__ = ["explain", "explain_parser"]


def explain_parser() -> Parser:
    """The parser of `urnscan explain`."""
    parser = Parser(
        About(
            "urnscan explain",
            usages=("urnscan explain URN... [--syntax NAME] [--equivalence LEVEL] [--json]",),
            description="Show the parts of URNs: canonical form, namespace with its rule and verdict, components, and a "
            "link to a public resolver if there is one. For a text that is no URN, show where and why.",
            examples=(
                ("show what is wrong with an ISBN", "urnscan explain urn:isbn:0-395-36341-6"),
                ("show the components of RFC 8141", "urnscan explain --syntax rfc8141 'urn:example:a?=b#c'"),
            ),
            statuses={0: "all are URNs", 1: "some are not", USAGE: "wrong usage, or nothing could be done"},
        )
    )
    parser.add_argument_group("input").add_argument("texts", metavar="URN", nargs="+", help="a text that may be a URN")
    parser.add_argument_group("output").add_argument(
        "--json", action="store_true", help="print a JSON object for each, one on each line"
    )
    add_meaning(parser, scan=False)
    add_help(parser)
    return parser


def explain(arguments: argparse.Namespace) -> bool:
    """Explain the texts; returns whether all are URNs."""
    from urnscan.urn import explanation  # noqa: PLC0415

    all_are = True
    for number, text in enumerate(arguments.texts):
        found = explanation.explain(text, syntax=arguments.syntax, equivalence=arguments.equivalence)
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
            for line in pointed(text, found.position):
                print(f"  {'':<12} {line}")
    return all_are
