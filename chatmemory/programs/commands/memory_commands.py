"""The commands of long-term memory: ``remember``, ``recall``, ``memories``, ``history``, ``forget`` and ``undo``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from chatmemory.programs.commands.as_text import (
    forgotten_text,
    history_text,
    memories_text,
    recall_text,
    remembered_text,
    undone_text,
)
from chatmemory.programs.commands.options import (
    CATEGORIES,
    MEMORY_TYPES,
    as_of_option,
    page_options,
    past_instant,
    say,
    tell_more,
    with_host,
)
from chatmemory.programs.shell.exit_codes import CommandError
from chatmemory.programs.shell.options import as_json_option, ask, query_of, query_options, yes_option
from chatmemory.text.shown_text import shown_name

if TYPE_CHECKING:
    from chatmemory.longterm.memories import ForgetReceipt, Memory, NewMemory
    from chatmemory.programs.commands.host import Host


@click.command()
@click.argument("words", nargs=-1, metavar="[TEXT]...")
@click.option(
    "--id", "id_", metavar="ID", help="The id of the memory; repeating the same id and text stores nothing."
)
@click.option("--key", metavar="NAME", help="A label for its subject, for example 'preferred language'.")
@click.option("--value", metavar="JSON", help="Its content as JSON.")
@click.option("--category", type=click.Choice(CATEGORIES))
@click.option("--tag", "tags", multiple=True, metavar="NAME", help="A tag; may be repeated.")
@click.option("--session", metavar="ID", help="The conversation that it comes from.")
@click.option("--pin", is_flag=True, help="Never let it decay or expire.")
@click.option("--replaces", metavar="ID", help="The id of the older memory that this one replaces.")
@as_json_option
@with_host
def remember(
    host: Host,
    words: tuple[str, ...],
    id_: str | None,
    key: str | None,
    value: str | None,
    category: Any,
    tags: tuple[str, ...],
    session: str | None,
    replaces: str | None,
    *,
    pin: bool,
    as_json: bool,
) -> None:
    """Store TEXT, or standard input if there is no TEXT, in long-term memory.

    A newer statement about the same thing ends the older one: "I live in Shanghai now" ends "I live in Hangzhou".

    \b
      chatmemory remember "The tests need Redis on port 6380." --tag tests
      chatmemory remember 我现在住在上海 --category fact
      pbpaste | chatmemory remember --key "deploy notes"
    """
    from chatmemory.longterm.memories import Duplicate, NewMemory, Provenance, RememberReport

    memory = NewMemory(
        content=" ".join(words) if words else _given(),
        id=id_,
        key=key,
        value=_value(value),
        category=category,
        tags=tags,
        session_id=session,
        memory_type="long_term",
        pinned=pin,
        provenance=Provenance(extractor="person"),
    )
    if replaces is None:
        report = host.memories(
            lambda kept, namespace: kept.remember(namespace, [memory], attributes="read"), creates=True
        )
    else:
        stored = host.memories(lambda kept, namespace: kept.supersede(namespace, replaces, memory))
        report = RememberReport((stored,))
    say(report, remembered_text(report), as_json=as_json)
    for outcome in report.outcomes:
        if isinstance(outcome, Duplicate):
            _tell_unapplied(memory, _shown_memory(host, outcome.of))


def _tell_unapplied(given: NewMemory, known: Memory) -> None:
    """Print which options of *given* the *known* memory with the same text does not have."""
    differs = {
        "--pin": given.pinned and not known.pinned,
        "--tag": not set(given.tags) <= set(known.tags),
        "--category": given.category not in (None, known.category),
    }
    if options := [option for option, is_other in differs.items() if is_other]:
        same_id = " and leave out --id" if given.id == known.id else ""
        cure = f"add --replaces {shown_name(known.id)}{same_id}"
        click.echo(f"not applied to it: {', '.join(options)}; to apply them, {cure}", err=True)


@click.command()
@query_options
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(1, 200),
    help="The most memories to print; by default, as in the settings.",
)
@click.option("--category", type=click.Choice(CATEGORIES), help="Only memories of this category.")
@click.option(
    "--tag", "tags", multiple=True, metavar="NAME", help="Only memories with this tag; may be repeated."
)
@as_of_option
@as_json_option
@with_host
def recall(
    host: Host,
    words: tuple[str, ...],
    query: str | None,
    limit: int | None,
    category: Any,
    tags: tuple[str, ...],
    as_of: str | None,
    *,
    as_json: bool,
) -> None:
    """Print the memories that match QUERY, best first.  This does not count as a use of them.

    \b
      chatmemory recall "which port do the tests need?"
      chatmemory recall 我住在哪里 --as-of 2026-01 --json | jq '.hits[0].memory.content'
    """
    asked, instant = query_of(words, query), past_instant(host, as_of)
    found = host.memories(
        lambda kept, namespace: kept.recall(
            namespace, asked, limit=limit, category=category, tags=tags, as_of=instant
        )
    )
    say(found, recall_text(found), as_json=as_json)


@click.command()
@page_options
@click.option("--type", "memory_type", type=click.Choice(MEMORY_TYPES), help="Only memories of this type.")
@click.option("--category", type=click.Choice(CATEGORIES), help="Only memories of this category.")
@click.option("--session", metavar="ID", help="Only memories that come from this conversation.")
@click.option("--tag", metavar="NAME", help="Only memories with this tag.")
@click.option("--containing", metavar="TEXT", help="Only memories that contain this text.")
@as_of_option
@as_json_option
@with_host
def memories(
    host: Host,
    limit: int,
    after: str | None,
    memory_type: Any,
    category: Any,
    session: str | None,
    tag: str | None,
    containing: str | None,
    as_of: str | None,
    *,
    as_json: bool,
) -> None:
    """List memories, newest first.

    \b
      chatmemory memories --category preference
      chatmemory memories --containing 上海 --json | jq -r '.memories[].id'
    """
    instant = past_instant(host, as_of)
    page = host.memories(
        lambda kept, namespace: kept.list(
            namespace,
            limit=limit,
            after=after,
            memory_type=memory_type,
            category=category,
            session_id=session,
            tag=tag,
            containing=containing,
            as_of=instant,
        )
    )
    say(page, memories_text(page.memories), as_json=as_json)
    if not as_json:
        tell_more(page.next)


@click.command()
@click.argument("memory_id")
@as_json_option
@with_host
def history(host: Host, memory_id: str, *, as_json: bool) -> None:
    """Print the events of a memory, and its content before each correction.

    \b
      chatmemory history ID
      chatmemory history ID --json | jq '.events[].action'
    """
    told = host.memories(lambda kept, namespace: kept.history(namespace, memory_id))
    say(told, "" if as_json else history_text(told, _memory(host, memory_id)), as_json=as_json)


@click.command()
@click.argument("memory_ids", nargs=-1, metavar="[MEMORY_ID]...")
@click.option("--session", metavar="ID", help="The memories that come from this conversation.")
@click.option("--message", metavar="ID", help="The memories that come from this message.")
@click.option("--path", metavar="PATH", help="The memories that come from this file.")
@click.option("--conversation", metavar="ID", help="All messages and summaries of this conversation.")
@click.option("--with-branches", is_flag=True, help="With --conversation: also its branches.")
@click.option("--all", "everything", is_flag=True, help="All memories of the user.")
@yes_option
@as_json_option
@with_host
def forget(
    host: Host,
    memory_ids: tuple[str, ...],
    session: str | None,
    message: str | None,
    path: str | None,
    conversation: str | None,
    *,
    with_branches: bool,
    everything: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Delete memories permanently, with the older ones that they replaced, or clear a conversation.

    \b
      chatmemory forget ID
      chatmemory forget --session trip --yes
      chatmemory forget --conversation trip --with-branches
    """
    narrowed = any(part is not None for part in (session, message, path))
    chosen = [bool(memory_ids), narrowed, conversation is not None, everything]
    if sum(chosen) != 1:
        raise click.UsageError(
            "say what to forget: MEMORY_ID, --session, --message or --path, --conversation, or --all"
        )
    if conversation is not None:
        _clear(host, conversation, with_branches=with_branches, yes=yes, as_json=as_json)
        return
    if memory_ids:
        known = [_shown_memory(host, memory_id) for memory_id in memory_ids]
        ask(f"{memories_text(known)}\nDelete this permanently?", yes=yes)
        receipt = _forgotten(host, memory_ids)
    else:
        what = "all memories" if everything else "the memories of this origin"
        ask(f"{what} of {host.namespace().user} will be deleted permanently. Continue?", yes=yes)
        receipt = host.memories(
            lambda kept, namespace: (
                kept.forget_all(namespace)
                if everything
                else kept.forget_where(namespace, session_id=session, message_id=message, path=path)
            )
        )
    say(receipt, forgotten_text(receipt), as_json=as_json)


