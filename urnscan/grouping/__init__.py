"""Rows of occurrences -> equivalence classes.

ranges: ranges of keys, chosen by a sample of them.
external: rows into ranges, in memory or on disk, and range by range into classes.
classes: what a class is: rows with one key added up, in memory.
"""
