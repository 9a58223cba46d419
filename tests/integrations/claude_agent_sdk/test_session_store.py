"""What the Claude Agent SDK finds in our session store: its own contracts, what resume needs, and what it survives."""

from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("claude_agent_sdk", reason="pip install 'chatmemory-effect[claude-agent-sdk]'")

from claude_agent_sdk import (
    ClaudeSDKError,
    SessionKey,
    get_session_messages_from_store,
    list_sessions_from_store,
    list_subagents_from_store,
    project_key_for_directory,
)
from claude_agent_sdk.testing import run_session_store_conformance

from chatmemory import ManagedRuntime, ThreadRuntime
from chatmemory.effect import Effect
from chatmemory.effect.services.clock import ClockTag
from chatmemory.integrations.claude_agent_sdk import ChatMemorySessionStore
from chatmemory.integrations.claude_agent_sdk.session_store import OWNER
from chatmemory.items.item_repository import ItemRepositoryTag, ItemSearch
from chatmemory_layers.stacks import Stack, embedded
from tests.integrations.adapter_endurance import AdapterEndurance

MAIN: SessionKey = {"project_key": "项目.1", "session_id": "周一"}
AGENT: SessionKey = {**MAIN, "subpath": "subagents/agent-1.x"}


async def forget_all(runtime: Any) -> int:
    items = (await runtime.run(Effect.service(ItemRepositoryTag))).unwrap()
    now = (await runtime.run(Effect.service(ClockTag))).unwrap().now()
    found = (await runtime.run(items.search(ItemSearch((OWNER,), 1000), now=now))).unwrap()
    return int((await runtime.run(items.forget(tuple([item.name for item in found])))).unwrap())


def entry(uuid: str | None, **fields: Any) -> Any:
    return {"type": "user", **({} if uuid is None else {"uuid": uuid}), **fields}


@pytest.mark.parametrize("kind", [ManagedRuntime, ThreadRuntime])
async def test_all_contracts_of_the_sdk_hold(
    every_stack: Stack, kind: type[ManagedRuntime[Any] | ThreadRuntime[Any]]
) -> None:
    async with kind(every_stack) as runtime:
        made = 0

        async def emptied() -> ChatMemorySessionStore:
            nonlocal made
            made += 1
            await forget_all(runtime)
            return ChatMemorySessionStore(runtime)

        await run_session_store_conformance(emptied)
        assert made == 15, "one for each of the 14 contracts, and one to see which methods there are"


async def test_entries_come_back_in_order_once_and_exactly(runtime: ManagedRuntime[Any]) -> None:
    odd = {"\0": "\ud800", "n": [1, 1.0, None, True], "梅": "花生"}
    store = ChatMemorySessionStore(runtime)
    first = [entry("b", **odd), entry("a"), entry(None, tag="x")]
    await store.append(MAIN, first)
    await store.append(MAIN, [*first[:2], entry("c"), entry("c"), entry(None, tag="x")])
    loaded = await store.load(MAIN)
    assert loaded == [*first, entry("c"), entry(None, tag="x")]
    assert isinstance(loaded[0]["n"][1], float)


async def test_a_batch_that_comes_again_leaves_the_summary_and_deleting_takes_subagents_along(
    runtime: ManagedRuntime[Any],
) -> None:
    store = ChatMemorySessionStore(runtime)
    early = [entry("a", customTitle="early", timestamp="2026-11-23T09:00:00Z")]
    await store.append(MAIN, early)
    await store.append(MAIN, [entry("b", customTitle="late", timestamp="2026-11-23T09:01:00Z"), entry(None)])
    before = await store.list_session_summaries(MAIN["project_key"])
    await store.append(MAIN, early)
    assert await store.list_session_summaries(MAIN["project_key"]) == before
    assert "late" in str(before)
    await store.append(AGENT, [entry("a")])
    assert await store.list_subkeys(MAIN) == ["subagents/agent-1.x"]
    await store.delete(MAIN)
    assert await forget_all(runtime) == 0, "nothing is left"


async def test_the_sdk_reads_sessions_messages_and_subagents_in_another_runtime(tmp_path: Path) -> None:
    session = "0a0f5b0e-0000-4000-8000-000000000001"
    key: SessionKey = {"project_key": project_key_for_directory(str(tmp_path)), "session_id": session}
    said = {"role": "user", "content": "我对花生过敏。"}
    line = {"sessionId": session, "parentUuid": None, "timestamp": "2026-11-23T09:00:00Z", "message": said}
    async with ThreadRuntime(embedded(tmp_path / "a.db")) as runtime:
        store = ChatMemorySessionStore(runtime)
        await store.append(key, [entry("0a0f5b0e-0000-4000-8000-00000000000a", **line)])
        await store.append({**key, "subpath": "subagents/agent-7"}, [entry("x")])
    async with ThreadRuntime(embedded(tmp_path / "a.db")) as runtime:
        store = ChatMemorySessionStore(runtime)
        (listed,) = await list_sessions_from_store(store, directory=str(tmp_path))
        assert (listed.session_id, listed.first_prompt) == (session, "我对花生过敏。")
        messages = await get_session_messages_from_store(store, session, directory=str(tmp_path))
        assert [each.message for each in messages] == [said]
        assert await list_subagents_from_store(store, session, directory=str(tmp_path)) == ["7"]


class TestEndurance(AdapterEndurance):
    """A batch is three entries."""

    adapter = staticmethod(ChatMemorySessionStore)
    failure: ClassVar[type[Exception]] = ClaudeSDKError

    async def write(self, adapter: ChatMemorySessionStore, name: str, number: int) -> None:
        entries: Any = [{"type": "user", "uuid": f"{number} {part}", "n": number} for part in "甲乙丙"]
        await adapter.append({"project_key": "项目", "session_id": name}, entries)

    async def numbers(self, adapter: ChatMemorySessionStore, name: str) -> list[int]:
        entries: Any = await adapter.load({"project_key": "项目", "session_id": name}) or []
        numbers = [entry["n"] for entry in entries]
        assert numbers[::3] == numbers[1::3] == numbers[2::3], "no batch is torn"
        return numbers[::3]
