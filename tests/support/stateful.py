"""How long the stateful tests go on: seconds in all in a plain run, more where `URNSCAN_EXAMPLES` says how many examples."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

__all__ = ["steps"]

_EXAMPLES = "URNSCAN_EXAMPLES"


def steps(examples: int, count: int) -> settings:
    """So many examples, each of at most so many steps; with `URNSCAN_EXAMPLES` that many, of three times the steps."""
    wanted = os.environ.get(_EXAMPLES)
    return settings(
        max_examples=int(wanted or examples),
        stateful_step_count=3 * count if wanted else count,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
