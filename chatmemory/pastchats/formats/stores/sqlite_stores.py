"""The SQLite stores of tools, as a table: how to recognize each store, and the queries for its conversations and their rows.

A store is read as an archive whose members are its conversations.  A member is JSON Lines: each row that a query
returns is an object of its columns, with ``record``, the name of the query; columns that hold JSON are decoded.
"""

from collections.abc import Mapping
from typing import Final, final

from attrs import frozen

from chatmemory.pastchats.formats.history_format import KnownRoot


@final
@frozen
class SqliteStore:
    """The store of a tool.

    Attributes:
        tool: its name, which is also the folder in the names of members.
        tables: the tables that identify the store, each with the columns that are read.
        conversations: a query for ``id``, ``stamp`` (of the last change; None: unknown) and ``size`` (rows) of each
            conversation: when the stamp or the size changes, the conversation is read again.
        records: name and query of the rows of the conversation ``:id``, in the order of the member.
    """

    tool: str
    tables: Mapping[str, frozenset[str]]
    conversations: str
    records: tuple[tuple[str, str], ...]


_DATA: Final = ("$XDG_DATA_HOME", "~/.local/share", "$LOCALAPPDATA", "~/Library/Application Support")

GOOSE_ROOTS: Final = tuple(
    KnownRoot(folder, ("sessions.db",))
    for folder in (
        *(f"{data}/goose/sessions" for data in _DATA),
        "$APPDATA/Block/goose/data/sessions",
        "~/Library/Application Support/Block/goose/sessions",
    )
)
OPENCODE_ROOTS: Final = tuple(KnownRoot(f"{data}/opencode", ("opencode*.db",)) for data in _DATA)
CURSOR_ROOTS: Final = tuple(
    KnownRoot(f"{configuration}/Cursor/User/globalStorage", ("state.vscdb",))
    for configuration in ("~/.config", "~/Library/Application Support", "$APPDATA")
)

_BUBBLES: Final = "b.key >= 'bubbleId:' || {id} || ':' AND b.key < 'bubbleId:' || {id} || ';'"
_COMPOSER: Final = "CAST((SELECT value FROM cursorDiskKV WHERE key = 'composerData:' || :id) AS TEXT)"

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

KNOWN_TABLES: Final[Mapping[str, str]] = {
    "cursorDiskKV": "Cursor",
    "session_v2": "opencode",
    "session_message": "opencode",
    "session_share": "opencode",
    "goose_sessions": "Goose",
}
"""Tables that identify a tool whose store has a form that cannot be read."""
