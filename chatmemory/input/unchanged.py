"""``UNCHANGED``: what a change leaves as it is, where ``None`` is a value."""

from enum import Enum


class Unchanged(Enum):
    """The type of ``UNCHANGED``."""

    UNCHANGED = "unchanged"


UNCHANGED = Unchanged.UNCHANGED
"""Leave the field as it is; None would empty it."""
