"""Tables of finished runs -> a merged table, or their difference.

opening: names of files and folders -> tables whose runs had the same options.
key_windows: tables that are sorted by `urn` -> windows with all rows between two URNs.
merged_classes: rows of a window -> classes.
classes_of_occurrences: tables of occurrences -> their classes.
classes_of_partials: partial results -> their classes.
merge: tables of classes or of occurrences, or partial results -> a merged table.
changed_classes: two tables of classes -> the classes that came, went or changed.
difference: two tables of classes -> rows of the classes that differ, and their counts.
"""
