"""What a model receives: the application's instructions, the messages made of them, and what was left out of them.

Values only.  How a context is built stands in ``conversation/chat_context.py``; what can be asked for, in ``contracts``.
"""

from typing import Final, Literal, TypeAlias, final

from attrs import frozen

from chatmemory.errors import RecallError
from chatmemory.input.json_value import JsonObject
from chatmemory.longterm.recall.recall import Recall

ContextRole: TypeAlias = Literal["system", "user", "assistant", "tool"]


@final
@frozen(kw_only=True)
class Instructions:
    """What the application says to the model.  It is the same in every turn and becomes part of the system message.

    Attributes:
        system: layer [0], the base prompt.
        scenario: layer [1], what this scene asks for.
        skills: layer [1], a text for each skill.
        profile: layer [2], about the app or the user.  The model trusts it as it trusts the application, so text that a
            user may write belongs in a memory instead.
    """

    system: str = ""
    scenario: str = ""
    skills: tuple[str, ...] = ()
    profile: str = ""


NO_INSTRUCTIONS: Final = Instructions()


@final
@frozen(slots=False)
class ContextMessage:
    """A message for a model.

    Attributes:
        metadata: as it was stored, tool calls included.
        id: the id of the stored message; None: the message is not a stored one.
    """

    role: ContextRole
    content: str
    metadata: JsonObject | None = None
    id: str | None = None


@final
@frozen
class LeftOut:
    """A memory or a message that was left out of the context.

    Attributes:
        id: the id of the memory or the message.
        reason: ``budget``: there was no room for it.  ``parted``: a tool's result without its call, or a call without
            its result; models reject both.
    """

    kind: Literal["memory", "message"]
    id: str
    reason: Literal["budget", "parted"]


@final
@frozen
class ChatContext:
    """What a model receives for one user message.

    Attributes:
        messages: at most one system message, at index 0; the user's message is the last.
        memory_ids: the memories that are included, best first.
        tokens: the size of all messages, never more than ``memory.context.tokens``.
        left_out: memories, best first, then messages, oldest first.
        recall: the recalled memories, and how they were found; None when recall is off or has failed.
        memory_failure: why nothing was recalled, or why the use of memories was not counted; None: nothing failed.
    """

    messages: tuple[ContextMessage, ...]
    memory_ids: tuple[str, ...]
    tokens: int
    left_out: tuple[LeftOut, ...] = ()
    recall: Recall | None = None
    memory_failure: RecallError | None = None
