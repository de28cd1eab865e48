"""The progress bar: what it says, by the width of the terminal and the time of the run."""

from __future__ import annotations

import pytest
from tqdm import tqdm

from urnscan.display.progress import _bar_format


@pytest.mark.parametrize(("columns", "seconds"), [(20, 0.5), (48, 5.0), (59, 5.0), (78, 5.0), (200, 0.5)])
def test_all_of_it_fits_the_terminal(columns, seconds):
    """On a narrow terminal the picture is left out, not the numbers; the time left is told after a second."""
    layout = _bar_format(columns, 2_000_000_000, seconds)
    line = tqdm.format_meter(
        10**9, 2 * 10**9, seconds, columns, prefix="scanning", unit="B", unit_scale=True, bar_format=layout, rate=10**8
    )
    if columns > 40:
        assert len(line) <= columns
        assert line.endswith("100MB/s]")
    assert "50%" in line
    assert ("|" in line) == (columns >= 60)
    assert ("<00:10" in line) == (seconds >= 1)


def test_without_a_total_the_bar_is_that_of_tqdm():
    """Nobody knows the size of standard input."""
    assert _bar_format(80, None, 5.0) is None
