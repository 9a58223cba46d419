"""What is true changes, and what was stays readable: the last part of ``make demo``, on the store of the parts before."""

from datetime import datetime
from pathlib import Path

from acquaintance import MEI
from on_screen import clip, headline, print_message

from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    NewMessage,
    Stored,
)
from chatmemory_layers import stacks

MOVED = "moving"
NEWS = "I work in Shanghai now."
QUESTION = "Which city does she work in?"
ON_CALL, WHAT_IF = "on-call-2025-03-14", "what-if"
INSTEAD = "Wait: restart nothing before the release of tonight is out."


async def change_of_mind(store: Path) -> None:
    """Replace a fact, read the old one, undo; read a conversation as it was, and go on from there."""
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
                older = await memory.undo(MEI, ended.id).or_raise()
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
    """Read what a model got before the first summary, and go on from there in a branch."""
    headline("What a model got in the first conversation before it was summarized: get_messages(as_of=20)")
    then = await chat.get_messages(ON_CALL, as_of=20).or_raise()
    now = await chat.get_messages(ON_CALL).or_raise()
    print(f"{len(then)} messages then, {len(now)} now; the last one then:")
    print_message(then[-1])

    headline("And what if she had answered otherwise? A fork begins with what came before")
    branch = (await chat.fork(ON_CALL, WHAT_IF, at=then[-1].id).or_raise()).conversation
    await chat.add_messages(WHAT_IF, [NewMessage("user", INSTEAD)]).or_raise()
    tail = await chat.get_messages(WHAT_IF, limit=2).or_raise()
    print(f"{WHAT_IF} begins with {branch.message_count} messages of {ON_CALL} and goes its own way:")
    for message in tail:
        print_message(message)
    same = await chat.get_messages(ON_CALL).or_raise() == now
    print(f"The other conversation is the same as before: {'yes' if same else 'NO'}")
