"""The packages of urnscan in the order of the data: each may import those above it that its line names, and no others."""

import ast
import sys
from pathlib import Path

import urnscan

FOLDER = Path(urnscan.__file__).parent
PACKAGES = {  # package: packages that it may import; libraries that it may import
    "version": ("", ""),
    "extensions": ("", ""),
    "display": ("", "regex tqdm IPython"),
    "errors": ("display", ""),
    "pool": ("", ""),
    "arrays": ("display", "llvmlite numba numpy pyarrow"),
    "urn": ("display errors arrays", "numpy regex stdnum homoglyphs_fork"),
    "framing": ("errors", ""),
    "sources": (
        "errors extensions arrays framing",
        "numpy pyarrow isal zstandard lz4 brotli fsspec lxml msgspec pypdfium2",
    ),
    "scanner": ("display errors arrays urn", "numpy regex"),
    "records": ("errors arrays urn framing", "lxml numpy pyarrow pymarc regex"),
    "tables": ("errors arrays urn scanner", "numpy pyarrow"),
    "grouping": ("errors pool arrays urn tables", "numpy pyarrow"),
    "output": ("display errors pool arrays sources tables", "numpy pyarrow"),
    "run": ("display errors pool arrays urn sources scanner tables grouping output", "numpy pyarrow"),
    "results": ("display errors pool arrays urn sources tables grouping output run", "numpy pyarrow"),
    "report": ("display errors arrays urn tables", "jinja2 markupsafe numpy pyarrow"),
    "dedup": (
        "display errors arrays urn framing sources scanner records tables output run report",
        "numpy pyarrow rapidfuzz regex",
    ),
    "library": (
        "display errors pool arrays urn framing sources scanner records tables output run results report dedup",
        "numpy pyarrow pandas",
    ),
    "pandas": ("errors library run scanner tables urn", "pandas pyarrow"),
    "polars": ("errors library run scanner urn", "polars pyarrow"),
    "duckdb": ("errors library run scanner urn", "duckdb pyarrow"),
    "spark": ("errors pool arrays urn sources scanner tables grouping output run", "numpy pyarrow pyspark py4j regex"),
    "cli": (
        "display errors pool arrays urn sources scanner records tables output run results report dedup library spark",
        "pyarrow shtab",
    ),
    "__main__": ("cli", ""),
}
FILES = {path: path.relative_to(FOLDER).with_suffix("").parts for path in sorted(FOLDER.rglob("*.py"))}


def imported(path):
    """Dotted names of all modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_table_has_all_packages_in_order():
    """Each line names only lines above it, so there is no circle."""
    assert {parts[0] for parts in FILES.values()} == {"__init__", *PACKAGES}
    names = list(PACKAGES)
    for number, (packages, _) in enumerate(PACKAGES.values()):
        assert set(packages.split()) <= set(names[:number]), names[number]


def test_imports():
    for path, parts in FILES.items():
        if parts != ("__init__",):
            packages, libraries = PACKAGES[parts[0]]
            names = set(imported(path))
            own = {name.split(".")[1] for name in names if name.startswith("urnscan.")} - {"version"}
            assert own <= {*packages.split(), parts[0]}, path
            others = {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"urnscan"}
            assert others <= set(libraries.split()), path


def test_a_package_says_what_is_in_it():
    """Its docstring has each module and package in it, in lines `name, name: what they do`."""
    for package in [path.parent for path, parts in FILES.items() if parts[-1] == "__init__"][1:]:
        lines = ast.get_docstring(ast.parse((package / "__init__.py").read_text())).splitlines()
        said = {name for line in lines for name in line.split(":")[0].split(", ")}
        inside = {path.stem for path in package.glob("*.py")}
        inside |= {path.parent.name for path in package.glob("*/__init__.py")}
        assert inside - {"__init__"} <= said, package


def test_lengths():
    """A module has at most 400 lines, a function 60 below its signature and docstring: they are read at once."""
    for path in FILES:
        assert path.read_text().count("\n") <= 400, path
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                assert not body or node.end_lineno - body[0].lineno < 60, (path, node.name)
