"""What other memories have exported comes in, with its times and its origin, once, and is recalled.

The files of mem0, LangGraph and OpenAI Agents are written by these packages (``tests/data/rivals/make_rivals.py``); those of
Letta and Zep have the shapes that their documentation shows.
"""

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.effect import ManagedRuntime
from chatmemory.items.item_repository import ItemName, ItemRepositoryTag
from chatmemory.laws.kit.samples import START
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.programs.archive.import_report import ImportReport
from chatmemory.programs.archive.importing import imported
from chatmemory.programs.archive.rivals.reading import RIVALS, read_rival
from chatmemory.programs.archive.rivals.rival import RivalFile
from chatmemory_layers import stacks
from chatmemory_layers.files.sqlite_tables import rows_of
from tests.archive.rich_store import export_of
from tests.for_each import for_each

pytestmark = pytest.mark.usefixtures("everybody")

SAMPLES = Path(__file__).parents[1] / "data" / "rivals"
DOCKER = "Ada deploys with Docker Compose, never with Kubernetes."
ADA = Namespace("ada")
ME = Namespace("me")
FILES = (
    ("mem0", "mem0.json"),
    ("mem0", "mem0_history.db"),
    ("langgraph", "langgraph_store.json"),
    ("langgraph", "langgraph_store.db"),
    ("openai-agents", "openai_agents.db"),
    ("letta", "letta.af"),
    ("zep", "zep.json"),
)


async def brought(runtime: ManagedRuntime[Any], tool: str, path: Path) -> ImportReport:
    arriving = read_rival(tool, RivalFile(path, rows_of), ME)
    return (await runtime.run(imported(arriving, redacts=True))).unwrap()


async def recalled(runtime: ManagedRuntime[Any], namespace: Namespace, query: str) -> list[Any]:
    memories = await runtime.service(LongTermMemoryService)
    return [hit.memory for hit in (await memories.recall(namespace, query).or_raise()).hits]


@for_each(("tool", "name"), FILES)
async def test_an_export_comes_in_once(tool: str, name: str) -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        first = await brought(runtime, tool, SAMPLES / name)
        assert not first.is_empty
        assert first.is_whole
        lines = await export_of(runtime)
        again = await brought(runtime, tool, SAMPLES / name)
        assert (again.messages.new, again.memories.new, again.items.new) == (0, 0, 0)
        assert await export_of(runtime) == lines


async def test_memories_of_mem0_keep_their_users_and_times() -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        report = await brought(runtime, "mem0", SAMPLES / "mem0.json")
        assert (report.memories.new, report.issues) == (3, ())
        memory, *_ = await recalled(runtime, ADA, "how does Ada deploy with Docker?")
        assert (memory.content, memory.value) == (DOCKER, {"category": "preference"})
        assert (memory.provenance.extractor, memory.provenance.path) == ("mem0", "mem0.json")
        assert memory.created_at < datetime(2026, 12, 1, tzinfo=UTC)
        assert [one.content for one in await recalled(runtime, ADA, "花生")] == ["阿达对花生过敏。"]
        assert await recalled(runtime, Namespace("wang"), "which port does Redis need?")


async def test_the_history_of_mem0_keeps_what_a_memory_said_before() -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        await brought(runtime, "mem0", SAMPLES / "mem0_history.db")
        memories = await runtime.service(LongTermMemoryService)
        (memory,) = [one for one in await recalled(runtime, ME, "Redis port") if "Redis" in one.content]
        assert memory.content.endswith("6381.")
        history = await memories.history(ME, memory.id).or_raise()
        assert [one.content for one in history.earlier] == ["Wang's tests need Redis on port 6380."]


@for_each("name", ["langgraph_store.json", "langgraph_store.db"])
async def test_items_of_langgraph_are_items_and_what_langmem_remembers_is_recalled(name: str) -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        report = await brought(runtime, "langgraph", SAMPLES / name)
        assert (report.items.new, report.memories.new, report.issues) == (4, 3, ())
        items = await runtime.service(ItemRepositoryTag)
        theme = ItemName(("langgraph", "settings"), "theme")
        (item,) = await items.read((theme,), now=START).or_raise()
        assert item is not None
        assert item.value == '{"dark": true, "size": 1.5}'
        memory, *_ = await recalled(runtime, ME, "Docker Compose")
        assert (memory.content, memory.provenance.path) == (DOCKER, "memories/ada/m0")


