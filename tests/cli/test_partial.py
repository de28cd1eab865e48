"""`--partial FILE`: jobs of an array write partial results, and `urnscan merge` makes of them what one run writes."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import URNSCAN
from tests.cli.test_cdx import responses
from tests.inputs.test_cdx import cdxj

pytestmark = pytest.mark.full


@pytest.fixture
def crawl(urnscan):
    """The command in a folder with two web archives, and an index of their records."""
    data, records = responses(9)
    urnscan.write("w/a.warc.gz", data)
    urnscan.write("w/b.warc.gz", data)
    urnscan.write("all.cdxj", cdxj([(name, *each) for name in ("a.warc.gz", "b.warc.gz") for each in records]).encode())
    for name in "ab":
        urnscan.write(f"{name}.cdxj", cdxj([(f"{name}.warc.gz", *each) for each in records]).encode())
    return urnscan


def at_once(urnscan, *commands):
    """Run commands as processes at the same time, as an array of jobs does."""
    jobs = [subprocess.Popen([URNSCAN, *command, "--quiet"], cwd=urnscan.folder) for command in commands]
    assert [job.wait(150) for job in jobs] == [0 for _ in jobs]


def test_an_array_of_jobs(crawl):
    """Promise: the classes of two processes have the bytes of one run's, and the occurrences its rows, with `--cdx`."""
    at_once(
        crawl,
        *(
            ["--cdx", f"{name}.cdxj", "w", "--partial", f"{name}.partial", "--occurrences", f"{name}.parquet"]
            for name in "ab"
        ),
    )
    crawl("--cdx", "all.cdxj", "w", "-o", "one-c.parquet", "--occurrences", "one-o.parquet", "--quiet")
    result = crawl("merge", "a.partial", "b.partial", "-o", "c.parquet")
    assert result.err.startswith("urnscan: 24 occurrences, 7 classes, 2 partial results, ")
    crawl("merge", "a.parquet", "b.parquet", "-o", "o.parquet", "--quiet")
    assert (crawl.folder / "c.parquet").read_bytes() == (crawl.folder / "one-c.parquet").read_bytes()
    # Tables of occurrences do not know the number of classes, so only the rows are the same.
    assert crawl.rows("o.parquet") == crawl.rows("one-o.parquet")


PAGE = Path(__file__).parents[2] / "docs" / "howto" / "jobs.md"
OF_WEB = "--recover percent,entities --trim --syntax rfc8141 --resolver-tail cut --equivalence namespace"
SCRIPTS = {
    "SLURM_ARRAY_TASK_ID": (r"```sh\n(#!/bin/sh\n#SBATCH .*?)```", OF_WEB),
    "JOB_COMPLETION_INDEX": (r"- -c\n +- (.*?)\n +volumeMounts", ""),
}


@pytest.mark.parametrize("number", SCRIPTS)
def test_the_scripts_of_the_page(crawl, number):
    """docs/howto/jobs.md: its scripts run, each job as a process, and give one run's table.

    Only the environment is another: that of the tests.
    """
    pattern, options = SCRIPTS[number]
    (script,) = re.findall(pattern, PAGE.read_text(), re.DOTALL)
    script = script.replace("/shared/urnscan/.venv", str(URNSCAN.parents[1]))
    (crawl.folder / "parts").mkdir()
    for job, name in enumerate("ab"):
        crawl.write(f"list.{job:04}", f"w/{name}.warc.gz\n".encode())
    path = {"PATH": f"{URNSCAN.parent}:{os.environ['PATH']}"}
    jobs = [
        subprocess.Popen(["sh", "-c", script], cwd=crawl.folder, env={**os.environ, **path, number: str(job)})
        for job in range(2)
    ]
    assert [job.wait(150) for job in jobs] == [0, 0]
    crawl("merge", "parts", "-o", "c.parquet", "--quiet")
    crawl("w", "-o", "one.parquet", "--quiet", *options.split())
    assert (crawl.folder / "c.parquet").read_bytes() == (crawl.folder / "one.parquet").read_bytes()


def test_with_the_table_of_the_same_run(crawl):
    """`-o` beside it is the table of the run without it, and the file is that of a run without `-o`."""
    result = crawl("w", "--partial", "a.partial", "-o", "c.parquet")
    assert result.summary.endswith("-> c.parquet, a.partial")
    crawl("w", "--partial", "b.partial", "-j", "2", "--memory", "1MB", "--quiet")
    crawl("w", "-o", "one.parquet", "--quiet")
    assert (crawl.folder / "c.parquet").read_bytes() == (crawl.folder / "one.parquet").read_bytes()
    assert (crawl.folder / "a.partial").read_bytes() == (crawl.folder / "b.partial").read_bytes()


def test_outputs_appear_together_or_not_at_all(crawl):
    """Promise: of several outputs all appear or none; a file that exists is replaced only with --force."""
    crawl("w", "--partial", "a.partial", "--quiet")
    before = (crawl.folder / "a.partial").read_bytes()
    names = crawl.names()
    for arguments, said in (
        (["a.partial", "--occurrences", "o.parquet"], "a.partial: exists already; --force replaces it"),
        (["new.partial", "--occurrences", "a.partial", "--force"], "a.partial: unknown output format"),
        (
            ["new.partial", "--occurrences", "no/o.parquet"],
            "no/o.parquet: the folder no does not exist; make it first",
        ),
        (["new.parquet"], "new.parquet: a partial result is not a table; use .partial, as in urns.partial"),
        (["-"], "--partial -: a partial result is a file for urnscan merge; name a file"),
        (["new.partial", "--count"], "--count is for printing; leave out --count or --partial"),
        (
            ["new.partial", "--engine", "spark", "-o", "s"],
            "--partial is for one machine; leave it out, as Spark merges",
        ),
    ):
        result = crawl("w", "--partial", *arguments, status=2)
        assert result.err.startswith(f"urnscan: {said}")
        assert len(result.err.splitlines()) == 1
    assert crawl.names() == names
    assert (crawl.folder / "a.partial").read_bytes() == before
    crawl("w", "--partial", "a.partial", "--force", "--quiet")
    assert (crawl.folder / "a.partial").read_bytes() == before


def test_scanned_again(crawl):
    """A partial result among the inputs is noted as an output of urnscan, and its own one is not read."""
    crawl("w", "--partial", "w/a.partial", "--quiet")
    result = crawl("w", "--partial", "w/a.partial", "--force")
    assert "24 occurrences" in result.summary
    assert "w/a.partial: looks like a table that urnscan wrote" in crawl("w", "-o", "c.parquet").err
