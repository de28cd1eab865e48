"""Rows -> files, whole or not at all, and lines.

places: local paths and URLs where an output appears when it is complete.
footer: footers of Parquet files, whose row groups are written apart.
parquet: the Parquet writer.
lines: rows as lines of text and of JSON.
octets: plain octets, compressed as the name says.
tables: tables in the format that the name says, Parquet or text.
"""
