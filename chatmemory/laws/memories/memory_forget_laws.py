"""The laws of forgetting: L23."""

from datetime import datetime
from typing import Any

import pytest
from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.conversation.message_repository import MessageRepository
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import DAY, START, batch, said
from chatmemory.laws.memories.memory_witness import (
    INSTANTS,
    PUT,
    SPACE,
    VECTORS,
    MemoryRepositoryUnderTest,
    MemoryWitness,
    dedup_key,
    found,
    ids_of,
    remembered,
)
from chatmemory.laws.messages.witness import Witness
from chatmemory.longterm.memories import Provenance, Stored
from chatmemory.longterm.repository_values import Expiry, Forgetting, MemoryDraft


class MemoryForgetLaws(MemoryRepositoryUnderTest):
    """Forgotten memories are removed completely, and all others stay as they were."""

    @law
    async def test_l23_forget(self) -> None:
        """L23 forget: a named memory is gone from every read, with its older values; everything else is unchanged."""
        async with self.open() as witness:
            user, other = witness.user("a"), witness.user("A")
            drafts = _family(witness, user)
            for draft in (*drafts, remembered(witness.named("his"), namespace=other, session_id="会议")):
                await witness.store(draft)
            ids = {draft.id for draft in drafts}
            gone: set[str] = set()
            named = witness.named
            nothing = set[str]()
            for forgetting, forgotten in (
                (Forgetting(other, memory_id=named("3")), nothing),
                (Forgetting(user, memory_id=named("nobody")), nothing),
                (Forgetting(user, memory_id=named("3")), {named("1"), named("2"), named("3")}),
                (Forgetting(user, memory_id=named("b")), {named("a"), named("b")}),
                (Forgetting(user, message_id="m1", session_id="会"), {named("5")}),
                (Forgetting(user, message_id="m1"), {named("4")}),
                (Forgetting(user, path="notes.md"), {named("6")}),
                (Forgetting(user, session_id="会议"), {named("7")}),
                (Forgetting(user, session_id="会议"), nothing),
            ):
                before = await witness.observe(user, ids=ids - gone - forgotten, instants=INSTANTS)
                receipt = await witness.get(witness.repository.forget(forgetting))
                removed = (receipt.memories, receipt.embeddings)
                expect(removed, (len(forgotten), len(forgotten)), f"what was removed for {forgetting}")
                gone |= forgotten
                after = await witness.observe(user, ids=ids - gone, instants=INSTANTS)
                expect(after.by_id, before.by_id, "the memories that were not named")
                kept = [memory for memory in before.now if memory.id not in gone]
                expect(list(after.now), kept, "the list after it")
                for memory_id in gone:
                    expect(await witness.memory(user, memory_id), None, "a forgotten memory")
                expect(gone & set(found(await witness.search(user))), nothing, "what is found of it")
                then = {one for listed in after.then.values() for one in ids_of(listed)}
                expect(gone & then, nothing, "what is read of it in the past")
            expect(await witness.memory(other, named("his")) is not None, True, "another user's memory")

    @law
    async def test_l23_forget_all(self) -> None:
        """L23 forget: no dedup key, use or successor of a forgotten memory is kept either."""
        async with self.open() as witness:
            user = witness.user()
            first = remembered(
                witness.named("1"), namespace=user, dedup_key=dedup_key("1"), memory_type="short_term"
            )
            older = remembered(witness.named("0"), namespace=user)
            heir = remembered(
                witness.named("2"), namespace=user, session_id="会议", replaces=older.id, terms="tea"
            )
            await witness.store(first, older, heir)
            await witness.use(user, first.id, promote_after=2)
            await witness.get(witness.repository.forget(Forgetting(user, session_id="会议")))
            ended = await witness.end(user, older.id)
            expect(ended, (START, None), "the end of what a forgotten memory had superseded")
            receipt = await witness.get(witness.repository.forget(Forgetting(user)))
            expect(receipt.memories, 2, "what was left to be forgotten")
            anew = evolve(first, id=witness.named("3"))
            expect(await witness.store(anew), (Stored(anew.id),), "the answer to storing it anew")
            again = await witness.use(user, anew.id, promote_after=2)
            expect((again.used, again.promoted), (1, ()), "the use that would have been the second one")

    @law
    async def test_l23_expire(self) -> None:
        """L23 forget: only short-term memories that are not pinned expire, by session and age; the rest is unchanged."""
        async with self.open() as witness:
            user = witness.user()
            kinds = [
                (memory_type, pinned, session_id, created_at)
                for memory_type in ("short_term", "long_term")
                for pinned in (False, True)
                for session_id in ("会", "会议")
                for created_at in (START - DAY, START)
            ]
            for number, (memory_type, pinned, session_id, created_at) in enumerate(kinds):
                draft = remembered(
                    witness.named(f"{number:02}"),
                    namespace=user,
                    memory_type=memory_type,
                    pinned=pinned,
                    session_id=session_id,
                    created_at=created_at,
                )
                await witness.store(draft)
            left = await witness.listed(user)
            expiries: list[tuple[str | None, datetime | None]]
            expiries = [("会", START), ("会议", None), (None, START), (None, None)]
            for session, created_before in expiries:
                expired = [
                    memory
                    for memory in left
                    if memory.memory_type == "short_term"
                    and not memory.pinned
                    and session in {None, memory.session_id}
                    and (created_before is None or memory.created_at < created_before)
                ]
                expiry = witness.repository.expire(
                    Expiry(user, session_id=session, created_before=created_before)
                )
                expect(await witness.get(expiry), len(expired), f"what expired of {session}")
                left = tuple(memory for memory in left if memory not in expired)
                expect(await witness.listed(user), left, "what is left")
            old = remembered(witness.named("old"), namespace=user)
            heir = remembered(
                witness.named("heir"), namespace=user, memory_type="short_term", replaces=old.id
            )
            await witness.store(old)
            await witness.store(heir)
            expect(
                await witness.get(witness.repository.expire(Expiry(user))), 1, "what expired of a successor"
            )
            ended = await witness.end(user, old.id)
            expect(ended, (START, None), "the end of what an expired memory had superseded")

    @law
    async def test_l23_forget_marks_summaries(self) -> None:
        """L23 forget: a summary that covers a message of a forgotten memory becomes stale; no other summary does."""
        async with self.open() as witness:
            if witness.messages is None:
                pytest.skip("keeps_conversations is False: there are no summaries in the same store")
            talk, user = witness.named("会议"), witness.user()
            await _summarized_talk(witness.messages, talk)
            origins = {"1": "inner", "3": "outer", "4": "aside"}
            for message_id in origins:
                draft = remembered(
                    witness.named(message_id),
                    namespace=user,
                    session_id=talk,
                    provenance=Provenance((message_id, "5")),
                )
                await witness.store(draft)
            before = await witness.get(witness.messages.conversation(talk))
            stale: set[str] = set()
            for message_id, summaries in (("4", {"aside"}), ("3", {"outer"}), ("1", {"inner", "outer"})):
                forgetting = Forgetting(user, memory_id=witness.named(message_id))
                receipt = await witness.get(witness.repository.forget(forgetting))
                expect(receipt.stale_summaries, tuple(sorted(summaries)), "the summaries of the receipt")
                stale |= summaries
                for summary_id in ("inner", "outer", "aside"):
                    made = await witness.get(witness.messages.summarization(talk, summary_id))
                    expect(made and made.is_stale, summary_id in stale, f"whether {summary_id} is stale")
            expect(await witness.get(witness.messages.conversation(talk)), before, "the conversation")


