"""The layout of tables: what the options of a user decide about their form. It loads quickly, for the command's options."""

from __future__ import annotations

from dataclasses import dataclass

DELIMITERS = (",", ";", "|")
"""What may be between the values of CSV."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How tables are written, in addition to what their names say."""

    delimiter: str = ","
    """One of DELIMITERS, for CSV."""
    flat: bool = False
    """Whether nested columns become texts, as `flat_rows` makes them."""


USUAL = Layout()
"""The layout without options."""
