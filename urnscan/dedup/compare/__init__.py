"""Comparison of the descriptions of two records: do they describe the same work, or conflict (describe different
works)?

known_words: the words that show the kind, the edition or the part in a title or a statement.
parts: numbers of parts and volumes, and numbers in titles.
printings: printings of an edition, and months.
extents: pages and volumes of books.
features: titles, numbers and kinds of records, prepared for comparison.
title_words: words that only one of two titles has, and opposite words.
authors: the family name in the name of an author, and two spellings of a name.
first_authors: whether the first authors of two records differ, also where many works have the same title.
agreement: conflicts of two descriptions, as a table of rules.
journals: titles of journals, in full and abbreviated.
citations: descriptions of articles that are the same, though the records share no identifier.
unpacked_descriptions: descriptions of records, unpacked into columns.
"""
