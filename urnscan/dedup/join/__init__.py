"""Edges between records and identifiers -> clusters of records. An edge is a record and an identifier in it; a cluster
has the records that are treated as the same.

components: records that share identifiers, joined out of core.
split_component: a component split into clusters whose records do not conflict.
union_find: connected numbers, a few at a time.
component_batches: many components split by a call, in any process.
contradictions: components and descriptions spread over batches, and the clusters of all.
citation_pairs: pairs of records that share no identifier and cite the same article.
never_join: pairs of identifiers whose records are never joined.
choose_kept: rules that choose the kept record of a cluster, and the ranks by them.
"""
