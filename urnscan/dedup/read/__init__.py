"""Dumps -> rows of records, and edges between records and their identifiers.

batches: records that are found, many at a time, and what is read of them.
batch_reader: the reader of batches: records become rows, URNs and keys.
workers: the thread, and for large dumps the processes, that read batches.
read_dumps: all dumps read, in their order.
"""
