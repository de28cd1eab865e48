"""Matches -> rows of Arrow tables.

schemas: the Arrow schemas of all tables.
rows: columns of matches as rows of the tables.
values: a column of values scanned as one text, with matches sorted by value.
"""
