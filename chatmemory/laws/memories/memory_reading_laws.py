"""The laws of reading memories: L5, L10, L16, L20."""

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.effect.outcome import Failure
from chatmemory.errors import RepositoryError
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_witness import (
    APPS,
    CONTAINED,
    INSTANTS,
    SPACE,
    TERMS,
    VECTORS,
    MemoryRepositoryUnderTest,
    MemoryWitness,
    found,
    ids_of,
    remembered,
)
from chatmemory.longterm.memories import Memory
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.repository_values import MemoryListing


class MemoryReadingLaws(MemoryRepositoryUnderTest):
    """A read returns what was stored, for every reader, and by every way of asking."""

    @law
    async def test_l5_reopen(self) -> None:
        """L5 reopen: closing and opening changes nothing that can be read, and the counting of uses continues."""
        if not self.is_durable:
            pytest.skip("is_durable is False: nothing is promised to outlive a release")
        async with self.open() as before:
            user = await _some_memories(before)
            await _use(before.repository, user, before.named("0"), use_id="1")
            ids = [before.named(f"{number}") for number in range(13)]
            seen = await before.observe(user, ids=ids, instants=INSTANTS)
        async with self.open(space=before.space) as after:
            expect(await after.observe(user, ids=ids, instants=INSTANTS), seen, "what is read")
            await _use(after.repository, user, after.named("0"), use_id="1")
            again = await after.memory(user, after.named("0"))
            expect(again and again.access_count, 1, "uses after one of them was repeated")

    @law
    async def test_l10_window(self) -> None:
        """L10 window: joined pages are the whole list, ordered by instant and id, and a filter selects a part of it."""
        async with self.open() as witness:
            user = await _some_memories(witness)
            whole = await witness.listed(user)
            order = sorted(whole, key=lambda memory: (memory.created_at, memory.id), reverse=True)
            expect(ids_of(whole), ids_of(order), "the order of the list")
            for size in (1, 2, 5, 100):
                expect(await _pages(witness, user, size), whole, f"the list in pages of {size}")
            parts: list[tuple[dict[str, Any], Callable[[Memory], bool]]] = [
                ({"memory_type": "short_term"}, lambda memory: memory.memory_type == "short_term"),
                ({"tag": "work"}, lambda memory: "work" in memory.tags),
                ({"session_id": "会"}, lambda memory: memory.session_id == "会"),
                ({"value_prefix": "c_"}, lambda memory: (memory.value_key or "").startswith("c_")),
                ({"source": "inferred"}, lambda memory: memory.source == "inferred"),
                ({"exact_app": True}, lambda memory: not memory.app_type),
            ]
            for filters, passes in parts:
                part = tuple(memory for memory in whole if passes(memory))
                expect(await witness.listed(user, **filters), part, f"the list by {filters}")
                kinds = Counter((memory.memory_type, memory.category, memory.source) for memory in part)
                listing = MemoryListing(user, 1, after=(START, ""), **filters)
                counts = await witness.get(witness.repository.count(listing))
                told = {(one.memory_type, one.category, one.source): one.count for one in counts}
                expect(told, dict(kinds), f"the counts by {filters}")

    @law
    async def test_l10_window_on_a_text(self) -> None:
        """L10 window: a list by a text has the memories whose content, key or value contains it; only ASCII case is ignored."""
        async with self.open() as witness:
            user = witness.user()
            for number, text in enumerate(CONTAINED):
                said = {"content": f"茶 {text}."}, {"key": f"茶 {text}."}, {"value": f"茶 {text}."}
                for place, saying in zip("abc", said, strict=True):
                    await witness.store(
                        remembered(witness.named(f"{number}{place}"), namespace=user, **saying)
                    )
            for text in CONTAINED:
                alike = [number for number, other in enumerate(CONTAINED) if _is_in(text, other)]
                listed = [memory.id for memory in await witness.listed(user, containing=text)]
                expected = [witness.named(f"{number}{place}") for number in alike for place in "abc"]
                expect(sorted(listed), sorted(expected), f"what is listed by {text!r}")

    @law
    async def test_l16_filter(self) -> None:
        """L16 filter: a reader in one app finds a part of what a reader without an app finds, and never short-term memories."""
        async with self.open() as witness:
            user = await _some_memories(witness)
            whole = found(await witness.search(user))
            for app in APPS:
                reader = Namespace(user.user, app)
                seen = {key: one for key, one in whole.items() if reader.sees(one[0].namespace)}
                expect(found(await witness.search(reader)), seen, f"what is found in app {app!r}")
                visible = [memory for memory in await witness.listed(user) if reader.sees(memory.namespace)]
                expect(list(await witness.listed(reader)), visible, f"what is listed in app {app!r}")
            types = {memory.memory_type for memory, _, _ in whole.values()}
            expect(types, {"long_term"}, "the types of what is found")

    @law
    async def test_l16_filter_promote(self) -> None:
        """L16 filter: a promoted memory is found, promoting it again changes nothing, and a demoted one is not found."""
        async with self.open() as witness:
            user, mark = witness.user(), witness.repository.mark
            draft = remembered(
                witness.named("1"), namespace=user, memory_type="short_term", space=SPACE, vector=VECTORS[0]
            )
            await witness.store(draft)
            for memory_type in ("long_term", "long_term", "short_term", "short_term", "long_term"):
                await witness.get(mark(user, draft.id, memory_type=memory_type))
                is_found = draft.id in found(await witness.search(user))
                expect(is_found, memory_type == "long_term", f"whether it is found as {memory_type}")
                memory = await witness.memory(user, draft.id)
                expect(memory and (memory.memory_type, memory.version), (memory_type, 1), "type and version")

    @law
    async def test_l20_errors(self) -> None:
        """L20 errors: a released repository fails with a tagged error, or really does the operation."""
        async with self.open() as witness:
            user = witness.user()
            await witness.store(remembered(witness.named("1"), namespace=user))
        draft = remembered(witness.named("2"), namespace=user)
        stored = await witness.ask(witness.repository.store((draft,)))
        read = await witness.ask(witness.repository.get(user, witness.named("1")))
        for outcome in (stored, read):
            if isinstance(outcome, Failure):
                expect(type(outcome.failure()), RepositoryError, "the failure")
                expect(bool(str(outcome.failure())), True, "it says something to the reader")
        if isinstance(stored, Failure):
            return
        if self.is_durable:
            async with self.open(space=witness.space) as later:
                kept = await later.memory(user, draft.id)
        else:
            kept = await witness.memory(user, draft.id)
        expect(kept is not None, True, "it is kept after a store was acknowledged")


