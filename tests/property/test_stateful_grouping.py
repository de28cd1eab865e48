"""Grouping and what it is made of, one row after the other and with hardly any memory, against plain dictionaries."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from unittest import mock

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.grouping.test_out_of_core import Occurrence, all_rows, partial_rows, plain_classes
from tests.property.test_grouping_properties import cuttings, occurrences
from tests.support.examples import FEW
from urnscan.grouping import out_of_core as grouping
from urnscan.grouping import ranges
from urnscan.grouping.classes import add_up
from urnscan.grouping.out_of_core import Grouping
from urnscan.inputs.seen_inputs import SeenInputs
from urnscan.pool import Pool
from urnscan.tables.schemas import PARTIAL

_SPELLINGS = 130  # more than are listed


class Grouped(RuleBasedStateMachine):
    """Rows come in batches of every kind, are brought into ranges, added up, spilled; then all classes are asked for."""

    @initialize(cutting=cuttings(), memory=st.sampled_from([1, 2_000, 10_000]), jobs=st.sampled_from([1, 2]))
    def begin(self, cutting, memory, jobs):
        self.patches = [mock.patch.multiple(grouping, **cutting), mock.patch.object(ranges, "_PER_RANGE", 1)]
        for patch in self.patches:
            patch.start()
        self.folder = Path(tempfile.mkdtemp())
        self.pool = Pool(jobs)
        self.memory = memory
        self.begin_grouping()

    def begin_grouping(self):
        self.grouping = Grouping(self.memory, self.pool, lambda: self.folder)
        self.known: list[Occurrence] = []

    def later(self, found):
        """The same in sources behind those that were met: rows come in the order of the inputs."""
        before = max((occurrence.source for occurrence in self.known), default=0)
        return [occurrence._replace(source=occurrence.source + before) for occurrence in found]

    @rule(found=occurrences(), schema=st.sampled_from([None, PARTIAL]))
    def add(self, found, schema):
        found = self.later(found)
        self.grouping.add(partial_rows(found, schema) if schema else partial_rows(found))
        self.known += found

    @rule(found=occurrences())
    def add_what_was_added_up(self, found):
        """As a run adds them that is resumed."""
        found = self.later(found)
        self.grouping.add(add_up([partial_rows(found)]))
        self.known += found

    @rule(number=st.integers(1, _SPELLINGS))
    def add_many_spellings(self, number):
        found = [
            Occurrence("urn:a:b", "urn:a:b" + "".join("bB"[at >> bit & 1] for bit in range(8)), 0)
            for at in range(number)
        ]
        found = self.later(found)
        self.grouping.add(partial_rows(found))
        self.known += found

    @rule()
    def classes(self):
        results, told = [], []
        total = self.grouping.complete()
        for rows in self.grouping.classes(lambda rows: rows, told.append):
            rows.validate(full=True)
            results.append(rows.to_pylist())
        assert all_rows(results) == plain_classes(self.known)
        assert sum(told) == total <= len(self.known), "what a bar shows comes to its end"
        assert not any(self.folder.iterdir()), "what was spilled is removed"
        self.begin_grouping()

    def teardown(self):
        if hasattr(self, "pool"):
            self.pool.__exit__()
            shutil.rmtree(self.folder)
            for patch in self.patches:
                patch.stop()


class SeenOnes(RuleBasedStateMachine):
    """The compact set of what was met before, against a set, past the sizes at which its table grows."""

    @initialize()
    def begin(self):
        self.seen, self.known, self.number = SeenInputs(), set(), 0

    @rule(keys=st.lists(st.binary(max_size=3), max_size=20))
    def add(self, keys):
        expected = [key not in self.known and key not in keys[:at] for at, key in enumerate(keys)]
        assert self.seen.add(keys).tolist() == expected
        self.known |= set(keys)

    @rule(count=st.integers(0, 3_000))
    def add_many(self, count):
        keys = [b"%d" % number for number in range(self.number, self.number + count)]
        assert self.seen.add(keys).tolist() == [key not in self.known for key in keys]
        self.known |= set(keys)
        self.number += count // 2

    @invariant()
    def what_was_met_is_known(self):
        if hasattr(self, "seen"):
            assert not self.seen.add(sorted(self.known)[:50]).any()


TestGrouped, TestSeen = Grouped.TestCase, SeenOnes.TestCase
TestGrouped.settings = TestSeen.settings = FEW
