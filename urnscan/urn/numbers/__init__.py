"""Numbers with a check digit: each module says all about one, and knows no URN.

issn: ISSN of journals and other continuing resources.
isbn: ISBN of books.
"""
