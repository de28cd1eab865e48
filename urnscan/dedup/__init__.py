"""Deduplication of bibliographic dumps: clusters of records that share URNs, and the dumps without the duplicates.

decisions: decisions of people about records, read, checked and applied.
never_join: pairs of identifiers whose records are never joined.
user_tables: tables that people write for a run, read row by row.
keeping: rules that say which record of a cluster is kept, and the ranks by them.
policy: options that say which keys join records, and which record of a cluster is kept.
batches: records that are found, many at a time, and what is read of them.
batch_reader: the reader of batches: records become rows, URNs and keys.
workers: the thread, and for large dumps the processes, that read batches.
components: records that share classes of URNs, joined into clusters out of core.
features: titles, numbers and kinds of records, made ready to be compared.
agreement: what contradicts in the descriptions of two records, as a table of rules.
described: descriptions of records, unpacked into columns.
splits: a component cut into clusters whose records do not contradict each other.
parts: parts of all components, each cut into clusters by any process.
brake: components and descriptions spread over parts, and the clusters of all.
outputs: destinations of the results; the files for the deduplicated dumps.
first_reading: all dumps read, into rows and edges.
second_reading: dumps read again, to write them without duplicates.
carry: fields of removed records, put into the ones that are kept.
copies: dumps copied without some of their records.
clustering: cluster, rank and decision of each record, and the rows about them.
cluster_records: the steps from edges to clusters.
mapping: rows that lead from removed records to the ones that are kept.
candidates: pairs of records that share no key and may be the same, for people who decide.
review: rows of the records that are in doubt, for people who decide.
shown: the beginnings of records as pages show them.
review_page: the page of these rows and records.
summary: the HTML report.
job: one run, from inputs to outputs.

Memory holds the octets of a few batches of records, and numbers for all records.
"""
