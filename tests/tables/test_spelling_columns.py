"""The columns of spellings: components and problems, in whatever way rows come."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracle import SYNTAXES
from tests.support.strategies import urn_pairs
from urnscan.compiled.arrow import byte_strings, text_array
from urnscan.tables.spelling_columns import spelling_columns
from urnscan.urn.parser import parse
from urnscan.urn.syntax import get_syntax

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)
MARKS = {"rfc2141": ("", "", ""), "rfc8141": ("?+", "?=", "#"), "rfc2141bis-03": ("", "?", "#")}
"""What stands before each component."""


def columns_of(texts, syntax):
    """The four columns, row by row."""
    columns = spelling_columns(*byte_strings(text_array(texts)), get_syntax(syntax))
    for column in columns:
        column.validate(full=True)
        assert (column.type, len(column)) == (pa.string(), len(texts))
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


@every_syntax
@given(data=st.data())
def test_name_and_components_are_the_text(syntax, data):
    """Semantics, three syntaxes: nothing of a spelling is lost, and the columns are those of `parse`."""
    texts = [text for text, _ in data.draw(st.lists(urn_pairs(syntax), max_size=5))]
    for text, (*components, problem) in zip(texts, columns_of(texts, syntax), strict=True):
        urn = parse(text, syntax)
        assert components == [urn.r_component, urn.q_component, urn.f_component]
        behind = (mark + part for mark, part in zip(MARKS[syntax], components, strict=True) if part is not None)
        assert text == f"{text.split(':')[0]}:{text.split(':')[1]}:{urn.nss}{''.join(behind)}"
        assert problem == ("; ".join(urn.problems) or None)


@pytest.mark.parametrize(
    ("text", "syntax", "components"),
    [
        ("urn:ab:c?+r?=q#f", "rfc2141", (None, None, None)),
        ("urn:ab:c?+r?=q#f", "rfc8141", ("r", "q", "f")),
        ("urn:ab:c?+r?x?+y?=q?=z?+#f?=g", "rfc8141", ("r?x?+y", "q?=z?+", "f?=g")),
        ("urn:ab:c#", "rfc8141", (None, None, "")),
        ("urn:ab:c?+r#?+f", "rfc8141", ("r", None, "?+f")),
        ("urn:ab:c?s=I2L&c=?d#", "rfc2141bis-03", (None, "s=I2L&c=?d", "")),
        ("urn:ab:c?a==", "rfc2141bis-03", (None, "a==", None)),
    ],
)
def test_components(text, syntax, components):
    """RFC 8141 §2.3: `?+` ends before `?=`, both before `#`; rfc2141bis-03 §2.3, §2.4."""
    problem = "component-not-adopted" if syntax == "rfc2141bis-03" else None
    assert columns_of([text], syntax) == [(*components, problem)]


@every_syntax
def test_columns_without_values(syntax):
    """Nearly all rows have none: no row, and rows among which none has any."""
    assert columns_of([], syntax) == []
    assert columns_of(["urn:ab:c", "urn:ab:%C3%BC"], syntax) == [(None,) * 4] * 2
