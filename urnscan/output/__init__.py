"""Rows -> files, whole or not at all.

spill: rows that may be more than memory holds, kept in a file without a name.
parquet: files that appear when they are complete; the Parquet writer.
"""
