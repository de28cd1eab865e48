"""URNs: syntaxes, namespaces, canonical forms. Nothing here knows files or streams.

syntax: the three grammars as data.
parser: a text -> a `URN` value.
reasons: where and why a text is no URN.
namespaces: the IANA registry and the rules of its namespaces; `namespaces.columns` applies them to whole columns.
beginnings: beginnings of names (`isbn`, `nbn:de`), by which names are chosen.
equivalence: canonical forms, a record for each level.
lookalikes: characters that mislead a reader (UTS #39).
problems: the codes of problems, and those of one spelling.
problem_columns: the problems of columns of spellings, compiled.
trim: what `--trim` cuts off the end of a match.
numbers: all about one kind of number: ISBN, ISSN.
explanation: the parts of a URN, or why a text is none.
"""
