"""Sessions of the OpenAI Agents SDK: items come back equal, and stand as messages for everybody else."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents", reason="pip install 'chatmemory-effect[openai-agents]'")

import agents
from agents.exceptions import AgentsException, UserError
from agents.memory import Session, SessionSettings

from chatmemory import Layer, ManagedRuntime, NewMessage, ThreadRuntime
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.messages import ChatMessage
from chatmemory.errors import GenericMemoryError
from chatmemory.integrations.openai_agents import ChatMemorySession
from chatmemory_layers.stacks import embedded, testing as stack_in_memory

Runtime = ThreadRuntime[ChatMemoryService]

THINKING = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "查一下天气"}]}
CALL = {
    "type": "function_call",
    "call_id": "c1",
    "name": "get_weather",
    "arguments": '{"city":"杭州"}',
    "id": "fc_1",
    "status": "completed",
}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "晴，24 度"}
ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "It is sunny. 晴天。", "annotations": [], "logprobs": []}],
}
ITEMS: list[Any] = [
    {"role": "user", "content": "杭州天气怎么样？"},
    THINKING,
    CALL,
    RESULT,
    ANSWER,
    {"role": "developer", "content": "Be brief."},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "看图"},
            {"type": "input_image", "image_url": "data:", "detail": "auto"},
        ],
    },
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    },
    {
        "type": "computer_call_output",
        "call_id": "c9",
        "output": {"type": "computer_screenshot", "file_id": None},
    },
]
ODD: list[Any] = [
    {"role": "user", "content": "NUL \0 and half an emoji \ud83d"},
    {"role": "user", "content": "big", "n": 10**400, "f": 0.1, "t": True, "one": 1},
    {"role": "user", "content": "", "nested": [[[{"": None}]]]},
    ["no", "object", 1],
]


def said(*texts: str) -> list[Any]:
    return [
        {"role": "assistant" if index % 2 else "user", "content": text} for index, text in enumerate(texts)
    ]


async def messages(runtime: Runtime, session_id: str, view: Any = "model") -> list[ChatMessage]:
    reading = ChatMemoryService.use(lambda memory: memory.get_messages(session_id, view=view))
    return list((await runtime.run(reading)).unwrap())


def test_it_is_a_session_of_the_sdk(runtime: Runtime) -> None:
    assert isinstance(ChatMemorySession("a", runtime), Session)


@pytest.mark.parametrize("items", [ITEMS, ODD])
@pytest.mark.parametrize("store", ["file", "memory"])
async def test_items_come_back_equal(tmp_path: Path, items: list[Any], store: str) -> None:
    stack = embedded(tmp_path / "a.db") if store == "file" else stack_in_memory()
    async with ThreadRuntime(stack) as runtime:
        session = ChatMemorySession("会话", runtime)
        await session.add_items(items)
        assert await session.get_items() == items
        assert [await session.pop_item() for _ in items] == items[::-1]
        assert await session.pop_item() is None


async def test_a_number_that_is_none_comes_back_as_it_went(runtime: Runtime) -> None:
    session = ChatMemorySession("a", runtime)
    await session.add_items([{"role": "user", "content": "x", "score": math.nan}])
    (item,) = await session.get_items()
    assert math.isnan(item["score"])


async def test_an_item_is_a_message_that_others_can_read(runtime: Runtime) -> None:
    await ChatMemorySession("a", runtime).add_items([*ITEMS, *ODD])
    assert [(message.role, message.content) for message in await messages(runtime, "a")] == [
        ("user", "杭州天气怎么样？"),
        ("tool", "查一下天气"),
        ("tool", 'get_weather({"city":"杭州"})'),
        ("tool", "晴，24 度"),
        ("assistant", "It is sunny. 晴天。"),
        ("system", "Be brief."),
        ("user", "看图\n[input_image]"),
        ("tool", "[web_search_call]"),
        ("tool", "[computer_screenshot]"),
        ("user", "NUL \ufffd and half an emoji \ufffd"),
        ("user", "big"),
        ("user", ""),
        ("tool", "[item]"),
    ]


async def test_a_branch_is_a_session_that_begins_with_what_it_shares(runtime: Runtime) -> None:
    trunk = ChatMemorySession("trunk", runtime)
    await trunk.add_items([*ITEMS])
    (await runtime.run(ChatMemoryService.use(lambda memory: memory.fork("trunk", "branch")))).unwrap()
    branch = ChatMemorySession("branch", runtime)
    said: Any = {"role": "user", "content": "only here"}
    await branch.add_items([said])
    assert await branch.get_items() == [*ITEMS, said]
    assert await trunk.get_items() == [*ITEMS]


async def test_a_message_that_came_another_way_is_an_item(runtime: Runtime) -> None:
    given = [
        NewMessage("user", "你好"),
        NewMessage("tool", "42", metadata={"asGiven": {"openaiAgentsItemText": [1]}}),
        NewMessage("system", "Be kind.", metadata={"asGiven": {"openaiAgentsItemText": "{"}}),
    ]
    adding = ChatMemoryService.use(lambda memory: memory.add_messages("a", given))
    (await runtime.run(adding)).unwrap()
    assert await ChatMemorySession("a", runtime).get_items() == [
        {"role": "user", "content": "你好"},
        {"role": "assistant", "content": "42"},
        {"role": "system", "content": "Be kind."},
    ]


async def test_a_limit_gives_the_newest_in_their_order(runtime: Runtime) -> None:
    items = said("一", "二", "三")
    session = ChatMemorySession("a", runtime, session_settings={"limit": 2})
    await session.add_items(items)
    assert await session.get_items() == items[1:]
    assert await session.get_items(limit=1) == items[2:]
    assert await session.get_items(limit=0) == []
    assert await session.get_items(limit=-1) == await session.get_items(limit=10**12) == items
    assert ChatMemorySession("a", runtime).session_settings == SessionSettings()
    with pytest.raises(TypeError):
        ChatMemorySession("a", runtime, session_settings={"limitt": 2})


async def test_every_method_takes_the_context_of_the_run(runtime: Runtime) -> None:
    session, wrapper = ChatMemorySession("a", runtime), agents.RunContextWrapper(None)
    await session.add_items(said("一"), wrapper=wrapper)
    assert await session.get_items(wrapper=wrapper) == said("一")
    assert await session.pop_item(wrapper=wrapper) == said("一")[0]
    await session.clear_session(wrapper=wrapper)


async def test_a_batch_with_one_item_that_is_no_json_is_refused_whole(runtime: Runtime) -> None:
    session = ChatMemorySession("a", runtime)
    with pytest.raises(TypeError):
        await session.add_items([*said("一"), {"role": "user", "content": object()}])
    assert await session.get_items() == []


async def test_what_is_summarized_is_one_item_that_says_so(summarizing: Runtime) -> None:
    session = ChatMemorySession("a", summarizing)
    items = said(*(f"第{number}句：我们在杭州见面。" for number in range(6)))
    await session.add_items(items)
    summary, *kept = await session.get_items()
    assert kept == items[-2:]
    assert summary["role"] == "user"
    assert "sums up earlier messages" in summary["content"]
    assert (await session.get_items())[0] == summary, "the same text each time, for caches of prompts"
    assert await session.get_items(limit=1) == items[-1:]


async def test_popping_gives_back_what_a_summary_stood_for(summarizing: Runtime) -> None:
    session = ChatMemorySession("a", summarizing)
    items = said(*(f"第{number}句：我们在杭州见面。" for number in range(6)))
    await session.add_items(items)
    assert len(await session.get_items()) == 3
    assert [await session.pop_item() for _ in range(3)] == items[:2:-1]
    assert await session.get_items() == items[:3]


async def test_a_summary_parts_no_result_from_its_call_nor_an_answer_from_its_thinking(
    summarizing: Runtime,
) -> None:
    session = ChatMemorySession("a", summarizing)
    second: list[Any] = [{**CALL, "call_id": "c2"}, {**RESULT, "call_id": "c2"}]
    await session.add_items([*said("天气？"), THINKING, CALL, second[0], RESULT, second[1]])
    assert len(await session.get_items()) == 6, "nothing can be cut here"
    await session.add_items([THINKING, ANSWER, *said("谢谢")])
    kept = (await session.get_items())[1:]
    calls = {item["call_id"] for item in kept if item["type"] == "function_call"} if len(kept) > 2 else set()
    assert calls in (set(), {"c1", "c2"})
    assert kept == [{name: value for name, value in ANSWER.items() if name != "id"}, *said("谢谢")]


async def test_a_managed_runtime_serves_its_own_event_loop(tmp_path: Path) -> None:
    async with ManagedRuntime(embedded(tmp_path / "a.db")) as runtime:
        session = ChatMemorySession("a", runtime)
        await session.add_items(said("一"))
        assert await session.get_items() == said("一")
        with pytest.raises(AgentsException, match="event loop"):
            await asyncio.to_thread(lambda: asyncio.run(session.add_items(said("二"))))


async def test_a_closed_session_says_so_and_leaves_the_runtime_to_others(runtime: Runtime) -> None:
    session, other = ChatMemorySession("a", runtime), ChatMemorySession("a", runtime)
    await session.close()
    await session.close()
    for call in (
        session.get_items,
        lambda: session.add_items([]),
        session.pop_item,
        session.clear_session,
    ):
        with pytest.raises(RuntimeError, match=r"^ChatMemorySession is closed$"):
            await call()
    await other.add_items(said("一"))
    await asyncio.to_thread(runtime.close)
    with pytest.raises(RuntimeError, match="the runtime of this memory is closed"):
        await other.get_items()


async def test_failures_are_exceptions_of_the_sdk_in_our_words(tmp_path: Path) -> None:
    nowhere = ThreadRuntime(embedded(tmp_path / "no folder" / "a.db"))
    with pytest.raises(AgentsException, match="open the store"):
        await ChatMemorySession("a", nowhere).get_items()
    async with ThreadRuntime(stack_in_memory()) as runtime:
        with pytest.raises(UserError, match="600 characters are more than 512") as refused:
            await ChatMemorySession("x" * 600, runtime).add_items(said("一"))
        assert refused.value.__cause__.error.tag == "DataValidationError"
    broken = Layer.mock(ChatMemoryService, clear_messages=_Failing().clear_messages)
    async with ThreadRuntime(broken) as runtime:
        with pytest.raises(AgentsException, match="disk"):
            await ChatMemorySession("a", runtime).clear_session()


class _Failing:
    def clear_messages(self, _: str) -> Any:
        from chatmemory.effect import Effect
        from chatmemory.errors import RepositoryError

        return Effect.fail(GenericMemoryError(RepositoryError("clear", "full", "the disk is full")))
