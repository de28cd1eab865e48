"""The functions that Python programs and notebooks call.

shared: progress, errors and tables of the functions below.
context: `Scan.context`, the text around the occurrences of a class.
scans: `scan` and `scan_batches`.
deduplication: `deduplicate`.
samples: `samples`, the sample texts that come with the package.
"""
