"""Rows of occurrences -> equivalence classes.

ranges: ranges of keys, chosen by a sample of them.
out_of_core: rows into ranges, in memory or on disk, and range by range into classes.
by_count: classes in the order of their counts.
classes: what a class is: rows with one key added up, in memory.
"""
