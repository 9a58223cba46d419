"""What somebody says in one conversation is known in the next, after a restart: the second half of ``make demo``."""

from pathlib import Path

from on_screen import clip, headline, show_text

from chatmemory import (
    ChatContextService,
    ChatMemoryService,
    Instructions,
    LongTermMemoryService,
    ManagedRuntime,
    Namespace,
    NewMemory,
    NewMessage,
    Stored,
)
from chatmemory.input.structure import read_json
from chatmemory_layers import stacks

MEI = Namespace("mei", "harbor")
REMEMBERED = Path(__file__).with_name("remembered.jsonl")
FIRST, SECOND = "getting-acquainted", "a-week-later"
SAID = (
    ("user", "Hi, I'm Mei, a site reliability engineer. I work in Hangzhou."),
    ("assistant", "Welcome, Mei. Anything that I should know?"),
    ("user", "I like to write scripts in Python. 我喜欢喝龙井茶，对花生过敏。"),
    ("assistant", "好的，我记住了。"),
    ("user", "ok, thanks!"),
    ("user", "每周四晚上我们发布新版本。"),
)
ASKED = (
    "Which city does she work in?",
    "What programming language should the script use?",
    "她爱喝什么?",
    "什么时候上线新版本?",
)
INSTRUCTIONS = Instructions(system="You are Harbor, the on-call assistant of a small online bookshop.")


async def acquaintance(store: Path) -> None:
    """Converse, restart, recall, and show what a model would receive."""
    headline("Somebody introduces herself; each fact becomes a memory, empty talk does not")
    async with ManagedRuntime(stacks.embedded(store)) as runtime:
        chat = await runtime.service(ChatMemoryService)
        memory = await runtime.service(LongTermMemoryService)
        for number, (role, text) in enumerate(SAID, start=1):
            message_id = f"m{number}"
            await chat.add_messages(FIRST, [NewMessage(role, text, message_id)]).or_raise()
            if role == "user":
                print(f"     user | {clip(text, 96)}")
                report = await memory.auto_save(MEI, text, session_id=FIRST, message_id=message_id).or_raise()
                for outcome in report.outcomes:
                    if isinstance(outcome, Stored):
                        kept = await memory.get(MEI, outcome.id).or_raise()
                        print(f"          -> {kept.category}: {kept.key} = {kept.value}")

        earlier = [
            read_json(line, NewMemory).unwrap()
            for line in REMEMBERED.read_text(encoding="utf-8").splitlines()
        ]
        report = await memory.remember(MEI, earlier).or_raise()
        print(f"{len(report.stored)} memories of earlier sessions are stored beside them")

    headline(
        "The program has ended.  Another one opens the file and asks, in other words, in two languages, offline"
    )
    async with ManagedRuntime(stacks.embedded(store)) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        print("[score: how well words and vector match, less the age of a memory; where it was said]")
        for question in ASKED:
            recalled = await memory.recall(MEI, question, limit=1).or_raise()
            print(f"? {question}")
            for hit in recalled.hits:
                signals = f"words {hit.signals.lexical:.2f}, vector {hit.signals.similarity or 0:.2f}"
                source = f"{hit.memory.session_id} {', '.join(hit.memory.provenance.message_ids)}"
                print(f"  {clip(hit.memory.content, 60)}   [{hit.score:.2f}: {signals}; from {source}]")

        headline("What a model would receive for the next message: contexts.build()")
        chat = await runtime.service(ChatMemoryService)
        said = [NewMessage("user", "Morning, Harbor."), NewMessage("assistant", "Good morning, Mei.")]
        await chat.add_messages(SECOND, said).or_raise()
        contexts = await runtime.service(ChatContextService)
        question = "Which language should my script for the release use? 什么时候上线新版本?"
        context = await contexts.build(MEI, SECOND, question, instructions=INSTRUCTIONS).or_raise()
        for message in context.messages:
            show_text(message.role, message.content)
        print(f"\n{context.tokens} tokens; {len(context.memory_ids)} memories, each counted as used once:")
        for memory_id in context.memory_ids:
            used = await memory.get(MEI, memory_id).or_raise()
            print(f"  {clip(used.content, 60)}   [used {used.access_count} time]")
