"""``AgentPrompt``: what an agent asks a model, parted into fixed instructions and what changes (spec 000; 001, D5).

``agent_prompt`` writes one, ``agent_messages`` makes a conversation of several.  Nothing is read and no use is counted
here: whoever shows memories to a model tells ``LongTermMemory.record_use``.
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
from chatmemory.effect.services.random import RandomTag
from chatmemory.longterm.memories import Memory
from chatmemory.text.fence import OPENING, fresh_fence

HISTORY_NOTICE: Final = f"{OPENING}was said before in this conversation, one JSON object per line.{CLOSING}"
CONTENT_NOTICE: Final = f"{OPENING}is what the user works on at this moment.{CLOSING}"


@final
@frozen
class AgentPrompt:
    """One request of an agent.

    Attributes:
        system: the fixed instructions: format, commands.  The same text for every request of its kind.
        user: what belongs to this request alone.
    """

    system: str
    user: str


@final
@frozen
class AgentTurn:
    """A request and what came back; *reply* is None for the request that is to be made now."""

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
    """Write a prompt whose system part is *instructions* and nothing else.

    The user part begins with what is given as data, each behind a fence of its own drawing: *memories*, *history*
    and *current_content*.  Then come *intent*, and *request* at the end.
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
    """Return what a model receives for the last of *turns*: the instructions once, then what each turn added.

    Instructions of several kinds, of planning and of steps, are merged in the order of their first use.  While there is
    one kind, a further turn only appends, so that whoever keeps the conversation sends the new messages alone.
    """
    instructions = dict.fromkeys(turn.prompt.system for turn in turns if turn.prompt.system)
    messages = [ContextMessage("system", PARAGRAPH.join(instructions))] if instructions else []
    for turn in turns:
        messages.append(ContextMessage("user", turn.prompt.user))
        if turn.reply is not None:
            messages.append(ContextMessage("assistant", turn.reply))
    return tuple(messages)
