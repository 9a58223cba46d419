"""``APPENDS``: stores appends that wait together by one statement, which checks every fact that it relies on.

The result of an append is decided from the state of the conversation after the last write, or from a state that was read
without a lock.  The statement takes the locks that are free, and writes to a conversation only if it is still in that state
and has none of the ids.  So it stores what ``append`` would have stored under the lock; everything else is left to
``append``.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, final

from attrs import evolve, frozen

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import (
    AppendDecision,
    ConversationState,
    decide_append,
    words_of,
)
from chatmemory.conversation.message_repository import Append, Appended, MessageDraft
from chatmemory.effect import Outcome, Success
from chatmemory.events.event import current_reason
from chatmemory_layers.postgres.engine.connection import Connection, planned_once
from chatmemory_layers.postgres.engine.groups import Answers, GroupedWork, InGroup, Job, Jobs, OwnerFacts
from chatmemory_layers.postgres.engine.migrations import KNOWS_ALL_STEPS
from chatmemory_layers.postgres.engine.row_locks import Owner, lock_of
from chatmemory_layers.postgres.messages import message_writes
from chatmemory_layers.postgres.messages.conversation_row import said_columns, state_in
from chatmemory_layers.sql.columns import to_us
from chatmemory_layers.sql.rows import STATE

SELECT_STATES: Final = f"""
SELECT {STATE}, FALSE AS has_work FROM conversation WHERE conversation_id = ANY ($1::text[])
"""  # noqa: S608  made of a constant

# The parameters are conversations ($1 to $15) and messages ($16 to $28), as arrays.  The last message of an append says who
# has written it, and becomes the event of the append.
#
# The statement takes the locks that are free and waits for none, so that no two groups wait for each other.  The expected
# state of a conversation is passed in columns that an append does not write.  The upsert compares it with the row as it is
# now, whatever was committed since the statement began, and finds the row by its key, which a join might not do.  The time
# is compared, too: a server that lost its last commits may give the same version to another change.  Ids are looked up in
# the order of their index, because in a new store without statistics the planner may choose another index, and read all of
# a conversation.
STORE_APPENDS: Final = planned_once(f"""
WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
        $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[],
        $11::bigint[], $12::text[], $13::text[], $14::bigint[], $15::bigint[]
    ) AS wanted (conversation_id, lock, expected, version, next_seq, message_count, view_count, view_tokens, open_count,
        created_at_us, updated_at_us, owner_user, owner_app, due_at_us, expected_at_us)
), message AS MATERIALIZED (
    SELECT * FROM unnest($16::text[], $17::bigint[], $18::bigint[], $19::bigint[], $20::text[],
        $21::text[], $22::text[], $23::bigint[], $24::text[], $25::bigint[], $26::text[], $27::text[],
        $28::text[]
    ) AS message (conversation_id, version, stored_at_us, seq, id, role, content, sent_at_us, metadata, tokens, who,
        who_user, reason)
), locked AS MATERIALIZED (
    SELECT * FROM wanted WHERE {KNOWS_ALL_STEPS} AND pg_try_advisory_xact_lock(lock)
), known AS MATERIALIZED (
    SELECT message.conversation_id FROM message WHERE EXISTS (
        SELECT FROM chat_message WHERE chat_message.conversation_id = message.conversation_id
            AND hashtextextended(chat_message.id, 0) BETWEEN hashtextextended(message.id, 0) AND hashtextextended(message.id, 0)
            AND chat_message.id = message.id
        ORDER BY hashtextextended(chat_message.id, 0) OFFSET 0
    ) OR EXISTS (
        SELECT FROM summary_coverage WHERE summary_coverage.conversation_id = message.conversation_id
            AND hashtextextended(message_id, 0) = hashtextextended(message.id, 0) AND message_id = message.id
        OFFSET 0
    )
), fitting AS MATERIALIZED (
    SELECT * FROM locked
    WHERE locked.conversation_id NOT IN (SELECT known.conversation_id FROM known) AND (expected = 0 OR EXISTS (
        SELECT FROM conversation WHERE conversation.conversation_id = locked.conversation_id OFFSET 0
    ))
), stored AS (
    INSERT INTO conversation (conversation_id, version, next_seq, rewritten_at_version, message_count, view_count,
        view_tokens, open_count, deleted_count, created_at_us, updated_at_us, owner_user, owner_app, edition,
        forked_at_version, forked_at_seq)
    SELECT conversation_id, version, next_seq, 0, message_count, view_count, view_tokens, open_count, 0, created_at_us,
        updated_at_us, owner_user, owner_app, 1, nullif(expected, 0), CASE WHEN expected > 0 THEN expected_at_us END
    FROM fitting
    ON CONFLICT (conversation_id) DO UPDATE SET
        version = excluded.version,
        next_seq = excluded.next_seq,
        message_count = excluded.message_count,
        view_count = excluded.view_count,
        view_tokens = excluded.view_tokens,
        open_count = excluded.open_count,
        created_at_us = excluded.created_at_us,
        updated_at_us = excluded.updated_at_us
    WHERE conversation.version = excluded.forked_at_version AND conversation.updated_at_us = excluded.forked_at_seq
    RETURNING conversation_id
), event AS (
    INSERT INTO conversation_event (conversation_id, number, who, who_user, action, owner_user, owner_app, reach,
        said_at_us, reason)
    SELECT conversation_id, message.version, who, who_user, 'added', owner_user, owner_app, seq, sent_at_us, reason
    FROM message JOIN stored USING (conversation_id) JOIN wanted USING (conversation_id)
    WHERE who IS NOT NULL
), work AS (
    INSERT INTO history_work (conversation_id, due_at_us, attempts)
    SELECT conversation_id, due_at_us, 0 FROM wanted JOIN stored USING (conversation_id) WHERE due_at_us IS NOT NULL
    ON CONFLICT (conversation_id) DO NOTHING
), added AS (
    INSERT INTO chat_message (conversation_id, version, stored_at_us, seq, place, id, role, content, sent_at_us, metadata,
        tokens)
    SELECT conversation_id, version, stored_at_us, seq, seq, id, role, content, sent_at_us, metadata, tokens
    FROM message JOIN stored USING (conversation_id)
)
SELECT conversation_id, stored.conversation_id IS NOT NULL AS is_stored,
    conversation_id IN (SELECT known.conversation_id FROM known) AS is_known,
    EXISTS (SELECT FROM history_work WHERE history_work.conversation_id = locked.conversation_id OFFSET 0) AS has_work
