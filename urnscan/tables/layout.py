"""The layout of tables: options of a user that change the form of a table.

This module loads quickly, because the command imports it for its options.
"""

from __future__ import annotations

from dataclasses import dataclass

DELIMITERS = (",", ";", "|")
"""Allowed separators between the values of CSV."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The form of a table, in addition to the format that the file name chooses."""

    delimiter: str = ","
    """Separator between the values of CSV: `,`, `;` or `|`."""
    flat: bool = False
    """Whether nested columns (lists) become texts, with `; ` between the elements."""


USUAL = Layout()
"""The layout without options."""
