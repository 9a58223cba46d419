"""A session of Agent Framework is a conversation: what a run says is stored once, comes back equal, and can be read by others."""

import json
from collections.abc import AsyncGenerator
from itertools import count
from typing import Any, ClassVar, get_args

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies

pytest.importorskip("agent_framework.exceptions", reason="pip install 'chatmemory-effect[agent-framework]'")

from agent_framework import (
    Agent,
    AgentLoopMiddleware,
    AgentSession,
    Content,
    ContextProvider,
    InMemoryHistoryProvider,
    Message,
    SessionContext,
    tool,
)
from agent_framework._types import ContentType
from agent_framework.exceptions import (
    IntegrationException,
    IntegrationInvalidRequestException,
    IntegrationInvalidResponseException,
)

from chatmemory import ChatMemoryService, ManagedRuntime, NewMessage, StrategySettings
from chatmemory.integrations.agent_framework import ChatMemoryHistoryProvider
from chatmemory_layers import stacks
from chatmemory_layers.stacks import MemoryTags
from tests.for_each import for_each
from tests.integrations.adapter_endurance import AdapterEndurance
from tests.integrations.agent_framework.scripted_client import ScriptedClient

Runtime = ManagedRuntime[MemoryTags]
ROLES = ["user", "assistant", "tool", "assistant", "user", "assistant"]
CALL = Content.from_function_call("c1", "weather", arguments='{"city": "杭州"}')


def weather(city: str) -> str:
    return f"{city}: 晴"


def says(text: str, role: str = "user") -> Message:
    return Message(role, [text])


def session(session_id: str = "lunch") -> AgentSession:
    return AgentSession(session_id=session_id)


async def texts(history: ChatMemoryHistoryProvider, session_id: str | None = "lunch") -> list[str]:
    return [message.text for message in await history.get_messages(session_id)]


def written(messages: list[Message]) -> list[dict[str, Any]]:
    """Return what is said in them; the framework marks what it has loaded."""
    return [{**message.to_dict(), "additional_properties": {}} for message in messages]


class Rag(ContextProvider):
    async def before_run(self, *, context: SessionContext, **_: Any) -> None:
        context.extend_messages(self, [says(f"{self.source_id} says", "system")])


@for_each("how", ["at once", "stream", "each call"])
async def test_a_run_goes_on_where_the_last_one_ended(runtime: Runtime, how: str) -> None:
    client = ScriptedClient([Content.from_text("等一下"), CALL], "杭州是晴天。")
    history = ChatMemoryHistoryProvider(runtime)
    options: Any = {"require_per_service_call_history_persistence": how == "each call"}
    agent = Agent(client, tools=[weather], context_providers=[history], **options)
    for said in ("天气怎么样？", "谢谢"):
        if how == "stream":
            await agent.run(said, session=session(how), stream=True).get_final_response()
        else:
            await agent.run(said, session=session(how))
    stored = await history.get_messages(how)
    assert [message.role for message in stored] == ROLES
    assert stored[2].contents[0].result == "杭州: 晴"
    assert written(client.shown[-1]) == written(stored[:-1])


async def test_a_session_may_have_any_name_or_none_and_keeps_to_itself(runtime: Runtime) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    names = [None, "../unsafe/session", "CON", "会话 1", "x" * 512, "two words"]
    for name in names:
        await history.save_messages(name, [says(f"{name}")])
    assert [await texts(history, name) for name in names] == [[f"{name}"] for name in names]
    await history.save_messages("nothing", [])
    assert not await (await runtime.service(ChatMemoryService)).exists("nothing").or_raise()
    for wrong, why in (("", "at least one character"), ("x" * 600, "600 characters are more than 512")):
        with pytest.raises(IntegrationInvalidRequestException, match=why):
            await history.get_messages(wrong)


