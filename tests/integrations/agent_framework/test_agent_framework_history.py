"""A session of Agent Framework is a conversation: what a run says is appended, what a model should see is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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
from agent_framework.exceptions import IntegrationException, IntegrationInvalidRequestException
from scripted_client import ScriptedClient

from chatmemory import ChatMemoryService, DataValidationError, ManagedRuntime, NewMessage, ThreadRuntime
from chatmemory.integrations.agent_framework import ChatMemoryHistoryProvider
from chatmemory_layers import stacks
from chatmemory_layers.stacks import MemoryTags
from tests.for_each import for_each

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


@pytest.mark.parametrize("stream", [False, True])
async def test_a_run_goes_on_where_the_last_one_ended(runtime: Runtime, stream: bool) -> None:
    client = ScriptedClient([Content.from_text("等一下"), CALL], "杭州是晴天。")
    agent = Agent(client, tools=[weather], context_providers=[ChatMemoryHistoryProvider(runtime)])
    for said in ("天气怎么样？", "谢谢"):
        if stream:
            await agent.run(said, session=session(), stream=True).get_final_response()
        else:
            await agent.run(said, session=session())
    stored = await ChatMemoryHistoryProvider(runtime).get_messages("lunch")
    assert [message.role for message in stored] == ROLES
    assert stored[2].contents[0].result == "杭州: 晴"
    assert written(client.shown[-1]) == written(stored[:-1])


async def test_saving_nothing_makes_no_conversation(runtime: Runtime) -> None:
    await ChatMemoryHistoryProvider(runtime).save_messages("lunch", [])
    memory = await runtime.service(ChatMemoryService)
    assert not await memory.exists("lunch").or_raise()


@for_each("name", ["../unsafe/session", "CON", "会话 1", "x" * 512, "two words"])
async def test_a_session_may_have_any_name_and_keeps_to_itself(runtime: Runtime, name: str) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    await history.save_messages(name, [says("一")])
    await history.save_messages("other", [says("二")])
    assert await texts(history, name) == ["一"]


async def test_who_names_no_session_has_one_all_the_same(runtime: Runtime) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    await history.save_messages(None, [says("一")])
    await history.save_messages("other", [says("二")])
    assert await texts(history, None) == ["一"]
    with pytest.raises(IntegrationInvalidRequestException, match="at least one character"):
        await history.get_messages("")


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
    audit = ChatMemoryHistoryProvider(
        runtime, "audit", prefix="audit/", load_messages=False, store_context_messages=True
    )
    agent = Agent(ScriptedClient("答"), context_providers=[history, Rag("rag"), audit])
    await agent.run("问", session=session())
    await agent.run("再问", session=session())
    assert await texts(history) == ["问", "答", "再问", "答"]
    assert await texts(audit) == ["rag says", "问", "答", "rag says", "再问", "答"], "no history twice"
    memory = await runtime.service(ChatMemoryService)
    known = await memory.list_conversations().or_raise()
    assert [one.conversation_id for one in known.conversations] == ["audit/lunch", "lunch"]


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


async def test_history_that_is_stored_after_each_call_is_the_same(runtime: Runtime) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    agent = Agent(
        ScriptedClient([CALL], "晴天"),
        tools=[weather],
        context_providers=[history],
        require_per_service_call_history_persistence=True,
    )
    await agent.run("天气？", session=session())
    await agent.run("谢谢", session=session())
    roles = [message.role for message in await history.get_messages("lunch")]
    assert roles == ROLES


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


async def test_a_session_that_was_written_down_goes_on(runtime: Runtime) -> None:
    agent = Agent(ScriptedClient("答"), context_providers=[ChatMemoryHistoryProvider(runtime)])
    first = agent.create_session()
    await agent.run("问", session=first)
    second = AgentSession.from_dict(json.loads(json.dumps(first.to_dict())))
    await agent.run("再问", session=second)
    assert await texts(ChatMemoryHistoryProvider(runtime), first.session_id) == ["问", "答", "再问", "答"]


async def test_failures_are_exceptions_of_the_framework_in_our_words(tmp_path: Path) -> None:
    nowhere = ThreadRuntime(stacks.embedded(tmp_path / "no folder" / "a.db"))
    with pytest.raises(IntegrationException, match="open the store"):
        await ChatMemoryHistoryProvider(nowhere).get_messages("lunch")
    async with ThreadRuntime(stacks.testing()) as runtime:
        history = ChatMemoryHistoryProvider(runtime)
        with pytest.raises(
            IntegrationInvalidRequestException, match="600 characters are more than 512"
        ) as refused:
            await history.save_messages("x" * 600, [says("一")])
        assert isinstance(refused.value.__cause__.error, DataValidationError)
    with pytest.raises(IntegrationException, match="the runtime of this memory is closed"):
        await history.get_messages("lunch")


async def test_sessions_are_listed_and_deleted(runtime: Runtime) -> None:
    provider, audit = ChatMemoryHistoryProvider(runtime), ChatMemoryHistoryProvider(runtime, prefix="audit/")
    for session_id in ("周一", "周二", "周三"):
        await audit.save_messages(session_id, [says("你好"), says("再见", "assistant")])
    await provider.save_messages("other", [says("x")])
    first, after = await audit.list_sessions(limit=2)
    rest, end = await audit.list_sessions(limit=2, after=after)
    assert (sorted([*first, *rest]), end) == (["周一", "周三", "周二"], None)
    assert await audit.delete_session("周一") == 2
    assert await audit.delete_session("周一") == 0
    assert await audit.get_messages("周一") == []
    assert sorted((await audit.list_sessions())[0]) == ["周三", "周二"]
    assert len(await provider.get_messages("other")) == 1
