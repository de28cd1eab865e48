"""Arguments -> inputs -> texts and values, through every form that is read.

selection: files that a walk takes and files that it passes over.
walk: arguments, folders and patterns -> inputs, in a fixed order.
lists: lists of inputs (`--files-from`).
inputs: an input; many files without an object for each.
seen_inputs: inputs met before, of millions.
states: sizes and times of many files in one call.
files: files, ranges of files, pipes and standard input -> octets.
small_files: octets of many small files in one call.
remote: URLs -> inputs, and outputs in a store.
texts: an input -> the texts and values in it, through all its forms.
forms: the registry of forms: how each is recognised and opened.
compression: gzip, bzip2, xz, Zstandard, LZ4 -> octets.
archives: tar, zip, WARC -> members.
tables: Parquet, Arrow, SQLite, CSV, JSON -> values.
encodings: UTF-16 and other encodings -> UTF-8.
buffer: octets of a stream, looked at before they are taken.
reader: the protocol of all that gives octets.
buffer: octets that are looked at before they are taken, and read again.
layers: limits, failed checksums and names that the nested readers of one input share.
documents: what comes out: texts, and columns of values.

Memory holds blocks of octets and the entries of one folder, never a whole input.
"""

from urnscan.sources.documents import Document, Values
from urnscan.sources.encodings import check_encoding, is_binary
from urnscan.sources.files import Range, open_range
from urnscan.sources.inputs import Input, Listed, one_by_one
from urnscan.sources.layers import INSIDE, Limits, Reading
from urnscan.sources.lists import PathList
from urnscan.sources.reader import Reader, past_damage
from urnscan.sources.remote.urls import is_remote, local_path, real_place, without_secrets
from urnscan.sources.seen_inputs import Seen
from urnscan.sources.selection import TEMPORARY_SUFFIX, Selection
from urnscan.sources.small_files import HEAD, Doubts, Read, read_together
from urnscan.sources.states import UNKNOWN, states_of_files
from urnscan.sources.texts import doubts, is_plain, is_splittable, open_documents
from urnscan.sources.walk import find_inputs, find_listed

__all__ = [
    "HEAD",
    "INSIDE",
    "TEMPORARY_SUFFIX",
    "UNKNOWN",
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
    "Seen",
    "Selection",
    "Values",
    "check_encoding",
    "doubts",
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
    "states_of_files",
    "without_secrets",
]
