"""Formats values as text for a terminal; control characters in stored text are escaped, so that they have no effect."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import click

from chatmemory.text.shown_text import local_time, one_line, shown, shown_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from chatmemory.context.chat_context import ChatContext, LeftOutReason
    from chatmemory.conversation.messages import ChatMessage, Conversation, Undone
    from chatmemory.longterm.memories import ForgetReceipt, Memory, MemoryHistory, RememberReport
    from chatmemory.longterm.recall.recall import Recall

LINE_CHARACTERS: Final = 200
LEFT_OUT: Final[Mapping[LeftOutReason, str]] = {
    "budget": "no room",
    "parted": "a tool call without its result, or a result without its call",
    "limit": "others match better (memory.retrieval.limit)",
    "unlike": "not similar enough to the message",
    "window": "older than the window (memory.context.windowMessages)",
    "summary": "the strategy would summarize it first",
}


def remembered_text(report: RememberReport) -> str:
    """Describe the outcome of a remember."""
    lines = [_outcome(outcome) for outcome in report.outcomes]
    if report.reason is not None:
        lines.append(f"without a vector, so found by its words only: {shown_name(report.reason)}")
    return "\n".join(lines)


def _outcome(outcome: object) -> str:
    from chatmemory.longterm.memories import Duplicate, Stored

    if isinstance(outcome, Stored):
        ended = f", replacing {', '.join(map(shown_name, outcome.superseded))}" if outcome.superseded else ""
        return f"remembered as {shown_name(outcome.id)}{ended}"
    if isinstance(outcome, Duplicate):
        return f"already known as {shown_name(outcome.of)}"
    return f"not remembered: {getattr(outcome, 'reason', '')}"


def recall_text(recall: Recall) -> str:
    """Format the hits, best first, and how they were found."""
    if not recall.hits:
        return f"nothing is remembered about it ({recall.reason})"
    hits = [
        f"{click.style(f'{rank}.', bold=True)} {one_line(hit.memory.content, LINE_CHARACTERS)}\n"
        f"   {hit.score:.3f}{'  weak' if hit.is_weak else ''}  {_about(hit.memory)}"
        for rank, hit in enumerate(recall.hits, 1)
    ]
    return "\n".join([*hits, f"{recall.mode}: {recall.reason}"])


def memories_text(memories: Sequence[Memory]) -> str:
    """Format memories, one below the other."""
    if not memories:
        return "no memory"
    return "\n".join(
        f"{one_line(memory.content, LINE_CHARACTERS)}\n   {_about(memory)}" for memory in memories
    )


def _about(memory: Memory) -> str:
    parts = [
        memory.id,
        _local(memory.created_at),
        memory.memory_type.replace("_", "-"),
        memory.category,
        memory.key and f"key {memory.key}",
        memory.namespace.app and f"app {memory.namespace.app}",
        "pinned" if memory.pinned else None,
        *(f"#{tag}" for tag in memory.tags),
        None if memory.superseded_at is None else f"until {_local(memory.superseded_at)}",
    ]
    return " · ".join(shown_name(part) for part in parts if part)


def history_text(history: MemoryHistory, memory: Memory | None) -> str:
    """Format a memory with its earlier contents and its events."""
    lines = [memories_text([memory])] if memory is not None else ["the memory was forgotten"]
    lines += [
        f"until {_local(earlier.replaced_at)} (version {earlier.version}): {one_line(earlier.content, LINE_CHARACTERS)}"
        for earlier in reversed(history.earlier)
    ]
    for event in history.events:
        by = f" by {shown_name(event.by)}" if event.by else ""
        why = f" ({shown_name(event.reason)})" if event.reason else ""
        who = f", {shown_name(event.who)}" if event.who else ""
        lines.append(f"#{event.number} {_local(event.stored_at)} {event.action}{by}{why}{who}")
    return "\n".join(lines)


def forgotten_text(receipt: ForgetReceipt) -> str:
    """Describe what was removed, and which summaries may still repeat it."""
    told = f"{counted(receipt.memories, 'memory', 'memories')} forgotten"
    if receipt.stale_summaries:
        told += (
            f"; these summaries may still repeat it: {', '.join(map(shown_name, receipt.stale_summaries))}"
        )
    return told


def undone_text(undone: Undone) -> str:
    """Describe which change of a conversation was undone."""
    moved = [f"{undone.removed} messages removed"] if undone.removed else []
    moved += [f"{undone.restored} messages restored"] if undone.restored else []
    return ", ".join([f"undone: {undone.action}", *moved, f"now at version {undone.version}"])


def conversation_lines(conversations: Sequence[Conversation]) -> Iterator[str]:
    """Yield a line for each conversation."""
    for one in conversations:
        fork = f", from {shown_name(one.forked_from.conversation_id)}" if one.forked_from else ""
        count = counted(one.message_count, "message", "messages")
        yield f"{_local(one.updated_at)}  {shown_name(one.conversation_id)}  {count}, {one.view_tokens} tokens{fork}"


def messages_text(messages: Sequence[ChatMessage]) -> str:
    """Format messages, one below the other."""
    if not messages:
        return "no message"
    return "\n\n".join(
        f"{click.style(message.role, bold=True)} · {_local(message.timestamp)} · {shown_name(message.id)}"
        + (f" · in summary {shown_name(message.covered_by)}" if message.covered_by else "")
        + f"\n{shown(message.content)}"
        for message in messages
    )


def context_text(context: ChatContext) -> str:
    """Format what a model would see: the messages, the size of each part, and what was left out and why."""
    told = [f"{click.style(one.role, bold=True)}\n{shown(one.content)}" for one in context.messages]
    parts = ", ".join(f"{part.part.replace('_', ' ')} {part.tokens}" for part in context.parts)
    lines = [f"{context.tokens} tokens: {parts}"]
    hits = () if context.recall is None else context.recall.hits
    passed_over = () if context.recall is None else context.recall.passed_over
    memories = [*(hit.memory for hit in hits), *(one.memory for one in passed_over)]
    contents = {memory.id: one_line(memory.content, LINE_CHARACTERS) for memory in memories}
    lines += [
        f"memory, score {hit.score:.2f}: {contents[hit.memory.id]}"
        for hit in hits
        if hit.memory.id in context.memory_ids
    ]
    lines += [
        f"left out, {LEFT_OUT[one.reason]}: {contents[one.id]}"
        for one in context.left_out
        if one.kind == "memory"
    ]
    messages: Counter[LeftOutReason] = Counter(
        one.reason for one in context.left_out if one.kind == "message"
    )
    lines += [
        f"left out, {LEFT_OUT[reason]}: {counted(count, 'message', 'messages')}"
        for reason, count in messages.items()
    ]
    if context.memory_failure is not None:
        lines.append(f"no memory: {shown_name(str(context.memory_failure))}")
    return "\n\n".join([*told, "\n".join(lines)])


def _local(at: datetime) -> str:
    return local_time(at)[0]


def counted(count: int, one: str, several: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "memory", "memories"), counted(0, "memory", "memories")
    ('1 memory', '0 memories')
    """
    return f"{count} {one if count == 1 else several}"
