"""The edition of the tables that this version writes, and the names that columns had in earlier editions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

EDITION = 3
"""The edition (version of names and columns) of the tables: `schema` in the metadata of a file. Files of the first
edition do not have this key.
"""

MERGED = (2, EDITION)
"""Editions whose tables `urnscan merge` reads."""

RENAMED: Mapping[str, str] = {
    "count": "occurrence_count",
    "variant_count": "spelling_count",
    "variants": "spellings",
    "offset": "start",
    "first_offset": "first_start",
    "trailing": "punctuation",
    "rank": "cluster_rank",
}
"""Name of a column in the first edition -> the name now."""

_RENAMED_IN_OCCURRENCES = {"problem": "spelling_problem"}
"""Name of a column of occurrences in the second edition -> the name now. In tables of classes, the names are unchanged.
"""

VERDICT = ("valid", "problem")
"""Columns of occurrences that files of the second edition do not have; their values follow from the column `urn`."""

ADDED = ("r_component", "q_component", "f_component", *VERDICT, "spelling_problem", "captured", "status", "mime")
"""Columns of occurrences that files of the first edition do not have."""


def names_now(names: Iterable[str]) -> list[str]:
    """The names that columns of a table of any edition have in this edition, in the same order. An earlier name is
    replaced, unless the new name is in the list, too; an unknown name stays.

    In a table with `problem` and without `valid` (occurrences of the second edition), `problem` becomes
    `spelling_problem`.

    >>> names_now(["urn", "count"]), names_now(["occurrence_count", "count"])
    (['urn', 'occurrence_count'], ['occurrence_count', 'count'])
    >>> names_now(["urn", "problem"]), names_now(["urn", "valid", "problem"])
    (['urn', 'spelling_problem'], ['urn', 'valid', 'problem'])
    """
    stored = list(names)
    renamed = RENAMED if "valid" in stored else {**RENAMED, **_RENAMED_IN_OCCURRENCES}
    return [name if (now := renamed.get(name, name)) in stored else now for name in stored]