FROM locked LEFT JOIN stored USING (conversation_id)
""")  # noqa: S608  made of a constant

Rows: TypeAlias = list[tuple[str | int | None, ...]]
"""Rows, whose columns become the arrays."""


@final
@frozen
class _Decided:
    """The decision on the appends of one conversation.

    Attributes:
        before, after: the conversation.
        answers: the result of each append; None: it is written alone.
        due_at_us: the time since which history work is due, in microseconds since 1970; None: it is not due.
    """

    before: ConversationState
    after: ConversationState
    answers: Sequence[Appended | None]
    due_at_us: int | None
    messages: Rows

    def row(self) -> tuple[str | int | None, ...]:
        """Return the state as it is sent to the server."""
        conversation, owner = self.after.conversation, self.after.owner
        return (
            conversation.conversation_id,
            lock_of(conversation.conversation_id),
            self.before.conversation.version,
            conversation.version,
            self.after.next_seq,
            conversation.message_count,
            conversation.view_count,
            conversation.view_tokens,
            conversation.open_count,
            to_us(conversation.created_at),
            to_us(conversation.updated_at),
            owner.user,
            owner.app,
            self.due_at_us,
            to_us(self.before.conversation.updated_at),
        )


async def _read(connection: Connection, kept: OwnerFacts, jobs: Jobs) -> None:
    """Read the states of the conversations for which none is kept."""
    missing = [key for key in jobs if kept.get(key) is None]
    if not missing:
        return
    found = {row["conversation_id"]: row for row in await connection.fetch(SELECT_STATES, missing)}
    for key in missing:
        kept.keep(key, state_in(key, [found[key]] if key in found else []))


async def _store(connection: Connection, kept: OwnerFacts, jobs: Jobs) -> Answers:
    """Store new messages; refused appends and ids that are stored already are left to ``alone``."""
    answers: dict[Owner, Sequence[Outcome[Appended, object] | None]] = {}
    decided: dict[Owner, _Decided] = {}
    for key, waiting in jobs.items():
        state = kept.get(key)
        made = None if state is None else _decide(state, waiting)
        if made is None or not made.messages:
            answers[key] = [None] * len(waiting)
        else:
            decided[key] = made
    if not decided:
        return answers
    states = [made.row() for made in decided.values()]
    messages = [row for made in decided.values() for row in made.messages]
    columns = map(list, (*zip(*states, strict=True), *zip(*messages, strict=True)))
    rows = {row["conversation_id"]: row for row in await connection.fetch(STORE_APPENDS, *columns)}
    for key, made in decided.items():
        row = rows.get(key)
        if row is not None and row["is_stored"]:
            kept.keep(key, made.after)
            answers[key] = [
                None if answer is None else Success(_told(answer, has_work=row["has_work"]))
                for answer in made.answers
            ]
        elif row is None or row["is_known"]:  # another transaction holds the lock
            answers[key] = [None] * len(jobs[key])
        else:
            kept.drop(key)
    return answers


APPENDS: Final = GroupedWork("append messages", message_writes.append, InGroup(_read, _store))


def _decide(before: ConversationState, jobs: Sequence[Job]) -> _Decided:
    """Decide one append after the other; a refusal may be due to facts that are out of date, and is decided again alone."""
    state, said, due_at_us = before, dict[str, MessageDraft](), None
    answers: list[Appended | None] = []
    messages: Rows = []
    for job in jobs:
        made, rows = job.context.run(_decide_one, state, said, job.asked)
        if made is None:
            answers.append(None)
            continue
        answers.append(made.answer)
        messages += rows
        said.update((draft.id, draft) for draft in made.new)
        state = made.state
        if state.has_work:
            due_at_us = due_at_us or to_us(state.conversation.updated_at)
            state = evolve(state, has_work=False)
    return _Decided(before, state, answers, due_at_us, messages)


def _decide_one(
    before: ConversationState, said: Mapping[str, MessageDraft], batch: Append
) -> tuple[AppendDecision | None, Rows]:
    """Decide an append in the context of its caller; *said*: what earlier appends of the group have added.  None: it is refused."""
    who = principal()
    known = {draft.id: words_of(said[draft.id]) for draft in batch.drafts if draft.id in said}
    decision = decide_append(before, known, batch, who)
    if not isinstance(decision, AppendDecision):
        return None, []
    after = decision.state.conversation
    same = (after.conversation_id, after.version, to_us(after.updated_at))
    last = len(decision.new) - 1
    by: tuple[str | None, ...] = (who.name, who.namespace.user, current_reason())
    return decision, [
        (
            *same,
            before.next_seq + place,
            *said_columns(draft),
            *(by if place == last else _NOBODY),
        )
        for place, draft in enumerate(decision.new)
    ]


_NOBODY: Final = (None, None, None)


def _told(answer: Appended, *, has_work: bool) -> Appended:
    return evolve(answer, work_is_due=True) if has_work and not answer.work_is_due else answer
