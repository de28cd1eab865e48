"""Tables -> columns of values: Parquet, Arrow, SQLite, and named fields of CSV and JSON."""
