"""`urnscan --print-completion SHELL`: print the script that completes commands, options, values and files in a shell.

shtab makes the script from the parsers. A line is added for files: a file may be in the position of a command, as in
`urnscan INPUT...`, which shtab does not support.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping

from urnscan.cli.arguments import SUMMARIES, Parser, short_help
from urnscan.cli.shared_options import NIDS, Listed
from urnscan.urn.namespaces import registered

_PREAMBLES = {
    "bash": "_shtab_urnscan_pos_0_COMPGEN=_shtab_compgen_files",
    "zsh": "functions[_shtab_urnscan_commands]+=$'\\n_files'",
    "fish": "",  # the script would erase it
}
_FISH = "complete -c urnscan -n _shtab_urnscan_using -ka \"(__fish_complete_suffix '')\""
_FILES = re.compile(
    r"FILE|INPUT|DUMP|CLASSES|OCCURRENCES|OLD|NEW|[A-Z]+(?P<suffix>\.\w+)"
)  # metavar of an argument that names files


def print_completion(shell: str, parsers: Mapping[str, Callable[[], Parser]]) -> None:
    """Print the completion script for a shell (bash, zsh or fish) on standard output. `parsers` maps each command to a
    function that makes its parser; the first command is the scan.
    """
    import shtab

    print(shtab.complete(_all_commands(parsers), shell, preamble=_PREAMBLES[shell]))
    if shell == "fish":
        print(_FISH)


def _all_commands(parsers: Mapping[str, Callable[[], Parser]]) -> Parser:
    """A parser for shtab: the options of the first command, and the other commands as subcommands."""
    first, *others = parsers
    parser = _for_shells(parsers[first]())
    # shtab would treat a positional argument of any number before the commands as all that is possible there.
    parser._actions[:] = [action for action in parser._actions if action.option_strings]  # noqa: SLF001
    commands = parser.add_subparsers(
        parser_class=lambda command, **_: _for_shells(parsers[command]())  # type: ignore[call-overload]
    )
    for name in others:
        commands.add_parser(name.split()[-1], command=name, help=SUMMARIES[name])
    return parser


def _for_shells(parser: Parser) -> Parser:
    """Add to the parser, for shtab, short helps and the way in which each value is completed; return it."""
    import shtab

    parser.description = SUMMARIES[parser.prog]
    for action in parser._actions:  # noqa: SLF001 (no public way leads to them)
        action.help = short_help(action)
        files = _FILES.fullmatch(str(action.metavar))
        if isinstance(action.type, Listed):
            action.choices = registered() if action.metavar == NIDS else action.type.words
        elif files:
            suffix = files["suffix"] or ""
            action.complete = (shtab.glob(f"*{suffix}") if suffix else shtab.FILE) | {  # type: ignore[attr-defined]
                "zsh": f"_files -g '*{suffix}'" if suffix else "_files",
                # By default, shtab offers no file with a space in its name.
                "fish": f"(__fish_complete_suffix '{suffix}')",
            }
        elif action.metavar == "FOLDER":
            action.complete = shtab.DIR  # type: ignore[attr-defined]
        # If nothing completes an argument, zsh completes no options either, unless the argument is hidden.
        elif not action.option_strings:
            action.help = argparse.SUPPRESS
    return parser
