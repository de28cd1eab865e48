"""Words that no command knows, and suggestions for them: the word that urnscan uses, or the most similar option."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from urnscan.errors import similar


def _by_word(rows: Mapping[str, str]) -> dict[str, str]:
    return {word: answer for words, answer in rows.items() for word in words.split()}


OPTIONS: Mapping[str, str] = _by_word(
    {
        "--format --output-format --csv --tsv --xlsx": (
            "the name of an output decides its format, as in -o urns.csv; -o - --json prints the classes as JSON Lines"
        ),
        "-O --out --outfile --output-file --parquet": "-o FILE writes the classes",
        "--overwrite --clobber -f -y --yes": "--force replaces outputs",
        "--html --page": "urnscan report makes a page of what -o wrote",
        "--uniq --distinct --group --group-by": "--unique prints each class once, with its count",
        "--dedup --dedupe --deduplicate": "urnscan dedup removes duplicates from dumps",
        "--files-with-matches --sources --list --files": "-l lists the sources with a URN",
        "-L --files-without-match": "--count prints the sources without a URN, too, with 0",
        "-A -B --after-context --before-context": "-C N prints the text on both sides",
        "-i --ignore-case -S --smart-case": "the case of urn: and of the namespace never counts: leave it out",
        "-r -R --recursive --hidden --no-ignore": "a folder is read with all below it: leave it out",
        "--line-number -H --with-filename": "the source and the line are always printed: leave it out",
        "--only-matching": "only URNs are printed: leave it out",
        "--no-filename -I --raw-output --no-line-number": "to print the URNs alone: --json | jq -r .text",
        "-a --text --binary -z --search-zip --decompress": "binary and compressed files are read, too: leave it out",
        "--regexp -E --extended-regexp -F --fixed-strings -P --perl-regexp -w --word-regexp -v --invert-match": (
            "every URN is found, without a pattern; --nid isbn,nbn:de chooses namespaces"
        ),
        "-g --glob --iglob --type --ext": "--include GLOB chooses the files of a folder",
        "--exclude-dir --ignore --ignore-file --ignore-files": "--exclude GLOB skips files and folders",
        "-0 --null --null-data": "--files-from FILE reads a list with a NUL after each name (- is standard input)",
        "-m --max-count --limit --head": "to stop early: | head -n N",
        "--threads --cores --cpus --workers --processes --parallel": "-j N sets their number",
        "--mem --ram --max-memory --buffer-size": "--memory SIZE bounds the memory for grouping",
        "--sort --sort-by": "classes are in the order of their names, --unique in that of their counts: leave it out",
        "--silent --no-messages": "--quiet prints no summary and no bar",
        "--no-color --no-colour --nocolor": "--color never prints no colours",
        "--normalize --normalise --canonicalize": "--canonical prints the canonical form of each URN",
    }
)
"""Option of grep, ripgrep, jq, sort or another tool -> advice for a scan."""

_CHECK_OPTIONS = _by_word(
    {
        "-o --output -O --out --outfile --output-file --csv --xlsx": (
            "--format csv > wrong.csv writes a table, which Excel opens"
        ),
    }
)
"""Option of a scan or of another tool -> advice for a check."""
_ADVICE = {"--unique": OPTIONS, "--fail-on": _CHECK_OPTIONS}
"""Option that only one command has -> the advice for this command."""

_COMMANDS = _by_word(
    {
        "help": "urnscan --help, or urnscan COMMAND --help",
        "version": "urnscan --version",
        "scan find search grep": "urnscan INPUT...",
        "count": "urnscan --count INPUT...",
        "uniq unique": "urnscan --unique INPUT...",
        "dedupe deduplicate": "urnscan dedup DUMP...",
        "parse validate": "urnscan explain URN...",
        "lint": "urnscan check INPUT...",
        "html page": "urnscan report CLASSES.parquet -o FILE.html",
        "completion completions": "urnscan --print-completion SHELL",
    }
)
"""First word that looks like a command -> the command line to type."""


def for_command(word: str, commands: Iterable[str]) -> str | None:
    """Return (not print) a message about a first word that is no command, and was probably meant as one, a URN or a
    pattern (a registered NID); None for any other word, and for the name of a file or folder that exists.

    `commands`: the words that are commands.
    """
    if os.path.lexists(word):
        return None
    if word[:4].lower() == "urn:":
        return f"{word}: no such file or folder; to read about a URN, type: urnscan explain '{word}'"
    if word in _COMMANDS:
        return f"{word}: no such command, and no such file or folder; type: {_COMMANDS[word]}"
    # The word is a path, a pattern or a URL.
    if not word.isalnum():
        return None
    if near := similar(word, commands):
        return f"{word}: no such command, and no such file or folder; is it urnscan {near[0]}?"
    from urnscan.urn.namespaces import registered

    if word.lower() in registered():
        return (
            f"{word}: no such file or folder; every URN is found, without a pattern: --nid {word.lower()} chooses this "
            "namespace"
        )
    return None


def for_option(word: str, options: Collection[str]) -> str:
    """Return the end of the message about an option `word` that the command does not have: a suggestion, such as "; is
    it --nid?", or advice such as "; --force replaces outputs" (for `--overwrite`); empty without either.

    `options` are the options of the command. Only a scan and a check have advice for options of other tools.
    """
    for mark, advice in _ADVICE.items():
        if mark in options and word in advice:
            return f"; {advice[word]}"
    near = _nearest(word, options)
    return f"; is it {near}?" if near else ""


def for_nid(nid: str) -> str | None:
    """Return (not print) a message about a NID that is not registered, with similar NIDs if there are any; None for a
    registered or an experimental one (`x-test`), and for a pattern such as `schemas-*`.
    """
    near = _similar_nids(nid)
    if near is None:
        return None
    return f"no such namespace is registered{f'; is it {near}?' if near else ''}"


def for_nid_option(beginning: str) -> str | None:
    """Return (not print) a message about a value of `--nid` (a NID, or a prefix such as `nbn:de`) whose namespace is
    probably mistyped: not registered, but similar to registered ones. None for any other value, also for a pattern such
    as `schemas-*`.
    """
    near = _similar_nids(beginning.partition(":")[0])
    return f"not registered, used as it is; is it {near}?" if near else None


def _similar_nids(nid: str) -> str | None:
    """Registered NIDs similar to one that is not, as `isbn or issn`, or empty. None if `nid` is registered or
    experimental, or is a pattern such as `schemas-*`.
    """
    from urnscan.urn.namespaces import nid_status, registered

    if nid.endswith("*") or nid_status(nid) not in ("unregistered", "reserved"):
        return None
    return " or ".join(similar(nid, registered()))


def _nearest(word: str, options: Iterable[str]) -> str | None:
    """The option that was probably meant: the only one that begins with `word`, or a long one (`--name`) with a similar
    spelling; else None.
    """
    begun = [name for name in options if name.startswith(word)]
    if len(begun) == 1:
        return begun[0]
    # The hyphens are removed, because they would make all options similar.
    names = {name.lstrip("-"): name for name in options if name.startswith("--")}
    near = similar(word.lstrip("-"), names)
    return names[near[0]] if near else None