@for_each(
    ("flags", "stored"),
    [
        ({}, ["问", "答"]),
        ({"load_messages": False}, ["问", "答"]),
        ({"store_inputs": False}, ["答"]),
        ({"store_outputs": False}, ["问"]),
        ({"store_context_messages": True}, ["rag says", "other says", "问", "答"]),
        ({"store_context_messages": True, "store_context_from": {"rag"}}, ["rag says", "问", "答"]),
        ({"store_context_from": {"rag"}}, ["问", "答"]),
    ],
)
async def test_the_flags_say_what_is_stored(
    runtime: Runtime, flags: dict[str, Any], stored: list[str]
) -> None:
    history, name = ChatMemoryHistoryProvider(runtime, "mine", **flags), str(flags)
    client = ScriptedClient("答")
    agent = Agent(client, context_providers=[history, Rag("rag"), Rag("other")])
    await agent.run("问", session=session(name))
    assert await texts(history, name) == stored
    await agent.run("又问", session=session(name))
    loaded = stored if history.load_messages else []
    assert client.texts()[-1] == [*loaded, "rag says", "other says", "又问"]


async def test_an_audit_beside_the_history_has_its_own_conversation(runtime: Runtime) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    flags: Any = {"load_messages": False, "store_context_messages": True}
    audit = ChatMemoryHistoryProvider(runtime, "audit", prefix="audit/", **flags)
    agent = Agent(ScriptedClient("答"), context_providers=[history, Rag("rag"), audit])
    for said in ("问", "再问"):
        await agent.run(said, session=session())
    assert await texts(history) == ["问", "答", "再问", "答"]
    assert await texts(audit) == ["rag says", "问", "答", "rag says", "再问", "答"], "no history twice"
    for name in ("周一", "周二"):
        await audit.save_messages(name, [says("你好"), says("再见", "assistant")])
    first, after = await audit.list_sessions(limit=2)
    rest, end = await audit.list_sessions(limit=2, after=after)
    assert (sorted([*first, *rest]), end) == (["lunch", "周一", "周二"], None)
    assert [await audit.delete_session("周一") for _ in range(2)] == [2, 0]
    assert await audit.get_messages("周一") == []
    assert sorted((await audit.list_sessions())[0]) == ["lunch", "周二"]
    assert await (await runtime.service(ChatMemoryService)).exists("audit/lunch").or_raise()
    assert await audit.delete_session("lunch") == 6
    assert await texts(history) == ["问", "答", "再问", "答"]


async def test_excluded_messages_are_stored_and_left_out_when_asked(runtime: Runtime) -> None:
    messages = [says("一"), Message("assistant", ["二"], additional_properties={"_excluded": True})]
    await ChatMemoryHistoryProvider(runtime).save_messages("lunch", messages)
    assert await texts(ChatMemoryHistoryProvider(runtime)) == ["一", "二"]
    memory = await runtime.service(ChatMemoryService)
    tokens = (await memory.get_conversation("lunch").or_raise()).view_tokens
    assert tokens < 20, "a strategy counts what a model reads, and not how it is written"
    assert await texts(ChatMemoryHistoryProvider(runtime, skip_excluded=True)) == ["一"]


async def test_a_tool_that_asks_is_approved_in_a_later_run(runtime: Runtime) -> None:
    asking = tool(weather, approval_mode="always_require")
    history = ChatMemoryHistoryProvider(runtime)
    agent = Agent(ScriptedClient([CALL], "晴天"), tools=[asking], context_providers=[history])
    (request,) = (await agent.run("天气？", session=session())).user_input_requests
    answer = Message("user", [request.to_function_approval_response(approved=True)])
    assert (await agent.run(answer, session=session())).text == "晴天"
    memory = await runtime.service(ChatMemoryService)
    said = [(one.role, one.content) for one in await memory.get_messages("lunch").or_raise()]
    call = 'weather({"city": "杭州"})'
    assert said[:2] == [("user", "天气？"), ("assistant", f"{call}\n{call}?")]
    assert ("tool", f"approved: {call}") in said
    assert said[-1] == ("assistant", "晴天")


