"""Arguments of a run -> its inputs.

selection: rules for the files in walked folders: which are inputs.
own_outputs: outputs of the run, which it must not read.
arguments: what each argument means: a file, a folder, a pattern, a URL, a list, an index.
walk: folders -> the inputs in them, in a fixed order.
globs: patterns -> the paths that match them.
url_inputs: URLs -> the inputs that they name.
lists: lists of inputs (`--files-from`).
cdx: indexes of records of web archives (`--cdx`).
seen_inputs: the set of the inputs so far, for millions of them.

Memory holds the entries of one folder, never all inputs.
"""
