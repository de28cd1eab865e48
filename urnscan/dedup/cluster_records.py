"""The steps from edges to clusters: edges are joined, descriptions compared, decisions of people applied, records ranked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import flag_array, numbers
from urnscan.dedup.clustering import DECISIONS, Clustering, Components
from urnscan.dedup.compare.unpacked_descriptions import SHOWN, different
from urnscan.dedup.join.choose_kept import (
    RankingValues,
    check_sources,
    described_values,
    first_records,
    ranks,
)
from urnscan.dedup.join.citation_pairs import NO_PAIRS, CitationPairs, citation_pairs
from urnscan.dedup.join.components import COPIED, SURE, UNSURE, Flags, Numbers, Pair, SharedEdges, components
from urnscan.dedup.join.contradictions import ComponentSplitter, SplitComponents
from urnscan.dedup.join.never_join import never_joined_works
from urnscan.dedup.join.split_component import NO_TITLE
from urnscan.dedup.policy import Policy
from urnscan.dedup.read.read_dumps import ReadDumps
from urnscan.dedup.review.applied_decisions import AppliedDecisions
from urnscan.dedup.review.review_table import APART, TOGETHER
from urnscan.display.progress import ROWS, Progress, Stage
from urnscan.records.description import NOTHING
from urnscan.records.keys import DESCRIPTION
from urnscan.tables.spill import Spilled

_NO_PAIR: Pair = (np.empty(0, np.int32), np.empty(0, np.int32))
# Bytes of descriptions in memory; more are spilled.
_IN_MEMORY = 1 << 26


def cluster_records(reading: ReadDumps, policy: Policy, progress: Progress) -> Clustering:
    """Join the records of all dumps to clusters, rank the records of each cluster, and return the result, which the
    caller closes.

    `progress` is called with each stage and the number of rows. Raises FatalError if the disk is full or fails, a
    process dies, or `policy.keep` names a dump that was not read.
    """
    check_sources(policy.keep, reading.dumps, reading.empty)
    progress.on_stage(
        Stage("joining", sum(edges.count for edges in (reading.records.edges, reading.records.id_edges) if edges), ROWS)
    )
    all_joined = reading.records.edges.join(
        policy.most_in_class(reading.records.count), progress.on_progress, reading.workers.results
    )
    work, same_work = _works(reading, progress)
    citations = _citation_pairs(reading, all_joined, same_work, policy, progress)
    # The edges are joined: their memory is for the arrays of the next steps now.
    pa.default_memory_pool().release_unused()
    joined, component = _connected(all_joined.with_pairs((citations.first, citations.other)), same_work, work, policy)
    records = Components(reading, component, np.bincount(component, minlength=1) > 1)
    decisions = None if policy.decisions is None else AppliedDecisions(policy.decisions, records.batches(), work)
    if decisions is not None and len(decisions.pairs[0]):
        records = records.connected(decisions.pairs)
    with ExitStack() as stack:
        descriptions = stack.enter_context(closing(Spilled(SHOWN, reading.folder))) if policy.agree else None
        split = _contradictions(records, joined, component, work, decisions, descriptions, policy, progress)
        cluster = components(reading.records.count, *split.joined, same_work)
        reasons, in_doubt = split.reasons, split.reasons > 0
        too_large = records.named(split.too_large)
        # The pairs take memory that the ranks need.
        del split
        if decisions is not None:
            cluster = decisions.clusters(cluster, joined, same_work)
            reasons = np.where(decisions.are(TOGETHER), np.uint16(0), reasons)
        ranking_values = _ranking_values(records, cluster, work, policy, decisions, progress)
        rank = ranks(policy.keep, cluster, work, ranking_values, reading.dumps)
        if decisions is not None:
            decisions.check(cluster, rank, _ranks_by_rules(policy, cluster, work, ranking_values, reading))
            in_doubt |= decisions.have_changed
        by_keys = components(reading.records.count, all_joined.pairs_in(cluster), same_work)
        to_decide = in_doubt if decisions is None else in_doubt & ~decisions.applied(rank)
        decision = _decision(cluster, rank, reasons > 0 if decisions is None else (reasons > 0) | decisions.are(APART))
        clustering = Clustering(
            records=records,
            cluster=cluster,
            rank=rank,
            decision=decision,
            reasons=reasons,
            joins=all_joined.joins(cluster, reading.records.edges.count),
            citation_places=citations.places(cluster, by_keys),
            by_decision=np.zeros(len(cluster), np.bool_) if decisions is None else decisions.joined(cluster),
            in_doubt=in_doubt,
            to_decide=to_decide,
            separate=_NO_PAIR if decisions is None else decisions.separate,
            descriptions=descriptions,
            counts={
                "common": all_joined.common,
                "clusters": int(cluster.max(initial=0)),
                "duplicates": int(np.count_nonzero(rank > 1)),
                "described": citations.joined_alone(cluster, by_keys),
                "untitled": len(np.unique(cluster[to_decide & (reasons & np.uint16(NO_TITLE) > 0)])),
                **({} if decisions is None else {"refused": decisions.refused, "remarks": decisions.remarks}),
                "too_large": too_large,
            },
        )
        stack.pop_all()
    return clustering


def _citation_pairs(
    reading: ReadDumps, joined: SharedEdges, same_work: Pair, policy: Policy, progress: Progress
) -> CitationPairs:
    """Pairs of records that cite the same article, and that no keys connect, except perhaps supporting keys. Records
    marked as deleted are left out. Empty if the options exclude citations.
    """
    if DESCRIPTION not in policy.keys or not policy.agree:
        return NO_PAIRS
    component = components(reading.records.count, joined.upto(COPIED).pairs(), same_work)
    is_deleted = np.zeros(reading.records.count, np.bool_)
    is_deleted[reading.records.deleted] = True

    def batches() -> Iterator[tuple[Numbers, pa.BinaryArray]]:
        first = 0
        for rows in reading.records.rows.batches():
            records = np.arange(first, first + len(rows), dtype=np.int32)
            is_live = ~is_deleted[records]
            yield records[is_live], rows.column("description").filter(flag_array(is_live))
            first += len(rows)

    progress.on_stage(Stage("comparing articles"))
    return citation_pairs(batches, component, reading.folder, reading.workers.results)


def _works(reading: ReadDumps, progress: Progress) -> tuple[Numbers, Pair]:
    """The number of the work of each record, from 0, and pairs of records of the same work. Only in N-Triples, several
    records may describe one work.
    """
    work = np.arange(reading.records.count, dtype=np.int32)
    if reading.records.id_edges is None:
        return work, _NO_PAIR
    same_work = reading.records.id_edges.join(
        reading.records.count, progress.on_progress, reading.workers.results
    ).pairs()
    return components(reading.records.count, same_work) - np.int32(1), same_work


def _connected(joined: SharedEdges, same_work: Pair, work: Numbers, policy: Policy) -> tuple[SharedEdges, Numbers]:
    """The edges that connect records, and the number of the component of each record. `work`: number of the work of
    each record. In a component of more than `policy.max_cluster` works, less trusted keys are ignored, if necessary all
    except URNs.
    """
    begins = first_records(work)
    if not policy.agree:
        joined = joined.upto(COPIED)
    component = components(len(work), joined.pairs(), same_work)
    for level in (UNSURE, COPIED, SURE):
        is_large = np.bincount(component[begins], minlength=1) > policy.max_cluster
        if is_large.any():
            joined = joined.upto(level, is_large[component])
            component = components(len(work), joined.pairs(), same_work)
    return joined, component


def _contradictions(
    records: Components,
    joined: SharedEdges,
    component: Numbers,
    work: Numbers,
    decisions: AppliedDecisions | None,
    descriptions: Spilled | None,
    policy: Policy,
    progress: Progress,
) -> SplitComponents:
    """Split the components by conflicts. `component`, `work`: numbers for each record, without decisions of people.
    `descriptions` gets the columns SHOWN of the connected records, and then the workers are closed; if None,
    descriptions are not compared.
    """
    reading = records.reading
    with closing(ComponentSplitter(joined, component, work, policy.max_cluster, reading.folder)) as splitter:
        if descriptions is not None:
            progress.on_stage(Stage("reading descriptions", reading.records.count, ROWS))
            for (_, span, rows), described in records.described():
                shares = records.share(span)
                names = rows.column("names").filter(flag_array(shares))
                splitter.add(np.flatnonzero(shares) + span.start, described.column("description"), names)
                descriptions.add(described.select(SHOWN.names))
                if descriptions.byte_count > _IN_MEMORY:
                    descriptions.spill()
                progress.on_progress(len(rows))
            progress.on_stage(Stage("comparing", splitter.works, ROWS))
        of_work = component[first_records(work)]
        never = [] if decisions is None else [*decisions.separate_works(of_work)]
        if policy.never_join is not None:
            named = policy.never_join.at(reading.options.level)
            never += never_joined_works(named, records.batches(), work, of_work)
        split = splitter.clusters(policy.agree, never, progress.on_progress, reading.workers.results)
    if descriptions is not None:
        # The workers have no further task, and use much memory.
        reading.workers.close()
    return split


def _ranking_values(
    records: Components,
    cluster: Numbers,
    work: Numbers,
    policy: Policy,
    decisions: AppliedDecisions | None,
    progress: Progress,
) -> RankingValues:
    """Values by which works are ranked. `cluster`, `work`: numbers for each record. Descriptions are read only if a
    rule of `policy.keep` needs them.
    """
    reading = records.reading
    lengths, counts = (
        np.concatenate([np.empty(0, np.uint8), *parts]) for parts in (reading.records.lengths, reading.records.counts)
    )
    dumps = np.repeat(np.arange(len(reading.dumps), dtype=np.int32), [dump.records for dump in reading.dumps])
    begins = first_records(work)
    if len(begins) < len(work):
        lengths, counts = (np.bincount(work, values).astype(np.int64) for values in (lengths, counts))
        dumps = dumps[begins]
    # An array that no rule compares is a single number in memory.
    zero = np.broadcast_to(np.int64(0), len(begins))
    deleted = zero
    if len(records_deleted := reading.records.deleted):
        deleted = np.zeros(len(begins), np.int8)
        deleted[work[records_deleted]] = 1
    of_descriptions = dict.fromkeys(("changed", "level", "fields"), zero)
    if values := described_values(policy.keep):
        of_descriptions |= {value.name: np.full(len(begins), value.of(NOTHING), value.kind) for value in values}
        progress.on_stage(Stage("choosing", reading.records.count, ROWS))
        is_shared = (np.bincount(cluster) > 1)[cluster]
        for _, span, rows in records.batches():
            progress.on_progress(len(rows))
            shares = is_shared[span]
            descriptions, indices = different(rows.column("description").filter(flag_array(shares)))
            for value in values:
                of_each = np.array([value.of(each) for each in descriptions], value.kind)
                value.best.at(of_descriptions[value.name], work[span][shares], of_each[numbers(indices)])
    return RankingValues(
        byte_count=lengths,
        identifiers=counts,
        dump=dumps,
        decided=np.broadcast_to(np.int64(1), len(begins)) if decisions is None else decisions.order,
        deleted=deleted,
        **of_descriptions,
    )


def _ranks_by_rules(
    policy: Policy, cluster: Numbers, work: Numbers, values: RankingValues, reading: ReadDumps
) -> Numbers:
    """Rank of each record in its cluster without the decisions to keep a record; decisions to remove stay."""
    without = replace(values, decided=np.maximum(values.decided, 1))
    return ranks(policy.keep, cluster, work, without, reading.dumps)


def _decision(cluster: Numbers, rank: Numbers, is_apart: Flags) -> npt.NDArray[np.int8]:
    alone, kept, removed, apart = range(len(DECISIONS))
    has_removed = np.zeros(cluster.max(initial=0) + 1, np.bool_)
    has_removed[cluster[rank > 1]] = True
    decision = np.where(has_removed[cluster], np.int8(kept), np.int8(alone))
    decision[rank > 1] = removed
    decision[(decision == alone) & is_apart] = apart
    return decision
