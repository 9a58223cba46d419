"""Who did what to which conversation or memory is on record, by the name of who acted, without what was said."""

from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta

import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import EVERY_RIGHT, Granted, Principal, acting_as
from chatmemory.conversation.message_repository import MessageRepository, PageQuery
from chatmemory.effect import ManagedRuntime
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import AccessDeniedError
from chatmemory.events.audit import AuditEntry, AuditTrail, AuditTrailTag
from chatmemory.events.event_log import AuditQuery
from chatmemory.laws.kit.samples import ALWAYS, START, batch, said, summary_of
from chatmemory.laws.memories.memory_witness import remembered, unit
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.repository_values import Attachment, Expiry, Forgetting, Mark, Use
from chatmemory_layers.stacks.ready_made import audit_trail
from tests.contract.conftest import Repositories

pytestmark = pytest.mark.usefixtures("everybody")

MEI = Namespace("mei")
DESK = Namespace("mei", "desk")
PHONE = Principal(name="phone", namespace=DESK, granted=(Granted(MEI),))
LAPTOP = Principal(name="laptop", namespace=MEI, granted=(Granted(MEI),))
READER = Principal(
    name="reader",
    namespace=Namespace("wang"),
    granted=(Granted(MEI, rights=EVERY_RIGHT - {"write", "delete"}),),
)
EVERYTHING = AuditQuery(limit=1000)


@pytest.fixture
async def trail(opened: ManagedRuntime[Repositories]) -> AsyncGenerator[AuditTrail]:
    """The trail of the store, as a ready stack finds it."""
    async with opened.child(audit_trail) as child:
        yield await child.service(AuditTrailTag)


async def told(trail: AuditTrail, query: AuditQuery = EVERYTHING) -> Sequence[AuditEntry]:
    """Return what *query* finds, oldest first."""
    return (await trail.entries(query).or_raise())[::-1]


async def test_what_is_done_to_conversations_and_memories_is_on_record_and_what_goes_by_its_age_is_not(
    repository: MessageRepository, memories: MemoryRepository, trail: AuditTrail
) -> None:
    short = {"memory_type": "short_term", "session_id": "s"}
    with acting_as(PHONE):
        await repository.append(batch("旅行", said("m1", "geheim"), said("m2"))).or_raise()
    with acting_as(LAPTOP):
        await repository.remove_newest("旅行", now=START, threshold=None).or_raise()
        await repository.clear("旅行", now=START).or_raise()
        await memories.store((remembered("a", "geheim", namespace=DESK, **short),)).or_raise()
        assert await memories.expire(Expiry(MEI, session_id="s")).or_raise() == 1
        await memories.store((remembered("b", namespace=DESK, **short),)).or_raise()
        assert await memories.expire(Expiry(MEI, created_before=START + timedelta(days=9999))).or_raise() == 1
    entries = await told(trail)
    assert [(one.who, one.user, one.action, one.kind, one.target, one.owner) for one in entries] == [
        ("phone", "mei", "added", "conversation", "旅行", DESK),
        ("laptop", "mei", "removed", "conversation", "旅行", DESK),
        ("laptop", "mei", "cleared", "conversation", "旅行", DESK),
        ("laptop", "mei", "stored", "memory", "a", DESK),
        ("laptop", "mei", "forgotten", "memory", "a", DESK),
        ("laptop", "mei", "stored", "memory", "b", DESK),
    ]
    assert "geheim" not in str(entries)


async def test_a_program_that_has_the_store_to_itself_leaves_no_entry(
    repository: MessageRepository, memories: MemoryRepository, trail: AuditTrail
) -> None:
    await repository.append(batch("c", said("m1"))).or_raise()
    await repository.clear("c", now=START).or_raise()
    await memories.store((remembered("a", namespace=MEI),)).or_raise()
    await memories.mark(Mark(MEI, "a", pinned=True)).or_raise()
    await memories.forget(Forgetting(MEI)).or_raise()
    assert await told(trail) == ()


async def test_neither_a_refusal_nor_a_use_nor_the_service_itself_leaves_an_entry(
    repository: MessageRepository, memories: MemoryRepository, trail: AuditTrail
) -> None:
    with acting_as(PHONE):
        await repository.append(batch("c", said("m1"), said("m2"), threshold=ALWAYS)).or_raise()
        await memories.store((remembered("a", namespace=MEI),)).or_raise()
        before = await told(trail)
        page = await repository.page(PageQuery("c", "model", limit=9)).or_raise()
        assert page is not None
        summary = summary_of("c", page.messages[:1], message_id="s1", planned_at_version=1)
        claim = repository.claim_work(now=START, lease_id="l", lease_until=START + timedelta(seconds=9))
        work = await claim.or_raise()
        assert work is not None
        await repository.summarize(summary).or_raise()
        await repository.settle_work(work, threshold=None).or_raise()
        await memories.record_use(
            Use(namespace=MEI, memory_ids=("a",), use_id="u", session_id="s", now=START)
        ).or_raise()
        vector = (Attachment("a", 1, unit(1, 0)),)
        await memories.attach(MEI, EmbeddingSpace("e", 2), vector).or_raise()
    with acting_as(READER):
        for refused in (repository.append(batch("c", said("m4"))), repository.clear("c", now=START)):
            outcome = await refused
            assert isinstance(outcome.failure(), AccessDeniedError)
    assert await told(trail) == before


async def begun_by(principal: Principal, repository: MessageRepository, conversation_id: str) -> None:
    with acting_as(principal):
        await repository.append(batch(conversation_id, said("m1"))).or_raise()


async def test_entries_are_read_newest_first_page_by_page_and_by_who_by_target_and_since_when(
    repository: MessageRepository, trail: AuditTrail
) -> None:
    names = [f"c{number}" for number in range(7)]
    for name in names:
        await begun_by(LAPTOP if name == "c3" else PHONE, repository, name)
    found: list[str] = []
    after = None
    for size in (3, 3, 1, 0):
        page = await trail.entries(AuditQuery(limit=3, after=after)).or_raise()
        assert len(page) == size
        found += [entry.target for entry in page]
        after = (page[-1].at, page[-1].number, page[-1].target) if page else None
    assert found == names[::-1]
    everything = await told(trail)
    assert await told(trail, AuditQuery(who="laptop")) == everything[3:4]
    assert await told(trail, AuditQuery(target="c1")) == everything[1:2]
    assert await told(trail, AuditQuery(who="laptop", target="c1")) == ()
    last = everything[-1]
    assert last in await told(trail, AuditQuery(since=last.at))
    assert await told(trail, AuditQuery(since=last.at + timedelta(microseconds=1))) == ()


async def test_old_entries_are_pruned(
    repository: MessageRepository, trail: AuditTrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatmemory_layers.sqlite.events.event_log.MOST_AT_ONCE", 2)  # in pieces
    monkeypatch.setattr("chatmemory_layers.postgres.events.event_log.MOST_AT_ONCE", 2)
    for number in range(6):
        await begun_by(PHONE, repository, f"c{number}")
    last = (await told(trail))[-1]
    old = [entry for entry in await told(trail) if entry.at < last.at]
    assert await trail.prune(last.at).or_raise() == len(old)
    assert last in await told(trail)
    assert await trail.prune(last.at + timedelta(seconds=1)).or_raise() == 6 - len(old)
    assert await told(trail) == ()
