"""Compressed files -> the octets in them, member by member; a damaged member costs no other.

members: how each compression is recognised, and the reader of all its members.
decoding: one member, whatever the library loses at an error.
decoders: one member of gzip, deflate, Brotli, bzip2, xz or LZMA.
frames: one frame of Zstandard or LZ4.
"""
