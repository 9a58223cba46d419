"""Row-level security: the server itself shows and changes only the rows that are granted to the principal.

It is the second protection, enabled by the setting ``rowSecurity``; the checks of the repositories are the first.  ``guard``
creates the policies when a store opens.  ``acting`` tells the server the principal of each transaction; a transaction
without one sees nothing.
"""

import hashlib
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none

from chatmemory.access.principal import NO_PRINCIPAL, principal
from chatmemory.effect import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.migrations import BEGIN_CHANGE

# ruff: noqa: S608  conditions are put into statements, never values

OF_CONVERSATIONS: Final = ("chat_message", "summarization_metadata", "summary_coverage", "history_work")
OF_MEMORIES: Final = (
    "memory_user",
    "atomic_memory",
    "memory_version",
    "memory_embedding",
    "memory_use",
    "first_answer",
)
OF_THE_SERVICE: Final = ("item", "item_passage", "item_version")
"""Tables of items, which belong to the program that stores them: their labels name no owner."""
OF_THE_LOG: Final = ("conversation_event", "memory_event", "item_event")

GUARDED: Final = (
    "conversation",
    *OF_CONVERSATIONS,
    *OF_MEMORIES,
    *OF_THE_SERVICE,
    *OF_THE_LOG,
    "conversation_tree",
)
UNGUARDED: Final = ("chatmemory_migration", "memory_space")
"""Tables without content of users."""

_LEAST_VERSION: Final = 150000  # the oldest version that is supported

# Subqueries without a column of the row are evaluated once for a statement, not once for a row.
_IS_SERVICE: Final = "(SELECT chatmemory_is_service())"
_USER: Final = "(SELECT chatmemory_principal() ->> 'user')"
# See ``spread_keys.py``.
_USER_KEY: Final = f"(SELECT encode(substring(sha256(convert_to({_USER}, 'UTF8')) FOR 16), 'hex')::uuid)"
_WRITTEN_TO: Final = "(SELECT chatmemory_principal() ->> 'conversation')"

# See Granted.covers.
_GRANTED: Final = """EXISTS (
    SELECT FROM json_to_recordset((SELECT chatmemory_principal() -> 'granted'))
        AS granted ("user" text, app text, prefix text, rights text[])
    WHERE granted."user" = owner_user AND (granted.app = '' OR owner_app IN ('', granted.app))
        AND starts_with(conversation_id, granted.prefix) AND granted.rights && '{{{rights}}}'
)"""
# For a read, ``acting`` passes only the grants that include reading.
_SEE: Final = _GRANTED.format(rights="read,write,delete")
_CHANGE: Final = _GRANTED.format(rights="write,delete")
_WRITE: Final = _GRANTED.format(rights="write")
_DELETE: Final = _GRANTED.format(rights="delete")
_WHERE_IT_IS: Final = "EXISTS (SELECT FROM conversation WHERE conversation.conversation_id = {table}.conversation_id AND {granted})"

# The setting is unset in a session that never had it, and empty in one that had it in an earlier transaction.
# VOLATILE: the function sees rows that the same statement has stored, such as a conversation with its first message.
_FUNCTIONS: Final = f"""
CREATE OR REPLACE FUNCTION chatmemory_is_service() RETURNS boolean LANGUAGE sql STABLE
RETURN coalesce(current_setting('chatmemory.principal', TRUE) = '*', FALSE);
CREATE OR REPLACE FUNCTION chatmemory_principal() RETURNS json LANGUAGE sql STABLE
RETURN nullif(nullif(current_setting('chatmemory.principal', TRUE), '*'), '')::json;
CREATE OR REPLACE FUNCTION chatmemory_writes_to(named text) RETURNS boolean LANGUAGE sql VOLATILE
RETURN EXISTS (SELECT FROM conversation WHERE conversation_id = $1 AND {_WRITE});
CREATE OR REPLACE FUNCTION chatmemory_changes(named text) RETURNS boolean LANGUAGE sql VOLATILE
RETURN EXISTS (SELECT FROM conversation WHERE conversation_id = $1 AND {_CHANGE});
"""
# The server checks a policy before it uses an index for a condition whose function might leak values.  It trusts the
# comparison of texts, and not their hashing.  So these indexes serve the lookups that otherwise use an index of hashes.
_INDEXES: Final = """
CREATE INDEX IF NOT EXISTS conversation_guarded_owner ON conversation USING hash (owner_user);
CREATE INDEX IF NOT EXISTS chat_message_guarded_id ON chat_message USING hash (id);
CREATE INDEX IF NOT EXISTS summary_coverage_guarded_id ON summary_coverage USING hash (message_id);
"""

