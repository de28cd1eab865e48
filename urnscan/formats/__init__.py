"""Inputs -> the texts and values in them, through every form that is read.

protocol: what a module says of the form that it reads.
registry: the list of all forms, in the order in which they are asked.
unfold: an input -> its texts and values; it alone goes from one form to the form inside.
contents: what comes out: texts, and columns of values.
compression: gzip, bzip2, xz, Zstandard, LZ4 -> bytes.
archives: tar, zip, WARC, ARC -> members.
documents: mail, PDF -> texts.
tables: Parquet, Arrow, SQLite, CSV, JSON -> values.
unread: forms that are recognised and not read.
declared_encodings: encodings with characters of several bytes, as texts declare them.
encodings: UTF-16 and other encodings -> UTF-8.
buffer: bytes that are looked at before they are read, and read again.
small_files: many files in one call: sizes and times, bytes of small ones.
byte_ranges: records of files that an index names, many requests at once.
limits: limits on what an input unfolds to, and the counts of what it has unfolded to.
context: what the nested readers of one input share: its name, the way to a member, the options of reading.
captures: records of web archives: their times and answers, and which of them are read.
filters, filter_commands: commands of the user that make text of files; such commands as they run.
media_types: media types of files, by their first bytes.
processes: processes that a run has started, and their end.
scripts, script_start: Python as another process; limits of it, and an end with the run.
on_disk: what a reader gives, as a file for programs that read files.
checksum: CRC-32 of bytes.

Memory holds blocks of bytes, never a whole input.
"""
