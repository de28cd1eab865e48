"""Compiled helpers that know nothing of URNs.

jit: how functions are compiled and cached.
ascii: names of octets, tests of single octets.
octets: vectorised loops over octets: find `urn:`, count LF, copy.
strings: columns of octet strings: sort, compare, cut.
arrow: Arrow columns as the arrays that compiled code takes, and back, without a copy.
"""