def _is_in(text: str, other: str) -> bool:
    return text == other or {text, other} <= {"Tea", "tEA"}


async def _some_memories(witness: MemoryWitness) -> Namespace:
    """Store a dozen memories of one user: in some apps, of few instants, some of them superseded or short-term."""
    user = witness.user("会")
    for number, (app, instant) in zip(range(12), product(APPS[:4], INSTANTS[:3]), strict=True):
        draft = remembered(
            witness.named(f"{number}"),
            namespace=Namespace(user.user, app),
            key=(None, "c_ty", "city", "C_TY")[number % 4],
            tags=((), ("work",), ("Work", "work"))[number % 3],
            session_id=(None, "会", "会议")[number // 2 % 3],
            memory_type="short_term" if number % 5 == 1 else "long_term",
            source="inferred" if number % 3 == 1 else "user_stated",
            created_at=instant,
            terms=TERMS[number],
            space=SPACE if number % 2 else None,
            vector=VECTORS[number % len(VECTORS)] if number % 2 else None,
        )
        await witness.store(draft)
    await witness.store(remembered(witness.named("12"), namespace=user, replaces=witness.named("2")))
    return user


async def _pages(witness: MemoryWitness, user: Namespace, size: int) -> tuple[Memory, ...]:
    joined: tuple[Memory, ...] = ()
    after = None
    for _ in range(100):  # a cursor that does not move must not hang the law
        page = await witness.listed(user, limit=size, after=after)
        if not page:
            break
        joined += page
        after = (page[-1].created_at, page[-1].id)
    return joined


async def _use(repository: MemoryRepository, user: Namespace, memory_id: str, *, use_id: str) -> None:
    use = repository.record_use(user, (memory_id,), use_id=use_id, session_id="s", now=INSTANTS[0])
    await use.or_raise()
