"""Tables -> columns of values: Parquet, Arrow, SQLite, and named fields of CSV and JSON.

parquet: Parquet files.
arrow: Arrow IPC files and streams.
leaves: columns of Arrow -> values of text, however deep they are nested.
sqlite: SQLite databases.
text: decoded text of which a part is held.
records: JSON text as records.
fields: named fields of CSV and JSON.
values: values gathered to columns; limits of memory.
"""