@pytest.mark.filterwarnings("ignore:.*HARNESS.*")  # experimental, as the framework says
async def test_a_loop_stores_each_of_its_rounds_once(runtime: Runtime) -> None:
    history, theirs, state = ChatMemoryHistoryProvider(runtime), InMemoryHistoryProvider(), session()
    for provider, one in ((history, session()), (theirs, state)):
        loop = AgentLoopMiddleware(lambda **_: True, max_iterations=3)
        agent = Agent(ScriptedClient("一", "二", "三"), context_providers=[provider], middleware=[loop])
        await agent.run("问", session=one)
    stored = await history.get_messages("lunch")
    assert [one.text for one in stored if one.role == "assistant"] == ["一", "二", "三"]
    assert written(stored) == written(state.state[theirs.source_id]["messages"])


async def test_what_came_another_way_is_part_of_the_history(runtime: Runtime) -> None:
    memory = await runtime.service(ChatMemoryService)
    roles: list[Any] = ["system", "user", "assistant", "tool"]
    await memory.add_messages("lunch", [NewMessage(role, f"{role} 说") for role in roles]).or_raise()
    loaded = await ChatMemoryHistoryProvider(runtime).get_messages("lunch")
    assert [one.text for one in loaded] == [f"{role} 说" for role in roles]
    assert [one.role for one in loaded] == ["system", "user", "assistant", "assistant"]
    history = ChatMemoryHistoryProvider(runtime)
    await history.save_messages("lunch", [*loaded, says("又")])
    assert len(await texts(history)) == 5, "what is handed in again is stored once"


def talk(*words: str) -> list[Message]:
    """Return what two say in turn, the user first."""
    return [says(text, "assistant" if index % 2 else "user") for index, text in enumerate(words)]


sessions = map(str, count())
SAID = strategies.builds(
    Message,
    strategies.sampled_from(["user", "assistant"]),
    strategies.sampled_from([["好"], ["不"]]),
    message_id=strategies.none() | strategies.sampled_from(["m1", "m2"]),
)


@pytest.fixture
async def plain() -> AsyncGenerator[Runtime]:
    async with ManagedRuntime(stacks.testing()) as runtime:
        yield runtime


@pytest.fixture
async def summarizing() -> AsyncGenerator[Runtime]:
    """Summarize as soon as four messages have gathered, and keep the last two."""
    strategy = StrategySettings(type="summarize", summarize_every_n=4, keep_last=2)
    async with ManagedRuntime(stacks.testing(strategy=strategy)) as runtime:
        yield runtime


async def all_said(runtime: Runtime, session_id: str) -> list[tuple[str, str]]:
    """Return who has said what, the summaries aside."""
    memory = await runtime.service(ChatMemoryService)
    if not await memory.exists(session_id).or_raise():
        return []
    full = await memory.get_messages(session_id, view="full").or_raise()
    return [(one.role, one.content) for one in full if one.role != "summary"]


@pytest.mark.parametrize("strategy", ["none", "summarize"])
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(saves=strategies.lists(strategies.lists(SAID, max_size=4), max_size=5))
@example([talk("好"), talk("好", "不")])
@example([talk("好"), [*talk("好"), *talk("好")]])
@example([talk("好", "好", "好"), talk("好", "好", "好", "好", "好")])
async def test_what_is_handed_in_again_is_what_the_framework_says(
    summarizing: Runtime, plain: Runtime, strategy: str, saves: list[list[Message]]
) -> None:
    runtime = summarizing if strategy == "summarize" else plain
    ours = ChatMemoryHistoryProvider(runtime)
    theirs, session_id, state = InMemoryHistoryProvider(), next(sessions), dict[str, list[Message]]()
    for messages in saves:
        await ours.save_messages(session_id, messages)
        await theirs.save_messages(session_id, messages, state=state)
    assert await all_said(runtime, session_id) == [(one.role, one.text) for one in state.get("messages", [])]


