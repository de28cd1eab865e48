"""Framing: bytes of a text -> bytes and offset of each line, row of CSV and value of JSON, in bounded memory.

A damaged record is reported; the next one is searched for after it.

buffer: bytes of a text in memory, searched and then taken in their order.
lines: lines; `Damaged`, instead of a record that cannot be read.
rows: rows of CSV and TSV; where the values in a row are.
json_values: values of JSON, in lines, in arrays, one after the other.
json_layout: whether each line of a text is a value of JSON.
"""