SELECT_STATE: Final = """
SELECT current_user AS role, current_setting('server_version_num')::int AS server,
    (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) AS is_above,
    count(*) FILTER (WHERE relrowsecurity) AS enabled,
    count(*) FILTER (WHERE relrowsecurity AND relforcerowsecurity) AS forced,
    (
        SELECT obj_description(oid, 'pg_policy') FROM pg_policy
        WHERE polrelid = to_regclass('conversation') AND polname = 'chatmemory_see'
    ) AS script
FROM unnest($1::text[]) AS name JOIN pg_class ON pg_class.oid = to_regclass(name)
"""


def acting(owner: str | None = None) -> str:
    """Return the statement that tells the server the principal, until the transaction ends.

    Args:
        owner: the owner of a transaction that writes, see ``Database.write``; None: the transaction reads, and rows that the
            principal may not read are not visible.
    """
    who, value = principal(), "*"
    # Calls of NO_PRINCIPAL name the user whose memories they read.
    if who.granted is not None and who is not NO_PRINCIPAL:
        granted = [
            {
                "user": one.owner.user,
                "app": one.owner.app,
                "prefix": one.prefix,
                "rights": sorted(one.rights),
            }
            for one in who.granted
            if owner is not None or "read" in one.rights
        ]
        value = json.dumps({"user": who.namespace.user, "conversation": owner, "granted": granted})
    # In hexadecimal digits, so that no text has to be quoted in the statement.
    return f"SELECT set_config('chatmemory.principal', convert_from(decode('{value.encode().hex()}', 'hex'), 'UTF8'), TRUE);"


ACT_FOR_THE_SERVICE: Final = "SELECT set_config('chatmemory.principal', '*', TRUE);\n"
"""The statement after which a transaction sees and may change every row, as the service."""


async def act_for_the_service(connection: Connection) -> None:
    """Act as the service for the rest of a transaction, for changes that follow from the request of the principal."""
    await connection.execute(ACT_FOR_THE_SERVICE)


@asynccontextmanager
async def for_the_service(connection: Connection) -> AsyncGenerator[None]:
    """Act as the service inside the block, and as the former principal after it."""
    (before,) = await connection.fetch("SELECT current_setting('chatmemory.principal', TRUE) AS who")
    await act_for_the_service(connection)
    yield  # not restored after an error, which rolls the transaction back
    await connection.execute("SELECT set_config('chatmemory.principal', $1::text, TRUE)", before["who"] or "")


async def guard(connection: Connection, *, is_wanted: bool) -> None:
    """Check that row-level security is on exactly if *is_wanted*, and create the policies if the role owns the tables.

    After any exception the caller must drop the connection, on which a transaction may be open.

    Raises:
        EffectFailed: with a ``RepositoryError`` if the role, the tables and the setting do not fit together.
    """
    state = await _state(connection)
    if not is_wanted:
        if state["enabled"]:
            raise _refusal("its rows are guarded, and the setting is false")
        return
    if state["server"] < _LEAST_VERSION:
        raise _refusal("it needs PostgreSQL 15 or newer")
    if state["is_above"]:
        detail = f"the role {state['role']!r} is a superuser or has BYPASSRLS, and sees every row: use another role"
        raise _refusal(detail)
    if not _is_guarded(state):
        await _create_policies(connection, state["role"])


