"""Inputs -> the texts and values in them, through all forms (compressions, archives, documents, tables).

protocol: the declaration of a form: how a module recognises and opens it.
registry: the list of all forms, in the order in which they are tried.
unfold: an input -> its texts and values; the only module that goes from a form to the form inside.
contents: results: texts, and columns of values.
compression: gzip, bzip2, xz, Zstandard, LZ4 -> bytes.
archives: tar, zip, WARC, ARC -> members.
documents: mail, PDF -> texts.
tables: Parquet, Arrow, SQLite, CSV, JSON -> values.
unread: forms that are recognised and not read.
declared_encodings: multibyte encodings that a text declares in its first bytes.
encodings: UTF-16 and other encodings -> UTF-8.
buffer: a reader with lookahead and a way back.
small_files: many files by one call: sizes and times, and the bytes of small files.
byte_ranges: byte ranges of files that an index names, by parallel requests.
limits: limits on the bytes and members that come out of an input, and their counts.
context: what the nested readers of an input share: its name, the path to a member, the options of reading.
captures: records of web archives: time, status and media type, and which records are read.
filters, filter_commands: commands of the user that convert files to text; a command that runs.
media_types: media types of files, by their first bytes.
processes: processes that a run started, and how they end.
scripts, script_start: Python in another process, with limits, which ends with the run.
on_disk: the bytes of a reader as a file, for programs that read only files.
checksum: CRC-32 of bytes.

Memory contains blocks of bytes, never a whole input.
"""
