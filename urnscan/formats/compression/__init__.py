"""Compressed files -> the bytes in them, member by member; after a damaged member the next member is read.

codecs: the table of compressions, and the reader of all members of a file.
replay: decoding with a second try after an error, as a library that raises an error loses the last decoded bytes.
decoders: a member of gzip, deflate, Brotli, bzip2, xz or LZMA.
frames: a frame of Zstandard or LZ4.
dictionary: the frames of a Zstandard file that contains a dictionary.
"""
