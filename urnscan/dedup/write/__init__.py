"""Results of a run.

outputs: destinations of the results; the files for the deduplicated dumps.
copies: dumps copied without some of their records.
carried_fields: fields of removed records, put into the ones that are kept.
mapping: rows that lead from removed records to the ones that are kept.
summary: the HTML report.
"""
