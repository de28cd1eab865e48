"""Names of the temporary files and folders of a run, which inputs leave out."""

TEMPORARY_SUFFIX = ".urnscan-tmp"
"""Suffix of these names."""
