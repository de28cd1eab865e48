"""Suffix of the temporary files and folders of a run, which are never inputs."""

TEMPORARY_SUFFIX = ".urnscan-tmp"
"""Suffix of the name of each temporary file or folder."""
