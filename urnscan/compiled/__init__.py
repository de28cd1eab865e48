"""Compiled helpers that know nothing of URNs.

jit: compiled functions, as Python calls them.
object_code: the files that keep their code, and its linker.
compiler: compilation by Numba.
numba_internals: all private parts of Numba that the three use.
ascii: names of bytes, tests of single bytes.
bytes: vectorised loops over bytes: find `urn:`, count LF, copy.
strings: columns of byte strings: sort, compare, select.
arrow: Arrow columns as the arrays that compiled code takes, and back, without a copy.
"""
