"""Tables of finished runs -> one table, or their difference.

opening: names of files and folders -> tables whose runs had the same options.
windows: tables that are sorted by a key -> windows with all rows between two keys.
classes: rows of a window -> classes.
classes_of_occurrences: tables of occurrences -> their classes.
merge: tables of classes, or of occurrences -> one table.
sorting: rows -> sorted rows, out of core.
changes: what the two kinds of differences have in common.
changed_classes, changed_records: two tables of classes, or of clusters -> what differs.
difference: two tables of one kind -> rows of what differs, and their counts.
"""
