"""``ContextAssembly``: assembles a context from its materials, a budget and a source of randomness; it reads no store.

The layers, from the first message to the last:

    [0] base prompt, [1] scenario and skills, [2] profile, then system messages of the conversation: one system message
    [3][4] memories, fenced: at the end of that message, or in a separate user message (``memory.context.memoryRole``)
    [5] the newest messages of the conversation
    [6] the user's message

[0] to [2] and [6] are never left out.  Then memories are added, best first, up to their share of the budget; a memory
that is too large is skipped.  The conversation gets the rest, and loses its oldest messages first.  So the number of
messages and their roles depend on the sizes of the materials, never on their text.

A summary keeps its place in [5] as a user's message, fenced like a memory: it was written from messages, and has only
their authority.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final, Literal, final

from attrs import frozen

from chatmemory.context.chat_context import (
    ChatContext,
    ContextMessage,
    ContextPart,
    Instructions,
    LeftOut,
)
from chatmemory.context.recalled_block import (
    MEMORIES_NOTICE,
    SUMMARY_NOTICE,
    memory_line,
    message_line,
    recalled_block,
)
from chatmemory.context.token_window import token_window
from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.new_message import NewMessage
from chatmemory.conversation.token_counter import TokenCounter
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import DataValidationError, Problem
from chatmemory.longterm.memories import Memory
from chatmemory.settings.memory_settings import ContextSettings
from chatmemory.text.fence import fresh_fence

PARAGRAPH: Final = "\n\n"


@final
@frozen
class Materials:
    """The materials of a context.

    Attributes:
        memories: best first.
        said: the conversation in the model's view, oldest first, without the user's new message.
        user_message: the last message of the context.
    """

    instructions: Instructions
    memories: Sequence[Memory]
    said: Sequence[ChatMessage]
    user_message: ContextMessage


@final
@frozen
class ContextAssembly:
    """Builds a context from its materials within the budget of *settings*."""

    settings: ContextSettings
    tokens: TokenCounter
    chance: Random

    def assemble(self, materials: Materials) -> Outcome[ChatContext, DataValidationError]:
        """Return the context; fail when the instructions and the user's message alone exceed the budget."""
        texts, last, budget = _fixed_texts(materials), materials.user_message, self.settings.tokens
        needed, instructed = self._size(last), self._size(*self._head(texts, ""))
        if needed + instructed > budget:
            return Failure(DataValidationError((_no_room(needed, instructed, budget),)))

        lines = [memory_line(memory) for memory in materials.memories]
        summaries = [message_line(message) for message in materials.said if message.role == "summary"]
        fence = fresh_fence([*lines, *summaries], self.chance)
        most = min(budget - needed, instructed + int(budget * self.settings.memory_share))
        line_of: dict[str, str] = {}
        passed_over: list[LeftOut] = []
        for memory, line in zip(materials.memories, lines, strict=True):
            block = recalled_block([*line_of.values(), line], fence=fence, notice=MEMORIES_NOTICE)
            if self._size(*self._head(texts, block)) <= most:
                line_of[memory.id] = line
            else:
                passed_over.append(LeftOut("memory", memory.id, "budget"))

        head = self._head(texts, recalled_block([*line_of.values()], fence=fence, notice=MEMORIES_NOTICE))
        said = [_for_model(message, fence) for message in materials.said if message.role != "system"]
        window = token_window(said, size=self._size, room=budget - needed - self._size(*head))
        messages = (*head, *window.kept, last)
        sizes = tuple(map(self._size, messages))
        summary_ids = {message.id for message in materials.said if message.role == "summary"}
        summed_up = self._size(*(message for message in window.kept if message.id in summary_ids))
        parts = (
            ContextPart("instructions", instructed),
            ContextPart("memories", self._size(*head) - instructed),
            ContextPart("summaries", summed_up),
            ContextPart("conversation", self._size(*window.kept) - summed_up),
            ContextPart("user_message", needed),
        )
        left_out = (
            *passed_over,
            *_left_out(window.without_room, "budget"),
            *_left_out(window.parted, "parted"),
        )
        return Success(
            ChatContext(
                messages,
                tuple(line_of),
                sum(sizes),
                left_out,
                parts=tuple(part for part in parts if part.tokens),
                message_tokens=sizes,
            )
        )

    def _head(self, texts: Sequence[str], block: str) -> tuple[ContextMessage, ...]:
        """Return the messages before the conversation: the system message and the message of the memories, if there are any."""
        blocks = [block] if block else []
        if self.settings.memory_role == "system":
            texts, blocks = [*texts, *blocks], []
        system = [ContextMessage("system", PARAGRAPH.join(texts))] if texts else []
        return (*system, *(ContextMessage("user", text) for text in blocks))

    def _size(self, *messages: ContextMessage) -> int:
        return sum(
            self.tokens.count(NewMessage(message.role, message.content, metadata=message.metadata))
            for message in messages
        )


def _fixed_texts(materials: Materials) -> list[str]:
    """Return the texts with the authority of the application, each once, with the system messages of the conversation."""
    told = materials.instructions
    given = (told.system, told.scenario, *told.skills, told.profile)
    # Stored text must not decide whether there is a system message, so a stored one counts even if it is blank.
    policy = (message.content for message in materials.said if message.role == "system")
    return list(dict.fromkeys((*(text for text in given if text.strip()), *policy)))


def _for_model(message: ChatMessage, fence: str) -> ContextMessage:
    if message.role == "summary":
        block = recalled_block([message_line(message)], fence=fence, notice=SUMMARY_NOTICE)
        return ContextMessage("user", block, id=message.id)
    return ContextMessage(message.role, message.content, message.metadata, message.id)


def _left_out(messages: Sequence[ContextMessage], reason: Literal["budget", "parted"]) -> Iterator[LeftOut]:
    return (LeftOut("message", message.id, reason) for message in messages if message.id is not None)


def _no_room(needed: int, instructed: int, budget: int) -> Problem:
    instructions = f" with {instructed} of instructions" if instructed else ""
    return Problem(
        "$.user_message",
        f"{needed} tokens{instructions} are more than {budget}: shorten it, or raise memory.context.tokens",
    )
