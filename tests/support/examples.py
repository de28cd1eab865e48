"""Number of examples of a property test, as a share of what the Hypothesis profile says (see `tests/conftest.py`)."""

from __future__ import annotations

from hypothesis import settings

__all__ = ["FEW", "MANY"]

FEW = settings(max_examples=settings().max_examples // 3)
"""For tests whose examples are slow to draw or to run, or that run once for each format, namespace or mode."""

MANY = settings(max_examples=settings().max_examples * 5)
"""For tests that need rare combinations."""
