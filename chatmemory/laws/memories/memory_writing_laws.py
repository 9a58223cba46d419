"""The laws of storing memories, one writer at a time: L1, L2, L3, L11, L12, L13."""

from itertools import chain

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.effect.outcome import Failure
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import ALIKE, START
from chatmemory.laws.memories.memory_witness import (
    APPS,
    CONTENTS,
    INSTANTS,
    PROVENANCES,
    PUT,
    SOURCES,
    SPACE,
    TERMS,
    VALUES,
    VECTORS,
    MemoryRepositoryUnderTest,
    MemoryWitness,
    dedup_key,
    ids_of,
    plain,
    remembered,
)
from chatmemory.longterm.memories import Duplicate, Stored
from chatmemory.longterm.repository_values import (
    Attachment,
    Expiry,
    Forgetting,
    ImportedPast,
    Mark,
    MemoryDraft,
)


class MemoryWritingLaws(MemoryRepositoryUnderTest):
    """A batch changes its own namespace as it says, and no other namespace."""

    @law
    async def test_l1_remember(self) -> None:
        """L1 remember: a memory reads as it was given - text, value, instant, tags, origin - and is new: true, unused."""
        async with self.open() as witness:
            for index, draft in enumerate(_every_kind(witness)):
                stored = await witness.store(draft)
                expect(stored, (Stored(draft.id),), f"the answer to {draft}")
                expect(
                    await witness.memory(draft.namespace, draft.id), plain(draft.stored()), "the memory read"
                )
                expect(len(await witness.listed(witness.user())), index + 1, "memories listed")

    @law
    async def test_l1_remember_copies(self) -> None:
        """L1 remember: the store keeps a copy; changing a value or a vector that was given or read changes nothing."""
        async with self.open() as witness:
            value, vector = {"tags": ["工作"]}, VECTORS[0].copy()
            draft = remembered(
                witness.named("1"), namespace=witness.user(), value=value, space=SPACE, vector=vector
            )
            await witness.store(draft)
            value["tags"] = ["changed by the writer"]
            vector *= -1
            for _ in range(2):
                memory = await witness.get(witness.repository.get(draft.namespace, draft.id))
                read = memory and memory.value
                expect(read, {"tags": ["工作"]}, "the value")
                if isinstance(read, dict):
                    read.clear()  # as a careless reader might
            (candidate,) = (await witness.search(draft.namespace)).found
            expect(round(candidate.similarity or 0, 5), 1.0, "the similarity to the vector that was given")

    @law
    async def test_l2_atomic_batch(self) -> None:
        """L2 atomic batch: a batch with one memory that cannot be stored fails with its reason and changes nothing."""
        async with self.open() as witness:
            user, named = witness.user(), witness.named
            one = remembered(named("1"), namespace=user, key="city", dedup_key=dedup_key("1"), **PUT)
            await witness.store(one, remembered(named("2"), namespace=user))
            ids = [named(name) for name in "12345"]
            his = remembered(named("his"), namespace=witness.user("b"))
            await witness.store(his)
            of_an_app, in_another = [Namespace(user.user, app) for app in APPS[1:3]]
            await witness.store(remembered(named("of an app"), namespace=of_an_app))
            before = await witness.observe(user, ids=ids, instants=INSTANTS)
            fine = remembered(named("3"), namespace=user, key="city", **PUT)
            two = remembered(named("2"), "另一句", namespace=user)
            unseen = remembered(named("4"), namespace=in_another, replaces=named("of an app"))
            taken = evolve(one, content="另一句")
            missing = remembered(named("4"), namespace=user, replaces=named("nobody"))
            late = remembered(named("5"), namespace=user, replaces=one.id)  # which is replaced before
            conflict = Failure(MemoryConflictError((one.id,)))
            for refused, reason in (
                ((fine, taken), conflict),
                ((taken, missing, fine), conflict),
                ((fine, missing), Failure(MemoryNotFoundError(named("nobody")))),
                ((fine, late), Failure(MemoryNotFoundError(one.id))),
                ((fine, evolve(fine, content="另一句")), Failure(MemoryConflictError((fine.id,)))),
                ((two, missing, taken), Failure(MemoryConflictError((two.id, one.id)))),
                ((fine, evolve(one, namespace=in_another)), conflict),
                ((fine, evolve(missing, replaces=his.id)), Failure(MemoryNotFoundError(his.id))),
                ((fine, unseen), Failure(MemoryNotFoundError(named("of an app")))),
            ):
                expect(
                    await witness.ask(witness.repository.store(refused)), reason, f"the answer to {refused}"
                )
                after = await witness.observe(user, ids=ids, instants=INSTANTS)
                expect(after, before, "what is read after it")

    @law
    async def test_l3_isolation(self) -> None:
        """L3 isolation: an operation in one namespace leaves every other one unchanged, however alike their names."""
        async with self.open() as witness:
            users = [witness.named(name) for name in dict.fromkeys(chain(*ALIKE))]
            names = [Namespace(user, app) for user in users[:3] for app in APPS[1:]]
            names += [Namespace(user, "a") for user in users[3:]]
            for index, namespace in enumerate(names):
                await witness.store(*_inhabitants(witness, namespace, index))
            seen = {namespace: await witness.observe(namespace) for namespace in names}
            for index, namespace in enumerate(names):
                untouched = await witness.observe(namespace)
                expect(untouched, seen[namespace], f"{namespace} after others were changed")
                await _live(witness, namespace, _inhabitants(witness, namespace, index))
                seen[namespace] = await witness.observe(namespace)
                expect(seen[namespace].now, (), f"what {namespace} reads after it was changed")
            for namespace in names:
                ended = await witness.observe(namespace)
                expect(ended, seen[namespace], f"{namespace} after others were changed")

    @law
    async def test_l3_isolation_of_ids(self) -> None:
        """L3 isolation: memories of two users with the same ids are independent of each other."""
        async with self.open() as witness:
            user, other = witness.user("a"), witness.user("A")
            lives = {one: _inhabitants(witness, one, 0) for one in (user, other)}
            for one, drafts in lives.items():
                heir = remembered(witness.named("heir"), namespace=one, replaces=drafts[1].id)
                for draft in (*drafts, heir):
                    answer = Stored(draft.id, () if draft.replaces is None else (draft.replaces,))
                    expect(await witness.store(draft), (answer,), f"the answer to {draft}")
            ids = [witness.named("heir"), *(draft.id for draft in lives[user])]
            seen = await witness.observe(other, ids=ids, instants=INSTANTS)
            await _live(witness, user, lives[user])
            await witness.get(witness.repository.forget(Forgetting(user, memory_id=witness.named("heir"))))
            expect((await witness.observe(user)).now, (), f"what {user} reads after it was changed")
            after = await witness.observe(other, ids=ids, instants=INSTANTS)
            expect(after, seen, f"{other} after {user} was changed")

    @law
    async def test_l11_empty(self) -> None:
        """L11 empty: an empty operation changes nothing, and an unknown namespace is empty."""
        async with self.open() as witness:
            user, repository = witness.user(), witness.repository
            before = await witness.observe(user)
            expect((len(before.now), len(before.found)), (0, 0), "what is read of nobody")
            expect(await witness.store(), (), "the answer to an empty batch")
            for question, answer in (
                (repository.get(user, "1"), None),
                (repository.value(user, "city"), None),
                (repository.mark(Mark(user, "1", pinned=True)), None),
                (repository.rewrite(remembered("1", namespace=user), expected_version=1), None),
                (repository.retire(user, "city", now=START), False),
                (repository.expire(Expiry(user)), 0),
                (repository.unembedded(user, SPACE, limit=9), ((), 0)),
                (repository.attach(user, SPACE, (Attachment("1", 1, VECTORS[0]),)), 0),
            ):
                expect(await witness.get(question), answer, f"the answer of {question}")
            receipt = await witness.get(repository.forget(Forgetting(user)))
            expect((receipt.memories, receipt.embeddings), (0, 0), "what was forgotten")
            expect((await witness.use(user, "1", session_id=None)).used, 0, "uses counted")
            expect(await witness.observe(user), before, "what is read after all that")

    @law
    async def test_l12_retry(self) -> None:
        """L12 retry: storing the same ids again stores them once and reports it, also after later changes."""
        async with self.open() as witness:
            user, named = witness.user(), witness.named
            sent = (
                remembered(named("1"), namespace=user, key="city", value={"a": 1, "b": [2]}),
                remembered(named("2"), namespace=user, key="city", **PUT),
                remembered(named("3"), namespace=user, dedup_key=dedup_key("3"), replaces=named("2")),
            )
            await witness.store(*sent)
            before = await witness.observe(user, ids=[draft.id for draft in sent], instants=INSTANTS)
            # Neither another time nor another order of keys makes it another memory.
            resent = (evolve(sent[0], value={"b": [2], "a": 1}, created_at=INSTANTS[2]), *sent[1:], sent[0])
            answer = await witness.store(*resent)
            expect(answer, tuple(Duplicate(draft.id) for draft in resent), "the answer to a retry")
            after = await witness.observe(user, ids=[draft.id for draft in sent], instants=INSTANTS)
            expect(after, before, "what is read after it")
            for changed in ({"value": {"a": True, "b": [2]}}, {"key": None}, {"content": "另一句"}):
                conflict = await witness.ask(witness.repository.store((evolve(sent[0], **changed),)))
                expect(conflict, Failure(MemoryConflictError((sent[0].id,))), f"the answer to {changed}")

    @law
    async def test_l13_dedup(self) -> None:
        """L13 dedup: of memories with one dedup key one is true, and the answer for a dropped one names the kept one."""
        async with self.open() as witness:
            kept: dict[tuple[Namespace, bytes | None], str] = {}
            for index in range(24):
                namespace = witness.user("a" if index % 2 else "A", APPS[index % 3])
                key = (None, dedup_key("1"), dedup_key("2"), dedup_key("1 "))[index % 4]
                draft = remembered(witness.named(f"{index}"), namespace=namespace, dedup_key=key)
                first = kept.setdefault((namespace, key or draft.id.encode()), draft.id)
                expected = Stored(draft.id) if first == draft.id else Duplicate(first)
                expect(await witness.store(draft), (expected,), f"the answer to number {index}")
            for user in ("a", "A"):
                listed = set(ids_of(await witness.listed(witness.user(user))))
                ours = {
                    first for (namespace, _), first in kept.items() if namespace.user.endswith(f" {user}")
                }
                expect(listed, ours, "what is kept")
            # An ended memory has no duplicates, and a duplicate replaces nothing.
            other = witness.user("b")
            ended = remembered(witness.named("ended"), namespace=other, dedup_key=dedup_key("1"))
            heir = remembered(witness.named("heir"), namespace=other, replaces=ended.id)
            again, repeated = [evolve(ended, id=witness.named(name)) for name in ("again", "repeated")]
            await witness.store(ended)
            await witness.store(heir)
            expect(await witness.store(again), (Stored(again.id),), "the answer after the first has ended")
            answer = await witness.store(evolve(repeated, replaces=heir.id))
            expect(answer, (Duplicate(again.id),), "the answer to a duplicate that would replace another")
            over = evolve(
                ended,
                id=witness.named("over"),
                past=ImportedPast(superseded_at=START, superseded_by=again.id),
            )
            expect(
                await witness.store(over), (Stored(over.id),), "the answer to what is over, beside its twin"
            )
            expect(set(ids_of(await witness.listed(other))), {heir.id, again.id}, "what is kept after it")


