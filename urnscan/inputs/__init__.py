"""Arguments of a run -> its inputs.

selection: which files in a walked folder are inputs (`--include`, `--exclude`, `--follow`).
own_outputs: outputs of the run, which the run must not read.
arguments: an argument -> inputs: a file, a folder, a pattern, a URL, a list or an index.
walk: folders -> the inputs in them, in a fixed order.
globs: patterns -> the paths that match.
url_inputs: URLs -> inputs: an object, a folder of objects, or a pattern.
lists: lists of inputs (`--files-from`).
cdx: indexes of records of web archives (`--cdx`).
seen_inputs: a set of millions of inputs, to read each only once.

Memory contains the entries of one folder, never all inputs.
"""
