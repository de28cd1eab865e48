"""Text, tables and progress bars for people.

text: texts escaped for a terminal; numbers in words; HTML tables.
sizes: numbers of octets as people write them, `500MB`.
progress: the progress bar of a run.
"""
