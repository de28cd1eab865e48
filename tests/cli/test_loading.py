"""Loading without looking for garbage: a part of each start."""

import gc

import pytest

from urnscan.cli.heavy import loading


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
