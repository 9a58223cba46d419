"""The table of the audit trail."""

from typing import Final

# In the order of time, and without an index besides: what somebody did, or what was done to one target, is sought among
# what is new enough, and each entry touches one page.  seq tells entries of one instant apart.
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
