"""Compressed files -> the bytes in them, member by member; a damaged member costs no other.

codecs: the table of compressions: how each is recognised; the reader of all its members.
replay: one member again, as far as it can be decoded: a library that raises an error loses its last bytes.
decoders: one member of gzip, deflate, Brotli, bzip2, xz or LZMA.
frames: one frame of Zstandard or LZ4.
dictionary: the frames of a Zstandard file with the dictionary that is in it.
"""