async def test_a_turn_that_says_what_the_last_one_said_is_a_turn(runtime: Runtime) -> None:
    """The framework's own providers lose the second."""
    history = ChatMemoryHistoryProvider(runtime)
    agent = Agent(ScriptedClient("好的"), context_providers=[history])
    one = session()
    for _ in range(3):
        await agent.run("继续", session=one)
        one = AgentSession.from_dict(json.loads(json.dumps(one.to_dict())))
    assert await texts(history) == ["继续", "好的"] * 3


async def test_a_summary_stands_in_the_place_of_what_it_covers(summarizing: Runtime) -> None:
    history = ChatMemoryHistoryProvider(summarizing)
    client = ScriptedClient("noted")
    agent = Agent(client, context_providers=[history])
    for hour in (9, 10, 11):
        await agent.run(f"At {hour}:00 we meet in room {hour}.", session=AgentSession(session_id="plan"))
    summary, *rest = await history.get_messages("plan")
    assert (summary.role, [one.text for one in rest]) == ("user", ["At 11:00 we meet in room 11.", "noted"])
    assert "sums up earlier messages" in summary.text
    assert "room 9" in summary.text
    assert (await history.get_messages("plan"))[0].text == summary.text, "the same each time, for caches"
    await agent.run("Where?", session=AgentSession(session_id="plan"))
    assert client.texts()[-1] == [summary.text, *(one.text for one in rest), "Where?"]


async def test_a_summary_that_is_handed_in_again_is_nobodys_words_and_hides_no_repetition(
    summarizing: Runtime,
) -> None:
    history = ChatMemoryHistoryProvider(summarizing)
    await history.save_messages("plan", talk("一", "二", "三", "四"))
    seen = await history.get_messages("plan")
    assert len(seen) == 3
    await history.save_messages("plan", [*seen, *talk("五")])
    assert [text for _, text in await all_said(summarizing, "plan")] == ["一", "二", "三", "四", "五"]
    said = talk(*map(str, range(30)))
    for end in range(2, 30, 3):
        await history.save_messages("long", said[:end])
    assert [text for _, text in await all_said(summarizing, "long")] == [str(number) for number in range(29)]


class TestHistoryEndurance(AdapterEndurance):
    """All writers save turns of one session: a question, a call, its result and an answer."""

    adapter = staticmethod(ChatMemoryHistoryProvider)
    failure: ClassVar[type[Exception]] = IntegrationException

    async def write(self, adapter: ChatMemoryHistoryProvider, name: str, number: int) -> None:
        said = f"{name} {number}"
        call = Content.from_function_call("c1", "查", arguments={"n": number})
        result = Content.from_function_result("c1", result=said)
        turn = [Message("user", [said]), Message("assistant", [call]), Message("tool", [result])]
        await adapter.save_messages("会话", [*turn, Message("assistant", [said])])

    async def numbers(self, adapter: ChatMemoryHistoryProvider, name: str) -> list[int]:
        messages = await adapter.get_messages("会话")
        turns = [messages[start : start + 4] for start in range(0, len(messages), 4)]
        return [number for speaker, number in map(whole_turn, turns) if speaker == name]


def whole_turn(messages: list[Message]) -> tuple[str, int]:
    """Return who says which number in all four messages of a turn."""
    question, call, result, answer = messages
    name, number = question.text.split()
    assert call.contents[0].arguments == {"n": int(number)}, "no turn is torn"
    assert result.contents[0].result == answer.text == question.text, "no turn is torn"
    return name, int(number)


pytestmark = pytest.mark.filterwarnings("ignore:.*COMPUTER_USE.*")  # experimental, as the framework says

