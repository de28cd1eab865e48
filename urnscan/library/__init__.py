"""Python's way in, for notebooks and programs.

scans: `scan` and `scan_batches`.
context: what stands around the occurrences of a class, read from the inputs again.
deduplication: `deduplicate`.
samples: the sample texts that come with the package.
"""
