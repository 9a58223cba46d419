"""``ChatContext``: the messages that a model receives, made of instructions, memories and a conversation.

Values only: ``context_assembly.py`` builds a context, ``contract.py`` defines the service.
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
        scenario: layer [1], the instructions for this scene.
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


LeftOutReason: TypeAlias = Literal["budget", "parted", "limit", "unlike", "window", "summary"]
ContextPartName: TypeAlias = Literal["instructions", "memories", "summaries", "conversation", "user_message"]


@final
@frozen
class LeftOut:
    """A memory or a message that was left out of the context.

    Attributes:
        id: the id of the memory or the message.
        reason: ``budget``: there was no room for it.  ``parted``: a tool's result without its call, or a call without
            its result; models reject both.  A preview has these, too: ``limit``: a memory that others outrank
            (``memory.retrieval.limit``).  ``unlike``: a memory that is not similar enough to the message.  ``window``: a
            message older than ``memory.context.windowMessages`` others.  ``summary``: a message that the strategy would
            summarize first.
    """

    kind: Literal["memory", "message"]
    id: str
    reason: LeftOutReason


@final
@frozen
class ContextPart:
    """A part of a context and its size.

    Attributes:
        part: ``instructions``: those of the application, and system messages of the conversation.  ``memories``,
            ``summaries``: with their fences.  ``conversation``: all other stored messages.  ``user_message``: the last one.
    """

    part: ContextPartName
    tokens: int


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
        parts: how *tokens* divides among the parts, in their order; a part without tokens is missing.
        message_tokens: the size of each message, in the order of *messages*.
    """

    messages: tuple[ContextMessage, ...]
    memory_ids: tuple[str, ...]
    tokens: int
    left_out: tuple[LeftOut, ...] = ()
    recall: Recall | None = None
    memory_failure: RecallError | None = None
    parts: tuple[ContextPart, ...] = ()
    message_tokens: tuple[int, ...] = ()