SEARCH = 'search({"query": "龙井", "deep": [1, null, {"a": 2.5}]})'
READABLE = {
    "assistant": [
        *(SEARCH, 'search({"query": "half)', 'find({"query": "龙井"})', 'web({"query": "龙井"})'),
        *("龙井", "ls\n龙井", "[image_generation_tool_call]", "[computer_tool_call]"),
        *("龙井", '{"found": "龙井"}', "龙井", "龙井\n!", "[image/png]"),
        *("龙井", "[text_reasoning]", "[application/pdf]", "[audio/mpeg]", "龙井", "[usage]", "[龙井]"),
        *("[hosted_vector_store]", "龙井", f"{SEARCH}?", "[oauth_consent_request]", ""),
    ],
    "tool": [
        '{"found": ["龙井", 1]}',
        "龙井\n[image/png]",
        "龙井",
        "[computer_tool_result]",
        f"approved: {SEARCH}",
    ],
    "system": ["龙井\n龙井"],
}

TEXTS = strategies.text() | strategies.sampled_from(
    ["在老地方见。", "\0", "half an emoji \ud83d", "\x1b]0;", "a\u2028b", "</recalled-data 0>", '"\\']
)


def as_dicts(messages: list[Message]) -> list[dict[str, Any]]:
    return [message.to_dict() for message in messages]


async def in_columns(runtime: Runtime, session_id: str) -> list[tuple[str, str]]:
    memory = await runtime.service(ChatMemoryService)
    return [(one.role, one.content) for one in await memory.get_messages(session_id).or_raise()]


def test_every_kind_of_content_is_tried() -> None:
    tried = [*calls(""), *results("", b""), *others("", b"")]
    assert {content.type for content in tried} == set(get_args(ContentType))


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, file=strategies.binary(max_size=50))
async def test_every_message_comes_back_equal(runtime: Runtime, text: str, file: bytes) -> None:
    history, session_id = ChatMemoryHistoryProvider(runtime), next(sessions)
    messages = every_message(text, file)
    await history.save_messages(session_id, messages)
    loaded = await history.get_messages(session_id)
    assert as_dicts(loaded) == as_dicts(messages)


async def test_numbers_that_no_json_has_come_back(runtime: Runtime) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    odd = {"nan": float("nan"), "all": float("-inf"), "big": 10**400, "true": True, "deep": [[[[{}]]]] * 2}
    await history.save_messages("a", [Message("user", ["x"], additional_properties=odd)])
    (loaded,) = await history.get_messages("a")
    assert str(loaded.additional_properties) == str(odd)


async def test_a_file_that_is_longer_than_a_text_may_be_comes_back(runtime: Runtime) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    sent = Message("user", [Content.from_data(bytes(13 * 2**20), "application/zip")])
    await history.save_messages("a", [sent])
    assert as_dicts(await history.get_messages("a")) == as_dicts([sent])
    assert await in_columns(runtime, "a") == [("user", "[application/zip]")]


async def test_a_message_can_be_read_by_others(runtime: Runtime) -> None:
    messages = [one for one in every_message("龙井", b"%PDF") if len(one.contents) < 3]
    await ChatMemoryHistoryProvider(runtime).save_messages("a", messages)
    read: dict[str, list[str]] = {}
    for role, content in await in_columns(runtime, "a"):
        read.setdefault(role, []).append(content)
    assert read == READABLE


async def test_what_no_column_could_hold_is_replaced_there_and_nowhere_else(runtime: Runtime) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    await history.save_messages("a", [Message("user", ["NUL \0 and half an emoji \ud83d"])])
    assert await in_columns(runtime, "a") == [("user", "NUL \ufffd and half an emoji \ufffd")]
    assert [one.text for one in await history.get_messages("a")] == ["NUL \0 and half an emoji \ud83d"]


async def test_a_batch_with_a_message_that_is_no_json_is_refused_whole(runtime: Runtime) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    circle: dict[str, Any] = {}
    circle["again"] = circle
    for odd in (circle, {(1, 2): 3}):
        odd_one = Message("user", ["x"], additional_properties={"odd": odd})
        with pytest.raises(IntegrationInvalidRequestException, match="no JSON cannot be stored"):
            await history.save_messages("a", [Message("user", ["一"]), odd_one])
    assert await history.get_messages("a") == []


