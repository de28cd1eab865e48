"""Texts -> matches.

blocks: the scanner of a stream: reads blocks, calls the kernel, and carries undecided bytes into the next block.
ending: text behind a match that looks like a part of it.
kernel: searches a block for `urn:`, and writes the matches to columns; compiled.
grammar: the options of a scan, the longest URN at a place, and what `--trim` (`urn.trim`) leaves of it; compiled.
beginning: what may stand before `urn:`; compiled.
multi_byte: letters before `urn:` that end a character of several bytes.
url_context: the URL that contains a URN: its host, and the place where the rest of the URL begins.
scanners: the scanner for a grammar and views.
views: scanners that also find URNs that are encoded, escaped or broken over lines.
find: the scanner of one string (`urnscan.find`).
"""
