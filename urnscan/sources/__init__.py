"""Arguments -> inputs -> texts and values, through every form that is read.

selection: files that a walk takes and files that it passes over.
own_outputs: outputs of the run, which it must not read.
arguments: arguments -> inputs: what each of them means.
walk: folders -> the inputs in them, in a fixed order.
globs: patterns -> the paths that match them.
lists: lists of inputs (`--files-from`).
cdx: indexes of records of web archives (`--cdx`).
ahead: parts of a list that wait for a server, begun side by side.
inputs: an input; many files without an object for each.
seen_inputs: inputs met before, of millions.
files: files, ranges of files, pipes and standard input -> octets.
extents: records of files that an index names, many requests at once.
filters: commands of the user that make text of files, and which is for which file.
media_types: media types of files, by their first octets.
commands: such commands as they run.
processes: processes that a run has started, and their end.
scripts: Python as another process.
script_start: the beginning of these processes: limits, and an end with the run.
on_disk: what a reader gives, as a file for programs that read files.
small_files: many files in one call: sizes and times, octets of small ones.
remote: URLs -> inputs, and outputs in a store.
texts: an input -> the texts and values in it, through all its forms.
protocol: what a module says of the form that it reads.
forms: the registry, which lists the forms in the order in which they are asked.
unread: forms that are recognised and not read.
compression: gzip, bzip2, xz, Zstandard, LZ4 -> octets.
archives: tar, zip, WARC, mail, PDF -> members.
tables: Parquet, Arrow, SQLite, CSV, JSON -> values.
encodings: UTF-16 and other encodings -> UTF-8.
reader: the protocol of all that gives octets.
checksum: CRC-32 of octets.
buffer: octets that are looked at before they are taken, and read again.
layers: limits, failed checksums and names that the nested readers of one input share.
documents: what comes out: texts, and columns of values.
captures: records of web archives: their times and answers, and which of them are read.

Memory holds blocks of octets and the entries of one folder, never a whole input.
"""
