"""Loading without looking for garbage: a part of each start."""

import gc
import subprocess
import sys

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
