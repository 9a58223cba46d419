"""``RepositoryMachine``: runs any sequence of operations on the repository under test and on the model.

Hypothesis generates the sequences and shrinks one that fails.  The result of each operation, and everything that can
be read afterwards in any conversation, has to equal the model.
"""

from datetime import datetime, timedelta
from typing import Any

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from chatmemory.access.namespace import UNOWNED, Namespace
from chatmemory.access.principal import EVERYBODY, NO_PRINCIPAL, READ, Granted, Principal, acting_as
from chatmemory.conversation.conversations import Conversations
from chatmemory.conversation.message_repository import (
    ConversationListing,
    Fork,
    MessageDraft,
    PageQuery,
    Undo,
    WorkThreshold,
)
from chatmemory.conversation.messages import Conversation, ConversationOrder, SummarizationMetadata, View
from chatmemory.effect import Success
from chatmemory.laws.kit.law import Host, expect
from chatmemory.laws.kit.samples import (
    ALWAYS,
    START,
    TEXTS,
    batch,
    batches,
    instants,
    names,
    said,
    size_of,
    somebody,
    summary_of,
)
from chatmemory.laws.kit.side_by_side import SideBySide
from chatmemory.laws.messages.witness import VIEWS, Observation, Witness

APPEND = "L1 append: a conversation has its earlier messages, and then the batch"
ATOMIC = "L2 atomic batch: a refused batch fails with its reason, and changes nothing"
ISOLATION = "L3 isolation: an operation on one conversation leaves every other one unchanged"
CLEAR = "L4 clear: a cleared conversation is gone, and begins again at a later version"
WINDOW = "L10 window: a page is the part of the whole that its query selects"
RETRY = "L12 retry: a message that is already stored is reported as a duplicate, and stored once"
REMOVE = "L24 remove: the newest message in view is removed, and the messages that a summary covered come back into view"
COVERAGE = "L14 coverage: every message is in view, or one summary covers it"
PAST = "L27 past: a page as of a version equals the page at that version, as far as its content is kept"
FORK = (
    "L28 fork: a branch begins with the state of its parent at the point, and both then change independently"
)
UNDO = "L29 undo: the newest change is undone, as far as its content is kept, by a new change"
COUNTS = "L25 counts: the counts of a conversation equal what can be read of it"

ADA = somebody("ada")
BOB = evolve(
    somebody(
        "bob",
        Granted(Namespace("ada"), rights=READ),
        Granted(UNOWNED, rights=frozenset({"read", "write"})),
        app="app",
    ),
    roles=frozenset({"user", "assistant"}),
)
"""Sees Ada's conversations and those without an owner, and may delete neither."""
OWNERS = (NO_PRINCIPAL, ADA, BOB)
whoever = st.sampled_from((EVERYBODY, NO_PRINCIPAL, ADA, BOB))


MOST_CONVERSATIONS = 5
which = st.integers(0, MOST_CONVERSATIONS - 1)
cursors = st.none() | st.integers(0, 8)
thresholds = st.sampled_from(
    (ALWAYS, None, WorkThreshold(open_count=3), WorkThreshold(view_count=5), WorkThreshold(view_tokens=20))
)
lags = st.sampled_from((None, None, None, 0, 1))
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"timestamp": START},
    {"content": "changed", "tokens": size_of("changed")},
    {"metadata": {"changed": True}},
)


