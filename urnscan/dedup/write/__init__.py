"""Results of a run.

outputs: destinations of the results; the files for the deduplicated dumps.
copies: dumps copied without some of their records.
carried_fields: fields of removed records, copied into the kept records.
mapping: rows that lead from removed records to kept records.
wrong_rows: rows of wrong ISBN and ISSN.
summary: the HTML report.
"""
