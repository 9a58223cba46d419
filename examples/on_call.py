"""An agent's conversation, kept, summarized and read, and read again after a restart: the first half of ``make demo``.

The conversation is ``on_call.jsonl``, one message per line.
"""

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill, indent

from on_screen import COLUMNS, headline, named, print_message

from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    ChatMessage,
    Failure,
    ManagedRuntime,
    NewMessage,
    StrategySettings,
    Success,
)
from chatmemory.input.structure import read_json
from chatmemory_layers import stacks

SCRIPT = Path(__file__).with_name("on_call.jsonl")
CONVERSATION = "on-call-2025-03-14"
STRATEGY = StrategySettings(type="summarize", summarize_every_n=20, keep_last=6, max_summary_characters=900)


async def on_call(store: Path) -> None:
    """Play the conversation into *store*, look at it, restart, and see that nothing is gone."""
    messages = [
        read_json(line, NewMessage).unwrap() for line in SCRIPT.read_text(encoding="utf-8").splitlines()
    ]

    headline(
        f"{len(messages)} messages are added as they are said, to {store.name} (SQLite, every commit on disk)"
    )
    async with ManagedRuntime(stacks.embedded(store, strategy=STRATEGY)) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await play(memory, messages)
        before = await views(memory)
        await look(memory, *before)

    headline("The program has ended.  Another one opens the same file")
    async with ManagedRuntime(stacks.embedded(store, strategy=STRATEGY)) as runtime:
        memory = await runtime.service(ChatMemoryService)
        report = await memory.add_messages(CONVERSATION, messages[-3:]).or_raise()
        print(
            f"The last {len(report.duplicates)} messages are sent again, in case they were lost: nothing is stored twice."
        )
        same = await views(memory) == before
        print(f"Both views are the same as before the restart: {'yes' if same else 'NO'}")
        await ask_for_a_stranger(memory)


async def play(memory: ChatMemory, messages: Sequence[NewMessage]) -> None:
    """Add one message after the other; say when the history strategy has put a summary in the place of older ones."""
    for message in messages:
        report = await memory.add_messages(CONVERSATION, [message]).or_raise()
        for summary_id in report.history.summary_ids:
            origin = await memory.get_summarization(CONVERSATION, summary_id).or_raise()
            covered = 0 if origin is None else len(origin.summarized_message_ids)
            print(
                f"after {message.id}: a summary takes the place of {covered} messages in the view for a model"
            )


async def views(memory: ChatMemory) -> tuple[Sequence[ChatMessage], Sequence[ChatMessage]]:
    """Return what a model gets, and everything that was kept."""
    view = await memory.get_messages(CONVERSATION).or_raise()
    return view, await memory.get_messages(CONVERSATION, view="full").or_raise()


async def look(memory: ChatMemory, view: Sequence[ChatMessage], full: Sequence[ChatMessage]) -> None:
    """Print both views and where the summary comes from."""
    headline(f"What a model gets: get_messages(), {len(view)} messages")
    for message in view:
        if message.role == "summary":
            print("  summary |")
            for line in message.content.splitlines():
                print(indent(fill(line, COLUMNS - 12), "          | "))
        else:
            print_message(message)

    headline(f'Everything that was kept: get_messages(view="full"), {len(full)} messages, these among them')
    for message in full:
        if message.role == "summary" or message.seq % 8 == 0:
            print_message(
                message, note=f" [covered by {message.covered_by[-4:]}]" if message.covered_by else ""
            )

    headline("Where the summary comes from, and what became of message m07")
    for summary in (message for message in view if message.role == "summary"):
        origin = await memory.get_summarization(CONVERSATION, summary.id).or_raise()
        if origin is not None:
            span = origin.timestamp_range
            print(f"{named(summary.id)} covers {', '.join(map(named, origin.summarized_message_ids))},")
            print(
                f"said from {span.start:%H:%M} to {span.end:%H:%M} UTC; written by the skill {origin.skill_id!r}"
            )
    chain = await memory.get_summarizations_of(CONVERSATION, "m07").or_raise()
    print("m07 stands in", ", which stands in ".join(named(link.summary_message_id) for link in chain))


async def ask_for_a_stranger(memory: ChatMemory) -> None:
    """Show what a failure looks like: a value with a type, not an exception."""
    match await memory.get_messages("nobody"):
        case Success(found):
            print(f"{len(found)} messages")
        case Failure(error):
            print(f"And a conversation that nobody had: {error.tag}: {error}")
