"""Matches -> rows of Arrow tables.

rows: the schemas of all tables, and columns of matches as rows of them.
values: a column of values scanned as one text, with matches sorted by value.
"""
