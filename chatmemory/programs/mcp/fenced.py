"""Formats recalled text line by line, between the marks of a fence, so that a model treats it as data."""

from collections.abc import Sequence
from random import Random
from typing import Final

from attrs import evolve

from chatmemory.context.chat_context import ContextMessage
from chatmemory.context.recalled_block import (
    CLOSING,
    memory_line,
    message_line,
    recalled_block,
    said_line,
)
from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.token_counter import estimate
from chatmemory.longterm.memories import Memory
from chatmemory.pastchats.prompt import Prompt, source_of
from chatmemory.text.fence import OPENING, fresh_fence
from chatmemory.text.shown_text import shortened

CONVERSATION_NOTICE: Final = f"{OPENING}was said in a conversation, one JSON object per line.{CLOSING}"
TURNS_NOTICE: Final = (
    f"{OPENING}was said in earlier chats, in this tool and others, one JSON object per line.{CLOSING}"
)
FILES_NOTICE: Final = f"{OPENING}names files that were not read, and why, one JSON text per line.{CLOSING}"

MOST_CHARACTERS: Final = 4000
"""The most characters shown of one memory, message or turn: hosts cut off long answers, at any place."""

MOST_TOKENS: Final = 20_000
"""The most tokens of an answer, as ``estimate`` counts them: Claude Code refuses more than 25,000."""

BLOCK_TOKENS: Final = 15_000
"""The most tokens of the lines of an answer; the rest is for the marks, the notes and the structured values."""

VALUE_TOKENS: Final = 100
"""The tokens of the structured value of a line: an id, a score and its signals."""


def fitting(lines: Sequence[str], *, tokens: int = BLOCK_TOKENS) -> int:
    """Return how many of *lines* fit into *tokens*, structured values included, from the first on; at least one."""
    count = 0
    for line in lines:
        tokens -= estimate(line) + VALUE_TOKENS
        if count and tokens < 0:
            break
        count += 1
    return count


def within_limit(text: str) -> str:
    """Return *text*, or as many of its lines as an answer may have."""
    if estimate(text) <= MOST_TOKENS:
        return text
    *lines, last = text.split("\n")
    kept = fitting(lines, tokens=MOST_TOKENS - VALUE_TOKENS)
    left_out = f"({len(lines) - kept} lines are left out: ask for less at once)"
    return "\n".join([*(line[: 2 * MOST_TOKENS] for line in lines[:kept]), last, left_out])


def memory_lines(memories: Sequence[Memory]) -> list[str]:
    """Return a line for each of *memories*; a long text is shortened."""
    return [memory_line(shortest(memory)) for memory in memories]


def shortest(memory: Memory) -> Memory:
    """Return *memory* with the beginning of its text."""
    return evolve(memory, content=_short(memory.content))


def turn_lines(turns: Sequence[Prompt]) -> list[str]:
    """Return a line for each of *turns*; a long text is shortened."""
    return [
        said_line(source_of(turn), turn.role, _short(turn.content), said_at=turn.timestamp) for turn in turns
    ]


def message_lines(messages: Sequence[ChatMessage]) -> list[str]:
    """Return a line for each of the stored *messages*; a long text is shortened."""
    return [message_line(evolve(message, content=_short(message.content))) for message in messages]


def said_lines(messages: Sequence[ContextMessage]) -> list[str]:
    """Return a line for each of the *messages* of a context; a long text is shortened."""
    return [said_line(message.id, message.role, _short(message.content)) for message in messages]


def fenced(lines: Sequence[str], notice: str, chance: Random) -> str:
    """Return *lines*, each of them JSON, between the marks of a fence, below *notice*; ``""`` for no lines.

    *chance* makes the mark of the fence, so that no text can contain it.
    """
    return recalled_block(lines, fence=fresh_fence(lines, chance), notice=notice)


def _short(text: str) -> str:
    return shortened(text, MOST_CHARACTERS)
