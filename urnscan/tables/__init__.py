"""Tables of a run: their schemas, their rows, and the files that contain them.

schemas: the Arrow schemas of all tables.
editions: the names that columns had in earlier files.
metadata: the metadata of a table, for Arrow and pandas.
rows: rows of the tables, made of columns of matches.
spelling_columns: components and problems of spellings as columns.
joinable_classes: how many classes the rules of the namespaces would join.
namespace_counts: counts of a scan by namespace, and lines that show them.
scanned_columns: scans of a column of values, with the value that contains each match.
spill: rows in temporary files.
output_file: an output, which appears at its path or URL whole or not at all.
plain_output: outputs of bytes and of HTML, with the compression that the name chooses.
layout: options that change the form of tables.
writers: tables in the format that the name chooses: Parquet, text or Excel.
nested_columns: nested columns as plain texts.
column_meanings: the meaning of each column, from a table (`columns.toml`).
excel_output: tables as workbooks of Excel.
parquet_writer, parquet_footer: the Parquet writer; the footer of a file whose row groups are encoded separately.
partial_output: files with the partial result of a run.
printed_lines: rows as lines of text and as lines of JSON.
readers: rows of a table that urnscan wrote.
text_tables: tables as text -> the same rows in a temporary Parquet file.
"""
