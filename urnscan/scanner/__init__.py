"""Texts -> matches.

blocks: the scanner of a stream: reads blocks, calls the kernel, and moves undecided bytes to the next block.
ending: text after a match that looks like a part of the URN.
kernel: searches a block for `urn:`, and writes the matches to columns; compiled.
grammar: the options of a scan, the longest URN at a place, and the part that `--trim` (`urn.trim`) keeps; compiled.
beginning: the text that may precede `urn:`; compiled.
multi_byte: letters before `urn:` that end a character of several bytes.
url_context: the URL that contains a URN: the host, and the place where the rest of the URL begins.
scanners: the scanner for a grammar and views.
views: scanners that also find URNs that are encoded, escaped or broken over lines.
find: the scanner of a string (`urnscan.find`).
"""
