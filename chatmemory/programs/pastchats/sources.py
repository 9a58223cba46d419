"""How a turn is named to people and to ``show``: ``path#turn``, or ``conversation#turn``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chatmemory.pastchats.prompt import Prompt


def source_of(prompt: Prompt) -> str:
    """Return where *prompt* stands."""
    return f"{prompt.source}#{prompt.turn_index}"


def conversation_of(prompt: Prompt) -> str | None:
    """Return the other name of *prompt*, where its file may hold several conversations with a turn of this number."""
    _, _, native = prompt.conversation_id.partition(":")
    own = native.removeprefix(prompt.source)
    return f"{prompt.conversation_id}#{prompt.turn_index}" if own and own not in prompt.source else None
