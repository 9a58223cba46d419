"""What is true changes, and what was stays readable: the last part of ``make demo``, on the store of the parts before."""

from datetime import datetime
from pathlib import Path

from acquaintance import MEI
from on_screen import clip, headline, named, print_message

from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    Stored,
)
from chatmemory_layers import stacks

MOVED = "moving"
NEWS = "I work in Shanghai now."
QUESTION = "Which city does she work in?"
ON_CALL = "on-call-2025-03-14"


async def change_of_mind(store: Path) -> None:
    """Replace a fact, read the old one, undo, and read a conversation as it was."""
    async with ManagedRuntime(stacks.embedded(store)) as runtime:
        await change(await runtime.service(LongTermMemoryService))
        await look_back(await runtime.service(ChatMemoryService))


async def change(memory: LongTermMemory) -> None:
    """Say something newer about one thing; look at what it ends, at what was, and take it back."""
    headline(
        "A week later she says something newer about the same thing; it takes the place of the older fact"
    )
    before = await ask(memory, "now")
    print(f"     user | {NEWS}")
    report = await memory.auto_save(MEI, NEWS, session_id=MOVED, message_id="m1").or_raise()
    await ask(memory, "now")
    await ask(memory, "before", as_of=before)
    for outcome in report.outcomes:
        if isinstance(outcome, Stored):
            for ended in outcome.retired:
                older = await memory.restore(MEI, ended.id, instead_of=outcome.id).or_raise()
                print(
                    f"undone, because it was a slip of the tongue: {older.content!r} is true again ({ended.attribute})"
                )
    await ask(memory, "now")


async def ask(memory: LongTermMemory, when: str, *, as_of: datetime | None = None) -> datetime | None:
    """Ask where she works, print the best answer, and return since when it is true."""
    recalled = await memory.recall(MEI, QUESTION, limit=1, as_of=as_of).or_raise()
    for hit in recalled.hits:
        print(f"? {QUESTION} [{when:>6}]  {clip(hit.memory.content, 60)}")
        return hit.memory.created_at
    return None


async def look_back(chat: ChatMemory) -> None:
    """Read what a model got before the first summary."""
    headline("What a model got in the first conversation before it was summarized: get_messages(as_of=20)")
    then = await chat.get_messages(ON_CALL, as_of=20).or_raise()
    now = await chat.get_messages(ON_CALL).or_raise()
    print(
        f"{len(then)} messages then, {len(now)} now, of which the first is {named(now[0].id)}; the last one then:"
    )
    print_message(then[-1])
