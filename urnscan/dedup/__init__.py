"""Records of dumps -> clusters of records that describe one thing, and the dumps without the duplicates.

policy: which URNs join records, and which record of a cluster is kept.
batches: records scanned many at a time -> their rows and URNs.
harvest: the first reading of all dumps: records and the URNs that they name.
components: records that share classes -> clusters, out of core.
second_reading: dumps that are read twice: how a dump is known again.
copies: dumps copied without some of their records.
outputs: files and folders for the copies.
summary: clusters that the report shows.
job: all of these, one after the other.

Memory holds the octets of one record at a time; of all records it holds only numbers.
"""
