"""The tables and the page for people who check a run, and their decisions.

review_table: rows of the records that are in doubt, and the pairs that a page shows.
page: the page with these rows and the records.
excerpts: the first bytes of records, prepared for pages.
candidates: pairs of records that share no key and may be the same.
decisions: decisions of people about records and pairs, read and checked.
decided_records: the records of a run about which people decided.
applied_decisions: these decisions, applied to the records of a run.
user_tables: tables that people write for a run, read row by row.
"""
