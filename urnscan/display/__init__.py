"""Text, tables and progress bars for people.

text: texts escaped for a terminal; numbers in words, and sizes such as `500MB`; HTML tables.
addresses: addresses without secrets.
progress: the progress bar of a run.
"""
