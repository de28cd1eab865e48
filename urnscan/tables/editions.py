"""The edition of the tables that are written, and the names that columns had in earlier editions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

EDITION = 2
"""The edition of the tables: `schema` in the metadata of a file. Files of the first edition have no such key."""

RENAMED: Mapping[str, str] = {
    "count": "occurrence_count",
    "variant_count": "spelling_count",
    "variants": "spellings",
    "offset": "start",
    "first_offset": "first_start",
    "trailing": "punctuation",
    "rank": "cluster_rank",
}
"""Columns of the first edition, and their names now."""

ADDED = ("r_component", "q_component", "f_component", "problem", "captured", "status", "mime")
"""Columns of occurrences that files of the first edition do not have."""


def names_now(names: Iterable[str]) -> list[str]:
    """The names of columns in this edition: a name of the first one is replaced, unless the new name is there, too.

    >>> names_now(["urn", "count"]), names_now(["occurrence_count", "count"])
    (['urn', 'occurrence_count'], ['occurrence_count', 'count'])
    """
    stored = list(names)
    return [name if (now := RENAMED.get(name, name)) in stored else now for name in stored]
