"""What a URN is: its syntaxes, its namespaces, its canonical forms. Nothing here knows files or streams.

syntax: the three grammars as data, the parser, the `URN` value.
namespaces: the IANA registry and the rules of its namespaces; `namespaces.columns` applies them to whole columns.
equivalence: canonical forms, a record for each level.
lookalikes: characters that mislead a reader (UTS #39).
explanation: what a URN is made of, or why a text is none.
"""
