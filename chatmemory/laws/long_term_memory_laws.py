"""``LongTermMemoryLaws``: the laws of a long-term memory over any repository, as one class of tests.

``repository_laws.py`` has the laws of the repository.  This module has the laws of the service over it: L8, L9, L15,
L16, L17, L18, L23, and the laws of undo: U1, U2.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from math import isfinite
from typing import Any

import pytest
from attrs import evolve

from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.errors import MemoryChangedError, NotUndoableError
from chatmemory.laws.kit.law import UnderTest, expect, law
from chatmemory.laws.kit.samples import DAY
from chatmemory.laws.long_term_witness import LawEmbedder, LongTermWitness, ids_of
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memories import MemoryChanges, MemoryType, NewMemory
from chatmemory.longterm.recall.recall import RecallHit
from chatmemory.settings.memory_settings import RetrievalSettings, RetrievalSettingsTag

MINUTE_SECONDS = 60
ANGLES = (0, 10, 20, 45, 60, 75, 90, 135, 180)  # of the memories, in degrees
KEY = "城市"
QUERIES = ("绿茶 0", "绿茶 40", "green tea 170", "nothing 0")
PURE_SIMILARITY = RetrievalSettings(lexical_share=0.0, decay_per_day=0.0, similarity_threshold=-1.0)
ACCURACY = 1e-5  # of a score: similarities are exact to 1e-6


class LongTermMemoryLaws(UnderTest):
    """Subclass it, name your layer, and run pytest.

    Attributes:
        memory: a layer that needs at most an embedder, the settings of retrieval and a clock; the laws provide them.
    """

    memory: Layer[LongTermMemoryService, Any, Any]

    @asynccontextmanager
    async def open(
        self, retrieval: RetrievalSettings | None = None, **witness: Any
    ) -> AsyncGenerator[LongTermWitness]:
        """Open the memory with a clock that stands still, for its own users."""
        embedder, clock = LawEmbedder(), TestClock()
        given = (
            Layer.succeed(EmbedderTag, embedder)
            | Layer.succeed(RetrievalSettingsTag, retrieval or RetrievalSettings())
            | Layer.succeed(ClockTag, clock)
        )
        async with ManagedRuntime(given >> self.memory) as runtime:
            service = await runtime.service(LongTermMemoryService)
            witness = {"patience_seconds": self.patience_seconds, **witness}
            yield LongTermWitness(service, embedder, clock, **witness)

    @law
    async def test_l8_recall(self) -> None:
        """L8 recall: hits were remembered, best first, newest first among equals; a longer answer begins with a shorter one."""
        async with self.open() as witness:
            remembered = await _fill(witness)
            for query in QUERIES:
                whole = await witness.recall(query)
                expect(set(ids_of(whole)) | remembered, remembered, f"what {query!r} may find, and its hits")
                order = sorted(whole.hits, key=_rank, reverse=True)
                expect(ids_of(whole), [hit.memory.id for hit in order], f"the order of hits for {query!r}")
                sound = [isfinite(hit.score) and 0 <= hit.score <= 1 for hit in whole.hits]
                expect(all(sound), True, f"whether every score is from 0 to 1, in {whole}")
                for limit in (1, 2, 3, 7):
                    shorter = await witness.recall(query, limit=limit)
                    expect(shorter.hits, whole.hits[:limit], f"the best {limit} for {query!r}")

    @law
    async def test_u1_undo(self) -> None:
        """U1 undo: a correction, a pin, a promotion and a successor are each undone by one call, which is logged."""
        async with self.open() as witness:
            memory, user = witness.memory, witness.user()
            first = NewMemory("住在北京 10", key="k", value={"n": 1}, tags=("x",), memory_type="short_term")
            (a,) = (await witness.remember([first])).stored
            (before,) = await witness.read([a])
            corrected = MemoryChanges(content="住在上海 20", key=None, value=None, tags=())
            await witness.get(memory.update(user, a, corrected))
            undone = await witness.get(memory.undo(user, a))
            expect(undone, evolve(before, version=3), "a correction that was undone")
            found = [hit.memory.content for hit in (await witness.recall("住在北京 10")).hits]
            expect("住在上海 20" in found, False, "whether the correction is found")
            await witness.get(memory.promote(user, a))
            await witness.get(memory.pin(user, a))
            promoted = (await witness.events(a))[-2]
            undone = await witness.get(memory.undo(user, a, number=promoted.number))
            expect((undone.memory_type, undone.pinned), ("short_term", True), "a promotion that was undone")
            pinned = (await witness.events(a))[-2]
            undone = await witness.get(memory.undo(user, a, number=pinned.number))
            expect(undone.pinned, False, "a pin that was undone")
            newer = await witness.get(memory.supersede(user, a, NewMemory("住在杭州 30")))
            undone = await witness.get(memory.undo(user, a))
            expect(
                (undone.superseded_at, undone.superseded_by), (None, None), "the end of what is true again"
            )
            (successor,) = await witness.read([newer.id])
            expect(successor.superseded_by, a, "what took the place of the successor")
            reasons = [one.reason for one in await witness.events(a) if one.reason]
            expect(reasons, ["undo"] * 4, "the reasons of the changes that undid another")
            second = await witness.get(memory.supersede(user, a, NewMemory("住在杭州 40")))
            third = await witness.get(memory.supersede(user, second.id, NewMemory("住在杭州 50")))
            await witness.get(memory.undo(user, a))
            (_, replaced) = await witness.read([a, third.id])
            expect(replaced.superseded_by, a, "what took the place of the successor of the successor")

    @law
    async def test_u1_undo_of_values(self) -> None:
        """U1 undo: a value that was put is replaced by the value before, and a deleted value is there again."""
        async with self.open() as witness:
            memory, user = witness.memory, witness.user()
            await witness.get(memory.put_value(user, KEY, "北京"))
            await witness.clock.advance(1)
            put = await witness.get(memory.put_value(user, KEY, "上海"))
            new_id = getattr(put, "id", "")
            (stored,) = await witness.events(new_id)
            undone = await witness.get(memory.undo(user, new_id, number=stored.number))
            expect(undone.value, "北京", "the value before")
            value = await witness.get(memory.get_value(user, KEY))
            expect(value and value.value, "北京", "the value of the key")
            await witness.clock.advance(1)
            expect(await witness.get(memory.delete_value(user, KEY)), True, "whether there was a value")
            await witness.get(memory.undo(user, undone.id))
            value = await witness.get(memory.get_value(user, KEY))
            expect(value and value.value, "北京", "the value of the key, once its end was undone")

    @law
    async def test_u2_no_undo(self) -> None:
        """U2 no undo: a change that removed content, or that another change followed, is refused, and nothing changes."""
        async with self.open() as witness:
            memory, user = witness.memory, witness.user()
            (a,) = (await witness.remember([NewMemory("住在北京 10")])).stored
            stored = await witness.refusal(memory.undo(user, a))
            expect(stored, NotUndoableError, "what undoing the first of all changes ends with")
            unknown = await witness.refusal(memory.undo(user, a, number=10**15))
            expect(unknown, NotUndoableError, "what undoing a change that is not on record ends with")
            await witness.get(memory.update(user, a, MemoryChanges(content="住在上海 20")))
            changed = (await witness.events(a))[-1]
            await witness.get(memory.update(user, a, MemoryChanges(content="住在杭州 30")))
            late = await witness.refusal(memory.undo(user, a, number=changed.number))
            expect(
                late, MemoryChangedError, "what undoing a correction behind which stands another ends with"
            )
            (kept,) = await witness.read([a])
            expect(kept.content, "住在杭州 30", "what the memory says")
            await witness.get(memory.forget(user, a))
            gone = await witness.refusal(memory.undo(user, a))
            expect(gone, NotUndoableError, "what undoing a forgetting ends with")

    @law
    async def test_l9_self(self) -> None:
        """L9 self: a query with a memory's own words finds that memory first, with a similarity of 1."""
        async with self.open() as witness:
            await _fill(witness)
            for angle in ANGLES:
                best = (await witness.recall(f"喜欢喝绿茶 {angle}")).hits[0]
                expect(best.memory.content, f"喜欢喝绿茶 {angle}", "the best hit")
                expect(best.signals.similarity, pytest.approx(1, abs=ACCURACY), "its similarity")

    @law
    async def test_l15_threshold(self) -> None:
        """L15 threshold: a higher threshold keeps a part of the hits; a hit without a matching word has to reach it."""
        before: set[str] | None = None
        async with self.open() as first:
            space = first.space
        for threshold in (-1.0, 0.0, 0.3, 0.7, 0.99):
            retrieval = RetrievalSettings(similarity_threshold=threshold)
            async with self.open(retrieval, space=space) as witness:
                await _fill(witness)
                hits = (await witness.recall("nothing 0")).hits
                reached = [hit.signals.similarity or 0 for hit in hits]
                expect(all(one >= threshold for one in reached), True, f"{reached} reach {threshold}")
                found = {hit.memory.id for hit in hits}
                expect(
                    found | (before or found), before or found, f"the hits at {threshold}, and those before"
                )
                before = found

    @law
    async def test_l15_threshold_without_decay(self) -> None:
        """L15 threshold: without decay and words the score is the similarity, for memories of any age."""
        async with self.open(PURE_SIMILARITY) as witness:
            await _fill(witness)
            for query in QUERIES:
                for hit in (await witness.recall(query)).hits:
                    similarity = max(0.0, hit.signals.similarity or 0)
                    expect(hit.score, pytest.approx(similarity, abs=ACCURACY), f"the score of {hit}")

    @law
    async def test_l15_decay(self) -> None:
        """L15 decay: of equal inferred memories an older never outranks a newer; the weight is in (0, 1], and 1 when pinned."""
        async with self.open() as witness:
            now = witness.clock.now()
            ages = (-1000, -1, 0, 1, 2, 100, 10_000)  # days; the first two are from the future
            await witness.remember(
                [
                    NewMemory(
                        "喜欢喝绿茶 0",
                        witness.named(f"{age} {pinned}"),
                        source="inferred",
                        memory_type="long_term",
                        created_at=now - age * DAY,
                        pinned=pinned,
                    )
                    for age in ages
                    for pinned in (False, True)
                ]
            )
            hits = (await witness.recall("绿茶 0")).hits
            expect(len(hits), 2 * len(ages), "hits")
            decays = [hit.signals.decay for hit in hits]
            expect(all(0 < decay <= 1 for decay in decays), True, f"whether {decays} are above 0 and up to 1")
            pinned = {hit.signals.decay for hit in hits if hit.memory.pinned}
            expect(pinned, {1.0}, "the weights of pinned memories")
            aging = [hit for hit in hits if not hit.memory.pinned]
            born = [hit.memory.created_at for hit in aging]
            expect(born, sorted(born, reverse=True), "when the hits began, best first")
            past = [hit.signals.decay for hit in aging if hit.memory.created_at <= now]
            expect(
                past,
                sorted(set(past), reverse=True),
                "the weights of what began before now, each below the last",
            )

    @law
    async def test_l16_filter(self) -> None:
        """L16 filter: what an app recalls is also recalled without one; short-term memories never, until promoted."""
        async with self.open() as witness:
            await _fill(witness)
            for app in ("excel", "word"):
                await witness.remember(
                    [NewMemory("喜欢喝绿茶 5", witness.named(app))], namespace=witness.user(app)
                )
            short = witness.named("short")
            kind: MemoryType = "short_term"
            await witness.remember([NewMemory("喜欢喝绿茶 0", short, memory_type=kind)])
            for query in QUERIES[:3]:
                whole = set(ids_of(await witness.recall(query)))
                expect(short in whole, False, "whether a short-term memory is recalled")
                seen = set(ids_of(await witness.recall(query, namespace=witness.user("excel"))))
                expect(seen, whole - {witness.named("word")}, f"what is recalled in an app for {query!r}")
            for _ in range(2):
                await witness.get(witness.memory.promote(witness.user(), short))
                hits = ids_of(await witness.recall("绿茶 0"))
                expect(hits.count(short), 1, "how often it is recalled once it was promoted")

    @law
    async def test_l17_access(self) -> None:
        """L17 access: a recall changes nothing; a use counts exactly 1 for each memory, and does not change the ranking."""
        async with self.open() as witness:
            memory_ids = sorted(await _fill(witness))
            before = await witness.read(memory_ids)
            recalled = await witness.recall("绿茶 0")
            expect(await witness.read(memory_ids), before, "the memories after a recall")
            used = ids_of(recalled)[:3]
            for _ in range(2):  # the second time is a repetition
                await witness.get(witness.memory.record_use(witness.user(), used, use_id="u"))
                counts = {memory.id: memory.access_count for memory in await witness.read(memory_ids)}
                expected = {memory_id: int(memory_id in used) for memory_id in memory_ids}
                expect(counts, expected, "uses counted")
            again = await witness.recall("绿茶 0")
            expect(ids_of(again), ids_of(recalled), "what is recalled after it")

    @law
    async def test_l17_hits(self) -> None:
        """L17 hits: a context's message uses what the user stated in other sessions; a promoted memory is then recalled."""
        async with self.open() as witness:
            stated, answered, known, home = map(witness.named, ("stated", "answered", "known", "home"))
            said: Any = {"session_id": home, "memory_type": "short_term"}
            await witness.remember(
                [
                    NewMemory("下雨天喝普洱", stated, **said),
                    NewMemory("普洱很好", answered, source="inferred", role="assistant", **said),
                    NewMemory("普洱要慢慢喝", known, memory_type="long_term"),
                ]
            )
            sessions = [home, None, *[witness.named(f"s{number}") for number in (1, 1, 2, 3, 4)]]
            for number, session in enumerate(sessions):
                (before,) = await witness.read([stated])
                use = witness.memory.record_use(
                    witness.user(), (), use_id=f"{number}", session_id=session, query="普洱"
                )
                report = await witness.get(use)
                (after,) = await witness.read([stated])
                counted = after.access_count - before.access_count
                expect(report.used, counted, f"uses told of, in session {session}")
                if session in {home, None}:
                    expect(counted, 0, "uses in its own session, or in none")
                became = (stated,) if after.memory_type != before.memory_type else ()
                expect(report.promoted, became, f"what a use in session {session} promoted")
                is_shown = stated in ids_of(await witness.recall("普洱"))
                expect(is_shown, after.memory_type == "long_term", "whether a recall shows it")
            others = await witness.read([answered, known])
            expect([memory.access_count for memory in others], [0, 0], "uses of what no context has used")

    @law
    async def test_l18_degrade(self) -> None:
        """L18 degrade: when an embedder fails, only the vectors are missing, and it is not called for half an hour."""
        async with self.open() as witness:
            embedder, clock = witness.embedder, witness.clock
            await _fill(witness)
            embedder.fails = True
            failing = await witness.recall("绿茶 40")
            calls = embedder.calls
            expect(failing.mode, "lexical", "the mode without a vector")
            expect(len(failing.hits), len(ANGLES), "what is found by words")
            by_text = await witness.recall("欢喝绿")
            expect(by_text.mode != "hybrid", True, f"whether {by_text.mode} is a mode without vectors")
            report = await witness.remember([NewMemory("喜欢喝红茶 40", witness.named("late"))])
            expect(
                (len(report.stored), report.unembedded),
                (1, 1),
                "what was stored, and how much without a vector",
            )
            embedder.fails = False
            await clock.advance(29 * MINUTE_SECONDS)
            expect((await witness.recall("绿茶 40")).mode, "lexical", "the mode 29 minutes later")
            expect(embedder.calls, calls, "how often the embedder was asked meanwhile")
            await clock.advance(2 * MINUTE_SECONDS)
            expect((await witness.recall("绿茶 40")).mode, "hybrid", "the mode 31 minutes later")
            report_again = await witness.get(witness.memory.re_embed(witness.user()))
            expect((report_again.embedded, report_again.remaining), (1, 0), "what a re-embedding brings over")
            coverage = (await witness.recall("绿茶 40")).coverage
            expect(coverage.embedded, coverage.memories, "memories that can be compared after it")

    @law
    async def test_l18_degrade_alike(self) -> None:
        """L18 degrade: the answer with an embedder that fails now equals the answer with one that has never worked."""
        answers: list[object] = []
        for fails_from_the_start in (True, False):
            async with self.open() as witness:
                witness.embedder.fails = fails_from_the_start
                await _fill(witness)
                witness.embedder.fails = True
                recalls = [await witness.recall(query) for query in QUERIES]
                answers.append(
                    [[(hit.memory.content, hit.score) for hit in recall.hits] for recall in recalls]
                )
        expect(answers[1], answers[0], "what is recalled once the embedder fails")

    @law
    async def test_l23_forget(self) -> None:
        """L23 forget: a forgotten memory is never recalled, by words, by vector or in the past."""
        async with self.open() as witness:
            memory_ids = sorted(await _fill(witness))
            for query in QUERIES:
                await witness.recall(query)  # a recalled memory may be cached somewhere
            for memory_id in memory_ids[::2]:
                await witness.get(witness.memory.forget(witness.user(), memory_id))
            left = set(memory_ids[1::2])
            for query in QUERIES:
                found = set(ids_of(await witness.recall(query)))
                expect(found | left, left, f"what {query!r} may find, and its hits")
                then = await witness.get(
                    witness.memory.recall(witness.user(), query, as_of=witness.clock.now())
                )
                expect(set(ids_of(then)) | left, left, f"what {query!r} may find in the past, and its hits")


async def _fill(witness: LongTermWitness) -> set[str]:
    """Store a memory at every angle, each a day older than the one before, and return the ids."""
    report = await witness.remember(
        [
            NewMemory(
                f"喜欢喝绿茶 {angle}",
                witness.named(f"{angle}"),
                created_at=witness.clock.now() - days * DAY,
            )
            for days, angle in enumerate(ANGLES)
        ]
    )
    return {outcome.id if outcome.outcome == "stored" else outcome.of or "" for outcome in report.outcomes}


def _rank(hit: RecallHit) -> tuple[object, ...]:
    return hit.score, hit.memory.created_at, hit.memory.id
