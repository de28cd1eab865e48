"""Numbers with a check digit: a module for each kind of number. The modules know nothing of URNs.

issn: ISSN of journals and other continuing resources.
digits: bytes of standard numbers, with hyphens and an X.
isbn: ISBN of books.
field_values: ISBN and ISSN as catalogues write them, with labels and remarks.
"""
