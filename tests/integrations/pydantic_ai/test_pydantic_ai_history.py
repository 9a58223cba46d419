"""A history of pydantic-ai is a conversation, byte by byte, and what a user says in one is before the model in the next."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings, strategies

pytest.importorskip("pydantic_ai.agent", reason="pydantic-ai is not installed: the extra pydantic-ai has it")

from pydantic_ai import Agent, messages as m
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
from pydantic_ai.usage import RequestUsage

from chatmemory import (
    ChatMemoryService,
    ManagedRuntime,
    Namespace,
    NewMessage,
    StrategySettings,
    ThreadRuntime,
)
from chatmemory.integrations.pydantic_ai import ChatMemoryHistory, LongTermMemories
from chatmemory_layers import stacks
from chatmemory_layers.stacks import MemoryTags
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime as AnyRuntime
from tests.integrations.long_term import MEI, all_kept, remember, uses_of

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


def echo(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    return ModelResponse([TextPart(f"noted, {len(messages)} messages")])


async def said_in(
    runtime: Runtime, name: str, view: Literal["model", "full"] = "model"
) -> list[tuple[str, str]]:
    memory = await runtime.service(ChatMemoryService)
    return [(one.role, one.content) for one in await memory.get_messages(name, view=view).or_raise()]


async def test_a_run_goes_on_where_the_last_one_ended_and_a_person_can_read_who_said_what(
    runtime: Runtime,
) -> None:
    history = ChatMemoryHistory("lunch", runtime)
    first = await agent().run("Where do we meet?", message_history=await history.load())
    await history.append(first.new_messages())
    assert await said_in(runtime, "lunch") == [
        ("user", "Where do we meet?"),
        ("assistant", '等一下\nmeeting_place({"day":"周四"})'),
        ("tool", "周四: 老地方"),
        ("assistant", "在老地方见。"),
    ]
    second = await agent().run("什么时候?", message_history=await history.load())
    await history.append(second.new_messages())
    assert await history.load() == second.all_messages()


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
        await history.append([summary, *rest])
        assert await history.load() == [summary, *rest], "a summary is nobody's words"


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
        assert (await said_in(runtime, "plan", "full")).count(("system", "Answer in Chinese.")) == 1
    assert shown == [["Answer in Chinese."]] * 8


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
    with pytest.raises(UserError, match="at least one character"):
        await ChatMemoryHistory("", runtime).load()
    with pytest.raises(UserError, match="no JSON"):
        await ChatMemoryHistory("lunch", runtime).append([ModelResponse([TextPart("\ud800")])])
    with pytest.raises(TypeError, match="ThreadRuntime"):
        ChatMemoryHistory("lunch", runtime).load_sync()
    memory = await runtime.service(ChatMemoryService)
    strange = NewMessage("user", "?", "m1", metadata={"asGiven": {"pydanticAi": ['[{"kind":"later"}]']}})
    await memory.add_messages("lunch", [strange]).or_raise()
    with pytest.raises(UserError, match="'m1'"):
        await ChatMemoryHistory("lunch", runtime).load()


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


class TestHistory(AdapterEndurance):
    """All writers append runs to one history: a question, a call and an answer."""

    failure: ClassVar[type[Exception]] = AgentRunError
    failure_when_closed = UserError

    def adapter(self, runtime: AnyRuntime) -> ChatMemoryHistory:
        return ChatMemoryHistory("午饭", runtime)

    async def write(self, adapter: ChatMemoryHistory, name: str, number: int) -> None:
        await adapter.append(run_of(name, number))

    async def numbers(self, adapter: ChatMemoryHistory, name: str) -> list[int]:
        messages = await adapter.load()
        runs = [messages[start : start + 3] for start in range(0, len(messages), 3)]
        return [number for speaker, number in map(whole_run, runs) if speaker == name]


def run_of(name: str, number: int) -> list[ModelMessage]:
    said = f"{name} {number}"
    call, answer = ModelResponse([ToolCallPart("查", {"n": number})]), ModelResponse([TextPart(said)])
    return [ModelRequest.user_text_prompt(said), call, answer]


def whole_run(messages: list[ModelMessage]) -> tuple[str, int]:
    """Return who says which number in all three messages of a run."""
    (question,), (call,), (answer,) = (message.parts for message in messages)
    name, number = question.content.split()
    assert (call.args, answer.content) == ({"n": int(number)}, question.content), "no run is torn"
    return name, int(number)


written = m.ModelMessagesTypeAdapter.dump_json
conversations = map(str, count())
TEXTS = strategies.text(strategies.characters(codec="utf-8")) | strategies.sampled_from(
    ["在老地方见。", "\0", "\x1b]0;", "a\u2028b", "👩‍👩‍👧", "</recalled-data 0>", '"\\']
)


def test_every_part_that_there_is_is_tried() -> None:
    tried = [*contents("", b""), *request_parts("", b""), *response_parts("", b"")]
    assert known_parts() - DEPRECATED <= {type(part).__name__ for part in tried}


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, file=strategies.binary(max_size=50))
def test_every_part_comes_back_byte_by_byte(
    threads: ThreadRuntime[MemoryTags], text: str, file: bytes
) -> None:
    history = ChatMemoryHistory(next(conversations), threads)
    messages = every_message(text, file)
    as_given = written(messages)
    assert len(history.append_sync(messages).stored) == len(messages)
    loaded = history.load_sync()
    assert (loaded, written(loaded)) == (messages, as_given)


def test_a_file_comes_back_with_the_same_bytes_an_image_as_one_however_long_it_is(
    threads: ThreadRuntime[MemoryTags],
) -> None:
    """pydantic-ai narrows the type of an image: the one part which comes back as another class."""
    history = ChatMemoryHistory("files", threads)
    image = m.BinaryContent(b"\x89PNG", media_type="image/png")
    longer_than_a_text_may_be = m.BinaryContent(bytes(13 * 2**20), media_type="application/zip")
    given = [m.ModelRequest([m.UserPromptPart([file])]) for file in (image, longer_than_a_text_may_be)]
    history.append_sync(given)
    loaded = history.load_sync()
    assert written(loaded) == written(given)
    (content,) = loaded[0].parts[0].content
    assert (type(content), content.data) == (m.BinaryImage, b"\x89PNG")


DEPRECATED = {"RetryPromptPart"}
"""Loading makes another part of it, as pydantic-ai says."""


def known_parts() -> set[str]:
    """Return the names of what the two unions of parts and that of contents are made of."""
    unions = (m.ModelRequestPart, m.ModelResponsePart, m.UserContent)
    return {kind.__name__ for union in unions for kind in _classes(union)}


def contents(text: str, file: bytes) -> list[Any]:
    return [
        text,
        m.TextContent(text, metadata={"where": [text, 1.5, None]}),
        m.StructuredContent({"said": text}, tag="note"),
        m.ImageUrl("https://example.com/图.png", force_download=True, vendor_metadata={"detail": text}),
        m.AudioUrl("https://example.com/a.mp3"),
        m.DocumentUrl("https://example.com/a.pdf", media_type="application/pdf"),
        m.VideoUrl("https://example.com/a.mp4"),
        m.BinaryContent(file, media_type="application/pdf", identifier="第一"),
        m.UploadedFile("file-1", provider_name="openai", media_type="text/plain"),
        m.CachePoint(),
    ]


def request_parts(text: str, file: bytes) -> list[Any]:
    return [
        m.SystemPromptPart(text, dynamic_ref="ref"),
        m.UserPromptPart(text),
        m.UserPromptPart(contents(text, file)),
        m.SpeechPart(speaker="user", transcript=text, audio=m.BinaryContent(file, media_type="audio/wav")),
        m.ToolReturnPart("search", {"found": [text, None, 1, 2.5, True]}, "call-1", metadata={"kept": text}),
        m.ToolReturnPart("search", text, "call-2", outcome="retried"),
        m.ToolSearchReturnPart(content={"discovered_tools": [], "message": text}, tool_call_id="call-3"),
        m.LoadCapabilityReturnPart(content={"instructions": text}, tool_call_id="call-4"),
        m.RetryFeedbackPart(text, retry=m.RetryInfo("model_retry", attempt=1, max_retries=2)),
        m.ToolAvailabilityDeltaPart(tools_added=[text]),
        m.CapabilityLoadDeltaPart(loaded=[text], tool_call_id="call-5"),
        m.ModelSettingsDeltaPart(settings={"thinking": "high"}),
        m.InstructionDeltaPart(id=None, content=text),
        m.InstructionBaselinePart(instructions=[m.InstructionPart(text, dynamic=True)]),
        m.CompactionPart(text, metadata={"by": text}),
    ]


def response_parts(text: str, file: bytes) -> list[Any]:
    return [
        m.TextPart(text, id="msg-1", provider_name="openai", provider_details={"logprobs": [0.1, text]}),
        m.ThinkingPart(text, id="rs-1", signature="c2lnbmF0dXJl", provider_name="anthropic"),
        m.ToolCallPart("search", {"query": text, "deep": {"a": [1, None]}}, "call-1"),
        m.ToolCallPart("search", '{"query": "half', "call-2"),
        m.ToolSearchCallPart(args={"queries": [text]}, tool_call_id="call-3"),
        m.LoadCapabilityCallPart(args={"id": text}, tool_call_id="call-4"),
        m.NativeToolCallPart("web_search", {"query": text}, "call-5", provider_name="openai"),
        m.NativeToolReturnPart("web_search", [text], "call-5", provider_name="openai"),
        m.NativeToolSearchCallPart(args={"queries": [text]}, tool_call_id="call-6"),
        m.NativeToolSearchReturnPart(
            content={"discovered_tools": [], "message": text}, tool_call_id="call-6"
        ),
        m.CompactionPart(
            text, id="cmp-1", provider_name="openai", provider_details={"encrypted_content": text}
        ),
        m.FilePart(
            m.BinaryContent(file, media_type="application/octet-stream"), id="file-1", provider_name="google"
        ),
        m.SpeechPart(speaker="assistant", transcript=text, interrupted_at_ms=12),
    ]


def every_message(text: str, file: bytes) -> list[m.ModelMessage]:
    """Return one message for each part, and two with all that can stand beside parts."""
    beside: Any = {"run_id": "run-1", "metadata": {"app": [text]}, "conversation_id": text}
    answer: Any = {"model_name": "gpt", "provider_details": beside, "finish_reason": "length"}
    usage = RequestUsage(input_tokens=2**53, output_tokens=1, details={"reasoning_tokens": 3})
    return [
        *(m.ModelRequest([part]) for part in request_parts(text, file)),
        *(m.ModelResponse([part]) for part in response_parts(text, file)),
        m.ModelRequest([m.UserPromptPart(text)], instructions=text, state="interrupted", **beside),
        m.ModelResponse([m.TextPart(text)], usage=usage, **answer, **beside),
    ]


def _classes(union: Any) -> Iterator[type]:
    if isinstance(union, type) and not get_args(union):
        yield union
    elif get_origin(union) is not None and hasattr(get_origin(union), "__dataclass_fields__"):
        yield get_origin(union)
    else:
        for member in get_args(union):
            if isinstance(member, type) or get_args(member):
                yield from _classes(member)
