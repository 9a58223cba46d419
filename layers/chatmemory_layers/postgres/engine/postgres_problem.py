"""``repository_error``: translates the exceptions of asyncpg and of the network to ``RepositoryError``."""

from typing import Final

from chatmemory.errors import RepositoryError, RepositoryProblem
from chatmemory.extra import needs_extra

with needs_extra("postgres"):
    import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none

DRIVER_ERRORS: Final[tuple[type[Exception], ...]] = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)
"""The exceptions that a call of asyncpg may raise; any other one is a defect."""

_PROBLEM_OF_STATE: Final[dict[str, RepositoryProblem]] = {
    "22021": "not_a_store",  # character_not_in_repertoire: the database cannot hold every text
    "23505": "busy",  # unique_violation: another writer did not take the lock, as two coordinators of a sharded store can
    "25006": "read_only",  # read_only_sql_transaction
    "26000": "unavailable",  # invalid_sql_statement_name: another session has prepared it
    "40001": "busy",  # serialization_failure
    "40P01": "busy",  # deadlock_detected
    "42501": "read_only",  # insufficient_privilege
    "42703": "not_a_store",  # undefined_column
    "42P01": "not_a_store",  # undefined_table
    "42P05": "unavailable",  # duplicate_prepared_statement: another session has prepared it
    "42P07": "not_a_store",  # duplicate_table: a migration met a table of another program
    "53100": "full",  # disk_full
    "53200": "no_memory",  # out_of_memory
    "55P03": "busy",  # lock_not_available
    "57014": "busy",  # query_canceled: the server ended what took longer than timeout_seconds
    "XX001": "damaged",  # data_corrupted
    "XX002": "damaged",  # index_corrupted
}

_PROBLEM_OF_CLASS: Final[dict[str, RepositoryProblem]] = {
    "08": "unavailable",  # connection_exception
    "25": "busy",  # invalid_transaction_state: the server ended a transaction in which the client fell silent
    "28": "unavailable",  # invalid_authorization_specification
    "3D": "unavailable",  # invalid_catalog_name: no such database
    "53": "busy",  # insufficient_resources: connections, memory
    "57": "unavailable",  # operator_intervention: shutting down, starting up
}

# In the message of a session that has not prepared the statement, or has another one under its name.
_FOREIGN_STATEMENT: Final = "prepared statement"
_NO_STATEMENT_CACHE: Final = (
    "behind a PgBouncer older than 1.21 in transaction mode, set memory.store.postgres.statementCacheSize = 0"
)

_LOST_CONNECTION: Final = frozenset({"08", "57"})


def is_refusal(error: Exception) -> bool:
    """Return whether the server has refused the statement; one that is its own transaction has then changed nothing."""
    state: str = getattr(error, "sqlstate", None) or "08"
    return isinstance(error, asyncpg.PostgresError) and state[:2] not in _LOST_CONNECTION


def repository_error(operation: str, error: Exception, *, at_commit: bool = False) -> RepositoryError:
    """Return the ``RepositoryError`` for an exception of the driver, which becomes its cause.

    If the COMMIT was sent (*at_commit*), the outcome is unknown unless the server has refused it.
    """
    detail = str(error).partition("\n")[0] or type(error).__name__
    if isinstance(error, asyncpg.PostgresError) and _FOREIGN_STATEMENT in detail:
        detail = f"{detail}: {_NO_STATEMENT_CACHE}"
    return RepositoryError(operation, _problem_of(error, at_commit=at_commit), detail, cause=error)


def _problem_of(error: Exception, *, at_commit: bool) -> RepositoryProblem:
    if isinstance(error, asyncpg.PostgresError):
        state: str = getattr(error, "sqlstate", None) or ""
        if at_commit and state[:2] in _LOST_CONNECTION:
            return "outcome_unknown"
        return _PROBLEM_OF_STATE.get(state) or _PROBLEM_OF_CLASS.get(state[:2], "unexpected")
    if at_commit:
        return "outcome_unknown"
    return "unexpected" if isinstance(error, asyncpg.DataError) else "unavailable"
