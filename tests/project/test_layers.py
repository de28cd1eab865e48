"""The packages of urnscan in the order of the data: each may import those above it that its line names, and no others."""

import ast
import collections
import sys
from pathlib import Path

import urnscan

FOLDER = Path(urnscan.__file__).parent
PACKAGES = {  # package: packages that it may import; libraries that it may import
    "version": ("", ""),
    "extensions": ("", ""),
    "display": ("", "IPython regex tqdm"),
    "errors": ("display", ""),
    "pool": ("", ""),
    "compiled": ("display", "llvmlite numba numpy pyarrow"),
    "urn": ("display errors compiled", "homoglyphs_fork numpy regex stdnum"),
    "framing": ("errors", ""),
    "stores": ("display errors", "fsspec lxml numpy pyarrow"),
    "formats": (
        "display extensions errors compiled framing stores",
        "brotli isal libarchive lz4 msgspec numpy pyarrow pypdfium2 zstandard",
    ),
    "inputs": ("errors compiled stores formats", "numpy pyarrow"),
    "scanner": ("display errors compiled urn", "numpy regex"),
    "records": ("extensions compiled urn framing", "lxml numpy pyarrow pymarc regex"),
    "tables": ("display errors pool compiled urn stores formats scanner", "numpy pyarrow xlsxwriter"),
    "grouping": ("errors pool compiled urn tables", "numpy pyarrow"),
    "run": ("display errors pool compiled urn stores formats inputs scanner tables grouping", "numpy pyarrow"),
    "results": ("display errors pool compiled urn stores inputs tables grouping run", "numpy pyarrow"),
    "report": ("display errors compiled urn tables", "jinja2 markupsafe numpy pyarrow"),
    "dedup": (
        "display errors compiled urn framing stores formats scanner records tables run report",
        "numpy pyarrow rapidfuzz regex",
    ),
    "library": (
        "display errors pool compiled urn framing stores formats inputs scanner records tables run results report dedup",
        "numpy pandas polars pyarrow",
    ),
    "pandas": ("errors urn scanner tables run library", "pandas pyarrow"),
    "polars": ("errors urn scanner run library", "polars pyarrow"),
    "duckdb": ("errors urn scanner run library", "duckdb pyarrow"),
    "spark": ("errors compiled urn stores scanner tables grouping run", "numpy py4j pyarrow pyspark regex"),
    "cli": (
        "display errors pool compiled urn stores inputs scanner records tables run results report dedup library spark",
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


def own_imports(path):
    """Paths of the modules of the package that a file imports."""
    by_name = {".".join(["urnscan", *parts]).removesuffix(".__init__"): file for file, parts in FILES.items()}
    for name in imported(path):
        # A name of a module, or of what is in it.
        for module in (name, name.rpartition(".")[0]):
            if module in by_name:
                yield by_name[module]
                break


def test_no_circles_of_modules():
    """No module leads back to itself by imports: each can be read with those that it names, and without the others."""
    waiting = {path: set(own_imports(path)) - {path, FOLDER / "__init__.py"} for path in FILES}
    while free := [path for path, others in waiting.items() if not others & waiting.keys()]:
        for path in free:
            del waiting[path]
    assert not waiting


def test_names_of_files_are_their_own():
    """A name of a file that stands in three folders says nothing of what is inside."""
    counts = collections.Counter(path.name for path in FILES)
    del counts["__init__.py"]
    assert max(counts.values()) <= 2, counts.most_common(5)


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
