"""What a user says in one conversation with an agent of pydantic-ai is before the model in the next."""

import pytest

pytest.importorskip("pydantic_ai.agent", reason="pydantic-ai is not installed: the extra pydantic-ai has it")

from pydantic_ai import Agent
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from chatmemory import ManagedRuntime, Namespace
from chatmemory.integrations.pydantic_ai import ChatMemoryHistory, LongTermMemories
from chatmemory_layers.stacks import MemoryTags
from tests.integrations.long_term import MEI, all_kept, remember, uses_of

Runtime = ManagedRuntime[MemoryTags]


class Model:
    """Answers, and keeps what it was shown."""

    def __init__(self, *, calls: int = 0) -> None:
        self.calls = calls
        self.shown: list[str] = []

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        parts = [part for message in messages for part in message.parts if hasattr(part, "content")]
        self.shown.append("\n".join(str(part.content) for part in parts))
        if len(self.shown) <= self.calls:
            return ModelResponse([ToolCallPart("look")])
        return ModelResponse([TextPart("好的")])

    def agent(self, runtime: Runtime, **options: bool) -> Agent[None, str]:
        memories = LongTermMemories(MEI, runtime, **options)
        return Agent(FunctionModel(self.answer), tools=[look], capabilities=[memories])


def look() -> str:
    return "nothing"


async def test_the_second_session_recalls_the_first(runtime: Runtime) -> None:
    model = Model()
    await model.agent(runtime).run("我喜欢喝龙井茶。", conversation_id="monday")
    assert "<recalled-data" not in model.shown[0], "what is said now is told as no memory"
    (kept,) = await all_kept(runtime)
    assert (kept.session_id, kept.source) == ("monday", "user_stated")
    await model.agent(runtime).run("我喜欢喝什么茶?", conversation_id="tuesday")
    assert "龙井茶" in model.shown[1]
    assert "<recalled-data" in model.shown[1]


async def test_all_requests_of_a_run_show_the_same_count_one_use_and_stand_in_no_history(
    runtime: Runtime,
) -> None:
    memory_id = await remember(runtime, "I live in Hangzhou.")
    model = Model(calls=2)
    result = await model.agent(runtime).run("Where do I live?")
    first, *others = model.shown
    block = first[: first.index("</recalled-data")]
    assert "Hangzhou" in block
    assert len(others) == 2
    assert all(shown.startswith(block) for shown in others)
    assert await uses_of(runtime, memory_id) == 1
    assert "Hangzhou" not in str(result.all_messages())


async def test_who_wants_to_save_nothing_saves_nothing(runtime: Runtime) -> None:
    await Model().agent(runtime, saves=False).run("I live in Hangzhou.")
    assert await all_kept(runtime) == []


async def test_a_user_who_is_none_is_refused_before_the_model_is_asked(runtime: Runtime) -> None:
    model = Model()
    agent = Agent(FunctionModel(model.answer), capabilities=[LongTermMemories(Namespace(""), runtime)])
    with pytest.raises(UserError, match="at least one character"):
        await agent.run("Where do I live?")
    assert model.shown == []


async def test_history_and_memories_go_together(runtime: Runtime) -> None:
    history = ChatMemoryHistory("lunch", runtime)
    agent = Model().agent(runtime)
    for said in ("I live in Hangzhou.", "Where do I live?"):
        result = await agent.run(said, message_history=await history.load())
        await history.append(result.new_messages())
    assert await history.load() == result.all_messages()
