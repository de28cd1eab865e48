"""The steps from edges to clusters: edges are joined, descriptions compared, decisions of people applied, records ranked."""

from __future__ import annotations

from contextlib import ExitStack, closing

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.dedup.clustering import DECISIONS, Clustering, Components
from urnscan.dedup.compare.unpacked_descriptions import SHOWN
from urnscan.dedup.join.choose_kept import (
    Merits,
    check_sources,
    first_pieces,
    level_of,
    moment_of,
    need_descriptions,
    ranks,
)
from urnscan.dedup.join.components import OTHER, SURE, Flags, Joined, Numbers, Pair, components
from urnscan.dedup.join.contradictions import Brake, Braked
from urnscan.dedup.join.never_join import HeldApart
from urnscan.dedup.join.split_component import TOO_LARGE
from urnscan.dedup.policy import Policy
from urnscan.dedup.read.read_dumps import ReadDumps
from urnscan.dedup.review.decisions import Decided
from urnscan.dedup.review.review_table import APART, TOGETHER
from urnscan.display.progress import ROWS, Progress, Stage
from urnscan.records.description import NOTHING
from urnscan.records.formats import description_of
from urnscan.tables.spill import Spilled

_IN_MEMORY = 1 << 26  # octets of descriptions in memory; more are spilled


def cluster_records(reading: ReadDumps, policy: Policy, progress: Progress) -> Clustering:
    """Join the records of all dumps to clusters, and rank the records of each cluster.

    `progress` is told of the joining, of the comparison of descriptions, and of the choice of records by what they
    describe. The caller closes the result. Raises FatalError.
    """
    check_sources(policy.keep, reading.dumps)
    progress.on_stage(
        Stage("joining", sum(edges.count for edges in (reading.records.edges, reading.records.id_edges) if edges), ROWS)
    )
    all_joined = reading.records.edges.join(
        policy.most_in_class(reading.records.count), progress.on_progress, reading.workers.results
    )
    unit, pieces = _units(reading, progress)
    # The edges are joined: their memory is for the arrays of the next steps now.
    pa.default_memory_pool().release_unused()
    joined, component = _connected(all_joined, pieces, unit, policy)
    records = Components(reading, component, np.bincount(component, minlength=1) > 1)
    with ExitStack() as stack:
        descriptions = None
        if policy.agree:
            descriptions = Spilled(SHOWN, reading.folder)
            stack.callback(descriptions.close)
        braked = _contradictions(records, joined, unit, descriptions, policy, progress)
        cluster, reasons = components(reading.records.count, *braked.joined, pieces), braked.reasons
        too_large = [(records.name(record), count) for record, count in braked.too_large]
        # The pairs take memory that the ranks need.
        del braked
        decided = None if policy.decisions is None else Decided(policy.decisions, records.batches(), unit)
        if decided is not None:
            cluster = decided.clusters(cluster, joined, pieces)
            reasons = np.where(decided.are(TOGETHER), np.uint16(0), reasons)
        merits = _merits(records, cluster, unit, policy, decided, progress)
        rank = ranks(policy.keep, cluster, unit, merits, reading.dumps)
        if decided is not None:
            decided.check(rank)
        is_apart = reasons > 0 if decided is None else (reasons > 0) | decided.are(APART)
        clustering = Clustering(
            records=records,
            cluster=cluster,
            rank=rank,
            decision=_decision(cluster, rank, is_apart),
            reasons=reasons,
            joins=all_joined.joins(cluster, reading.records.edges.count),
            descriptions=descriptions,
            counts={
                "common": all_joined.common,
                "clusters": int(cluster.max(initial=0)),
                "duplicates": int(np.count_nonzero(rank > 1)),
                "apart": int(np.count_nonzero(reasons & ~np.uint16(TOO_LARGE))),
                "refused": [] if decided is None else decided.refused,
                "too_large": too_large,
            },
        )
        stack.pop_all()
    return clustering


def _units(reading: ReadDumps, progress: Progress) -> tuple[Numbers, Pair]:
    """The number of the thing that each record describes, and the pairs of records that describe one thing.

    A record describes a thing of its own, but for N-Triples: there, several records may have one subject.
    """
    unit = np.arange(reading.records.count, dtype=np.int32)
    if reading.records.id_edges is None:
        return unit, (unit[:0], unit[:0])
    pieces = reading.records.id_edges.join(reading.records.count, progress.on_progress, reading.workers.results).pairs()
    return components(reading.records.count, pieces) - np.int32(1), pieces


