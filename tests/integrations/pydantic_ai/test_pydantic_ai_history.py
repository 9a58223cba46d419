"""A history of pydantic-ai is a conversation: what a run adds is appended, what a model should see is loaded."""

from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai.agent", reason="pydantic-ai is not installed: the extra pydantic-ai has it")

from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    CompactionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from chatmemory import (
    ChatMemoryService,
    DataValidationError,
    ManagedRuntime,
    NewMessage,
    StrategySettings,
    ThreadRuntime,
)
from chatmemory.integrations.pydantic_ai import ChatMemoryHistory
from chatmemory_layers import stacks
from chatmemory_layers.stacks import MemoryTags

Runtime = ManagedRuntime[MemoryTags]


def looks_up(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Call the tool first, answer then."""
    if any(part.part_kind == "tool-return" for part in messages[-1].parts):
        return ModelResponse([TextPart("在老地方见。")])
    return ModelResponse([TextPart("等一下"), ToolCallPart("meeting_place", {"day": "周四"})])


def meeting_place(day: str) -> str:
    return f"{day}: 老地方"


def agent() -> Agent[None, str]:
    return Agent(FunctionModel(looks_up), tools=[meeting_place])


async def test_a_run_goes_on_where_the_last_one_ended(runtime: Runtime) -> None:
    history = ChatMemoryHistory("lunch", runtime)
    first = await agent().run("Where do we meet?", message_history=await history.load())
    await history.append(first.new_messages())
    second = await agent().run("什么时候?", message_history=await history.load())
    await history.append(second.new_messages())
    assert await history.load() == second.all_messages()


async def test_a_person_can_read_who_said_what(runtime: Runtime) -> None:
    history = ChatMemoryHistory("lunch", runtime)
    await history.append((await agent().run("Where do we meet?")).new_messages())
    memory = await runtime.service(ChatMemoryService)
    said = await memory.get_messages("lunch").or_raise()
    assert [(message.role, message.content) for message in said] == [
        ("user", "Where do we meet?"),
        ("assistant", '等一下\nmeeting_place({"day":"周四"})'),
        ("tool", "周四: 老地方"),
        ("assistant", "在老地方见。"),
    ]


async def test_a_run_that_is_appended_twice_is_stored_once_but_the_same_twice_in_one_run_is_two(
    runtime: Runtime,
) -> None:
    history = ChatMemoryHistory("lunch", runtime)
    added = (await agent().run("Where do we meet?")).new_messages()
    assert len((await history.append(added)).stored) == 4
    assert (await history.append(added)).stored == ()
    assert await history.load() == added
    said = ModelRequest([SystemPromptPart("Be kind.", timestamp=ModelResponse([]).timestamp)])
    other = ChatMemoryHistory("dinner", runtime)
    await other.append([said, said])
    assert await other.load() == [said, said]


async def test_a_summary_stands_in_the_place_of_what_it_covers() -> None:
    strategy = StrategySettings(type="summarize", summarize_every_n=4, keep_last=2)
    async with ManagedRuntime(stacks.testing(strategy=strategy)) as runtime:
        history = ChatMemoryHistory("plan", runtime)
        for hour in (9, 10, 11):
            result = await Agent(FunctionModel(echo)).run(
                f"At {hour}:00 we meet in room {hour}.", message_history=await history.load()
            )
            await history.append(result.new_messages())
        summary, *rest = await history.load()
        (part,) = summary.parts
        assert isinstance(part, CompactionPart)
        assert "room 9" in str(part.content)
        assert rest == result.new_messages()
        # Whoever appends all that the model has seen does not store the summary as somebody's words.
        await history.append([summary, *rest])
        assert await history.load() == [summary, *rest]


@pytest.mark.parametrize("deletes", [False, True])
async def test_a_system_prompt_is_there_in_every_run_however_much_is_summarized(
    tmp_path: Path, *, deletes: bool
) -> None:
    strategy = StrategySettings(
        type="summarize", summarize_every_n=4, keep_last=2, delete_summarized_messages=deletes
    )
    shown: list[list[str]] = []

    def note(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        parts = [part for message in messages for part in message.parts]
        shown.append([str(part.content) for part in parts if isinstance(part, SystemPromptPart)])
        return ModelResponse([TextPart(f"noted, {len(messages)} messages")])

    async with ManagedRuntime(stacks.embedded(tmp_path / "a.db", strategy=strategy)) as runtime:
        history = ChatMemoryHistory("plan", runtime)
        talker = Agent(FunctionModel(note), system_prompt="Answer in Chinese.")
        for hour in range(8):
            result = await talker.run(f"At {hour}:00 we meet.", message_history=await history.load())
            await history.append(result.all_messages())
            await history.append(result.new_messages())
        loaded = await history.load()
        first, summary, *rest = loaded
        assert [type(part) for part in (*first.parts, *summary.parts)] == [SystemPromptPart, CompactionPart]
        assert len(rest) < 8
        memory = await runtime.service(ChatMemoryService)
        full = await memory.get_messages("plan", view="full").or_raise()
        assert [message.content for message in full].count("Answer in Chinese.") == 1
    assert shown == [["Answer in Chinese."]] * 8


def echo(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    return ModelResponse([TextPart(f"noted, {len(messages)} messages")])


async def test_what_came_another_way_is_part_of_the_history(runtime: Runtime) -> None:
    memory = await runtime.service(ChatMemoryService)
    said = [NewMessage("system", "Be brief."), NewMessage("user", "你好"), NewMessage("assistant", "hello")]
    await memory.add_messages("lunch", said).or_raise()
    history = ChatMemoryHistory("lunch", runtime)
    loaded = await history.load()
    parts = [part for message in loaded for part in message.parts]
    assert [(type(part), part.content) for part in parts] == [
        (SystemPromptPart, "Be brief."),
        (UserPromptPart, "你好"),
        (TextPart, "hello"),
    ]
    assert (await history.append(loaded)).stored == ()


async def test_what_is_refused_says_why(runtime: Runtime) -> None:
    with pytest.raises(UserError, match="at least one character") as refused:
        await ChatMemoryHistory("", runtime).load()
    assert isinstance(refused.value.__cause__.error, DataValidationError)
    with pytest.raises(UserError, match="no JSON"):
        await ChatMemoryHistory("lunch", runtime).append([ModelResponse([TextPart("\ud800")])])
    with pytest.raises(TypeError, match="ThreadRuntime"):
        ChatMemoryHistory("lunch", runtime).load_sync()
    memory = await runtime.service(ChatMemoryService)
    strange = NewMessage("user", "?", "m1", metadata={"asGiven": {"pydanticAi": ['[{"kind":"later"}]']}})
    await memory.add_messages("lunch", [strange]).or_raise()
    with pytest.raises(UserError, match="'m1'"):
        await ChatMemoryHistory("lunch", runtime).load()


def test_a_store_that_cannot_be_opened_or_is_closed_says_so(tmp_path: Path) -> None:
    runtime = ThreadRuntime(stacks.embedded(tmp_path / "nowhere" / "agent.db"))
    history = ChatMemoryHistory("lunch", runtime)
    with pytest.raises(AgentRunError, match="nowhere"):
        history.load_sync()
    runtime.close()
    with pytest.raises(UserError, match="closed"):
        history.load_sync()


async def test_a_history_that_is_cleared_is_empty_and_begins_anew(runtime: Runtime) -> None:
    history, other = ChatMemoryHistory("lunch", runtime), ChatMemoryHistory("dinner", runtime)
    messages = (await Agent(FunctionModel(echo), system_prompt=["A", "B"]).run("Hi")).new_messages()
    for each in (history, history, other):
        await each.append(messages)
    assert await history.load() == messages, "a request with system prompts comes back equal and once"
    assert await history.clear() == 3, "the system prompts are a message of their own"
    assert await history.clear() == 0
    assert await history.load() == []
    await history.append(messages)
    assert await history.load() == await other.load() == messages
