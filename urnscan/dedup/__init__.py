"""Deduplication of bibliographic dumps: clusters of records that share identifiers, and the dumps without the
duplicates.

job: a run, from inputs to outputs.
dedup_report: counts, failures and messages of a run.
policy: options that decide which keys join records, and which record of a cluster is kept.
read: dumps -> rows of records, and edges between records and their identifiers.
join: edges -> clusters.
compare: comparison of the descriptions of two records.
cluster_records: the steps from edges to clusters.
clustering: cluster, rank and decision of each record, and the rows about them.
review: tables and pages for people who decide, and their decisions.
reread: dumps read again, to write them without duplicates.
write: the results: copies of the dumps, tables, the page.

Memory holds the bytes of a few batches of records, and numbers for all records.
"""
