"""Sessions of Google ADK on ours and on ADK's own services: the same steps, the same answers."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

pytest.importorskip("google.adk.sessions", reason="pip install 'chatmemory-effect[google-adk]'")

from google.adk.agents import Agent
from google.adk.errors import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.input_validation_error import InputValidationError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

from chatmemory import ManagedRuntime
from chatmemory.integrations.google_adk import ChatMemorySessionService
from chatmemory_layers.stacks import MemoryTags
from tests.integrations.adapter_endurance import AdapterEndurance
from tests.integrations.google_adk.adk_parts import APP, NOON, USER, said

Steps: TypeAlias = Callable[[BaseSessionService], Any]


@pytest.fixture
def ours(runtime: ManagedRuntime[MemoryTags]) -> ChatMemorySessionService:
    return ChatMemorySessionService(runtime)


def happened(text: str, at: float, delta: dict[str, Any] | None = None, **fields: Any) -> Event:
    event = said(text, fields.pop("event_id", ""), at=NOON + at, **fields)
    event.actions = EventActions(state_delta=delta or {})
    return event


def shown(session: Session | None) -> Any:
    """Return what can be read of a session, but for the ids that each service makes."""
    if session is None:
        return None
    events = [event.model_dump(mode="json", exclude_none=True) for event in session.events]
    return session.id, session.user_id, dict(sorted(session.state.items())), events, session.last_update_time


async def begin(service: BaseSessionService, session_id: str = "monday", **given: Any) -> Session:
    return await service.create_session(
        **{"app_name": APP, "user_id": USER, "session_id": session_id, **given}
    )


async def again(service: BaseSessionService, session_id: str = "monday", **given: Any) -> Session | None:
    return await service.get_session(**{"app_name": APP, "user_id": USER, "session_id": session_id, **given})


async def scopes(service: BaseSessionService) -> list[Any]:
    """State of an app, a user, a session and of nobody, set at the beginning and by events."""
    begun = await begin(service, state={"app:色": "青", "user:名": "梅", "步": 1, "temp:x": 1})
    await service.append_event(
        begun,
        happened("一", 1, {"app:色": "红", "user:a.b": [1, 1.0, None], "步": None, "temp:y": 2, "": "e"}),
    )
    await begin(service, "other")
    await begin(service, "stranger", user_id="li")
    read = [await again(service, one) for one in ("monday", "other")]
    stranger = await again(service, "stranger", user_id="li")
    known = await service.get_user_state(app_name=APP, user_id=USER)
    nobody = await service.get_user_state(app_name=APP, user_id="nobody")
    states = [None if one is None else dict(sorted(one.state.items())) for one in (*read, stranger)]
    return [states, known, nobody, dict(sorted(begun.state.items()))]


async def events(service: BaseSessionService) -> list[Any]:
    """All kinds of events, whole, the last ones, and those since a time."""
    begun = await begin(service)
    call = types.FunctionCall(id="c", name="weather", args={"city": "杭州", "n": 1.5})
    answer = types.FunctionResponse(id="c", name="weather", response={"r": "\0"})
    image = types.Blob(mime_type="image/png", data=b"\x89PNG")
    parts = [
        types.Part(text="你好"),
        types.Part(function_call=call),
        types.Part(function_response=answer),
        types.Part(inline_data=image),
        types.Part(text="", thought=True),
    ]
    for number, part in enumerate(parts):
        event = Event(
            id=f"e{number}", invocation_id=f"i{number // 2}", author="harbor", timestamp=NOON + number
        )
        event.content = types.Content(role="model", parts=[part])
        event.long_running_tool_ids = {"c"} if number == 1 else None
        event.custom_metadata = {"n": number}
        await service.append_event(begun, event)
    partial = types.Content(parts=[types.Part(text="你")])
    await service.append_event(begun, Event(author="harbor", partial=True, content=partial))
    wanted: list[dict[str, Any]] = [{}, *({"num_recent_events": many} for many in (0, 2, 99))]
    wanted += [{"after_timestamp": NOON + 3}, {"after_timestamp": NOON + 99}]
    wanted += [{"after_timestamp": NOON + 1, "num_recent_events": 2}]
    configs = [None, *(GetSessionConfig(**each) for each in wanted)]
    return [shown(begun), *[shown(await again(service, config=config)) for config in configs]]


async def life(service: BaseSessionService) -> list[Any]:
    """Sessions are listed, created twice, deleted and begun anew."""
    found: list[Any] = []
    for number, (user, session_id) in enumerate([("b", "2"), ("a", "1"), ("a", " 3 "), ("a.b", "c")]):
        begun = await begin(service, session_id, user_id=user, state={"n": number, "user:u": user})
        await service.append_event(begun, happened("x", 10 - number))
    for user in (None, "a", "b", "nobody", ""):
        listing = await service.list_sessions(app_name=APP, user_id=user)
        found.append([shown(one) for one in listing.sessions])
    with pytest.raises(AlreadyExistsError):
        await begin(service, "1", user_id="a")
    await service.delete_session(app_name=APP, user_id="a", session_id="1")
    await service.delete_session(app_name=APP, user_id="a", session_id="1")
    found.append(await again(service, "1", user_id="a"))
    anew = await begin(service, "1", user_id="a")
    found.append((anew.state, anew.events))
    found.append([one.id for one in (await service.list_sessions(app_name="else")).sessions])
    gone = Session(id="gone", app_name=APP, user_id=USER)
    with pytest.raises(SessionNotFoundError):
        await service.append_event(gone, happened("x", 1))
    return found


class Counting(BaseLlm):
    """Says how many contents it was shown."""

    model: str = "counting"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse]:
        text = f"shown {len(llm_request.contents)}"
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


async def asked(runner: Runner, question: str) -> list[tuple[str, str]]:
    """Return the invocation and the text of each event of the answer."""
    content = types.Content(role="user", parts=[types.Part(text=question)])
    answer = runner.run_async(user_id=USER, session_id="monday", new_message=content)
    return [(event.invocation_id, str(event.content and event.content.parts)) async for event in answer]


async def rewound(service: BaseSessionService) -> list[Any]:
    """A runner talks, and goes back before its second question."""
    agent = Agent(name="harbor", model=Counting(), output_key="answer")
    runner = Runner(app_name=APP, agent=agent, session_service=service)
    await begin(service, state={"user:kept": 1})
    told = [await asked(runner, question) for question in ("一", "二", "三")]
    await runner.rewind_async(user_id=USER, session_id="monday", rewind_before_invocation_id=told[1][0][0])
    after = await again(service)
    assert after is not None
    told.append(await asked(runner, "二，又"))
    await runner.close()
    texts = [text for answer in told for _, text in answer]
    assert "shown 3" in texts[-1], "the question and the answer before, and the new question"
    return [texts, after.state, [event.author for event in after.events]]


# Python 3.12.0 to 3.12.3 warn of the numbered parameters in ADK's own statements.
@pytest.mark.filterwarnings("ignore:Binding 1:DeprecationWarning")
@pytest.mark.parametrize("steps", [scopes, events, life, rewound])
async def test_the_same_steps_have_the_same_answers_as_on_the_services_of_adk(
    ours: ChatMemorySessionService, steps: Steps, tmp_path: Path
) -> None:
    answer = await steps(ours)
    assert answer == await steps(SqliteSessionService(str(tmp_path / "adk.db")))
    assert answer == await steps(InMemorySessionService())


async def test_who_writes_after_somebody_else_is_told_that_the_session_is_stale(
    ours: ChatMemorySessionService,
) -> None:
    begun = await begin(ours)
    mine, theirs = await again(ours), await again(ours)
    assert mine is not None
    assert theirs is not None
    await ours.append_event(mine, happened("一", 1, {"n": 1}))
    with pytest.raises(StaleSessionError, match="get_session"):
        await ours.append_event(theirs, happened("二", 2, {"n": 2}))
    with pytest.raises(StaleSessionError):
        await ours.append_event(begun, happened("二", 2, {"n": 2}))
    by_hand = Session(id="monday", app_name=APP, user_id=USER, last_update_time=NOON)
    with pytest.raises(StaleSessionError):
        await ours.append_event(by_hand, happened("二", 2, {"n": 2}))
    assert [theirs.events, begun.events] == [[], []]
    read = await again(ours)
    assert read is not None
    assert (len(read.events), read.state) == (1, {"n": 1}), "nothing of a stale write is stored"
    await ours.append_event(read, happened("二", 2))
    seen = Session(id="monday", app_name=APP, user_id=USER, events=[*read.events], last_update_time=NOON)
    await ours.append_event(seen, happened("三", 3))


async def test_an_event_that_comes_again_is_stored_once_and_another_with_its_id_is_kept(
    ours: ChatMemorySessionService,
) -> None:
    begun = await begin(ours)
    event = happened("一", 1, {"n": 1}, event_id="e")
    for each in (event, event, happened("二", 2, event_id="e")):
        await ours.append_event(begun, each)
    read = await again(ours)
    assert read is not None
    assert shown(read) == shown(begun)
    contents = [one.content for one in read.events]
    assert [part.text for one in contents if one for part in one.parts or ()] == ["一", "二"]
    parallel = [happened(str(n), 3 + n, {f"k{n}": n}) for n in range(20)]
    await asyncio.gather(*[ours.append_event(begun, each) for each in parallel])
    assert shown(await again(ours)) == shown(begun), "agents in parallel share one session object"
    assert len(begun.events) == 22


async def test_a_user_is_deleted_with_all_sessions_and_no_other_one(ours: ChatMemorySessionService) -> None:
    for user in ("mei", "li"):
        for session_id in ("1", "2"):
            begun = await begin(ours, session_id, user_id=user, state={"user:u": user, "app:a": 1})
            await ours.append_event(begun, happened("x", 1))
    await ours.delete_user(app_name=APP, user_id="mei")
    left = (await ours.list_sessions(app_name=APP)).sessions
    assert [one.user_id for one in left] == ["li", "li"]
    assert await ours.get_user_state(app_name=APP, user_id="mei") == {}
    anew = await begin(ours, "1", user_id="mei")
    assert (anew.state, anew.events) == ({"app:a": 1}, [])


async def test_what_is_no_json_is_refused_and_nothing_is_stored(ours: ChatMemorySessionService) -> None:
    for state in ({"f": print}, {"o": object()}):
        with pytest.raises(InputValidationError, match="no JSON"):
            await begin(ours, state=state)
    assert await again(ours) is None


STATES = ("app:last", "user:last", "last")


class TestSessions(AdapterEndurance):
    """A batch is an event with what it changes of the state, in a session of its writer."""

    adapter = staticmethod(ChatMemorySessionService)

    async def write(self, adapter: ChatMemorySessionService, name: str, number: int) -> None:
        session = await self.session(adapter, name)
        event = said("x", at=number)
        event.actions = EventActions(state_delta=dict.fromkeys(STATES, number))
        await adapter.append_event(session, event)

    async def session(self, adapter: ChatMemorySessionService, name: str) -> Session:
        known = {"app_name": name, "user_id": USER, "session_id": name}
        return await adapter.get_session(**known) or await adapter.create_session(**known)

    async def numbers(self, adapter: ChatMemorySessionService, name: str) -> list[int]:
        session = await self.session(adapter, name)
        numbers = [int(event.actions.state_delta["last"]) for event in session.events]
        state = dict.fromkeys(STATES, numbers[-1]) if numbers else {}
        assert session.state == state, "an event and its state are stored together"
        return numbers
