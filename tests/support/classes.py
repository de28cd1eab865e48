"""Tables of classes and of their occurrences for tests of the report, made without a scan."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from urnscan.tables.schemas import CLASSES, OCCURRENCES

HOSTILE = "urn:x:<script>alert(1)</script>"
HOSTILE_SOURCE = "</script><img src=x onerror=alert(2)>/\u202e{{ 7 * 7 }}.xml"
STATUS = {"isbn": "formal", "nbn": "formal", "urn-7": "informal", "x-lab": "experimental", "foo": "unregistered"}
PROBLEMS = [None, None, None, "check-digit", "nss-grammar", "check-digit; invisible-character"]


def made(size, seed=1):
    """Classes in columns, sorted by name, the last of them hostile; about a third have several spellings."""
    random = np.random.default_rng(seed)
    nids = random.choice(list(STATUS), size).tolist()
    urns = sorted(f"urn:{nid}:{number * 7919 % 1000003:07d}-{number}" for number, nid in enumerate(nids))
    count = np.minimum(random.zipf(1.7, size), 100_000).tolist()
    rows = []
    for number, (urn, of_it) in enumerate(zip(urns, count, strict=True)):
        spellings = [urn, urn.replace("urn", "URN"), urn.upper()][: min(of_it, 1 + number % 3)]
        counts = [of_it - len(spellings) + 1] + [1] * (len(spellings) - 1)
        rows.append((urn, of_it, spellings, counts, f"dumps/part-{number % 97:03d}.xml", PROBLEMS[number % 6]))
    if rows:
        _, of_it, _, _, _, _ = rows[-1]
        rows[-1] = (HOSTILE, of_it, [HOSTILE], [of_it], HOSTILE_SOURCE, "</script>")
    return rows


def classes(rows):
    """A table of classes."""
    nids = [urn.split(":")[1] for urn, *_ in rows]
    valid = [None if problem is None else "check-digit" not in problem for *_, problem in rows]
    columns = {
        "urn": [urn for urn, *_ in rows],
        "nid": nids,
        "nss": [urn.split(":", 2)[2] for urn, *_ in rows],
        "nid_status": [STATUS.get(nid, "unregistered") for nid in nids],
        "occurrence_count": [row[1] for row in rows],
        "source_count": [min(row[1], 3) for row in rows],
        "spelling_count": [len(row[2]) for row in rows],
        "spellings": [
            [{"text": text, "count": number} for text, number in zip(row[2], row[3], strict=True)] for row in rows
        ],
        "first_source": [row[4] for row in rows],
        "first_member": [None] * len(rows),
        "first_start": list(range(len(rows))),
        "valid": valid,
        "problem": [row[5] for row in rows],
    }
    return pa.table([pa.array(columns[field.name], _plain(field.type)).cast(field.type) for field in CLASSES], CLASSES)


def occurrences(rows):
    """The occurrences of which these classes are made."""
    stops = [None, -1, 10, 32, 34, 60, 195]
    found = [(urn, text, source) for urn, _, texts, counts, source, _ in rows
             for text, number in zip(texts, counts, strict=True) for _ in range(number)]  # fmt: skip
    size = len(found)
    columns = {
        "source": [source for _, _, source in found],
        "member": [None] * size,
        "start": list(range(size)),
        "line": [1] * size,
        "text": [text for _, text, _ in found],
        "urn": [urn for urn, _, _ in found],
        "nid": [urn.split(":")[1] for urn, _, _ in found],
        "stop": [stops[number % 7] for number in range(size)],
        "punctuation": [number % 4 for number in range(size)],
        "length": [len(text) for _, text, _ in found],
        "via": [None] * size,
        "resolver": [None] * size,
        **{
            name: [None] * size
            for name in ("r_component", "q_component", "f_component", "valid", "problem", "spelling_problem")
        },
        **{name: [None] * size for name in ("captured", "status", "mime")},
    }
    return pa.table(
        [pa.array(columns[field.name], _plain(field.type)).cast(field.type) for field in OCCURRENCES], OCCURRENCES
    )


def write(table, path, **options):
    """Put a table where a run would."""
    told = {
        "version": "0",
        "syntax": "rfc2141",
        "trim": False,
        "recover": ["wraps"],
        "counts": {"inputs": 1234, "notes": 2},
    }
    metadata = {"urnscan": json.dumps(told)}
    pq.write_table(table.replace_schema_metadata(metadata), path, **options)
    return path


def _plain(kind):
    return kind.value_type if pa.types.is_dictionary(kind) else kind