def _forgotten(host: Host, memory_ids: tuple[str, ...]) -> ForgetReceipt:
    from chatmemory.longterm.memories import ForgetReceipt

    def gone(memory_id: str) -> ForgetReceipt:
        return host.memories(lambda kept, namespace: kept.forget(namespace, memory_id))

    receipts = list(map(gone, dict.fromkeys(memory_ids)))
    return ForgetReceipt(
        sum(receipt.memories for receipt in receipts),
        sum(receipt.embeddings for receipt in receipts),
        tuple(sorted({stale for receipt in receipts for stale in receipt.stale_summaries})),
    )


def _clear(host: Host, conversation: str, *, with_branches: bool, yes: bool, as_json: bool) -> None:
    known = host.conversations(lambda chat: chat.get_conversation(conversation))
    ask(f"{known.message_count} messages will be deleted permanently. Continue?", yes=yes)
    report = host.conversations(lambda chat: chat.clear_messages(conversation, with_branches=with_branches))
    shared = f"; still in {', '.join(report.still_shared_by)}" if report.still_shared_by else ""
    say(report, f"{report.messages} messages cleared{shared}", as_json=as_json)


@click.command()
@click.argument("memory_id", required=False)
@click.option(
    "--number",
    type=click.IntRange(1),
    help="The number of the change, as history prints it; by default, the newest.",
)
@click.option("--conversation", metavar="ID", help="Undo the newest change of this conversation.")
@click.option("--version", type=click.IntRange(1), help="With --conversation: only if it is at this version.")
@as_json_option
@with_host
def undo(
    host: Host,
    memory_id: str | None,
    number: int | None,
    conversation: str | None,
    version: int | None,
    *,
    as_json: bool,
) -> None:
    """Undo one change of a memory, or the newest change of a conversation.

    \b
      chatmemory undo ID
      chatmemory undo ID --number 4
      chatmemory undo --conversation trip --version 7
    """
    if (memory_id is None) == (conversation is None):
        raise click.UsageError("say what to undo: MEMORY_ID or --conversation")
    if conversation is not None:
        taken = host.conversations(lambda chat: chat.undo(conversation, expected_version=version))
        say(taken, undone_text(taken), as_json=as_json)
    elif memory_id is not None:
        memory = host.memories(lambda kept, namespace: kept.undo(namespace, memory_id, number=number))
        say(memory, memories_text([memory]), as_json=as_json)


def _shown_memory(host: Host, memory_id: str) -> Memory:
    return host.memories(lambda kept, namespace: kept.get(namespace, memory_id))


def _memory(host: Host, memory_id: str) -> Memory | None:
    """Return a memory, or None if it was forgotten and only its events are left."""
    try:
        return _shown_memory(host, memory_id)
    except CommandError as failed:
        if failed.error.tag == "MemoryNotFoundError":
            return None
        raise


def _given() -> str:
    """Read standard input.

    Raises:
        UsageError: standard input is a terminal, is empty, or is not UTF-8 text.
    """
    try:
        text = "" if sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8").strip()
    except UnicodeDecodeError:
        raise click.UsageError("standard input is not UTF-8 text") from None
    if not text:
        raise click.UsageError(
            'give the text to remember.  For example: "The tests need Redis on port 6380."'
        )
    return text


def _value(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not JSON: a text needs its own quotes, as in '\"Python\"'", param_hint="--value"
        ) from None
