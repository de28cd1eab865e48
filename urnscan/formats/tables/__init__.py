"""Tables -> columns of values: Parquet, Arrow, SQLite, and named fields of CSV and JSON.

former_outputs: tables in CSV, TSV and JSON Lines that an earlier run wrote, which are reported.
parquet: Parquet files.
arrow: Arrow IPC files and streams.
nested_text: columns of Arrow -> values of text, at any depth.
sqlite: SQLite databases.
text_fields: columns of CSV and JSON, if the user names them.
json_lines: usual lines of JSON, decoded by msgspec.
json_paths: strings in JSON at a dotted path.
values: values collected to columns, places, errors, limits of memory.
"""
