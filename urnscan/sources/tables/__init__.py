"""Tables -> columns of values: Parquet, Arrow, SQLite, and named fields of CSV and JSON.

columnar: Parquet and Arrow IPC.
messages: the messages of an Arrow IPC stream, one by one.
leaves: values of text in Arrow columns, however deep they are nested.
sqlite: SQLite databases.
text: decoded text of which a part is held.
records: JSON text as records.
fields: named fields of CSV and JSON.
values: values gathered to columns; limits of memory.
"""