async def _create_policies(connection: Connection, role: str) -> None:
    try:
        await connection.execute(BEGIN_CHANGE)
        if not _is_guarded(await _state(connection)):  # checked again: another process held the lock
            await connection.execute(_SCRIPT)
            await connection.execute(f"COMMENT ON POLICY chatmemory_see ON conversation IS '{_CHECKSUM}'")
        await connection.execute("COMMIT")
    except asyncpg.InsufficientPrivilegeError as error:
        detail = (
            f"let the owner of the tables open it once with the setting true: {role!r} may not guard them"
        )
        raise _refusal(detail) from error


async def _state(connection: Connection) -> Row:
    (state,) = await connection.fetch(SELECT_STATE, list(GUARDED))
    return state


def _is_guarded(state: Mapping[str, object]) -> bool:
    return state["script"] == _CHECKSUM and state["forced"] == len(GUARDED)


def _refusal(detail: str) -> EffectFailed:
    return EffectFailed(RepositoryError("open the store", "row_security", detail))


def _policies() -> Iterator[tuple[str, str, str, str]]:
    """Yield the table, the name, the command and the condition of every policy."""
    # A writer sees the owner of the conversation; otherwise the conversation of another owner would look like a new one.
    yield "conversation", "chatmemory_see", "SELECT", _using(f"{_SEE} OR conversation_id = {_WRITTEN_TO}")
    # A deletion stores the remaining counts by an INSERT that becomes an UPDATE; only who may delete may store a count of 0.
    counted = _check(f"({_WRITE} AND message_count > 0) OR {_DELETE}")
    yield "conversation", "chatmemory_add", "INSERT", counted
    yield "conversation", "chatmemory_change", "UPDATE", f"{_using(_CHANGE)} {counted}"
    yield "conversation", "chatmemory_remove", "DELETE", _using(_DELETE)
    for table in OF_CONVERSATIONS:
        see, change, delete = (
            _using(_WHERE_IT_IS.format(table=table, granted=one)) for one in (_SEE, _CHANGE, _DELETE)
        )
        yield table, "chatmemory_see", "SELECT", see
        yield table, "chatmemory_add", "INSERT", _check("chatmemory_writes_to(conversation_id)")
        yield table, "chatmemory_change", "UPDATE", change
        yield table, "chatmemory_remove", "DELETE", delete
    for table in OF_MEMORIES:
        yield table, "chatmemory_own", "ALL", _using(f"user_key = {_USER_KEY}")
    own = f"user_key = {_USER_KEY}"
    seen = _WHERE_IT_IS.format(table="conversation_event", granted=_SEE)
    yield "conversation_event", "chatmemory_see", "SELECT", _using(seen)
    yield "conversation_event", "chatmemory_note", "INSERT", _check("chatmemory_changes(conversation_id)")
    yield "memory_event", "chatmemory_see", "SELECT", _using(own)
    yield "memory_event", "chatmemory_note", "INSERT", _check(own)
    for table in OF_THE_LOG:  # rows of the log never change, and only the service prunes them
        yield table, "chatmemory_prune", "ALL", _using("FALSE")
    for table in OF_THE_SERVICE:
        yield table, "chatmemory_own", "ALL", _using("FALSE")
    yield "conversation_tree", "chatmemory_own", "ALL", _using("FALSE")


def _using(condition: str) -> str:
    return f"USING ({_IS_SERVICE} OR {condition})"  # in this order: the second condition may read many rows


def _check(condition: str) -> str:
    return f"WITH CHECK ({_IS_SERVICE} OR {condition})"


def _script() -> str:
    policies = "".join(
        f"DROP POLICY IF EXISTS {name} ON {table};\nCREATE POLICY {name} ON {table} FOR {command} {condition};\n"
        for table, name, command, condition in _policies()
    )
    tables = "".join(
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;\n" for table in GUARDED
    )
    return f"{_FUNCTIONS}{policies}{tables}{_INDEXES}"


_SCRIPT: Final = _script()
_CHECKSUM: Final = hashlib.sha256(_SCRIPT.encode()).hexdigest()
"""Stored as a comment with the policies, so that a newer program replaces them by its own."""
