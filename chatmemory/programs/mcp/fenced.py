"""Formats recalled text line by line, between the marks of a fence, so that a model treats it as data."""

from collections.abc import Sequence
from random import Random
from typing import Final

from attrs import evolve

from chatmemory.context.chat_context import ContextMessage
from chatmemory.context.recalled_block import (
    CLOSING,
    MEMORIES_NOTICE,
    memory_line,
    message_line,
    recalled_block,
    said_line,
)
from chatmemory.conversation.messages import ChatMessage
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


def memories_block(memories: Sequence[Memory], chance: Random) -> str:
    """Return *memories* as a fenced block, one line for each; ``""`` for no memories.

    Args:
        memories: one line each, in this order; a long text is shortened.
        chance: makes the mark of the fence, so that no text can contain it.
    """
    lines = [memory_line(evolve(memory, content=_short(memory.content))) for memory in memories]
    return fenced(lines, MEMORIES_NOTICE, chance)


def turns_block(turns: Sequence[Prompt], chance: Random, *, notice: str = TURNS_NOTICE) -> str:
    """Return *turns* of past chats as a fenced block, one line for each, with its source; ``""`` for no turns.

    Args:
        turns: one line each, in this order; a long text is shortened.
        chance: makes the mark of the fence, so that no text can contain it.
        notice: the sentence above the fence, which says what the block holds.
    """
    lines = [
        said_line(source_of(turn), turn.role, _short(turn.content), said_at=turn.timestamp) for turn in turns
    ]
    return fenced(lines, notice, chance)


def messages_block(messages: Sequence[ChatMessage], chance: Random) -> str:
    """Return stored *messages* as a fenced block, one line for each; ``""`` for no messages.

    Args:
        messages: one line each, in this order; a long text is shortened.
        chance: makes the mark of the fence, so that no text can contain it.
    """
    lines = [message_line(evolve(message, content=_short(message.content))) for message in messages]
    return fenced(lines, CONVERSATION_NOTICE, chance)


def said_block(messages: Sequence[ContextMessage], chance: Random) -> str:
    """Return the *messages* of a context as a fenced block, one line for each; ``""`` for no messages.

    Args:
        messages: one line each, in this order; a long text is shortened.
        chance: makes the mark of the fence, so that no text can contain it.
    """
    lines = [said_line(message.id, message.role, _short(message.content)) for message in messages]
    return fenced(lines, CONVERSATION_NOTICE, chance)


def fenced(lines: Sequence[str], notice: str, chance: Random) -> str:
    """Return *lines* between the marks of a fence; ``""`` for no lines.

    Args:
        lines: each is JSON.
        notice: the sentence above the fence, which says what the block holds.
        chance: makes the mark of the fence, so that no text can contain it.
    """
    return recalled_block(lines, fence=fresh_fence(lines, chance), notice=notice)


def _short(text: str) -> str:
    return shortened(text, MOST_CHARACTERS)
