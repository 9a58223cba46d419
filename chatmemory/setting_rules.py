"""Rules that several settings obey."""

from typing import Final

from attrs import validators

POSITIVE: Final = validators.ge(1)
NOT_NEGATIVE: Final = validators.ge(0)
SOME_TIME: Final = validators.gt(0.0)
"""Seconds."""
