"""Stores of tools in SQLite, made as their public sources make them."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from tests.formats.large_history import text
from tests.formats.small_histories import TALK

START: Final = 1_780_308_000_000  # milliseconds since 1970
Talk = Sequence[tuple[str, str]]


def connect(path: Path, *, wal: bool = False) -> sqlite3.Connection:
    """Open a store as its tool does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    if wal:
        connection.execute("PRAGMA journal_mode = WAL")
    return connection


def put(connection: sqlite3.Connection, table: str, **row: Any) -> None:
    """Write a row over the one with its key; lists and objects become JSON."""
    values = [json.dumps(value) if isinstance(value, list | dict) else value for value in row.values()]
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT OR REPLACE INTO {table} ({', '.join(row)}) VALUES ({marks})", values)


def write_cursor(connection: sqlite3.Connection, talk: Talk = TALK, native_id: str = "c1") -> None:
    for table in ("ItemTable", "cursorDiskKV"):
        columns = "key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB"
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
    bubbles = {f"{native_id}-b{n}": said for n, said in enumerate(talk)}
    headers = [{"bubbleId": key, "type": 1 + n % 2} for n, key in enumerate(bubbles)]
    about = {"composerId": native_id, "name": "Nightly build", "lastUpdatedAt": START + len(talk)}
    composer = {**about, "fullConversationHeadersOnly": headers}
    put(connection, "cursorDiskKV", key=f"composerData:{native_id}", value=composer)
    for key, (role, words) in bubbles.items():
        said = {"bubbleId": key, "type": 1 if role == "user" else 2, "text": words}
        about = {"createdAt": "2026-06-01T10:00:00.000Z", "workspaceUris": ["file:///home/lin/shop"]}
        put(connection, "cursorDiskKV", key=f"bubbleId:{native_id}:{key}", value={**said, **about})
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
    about = {"project_id": "p", "slug": "s", "directory": "/home/lin/shop", "title": "Nightly build"}
    times = {"time_created": START, "time_updated": START + len(talk)}
    put(connection, "session", id=native_id, version="1.2.0", **about, **times)
    for n, (role, words) in enumerate(talk):
        message, when = f"msg_{native_id}_{n}", START + n
        held = {"session_id": native_id, "time_created": when, "time_updated": when}
        data = {"role": role, "time": {"created": when}, "modelID": "gpt-5"}
        put(connection, "message", id=message, data=data, **held)
        put(connection, "part", id=f"prt_{n}_{native_id}", message_id=message, data=text(words)[0], **held)
    connection.commit()


def write_goose(connection: sqlite3.Connection, talk: Talk = TALK, native_id: str = "20260601_1") -> None:
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
    times = {"created_at": "2026-06-01 10:00:00", "updated_at": f"2026-06-01 10:00:{len(talk):02d}"}
    put(connection, "sessions", id=native_id, name="Nightly build", working_dir="/home/lin/shop", **times)
    connection.execute("DELETE FROM messages WHERE session_id = ?", (native_id,))
    for n, (role, words) in enumerate(talk):
        ids = {"message_id": f"{native_id}-m{n}", "session_id": native_id}
        when = START // 1000 + n
        put(connection, "messages", **ids, role=role, content_json=text(words), created_timestamp=when)
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
