"""``forgotten_of``: what of a batch of memories was forgotten before, by the tombstones in the log."""

import json
from collections.abc import Sequence

from chatmemory.longterm.forgotten import NOTHING, Forgotten, MemoryName, Source, sources
from chatmemory.longterm.repository_values import MemoryDraft
from chatmemory_layers.sqlite.engine.jobs import Transaction
from chatmemory_layers.sqlite.events.event_log import write_noted

SELECT_ANY = "SELECT 1 FROM event WHERE action = 'forgotten' AND owner_user = :user LIMIT 1"
_COLUMNS = "target_id, session_id, evidence FROM event"
_TOMBSTONE = "action = 'forgotten' AND kind = 'memory' AND reason IS NULL"
SELECT_OF_ID = f"""
SELECT {_COLUMNS}
WHERE target_id = :memory_id AND action <> 'added' AND owner_user = :user AND {_TOMBSTONE}
"""
SELECT_OF_SESSION = f"""
SELECT {_COLUMNS} INDEXED BY event_forgotten
WHERE owner_user = :user AND session_id IS :session_id AND evidence IS NOT NULL AND {_TOMBSTONE}
"""


def forgotten_of(transaction: Transaction, drafts: Sequence[MemoryDraft]) -> Forgotten:
    """Return what was forgotten of the names of *drafts*, and of the conversations that they come from."""
    write_noted(transaction)  # what another write of this transaction has forgotten counts
    names: set[MemoryName] = set()
    gone: set[Source] = set()
    for user in {draft.namespace.user for draft in drafts}:
        if transaction.execute(SELECT_ANY, {"user": user}).fetchone() is None:
            continue
        own = [draft for draft in drafts if draft.namespace.user == user]
        rows = [
            row
            for memory_id in {draft.id for draft in own}
            for row in transaction.execute(SELECT_OF_ID, {"user": user, "memory_id": memory_id}).fetchall()
        ]
        for session_id in {draft.session_id for draft in own if draft.provenance.message_ids}:
            asked = {"user": user, "session_id": session_id}
            rows += transaction.execute(SELECT_OF_SESSION, asked).fetchall()
        for memory_id, session_id, evidence in rows:
            names.add((user, memory_id))
            gone |= sources(user, session_id, json.loads(evidence) if evidence else ())
    return Forgotten(names, gone) if names else NOTHING
