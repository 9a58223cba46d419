"""``search``, ``recall`` and ``show``: print turns of past chats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chatmemory.programs.pastchats.as_json import json_text, search_object, turns_object
from chatmemory.programs.pastchats.as_text import search_text, turns_text
from chatmemory.programs.pastchats.options import (
    filter_options,
    given_filters,
    source_argument,
    tell_unknown_names,
    with_host,
)
from chatmemory.programs.pastchats.quick_commands import (
    DEFAULT_LIMIT,
    LEAST_LIMIT,
    MOST_LIMIT,
    RecallRequest,
    print_recall,
)
from chatmemory.programs.shell.options import as_json_option, number_option, query_of, query_options

if TYPE_CHECKING:
    from chatmemory.pastchats.prompt import PromptFilter
    from chatmemory.programs.pastchats.host import Host


@click.command()
@query_options
@filter_options
@number_option("--limit", "-n", least=1, most=200, default=10, help="The most hits to print.")
@click.option("--lexical", is_flag=True, help="Search by words only, without vectors.")
@as_json_option
@with_host
def search(
    host: Host, words: tuple[str, ...], query: str | None, which: PromptFilter, *, limit: int, lexical: bool, as_json: bool
) -> None:  # fmt: skip
    """Search turns by words and meaning, best first, each with the signals of its score.

    \b
      pastchats-memory search retry strategy
      pastchats-memory search --query "sqlite database is locked" --project webhooks --since 90d
      pastchats-memory search 中文全文检索 --role assistant --json | jq '.results[0].source'
    """
    asked = query_of(words, query)
    result = host.read(
        lambda chats: chats.search(asked, which=which, limit=limit, mode="lexical" if lexical else "hybrid")
    )
    if as_json:
        click.echo(json_text(search_object(asked, result)))
    else:
        click.echo(search_text(asked, result, filters=given_filters(which)))
    if not result.hits:
        tell_unknown_names(host, which)


@click.command()
@query_options
@filter_options
@number_option(
    "--limit",
    "-n",
    least=LEAST_LIMIT,
    most=MOST_LIMIT,
    default=DEFAULT_LIMIT,
    help="The most memories to print.",
)
@click.option(
    "--tokens",
    type=click.IntRange(1),
    help="The most tokens to print.  [default: memory.pastChats.recallTokens]",
)
@click.option("--undone", is_flag=True, help="Also what was undone: rolled back, rewound or reverted.")
@as_json_option
@with_host
def recall(
    host: Host, words: tuple[str, ...], query: str | None, which: PromptFilter, *, limit: int, tokens: int | None, undone: bool, as_json: bool
) -> None:  # fmt: skip
    """Print what worked and what failed before, with sources, for an agent that begins a task.

    \b
      pastchats-memory recall --query "build webhook retries"
      pastchats-memory recall --query "flaky test" --project api --tokens 800
    """
    print_recall(host, RecallRequest(query_of(words, query), which, limit, tokens, as_json, undone))


@click.command()
@source_argument
@number_option("--before", "-B", least=0, most=1000, default=3, help="How many turns to print before it.")
@number_option("--after", "-A", least=0, most=1000, default=3, help="How many turns to print after it.")
@as_json_option
@with_host
def show(host: Host, source: str, *, before: int, after: int, as_json: bool) -> None:
    """Print the turns around SOURCE: a path or a conversation, with or without the number of a turn, as search prints it.

    \b
      pastchats-memory show ~/.claude/projects/-app/0b7d.jsonl#12
      pastchats-memory show chatgpt:6f1c2b#4 --after 20
      pastchats-memory show chatgpt:6f1c2b
    """
    turns = host.read(lambda chats: chats.show(source, before=before, after=after))
    if as_json:
        click.echo(json_text(turns_object(source, turns)))
    else:
        click.echo(turns_text(turns, source))
