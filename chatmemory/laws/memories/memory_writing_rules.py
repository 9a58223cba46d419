"""``WritingRules``: all changes of memories, on the repository under test and on the model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from chatmemory.effect.outcome import Success
from chatmemory.embedding.embedder import Vector
from chatmemory.laws.kit.law import expect
from chatmemory.laws.memories.memory_side_by_side import (
    ATOMIC,
    CORRECT,
    DEDUP,
    FORGET,
    MARK,
    REMEMBER,
    TRUTH,
    USE,
    VECTOR,
    MemorySideBySide,
    readers,
    which,
)
from chatmemory.laws.memories.memory_witness import (
    INSTANTS,
    KEYS,
    ORIGINS,
    SESSIONS,
    SPACE,
    VECTORS,
    memories,
    users,
)
from chatmemory.longterm.memories import MemoryType
from chatmemory.longterm.repository_values import Attachment, Expiry, Forgetting, Mark, MemoryDraft, Use


class WritingRules(MemorySideBySide):
    """The result of each operation, and everything that can be read afterwards, has to equal the model."""

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
        answered = self._ask(lambda witness: witness.ask(witness.repository.store(tuple(drafts))))
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
        receipt = self._ask(lambda witness: witness.get(witness.repository.forget(forgetting)))
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