async def test_sessions_of_openai_agents_are_conversations_that_keep_their_items() -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        report = await brought(runtime, "openai-agents", SAMPLES / "openai_agents.db")
        assert (report.messages.new, report.issues) == (6, ())
        chat = await runtime.service(ChatMemoryService)
        said = await chat.get_messages("trip").or_raise()
        assert [one.role for one in said] == ["user", "tool", "tool", "assistant", "tool"]
        assert said[3].content == "G7513 at 9:02."
        assert said[1].metadata is not None
        assert said[1].metadata["asGiven"] == {
            "openaiAgentsItem": {
                "type": "function_call",
                "call_id": "call_1",
                "name": "trains",
                "arguments": '{"to": "杭州"}',
            }
        }
        assert [one.content for one in await chat.get_messages("午饭").or_raise()] == ["在哪里吃？"]


async def test_an_agent_of_letta_brings_its_blocks_and_messages() -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        report = await brought(runtime, "letta", SAMPLES / "letta.af")
        assert (report.messages.new, report.memories.new, report.issue_count) == (4, 1, 2)
        chat = await runtime.service(ChatMemoryService)
        said = await chat.get_messages("agent-0").or_raise()
        assert [one.id for one in said] == [f"message-{number}" for number in range(4)]
        assert said[1].content == 'trains({"to": "杭州"})'
        assert said[0].timestamp == datetime(2026, 5, 4, 10, tzinfo=UTC)
        memory, *_ = await recalled(runtime, ME, "Docker Compose")
        assert (memory.content, memory.key) == (DOCKER, "human")


async def test_facts_of_zep_are_true_as_long_as_they_were() -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        report = await brought(runtime, "zep", SAMPLES / "zep.json")
        assert (report.messages.new, report.memories.new, report.issue_count) == (2, 2, 2)
        memories = await runtime.service(LongTermMemoryService)
        now = (await memories.list(ADA).or_raise()).memories
        then = (await memories.list(ADA, as_of=datetime(2026, 1, 1, tzinfo=UTC)).or_raise()).memories
        assert ([one.id for one in now], [one.id for one in then]) == (["e2"], ["e1"])


def damaged(given: bytes, number: int) -> bytes:
    """Return *given* cut off, with bytes that were changed, or with a piece that stands twice."""
    chance = random.Random(number)
    at = chance.randrange(len(given))
    match number % 3:
        case 0:
            return given[:at]
        case 1:
            spoilt = bytearray(given)
            for _ in range(20):
                spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
            return bytes(spoilt)
        case _:
            return given[:at] + given[at // 2 :]


@pytest.mark.parametrize(("tool", "name"), FILES)
async def test_a_damaged_export_is_told_and_ends_nothing(tool: str, name: str, tmp_path: Path) -> None:
    given = (SAMPLES / name).read_bytes()
    for number in range(30):
        path = tmp_path / f"{number} {name}"
        path.write_bytes(damaged(given, number))
        async with ManagedRuntime(stacks.testing()) as runtime:
            report = await brought(runtime, tool, path)
            assert report.issue_count or report.is_whole


@pytest.mark.parametrize("role", ['["user"]', '{"name": "user"}'])
async def test_a_role_that_is_no_text_is_unknown(role: str, tmp_path: Path) -> None:
    path = tmp_path / "zep.json"
    message = f'{{"role": {role}, "content": "一"}}'
    path.write_text(f'{{"sessions": [{{"session_id": "s", "messages": [{message}]}}]}}', encoding="utf-8")
    async with ManagedRuntime(stacks.testing()) as runtime:
        report = await brought(runtime, "zep", path)
        assert [issue.reason for issue in report.issues] == ["message 1 of 's': unknown role, or no text"]


@pytest.mark.parametrize("tool", RIVALS)
async def test_the_export_of_something_else_is_told(tool: str, tmp_path: Path) -> None:
    for number, text in enumerate(('{"a": 1}', "[]", "3", "# notes", "", "\0\0", "[[[]]]", '[{"id": 3}]')):
        path = tmp_path / f"{number}.json"
        path.write_text(text, encoding="utf-8")
        async with ManagedRuntime(stacks.testing()) as runtime:
            report = await brought(runtime, tool, path)
            assert report.is_empty
            assert report.issue_count, text
