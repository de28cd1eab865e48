"""Framing: octets of a text -> octets and offset of each line, row of CSV and value of JSON, in bounded memory.

A damaged record is named and costs only itself: the next one is found behind it.

buffer: octets of a text, looked through and then taken front to back.
lines: lines; `Damaged`, in the place of a record that cannot be read.
rows: rows of CSV and TSV; where the values in a row are.
json_values: values of JSON, in lines, in arrays, one after the other.
json_layout: whether each line of a text is a value of JSON.
"""
