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
    """What the application itself says to a model, the same in every turn; all of it stands in the system message.

    Attributes:
        system: layer [0], the base prompt.
        scenario: layer [1], what this scene asks for.
        skills: layer [1], a text for each skill.
        profile: layer [2], of the app or the user.  It speaks with the application's authority: what a user may
            write himself belongs into a memory.
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
        metadata: as it was stored, tool calls among it.
        id: of the stored message that it is; None for one that was made here.
    """

    role: ContextRole
    content: str
    metadata: JsonObject | None = None
    id: str | None = None


@final
@frozen
class LeftOut:
    """Something that could have stood in the context.

    Attributes:
        id: of the memory or the message.
        reason: ``budget``: there was no room for it.  ``parted``: a tool's result without its call, or a call without
            its result; a model refuses either.
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
        memory_ids: the memories that stand in it, best first.
        tokens: of all messages, never more than ``memory.context.tokens``.
        left_out: memories, best first, then messages, oldest first.
        recall: what was recalled, by which mode and why; None when nobody asked, or it failed.
        memory_failure: why nothing was recalled, or why the use of memories was not counted; None: all is well.
    """

    messages: tuple[ContextMessage, ...]
    memory_ids: tuple[str, ...]
    tokens: int
    left_out: tuple[LeftOut, ...] = ()
    recall: Recall | None = None
    memory_failure: RecallError | None = None
