"""``STORES``: how to recognize the SQLite store of a tool, and the queries for its conversations and their rows.

A file may hold stores of several versions; a conversation is read from the first that has rows of it.  A store is read as
an archive whose members are its conversations.  A member is JSON Lines: each row that a query returns is an object of its
columns, with ``record``, the name of the query; columns that hold JSON are decoded.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, final

from attrs import frozen

from chatmemory.pastchats.formats.history_format import KnownRoot, roots_in

UNREAD: Final[Mapping[str, tuple[KnownRoot, ...]]] = {
    "Amp": roots_in("~/.local/share/amp/threads", files=("*.json",)),
    "Cursor's command": roots_in("$CURSOR_CONFIG_DIR/chats", "~/.cursor/chats", files=("*/*/store.db",)),
    "Grok": roots_in("~/.grok/sessions", files=("*/*/chat_history.jsonl",)),
    "Hermes": roots_in("$HERMES_HOME", "~/.hermes", files=("state.db",)),
    "LM Studio": roots_in("~/.lmstudio/conversations", files=("**/*.conversation.json",)),
    "OpenClaw": roots_in("~/.openclaw/agents", files=("*/agent/openclaw-agent*.sqlite",)),
    "Zed": roots_in(
        "$XDG_DATA_HOME/zed/threads",
        "~/.local/share/zed/threads",
        "~/Library/Application Support/Zed/threads",
        "$LOCALAPPDATA/Zed/threads",
        files=("threads.db",),
    ),
}
"""The places of histories that no reader reads, by tool: an index run names them, because they were not searched."""

KNOWN_TABLES: Final[Mapping[str, str]] = {
    "cursorDiskKV": "Cursor",
    "session_v2": "opencode",
    "session_message": "opencode",
    "trajectory_meta": "Antigravity",
    "session_share": "opencode",
    "goose_sessions": "Goose",
}
"""Tables that identify a tool whose store has a form that cannot be read."""

NEWER_TABLE: Final = re.compile(r"session_v\d+|session_message|goose_sessions")
"""The names of tables in which a tool keeps conversations beside those of an earlier version."""

_BUBBLES: Final = "b.key >= 'bubbleId:' || {id} || ':' AND b.key < 'bubbleId:' || {id} || ';'"
_COMPOSER: Final = "CAST((SELECT value FROM cursorDiskKV WHERE key = 'composerData:' || :id) AS TEXT)"


@final
@frozen
class SqliteStore:
    """The store of a tool.

    Attributes:
        tool: its name, which is also the folder in the names of members.
        tables: the tables that identify the store, each with the columns that are read.
        conversations: a query for ``id``, ``stamp`` (of the last change; None: unknown) and ``size`` (rows) of each
            conversation: when the stamp or the size changes, the conversation is read again.  ``:stem`` is the name of
            the file.
        records: name and query of the rows of the conversation ``:id``, in the order of the member.
    """

    tool: str
    tables: Mapping[str, frozenset[str]]
    conversations: str
    records: tuple[tuple[str, str], ...]


def _opencode_2(sessions: str) -> SqliteStore:
    """Return the store of opencode 2, which keeps its sessions in a table of its own or in that of version 1."""
    return SqliteStore(
        "opencode",
        {
            sessions: frozenset({"id", "directory", "title", "time_updated"}),
            "session_message": frozenset({"id", "session_id", "type", "seq", "time_created", "data"}),
        },
        f"""
        SELECT id, time_updated AS stamp, (
            SELECT count(*) FROM session_message WHERE session_id = {sessions}.id
        ) AS size
        FROM {sessions}
        """,  # noqa: S608  the table is ours
        (
            ("session", f"SELECT * FROM {sessions} WHERE id = :id"),  # noqa: S608  the table is ours
            (
                "entry",
                "SELECT id, type, time_created, data FROM session_message WHERE session_id = :id ORDER BY seq, id",
            ),
        ),
    )


STORES: Final = (
    # Keys of cursorDiskKV: composerData:<conversation> and bubbleId:<conversation>:<message>; the conversation holds
    # the order of the messages, and until 2025 it held the messages themselves.
    SqliteStore(
        "cursor",
        {"cursorDiskKV": frozenset({"key", "value"})},
        f"""
        SELECT * FROM (
            SELECT
                substr(key, 14) AS id,
                CASE WHEN json_valid(CAST(value AS TEXT))
                    THEN json_extract(CAST(value AS TEXT), '$.lastUpdatedAt') END AS stamp,
                (SELECT count(*) FROM cursorDiskKV AS b WHERE {_BUBBLES.format(id="substr(c.key, 14)")})
                + CASE WHEN json_valid(CAST(value AS TEXT))
                    THEN coalesce(json_array_length(CAST(value AS TEXT), '$.conversation'), 0) ELSE 1 END AS size
            FROM cursorDiskKV AS c WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL
        ) WHERE size > 0
        """,  # noqa: S608  the conditions are ours
        (
            ("composer", f"SELECT {_COMPOSER} AS value"),
            (
                "bubble",
                f"""
                SELECT b.key, b.value FROM json_each({_COMPOSER}, '$.fullConversationHeadersOnly') AS h
                JOIN cursorDiskKV AS b
                    ON b.key = 'bubbleId:' || :id || ':' || json_extract(h.value, '$.bubbleId')
                ORDER BY h.key
                """,  # noqa: S608  the statement is ours
            ),
            ("bubble", f"SELECT value FROM json_each({_COMPOSER}, '$.conversation') ORDER BY key"),  # noqa: S608  the statement is ours
            (
                "bubble",
                f"""
                SELECT b.key, b.value FROM cursorDiskKV AS b WHERE {_BUBBLES.format(id=":id")}
                    AND coalesce(json_array_length({_COMPOSER}, '$.fullConversationHeadersOnly'), 0) = 0
                ORDER BY b.rowid
                """,  # noqa: S608  the statement is ours
            ),
        ),
    ),
    SqliteStore(
        "opencode",
        {
            "session": frozenset({"id", "directory", "title", "time_updated"}),
            "message": frozenset({"id", "session_id", "data"}),
            "part": frozenset({"id", "message_id", "data"}),
        },
        """
        SELECT id, time_updated AS stamp, (
            SELECT count(*) FROM message JOIN part ON part.message_id = message.id
            WHERE message.session_id = session.id
        ) AS size
        FROM session
        """,
        (
            ("session", "SELECT * FROM session WHERE id = :id"),
            (
                "part",
                """
                SELECT message.id AS message_id, message.data AS message, part.id AS part_id, part.data AS part
                FROM message LEFT JOIN part ON part.message_id = message.id
                WHERE message.session_id = :id ORDER BY message.time_created, message.id, part.id
                """,
            ),
        ),
    ),
    _opencode_2("session_v2"),
    _opencode_2("session"),
    # A file for each conversation; steps are messages of Protocol Buffers, whose fields public readers have found.
    SqliteStore(
        "antigravity",
        {"steps": frozenset({"idx", "step_type", "step_payload"})},
        "SELECT :stem AS id, NULL AS stamp, count(*) AS size FROM steps HAVING count(*) > 0",
        (
            (
                "step",
                """
                SELECT idx AS step_index,
                    CASE step_type WHEN 14 THEN 'USER_INPUT' WHEN 15 THEN 'PLANNER_RESPONSE'
                        WHEN 17 THEN 'ERROR_MESSAGE' ELSE 'STEP_' || step_type END AS type,
                    CASE step_type WHEN 14 THEN 'USER_EXPLICIT' WHEN 17 THEN 'SYSTEM' ELSE 'MODEL' END AS source,
                    CASE step_type
                        WHEN 14 THEN coalesce(nullif(protobuf(step_payload, '19.2'), ''),
                            nullif(protobuf(step_payload, '19.1'), ''), protobuf(step_payload, '19.3.1'))
                        WHEN 15 THEN protobuf(step_payload, '20.1')
                        WHEN 17 THEN protobuf(step_payload, '24.3.1')
                    END AS content,
                    CASE step_type WHEN 15 THEN protobuf(step_payload, '20.3') END AS thinking,
                    protobuf(step_payload, '5.1.1') AS created_at
                FROM steps ORDER BY idx
                """,
            ),
        ),
    ),
    SqliteStore(
        "goose",
        {
            "sessions": frozenset({"id", "working_dir", "updated_at"}),
            "messages": frozenset({"id", "session_id", "role", "content_json"}),
        },
        """
        SELECT id, updated_at AS stamp, (
            SELECT count(*) FROM messages WHERE messages.session_id = sessions.id
        ) AS size
        FROM sessions
        """,
        (
            ("session", "SELECT * FROM sessions WHERE id = :id"),
            ("message", "SELECT * FROM messages WHERE session_id = :id ORDER BY id"),
        ),
    ),
)


def text_at(message: object, path: str) -> str | int | None:
    """Return the first value at *path* in a message of Protocol Buffers: a text, or a number; SQL's ``protobuf(blob, '5.1')``."""
    if not isinstance(message, bytes):
        return None
    wanted, _, rest = path.partition(".")
    for number, value in _fields(message):
        if number == int(wanted):
            if rest:
                return text_at(value, rest)
            return value if isinstance(value, int) else value.decode("utf-8", "replace")
    return None


def _fields(message: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Yield the fields of a message; damage ends it."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        is_more = True
        while is_more and at < len(message):
            value |= (message[at] & 0x7F) << shift
            is_more, at, shift = message[at] > 0x7F, at + 1, shift + 7  # noqa: PLR2004  the wire format
        return value

    while at < len(message):
        tag = varint()
        if not tag & 7:
            yield tag >> 3, varint()
            continue
        size = {1: 8, 2: -1, 5: 4}.get(tag & 7, len(message))
        size = varint() if size < 0 else size
        yield tag >> 3, message[at : at + size]
        at += size
