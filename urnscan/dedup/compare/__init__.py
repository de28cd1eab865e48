"""What the descriptions of two records say for and against one record.

features: titles, numbers and kinds of records, prepared for comparison.
agreement: what contradicts in the descriptions of two records, as a table of rules.
unpacked_descriptions: descriptions of records, unpacked into columns.
"""
