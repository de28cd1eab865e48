"""Texts -> matches.

blocks: the scanner of a stream: reads blocks, calls the kernel, joins matches over the borders of blocks.
kernel: goes over a block where `urn:` stands, and writes columns; compiled.
grammar: the options of a scan, the longest URN at a place, and what `--trim` (`urn.trim`) leaves of it; compiled.
url_context: the URL in which a URN stands: its host, and where the rest of the URL begins.
views: scanners that also find URNs that are encoded, escaped or broken over lines.
text: the scanner of a string at hand (`urnscan.find`).
"""
