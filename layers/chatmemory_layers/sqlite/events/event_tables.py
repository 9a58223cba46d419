"""The table of events, and the table of the audit trail, which it replaces."""

from typing import Final

# The primary key orders the entries by time, and is the only index.  So each new entry writes to one page, and a query
# for an actor or a target reads all entries that are new enough.  seq orders the entries of one instant.
CREATE_ENTRY = """
CREATE TABLE audit_entry (
    at_us INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    who TEXT NOT NULL,
    who_user TEXT NOT NULL,
    action TEXT NOT NULL,
    kind TEXT NOT NULL,
    target_id TEXT NOT NULL,
    target_user TEXT NOT NULL,
    target_app TEXT NOT NULL,
    PRIMARY KEY (at_us, seq)
) WITHOUT ROWID
"""

AUDIT: Final = (CREATE_ENTRY,)

# One writer: the number is the order of the commits.  An append writes to the end of this one tree; writing to one more
# would cost it 40 %, so the indexes leave out added messages.
CREATE_EVENT = """
CREATE TABLE event (
    number INTEGER PRIMARY KEY,
    stored_at_us INTEGER NOT NULL,
    said_at_us INTEGER,
    who TEXT NOT NULL,
    who_user TEXT NOT NULL,
    kind TEXT NOT NULL,
    action TEXT NOT NULL,
    target_id TEXT NOT NULL,
    owner_user TEXT NOT NULL,
    owner_app TEXT NOT NULL,
    version INTEGER,
    reach INTEGER,
    successor TEXT,
    reason TEXT,
    session_id TEXT,
    evidence TEXT
)
"""
CREATE_TARGET = "CREATE INDEX event_target ON event (target_id, number) WHERE action <> 'added'"
# Finds what must not be stored again: for a user, and for the conversation that it came from.
CREATE_FORGOTTEN = "CREATE INDEX event_forgotten ON event (owner_user, session_id) WHERE action = 'forgotten'"

CARRY_OVER = """
INSERT INTO event (stored_at_us, who, who_user, kind, action, target_id, owner_user, owner_app)
SELECT at_us, who, who_user, kind, action, target_id, target_user, target_app FROM audit_entry ORDER BY at_us, seq
"""

FORGOTTEN: Final = (CREATE_FORGOTTEN,)
# A reason held an attribute's name and its subject; the subject may quote a memory that was forgotten.
REASONS: Final = (
    "UPDATE event SET reason = substr(reason, 1, instr(reason, ':') - 1) WHERE instr(reason, ':') > 0",
)
EVENTS: Final = (CREATE_EVENT, CREATE_TARGET, CARRY_OVER, "DROP TABLE audit_entry")
