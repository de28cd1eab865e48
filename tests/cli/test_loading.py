"""What a start loads: without looking for garbage, and nothing that the run does not need."""

import gc
import os
import re
import subprocess
import sys
from collections import defaultdict

import pytest

from urnscan.cli.lazy_imports import loading


def test_garbage_is_looked_for_again():
    """Afterwards, whatever happens, and only where it was before."""
    assert gc.isenabled()
    with loading():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ImportError), loading():
        raise ImportError
    assert gc.isenabled()
    gc.disable()
    try:
        with loading():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
        gc.unfreeze()


THREADS = """
import os, sys
before = len(os.listdir("/proc/self/task"))
if sys.argv[1:]:
    from urnscan.cli import main
    main(["explain", "urn:example:a"])
import numpy
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="counts threads by /proc")
def test_numpy_starts_no_threads():
    """A thread for each core, for linear algebra, is a fifth of the CPU time of a start; nobody's own setting is changed."""
    plain, ours = (
        subprocess.run([sys.executable, "-c", THREADS, *given], capture_output=True, text=True, check=True).stdout
        for given in ((), ("x",))
    )
    assert int(ours.split()[-1]) <= int(plain)
    assert int(ours.split()[-1]) == 0


# Libraries, and packages of ours, that printing the URNs of a text file needs nothing of.
NEEDLESS = {
    *(
        "asyncio",
        "brotli",
        "email",
        "fsspec",
        "homoglyphs_fork",
        "http",
        "importlib.metadata",
        "isal",
        "jinja2",
        "lxml",
    ),
    *("lz4", "msgspec", "multiprocessing", "numba", "numpy.ma", "numpy.random", "pyarrow.dataset", "pyarrow.fs"),
    *("pyarrow.parquet", "pyarrow.vendored.docscrape", "pydoc", "pymarc", "pypdfium2", "rapidfuzz", "scipy", "ssl"),
    *("unittest", "xml", "zstandard", "urnscan.dedup", "urnscan.library", "urnscan.records", "urnscan.report"),
    *("urnscan.results", "urnscan.spark"),
}
IMPORT = re.compile(r"import time: +(\d+) \| +\d+ \| +(\S+)")


def imports(*command):
    """The modules that a fresh interpreter imports, each with its own microseconds."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *command],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    return {name: int(microseconds) for microseconds, name in IMPORT.findall(done.stderr)}


def print_urns(folder):
    """The words that make the interpreter print the URNs of a text file."""
    text = folder / "a.txt"
    text.write_text("see urn:isbn:0451450523\n")
    return "-m", "urnscan", str(text)


def test_printing_loads_no_needless_module(tmp_path):
    """Contract: what only some runs need is loaded when it is met. Some of these take a tenth of a start."""
    modules = {name for name in imports(*print_urns(tmp_path)) if not name.startswith("pandas")}
    packages = {
        ".".join(parts[:end]) for name in modules for parts in [name.split(".")] for end in range(1, len(parts) + 1)
    }
    assert packages & NEEDLESS == set()
    assert {"urnscan.run.pipeline", "pyarrow.compute"} <= modules


def test_the_functions_of_pyarrow_without_their_documentation():
    """Its parser of docstrings took half of the time of `pyarrow.compute`; afterwards it is there for whoever needs it."""
    script = (
        "import sys; from urnscan.cli.lazy_imports import loading\nwith loading(): import pyarrow.compute as pc\n"
        "assert 'pydoc' not in sys.modules\nfrom pyarrow.vendored import docscrape\n"
        "print(docscrape.NumpyDocString.__module__, pc.count(['a', None], mode='all'))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pyarrow.vendored.docscrape", "2"]


@pytest.mark.guard
def test_time_of_imports(tmp_path):
    """A start imports for at most so many times as long as NumPy and pyarrow alone; the fastest of some runs counts."""
    least = {name: defaultdict(lambda: sys.maxsize) for name in ("bare", "ours")}
    commands = {"bare": ("-c", "import numpy, pyarrow"), "ours": print_urns(tmp_path)}
    for _ in range(7):
        for name, command in commands.items():
            for module, microseconds in imports(*command).items():
                least[name][module] = min(least[name][module], microseconds)
    bare, ours = (sum(of_modules.values()) for of_modules in least.values())
    assert ours < 2.5 * bare