def _family(witness: MemoryWitness, user: Namespace) -> list[MemoryDraft]:
    """Return two chains of three memories, and memories of several origins; each has a vector."""
    named = witness.named
    origins: dict[str, dict[str, Any]] = {
        "1": {},
        "2": {"replaces": named("1"), "created_at": START + DAY},
        "3": {"replaces": named("2"), "created_at": START + 2 * DAY},
        "a": {"key": "城市", **PUT},
        "b": {"key": "城市", **PUT},
        "c": {"replaces": named("b")},
        "4": {"provenance": Provenance(("m0", "m1"))},
        "5": {"provenance": Provenance(("m1",)), "session_id": "会"},
        "6": {"provenance": Provenance(path="notes.md")},
        "7": {"session_id": "会议", "memory_type": "short_term"},
        "8": {"session_id": "会", "provenance": Provenance(("m2",), path="notes.md#1")},
    }
    return [
        remembered(named(name), namespace=user, space=SPACE, vector=VECTORS[0], terms="tea", **origin)
        for name, origin in origins.items()
    ]


async def _summarized_talk(messages: MessageRepository, talk: str) -> None:
    """Store five messages; summarize the first two, then that summary with the third message, and the fourth alone."""
    witness = Witness(messages)
    await witness.get(messages.append(batch(talk, *map(said, "12345"))))
    await witness.summarize(talk, 0, 2, message_id="inner", delete_covered=True)
    await witness.summarize(talk, 0, 2, message_id="outer")
    await witness.summarize(talk, 1, 2, message_id="aside")
