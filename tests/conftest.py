"""Hypothesis profiles, and fixtures that several packages need."""

import os
import sys

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from tests.support.first_run import run_first

# `core` is the default; `full`, for CI, draws twice as many examples. Both draw the same ones each time, so that a failure
# is of the change at hand. `search` draws others each time: `python -m tests.fuzzing hypothesis` uses it.
# None has a deadline: how long an example takes says nothing on a machine that is busy otherwise.
_UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.register_profile("core", _UNTIMED, derandomize=True, max_examples=20, stateful_step_count=10)
settings.register_profile("full", _UNTIMED, derandomize=True, max_examples=40, stateful_step_count=20)
settings.register_profile("search", _UNTIMED, max_examples=40, stateful_step_count=20)
settings.load_profile("core")


def pytest_configure(config):
    """Compile all ahead, once for all workers: the first run of the command would say a line that no test expects."""
    if not hasattr(config, "workerinput"):
        # Without bytecode each worker rewrites the assertions of all files anew, and each command compiles its modules.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False
        run_first(config)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Files of tests have no doctests: to look for them takes a third of the time of collection, in each worker."""
    collectors = yield
    if file_path.name.startswith("test_"):
        return [each for each in collectors if not isinstance(each, DoctestModule)]
    return collectors


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tiers: `full` has each test but those of `guard` and `spark`; `core` those of them that are not marked `full`.

    In a file or class that is marked `full`, a test that is marked `core` is of both.
    """
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        if not marks & {"guard", "spark"}:
            if "full" not in marks:
                item.add_marker("core")
            item.add_marker("full")


@pytest.fixture(scope="module")
def s3_server():
    """The address of an S3 server on this machine."""
    pytest.importorskip("moto")
    pytest.importorskip("flask")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()
