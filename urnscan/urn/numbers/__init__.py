"""Numbers with a check digit: each module says all about one, and knows no URN.

issn: ISSN of journals and other continuing resources.
digits: bytes of standard numbers, with hyphens and an X.
isbn: ISBN of books.
"""
