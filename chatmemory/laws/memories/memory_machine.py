"""``MemoryMachine``: runs any sequence of operations on the memory repository under test and on the model.

Two users with similar names write and read, in a few apps.  The result of each operation, and everything that can be
read afterwards, has to equal the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import product
from typing import Any, Final, cast

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from chatmemory.access.namespace import Namespace
from chatmemory.effect.outcome import Success
from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.laws.kit.law import Host, expect
from chatmemory.laws.kit.samples import START
from chatmemory.laws.kit.side_by_side import SideBySide
from chatmemory.laws.memories.memory_witness import (
    ALL,
    APPS,
    CATEGORIES,
    INSTANTS,
    KEYS,
    ORIGINS,
    OTHER_SPACES,
    SESSIONS,
    SPACE,
    TAGS,
    TERMS,
    VECTORS,
    MemoryObservation,
    MemoryWitness,
    found,
    memories,
    plain,
    search_for,
    users,
)
from chatmemory.longterm.kept_memories import KeptMemories
from chatmemory.longterm.memories import Memory, MemoryType
from chatmemory.longterm.repository_values import (
    Attachment,
    Candidates,
    Expiry,
    Forgetting,
    Mark,
    MemoryDraft,
    MemoryListing,
    Use,
)

REMEMBER: Final = "L1 remember: a memory reads as it was stored, and nothing else changes"
ATOMIC: Final = "L2 atomic batch: a refused batch fails with its reason, and changes nothing"
FIND: Final = (
    "L8 candidates: a search finds all stored memories that match it and pass every filter, and no others"
)
WINDOW: Final = "L10 window: a list is the part of the whole that its filters and its cursor select"
DEDUP: Final = (
    "L13 dedup: every dropped memory is reported, and a memory that is already stored is stored once"
)
MARK: Final = "L16 filter: promoting, demoting, pinning or unpinning a memory changes nothing else of it"
USE: Final = "L17 access: a use is counted once for each memory that is seen"
FORGET: Final = "L23 forget: a forgotten memory is gone, and everything else is unchanged"
TRUTH: Final = "T1 truth: a replacement ends the truth of a memory, and nothing else does"
CORRECT: Final = (
    "T3 correct: a correction changes the content of a memory and its version, guarded by that version"
)
VECTOR: Final = "V1 vectors: a memory is compared in the space of its vector, and in no other"

which = st.integers(0, 9)
"""The index of an earlier draft, the newest first."""

readers = st.tuples(st.integers(0, 1), st.sampled_from((*APPS[:3], "")))
"""One of the two users, in an app or, often enough to see a memory of any app, without an app."""

SELDOM: Final = 4  # the number of times None is drawn for each other value

CONTAINED: Final = ("喜欢", "drop TABLE", "C", "C_T", "%", "É", "文", "null", "1")
FILTERS: Final = (
    *product(("containing",), CONTAINED),
    *product(("memory_type",), ("long_term", "short_term")),
    *product(("category",), CATEGORIES[1:]),
    *product(("source",), ("user_stated", "inferred")),
    *product(("session_id",), SESSIONS[1:]),
    *product(("tag",), TAGS),
    *product(("value_prefix",), ("", *KEYS, "编")),
    *product(("as_of",), INSTANTS),
    ("exact_app", True),
    ("superseded", True),
)
"""Filters of a list: a rule uses few at once, so that something is left to compare."""


def seldom(*values: Any) -> st.SearchStrategy[Any]:
    """Return a strategy that mostly draws None, and seldom one of *values*: with all filters in use nothing would be found."""
    return st.sampled_from((None,) * SELDOM * len(values) + values)


class MemoryMachine(SideBySide[MemoryWitness]):
    """Runs writes, reads and reopenings in any order, and compares each answer with the model."""

    def __init__(self, host: Host[MemoryWitness], *, is_durable: bool) -> None:
        super().__init__(host, is_durable=is_durable)
        self.model: KeptMemories = KeptMemories()
        self.users: list[str] = []
        self.sent: list[MemoryDraft] = []

    @initialize(users=users, drafts=st.lists(memories, min_size=4, max_size=8))
    def begin(self, users: tuple[str, ...], drafts: list[MemoryDraft]) -> None:
        """Choose the names, and store something, so that every sequence has data to work on."""
        self.users = [self.space + user for user in users]
        for index, draft in enumerate(drafts):
            self._put([self._named(draft, self._namespace(index % 2, draft.namespace.app), index)])
        self._agree(REMEMBER)

    @rule(
        drafts=st.lists(memories, min_size=1, max_size=4),
        reader=st.none() | readers,
        replaces=st.none() | which,
        is_now=st.booleans(),
        again=st.booleans(),
    )
    def store(
        self,
        drafts: list[MemoryDraft],
        reader: tuple[int, str] | None,
        replaces: int | None,
        is_now: bool,
        again: bool,
    ) -> None:
        """Store new memories; the last of them may replace others, or a memory that does not exist.

        With *again*, forgotten memories are stored too.
        """
        now, namespace = self._later(), self._reading(reader, replaces or 0)
        new = [
            evolve(self._named(draft, namespace, index), again=again) for index, draft in enumerate(drafts)
        ]
        if is_now:
            new = [evolve(draft, created_at=now) for draft in new]
        if replaces is not None:
            new[-1] = evolve(new[-1], replaces=self._sent(replaces).id)
        self._store(new)

    @rule(
        which=which,
        change=st.sampled_from(({}, {"content": "另一句"}, {"value": True}, {"terms": "tea"})),
        beside=st.lists(memories, max_size=1),
    )
    def store_again(self, which: int, change: dict[str, Any], beside: list[MemoryDraft]) -> None:
        """Repeat an earlier draft, stored, refused or forgotten; its content may differ, or a new memory may come with it."""
        self._later()
        sent = self._sent(which)
        self._store([*(self._named(new, sent.namespace, 0) for new in beside), evolve(sent, **change)])

    def _store(self, drafts: list[MemoryDraft]) -> None:
        self._agree(self._put(drafts))

    def _put(self, drafts: list[MemoryDraft]) -> str:
        """Store *drafts*, and return the law for what can be read then."""
        self.sent += drafts
        predicted = self.model.store(tuple(drafts))
        law = ATOMIC
        if isinstance(predicted, Success):
            outcomes = predicted.unwrap()
            is_new = all(outcome.outcome == "stored" for outcome in outcomes)
            replaces = any(outcome.outcome == "stored" and outcome.superseded for outcome in outcomes)
            law = DEDUP if not is_new else TRUTH if replaces else REMEMBER
        answered = self.host.ask(lambda witness: witness.ask(witness.repository.store(tuple(drafts))))
        expect(answered, predicted, "the store answered", law=law)
        return law

    @rule(
        which=which,
        reader=st.none() | readers,
        said=memories,
        lag=st.sampled_from((0, 0, 1)),
        keep_vector=st.booleans(),
    )
    def rewrite(
        self, which: int, reader: tuple[int, str] | None, said: MemoryDraft, lag: int, keep_vector: bool
    ) -> None:
        """Correct a memory, which may be unseen, or may have changed since it was read."""
        draft = evolve(said, id=self._sent(which).id, namespace=self._reading(reader, which))
        before = self.model.get(draft.namespace, draft.id)
        version = lag + (before.version if before else 1)
        self._same(CORRECT, "rewrite", draft, expected_version=version, keep_vector=keep_vector)
        self._agree(CORRECT)

    @rule(
        which=which,
        reader=st.none() | readers,
        memory_type=st.sampled_from((None, "long_term", "short_term")),
        pinned=st.sampled_from((None, True, False)),
    )
    def mark(
        self,
        which: int,
        reader: tuple[int, str] | None,
        memory_type: MemoryType | None,
        pinned: bool | None,
    ) -> None:
        """Promote, demote, pin or unpin a memory, which may be unseen."""
        marked = Mark(self._reading(reader, which), self._sent(which).id, memory_type, pinned)
        self._same(MARK, "mark", marked)
        self._agree(MARK)

    @rule(
        which=st.lists(which, max_size=3),
        reader=st.none() | readers,
        use_id=st.sampled_from(("use", "Use")),
        session_id=st.sampled_from(SESSIONS),
        promote_after=st.sampled_from((None, 1, 2)),
        is_repeated=st.booleans(),
    )
    def record_use(
        self,
        which: list[int],
        reader: tuple[int, str] | None,
        use_id: str,
        session_id: str | None,
        promote_after: int | None,
        is_repeated: bool,
    ) -> None:
        """Use some memories; one of them may occur twice, and the use may have been counted before."""
        use = Use(
            namespace=self._reading(reader, next(iter(which), 0)),
            memory_ids=tuple(self._sent(index).id for index in which),
            use_id=use_id,
            session_id=session_id,
            now=self._later(),
            promote_after=promote_after,
        )
        for _ in range(1 + is_repeated):
            self._same(USE, "record_use", use)
        self._agree(USE)

    @rule(reader=readers, key=st.sampled_from(KEYS))
    def retire(self, reader: tuple[int, str], key: str) -> None:
        """End the truth of a key."""
        self._same(TRUTH, "retire", self._namespace(*reader), key, now=self._later())
        self._agree(TRUTH)

    @rule(which=which, reader=st.none() | readers, other=st.none() | which)
    def restore(self, which: int, reader: tuple[int, str] | None, other: int | None) -> None:
        """Make a memory true again; it may replace another one."""
        namespace, now = self._reading(reader, which), self._later()
        memory_id = self._sent(which).id
        instead_of = None if other is None else self._sent(other).id
        self._same(TRUTH, "restore", namespace, memory_id, instead_of=instead_of, now=now)
        self._agree(TRUTH)

    @rule(which=which, reader=st.none() | readers)
    def forget(self, which: int, reader: tuple[int, str] | None) -> None:
        """Forget a memory, which may be unseen."""
        self._forget(Forgetting(self._reading(reader, which), memory_id=self._sent(which).id))

    @rule(which=which, reader=st.none() | readers, origin=st.sampled_from(ORIGINS))
    def forget_by_origin(self, which: int, reader: tuple[int, str] | None, origin: Mapping[str, str]) -> None:
        """Forget the memories of an origin, or all of them."""
        self._forget(Forgetting(self._reading(reader, which), **origin))

    def _forget(self, forgetting: Forgetting) -> None:
        gone = self.model.forget(forgetting)
        predicted = len(gone), sum(row.vector is not None for row in gone)
        receipt = self.host.ask(lambda witness: witness.get(witness.repository.forget(forgetting)))
        expect((receipt.memories, receipt.embeddings), predicted, "the receipt", law=FORGET)
        self._agree(FORGET)

    @rule(
        reader=readers,
        session_id=st.sampled_from(SESSIONS),
        created_before=st.none() | st.sampled_from(INSTANTS),
    )
    def expire(
        self, reader: tuple[int, str], session_id: str | None, created_before: datetime | None
    ) -> None:
        """Expire short-term memories."""
        self._same(FORGET, "expire", Expiry(self._namespace(*reader), session_id, created_before))
        self._agree(FORGET)

    @rule(
        reader=st.none() | readers,
        attached=st.lists(
            st.tuples(which, st.sampled_from(VECTORS)), max_size=3, unique_by=lambda one: one[0]
        ),
        lag=st.sampled_from((0, 0, 1)),
    )
    def attach(self, reader: tuple[int, str] | None, attached: list[tuple[int, Vector]], lag: int) -> None:
        """Attach vectors to memories; a vector may belong to an outdated content."""
        namespace = self._reading(reader, attached[0][0] if attached else 0)
        vectors = {self._sent(index).id: vector for index, vector in attached}
        versions = {
            memory_id: (memory.version if (memory := self.model.get(namespace, memory_id)) else 1) + lag
            for memory_id in vectors
        }
        attachments = tuple(Attachment(key, versions[key], vector) for key, vector in vectors.items())
        self._same(VECTOR, "attach", namespace, SPACE, attachments)
        self._agree(VECTOR)

    @rule(
        reader=readers,
        space=st.sampled_from((SPACE, *OTHER_SPACES)),
        limit=st.integers(0, 3),
        after=st.none() | which,
    )
    def unembedded(
        self, reader: tuple[int, str], space: EmbeddingSpace, limit: int, after: int | None
    ) -> None:
        """List the memories without a vector of *space*."""
        namespace = self._namespace(*reader)
        cursor = None if after is None else _place(self._sent(after))
        self._same(VECTOR, "unembedded", namespace, space, limit=limit, after=cursor)

    @rule(
        reader=readers,
        limit=st.integers(0, 3),
        after=st.none() | which,
        filters=st.lists(st.sampled_from(FILTERS), max_size=3, unique_by=lambda one: one[0]),
    )
    def read_list(
        self, reader: tuple[int, str], limit: int, after: int | None, filters: list[tuple[str, Any]]
    ) -> None:
        """List memories: whole, with filters, and page by page; *after* is a memory before the first one."""
        cursor = None if after is None else _place(self._sent(after))
        listing = MemoryListing(self._namespace(*reader), ALL, after=cursor)
        for narrowed in (*({name: value} for name, value in filters), dict(filters)):
            self._read(evolve(listing, **narrowed))
        whole = self._read(listing)
        for end in range(0, len(whole), max(limit, 1)):
            self._read(evolve(listing, limit=limit, after=_place(whole[end - 1]) if end else cursor))

    def _read(self, listing: MemoryListing) -> tuple[Memory, ...]:
        answered = self.host.ask(lambda witness: witness.get(witness.repository.list(listing)))
        expect(tuple(map(plain, answered)), self._listed(listing), f"the list of {listing}", law=WINDOW)
        counted = self.host.ask(lambda witness: witness.get(witness.repository.count(listing)))
        expect(set(counted), set(self.model.count(listing)), f"the counts of {listing}", law=WINDOW)
        return answered

    @rule(reader=readers, key=st.sampled_from(KEYS), as_of=seldom(*INSTANTS))
    def read_value(self, reader: tuple[int, str], key: str, as_of: datetime | None) -> None:
        """Read the value of a key."""
        self._same(TRUTH, "value", self._namespace(*reader), key, as_of=as_of)

    @rule(
        reader=readers,
        text=st.sampled_from(("喜欢", "DROP TABLE", "%", "nowhere", "_\\")),
        terms=st.lists(st.sampled_from(TERMS), max_size=3, unique=True).map(tuple),
        vector=st.none() | st.sampled_from(VECTORS),
        category=seldom(*CATEGORIES[1:]),
        tags=st.sampled_from(((), (), TAGS[:1], TAGS[:2])),
        as_of=st.none() | st.sampled_from(INSTANTS),
    )
    def search(self, reader: tuple[int, str], vector: Vector | None, **query: Any) -> None:
        """Search by words and by a vector; without results, the search is for the text itself."""
        space = None if vector is None else SPACE
        search = search_for(self._namespace(*reader), space=space, vector=vector, **query)
        answered = self.host.ask(lambda witness: witness.get(witness.repository.search(search)))
        expect(_told(answered), _told(self.model.search(search)), f"the candidates for {search}", law=FIND)

    def _plain(self, answer: Any) -> Any:
        if isinstance(answer, tuple):
            return tuple(map(self._plain, cast("Iterable[Any]", answer)))
        return plain(answer) if isinstance(answer, Memory) else answer

    def _namespace(self, user: int, app: str) -> Namespace:
        return Namespace(self.users[user], app)

    def _named(self, draft: MemoryDraft, namespace: Namespace, index: int) -> MemoryDraft:
        memory_id = f"{self.space}{self.minutes}.{index}{draft.id}"
        return evolve(draft, id=memory_id, namespace=namespace)

    def _sent(self, which: int) -> MemoryDraft:
        return self.sent[-1 - which % len(self.sent)]

    def _reading(self, reader: tuple[int, str] | None, which: int) -> Namespace:
        """Return the namespace of *reader*, or of the named memory: a random reader would see too few memories."""
        return self._sent(which).namespace if reader is None else self._namespace(*reader)

    def _agree(self, law: str) -> None:
        """Compare all that the users can read, with an app and without."""
        for namespace, observed in self.host.ask(self._observe).items():
            expect(observed, self._predicted(namespace), f"what is read in {namespace}", law=law)

    def _predicted(self, namespace: Namespace) -> MemoryObservation:
        """Return the expected result of ``MemoryWitness.observe``."""
        candidates = self.model.search(search_for(namespace))
        return MemoryObservation(
            now=self._listed(MemoryListing(namespace, ALL)),
            then={
                instant: self._listed(MemoryListing(namespace, ALL, as_of=instant))
                for instant in self._instants()
            },
            by_id={memory_id: self._plain(self.model.get(namespace, memory_id)) for memory_id in self._ids()},
            found=found(candidates),
            coverage=candidates.coverage,
        )

    def _listed(self, listing: MemoryListing) -> tuple[Memory, ...]:
        return tuple(map(plain, self.model.listed(listing)))

    async def _observe(self, witness: MemoryWitness) -> dict[Namespace, MemoryObservation]:
        namespaces = [self._namespace(user, app) for user in (0, 1) for app in APPS[:2]]
        return {
            namespace: await witness.observe(namespace, ids=self._ids(), instants=self._instants())
            for namespace in namespaces
        }

    def _ids(self) -> Iterable[str]:
        return dict.fromkeys(draft.id for draft in self.sent)

    def _instants(self) -> Iterable[datetime]:
        return START, START + timedelta(minutes=self.minutes // 2)


def _told(candidates: Candidates) -> tuple[object, ...]:
    """Return the result of a search in a form that can be compared."""
    return found(candidates), candidates.matched_text, candidates.coverage


def _place(memory: Memory | MemoryDraft) -> tuple[datetime, str]:
    """Return the position of *memory* in listings."""
    return memory.created_at, memory.id
