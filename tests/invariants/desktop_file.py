"""A file of the desktop application at schema version 5, as point 10 of the settled points describes it."""

import sqlite3
from pathlib import Path

from chatmemory.settings import SqliteSettings

LEGACY_USER = SqliteSettings().legacy_user

VERSION_5 = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version (version) VALUES (5);
CREATE TABLE atomic_memory (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    timestamp INTEGER NOT NULL,
    content TEXT NOT NULL,
    tags TEXT,
    session_id TEXT,
    create_time TEXT NOT NULL DEFAULT (datetime('now', 'localtime')),
    app_type TEXT DEFAULT '',
    embedding TEXT
);
CREATE TABLE conversation (id INTEGER PRIMARY KEY, title TEXT);
INSERT INTO conversation (title) VALUES ('预算表');
"""


def write_version_5(file: Path) -> list[str]:
    """Write it and return what its memories say."""
    contents = ["我喜欢蓝色的图表", "季度从四月开始", "I work in Beijing"]
    connection = sqlite3.connect(file)
    try:
        connection.executescript(VERSION_5)
        connection.executemany(
            "INSERT INTO atomic_memory (timestamp, content, session_id, app_type, embedding) VALUES (?, ?, ?, ?, ?)",
            [(1_741_900_000 + n, content, "s1", "Excel", None) for n, content in enumerate(contents)],
        )
        connection.commit()
    finally:
        connection.close()
    return contents
