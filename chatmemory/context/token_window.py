"""``token_window``: selects the newest messages that fit into a number of tokens, and keeps tool calls complete.

It is a pure function; ``context_assembly.py`` decides how a message is shown, and how many tokens there are.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, final

from attrs import frozen

from chatmemory.context.chat_context import ContextMessage
from chatmemory.input.json_value import Json

Exchange: TypeAlias = tuple[ContextMessage, ...]
"""A message and the results of the tools that it called: together in a context, or not at all."""

# The names of tool calls in the metadata of messages, in snake case and in camel case.
CALLS: Final = ("tool_calls", "toolCalls")
ANSWERED_CALL: Final = ("tool_call_id", "toolCallId")


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

    Args:
        messages: oldest first.
        size: returns the size of one message, in the unit of *room*.
        room: the largest size of all messages together.
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
    answers = [_answered_call(result) for result in results]
    if not any(answers):  # results without the id of a call are matched by their number
        return not calls or len(results) == len(calls)
    return not calls or Counter(answers) == Counter(calls)


def _calls(message: ContextMessage) -> list[Json]:
    """Return the ids of the calls that *message* makes."""
    calls = _first_of(message, CALLS)
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        return []
    return [call.get("id") if isinstance(call, Mapping) else None for call in calls]


def _answered_call(message: ContextMessage) -> Json:
    return _first_of(message, ANSWERED_CALL)


def _first_of(message: ContextMessage, names: Sequence[str]) -> Json:
    metadata = message.metadata or {}
    return next((metadata[name] for name in names if name in metadata), None)


def _flat(some: Sequence[Exchange]) -> tuple[ContextMessage, ...]:
    return tuple(message for exchange in some for message in exchange)
