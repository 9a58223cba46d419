"""``Role``: who speaks; ``RecallMode``: how something was found; ``UNCHANGED``: what a change leaves as it is."""

from enum import Enum
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["user", "assistant", "system", "tool", "summary"]

RecallMode: TypeAlias = Literal["hybrid", "lexical", "like"]
"""``hybrid``: by words and vectors.  ``lexical``: by words alone.  ``like``: no word was found; the text itself was."""


class Unchanged(Enum):
    """The type of ``UNCHANGED``."""

    UNCHANGED = "unchanged"


UNCHANGED = Unchanged.UNCHANGED
"""Leave the field as it is; None would empty it."""
