"""Tables of a run: their schemas, their rows, and the files that hold them, whole or not at all.

schemas: the Arrow schemas of all tables.
editions: which names columns had in earlier files.
metadata: the metadata of a table, for Arrow and pandas.
rows: columns of matches as rows of the tables.
spelling_columns: components and problems of spellings as columns.
scanned_columns: a column of values scanned as one text, with matches sorted by value.
spill: rows on disk, and rows that may be more than memory holds.
atomic_file: an output that appears when it is complete, at a path or a URL.
plain_output: octets as an output, compressed as the name says.
writers: tables in the format that the name says, Parquet or text.
parquet_writer, parquet_footer: the Parquet writer; the footer of a file whose row groups are encoded apart.
printed_lines: rows as lines of text and of JSON.
readers: rows of a Parquet file that urnscan wrote, in these schemas.
"""