class RepositoryMachine(SideBySide[Witness]):
    """Three conversations with similar names, branches of them, and all operations on them."""

    def __init__(self, host: Host[Witness], *, is_durable: bool) -> None:
        super().__init__(host, is_durable=is_durable)
        self.model: Conversations = Conversations()
        self.ids: list[str] = []
        self.sent: dict[str, list[MessageDraft]] = {}
        self.read: dict[tuple[str, int], Observation] = {}
        self._acting = acting_as(EVERYBODY)  # who reads and compares; a rule may act as another principal
        self._acting.__enter__()

    def teardown(self) -> None:
        """Stop acting."""
        self._acting.__exit__(None, None, None)

    @initialize(names=names, sizes=st.tuples(*[st.sampled_from((4, 5, 0))] * 3))
    def begin_conversations(self, names: tuple[str, ...], sizes: tuple[int, ...]) -> None:
        """Choose the names, and store some messages, so that every sequence has data to work on."""
        self.ids = [self.space + name for name in names]
        self.sent = {conversation_id: [] for conversation_id in self.ids}
        for conversation_id, size, owner in zip(self.ids, sizes, OWNERS, strict=True):
            if size:
                self._append(
                    conversation_id, [said(f"{index}", TEXTS[index]) for index in range(size)], who=owner
                )

    @rule(which=which, drafts=batches, threshold=thresholds, lag=lags, who=whoever)
    def append(
        self,
        which: int,
        drafts: list[MessageDraft],
        threshold: WorkThreshold | None,
        lag: int | None,
        who: Principal,
    ) -> None:
        """Add new messages; an expected version may be given, and may be wrong."""
        conversation_id = self._id(which)
        number = self.minutes
        new = [evolve(draft, id=f"{number}.{index}{draft.id}") for index, draft in enumerate(drafts)]
        version = self._version(conversation_id, lag)
        self._append(conversation_id, new, threshold=threshold, expected_version=version, who=who)

    @rule(
        which=which,
        start=st.integers(0, 5),
        size=st.integers(1, 4),
        change=st.sampled_from(CHANGES),
        lag=lags,
    )
    def append_again(
        self, which: int, start: int, size: int, change: dict[str, Any], lag: int | None
    ) -> None:
        """Repeat earlier messages, stored, refused or deleted; the last of them may differ."""
        conversation_id = self._id(which)
        again = self.sent[conversation_id][start : start + size]
        if again:
            drafts = [*again[:-1], evolve(again[-1], **change)]
            self._append(conversation_id, drafts, expected_version=self._version(conversation_id, lag))

    def _version(self, conversation_id: str, lag: int | None) -> int | None:
        return None if lag is None else abs(self._state(conversation_id).version - lag)

    def _append(
        self,
        conversation_id: str,
        drafts: list[MessageDraft],
        *,
        threshold: WorkThreshold | None = None,
        expected_version: int | None = None,
        who: Principal = EVERYBODY,
    ) -> None:
        self.sent[conversation_id] += drafts
        appending = batch(
            conversation_id,
            *drafts,
            expected_version=expected_version,
            threshold=threshold,
            now=self._later(),
        )
        with acting_as(who):
            predicted = self.model.append(appending)
            answered = self.host.ask(lambda witness: witness.ask(witness.repository.append(appending)))
        law = ATOMIC
        if isinstance(predicted, Success):
            law = APPEND if predicted.unwrap().stored else RETRY
        expect(answered, predicted, "the append answered", law=law)
        self._agree(law, conversation_id)

    @precondition(lambda self: self.minutes % 3 == 0)  # or sequences would clear more than they add
    @rule(which=which, who=whoever, with_branches=st.sampled_from((False, False, True)))
    def clear(self, which: int, who: Principal, with_branches: bool) -> None:
        """Clear a conversation, which may be empty; its branches may be cleared, too."""
        conversation_id, now = self._id(which), self._later()
        with acting_as(who):
            self._same(CLEAR, "clear", conversation_id, now=now, with_branches=with_branches)
        self._agree(CLEAR, conversation_id)

    @rule(which=which, threshold=thresholds, lag=lags, who=whoever)
    def undo(self, which: int, threshold: WorkThreshold | None, lag: int | None, who: Principal) -> None:
        """Undo the newest change of any kind."""
        conversation_id = self._id(which)
        undo = Undo(conversation_id, self._later(), threshold, self._version(conversation_id, lag))
        with acting_as(who):
            self._same(UNDO, "undo", undo)
        self._agree(UNDO, conversation_id)

    @rule(which=which, threshold=thresholds, who=whoever)
    def remove_newest(self, which: int, threshold: WorkThreshold | None, who: Principal) -> None:
        """Remove the newest message of a conversation; the message may be a summary, and the conversation may be empty."""
        conversation_id, now = self._id(which), self._later()
        with acting_as(who):
            self._same(REMOVE, "remove_newest", conversation_id, now=now, threshold=threshold)
        self._agree(REMOVE, conversation_id)

    @rule(
        which=which,
        start=st.integers(0, 2),
        size=st.integers(1, 6),
        delete=st.booleans(),
        lag=st.sampled_from((0, 0, 1, 2)),
        threshold=thresholds,
    )
    def summarize(
        self,
        which: int,
        start: int,
        size: int,
        delete: bool,
        lag: int,
        threshold: WorkThreshold | None,
    ) -> None:
        """Summarize a part of the view; the plan may be older than the last rewriting."""
        conversation_id = self._id(which)
        covered = self._predicted(conversation_id).model[start : start + size]
        if not covered:
            return
        summary = summary_of(
            conversation_id,
            covered,
            message_id=f"summary {self.minutes}",
            planned_at_version=max(0, self._state(conversation_id).version - lag),
            delete_covered=delete,
            threshold=threshold,
            now=self._later(),
        )
        self.sent[conversation_id].append(summary.draft)
        self._same(COVERAGE, "summarize", summary)
        self._agree(COVERAGE, conversation_id)

    @rule(
        which=which,
        view=st.sampled_from(("model", "full")),
        limit=st.none() | st.integers(0, 6),
        before=st.none() | instants,
        older_than=cursors,
        newer_than=cursors,
        as_of=st.none() | st.integers(-9, 12),
        who=whoever,
    )
    def read_page(
        self,
        which: int,
        view: View,
        limit: int | None,
        before: datetime | None,
        older_than: int | None,
        newer_than: int | None,
        as_of: int | None,
        who: Principal,
    ) -> None:
        """Read a part, of the present, an earlier version, or an earlier instant."""
        older_than = None if newer_than is not None else older_than
        at = None if as_of is None else as_of if as_of >= 0 else self._now() + timedelta(minutes=as_of)
        query = PageQuery(self._id(which), view, limit, before, older_than, newer_than, at)
        with acting_as(who):
            predicted = self.model.page(query)
            answered = self.host.ask(lambda witness: witness.get(witness.repository.page(query)))
        if predicted is not None and answered is not None:
            # The repository chooses the number of a cursor, within the gaps of the sequence.
            answered = evolve(answered, older=predicted.older, newer=predicted.newer)
        expect(answered, predicted, f"the page of {query}", law=WINDOW if as_of is None else PAST)

    @precondition(lambda self: len(self.ids) < MOST_CONVERSATIONS)
    @rule(
        which=which,
        at=st.none() | st.integers(0, 9),
        is_message=st.booleans(),
        threshold=thresholds,
        who=whoever,
    )
    def fork(
        self, which: int, at: int | None, is_message: bool, threshold: WorkThreshold | None, who: Principal
    ) -> None:
        """Begin a branch: at the end, at a version, or at a message that was sent, which may be deleted."""
        conversation_id = self._id(which)
        point: int | str | None = at
        sent = self.sent[conversation_id]
        if is_message and at is not None and sent:
            point = sent[at % len(sent)].id
        new_id = f"{self.space}branch {len(self.ids)}"
        fork = Fork(conversation_id, new_id, point, self._later(), threshold)
        is_made = False
        for _ in range(2):
            with acting_as(who):
                is_made = isinstance(self._same(FORK, "fork", fork), Success)
        if is_made:
            self.ids.append(new_id)
            self.sent[new_id] = list(sent)
        self._agree(FORK, conversation_id, new_id)

    @rule(which=which, version=st.integers(1, 12), view=st.sampled_from(VIEWS))
    def read_again(self, which: int, version: int, view: View) -> None:
        """Read everything as of a version whose content is kept, and compare it with the earlier read."""
        conversation_id = self._id(which)
        seen = self.read.get((conversation_id, version))
        query = PageQuery(conversation_id, view, as_of=version)
        page = self.host.ask(lambda witness: witness.get(witness.repository.page(query)))
        if seen is not None and page is not None and page.is_whole:
            read = seen.model if view == "model" else seen.full
            expect(page.messages, read, f"what is read again of {query}", law=PAST)

    @rule(
        limit=st.integers(0, 3),
        after=st.none() | st.tuples(st.integers(-1, 20), which),
        order=st.sampled_from(("id", "recent")),
        shared=st.none() | which,
        who=whoever,
    )
    def list_conversations(
        self,
        limit: int,
        after: tuple[int, int] | None,
        order: ConversationOrder,
        shared: int | None,
        who: Principal,
    ) -> None:
        """List conversations; a position and a prefix, one of the ids, may limit the list."""
        place = None if after is None else (START + timedelta(minutes=after[0]), self._id(after[1]))
        prefix = self.space if shared is None else self._id(shared)
        listing = ConversationListing(limit, place, order, prefix)
        with acting_as(who):
            self._same(WINDOW, "conversations", listing)

    def _id(self, which: int) -> str:
        return self.ids[which % len(self.ids)]

    def _state(self, conversation_id: str) -> Conversation:
        return self.model.history(conversation_id).state.conversation

    def _predicted(self, conversation_id: str) -> Observation:
        full, model = (self.model.page(PageQuery(conversation_id, view)) for view in VIEWS)
        return Observation(
            self.model.conversation(conversation_id),
            full.messages if full else (),
            model.messages if model else (),
        )

    def _agree(self, law: str, *touched: str) -> None:
        """Compare all that can be read; a difference outside of *touched*, if given, breaks the law of isolation."""
        observed = self.host.ask(self._observe)
        for conversation_id, observation in observed.items():
            expect(
                observation,
                self._predicted(conversation_id),
                f"what is read of {conversation_id!r}",
                law=law if conversation_id in (touched or self.ids) else ISOLATION,
            )
            observation.expect_counts(conversation_id, law=COUNTS)
            if observation.conversation is not None:
                self.read[conversation_id, observation.conversation.version] = observation
        chains = self.host.ask(self._chains)
        for (conversation_id, message_id), chain in chains.items():
            expect(
                chain,
                self.model.summarizations_of(conversation_id, message_id),
                f"the summaries that stand for {message_id!r} in {conversation_id!r}",
                law=COVERAGE,
            )

    async def _observe(self, witness: Witness) -> dict[str, Observation]:
        return {conversation_id: await witness.observe(conversation_id) for conversation_id in self.ids}

    async def _chains(self, witness: Witness) -> dict[tuple[str, str], tuple[SummarizationMetadata, ...]]:
        known = {(key, draft.id) for key, drafts in self.sent.items() for draft in drafts}
        return {
            pair: await witness.get(witness.repository.summarizations_of(*pair)) for pair in sorted(known)
        }