def _every_kind(witness: MemoryWitness) -> list[MemoryDraft]:
    """Return memories that cover every text, value, instant and origin of the samples."""
    return [
        remembered(
            witness.named(f"{index} %_é🙂"),
            CONTENTS[index % len(CONTENTS)],
            namespace=witness.user(),
            key=(None, "城市", "c_ty")[index % 3],
            value=VALUES[index % len(VALUES)],
            category=(None, "preference", "fact", "pattern")[index % 4],
            tags=((), ("工作", "work"), ("%",))[index % 3],
            confidence=index / 10,
            source=SOURCES[index % len(SOURCES)][0],
            role=SOURCES[index % len(SOURCES)][1],
            session_id=(None, "会议")[index % 2],
            memory_type=("long_term", "short_term")[index % 2],
            pinned=index % 2 == 0,
            provenance=PROVENANCES[index % len(PROVENANCES)],
            created_at=INSTANTS[index % len(INSTANTS)],
            space=(None, SPACE)[index % 2],
            vector=(None, VECTORS[0])[index % 2],
        )
        for index in range(len(VALUES))
    ]


def _inhabitants(witness: MemoryWitness, namespace: Namespace, index: int) -> list[MemoryDraft]:
    """Return memories for a namespace; memories without an app have a separate owner."""
    return [
        remembered(
            witness.named(f"{index} {name}"),
            namespace=namespace,
            key="city",
            session_id="会议",
            terms=" ".join(TERMS),
            memory_type="short_term" if name == "short" else "long_term",
            dedup_key=dedup_key(name),
            space=SPACE,
            vector=VECTORS[0],
            **(PUT if name == "two" else {}),
        )
        for name in ("one", "two", "short")
    ]


async def _live(witness: MemoryWitness, namespace: Namespace, drafts: list[MemoryDraft]) -> None:
    """Perform every operation in a namespace, and leave no memory in it that is true."""
    repository = witness.repository
    ids = tuple(draft.id for draft in drafts)
    await witness.get(repository.mark(Mark(namespace, ids[0], pinned=True)))
    await witness.use(namespace, *ids)
    await witness.get(repository.rewrite(evolve(drafts[0], content="另一句"), expected_version=1))
    await witness.get(repository.expire(Expiry(namespace, session_id="会议")))
    await witness.get(repository.attach(namespace, SPACE, (Attachment(ids[0], 2, VECTORS[1]),)))
    await witness.store(evolve(drafts[0], id=f"{ids[0]} newer", dedup_key=None, replaces=ids[0]))
    await witness.get(repository.forget(Forgetting(namespace, memory_id=f"{ids[0]} newer")))
    await witness.get(repository.retire(namespace, "city", now=START))
    await witness.get(repository.forget(Forgetting(namespace, session_id="会议")))