def _connected(joined: Joined, pieces: Pair, unit: Numbers, policy: Policy) -> tuple[Joined, Numbers]:
    """The edges that connect records, and the number of the component of each record.

    Where a component is too large, keys that are unsure do not count, then all keys but URNs.
    """
    begins = first_pieces(unit)
    if not policy.agree:
        joined = joined.upto(OTHER)
    component = components(len(unit), joined.pairs(), pieces)
    for level in (OTHER, SURE):
        is_large = np.bincount(component[begins], minlength=1) > policy.max_cluster
        if is_large.any():
            joined = joined.upto(level, is_large[component])
            component = components(len(unit), joined.pairs(), pieces)
    return joined, component


def _contradictions(
    records: Components,
    joined: Joined,
    unit: Numbers,
    descriptions: Spilled | None,
    policy: Policy,
    progress: Progress,
) -> Braked:
    """Split the components by contradictions, and keep SHOWN of the records in `descriptions`. Raises FatalError."""
    reading = records.reading
    with closing(Brake(joined, records.component, unit, policy.max_cluster, reading.folder)) as brake:
        if descriptions is not None:
            progress.on_stage(Stage("reading descriptions", reading.records.count, ROWS))
            for (_, these, rows), described in records.described():
                brake.add(np.flatnonzero(records.share(these)) + these.start, described.column("description"))
                descriptions.add(described.select(SHOWN.names))
                if descriptions.octets > _IN_MEMORY:
                    descriptions.spill()
                progress.on_progress(len(rows))
            progress.on_stage(Stage("comparing", brake.things, ROWS))
        never = None
        if policy.never_join is not None:
            never = HeldApart(policy.never_join.at(reading.options.level), records.batches(), unit)
        braked = brake.clusters(policy.agree, never, progress.on_progress, reading.workers.results)
    if descriptions is not None:
        # The workers have nothing more to do, and hold much memory.
        reading.workers.close()
    return braked


def _merits(
    records: Components,
    cluster: Numbers,
    unit: Numbers,
    policy: Policy,
    decided: Decided | None,
    progress: Progress,
) -> Merits:
    """Merits of the things that records describe. Raises FatalError."""
    reading = records.reading
    lengths, counts = (
        np.concatenate([np.empty(0, np.uint8), *parts]) for parts in (reading.records.lengths, reading.records.counts)
    )
    dumps = np.repeat(np.arange(len(reading.dumps), dtype=np.int32), [dump.records for dump in reading.dumps])
    begins = first_pieces(unit)
    if len(begins) < len(unit):
        lengths, counts = (np.bincount(unit, values).astype(np.int64) for values in (lengths, counts))
        dumps = dumps[begins]
    # Where no rule asks for them, they are one number in memory.
    changed, levels, fields, order = (
        np.broadcast_to(np.int64(value), len(begins)) for value in (0, level_of(NOTHING), 0, 1)
    )
    if need_descriptions(policy.keep):
        changed, levels, fields = changed.copy(), levels.copy(), fields.copy()
        progress.on_stage(Stage("choosing", reading.records.count, ROWS))
        is_shared = (np.bincount(cluster) > 1)[cluster]
        for _, these, rows in records.batches():
            progress.on_progress(len(rows))
            for at in np.flatnonzero(is_shared[these]).tolist():
                described = description_of(rows.column("description")[at].as_py())
                thing = unit[these.start + at]
                changed[thing] = max(changed[thing], moment_of(described))
                levels[thing] = min(levels[thing], level_of(described))
                fields[thing] = max(fields[thing], int(described.fields or 0))
    return Merits(
        octets=lengths,
        identifiers=counts,
        dump=dumps,
        changed=changed,
        level=levels,
        fields=fields,
        decided=order if decided is None else decided.order,
    )


def _decision(cluster: Numbers, rank: Numbers, is_apart: Flags) -> npt.NDArray[np.int8]:
    """The place in DECISIONS of each record."""
    alone, kept, removed, apart = range(len(DECISIONS))
    has_removed = np.zeros(cluster.max(initial=0) + 1, np.bool_)
    has_removed[cluster[rank > 1]] = True
    decision = np.where(has_removed[cluster], np.int8(kept), np.int8(alone))
    decision[rank > 1] = removed
    decision[(decision == alone) & is_apart] = apart
    return decision
