"""Files as the desktop application leaves them since its version 5, with all that it keeps beside memories."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

CREATE_VERSION = "CREATE TABLE schema_version(version INTEGER)"
CREATE_VERSION_5 = """
CREATE TABLE atomic_memory(id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp INTEGER NOT NULL, content TEXT NOT NULL,
    tags TEXT, session_id TEXT, create_time TEXT NOT NULL DEFAULT (datetime('now','localtime')),
    app_type TEXT DEFAULT '', embedding TEXT)
"""

# What each version added to the one before; 5 is that of the specification, 6 its migration.
ADDED: Final = {
    5: (CREATE_VERSION_5,),
    6: ("ALTER TABLE atomic_memory ADD COLUMN memory_type TEXT DEFAULT 'short_term'",),
    7: (
        "ALTER TABLE atomic_memory ADD COLUMN importance REAL DEFAULT 0.5",
        "ALTER TABLE atomic_memory ADD COLUMN access_count INTEGER DEFAULT 0",
        "ALTER TABLE atomic_memory ADD COLUMN last_access INTEGER",
    ),
    8: ("ALTER TABLE atomic_memory ADD COLUMN source_type TEXT",),
    9: ("ALTER TABLE atomic_memory ADD COLUMN linked_memories TEXT",),
    10: ("ALTER TABLE atomic_memory ADD COLUMN embedding_model TEXT",),
}

BESIDE = """
CREATE TABLE user_profile (id INTEGER PRIMARY KEY, content TEXT, updated_at TEXT);
CREATE TABLE session_summary(session_id TEXT PRIMARY KEY, title TEXT, snippet TEXT);
CREATE TABLE "conversation" (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT);
CREATE TABLE memory (id INTEGER PRIMARY KEY, content TEXT);
CREATE INDEX idx_conversation_session ON conversation(session_id);
CREATE TABLE prompt_template (name TEXT PRIMARY KEY, body BLOB) WITHOUT ROWID;
CREATE TABLE format_template(id INTEGER PRIMARY KEY, [style name] TEXT);
CREATE VIEW latest AS SELECT session_id, max(id) AS id FROM conversation GROUP BY session_id;
CREATE INDEX idx_atomic_session ON atomic_memory(session_id);
CREATE TRIGGER stamp AFTER UPDATE OF content ON user_profile BEGIN
    UPDATE user_profile SET updated_at = datetime('now') WHERE id = new.id;
END;
INSERT INTO user_profile VALUES (1, '喜欢简洁的回答', '2025-03-14 12:00:00');
INSERT INTO session_summary VALUES ('s1', '周报', NULL);
INSERT INTO conversation (session_id, role, content) VALUES ('s1', 'user', '你好'), ('s1', 'assistant', 'hello');
INSERT INTO prompt_template VALUES ('plan', x'00ff'), ('执行', '一步一步来');
INSERT INTO format_template VALUES (1, '公文');
"""
SELECT_OBJECTS = "SELECT name, type, tbl_name, sql FROM sqlite_schema ORDER BY name"

# As many ways as rows have been seen in: equal seconds, no vector, half a vector, a whole one.
EMBEDDINGS: Final = (None, "[0.25, 0.5", json.dumps([0.25, 0.5, -1.0]), "null", '{"a": 1}', "NaN", "")
CONTENTS: Final = (
    "我喜欢用 Python 写代码",
    "User prefers short answers",
    "👍 第{n}次",
    "it's 100% {n}; DROP TABLE x",
)
FIRST_SECOND: Final = 1_700_000_000


def desktop_file(path: Path, *, version: int = 5, rows: int = 12) -> Path:
    """Leave a file of *version* behind, with so many rows of every kind."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # it waits for the disk after each table otherwise
        connection.execute(CREATE_VERSION)
        connection.execute("INSERT INTO schema_version VALUES (?)", (version,))
        for number in range(5, version + 1):
            for statement in ADDED[number]:
                connection.execute(statement)
        add_rows(connection, range(rows))
        connection.executescript(BESIDE)
        connection.commit()
    return path


def add_rows(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Insert rows as the application does."""
    for number in numbers:
        row = {
            "timestamp": FIRST_SECOND + number // 3,
            "content": CONTENTS[number % len(CONTENTS)].format(n=number),
            "tags": ("工作,代码", '["a", "b"]', None, "")[number % 4],
            "session_id": f"s{number % 7}",
            "create_time": "2023-11-15 06:13:20",
            "app_type": ("Word", "", "Excel", None)[number % 4],
            "embedding": EMBEDDINGS[number % len(EMBEDDINGS)],
        }
        marks = ", ".join(f":{name}" for name in row)
        connection.execute(f"INSERT INTO atomic_memory ({', '.join(row)}) VALUES ({marks})", row)


def change(path: Path, *statements: str) -> None:
    """Execute *statements* as the application does."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def fetched(path: Path, statement: str, *values: object) -> list[Any]:
    """Return what *statement* reads."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement, values).fetchall()


VERSION_5_COLUMNS: Final = "id, timestamp, content, tags, session_id, create_time, app_type, embedding"


def rows_of(path: Path, columns: str = VERSION_5_COLUMNS) -> list[tuple[object, ...]]:
    """Read columns of all memories."""
    return fetched(path, f"SELECT {columns} FROM atomic_memory ORDER BY id")


def version_of(path: Path) -> int:
    """Read what the application takes for the version of its schema."""
    ((version,),) = fetched(path, "SELECT version FROM schema_version")
    return version


def beside(path: Path) -> dict[str, object]:
    """Read everything of the application's that is no memory: how it is defined and what is in it."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(CREATE_VERSION_5 + ";" + BESIDE)
        its_own = {name for name, *_ in fresh.execute(SELECT_OBJECTS)}
    with closing(sqlite3.connect(path)) as connection:
        found: dict[str, object] = {}
        for name, type_, table, sql in connection.execute(SELECT_OBJECTS).fetchall():
            if name in its_own and not name.startswith(("atomic_memory", "sqlite_sequence")):
                rows = (
                    sorted(connection.execute(f'SELECT * FROM "{name}"'))
                    if type_ in {"table", "view"}
                    else None
                )
                found[name] = (type_, table, sql, rows)
        return found
