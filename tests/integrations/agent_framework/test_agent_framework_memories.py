"""What a user says in one session with an agent of Agent Framework is before the model in the next."""

import re
from typing import Any, ClassVar

import pytest

pytest.importorskip("agent_framework.exceptions", reason="pip install 'chatmemory-effect[agent-framework]'")

from agent_framework import (
    Agent,
    AgentLoopMiddleware,
    AgentSession,
    Content,
    ContextProvider,
    Message,
    SessionContext,
)
from agent_framework.exceptions import IntegrationException, IntegrationInvalidRequestException

from chatmemory import EffectFailed, ManagedRuntime, Namespace
from chatmemory.integrations.agent_framework import ChatMemoryContextProvider, ChatMemoryHistoryProvider
from chatmemory_layers.stacks import MemoryTags
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime as AnyRuntime
from tests.integrations.agent_framework.scripted_client import ScriptedClient
from tests.integrations.long_term import MEI, all_kept, remember, uses_of

CALL = Content.from_function_call("c1", "look", arguments="{}")
Runtime = ManagedRuntime[MemoryTags]


def look() -> str:
    return "nothing"


def session(session_id: str = "monday") -> AgentSession:
    return AgentSession(session_id=session_id)


def agent_of(runtime: Runtime, client: ScriptedClient, **options: Any) -> Agent[Any]:
    memories = ChatMemoryContextProvider(runtime, options.pop("namespace", MEI), **options)
    return Agent(client, tools=[look], context_providers=[ChatMemoryHistoryProvider(runtime), memories])


async def answered(runtime: Runtime, said: Any, *answers: Any, **options: Any) -> ScriptedClient:
    """Say *said* on Monday, and return the client, which knows what the model was shown."""
    client = ScriptedClient(*answers or ("好的",))
    await agent_of(runtime, client, **options).run(said, session=session())
    return client


async def kept(runtime: Runtime, namespace: Namespace = MEI) -> list[tuple[str, str | None]]:
    return [(one.content, one.session_id) for one in await all_kept(runtime, namespace)]


@pytest.mark.parametrize(
    ("stream", "said", "asked", "known"),
    [
        (False, "I live in Hangzhou.", "Which city do I live in?", "Hangzhou"),
        (True, "我喜欢喝龙井茶。", "我喜欢喝什么茶?", "龙井茶"),
    ],
)
async def test_the_second_session_recalls_the_first(
    runtime: Runtime, stream: bool, said: str, asked: str, known: str
) -> None:
    client = ScriptedClient("好的")
    agent = agent_of(runtime, client)
    for session_id, text in (("monday", said), ("tuesday", asked)):
        if stream:
            await agent.run(text, session=session(session_id), stream=True).get_final_response()
        else:
            await agent.run(text, session=session(session_id))
    recalled, question = client.shown[-1]
    assert question.text == asked
    assert known in recalled.text
    assert recalled.text.startswith("<recalled-data")
    marks = recalled.additional_properties["_attribution"]
    assert (marks["source_id"], marks["origin_session_ids"]) == ("chatmemory", ["monday"])


async def test_what_this_session_says_is_a_memory_of_it_and_comes_from_no_other(runtime: Runtime) -> None:
    client = await answered(runtime, "I live in Hangzhou.")
    assert client.texts() == [["I live in Hangzhou."]], "what is said now is told as no memory"
    assert await kept(runtime) == [("I live in Hangzhou", "monday")]
    client = await answered(runtime, "Where do I live?")
    (recalled,) = [one for one in client.shown[-1] if "<recalled-data" in one.text]
    assert "origin_session_ids" not in recalled.additional_properties["_attribution"]


async def test_all_requests_of_a_run_show_the_same_count_one_use_and_stand_in_no_history(
    runtime: Runtime,
) -> None:
    memory_id = await remember(runtime, "I live in Hangzhou.")
    client = await answered(runtime, "Where do I live?", [CALL], "好的")
    first, second = client.texts()
    assert "Hangzhou" in first[0]
    assert second[: len(first)] == first
    assert await uses_of(runtime, memory_id) == 1
    stored = await ChatMemoryHistoryProvider(runtime).get_messages("monday")
    assert [one.text for one in stored if one.text] == ["Where do I live?", "好的"]


async def test_one_agent_serves_many_users(runtime: Runtime) -> None:
    client = ScriptedClient("好的")
    agent = agent_of(runtime, client, namespace=lambda of: Namespace(of.state["user"]))
    question = "Where do I live?"
    for user, text in (("mei", "I live in Hangzhou."), ("li", question), ("mei", question)):
        one = session(user)
        one.state["user"] = user
        await agent.run(text, session=one)
    assert ["Hangzhou" in "".join(texts) for texts in client.texts()] == [True, False, True]
    assert await kept(runtime, Namespace("li")) == []


class Rag(ContextProvider):
    async def before_run(self, *, context: SessionContext, **_: Any) -> None:
        context.extend_messages(self, [Message("user", ["I live in Shanghai."])])


