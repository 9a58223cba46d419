"""``STORES``: stores batches of memories that wait together by one statement, which checks every fact that it relies on.

Each batch is decided from facts that are read without a lock, once for all batches that wait.  Each write of a user's
memories sets ``memory_user.changed_us``.  The statement takes the locks that are free.  It stores for a user only if this
value is the same as when the facts were read.  ``memory_store.store`` does the rest: it ends memories that a newer one
replaces, stores new spaces and the past of imported memories, and writes batches of several users.
"""

from collections.abc import Sequence
from typing import Any, Final, final
from uuid import UUID

from attrs import define, field

from chatmemory.effect import Outcome, Success
from chatmemory.longterm.changes import StoreDecision, decide_store
from chatmemory.longterm.memories import SaveOutcome
from chatmemory.longterm.repository_values import MemoryDraft
from chatmemory_layers.postgres.engine.connection import Connection, Row, planned_once
from chatmemory_layers.postgres.engine.groups import Answers, GroupedWork, InGroup, Job, Jobs, OwnerFacts
from chatmemory_layers.postgres.engine.migrations import KNOWS_ALL_STEPS
from chatmemory_layers.postgres.engine.row_locks import MEMORIES_OF, Owner, lock_of
from chatmemory_layers.postgres.engine.spread_keys import term_salt, user_key
from chatmemory_layers.postgres.events.noted_events import columns_of, insert_memory_events
from chatmemory_layers.postgres.memories.memory_row import (
    DRAFT_PARAMETERS,
    MemoryRow,
    drafts_of,
    insert_drafts,
)
from chatmemory_layers.postgres.memories.memory_store import (
    SELECT_FACTS_OF_USERS,
    Drafts,
    Facts,
    facts_of,
    facts_wanted,
    rows_of,
    store,
    users_of,
)

# ruff: noqa: S608  what is put into statements is made of constants

_USERS: Final = 6  # parameters of users; then the parameters of drafts and of events follow
_EVENTS: Final = _USERS + DRAFT_PARAMETERS + 1
# A user ($1 to $6) is as the facts say, or is created; a user who was created or changed meanwhile is left out.
STORE_MEMORIES: Final = planned_once(f"""
WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[],
        $6::boolean[]
    ) AS wanted (user_key, user_name, lock, salt, expected, is_known)
), locked AS MATERIALIZED (
    SELECT * FROM wanted WHERE {KNOWS_ALL_STEPS} AND pg_try_advisory_xact_lock(lock)
), now AS MATERIALIZED (
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS at_us
), unchanged AS MATERIALIZED (
    SELECT locked.*, found.term_salt FROM locked CROSS JOIN LATERAL (
        SELECT term_salt FROM memory_user
        WHERE memory_user.user_key = locked.user_key AND memory_user.changed_us = locked.expected
        FOR UPDATE
    ) AS found
    WHERE is_known
), made AS (
    INSERT INTO memory_user (user_key, user_name, term_salt, changed_us)
    SELECT user_key, user_name, salt, at_us FROM locked CROSS JOIN now WHERE NOT is_known
    ON CONFLICT (user_key) DO NOTHING
    RETURNING user_key, term_salt
), changed AS (
    INSERT INTO memory_user (user_key, user_name, term_salt, changed_us)
    SELECT user_key, user_name, term_salt, greatest(at_us, expected + 1) FROM unchanged CROSS JOIN now
    ON CONFLICT (user_key) DO UPDATE SET changed_us = excluded.changed_us
    RETURNING user_key, term_salt
), owner AS MATERIALIZED (
    SELECT user_key, term_salt FROM made UNION ALL SELECT user_key, term_salt FROM changed
), {insert_drafts(_USERS + 1)}, event AS ({insert_memory_events(_EVENTS, "JOIN owner USING (user_key)")})
SELECT locked.user_key, EXISTS (SELECT FROM owner WHERE owner.user_key = locked.user_key) AS is_stored FROM locked
""")


@final
@define
class _Decided:
    """The decision on the batches of one user."""

    user: str
    changed_us: int | None
    answers: list[tuple[SaveOutcome, ...] | None] = field(factory=list)
    rows: list[MemoryRow] = field(factory=list)
    events: list[tuple[object, ...]] = field(factory=list)


