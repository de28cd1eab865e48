"""Framing: bytes of a text -> bytes and offset of each line, row of CSV and value of JSON, in bounded memory.

A damaged record is reported, and reading continues with the next record.

buffer: bytes of a text in memory, which are searched and then taken.
lines: lines; `Damaged`, for a record that cannot be read.
rows: rows of CSV and TSV, and the values in a row.
json_values: values of JSON, in lines, in arrays, after each other.
json_layout: whether each line of a text is a value of JSON.
"""
