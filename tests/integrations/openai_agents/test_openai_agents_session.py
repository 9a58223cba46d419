"""Sessions of the OpenAI Agents SDK: items come back equal, stand as messages for everybody else, and survive what may happen."""

import asyncio
import math
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("agents", reason="pip install 'chatmemory-effect[openai-agents]'")

import agents
from agents.exceptions import AgentsException, UserError
from agents.memory import Session, SessionSettings

from chatmemory import Effect, Layer, ManagedRuntime, NewMessage, ThreadRuntime
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.errors import GenericMemoryError, RepositoryError
from chatmemory.integrations.openai_agents import ChatMemorySession
from chatmemory_layers.stacks import embedded
from tests.forked import Forked, imports_of
from tests.integrations.adapter_endurance import (
    KILLS,
    PATIENCE_SECONDS,
    AdapterEndurance,
    Runtime as AnyRuntime,
)

Runtime = ThreadRuntime[ChatMemoryService]


@pytest.fixture
def runtime(threads: Runtime) -> Runtime:
    return threads


THINKING = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "查一下天气"}]}
CALL = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city":"杭州"}'}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "晴，24 度"}
SUNNY = {"type": "output_text", "text": "It is sunny. 晴天。", "annotations": [], "logprobs": []}
ANSWER = {"id": "msg_1", "type": "message", "role": "assistant", "content": [SUNNY]}
IMAGE = {"type": "input_image", "image_url": "data:", "detail": "auto"}
SCREENSHOT = {"type": "computer_screenshot", "file_id": None}
ITEMS: list[Any] = [
    {"role": "user", "content": "杭州天气怎么样？"},
    *(THINKING, CALL, RESULT, ANSWER),
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "input_text", "text": "看图"}, IMAGE]},
    {"type": "web_search_call", "id": "ws_1", "action": {"type": "search", "query": "q"}},
    {"type": "computer_call_output", "call_id": "c9", "output": SCREENSHOT},
]
ODD: list[Any] = [
    {"role": "user", "content": "NUL \0 and half an emoji \ud83d"},
    {"role": "user", "content": "big", "n": 10**400, "f": 0.1, "t": True, "one": 1},
    {"role": "user", "content": "", "nested": [[[{"": None}]]]},
    {"role": ["user"], "content": "two"},
    ["no", "object", 1],
]


def said(*texts: str) -> list[Any]:
    return [
        {"role": "assistant" if index % 2 else "user", "content": text} for index, text in enumerate(texts)
    ]


async def messages(runtime: Runtime, session_id: str) -> list[tuple[str, str]]:
    reading = ChatMemoryService.use(lambda memory: memory.get_messages(session_id))
    return [(one.role, one.content) for one in (await runtime.run(reading)).unwrap()]


async def test_items_come_back_equal_and_in_their_order(runtime: Runtime) -> None:
    session, items = ChatMemorySession("会话", runtime), [*ITEMS, *ODD]
    assert isinstance(session, Session)
    await session.add_items(items)
    assert await session.get_items() == items
    assert [await session.pop_item() for _ in items] == items[::-1]
    assert await session.pop_item() is None
    await session.add_items([{"role": "user", "content": "x", "score": math.nan}])
    (item,) = await session.get_items()
    assert math.isnan(item["score"])
    with pytest.raises(TypeError):
        await session.add_items([*said("一"), {"role": "user", "content": object()}])
    assert len(await session.get_items()) == 1, "a batch with one item that is no JSON is refused whole"


