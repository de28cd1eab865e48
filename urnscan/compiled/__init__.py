"""Compiled helpers that know nothing of URNs.

jit: compiled functions, and how Python calls them.
object_code: the files in which object code is saved, and the linker that loads them.
compiler: compilation by Numba.
numba_internals: all private parts of Numba that `jit`, `object_code` and `compiler` use.
ascii: names of bytes, tests of single bytes.
bytes: vectorised loops over bytes: find `urn:`, count LF, copy.
strings: columns of byte strings: sort, compare, select.
arrow: Arrow columns as the arrays that compiled code gets, and back, without a copy.
"""