async def test_a_message_of_another_version_is_named(runtime: Runtime) -> None:
    memory = await runtime.service(ChatMemoryService)
    for number, kept in enumerate(("{", "[]", "{}", '{"role": "user", "contents": [3]}', 5)):
        strange = NewMessage("user", "?", "m1", metadata={"asGiven": {"agentFramework": kept}})
        await memory.add_messages(f"{number}", [strange]).or_raise()
        with pytest.raises(IntegrationInvalidResponseException, match="'m1' is none of Agent Framework 1"):
            await ChatMemoryHistoryProvider(runtime).get_messages(f"{number}")


def calls(text: str) -> list[Content]:
    return [
        Content.from_function_call(
            "c1", "search", arguments={"query": text, "deep": [1, None, {"a": 2.5}]}, id="o1"
        ),
        Content.from_function_call("c2", "search", arguments='{"query": "half'),
        Content.from_mcp_server_tool_call("c3", "find", server_name="docs", arguments={"query": text}),
        Content.from_search_tool_call("c4", tool_name="web", arguments={"query": text}),
        Content.from_code_interpreter_tool_call(call_id="c5", inputs=[Content.from_text(text)]),
        Content.from_shell_tool_call(call_id="c6", commands=["ls", text]),
        Content.from_image_generation_tool_call(image_id="i1"),
        Content.from_computer_tool_call(id="o7", call_id="c7", actions=[{"type": "click", "x": 1}]),
    ]


def results(text: str, file: bytes) -> list[Content]:
    return [
        Content.from_function_result("c1", result={"found": [text, 1]}, id="o1"),
        Content.from_function_result(
            "c2", result=[Content.from_text(text), Content.from_data(file, "image/png")]
        ),
        Content.from_function_result("c2", exception="failed", result=text),
        Content.from_mcp_server_tool_result("c3", output=[Content.from_text(text)]),
        Content.from_search_tool_result("c4", tool_name="web", result={"found": text}),
        Content.from_code_interpreter_tool_result(call_id="c5", outputs=[Content.from_text(text)]),
        Content.from_shell_tool_result(
            call_id="c6", outputs=[Content.from_shell_command_output(stdout=text, stderr="!", exit_code=1)]
        ),
        Content.from_image_generation_tool_result(
            image_id="i1", outputs=Content.from_data(file, "image/png")
        ),
        Content.from_computer_tool_result(
            call_id="c7", screenshot=Content.from_uri("https://e.cn/图.png", media_type="image/png")
        ),
    ]


def others(text: str, file: bytes) -> list[Content]:
    request = Content.from_function_approval_request("o1", calls(text)[0])
    return [
        Content.from_text(text, additional_properties={"注": text}),
        Content.from_text_reasoning(id="r1", text=text, protected_data="c2lnbmVk"),
        Content.from_data(file, "application/pdf"),
        Content.from_uri("https://example.com/a.mp3", media_type="audio/mpeg"),
        Content.from_error(message=text, error_code="e1", error_details=text),
        Content.from_usage({"input_token_count": 3, "total_token_count": 5}),
        Content.from_hosted_file("f1", name=text),
        Content.from_hosted_vector_store("v1"),
        Content.from_shell_command_output(stdout=text),
        request,
        request.to_function_approval_response(approved=True),
        Content.from_oauth_consent_request("https://example.com/consent"),
    ]


def every_message(text: str, file: bytes) -> list[Message]:
    """Return a message for each kind, and some with all that a message can bear."""
    contents = [*calls(text), *results(text, file), *others(text, file)]
    beside = {"a": [{"b": text}], "_c": 1.5}
    return [
        *(Message("assistant", [content]) for content in contents),
        Message("user", contents, author_name=text, message_id="m1", additional_properties=beside),
        Message("developer", [text, text]),
        Message("评论", []),
    ]
