"""From the arguments of a run to texts: which inputs there are, what is in them, and readers of its octets.

    walk.py       arguments, folders and patterns -> inputs, in a fixed order; lists.py: lists of inputs
    inputs.py     an input; many files without an object for each; seen.py: which were met before
    files.py      files, ranges of files, pipes and standard input -> octets as they are
    together.py   many small files -> their octets, in one call; sizes.py: their sizes
    remote/       URLs -> inputs; objects read over a network that fails; files put into a store
    opening.py    an input -> the texts and values in it, through all forms that it has
    forms.py      the registry of the forms that are read:
      compression/  gzip, bzip2, xz, Zstandard, LZ4 -> the text, member by member, whatever is damaged
      archives/     tar, zip, WARC -> members
      tables/       Parquet, Arrow, SQLite -> values; CSV and JSON, where fields are named
    encodings.py  byte order marks and codecs; octets in another encoding -> UTF-8

    reader.py     what gives octets: the protocol of all readers
    layers.py     what the readers of one input share: limits, checksums, names
    documents.py  what comes out: texts, and values of tables

Nothing here holds more in memory than a folder's own entries or blocks of octets.
"""

from urnscan.sources.documents import Document, Values
from urnscan.sources.encodings import check_encoding, is_binary
from urnscan.sources.files import Range, open_range
from urnscan.sources.inputs import Input, Listed, one_by_one
from urnscan.sources.layers import INSIDE, Checks, Limits, Reading
from urnscan.sources.lists import PathList
from urnscan.sources.opening import doubts, is_plain, is_splittable, open_documents
from urnscan.sources.reader import Reader, past_damage
from urnscan.sources.remote.places import RemotePlace
from urnscan.sources.remote.urls import is_remote, local_path, real_place, without_secrets
from urnscan.sources.seen import Seen
from urnscan.sources.sizes import UNKNOWN, file_states
from urnscan.sources.together import HEAD, Doubts, Read, read_together
from urnscan.sources.walk import TEMPORARY_SUFFIX, Selection, find_inputs, find_listed

__all__ = [
    "HEAD",
    "INSIDE",
    "TEMPORARY_SUFFIX",
    "UNKNOWN",
    "Checks",
    "Document",
    "Doubts",
    "Input",
    "Limits",
    "Listed",
    "PathList",
    "Range",
    "Read",
    "Reader",
    "Reading",
    "RemotePlace",
    "Seen",
    "Selection",
    "Values",
    "check_encoding",
    "doubts",
    "file_states",
    "find_inputs",
    "find_listed",
    "is_binary",
    "is_plain",
    "is_remote",
    "is_splittable",
    "local_path",
    "one_by_one",
    "open_documents",
    "open_range",
    "past_damage",
    "read_together",
    "real_place",
    "without_secrets",
]
