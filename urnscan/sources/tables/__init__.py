"""Tables -> columns of values: Parquet, Arrow, Avro, ORC, SQLite, and named fields of CSV and JSON.

parquet: Parquet files.
lake_rows: columns and rows of a Parquet file as its table in a data lake has them.
arrow: Arrow IPC files and streams.
leaves: columns of Arrow -> values of text, however deep they are nested.
avro: Avro files.
avro_schema: schemas of Avro as functions that find the text in binary data.
orc: ORC files.
orc_script: the process in which they are read.
sqlite: SQLite databases.
fields: named fields of CSV and JSON.
json_lines: usual lines of JSON, read many at a time.
json_paths: strings of JSON to which a dotted path leads.
values: values gathered to columns; limits of memory.
"""
