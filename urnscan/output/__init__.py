"""Rows -> files, whole or not at all.

spill: rows that may be more than memory holds, kept in a file without a name.
places: local paths and URLs where an output appears when it is complete.
parquet: the Parquet writer.
octets: plain octets, compressed as the name says.
"""
