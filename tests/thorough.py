"""How long a run keeps at what has no end of its own: briefly in ``make test``, for long in ``make test-long``.

A brief run keeps each promise at least once.  ``THOROUGH=1`` makes a run thorough.
"""

import os
from typing import Final

import pytest

IS_THOROUGH: Final = os.environ.get("THOROUGH") == "1"

thorough: Final = pytest.mark.skipif(not IS_THOROUGH, reason="takes long: make test-long runs it")
"""Marks a test, or a case of one, that a brief run leaves out."""


def rounds(brief: int, *, thorough: int) -> int:
    """Return how often this run does something: *brief* times or, when it is thorough, as often as *thorough* says."""
    return thorough if IS_THOROUGH else brief
