"""How uses of memories are counted, and how use promotes one."""

from typing import Never

from chatmemory.effect import Outcome, Success
from chatmemory.longterm.memories import UseReport
from chatmemory_layers.sql.columns import to_us
from chatmemory_layers.sql.memory_requests import Use
from chatmemory_layers.sqlite.engine.jobs import Transaction
from chatmemory_layers.sqlite.memories.memory_filters import SEEN, seen_by
from chatmemory_layers.sqlite.memories.memory_writes import set_marks

COUNT_USE = f"""
UPDATE atomic_memory SET use_count = use_count + 1, last_used_at_us = :now_us, last_use_id = :use_id
WHERE memory_id = :memory_id AND last_use_id IS NOT :use_id AND {SEEN}
RETURNING id, memory_type = 'short_term' AND source = 'user_stated' AND role = 'user'
"""  # noqa: S608  a condition, no value
INSERT_USE = """
INSERT INTO memory_use (memory_key, session_id) VALUES (:memory_key, :session_id) ON CONFLICT DO NOTHING
"""
COUNT_SESSIONS = "SELECT count(*) FROM memory_use WHERE memory_key = :memory_key"


def record_use(transaction: Transaction, use: Use) -> Outcome[UseReport, Never]:
    """See ``MemoryRepository.record_use``."""
    used = 0
    promoted: list[str] = []
    parameters = {**seen_by(use.namespace), "use_id": use.use_id, "now_us": to_us(use.now)}
    for memory_id in use.memory_ids:
        # All rows are fetched: an UPDATE with RETURNING that is left half-read holds up the commit.
        for key, can_be_promoted in transaction.execute(
            COUNT_USE, {**parameters, "memory_id": memory_id}
        ).fetchall():
            used += 1
            if use.session_id is not None:
                transaction.execute(INSERT_USE, {"memory_key": key, "session_id": use.session_id})
            if can_be_promoted and _is_due(transaction, key, use.promote_after):
                set_marks(transaction, use.namespace.user, key, memory_type="long_term")
                promoted.append(memory_id)
    return Success(UseReport(used, tuple(promoted)))


def _is_due(transaction: Transaction, key: int, promote_after: int | None) -> bool:
    if promote_after is None:
        return False
    (sessions,) = transaction.execute(COUNT_SESSIONS, {"memory_key": key}).fetchone()
    return bool(sessions >= promote_after)