async def _read(connection: Connection, kept: OwnerFacts, jobs: Jobs) -> None:
    """Read the facts of all users; they are used for this group only."""
    drafts = [draft for waiting in jobs.values() for job in waiting for draft in job.asked]
    users = users_of(drafts)
    of_user: dict[UUID | None, list[Row]] = {key: [] for key in (None, *users)}
    for row in await connection.fetch(SELECT_FACTS_OF_USERS, *facts_wanted(users, drafts)):
        of_user[row["user_key"]].append(row)
    for owner in jobs:
        kept.keep(owner, facts_of(users, of_user[user_key(_user_of(owner))] + of_user[None]))


async def _store(connection: Connection, kept: OwnerFacts, jobs: Jobs) -> Answers:
    """Store the new memories."""
    answers: dict[Owner, Sequence[Outcome[Any, Any] | None]] = {}
    decided: dict[Owner, _Decided] = {}
    for owner, waiting in jobs.items():
        facts: Facts = kept.get(owner)
        kept.drop(owner)
        made = _decide(_user_of(owner), facts, waiting)
        if made.rows:
            decided[owner] = made
        else:
            answers[owner] = [None] * len(waiting)
    if not decided:
        return answers
    users = [
        (
            user_key(made.user),
            made.user,
            lock_of(owner),
            term_salt(user_key(made.user)),
            made.changed_us,
            made.changed_us is not None,
        )
        for owner, made in decided.items()
    ]
    rows = [row for made in decided.values() for row in made.rows]
    events = [event for made in decided.values() for event in made.events]
    found = await connection.fetch(
        STORE_MEMORIES,
        *map(list, zip(*users, strict=True)),
        *drafts_of(rows),
        *map(list, zip(*events, strict=True)),
    )
    stored = {row["user_key"]: row["is_stored"] for row in found}
    for owner, made in decided.items():
        is_stored = stored.get(user_key(made.user))
        if is_stored:
            answers[owner] = [None if answer is None else Success(answer) for answer in made.answers]
        elif is_stored is None:  # another transaction holds the lock
            answers[owner] = [None] * len(jobs[owner])
    return answers


STORES: Final = GroupedWork("store memories", store, InGroup(_read, _store))


def _user_of(owner: Owner) -> str:
    return owner.removeprefix(MEMORIES_OF)


def _decide(user: str, facts: Facts, jobs: Sequence[Job]) -> _Decided:
    """Decide one batch after the other; one that would touch a stored memory, or one of an earlier batch, is written alone."""
    made = _Decided(user, facts.changed_us)
    touched: set[tuple[str, object]] = set()
    for job in jobs:
        touches = {touch for draft in job.asked for touch in _touches(draft)}
        one = None if touched & touches else _decide_one(facts, job.asked)
        if one is None:
            made.answers.append(None)
            continue
        decision, rows = one
        touched |= touches
        made.answers.append(decision.answer)
        made.rows += rows
        if changes := [*decision.changes]:
            made.events += zip(*job.context.run(columns_of, changes), strict=True)
    return made


def _touches(draft: MemoryDraft) -> list[tuple[str, object]]:
    """Return the names by which another draft could repeat, replace or contradict it."""
    named = [
        ("id", draft.id),
        ("id", draft.replaces),
        ("key", draft.value_key),
        ("attribute", draft.attribute),
    ]
    return [
        *((kind, name) for kind, name in named if name is not None),
        ("dedup", draft.dedup_key or draft.id),
    ]


def _decide_one(facts: Facts, drafts: Drafts) -> tuple[StoreDecision, list[MemoryRow]] | None:
    """Decide a batch; None: it is written alone."""
    if len({draft.namespace.user for draft in drafts}) > 1:
        return None
    if any(draft.space is not None and draft.space not in facts.spaces for draft in drafts):
        return None
    if any(draft.past is not None for draft in drafts):
        return None  # a past has rows in other tables
    decision = decide_store(drafts, facts.taken, facts.current, facts.forgotten)
    if not isinstance(decision, StoreDecision):
        return None
    new, ends = rows_of(decision, facts.spaces)
    return None if ends else (decision, [*new.values()])
