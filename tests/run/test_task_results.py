"""Counts of a run."""

from urnscan.run.task_results import Counts


def test_counts_add_up_field_by_field():
    one, two = Counts(1, 2, 3, 4, 5), Counts(10, 20, 30, 40, 50)
    assert one + two == Counts(11, 22, 33, 44, 55)
    assert one + Counts() == one
