"""Tables -> columns of values: Parquet, Arrow, SQLite, and named fields of CSV and JSON.

former_outputs: tables in text that an earlier run wrote, which are told.
parquet: Parquet files.
arrow: Arrow IPC files and streams.
nested_text: columns of Arrow -> values of text, however deep they are nested.
sqlite: SQLite databases.
text_fields: named fields of CSV and JSON.
json_lines: usual lines of JSON, read many at a time.
json_paths: strings of JSON to which a dotted path leads.
values: values gathered to columns; limits of memory.
"""