async def test_an_item_is_a_message_that_others_can_read(runtime: Runtime) -> None:
    await ChatMemorySession("a", runtime).add_items([*ITEMS, *ODD])
    assert await messages(runtime, "a") == [
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
        ("tool", "two"),
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
    wrapper = agents.RunContextWrapper(None)  # each method takes the context of the run
    await session.add_items(said("四"), wrapper=wrapper)
    assert await session.pop_item(wrapper=wrapper) == said("四")[0]
    await session.clear_session(wrapper=wrapper)
    assert await session.get_items(wrapper=wrapper) == []


async def test_what_is_summarized_is_one_item_that_says_so_and_popping_gives_it_back(
    summarizing: Runtime,
) -> None:
    session = ChatMemorySession("a", summarizing)
    items = said(*(f"第{number}句：我们在杭州见面。" for number in range(6)))
    await session.add_items(items)
    summary, *kept = await session.get_items()
    assert kept == items[-2:]
    assert summary["role"] == "user"
    assert "sums up earlier messages" in summary["content"]
    assert (await session.get_items())[0] == summary, "the same text each time, for caches of prompts"
    assert await session.get_items(limit=1) == items[-1:]
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


async def test_a_managed_runtime_serves_its_own_event_loop_alone(tmp_path: Path) -> None:
    async with ManagedRuntime(embedded(tmp_path / "a.db")) as managed:
        await managed.service(ChatMemoryService)
        with pytest.raises(AgentsException, match="event loop"):
            await asyncio.to_thread(asyncio.run, ChatMemorySession("a", managed).add_items(said("二")))


async def test_a_closed_session_says_so_and_leaves_the_runtime_to_others(runtime: Runtime) -> None:
    session, other = ChatMemorySession("a", runtime), ChatMemorySession("a", runtime)
    await session.close()
    await session.close()
    for call in (session.get_items, lambda: session.add_items([]), session.pop_item, session.clear_session):
        with pytest.raises(RuntimeError, match=r"^ChatMemorySession is closed$"):
            await call()
    await other.add_items(said("一"))


async def test_failures_are_exceptions_of_the_sdk_in_our_words(runtime: Runtime) -> None:
    with pytest.raises(UserError, match="600 characters are more than 512"):
        await ChatMemorySession("x" * 600, runtime).add_items(said("一"))
    full = Effect.fail(GenericMemoryError(RepositoryError("clear", "full", "the disk is full")))
    async with ThreadRuntime(Layer.mock(ChatMemoryService, clear_messages=lambda _: full)) as broken:
        with pytest.raises(AgentsException, match="disk"):
            await ChatMemorySession("a", broken).clear_session()


def batch(name: object, number: int) -> list[Any]:
    return [{"role": "user", "content": f"{name} {number} {part}"} for part in "abc"]


class TestEndurance(AdapterEndurance):
    """All writers talk into one session."""

    failure: ClassVar[type[Exception]] = AgentsException
    failure_when_closed = RuntimeError

    def adapter(self, runtime: AnyRuntime) -> ChatMemorySession:
        return ChatMemorySession("会话", runtime)

    async def write(self, adapter: ChatMemorySession, name: str, number: int) -> None:
        await adapter.add_items(batch(name, number))

    async def numbers(self, adapter: ChatMemorySession, name: str) -> list[int]:
        items: list[Any] = await adapter.get_items()
        assert len(items) % 3 == 0
        heads = [items[start]["content"].split() for start in range(0, len(items), 3)]
        assert items == [item for head in heads for item in batch(head[0], int(head[1]))], "no batch is torn"
        return [int(head[1]) for head in heads if head[0] == name]


@pytest.mark.parametrize("method", ["pop_item", "clear_session"])
async def test_a_removal_that_is_cancelled_has_a_known_end(runtime: Runtime, method: str) -> None:
    session, known = ChatMemorySession("会话", runtime), []
    for number in range(20):
        await session.add_items(batch(method, number))
        before = await session.get_items()
        assert before == [*known, *batch(method, number)], "nothing goes late"
        task = asyncio.create_task(getattr(session, method)())
        for _ in range(number % 4):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=PATIENCE_SECONDS)
        known = await session.get_items()
        assert known in (before, before[:-1] if method == "pop_item" else [])


COMPACTING = """
import asyncio, sys
from types import SimpleNamespace

from agents.memory import OpenAIResponsesCompactionSession

from chatmemory import ThreadRuntime
from chatmemory.integrations.openai_agents import ChatMemorySession
from chatmemory_layers.stacks import embedded

done = int(sys.argv[2])

class Responses:
    async def compact(self, **_):
        return SimpleNamespace(output=[{"role": "user", "content": f"{done} {part}"} for part in "abc"], usage=None)

async def talk():
    global done
    kept = ChatMemorySession("会话", ThreadRuntime(embedded(sys.argv[1])))
    session = OpenAIResponsesCompactionSession("会话", kept, client=SimpleNamespace(responses=Responses()))
    await session.add_items([{"role": "user", "content": f"{done} {part}"} for part in "abc"])
    print("begun", flush=True)
    while True:
        done += 1
        await session.run_compaction({"force": True, "compaction_mode": "input"})
        print(done, flush=True)

asyncio.run(talk())
"""


async def test_a_compaction_that_is_killed_leaves_what_was_there_or_what_takes_its_place(
    tmp_path: Path,
) -> None:
    path, done = tmp_path / "a.db", 0
    for round_ in range(KILLS):
        command = (sys.executable, "-c", COMPACTING, path, str(done))
        with Forked(*command, loaded=imports_of(COMPACTING)) as process:
            lines = [process.stdout.readline() for _ in range(3 + 5 * round_)]
            assert all(lines), process.stderr.read()
            process.kill()
            lines += process.stdout.readlines()
        last = done + len(lines) - 1
        async with ThreadRuntime(embedded(path)) as runtime:
            items: list[Any] = await ChatMemorySession("会话", runtime).get_items()
        contents = [item["content"] for item in items]
        known = [[f"{number} {part}" for part in "abc"] for number in (last, last + 1)]
        assert contents in known, "what was acknowledged last, or the one that was on its way"
        done = int(contents[0].split()[0])
        async with ThreadRuntime(embedded(path)) as runtime:
            await ChatMemorySession("会话", runtime).clear_session()
