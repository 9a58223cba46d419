"""``AgentPrompt``: the prompt of an agent, as fixed instructions and a part that changes (spec 000; 001, D5).

``agent_prompt`` writes one prompt, ``agent_messages`` makes a conversation of several.  Neither reads a store or counts the
use of memories: call ``LongTermMemory.record_use`` with the memories that a model was shown.
"""

from collections.abc import Sequence
from random import Random
from typing import Final, final

from attrs import frozen

from chatmemory.context.chat_context import ContextMessage
from chatmemory.context.context_assembly import PARAGRAPH
from chatmemory.context.recalled_block import (
    CLOSING,
    MEMORIES_NOTICE,
    memory_line,
    message_line,
    recalled_block,
)
from chatmemory.conversation.messages import ChatMessage
from chatmemory.effect import Effect
from chatmemory.effect.services.schedule import RandomTag
from chatmemory.longterm.memories import Memory
from chatmemory.text.fence import OPENING, fresh_fence

HISTORY_NOTICE: Final = f"{OPENING}was said before in this conversation, one JSON object per line.{CLOSING}"
CONTENT_NOTICE: Final = f"{OPENING}is what the user works on at this moment.{CLOSING}"


@final
@frozen
class AgentPrompt:
    """One request of an agent to a model.

    Attributes:
        system: the fixed instructions, such as format and commands; the same text for every request of this kind.
        user: the text of this request alone.
    """

    system: str
    user: str


@final
@frozen
class AgentTurn:
    """A request and the reply of the model; *reply* is None when the request has not been sent yet."""

    prompt: AgentPrompt
    reply: str | None = None


def agent_prompt(
    instructions: str,
    request: str,
    *,
    intent: str = "",
    current_content: str = "",
    memories: Sequence[Memory] = (),
    history: Sequence[ChatMessage] = (),
) -> Effect[AgentPrompt]:
    """Write a prompt whose system part is exactly *instructions*.

    Args:
        instructions: the fixed instructions.
        request: the request of the user; it is the end of the user part.
        intent: the text before *request*; empty: there is none.
        current_content: the text that the user works on now; empty: there is none.
        memories: memories that the model may use.
        history: earlier messages of the conversation, oldest first.

    Returns:
        an effect of the prompt.  Its user part begins with *memories*, *history* and *current_content*, each inside a
        random fence that marks it as data.
    """

    def write(chance: Random) -> AgentPrompt:
        given = (
            (MEMORIES_NOTICE, [memory_line(memory) for memory in memories]),
            (HISTORY_NOTICE, [message_line(message) for message in history]),
            (CONTENT_NOTICE, [current_content] if current_content else []),
        )
        data = [
            recalled_block(lines, fence=fresh_fence(lines, chance), notice=notice) for notice, lines in given
        ]
        return AgentPrompt(instructions, PARAGRAPH.join(filter(None, (*data, intent, request))))

    return Effect.service(RandomTag).map(write)


def agent_messages(turns: Sequence[AgentTurn]) -> tuple[ContextMessage, ...]:
    """Return the messages that a model receives for the last of *turns*: the instructions once, then the text of each turn.

    Different instructions, of planning and of steps for example, are joined in the order of their first use.  While all
    turns have the same instructions, a further turn only appends messages.
    """
    instructions = dict.fromkeys(turn.prompt.system for turn in turns if turn.prompt.system)
    messages = [ContextMessage("system", PARAGRAPH.join(instructions))] if instructions else []
    for turn in turns:
        messages.append(ContextMessage("user", turn.prompt.user))
        if turn.reply is not None:
            messages.append(ContextMessage("assistant", turn.reply))
    return tuple(messages)
