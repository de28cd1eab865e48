"""Rows of occurrences -> equivalence classes. A class has all spellings of one name; its key is their canonical form.

ranges: ranges of keys, chosen from a sample of the keys.
out_of_core: splits rows by ranges, in memory or on disk; then makes classes, range by range.
by_count: classes sorted by count.
classes: the definition of a class: rows with the same key added up, in memory.
"""
