"""Rows of the occurrence table, as the oracle's records give them."""

from tests.support.oracle import END
from tests.support.registrations import verdict
from tests.support.spelled import joined, spelled
from urnscan.urn.equivalence import canonical
from urnscan.urn.parser import parse


def occurrence_row(record, source, member, syntax, equivalence):
    """contract.md, `OCCURRENCES.parquet`, column by column."""
    components, problems = spelled(record.text.decode(), syntax)
    urn = _class(record.text, syntax, equivalence)
    judged = verdict(parse(urn, syntax).canonical)
    return {
        "source": source,
        "member": member,
        "start": record.start,
        "line": record.line,
        "text": record.text.decode(),
        "urn": urn,
        "nid": record.nid.decode().lower(),
        "stop": None if record.stop == END else record.stop,
        "punctuation": record.punctuation,
        "length": record.end - record.start,
        "via": None,
        "resolver": record.resolver,
        **components,
        "valid": judged.valid,
        "problem": judged.problem,
        "spelling_problem": joined(problems),
        **dict.fromkeys(("captured", "status", "mime")),
    }


def _class(text, syntax, equivalence):
    if equivalence == "namespace":
        return verdict(canonical(text, syntax=syntax)).form
    return canonical(text, syntax=syntax, equivalence=equivalence)
