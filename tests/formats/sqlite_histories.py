"""Stores of tools in SQLite, made as their public sources make them."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.formats.agent_histories import TALK

START: Final = 1_780_308_000_000  # milliseconds since 1970
Talk = Sequence[tuple[str, str]]


def connect(path: Path, *, wal: bool = False) -> sqlite3.Connection:
    """Open a store as its tool does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    if wal:
        connection.execute("PRAGMA journal_mode = WAL")
    return connection


def cursor_rows(talk: Talk = TALK, native_id: str = "c1") -> list[tuple[str, str]]:
    """Return the rows of a conversation of Cursor."""
    headers = [{"bubbleId": f"{native_id}-b{n}", "type": 1 + n % 2} for n in range(len(talk))]
    composer = {
        "composerId": native_id,
        "name": "Nightly build",
        "lastUpdatedAt": START + len(talk),
        "fullConversationHeadersOnly": headers,
    }
    bubbles = [
        (
            f"bubbleId:{native_id}:{native_id}-b{n}",
            json.dumps(
                {
                    "bubbleId": f"{native_id}-b{n}",
                    "type": 1 if role == "user" else 2,
                    "text": words,
                    "createdAt": "2026-06-01T10:00:00.000Z",
                    "workspaceUris": ["file:///home/lin/shop"],
                }
            ),
        )
        for n, (role, words) in enumerate(talk)
    ]
    return [(f"composerData:{native_id}", json.dumps(composer)), *bubbles]


def write_cursor(connection: sqlite3.Connection, talk: Talk = TALK, native_id: str = "c1") -> None:
    """Write a conversation as Cursor does, over what was there."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
    )
    connection.execute(
        "CREATE TABLE IF NOT EXISTS cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
    )
    rows = cursor_rows(talk, native_id)
    connection.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
    connection.commit()


def write_opencode(connection: sqlite3.Connection, talk: Talk = TALK, native_id: str = "ses_1") -> None:
    """Write a session as opencode 1.2 does."""
    connection.executescript("""
        CREATE TABLE IF NOT EXISTS session (
            id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL, directory TEXT NOT NULL,
            title TEXT NOT NULL, version TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL
        );
        CREATE TABLE IF NOT EXISTS message (
            id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL,
            data TEXT NOT NULL
        );
        CREATE TABLE IF NOT EXISTS part (
            id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
            time_updated INTEGER NOT NULL, data TEXT NOT NULL
        );
    """)
    connection.execute(
        "INSERT OR REPLACE INTO session VALUES (?, 'p', NULL, 's', '/home/lin/shop', 'Nightly build', '1.2.0', ?, ?)",
        (native_id, START, START + len(talk)),
    )
    for n, (role, words) in enumerate(talk):
        message, when = f"msg_{native_id}_{n}", START + n
        data = {"role": role, "time": {"created": when}, "modelID": "gpt-5"}
        connection.execute(
            "INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)",
            (message, native_id, when, when, json.dumps(data)),
        )
        connection.execute(
            "INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)",
            (
                f"prt_{n}_{native_id}",
                message,
                native_id,
                when,
                when,
                json.dumps({"type": "text", "text": words}),
            ),
        )
    connection.commit()


def write_goose(connection: sqlite3.Connection, talk: Talk = TALK, native_id: str = "20260601_1") -> None:
    """Write a session as Goose does."""
    connection.executescript("""
        CREATE TABLE IF NOT EXISTS sessions (
            id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
            working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
            updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
        );
        CREATE TABLE IF NOT EXISTS messages (
            id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, role TEXT NOT NULL,
            content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT
        );
    """)
    connection.execute(
        "INSERT OR REPLACE INTO sessions VALUES (?, 'Nightly build', '', '/home/lin/shop', ?, ?)",
        (native_id, "2026-06-01 10:00:00", f"2026-06-01 10:00:{len(talk):02d}"),
    )
    connection.execute("DELETE FROM messages WHERE session_id = ?", (native_id,))
    for n, (role, words) in enumerate(talk):
        connection.execute(
            "INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp) VALUES (?, ?, ?, ?, ?)",
            (
                f"{native_id}-m{n}",
                native_id,
                role,
                json.dumps([{"type": "text", "text": words}]),
                1_780_308_000 + n,
            ),
        )
    connection.commit()


WRITERS: Final = {
    "cursor_store": ("state.vscdb", write_cursor),
    "goose": ("sessions.db", write_goose),
    "opencode": ("opencode.db", write_opencode),
}


def make_store(name: str, folder: Path, talk: Talk = TALK, *, wal: bool = False) -> Path:
    """Make a store of the format *name* in *folder*, and leave it closed."""
    file, write = WRITERS[name]
    with closing(connect(folder / file, wal=wal)) as connection:
        write(connection, talk)
    return folder / file
