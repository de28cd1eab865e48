"""The report of a deduplication: counts, failures, and messages about what the run left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from urnscan.dedup.policy import Policy
from urnscan.display.text import counted, html_errors, html_failures, html_fields, others_left_out
from urnscan.errors import SourceError, SourceNote, count_in_metadata, count_of, option
from urnscan.run.options import Options

# Dumps without identifiers, and records with wrong identifiers, that are reported.
_REPORTED = 5


@dataclass
class DedupReport:
    """Result of a deduplication: counts of records and clusters, ignored keys, failures and notes."""

    inputs: int = 0
    """Dumps that were read: files, or members of archives, in a known format."""
    empty: int = 0
    """Inputs without a byte."""
    byte_count: int = 0
    """Bytes of text that were read."""
    records: int = 0
    """Records that could be read."""
    damaged: int = 0
    """Records that could not be read."""
    without: int = 0
    """Records without a URN and without another key (`description`, `octets` and `local` do not count)."""
    wrong: int = 0
    """Records without a URN or key, but with a record-level ISBN or ISSN whose check digit is wrong."""
    wrong_identifiers: Sequence[tuple[str, str]] = ()
    """For up to 100 of the records counted in `wrong`: the name of the record, and its first ISBN or ISSN, with plain
    hyphens.
    """
    wrong_numbers: int = 0
    """Wrong ISBN and ISSN in fields of records that are not deleted: rows of the table `wrong`, 0 without it."""
    clusters: int = 0
    """Clusters: records that are treated as the same work. A record that joins no other record is a cluster, too."""
    duplicates: int = 0
    """Records that are removed."""
    described: int = 0
    """Duplicates that only descriptions (title, author, year, page) join to their cluster, no identifier: with
    identifiers alone there would be so many more clusters.
    """
    cut: int = 0
    """URNs that are ignored because they are longer than `max_length`."""
    trimmable: int = 0
    """Occurrences that `trim` would have changed."""
    components_in_names: int = 0
    """Occurrences whose names contain components of RFC 8141 (`?+`, `?=`, `#`); 0 except in rfc2141."""
    longer_in_rfc8141: int = 0
    """Occurrences whose names continue in RFC 8141, after `~` or `&`; 0 except in rfc2141."""
    cut_short: int = 0
    """Other occurrences that are followed by a character that looks like a part of the name (`ü`)."""
    left_out: int | None = None
    """Occurrences of names that do not count because of `nid` and `not_nid`; None if all names count."""
    silent: Sequence[tuple[str, int, bool]] = ()
    """Dumps in which no record has an identifier or is joined by its description: the name of the dump, the number of
    its records, and True if only record-level identifiers count.
    """
    unread: Sequence[tuple[str, str]] = ()
    """Dumps with records in an unknown format inside (OAI-PMH, SRU): the name of the dump, and the element, such as `ead`."""
    unknown: Sequence[str] = ()
    """Names of dumps without a known field for identifiers, so that every URN in them counts."""
    doubts: int = 0
    """Groups in doubt. In each, a record has a reason for which people should look at it, mostly because it shares a key
    with a record of another cluster; or it has changed after they decided about it.
    """
    decided: int = 0
    """Groups in doubt (part of `doubts`) in which people decided about each record in doubt: `review` leaves them out."""
    untitled: int = 0
    """Clusters of several records without any title, without those about which people decided."""
    candidates: int = 0
    """Pairs of records that share no key and may be the same, if `candidates` was named."""
    refused: Sequence[tuple[str, int, str]] = ()
    """Rows of `decisions` that were not applied: the file, the line, and the reason."""
    remarks: Sequence[tuple[str, int, str]] = ()
    """Rows of `decisions` that were applied, and keep or remove more than they say: the file, the line, and what."""
    too_large: Sequence[tuple[str, int]] = ()
    """Groups of more than `max_cluster` works that URNs connect, so that none of them is joined: the name of the first
    record, and the number of works; the largest first. A work is a record, or several of N-Triples with the same ID.
    """
    carried: int = 0
    """Fields of removed records that were copied into kept records (`carry`)."""
    not_carried: Sequence[tuple[str, str]] = ()
    """Records whose fields were not copied, or that stayed unchanged: the name of the record, and the reason."""
    common: Sequence[tuple[str, int]] = ()
    """URNs and keys in more than `max_class` records, which join nothing: the canonical form or the key, and the number
    of records; the largest first.
    """
    failures: list[SourceError] = field(default_factory=list)
    """Records and inputs that could not be read, in the order of the dumps."""
    notes: list[SourceNote] = field(default_factory=list)
    """Files that are not dumps, and other notes that are not failures."""
    seconds: float = 0.0
    """Duration of the run, in seconds."""

    def _repr_html_(self) -> str:
        values = {name: value for name, value in vars(self).items() if name not in ("failures", "notes")}
        shown = (
            (name.replace("_", " "), len(value) if isinstance(value, Sequence) else value)
            for name, value in values.items()
        )
        return html_fields(shown) + self.html_errors()

    def html_errors(self) -> str:
        """HTML lists of the rows of `decisions` in `refused` and `remarks`, of the failures and of the notes, each with
        the first 20 and the number of the rest.
        """
        decisions = (html_errors(notes, one, many) for one, many, notes in self.decisions_to_check())
        return "".join(decisions) + html_failures(self.failures, self.notes)

    def decisions_to_check(self) -> list[tuple[str, str, list[SourceNote]]]:
        """Return the rows of `decisions` that were not applied, and those applied with a remark: for each kind a noun
        for one row, a noun for several, and the messages.
        """
        kinds = (("not applied", self.refused), ("applied with a remark", self.remarks))
        return [
            (
                *(f"decision {kind}", f"decisions {kind}"),
                [SourceNote(f"{path}: line {line:,}", reason) for path, line, reason in rows],
            )
            for kind, rows in kinds
        ]

    def parts(self, *, has_keys: bool) -> list[str]:
        """Return the summary in words: `["2 dumps", "10 records", "7 clusters", "3 duplicates"]`; then, if they are not
        0, groups in doubt, candidates, wrong numbers, copied fields and records without identifiers; then the names
        that `nid` and `not_nid` left out, if that is not None. `has_keys`: keys other than URNs can join records.
        """
        without = "without identifiers" if has_keys else "without URNs"
        without += "" if self.left_out is None else " that count"
        wrong = f" ({self.wrong:,} with a wrong check digit)" if self.wrong else ""
        described = f" ({self.described:,} by description alone)" if self.described else ""
        number = f"{self.decided:,} " if self.decided < self.doubts else "all " if self.doubts > 1 else ""
        decided = f" ({number}decided)" if self.decided else ""
        return [
            *(counted(self.inputs, "dump"), counted(self.records, "record")),
            *(counted(self.clusters, "cluster"), counted(self.duplicates, "duplicate") + described),
            *([f"{counted(self.doubts, 'group')} in doubt{decided}"] if self.doubts else []),
            *([counted(self.candidates, "candidate")] if self.candidates else []),
            *([counted(self.wrong_numbers, "wrong number")] if self.wrong_numbers else []),
            *([f"{counted(self.carried, 'field')} copied"] if self.carried else []),
            *([f"{self.without:,} {without}{wrong}"] if self.without else []),
            *others_left_out(self.left_out),
        ]

    def silences(self) -> list[str]:
        """Return messages about dumps without identifiers, dumps in which every URN counts because none of their fields
        is known to contain identifiers, and dumps with records in an unknown format (inside OAI-PMH, SRU); then one
        with the number of clusters of several records without a title. Empty if there are none.

        Up to five dumps of each kind have a message each; a further message counts the rest of the kind.
        """
        which = "" if self.left_out is None else f" that counts ({option('nid', None)}, {option('not_nid', None)})"
        without = [
            f"{name}: none of its {counted(records, 'record')} "
            + (
                f"has a record-level identifier{which}; {option('any_urn')} counts every URN"
                if own
                else f"contains a URN{which}"
            )
            for name, records, own in self.silent
        ]
        unknown = [
            f"{name}: no field is known to contain identifiers, so every URN in a record counts"
            for name in self.unknown
        ]
        unread = [
            f"{name}: the fields of <{element}> are not known, so only the identifiers in the headers count; "
            f"{option('any_urn')} counts every URN"
            for name, element in self.unread
        ]
        untitled = (
            f"{counted(self.untitled, 'cluster')} of records without titles: only identifiers join them; "
            f"{option('review', None)} shows them"
        )
        return [*_first(without), *_first(unknown), *_first(unread), *([untitled] if self.untitled else [])]

    def mistakes(self) -> list[str]:
        """Return messages about records whose identifiers all have a wrong check digit: the first five, and the number
        of the rest; empty if there are none.
        """
        lines = [
            f"{name}: {identifier} has a wrong check digit, so no identifier joins the record; "
            f"{option('wrong', None)} lists all wrong numbers"
            for name, identifier in self.wrong_identifiers[:_REPORTED]
        ]
        if self.wrong > _REPORTED:
            lines.append(
                f"{counted(self.wrong - _REPORTED, 'more record')} whose identifiers all have a wrong check digit"
            )
        return lines

    def metadata(self, options: Options, policy: Policy) -> dict[str, Any]:
        """Return the metadata of the table of clusters: options and counts, without the duration, so that they are the
        same for two runs with the same inputs and options.
        """
        numbers_of = "inputs failures notes byte_count records damaged clusters duplicates".split()
        numbers_of += "doubts untitled too_large trimmable components_in_names".split()
        numbers_of += "longer_in_rfc8141 cut_short left_out common".split()
        values = {name: getattr(self, name) for name in numbers_of}
        counts = {name: len(value) if isinstance(value, Sequence) else value for name, value in values.items()}
        counts |= {"failures": count_of(self.failures), "notes": count_in_metadata(self.notes)}
        return {**options.metadata(), **policy.metadata(), "counts": counts}


def _first(sentences: Sequence[str]) -> list[str]:
    rest = len(sentences) - _REPORTED
    return [*sentences[:_REPORTED], *([f"{counted(rest, 'more dump')} of this kind"] if rest > 0 else [])]
