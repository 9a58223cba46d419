"""``Role``: the speaker of a message; ``RecallMode``: how results were found; ``UNCHANGED``: marks a field that stays.

``given`` returns the other fields of a change.
"""

from enum import Enum
from typing import Any, Literal, TypeAlias

from attrs import AttrsInstance, asdict

Role: TypeAlias = Literal["user", "assistant", "system", "tool", "summary"]

RecallMode: TypeAlias = Literal["hybrid", "lexical", "like"]
"""``hybrid``: by words and vectors.  ``lexical``: by words alone.  ``like``: no word was found; the text itself was."""


class Unchanged(Enum):
    """The type of ``UNCHANGED``."""

    UNCHANGED = "unchanged"


UNCHANGED = Unchanged.UNCHANGED
"""Leave the field as it is; None would empty it."""


def given(change: AttrsInstance) -> dict[str, Any]:
    """Return the fields of *change* that are not ``UNCHANGED``, by name."""
    return {name: value for name, value in asdict(change, recurse=False).items() if value is not UNCHANGED}
