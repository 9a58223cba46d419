"""What our memory service does for agents of Google ADK, beside what every memory service of theirs does."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

pytest.importorskip("google.adk.memory", reason="pip install 'chatmemory-effect[google-adk]'")

from google.adk.errors.input_validation_error import InputValidationError
from google.adk.events.event import Event
from google.genai import types
from hypothesis import HealthCheck, given, settings, strategies as st

from chatmemory import (
    DataValidationError,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    MemoryChanges,
    Namespace,
    NewMemory,
    ThreadRuntime,
)
from chatmemory.input.json_value import AS_GIVEN, Json
from chatmemory.integrations.google_adk import ChatMemoryMemoryService, memory_service
from chatmemory.integrations.google_adk.memory_service import KNOWN
from chatmemory.items.item_repository import ItemPut, ItemRepositoryTag, ItemSearch
from chatmemory_layers import stacks
from chatmemory_layers.stacks import MemoryTags
from tests.for_each import for_each
from tests.integrations.google_adk.adk_parts import (
    APP,
    NOON,
    USER,
    WHOSE,
    add,
    entry,
    found,
    said,
    session,
    texts,
)

MEI = Namespace(USER, APP)


NOON_UTC = datetime.fromtimestamp(NOON, UTC)
Runtime = ManagedRuntime[MemoryTags]


@pytest.fixture
def service(runtime: Runtime) -> ChatMemoryMemoryService:
    return ChatMemoryMemoryService(runtime)


@pytest.fixture
async def memory(runtime: Runtime) -> LongTermMemory:
    """The same memory, as every other client sees it."""
    return await runtime.service(LongTermMemoryService)


async def only(memory: LongTermMemory) -> str:
    """Return the id of the only memory."""
    (one,) = (await memory.list(MEI).or_raise()).memories
    return one.id


# --- One memory for all who know the user ---


async def test_what_others_remember_of_the_user_is_found(
    service: ChatMemoryMemoryService, memory: LongTermMemory
) -> None:
    await memory.remember(Namespace(USER), [NewMemory("她对花生过敏。", created_at=NOON_UTC)]).or_raise()
    await memory.remember(Namespace(USER, "atlas"), [NewMemory("花生很便宜。")]).or_raise()
    (one,) = await found(service, "花生")
    assert (one.author, one.timestamp) == ("user", NOON_UTC.isoformat())
    assert one.content == types.Content(role="user", parts=[types.Part(text="她对花生过敏。")])
    await service.delete_memory(**WHOSE, memory_id=one.id)
    assert await found(service, "花生") == []


async def test_what_an_agent_said_is_found_by_others_with_where_it_comes_from(
    service: ChatMemoryMemoryService, memory: LongTermMemory
) -> None:
    await service.add_session_to_memory(session([said("茶在厨房。", "e1", author="harbor")]))
    (hit,) = (await memory.recall(MEI, "茶").or_raise()).hits
    one = hit.memory
    assert (one.content, one.role, one.source) == ("茶在厨房。", "assistant", "inferred")
    assert one.session_id == "monday"
    assert (one.provenance.message_ids, one.created_at) == (("e1",), NOON_UTC)


async def test_what_somebody_forgets_elsewhere_does_not_come_back(
    service: ChatMemoryMemoryService, memory: LongTermMemory
) -> None:
    events = [said("I live in Hangzhou."), said("green tea")]
    await service.add_session_to_memory(session(events[:1]))
    await memory.forget(MEI, await only(memory)).or_raise()
    await service.add_events_to_memory(**WHOSE, events=events)
    await service.add_session_to_memory(session(events))
    assert await texts(service, "Hangzhou") == []
    assert await texts(service, "tea") == ["green tea"]


async def test_what_somebody_corrects_stays_so_and_what_somebody_makes_of_a_memory_is_theirs(
    service: ChatMemoryMemoryService, memory: LongTermMemory
) -> None:
    events = [said("I live in Hangzhou.", "e1")]
    await service.add_session_to_memory(session(events))
    await memory.update(MEI, await only(memory), MemoryChanges(content="I live in Suzhou.")).or_raise()
    await service.add_session_to_memory(session(events))
    await service.add_events_to_memory(**WHOSE, events=events)
    (one,) = await found(service, "Where do I live?")
    assert (one.id, one.author) == ("e1", "user")
    assert one.content == types.Content(role="user", parts=[types.Part(text="I live in Suzhou.")])
    changes = MemoryChanges(content="Home: Suzhou.", value={"city": "Suzhou"})
    await memory.update(MEI, await only(memory), changes).or_raise()
    await service.add_events_to_memory(**WHOSE, events=[said("I live in Ningbo.", "e1")])
    await service.add_session_to_memory(session([]))
    assert await texts(service, "Suzhou Ningbo") == ["Home: Suzhou."]


ODD_VALUES: list[Json] = [
    None,
    7,
    {},
    {"id": "e1", "author": "x", "timestamp": 1e300, "content": {"parts": []}},
    {"id": "e1", "author": "x", "timestamp": "now", "content": {"parts": "tea"}},
    {"id": 7, "author": [], "timestamp": {}, "content": {}, "customMetadata": 7},
]


async def test_what_somebody_writes_beside_a_memory_hides_it_from_nobody(
    service: ChatMemoryMemoryService, memory: LongTermMemory
) -> None:
    odd = [
        NewMemory(f"green tea {number}", id=f"m{number}", value={AS_GIVEN: {"googleAdkEvent": event}})
        for number, event in enumerate(ODD_VALUES)
    ]
    await memory.remember(MEI, odd).or_raise()
    shown = sorted((one.id, one.author) for one in await found(service, "tea"))
    assert shown == [(one.id, "user") for one in odd]


async def test_a_question_may_hold_what_no_store_keeps(service: ChatMemoryMemoryService) -> None:
    await add(service, "green tea")
    assert await texts(service, "tea \ud83c\0") == ["green tea"]


# --- Sessions ---


async def test_a_session_that_is_deleted_can_be_forgotten(service: ChatMemoryMemoryService) -> None:
    events = [said("green tea"), said("black tea")]
    await service.add_session_to_memory(session(events, "monday"))
    await add(service, "white tea", session_id="tuesday")
    assert await service.forget_session(**WHOSE, session_id="monday") == 2
    assert await service.forget_session(**WHOSE, session_id="monday") == 0
    await service.add_session_to_memory(session(events, "monday"))
    assert await texts(service, "tea") == ["white tea"]


async def test_a_long_session_is_replaced_whole(
    service: ChatMemoryMemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_service, "PAGE", 2)
    events = [said(f"tea {number}") for number in range(7)]
    await service.add_session_to_memory(session(events))
    await service.add_session_to_memory(session(events[5:]))
    assert sorted(await texts(service, "tea")) == ["tea 5", "tea 6"]


async def test_a_session_that_many_add_is_found_once(service: ChatMemoryMemoryService) -> None:
    whole = session([said("green tea"), said("black tea", author="harbor")])
    await asyncio.gather(*(service.add_session_to_memory(whole) for _ in range(8)))
    assert sorted(await texts(service, "tea")) == ["black tea", "green tea"]


async def unnote(runtime: Runtime) -> None:
    """Leave the store as a program does that dies after it has stored events, and before it has noted that."""
    items, now = await runtime.service(ItemRepositoryTag), datetime.now(UTC)
    known = await items.search(ItemSearch(KNOWN, 10), now=now).or_raise()
    assert known
    await items.write(tuple(ItemPut(one.name, None) for one in known), now=now).or_raise()


async def test_a_program_that_died_before_it_noted_what_it_stored_goes_on(
    runtime: Runtime, service: ChatMemoryMemoryService
) -> None:
    await service.add_events_to_memory(
        **WHOSE, events=[said("green tea", "e1"), said("The code is 1234.", "e2")]
    )
    await unnote(runtime)
    again = [said("green tea", "e1"), said("The code is secret.", "e2"), said("black tea", "e3")]
    await service.add_events_to_memory(**WHOSE, events=again)
    assert sorted(await texts(service, "tea")) == ["black tea", "green tea"]
    assert await texts(service, "code") == ["The code is secret."]
    await unnote(runtime)
    await service.delete_memory(**WHOSE, memory_id="e1")
    await service.add_events_to_memory(**WHOSE, events=again)
    assert await texts(service, "tea") == ["black tea"], "what is deleted after such a death stays away"


async def test_who_adds_a_session_takes_no_metadata_away(service: ChatMemoryMemoryService) -> None:
    event = said("green tea")
    await service.add_events_to_memory(
        **WHOSE, session_id="monday", events=[event], custom_metadata={"mood": "calm"}
    )
    await service.add_session_to_memory(session([event]))
    assert [one.custom_metadata for one in await found(service, "tea")] == [{"mood": "calm"}]


# --- Memories ---


async def test_a_memory_comes_back_as_it_was_given(service: ChatMemoryMemoryService) -> None:
    given_one = entry(
        "她对花生过敏。",
        id="m1",
        author="nurse",
        timestamp="2026-05-01T08:00:00+08:00",
        custom_metadata={"ward": {"bed": 7}},
    )
    await service.add_memory(**WHOSE, memories=[given_one], custom_metadata={})
    assert await found(service, "花生") == [given_one]


async def test_a_memory_without_id_and_time_gets_them_and_is_stored_once(
    service: ChatMemoryMemoryService,
) -> None:
    calm = entry("green tea", custom_metadata={"mood": "calm"})
    for _ in range(2):
        metadata = {"mood": "any", "by": "tool"}
        await service.add_memory(**WHOSE, memories=[calm], custom_metadata=metadata)
    (one,) = await found(service, "tea")
    assert one.id
    assert datetime.fromisoformat(one.timestamp or "").tzinfo
    assert one.custom_metadata == {"mood": "calm", "by": "tool"}


async def test_a_memory_of_a_known_id_takes_its_place_even_if_it_was_deleted(
    service: ChatMemoryMemoryService,
) -> None:
    first, second, third = (entry(f"The code is {code}.", id="m1") for code in (1234, 5678, "secret"))
    await service.add_memory(**WHOSE, memories=[first, second, entry("green tea")])
    assert await texts(service, "code") == ["The code is 5678."]
    for _ in range(2):
        await service.add_memory(**WHOSE, memories=[third])
        assert await texts(service, "code") == ["The code is secret."]
        await service.delete_memory(**WHOSE, memory_id="m1")
        assert await texts(service, "code") == []


def test_what_is_deleted_leaves_no_trace_in_the_file(tmp_path: Path) -> None:
    async def live() -> None:
        async with ThreadRuntime(stacks.embedded(tmp_path / "a.db")) as runtime:
            service = ChatMemoryMemoryService(runtime)
            await service.add_session_to_memory(session([said("The password is Sesam.", "event-77")]))
            await service.delete_memory(**WHOSE, memory_id="event-77")
            assert await found(service, "password") == []

    asyncio.run(live())
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not [trace for trace in (b"Sesam", b"sesam") if trace in kept]  # the log keeps the id alone


# --- Refusals and failures ---


NO_JSON = types.Part(function_response=types.FunctionResponse(response={"x": object()}))
REFUSED = [
    (said("tea", at=float("nan")), "no time"),
    (said("tea", at=1e300), "no time"),
    (said("tea", "x" * 600), "more than 512"),
    (Event(author="harbor", content=types.Content(parts=[types.Part(text="tea"), NO_JSON])), "no JSON"),
]


async def test_what_cannot_be_kept_is_refused_with_all_that_came_with_it(
    service: ChatMemoryMemoryService,
) -> None:
    for event, problem in REFUSED:
        with pytest.raises(InputValidationError, match=problem):
            await service.add_session_to_memory(session([said("green tea"), event]))
    for metadata in ({"x": object()}, {"x": {1, 2}}):
        with pytest.raises(InputValidationError, match="no JSON"):
            await service.add_memory(**WHOSE, memories=[entry("tea")], custom_metadata=metadata)
    with pytest.raises(InputValidationError, match="part with text"):
        await service.add_memory(**WHOSE, memories=[entry(" ")])
    assert await texts(service, "tea") == []


@for_each(("app", "user"), [("", USER), (APP, ""), (APP, "x" * 600), ("x\0", USER)])
async def test_whose_it_is_has_to_be_said(service: ChatMemoryMemoryService, app: str, user: str) -> None:
    whose = {"app_name": app, "user_id": user}
    with pytest.raises(InputValidationError, match=r"\$\.namespace\.") as refused:
        await service.search_memory(**whose, query="tea")
    assert isinstance(refused.value.__cause__.error, DataValidationError)
    with pytest.raises(InputValidationError):
        await service.add_session_to_memory(session([], app=app, user=user))
    with pytest.raises(InputValidationError):
        await service.delete_memory(**whose, memory_id="m1")


def test_a_store_that_cannot_be_opened_or_is_closed_says_so(tmp_path: Path) -> None:
    runtime = ThreadRuntime(stacks.embedded(tmp_path / "nowhere" / "agent.db"))
    service = ChatMemoryMemoryService(runtime)
    with pytest.raises(RuntimeError, match="nowhere"):
        asyncio.run(add(service, "tea"))
    runtime.close()
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(found(service, "tea"))


# --- Whatever an event says ---

TEXTS = st.text(st.characters(exclude_categories=()), min_size=1, max_size=40)
NAMES = st.text(
    st.characters(exclude_categories=["Cs"]), max_size=9
)  # pydantic writes U+FFFD for half a character there
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(NAMES, JSON, max_size=3)
PARTS = st.one_of(
    st.builds(types.Part, text=TEXTS, thought=st.none() | st.just(value=True)),
    st.builds(types.Part, text=TEXTS, thought_signature=st.binary(min_size=1, max_size=8)),
    st.builds(
        lambda data: types.Part(inline_data=types.Blob(data=data, mime_type="image/png")),
        st.binary(max_size=9),
    ),
    st.builds(lambda args: types.Part(function_call=types.FunctionCall(name="f", args=args)), OBJECTS),
    st.builds(
        lambda answer: types.Part(function_response=types.FunctionResponse(name="f", response=answer)),
        OBJECTS,
    ),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(PARTS, max_size=4), metadata=OBJECTS, at=st.floats(0, 4e9))
async def test_whatever_an_event_says_comes_back_equal(
    service: ChatMemoryMemoryService, parts: list[types.Part], metadata: dict[str, object], at: float
) -> None:
    content = types.Content(role="model", parts=[types.Part(text="茶"), *parts])
    event = Event(author="harbor", content=content, timestamp=at)
    for _ in range(2):
        await service.add_events_to_memory(
            app_name=APP, user_id=event.id, events=[event], custom_metadata=metadata
        )
    (one,) = await found(service, "茶", user=event.id)
    assert (one.id, one.content, one.author) == (event.id, content, "harbor")
    assert json.dumps(one.custom_metadata, sort_keys=True) == json.dumps(metadata, sort_keys=True)
    assert datetime.fromisoformat(one.timestamp or "") == datetime.fromtimestamp(at, UTC)
