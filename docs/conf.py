"""How Sphinx makes the documentation: `python -m sphinx -W --keep-going docs OUT`. It needs no network, and neither do the pages."""

from __future__ import annotations

import dataclasses

from docutils.utils import urischemes
from sphinx.application import Sphinx

from urnscan import __version__

project = "urnscan"
author = "The urnscan authors"
project_copyright = author
version = release = __version__
language = "en"
smartquotes = False  # quotes are as they were written: much of the text in them is to be typed

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["_build"]

# Docstrings are prose, with code between single backticks; where that is a name on these pages, it becomes a link.
default_role = "py:obj"
nitpicky = True
nitpick_ignore_regex = [
    ("py:obj", "(?s).*"),  # that prose, also over a line end: most of what is code in it is not a name
    # Types of other libraries; to link to their pages would need the network.
    (
        "py:(class|data|exc)",
        r"(_?duckdb|collections|numpy|os|pa|pandas|pathlib|pd|polars|pyarrow|pyspark|types|typing)\..*",
    ),
    ("py:class", "Path|Row"),  # of pathlib and pyspark, where Spark is not installed
    (
        "py:class",
        r"(urnscan\.polars\._Column|urnscan\.dedup\.\w+\.\w+\.(Decisions|NeverJoin)|urnscan\.run\.\w+\.Counts|ResolverTail|Rules|TableName|urnscan\.library\.\w+\._Frame)",
    ),  # names of types that are written out
]

# A URN in the prose of a docstring is a name and leads nowhere.
urischemes.schemes.pop("urn", None)

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_type_aliases = {  # names that are imported for type checkers only
    "DataFrame": "pyspark.sql.DataFrame",
    "SparkSession": "pyspark.sql.SparkSession",
    "pd.DataFrame": "pandas.DataFrame",
    "pl.DataFrame": "polars.DataFrame",
}
python_use_unqualified_type_names = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3  # Markdown links to headings, as it does elsewhere

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"urnscan {version}"
html_static_path = ["_static"]
html_css_files = ["urnscan.css"]
html_copy_source = False
html_show_copyright = False

_MADE = ("urnscan.Options", "urnscan.Policy")  # the records that people make; all others are handed to them


def _signature(
    _app: Sphinx, what: str, name: str, thing: object, _options: object, signature: str | None, returned: str | None
) -> tuple[str, str | None] | None:
    """The signature of a record is its fields once more, except for those that people make."""
    if what != "class" or signature is None:
        return None
    if (dataclasses.is_dataclass(thing) or hasattr(thing, "_fields")) and name not in _MADE:
        return "", None
    return signature.replace("<factory>", "..."), returned  # what it was made by is no default


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-signature", _signature)
