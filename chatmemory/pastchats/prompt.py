"""``Prompt``: a stored turn; ``PromptFilter``: selects turns."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias, final

from attrs import frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject

TurnKind: TypeAlias = Literal["typed", "command", "summary", "harness", "tool_result", "thinking"]
"""``typed``: a person's or a model's own words.  ``command``: a command of the tool that a person gave (``/init``).
``summary``: the text by which a tool replaced older turns.  ``harness``: text that the tool itself added to the user's
side."""

KEPT_KINDS: Final[frozenset[TurnKind]] = frozenset({"typed", "command", "summary"})
"""The kinds that are indexed by default."""


@final
@frozen(slots=False, kw_only=True)
class Prompt:
    """A stored turn.

    Attributes:
        id: the number of its row.
        is_superseded: whether its source no longer holds it, because it was edited or its branch was abandoned.
    """

    id: int
    source: str
    project: str
    format: str
    conversation_id: str
    session: str
    turn_index: int
    role: Role
    kind: TurnKind
    speaker: str | None
    content: str
    timestamp: datetime | None
    text_hash: str
    metadata: JsonObject
    is_superseded: bool = False


@final
@frozen
class PromptFilter:
    """Selects turns; an empty field selects all.

    Attributes:
        projects: names of projects; upper and lower case are the same.
        since: turns from this time on, given with a time zone; None: no limit.
        until: turns before this time, given with a time zone; None: no limit.
    """

    projects: Sequence[str] = ()
    roles: Sequence[Role] = ()
    formats: Sequence[str] = ()
    conversations: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None


CLOCK_SKEW: Final = timedelta(minutes=5)
"""How far the clocks of two machines may differ.  A turn that is dated later than that from now is never the newest."""

EVERYTHING: Final = PromptFilter()


def is_undone(prompt: Prompt) -> bool:
    """Return whether *prompt* was rolled back, rewound or reverted; the answer to such a turn is undone, too."""
    return prompt.metadata.get("on_current_path") is False


def source_of(prompt: Prompt) -> str:
    """Return the place of *prompt*: source and turn number."""
    return f"{prompt.source}#{prompt.turn_index}"


def conversation_of(prompt: Prompt) -> str | None:
    """Return the place of *prompt* by its conversation, for files that hold several conversations."""
    _, _, native = prompt.conversation_id.partition(":")
    own = native.removeprefix(prompt.source)
    return f"{prompt.conversation_id}#{prompt.turn_index}" if own and own not in prompt.source else None
