"""``conversations``, ``show``, ``fork`` and ``context``: print stored messages, and what a model would see of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from chatmemory.effect.lazy import LazyModule
from chatmemory.programs.commands.as_text import context_text, conversation_lines, messages_text
from chatmemory.programs.commands.options import (
    STRATEGIES,
    VIEWS,
    as_of_option,
    page_options,
    past_instant,
    say,
    tell_more,
    with_host,
)
from chatmemory.programs.shell.options import as_json_option, number_option

if TYPE_CHECKING:
    from datetime import datetime

    from chatmemory.context import context_preview, contract
    from chatmemory.programs.commands.host import Host
else:
    context_preview = LazyModule("chatmemory.context.context_preview")
    contract = LazyModule("chatmemory.context.contract")


@click.command()
@page_options
@click.option(
    "--prefix", default="", metavar="TEXT", help="Only conversations whose id begins with this text."
)
@click.option(
    "--by-id", is_flag=True, help="Sort by id; by default, the last changed conversation comes first."
)
@as_json_option
@with_host
def conversations(
    host: Host, limit: int, after: str | None, prefix: str, *, by_id: bool, as_json: bool
) -> None:
    """List the conversations that have messages.

    \b
      chatmemory conversations
      chatmemory conversations --prefix trip/ --json | jq -r '.conversations[].conversationId'
    """
    page = host.conversations(
        lambda chat: chat.list_conversations(
            limit=limit, after=after, order="id" if by_id else "recent", prefix=prefix
        )
    )
    say(page, "\n".join(conversation_lines(page.conversations)) or "no conversation", as_json=as_json)
    if not as_json:
        tell_more(page.next)


@click.command()
@click.argument("conversation_id")
@number_option("--limit", "-n", least=1, most=1000, default=50, help="The most messages to print.")
@click.option(
    "--older-than",
    type=click.IntRange(1),
    metavar="CURSOR",
    help="Print the messages before this cursor of a page.",
)
@click.option(
    "--view",
    type=click.Choice(VIEWS),
    default="full",
    show_default=True,
    help="model: summaries instead of the messages that they cover.  full: every message.",
)
@as_of_option
@click.option("--version", type=click.IntRange(0), help="The state at this version.")
@as_json_option
@with_host
def show(
    host: Host,
    conversation_id: str,
    limit: int,
    older_than: int | None,
    view: Any,
    as_of: str | None,
    version: int | None,
    *,
    as_json: bool,
) -> None:
    """Print the newest messages of a conversation, oldest first.

    \b
      chatmemory show trip
      chatmemory show trip --view model --as-of 7d
    """
    if as_of is not None and version is not None:
        raise click.UsageError("give --as-of or --version, not both")
    then: int | datetime | None = version if as_of is None else past_instant(host, as_of)
    page = host.conversations(
        lambda chat: chat.get_page(conversation_id, limit=limit, older_than=older_than, view=view, as_of=then)
    )
    say(page, messages_text(page.messages), as_json=as_json)
    if not as_json:
        if not page.is_whole:
            click.echo("some messages of that time were deleted since", err=True)
        tell_more(page.older, "--older-than")


@click.command()
@click.argument("conversation_id")
@click.argument("new_id")
@click.option(
    "--at",
    metavar="POINT",
    help="Branch after the message with this id, or at this version; by default, at the end.",
)
@as_json_option
@with_host
def fork(host: Host, conversation_id: str, new_id: str, at: str | None, *, as_json: bool) -> None:
    """Create a branch NEW_ID of a conversation: a copy of its messages up to a point.

    A POINT that consists of digits is a version.

    \b
      chatmemory fork trip "trip by rail"
      chatmemory fork trip "trip by rail" --at m12
    """
    point = int(at) if at is not None and at.isascii() and at.isdecimal() else at
    forked = host.conversations(lambda chat: chat.fork(conversation_id, new_id, at=point))
    known = "" if forked.is_new else "  (it already existed)"
    say(forked, "\n".join(conversation_lines([forked.conversation])) + known, as_json=as_json)


@click.command()
@click.argument("conversation_id")
@click.argument("words", nargs=-1, required=True, metavar="MESSAGE...")
@click.option("--tokens", type=click.IntRange(1), metavar="N", help="Use a budget of N tokens.")
@click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    help="As if this strategy kept the conversation short; none: without its summaries.",
)
@as_of_option
@as_json_option
@with_host
def context(
    host: Host,
    conversation_id: str,
    words: tuple[str, ...],
    tokens: int | None,
    strategy: Any,
    as_of: str | None,
    *,
    as_json: bool,
) -> None:
    """Print what a model would see if the user said MESSAGE in a conversation, and what was left out and why.

    It does not count as a use of the memories, and the options are not saved.

    \b
      chatmemory context trip "which train do we take?"
      chatmemory context trip "which train do we take?" --tokens 500 --as-of 7d
      chatmemory context trip 我们坐哪趟车 --json | jq .parts
    """
    namespace, said = host.namespace(), " ".join(words)
    preview = context_preview.ContextPreview(
        tokens=tokens, strategy=strategy, as_of=past_instant(host, as_of)
    )
    built = host.run(
        lambda: contract.ChatContextService.use(
            lambda contexts: contexts.build(namespace, conversation_id, said, preview=preview)
        )
    )
    say(built, context_text(built), as_json=as_json)
