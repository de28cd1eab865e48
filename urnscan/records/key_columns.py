"""Columns of identifiers -> keys of many records.

RE2 applies the patterns of keys.toml to whole columns. Python reads the values for which RE2 is not enough: values that
are not ASCII, may be lists, are long, or fit a pattern with a lookahead.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import bits, flag_array, flags_of, number_array, numbers, text_array
from urnscan.compiled.ascii import WHITE
from urnscan.compiled.bytes import Integers
from urnscan.records.columns import Columns, Texts, with_sources
from urnscan.records.keys import (
    ACCESSION,
    AGENCY,
    BYTES,
    FILLERS,
    IN_LIST,
    INSTITUTION,
    LONGEST,
    MAX_SCHEMES,
    KeyReader,
    Spelling,
    Spellings,
)

# In RE2, `\s` has fewer characters, and `\S` more.
_WHITE = "".join(f"\\x{byte:02x}" for byte in WHITE)
_FILLER = f"(?i)^(?:[0-]*|{'|'.join(map(re.escape, sorted(FILLERS)))})$"
_UNTRIMMED = f"^[{_WHITE}]|[{_WHITE}]$"
_NULL = text_array([None])[0]
_NAME = re.compile(r"\(\?P<g[0-9]+>")
# A repetition with at least this maximum has no maximum in RE2.
_MANY = 40
# Order of keys that come after all other keys of their record.
_LAST = (1 << 63) - 1
# Bytes of a digest. Two different records among 10^9 have the same digest with a probability of 10^-10.
_DIGEST = 12
# Python reads a column with fewer values, because compiling the patterns of RE2 takes longer.
_FEW = 500
_TOKEN = re.compile(
    r"\\s|\\.|\[(?:\\.|[^\[\]\\])+\]|\(\?[=!]|\(\??|\)|(?<=[*+?}])\+|\{(?P<least>\d+),(?P<most>\d{2,})\}", re.DOTALL
)
Flags = npt.NDArray[np.bool_]


class Re2(NamedTuple):
    """A pattern of Python, written for RE2, the library by which Arrow matches whole columns; for ASCII texts. It
    matches every text that the pattern of Python matches, and perhaps others.
    """

    pattern: str
    """The pattern; its groups have the names `g0`, `g1`, …"""
    plain: str
    """The pattern with groups that capture nothing."""
    groups: int
    """Number of groups."""
    longest: int
    """Length in bytes up to which RE2 matches the same texts as Python, with the same groups. Python must try longer
    texts that RE2 matches. 0: it must try all of them.
    """


def re2_of(pattern: str) -> Re2:
    """Write a pattern of Python for RE2, the library by which Arrow matches whole columns. Lookaheads, and large maxima
    of repetitions, are left out, so the result may match more texts than the pattern.

    >>> re2_of("(a{1,99}+)(?=b)").pattern
    '(?P<g0>a{1,})'
    """
    groups = depth = ahead = 0
    longest = LONGEST
    written, place = [], 0
    for token in _TOKEN.finditer(pattern):
        if not ahead:
            written.append(pattern[place : token.start()])
        place, text = token.end(), token[0]
        if text in ("(?=", "(?!") and not ahead:
            ahead, longest = depth + 1, 0
        depth += text.startswith("(") - (text == ")")
        if ahead:
            ahead = 0 if depth < ahead else ahead
        elif text == "(":
            written.append(f"(?P<g{groups}>")
            groups += 1
        elif text in (r"\s", r"\S"):
            written.append("[^" + _WHITE + "]" if text == r"\S" else f"[{_WHITE}]")
        elif text.startswith("["):
            written.append(text.replace(r"\s", _WHITE))
        elif text.startswith("{") and int(token["most"]) >= _MANY:
            longest = min(longest, int(token["most"]))
            written.append(f"{{{token['least']},}}")
        elif text != "+":
            written.append(text)
    written.append(pattern[place:])
    named = "".join(written)
    return Re2(named, _NAME.sub("(?:", named), groups, longest)


class _Row:
    """A spelling of keys.toml (how identifiers are written, and the key that they give), for columns of values in ASCII
    without white space around them.
    """

    def __init__(self, row: Spelling) -> None:
        self._spelling = row
        self.re2 = re2_of(row.pattern)
        self._pattern = f"(?is)^(?:{self.re2.pattern})$"
        self._unless = f"(?is)^(?:{re2_of(row.unless).pattern})" if row.unless else ""

    def groups(self, texts: pa.StringArray) -> tuple[Flags, pa.StructArray]:
        """Whether each value fits the spelling, and the groups of its pattern. Python must check values that are longer
        than `re2.longest`.
        """
        groups = pc.extract_regex(texts, self._pattern)
        fits = flags_of(groups.is_valid())
        if self._unless and fits.any():
            fits &= ~flags_of(pc.match_substring_regex(texts, self._unless))
        return fits, groups

    def keys(self, groups: pa.StructArray) -> pa.StringArray:
        """The keys of values that fit, from the result of `groups`; null for a filler (`none`), and for an identifier
        that `Spelling.form` refuses.
        """
        row = self._spelling
        parts = [pc.replace_substring_regex(groups.field(at), f"[{_WHITE}]+", "") for at in range(self.re2.groups)]
        if not row.keeps_case:
            parts = [pc.ascii_lower(part) for part in parts]
        elif len(parts) > 1:
            parts[0] = pc.ascii_lower(parts[0])
        names = pc.binary_join_element_wise(*parts, "/")
        if row.form is not None:
            names = text_array([row.form(name) or None for name in names.to_pylist()])
        is_filler = pc.match_substring_regex(parts[-1], _FILLER)
        keys = pc.binary_join_element_wise(row.key, names, ":")
        return pc.if_else(is_filler, _NULL, keys)


class SpellingColumns:
    """Reader of a column of identifiers of the same kind: finds the keys (`oclc:1234`) in all values, the same keys as
    `keys.Spellings.read` finds in each value alone.
    """

    def __init__(self, spellings: Spellings) -> None:
        self._spellings = spellings
        self._rows = [_Row(row) for row in spellings.rows]
        # Nearly all values fit only the last row, which is the most general.
        self._special = f"(?is)^(?:{'|'.join(row.re2.plain for row in self._rows[:-1])})$"

    def read(self, texts: pa.StringArray) -> tuple[Integers, pa.StringArray]:
        """Return the keys in a column of values without nulls: the index (from 0) of the value of each key, and the
        keys, sorted by index. A value may give no key, or several.
        """
        if len(texts) < _FEW:
            return self._one_by_one(texts, np.arange(len(texts)))
        lengths = numbers(pc.binary_length(texts))
        is_alone = ~flags_of(pc.string_is_ascii(texts)) | flags_of(pc.match_substring_regex(texts, _UNTRIMMED))
        if self._spellings.several:
            is_alone |= flags_of(pc.match_substring_regex(texts, IN_LIST.pattern))
        is_left = ~is_alone
        is_special = flags_of(pc.match_substring_regex(texts, self._special))
        parts: list[tuple[Integers, pa.StringArray]] = []
        for row in self._rows:
            candidates = np.flatnonzero(is_left if row is self._rows[-1] else is_left & is_special)
            if not len(candidates):
                continue
            fits, groups = row.groups(texts.take(number_array(candidates)))
            is_sure = fits & (lengths[candidates] <= row.re2.longest)
            keys = row.keys(groups.filter(flag_array(is_sure)))
            parts.append((candidates[is_sure][flags_of(keys.is_valid())], keys.drop_null()))
            is_alone[candidates[fits & ~is_sure]] = True
            is_left[candidates[fits]] = False
        parts.append(self._one_by_one(texts, np.flatnonzero(is_alone)))
        index = np.concatenate([index for index, _ in parts])
        order = np.argsort(index, kind="stable")
        return index[order], pa.concat_arrays([keys for _, keys in parts]).take(number_array(order))

    def _one_by_one(self, texts: pa.StringArray, rows: Integers) -> tuple[Integers, pa.StringArray]:
        values = zip(rows.tolist(), texts.take(number_array(rows)).to_pylist(), strict=True)
        pairs = [(row, key) for row, text in values for key in self._spellings.read(text)]
        return np.array([row for row, _ in pairs], np.int64), text_array([key for _, key in pairs])


class KeyColumns:
    """Reader of the keys of many records. A key is an identifier other than a URN, in a common form (`oclc:1234`)."""

    def __init__(self, reader: KeyReader) -> None:
        self._reader = reader
        self.has_bytes = reader.has_bytes
        """Whether the bytes of a record make a key. `of_bytes` returns this key; `read` does not."""
        self._columns_of = functools.lru_cache(MAX_SCHEMES)(SpellingColumns)

    def read(self, columns: Columns) -> Iterator[Texts]:
        """Yield the keys of the records in several `Texts`: the number of the record, a number that gives the place of
        the key among the keys of its record, and the key. A record may have no key, or several; a key is repeated if
        several identifiers of a record give it.
        """
        count = len(columns.identifiers)
        names = columns.identifiers if self._reader.named else pa.nulls(count, pa.string())
        sources = {scheme: pa.nulls(count, pa.string()) for scheme in (INSTITUTION, AGENCY)}
        for scheme, own in columns.by_scheme().items():
            if scheme in sources:
                sources[scheme] = _first(own, count)
            elif (spellings := self._reader.of_scheme(scheme)) is not None:
                index, keys = self._columns_of(spellings).read(own.texts)
                yield Texts(own.record[index], own.order[index], keys)
            if scheme == ACCESSION:
                is_other = ~flags_of(pc.equal(names.take(number_array(own.record)), own.texts).fill_null(False))
                names = _without(names, own.record[is_other])
        yield from self._of_names(names, *sources.values())

    def of_bytes(self, records: Sequence[bytes]) -> Texts:
        """Return a key for each record, in order (numbered from 0): `octets:` and a hash (BLAKE2b, 12 bytes in
        hexadecimal digits) of its bytes, without the white space around them.
        """
        digests = [blake2b(data.strip(), digest_size=_DIGEST).hexdigest() for data in records]
        return _last(np.arange(len(records)), text_array([f"{BYTES}:{digest}" for digest in digests]))

    def _of_names(
        self, names: pa.StringArray, institutions: pa.StringArray, agencies: pa.StringArray
    ) -> Iterator[Texts]:
        """Yield the keys of record IDs (MARC 001, may be null), with the institution of the record or, without one, the
        agency; also keys of the dump (`local:1:1234`), if these are read.
        """
        columns = (names, institutions, agencies)
        has_name, has_institution, has_agency = (flags_of(column.is_valid()) for column in columns)
        keys = self._in(with_sources(names, institutions), np.flatnonzero(has_name), "control")
        yield keys
        is_left = has_name & ~has_institution & has_agency
        is_left[keys.record] = False
        yield self._in(with_sources(names, agencies), np.flatnonzero(is_left), "agency")
        if self._reader.has_local:
            row = np.flatnonzero(has_name & ~has_institution)
            local = pc.binary_join_element_wise(f"local:{self._reader.dump}", names.take(number_array(row)), ":")
            yield _last(row, local)

    def _in(self, texts: pa.StringArray, row: Integers, scheme: str) -> Texts:
        """The keys in `texts[row]`, by the spellings of a scheme; none if keys of the scheme are not read."""
        spellings = self._reader.of_scheme(scheme)
        if spellings is None:
            return _last(row[:0], texts[:0])
        index, keys = self._columns_of(spellings).read(texts.take(number_array(row)))
        return _last(row[index], keys)


def _last(row: Integers, keys: pa.StringArray) -> Texts:
    """A column of keys, sorted after all other keys of their records."""
    return Texts(row, np.full(len(row), _LAST), keys)


def _first(own: Texts, count: int) -> pa.StringArray:
    """The first text that is not empty, for each of `count` records, or null. `own` is sorted by record, then by order."""
    filled = np.flatnonzero(flags_of(pc.not_equal(own.texts, "")))
    records, index = np.unique(own.record[filled], return_index=True)
    at = np.full(count, -1)
    at[records] = filled[index]
    return own.texts.take(pa.Array.from_buffers(pa.int64(), count, [bits(at >= 0), pa.py_buffer(at)]))


def _without(names: pa.StringArray, records: Integers) -> pa.StringArray:
    is_removed = np.zeros(len(names), np.bool_)
    is_removed[records] = True
    return pc.if_else(flag_array(is_removed), _NULL, names)
