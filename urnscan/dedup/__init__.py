"""Deduplication of bibliographic dumps: clusters of records that share URNs, and the dumps without the duplicates.

policy: options that say which URNs join records, and which record of a cluster is kept.
batches: records scanned many at a time, into rows and URNs.
components: records that share classes of URNs, joined into clusters out of core.
outputs: destinations of the results; the files for the deduplicated dumps.
second_reading: dumps that are read twice.
harvest: the first reading of all dumps, into rows and edges.
copies: dumps copied without some of their records.
summary: the HTML report.
job: one run, from inputs to outputs.

Memory holds the octets of one record at a time, and numbers for all records.
"""
