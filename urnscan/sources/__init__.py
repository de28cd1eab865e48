"""From the arguments of a run to octets: which inputs there are, and readers of what is in them.

    walk.py       arguments, folders and patterns -> inputs, in a fixed order
    files.py      files, ranges of files, pipes and standard input -> octets as they are
    encodings.py  byte order marks and codecs; octets in another encoding -> UTF-8
    opening.py    which of these readers an input needs, one on top of the other

Nothing here holds more in memory than a folder's own entries or a block of octets.
"""

from urnscan.sources.encodings import check_encoding
from urnscan.sources.files import Range, Reader, open_range
from urnscan.sources.opening import is_splittable, open_input
from urnscan.sources.walk import TEMPORARY_SUFFIX, Input, Selection, find_inputs

__all__ = [
    "TEMPORARY_SUFFIX",
    "Input",
    "Range",
    "Reader",
    "Selection",
    "check_encoding",
    "find_inputs",
    "is_splittable",
    "open_input",
    "open_range",
]
