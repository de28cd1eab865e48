"""URNs: syntaxes, namespaces, canonical forms. No module here reads a scanned file or a stream.

syntax: the three grammars as data.
parser: a text -> a `URN` value.
reject_reasons: why a text is not a URN, and the position of the error.
namespaces: the IANA registry and the rules of its namespaces; `namespaces.judgement_columns` applies them to whole
columns.
prefix_filter: prefixes of names (`isbn`, `nbn:de`), which select the names to keep.
equivalence: levels of equivalence, and the canonical form at each level.
lookalikes: characters that mislead a reader (UTS #39).
problems: the codes of problems, and the problems of one spelling.
problem_columns: the problems of columns of spellings, compiled.
trim: the text that `--trim` cuts off the end of a match.
numbers: check digits and spellings of ISBN and ISSN.
explanation: the parts of a URN, or why a text is not a URN.
"""
