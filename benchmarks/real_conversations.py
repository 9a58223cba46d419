"""Real conversations through ``add_messages`` with a summary every 20 messages: whole, in order, with true provenance?

    python benchmarks/real_conversations.py DATA [--postgres DSN]

DATA is a folder with ``locomo_dev.json`` (English, sessions of two speakers) and ``memory_bank_cn.json`` (Chinese).
Every conversation is checked twice, before and after the store is closed and opened again.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    ChatMessage,
    ManagedRuntime,
    NewMessage,
    StrategySettings,
)
from chatmemory_layers.stacks import embedded, postgres

SUMMARIZE = StrategySettings(type="summarize", summarize_every_n=20, keep_last=0)
Conversations = dict[str, list[NewMessage]]


def locomo(path: Path) -> Iterator[tuple[str, list[NewMessage]]]:
    for sample in json.loads(path.read_text()):
        conversation: dict[str, Any] = sample["conversation"]
        messages: list[NewMessage] = []
        session = 1
        while (turns := conversation.get(f"session_{session}")) is not None:
            written = conversation[f"session_{session}_date_time"]
            start = datetime.strptime(written, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            for minute, turn in enumerate(turns):
                role = "user" if turn["speaker"] == conversation["speaker_a"] else "assistant"
                said_at = start + timedelta(minutes=minute)
                facts = {key: value for key, value in turn.items() if key != "text"}
                messages.append(NewMessage(role, turn["text"], turn["dia_id"], said_at, facts))
            session += 1
        yield f"locomo {sample['sample_id']}", messages


def memory_bank(path: Path) -> Iterator[tuple[str, list[NewMessage]]]:
    for person, record in json.loads(path.read_text()).items():
        messages: list[NewMessage] = []
        for day, turns in record["history"].items():
            said_at = datetime.fromisoformat(day).replace(tzinfo=UTC)
            for turn in turns:
                messages.append(NewMessage("user", turn["query"], timestamp=said_at))
                messages.append(NewMessage("assistant", turn["response"], timestamp=said_at))
        yield f"memory bank {person}", messages


async def check(memory: ChatMemory, name: str, given: Sequence[NewMessage]) -> tuple[int, int]:
    """Compare the stored conversation with what was given; return the counts of summaries and of the view."""
    stored: list[ChatMessage] = []
    async for outcome in memory.pages(name, size=97):
        stored += outcome.unwrap().messages
    spoken = [message for message in stored if message.role != "summary"]
    assert [(m.role, m.content, m.metadata) for m in spoken] == [
        (m.role, m.content, m.metadata) for m in given
    ]
    assert [m.timestamp for m in spoken] == [m.timestamp for m in given]
    assert [m.seq for m in stored] == sorted(m.seq for m in stored)

    by_id = {message.id: message for message in stored}
    claimed: list[str] = []
    for summary in (message for message in stored if message.role == "summary"):
        origin = await memory.get_summarization(name, summary.id).or_raise()
        assert origin is not None
        assert summary.metadata == {"summaryMetadataId": origin.id}
        assert all(by_id[covered].covered_by == summary.id for covered in origin.summarized_message_ids)
        claimed += origin.summarized_message_ids
    assert sorted(claimed) == sorted(message.id for message in stored if message.covered_by)
    assert len(claimed) == len(set(claimed))

    view = await memory.get_messages(name).or_raise()
    assert {message.id for message in view} == {message.id for message in stored if not message.covered_by}
    for message in spoken:
        chain = await memory.get_summarizations_of(name, message.id).or_raise()
        outermost = chain[-1].summary_message_id if chain else message.id
        assert outermost in {shown.id for shown in view}
        assert all(origin.timestamp_range.start <= message.timestamp for origin in chain)
    return len(stored) - len(spoken), len(view)


async def run(title: str, open_store: Any, conversations: Conversations) -> None:
    started = time.perf_counter()
    async with ManagedRuntime(open_store()) as runtime:
        memory = await runtime.service(ChatMemoryService)
        for name, messages in conversations.items():
            for message in messages:
                await memory.add_messages(name, [message]).or_raise()
        seconds = time.perf_counter() - started
        before = {name: await check(memory, name, messages) for name, messages in conversations.items()}
    async with ManagedRuntime(open_store()) as runtime:
        memory = await runtime.service(ChatMemoryService)
        after = {name: await check(memory, name, messages) for name, messages in conversations.items()}
    assert before == after
    total = sum(map(len, conversations.values()))
    print(f"\n{title}: {len(conversations)} conversations, {total} messages, {seconds:.1f} s")
    for name, (summaries, shown) in before.items():
        print(
            f"  {name:<24} {len(conversations[name]):>5} messages  {summaries:>3} summaries  {shown:>3} in view"
        )
    print("  whole, in order, every message covered at most once, provenance true; the same after a restart")


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--postgres", metavar="DSN")
    options = arguments.parse_args()
    conversations: Conversations = {
        **dict(locomo(options.data / "locomo_dev.json")),
        **dict(memory_bank(options.data / "memory_bank_cn.json")),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chat.db"
        await run("SQLite", lambda: embedded(path, strategy=SUMMARIZE), conversations)
    if options.postgres:
        await run("PostgreSQL", lambda: postgres(options.postgres, strategy=SUMMARIZE), conversations)


if __name__ == "__main__":
    asyncio.run(main())
