"""The tables that long-term memory shares with the desktop application, as it made them and as it leaves them.

A file of ours comes to version 6 by the same road as one of the application's, so that the two cannot differ; what we
add stands in ``memory_tables.py``.
"""

from typing import Final

CREATE_SCHEMA_VERSION = "CREATE TABLE schema_version (version INTEGER)"
INSERT_VERSION_5 = "INSERT INTO schema_version (version) VALUES (5)"

# timestamp in seconds since 1970, embedding as a JSON array.
CREATE_ATOMIC_MEMORY = """
CREATE TABLE atomic_memory (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    timestamp INTEGER NOT NULL,
    content TEXT NOT NULL,
    tags TEXT,
    session_id TEXT,
    create_time TEXT NOT NULL DEFAULT (datetime('now','localtime')),
    app_type TEXT DEFAULT '',
    embedding TEXT
)
"""
VERSION_5: Final = (CREATE_SCHEMA_VERSION, INSERT_VERSION_5, CREATE_ATOMIC_MEMORY)

ADD_MEMORY_TYPE = "ALTER TABLE atomic_memory ADD COLUMN memory_type TEXT DEFAULT 'short_term'"
SET_VERSION_6 = "UPDATE schema_version SET version = 6"
FROM_5_TO_6: Final = (ADD_MEMORY_TYPE, SET_VERSION_6)
