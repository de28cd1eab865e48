"""Edges between records and identifiers -> clusters of records.

components: records that share identifiers, joined out of core.
split_component: a component split into clusters whose records do not contradict each other.
component_batches: many components split by one call, in any process.
contradictions: components and descriptions spread over batches, and the clusters of all.
citation_pairs: pairs of records that share no identifier and are citations of one article.
never_join: pairs of identifiers whose records are never joined.
choose_kept: rules that say which record of a cluster is kept, and the ranks by them.
"""
