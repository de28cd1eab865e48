"""Matches -> rows of Arrow tables.

editions: which names columns had in earlier files.
metadata: the metadata of a table, for Arrow and pandas.
reading: rows of a Parquet file that urnscan wrote, in these schemas.
schemas: the Arrow schemas of all tables.
spill: rows on disk, and rows that may be more than memory holds.
spellings: components and problems of spellings as columns.
rows: columns of matches as rows of the tables.
values: a column of values scanned as one text, with matches sorted by value.
"""
