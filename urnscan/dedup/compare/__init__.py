"""Comparison of the descriptions of two records: do they describe one work, or contradict each other?

known_words: the words by which titles, editions and parts tell what they are.
parts: numbers of parts and volumes, and numbers in titles.
printings: printings of an edition, and months.
extents: pages and volumes of books.
features: titles, numbers and kinds of records, prepared for comparison.
authors: the family name in the name of an author.
agreement: what contradicts in the descriptions of two records, as a table of rules.
journals: titles of journals, in full and abbreviated.
citations: descriptions of articles that are of one, though they share no identifier.
unpacked_descriptions: descriptions of records, unpacked into columns.
"""
