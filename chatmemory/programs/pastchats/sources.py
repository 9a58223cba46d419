"""How a turn is named to people and to ``show``: ``path#turn``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chatmemory.prompt import Prompt


def source_of(prompt: Prompt) -> str:
    """Return where *prompt* stands."""
    return f"{prompt.source}#{prompt.turn_index}"
