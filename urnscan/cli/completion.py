"""`urnscan --print-completion SHELL`: print the script that completes commands, options, values and files in a shell.

shtab makes the script from the parsers. Added is what shtab does not know: the first word may be a file, too, as in
`urnscan INPUT...`, and a value may be a list, as in `--recover percent,wraps`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import Any

from urnscan.cli.arguments import SUMMARIES, Parser
from urnscan.cli.shared_options import NIDS, Listed
from urnscan.urn.namespaces import registered

_FILES = re.compile(r"FILE|INPUT|DUMP|[A-Z]+(?P<suffix>\.\w+)")  # metavar of an argument that names files

_ADDED: Mapping[str, str] = {
    "bash": """\
_shtab_urnscan_pos_0_COMPGEN=_shtab_compgen_files
_urnscan() { # bash makes three words of --syntax=rfc8
  if [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then
    COMP_WORDS[COMP_CWORD]=''
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    COMP_WORDS[COMP_CWORD - 1]=${COMP_WORDS[COMP_CWORD]}
    (( COMP_CWORD-- ))
  fi
  _shtab_urnscan
}
_urnscan_list() {
  local word words='' typed=$1 before=''
  [[ $typed == *,* ]] && before=${typed%,*},
  for word in "${@:2}"; do
    [[ ,$before == *,$word,* ]] || words+=" $word"
  done
  compgen -P "$before" -W "$words" -- "${typed##*,}"
}
LISTS
_urnscan_nids() { _urnscan_list "$1" NIDS; }""",
    "zsh": """\
_shtab_urnscan() {
  local specs=_shtab_urnscan_options
  if (( CURRENT > 2 && $+parameters[_shtab_urnscan_${words[2]}_options] )); then
    specs=_shtab_urnscan_${words[2]}_options
    shift words
    (( CURRENT-- ))
  elif (( CURRENT == 2 )); then
    _shtab_urnscan_commands
  fi
  _arguments -s -S : "${(@P)specs}"
}""",
    "fish": "",
}
"""By shell: functions and variables added to the script."""

_REPLACED: Mapping[str, Sequence[tuple[str, str]]] = {
    "bash": ((r"-F _shtab_urnscan urnscan$", "-F _urnscan urnscan"),),
    "zsh": (
        (r'"\(\*\)::?', '"*:'),  # any number of arguments; shtab completes only the first
        (r'\n *"\*:[^:\n]*:"', ""),  # arguments that nothing completes: zsh would insert no option either
        (r'"(\*?--[\w-]+)\[(.*)\]:', r'"\1=[\2]:'),  # --syntax=rfc8141 beside --syntax rfc8141
    ),
    "fish": (
        (r"npos -ge 1'", "npos -ge 0'"),  # files also as the first argument, beside the commands
        (r"__fish_complete_path \(commandline -ct\)", "__fish_complete_suffix ''"),  # also a name that is quoted
    ),
}
"""By shell: patterns in the script, and what replaces them."""


class PrintCompletion(argparse.Action):
    """Action of the option: print the script, and exit."""

    SHELLS = tuple(_ADDED)

    def __call__(
        self, parser: argparse.ArgumentParser, _namespace: object, values: object, _option: object = None
    ) -> None:
        """Print the script for the shell that `values` names."""
        import shtab

        shell = str(values)
        preamble = _ADDED[shell].replace("LISTS", _lists()).replace("NIDS", " ".join(registered()))
        script = shtab.complete(_all_commands(), shell, preamble=preamble)
        for pattern, replacement in _REPLACED[shell]:
            script = re.sub(pattern, replacement, script)
        print(script)
        parser.exit()


def _lists() -> str:
    """Functions of bash that complete options whose values are lists of known words."""
    from urnscan.cli import COMMANDS

    words = {
        action.dest: action.type.words
        for command in COMMANDS.values()
        for action in command.parser()._actions  # noqa: SLF001 (no public way leads to them)
        if isinstance(action.type, Listed) and action.metavar != NIDS
    }
    return "\n".join(
        f'_urnscan_{dest}() {{ _urnscan_list "$1" {" ".join(known)}; }}' for dest, known in sorted(words.items())
    )


def _all_commands() -> Parser:
    """Parser of a scan with the other commands as subcommands, as shtab needs it."""
    from urnscan.cli import COMMANDS

    first, *others = COMMANDS
    parser = _for_shells(COMMANDS[first].parser())
    commands = parser.add_subparsers(
        parser_class=lambda command, **_: _for_shells(COMMANDS[command].parser())  # type: ignore[call-overload]
    )
    commands.nargs = None  # the name of a command is one word; files follow it
    for name in others:
        commands.add_parser(name.split()[-1], command=name, help=SUMMARIES[name])
    parser._actions.insert(0, parser._actions.pop())  # noqa: SLF001 (the name of a command is the first argument)
    return parser


def _for_shells(parser: Parser) -> Parser:
    """Shorten the help of each argument, and set the attribute `complete`: shtab completes its value by that."""
    import shtab

    parser.description = SUMMARIES[parser.prog]
    for action in parser._actions:  # noqa: SLF001 (no public way leads to them)
        action.help = re.split(r"[:;(]", str(action.help))[0].strip()
        files = _FILES.fullmatch(str(action.metavar))
        complete: Any = None
        if isinstance(action.type, Listed):
            is_of_nids = action.metavar == NIDS
            words = " ".join(registered() if is_of_nids else action.type.words)
            complete = {
                "bash": "_urnscan_nids" if is_of_nids else f"_urnscan_{action.dest}",
                "zsh": f"_values -s , {action.dest} {words}",
                "fish": f"(__fish_append , {words})",
            }
        elif files and files["suffix"]:
            complete = shtab.glob(f"*{files['suffix']}") | {
                "zsh": f"_files -g '*{files['suffix']}'",
                "fish": f"(__fish_complete_suffix {files['suffix']})",
            }
        elif files:
            complete = shtab.FILE
        elif action.metavar == "FOLDER":
            complete = shtab.DIR
        if complete:
            action.complete = complete  # type: ignore[attr-defined]
    return parser