async def test_what_others_than_the_user_say_is_no_memory(runtime: Runtime) -> None:
    client, memories = ScriptedClient("I live in Beijing."), ChatMemoryContextProvider(runtime, MEI)
    said = [
        Message("user", ["I live in Ningbo."], additional_properties={"_attribution": {"source_id": "rag"}}),
        Message("system", ["I live in Suzhou."]),
        Message("user", ["I live in Hangzhou."]),
        Message("user", [Content.from_data(b"%PDF", "application/pdf")]),
    ]
    await Agent(client, context_providers=[Rag("rag"), memories]).run(said, session=session())
    assert await kept(runtime) == [("I live in Hangzhou", "monday")]


async def test_all_that_the_user_says_at_once_is_recalled_for_and_saved(runtime: Runtime) -> None:
    await remember(runtime, "My cat is called 咪咪.")
    transcript = [Message("user", ["I work in Ningbo."]), Message("assistant", ["好的"])]
    said = [Message("user", ["I live in Hangzhou\0\ud83d."]), Message("user", ["How is my cat called?"])]
    client = await answered(runtime, [*transcript, *said])
    assert "咪咪" in client.texts()[0][0]
    other = Message("assistant", ["I don't know."], author_name="other")
    client = await answered(runtime, [said[1], other], saves=False)
    assert "咪咪" in "".join(client.texts()[0]), "also when another agent has spoken meanwhile"
    saved = {content for content, session_id in await kept(runtime) if session_id}
    assert saved == {"I live in Hangzhou\ufffd\ufffd"}, "and nothing of a transcript, which may be forgotten"


@pytest.mark.filterwarnings("ignore:.*HARNESS.*")  # experimental, as the framework says
async def test_what_a_loop_says_to_its_agent_is_no_memory(runtime: Runtime) -> None:
    client = ScriptedClient("I live in Beijing.")
    memories = ChatMemoryContextProvider(runtime, MEI)
    loop = AgentLoopMiddleware(lambda **_: True, max_iterations=3)
    agent = Agent(client, context_providers=[memories], middleware=[loop])
    await agent.run("I live in Hangzhou.", session=session())
    assert "I live in Beijing." in client.texts()[-1][-2], "the loop says it again as a user"
    assert await kept(runtime) == [("I live in Hangzhou", "monday")]


async def test_nothing_is_saved_of_a_run_that_fails_or_when_nobody_wants_it(runtime: Runtime) -> None:
    await answered(runtime, "I live in Hangzhou.", saves=False)
    with pytest.raises(OSError, match="no network"):
        await answered(runtime, "I live in Hangzhou.", OSError("no network"))
    assert await kept(runtime) == []
    client = ScriptedClient("好的")
    with pytest.raises(IntegrationInvalidRequestException, match="at least one character"):
        await agent_of(runtime, client, namespace=Namespace("")).run("Where do I live?", session=session())
    assert client.shown == [], "a user who is none is refused before the model is asked"


async def test_as_many_are_shown_as_are_asked_for_and_none_without_words(runtime: Runtime) -> None:
    for city in ("Hangzhou", "Ningbo", "Suzhou"):
        await remember(runtime, f"I live in {city}.")
    client = await answered(runtime, "Where do I live?", limit=2)
    assert client.texts()[0][0].count('{"memory"') == 2
    for said in (" ", "", Message("user", [Content.from_data(b"%PDF", "application/pdf")])):
        client = await answered(runtime, said, saves=False)
        assert not any("<recalled-data" in text for text in client.texts()[-1])


async def test_two_providers_of_one_agent_keep_apart_by_their_names(runtime: Runtime) -> None:
    await remember(runtime, "I live in Hangzhou.")
    await remember(runtime, "Harbor lives in Ningbo.", Namespace("harbor"))
    client = ScriptedClient("好的")
    theirs = ChatMemoryContextProvider(runtime, Namespace("harbor"), "theirs", saves=False)
    agent = Agent(client, context_providers=[ChatMemoryContextProvider(runtime, MEI), theirs])
    await agent.run("Who lives where?", session=session())
    sources = [one.additional_properties["_attribution"]["source_id"] for one in client.shown[0][:2]]
    assert sources == ["chatmemory", "theirs"]
    assert ["Ningbo" in text for text in client.texts()[0]] == [False, True, False]


class TestMemoryEndurance(AdapterEndurance):
    """Each writer is a user, who says two things at once."""

    failure: ClassVar[type[Exception]] = IntegrationException
    failure_of_looking = EffectFailed

    def adapter(self, runtime: AnyRuntime) -> ChatMemoryContextProvider:
        return ChatMemoryContextProvider(runtime, lambda session: Namespace(session.session_id))

    async def write(self, adapter: ChatMemoryContextProvider, name: str, number: int) -> None:
        said = [Message("user", [f"我喜欢喝{number}号茶。"]), Message("user", [f"我喜欢吃{number}号饼。"])]
        context = SessionContext(session_id="会话", input_messages=said)
        nobody: Any = None
        await adapter.after_run(agent=nobody, session=session(name), context=context, state={})

    async def numbers(self, adapter: ChatMemoryContextProvider, name: str) -> list[int]:
        kept = [one.content for one in reversed(await all_kept(adapter._runtime, Namespace(name)))]
        teas, cakes = (
            [int(re.findall(r"\d+", one)[0]) for one in kept if what in one] for what in ("茶", "饼")
        )
        assert teas == cakes, "nothing is kept by halves"
        return teas
