"""A memory service of Google ADK: what is found, added, replaced and deleted, and what it survives."""

import asyncio
import json
from datetime import UTC, datetime
from itertools import count
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
from tests.integrations.adapter_endurance import PATIENCE_SECONDS, AdapterEndurance
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
from tests.integrations.long_term import all_kept

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


async def test_nobody_finds_what_others_said(service: ChatMemoryMemoryService) -> None:
    pairs = [("a/b", "c"), ("a", "b/c"), ("a", "b.c"), ("a.b", "c"), ("a:b", "c"), ("a", "b:c"), ("A", "b:c")]
    for app, user in pairs:
        event = said(f"the password of {app} and {user}", "e1")
        await service.add_session_to_memory(session([event], app=app, user=user))
    for app, user in pairs:
        seen = await texts(service, "password", app=app, user=user)
        assert seen == [f"the password of {app} and {user}"]
    assert await texts(service, "password", app="a", user="c") == []


async def test_at_most_ten_are_found_and_nothing_without_a_word(service: ChatMemoryMemoryService) -> None:
    await add(service, *(f"tea number {number}" for number in range(20)))
    assert len(await texts(service, "tea")) == 10
    for query in ("quarterly budget spreadsheet", "", "  ", "\n", "?!", "…。"):
        assert await texts(service, query) == []
    assert len(await texts(service, "tea \ud83c\0")) == 10, "a question may hold what no store keeps"


async def test_what_says_nothing_and_what_is_thought_is_not_searched(
    service: ChatMemoryMemoryService,
) -> None:
    call = types.Part(function_call=types.FunctionCall(name="tea", args={"tea": "tea"}))
    parts = [types.Part(text="Is it about the budget?", thought=True), types.Part(text="green tea")]
    contents = [None, *(types.Content(role="model", parts=p) for p in (None, [], [call], parts))]
    events = [Event(author="harbor", content=content) for content in contents]
    await service.add_session_to_memory(session([*events, said(""), said(" \n ")]))
    await service.add_events_to_memory(**WHOSE, events=[])
    assert await texts(service, "budget") == []
    assert [one.content for one in await found(service, "tea")] == [contents[-1]]


async def test_what_an_agent_said_is_found_by_others_with_where_it_comes_from(
    service: ChatMemoryMemoryService, memory: LongTermMemory
) -> None:
    event = said("茶在厨房。", "e1", author="harbor")
    await service.add_session_to_memory(session([event]))
    event.content = None
    (shown,) = await found(service, "茶")
    shown.content.parts = []
    assert await texts(service, "茶") == ["茶在厨房。"]
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


# --- Sessions ---


async def test_a_session_that_is_added_again_says_what_it_says_now_and_replaces_no_other(
    service: ChatMemoryMemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_service, "PAGE", 2)
    events = [said(f"tea {number}", f"e{number}") for number in range(7)]
    await service.add_session_to_memory(session([*events, said("tea 6")]))
    await add(service, "milk tea", session_id="tuesday")
    assert sorted(await texts(service, "tea")) == ["milk tea", *(f"tea {n}" for n in range(7)), "tea 6"]
    changed = said("tea, but secret", "e5")
    for _ in range(2):
        await service.add_session_to_memory(session([events[4], changed]))
        assert sorted(await texts(service, "tea")) == ["milk tea", "tea 4", "tea, but secret"]
    await service.add_session_to_memory(session(events[:6]))
    assert len(await texts(service, "tea")) == 7, "what was replaced comes back with its session"


async def test_a_delta_leaves_what_was_there_and_adds_no_known_event_twice(
    service: ChatMemoryMemoryService,
) -> None:
    event = said("green tea", "e1")
    await service.add_session_to_memory(session([event]))
    for events in ([event], [event, event], [said("black tea", "e2")]):
        await service.add_events_to_memory(**WHOSE, session_id="monday", events=events)
    await service.add_session_to_memory(session([event, said("black tea", "e2")]))
    assert sorted(await texts(service, "tea")) == ["black tea", "green tea"]
    await service.add_events_to_memory(**WHOSE, events=[said("white tea", "e1")])
    assert sorted(await texts(service, "tea")) == ["black tea", "white tea"], "of an id the later one counts"


async def test_what_is_deleted_is_gone_for_its_user_and_does_not_come_back(
    service: ChatMemoryMemoryService,
) -> None:
    events = [said("green tea", "e1"), said("tea!", "e2")]
    for user in ("mei", "li"):
        await service.add_session_to_memory(session(events, user=user))
    await service.delete_memory(**WHOSE, memory_id="e1")
    for memory_id in ("nobody", "", None, "x" * 1000, "\0"):  # no failure
        await service.delete_memory(**WHOSE, memory_id=memory_id)
    for session_id in ("monday", "tuesday"):
        await service.add_session_to_memory(session(events, session_id))
    await service.add_events_to_memory(**WHOSE, events=events)
    assert await texts(service, "tea") == ["tea!"]
    assert len(await texts(service, "tea", user="li")) == 2
    await add(service, "white tea", session_id="wednesday")
    assert [await service.forget_session(**WHOSE, session_id="monday") for _ in range(2)] == [1, 0]
    await service.add_session_to_memory(session(events, "monday"))
    assert await texts(service, "tea") == ["white tea"], "a session that is forgotten stays away, too"


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
    known = {**WHOSE, "session_id": "monday", "custom_metadata": {"mood": "calm"}}
    await service.add_events_to_memory(**known, events=[event])
    await service.add_session_to_memory(session([event]))
    assert [one.custom_metadata for one in await found(service, "tea")] == [{"mood": "calm"}]


