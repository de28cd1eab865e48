"""Dumps -> rows of records, and edges (pairs of a record and an identifier in it).

batches: many records at a time, before and after reading.
batch_reader: the reader of batches: records become rows, URNs and keys.
workers: the thread, and for large dumps the processes, that read batches.
dump_format: the format of a document, or the reason why it is not a dump.
dump_order: pending batches and callbacks, in dump order.
damaged_records: damaged records of a dump, and how they are reported.
record_collection: rows, edges and counts of all records.
read_dumps: all dumps read, in their order.
"""
