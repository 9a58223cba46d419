"""``ContextAssembly``: assembles a context from its materials, a budget and a source of randomness; it reads no store.

The layers, from the first message to the last:

    [0] base prompt, [1] scenario and skills, [2] profile, then system messages of the conversation: one system message
    [3][4] memories, fenced: at the end of that message, or in a separate user message (``memory.context.memoryRole``)
    [5] the newest messages of the conversation
    [6] the user's message

[0] to [2] and [6] are never left out.  Then memories are added, best first, up to their share of the budget; a memory
that is too large is skipped.  The conversation gets the rest, and loses its oldest messages first (``token_window``).  So
the number of messages and their roles depend on the sizes of the materials, never on their text.

A summary keeps its place in [5] as a user's message, fenced like a memory: it was written from messages, and has only
their authority.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Final, Literal, TypeAlias, final

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
from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.new_message import NewMessage
from chatmemory.conversation.token_counter import TokenCounter
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import DataValidationError, Problem
from chatmemory.input.json_value import Json
from chatmemory.longterm.memories import Memory
from chatmemory.settings.memory_settings import ContextSettings
from chatmemory.text.fence import fresh_fence

Exchange: TypeAlias = tuple[ContextMessage, ...]
"""A message and the results of the tools that it called: together in a context, or not at all."""

# The names of tool calls in the metadata of messages, in snake case and in camel case.
CALLS: Final = ("tool_calls", "toolCalls")
ANSWERED_CALL: Final = ("tool_call_id", "toolCallId")
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
    if instructed > budget:
        return Problem(
            "$.instructions",
            f"{instructed} tokens of instructions are more than {budget}: shorten them, or raise memory.context.tokens",
        )
    instructions = f" with {instructed} of instructions" if instructed else ""
    return Problem(
        "$.user_message",
        f"{needed} tokens{instructions} are more than {budget}: shorten it, or raise memory.context.tokens",
    )


@final
@frozen
class TokenWindow:
    """The messages that fit and those that do not, both oldest first.

    Attributes:
        parted: tool results without their call, and calls without their results.
    """

    kept: tuple[ContextMessage, ...]
    without_room: tuple[ContextMessage, ...]
    parted: tuple[ContextMessage, ...]


def token_window(
    messages: Sequence[ContextMessage], *, size: Callable[[ContextMessage], int], room: int
) -> TokenWindow:
    """Keep the newest exchanges of *messages* whose sizes add up to *room* at most, without a gap.

    *messages* are oldest first; *size* returns the size of one in the unit of *room*.
    """
    whole: list[Exchange] = []
    parted: list[ContextMessage] = []
    for exchange in exchanges(messages):
        if is_whole(exchange):
            whole.append(exchange)
        else:
            parted += exchange
    first = len(whole)
    while first > 0 and (needed := sum(map(size, whole[first - 1]))) <= room:
        room -= needed
        first -= 1
    return TokenWindow(_flat(whole[first:]), _flat(whole[:first]), tuple(parted))


def exchanges(messages: Sequence[ContextMessage]) -> list[Exchange]:
    """Group tool results with the assistant's message right before them; a result without one is a separate group."""
    found: list[list[ContextMessage]] = []
    for message in messages:
        if message.role == "tool" and found and found[-1][0].role == "assistant":
            found[-1].append(message)
        else:
            found.append([message])
    return list(map(tuple, found))


def is_whole(exchange: Exchange) -> bool:
    """Return whether every call in the exchange has its result, and every result its call.

    A message whose metadata names no known calls counts as having made the calls that are answered.
    """
    caller, *results = exchange
    if caller.role == "tool":
        return False
    calls = _calls(caller)
    answers = [_first_of(result, ANSWERED_CALL) for result in results]
    if not any(answers):  # results without the id of a call are matched by their number
        return not calls or len(results) == len(calls)
    return not calls or Counter(answers) == Counter(calls)


def _calls(message: ContextMessage) -> list[Json]:
    """Return the ids of the calls that *message* makes."""
    calls = _first_of(message, CALLS)
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        return []
    return [call.get("id") if isinstance(call, Mapping) else None for call in calls]


def _first_of(message: ContextMessage, names: Sequence[str]) -> Json:
    metadata = message.metadata or {}
    return next((metadata[name] for name in names if name in metadata), None)


def _flat(some: Sequence[Exchange]) -> tuple[ContextMessage, ...]:
    return tuple(message for exchange in some for message in exchange)
