"""The tables and the page for people who check a run, and the decisions that they write.

review_table: rows of the records that are in doubt.
page: the page of these rows and records.
excerpts: the first bytes of records as pages show them.
candidates: pairs of records that share no key and may be the same.
decisions: decisions of people about records, read, checked and applied.
user_tables: tables that people write for a run, read row by row.
"""
