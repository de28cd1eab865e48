"""Dumps of records -> which records describe the same thing, and the dumps without the duplicates.

    policy.py     what joins records, and which of them are kept
    harvest.py    the first reading: records, and the URNs that they name
    joining.py    records that share classes -> clusters, out of core
    rewriting.py  the second reading: dumps without some of their records
    summary.py    what the report shows
    running.py    all of it, one after the other

Octets are held for one record at a time; what stays of all of them are numbers.
"""
