"""``RecallMode``: how something was found."""

from typing import Literal, TypeAlias

RecallMode: TypeAlias = Literal["hybrid", "lexical", "like"]
"""``hybrid``: by words and vectors.  ``lexical``: by words alone.  ``like``: no word was found; the text itself was."""