# --- Memories ---


async def test_a_memory_comes_back_as_it_was_given_once_and_gets_an_id_and_a_time(
    service: ChatMemoryMemoryService,
) -> None:
    beside = {
        "author": "nurse",
        "timestamp": "2026-05-01T08:00:00+08:00",
        "custom_metadata": {"ward": {"bed": 7}},
    }
    given_one = entry("她对花生过敏。", id="m1", **beside)
    await service.add_memory(**WHOSE, memories=[given_one], custom_metadata={})
    assert await found(service, "花生") == [given_one]
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


async def test_what_is_deleted_leaves_no_trace_in_the_file(tmp_path: Path) -> None:
    async with ThreadRuntime(stacks.embedded(tmp_path / "a.db")) as runtime:
        service = ChatMemoryMemoryService(runtime)
        await service.add_session_to_memory(session([said("The password is Sesam.", "event-77")]))
        await service.delete_memory(**WHOSE, memory_id="event-77")
        assert await found(service, "password") == []
    assert b"sesam" not in bytes_in(tmp_path).lower(), "the log keeps the id alone"


def bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


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
    for call in (
        service.search_memory(**whose, query="tea"),
        service.add_session_to_memory(session([], app=app, user=user)),
        service.delete_memory(**whose, memory_id="m1"),
    ):
        with pytest.raises(InputValidationError, match=r"\$\.namespace\.") as refused:
            await call
        assert isinstance(refused.value.__cause__.error, DataValidationError)


# --- Whatever an event says ---

TEXTS = st.text(st.characters(exclude_categories=()), min_size=1, max_size=40)
NAMES = st.text(
    st.characters(exclude_categories=["Cs"]), max_size=9
)  # pydantic writes U+FFFD for half a character there
PLAIN = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(-1e9, 1e9) | TEXTS
OBJECTS = st.dictionaries(NAMES, PLAIN | st.lists(st.dictionaries(NAMES, PLAIN, max_size=2)), max_size=3)
PARTS = st.one_of(
    st.builds(types.Part, text=TEXTS, thought=st.none() | st.just(value=True)),
    st.builds(types.Part, text=TEXTS, thought_signature=st.binary(min_size=1, max_size=8)),
    st.binary(max_size=9).map(
        lambda data: types.Part(inline_data=types.Blob(data=data, mime_type="image/png"))
    ),
    OBJECTS.map(lambda args: types.Part(function_call=types.FunctionCall(name="f", args=args))),
    OBJECTS.map(lambda told: types.Part(function_response=types.FunctionResponse(name="f", response=told))),
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


class TestMemory(AdapterEndurance):
    """A batch is a delta of three events.  All that is stored is seen beside the service, which finds the ten best."""

    adapter = staticmethod(ChatMemoryMemoryService)

    async def write(self, adapter: ChatMemoryMemoryService, name: str, number: int) -> None:
        now = asyncio.get_running_loop().time()  # which never goes back
        events = [said(f"茶 {number} {part}", at=now) for part in "abc"]
        await adapter.add_events_to_memory(**WHOSE, session_id=name, events=events)

    async def numbers(self, adapter: ChatMemoryMemoryService, name: str) -> list[int]:
        assert await texts(adapter, "茶")
        parts: dict[int, set[str]] = {}
        for memory in reversed(await all_kept(adapter._runtime, MEI, session_id=name)):
            _, number, part = memory.content.split()
            parts.setdefault(int(number), set()).add(part)
        assert all(each == set("abc") for each in parts.values()), "no batch is torn"
        return list(parts)


BOTH = [said("green tea", "kept"), said("black tea", "gone")]


async def remove(service: ChatMemoryMemoryService, how: str, user: str) -> None:
    whose = {"app_name": APP, "user_id": user}
    match how:
        case "replace":
            await service.add_session_to_memory(session(BOTH[:1], user=user))
        case "delete":
            await service.delete_memory(**whose, memory_id="gone")
        case _:
            await service.forget_session(**whose, session_id="monday")


@pytest.mark.parametrize(
    ("how", "step", "left", "left_after_all"),
    [
        ("replace", 12, ["green tea"], ["black tea", "green tea"]),
        ("delete", 16, ["green tea"], ["green tea"]),
        ("forget", 8, [], []),
    ],
)
async def test_a_removal_that_is_cancelled_at_any_moment_has_happened_whole_or_not_at_all(
    tmp_path: Path, how: str, step: int, left: list[str], left_after_all: list[str]
) -> None:
    """What was replaced is unknown again, and comes back with its session; what was deleted does not."""
    cancelled = 0
    async with ManagedRuntime(stacks.embedded(tmp_path / "a.db", durability="process")) as runtime:
        service = ChatMemoryMemoryService(runtime)
        for steps in count(step=step):
            user = f"mei {steps}"
            await service.add_session_to_memory(session(BOTH, user=user))
            task = asyncio.ensure_future(remove(service, how, user))
            for _ in range(steps):
                await asyncio.sleep(0)
            if task.done():
                break
            task.cancel()
            await asyncio.wait([task], timeout=PATIENCE_SECONDS)
            cancelled += task.cancelled()
            end = sorted(await texts(service, "tea", user=user))
            assert end in (["black tea", "green tea"], left)
            await service.add_session_to_memory(session([said("milk")], user="li"))
            assert sorted(await texts(service, "tea", user=user)) == end, "nothing goes late"
            await service.add_session_to_memory(session(BOTH, user=user))
            after_all = left_after_all if end == left else ["black tea", "green tea"]
            assert sorted(await texts(service, "tea", user=user)) == after_all
    assert cancelled
