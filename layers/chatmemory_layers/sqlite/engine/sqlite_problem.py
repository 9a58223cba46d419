"""Maps the exceptions of ``sqlite3`` and of the file system to ``RepositoryError``; no other module does so."""

import errno
import sqlite3
from typing import Final, TypeAlias

from chatmemory.errors import RepositoryError, RepositoryProblem

DRIVER_ERRORS: Final = (sqlite3.Error, MemoryError, UnicodeDecodeError)
"""What a call of ``sqlite3`` may raise.

SQLite without memory raises the same ``MemoryError`` as Python.  ``UnicodeDecodeError``: SQLite complains of a damaged file
and quotes a name in it that is not UTF-8.
"""

DriverError: TypeAlias = sqlite3.Error | MemoryError | UnicodeDecodeError


class NewerEditionError(sqlite3.DatabaseError):
    """Says that a newer edition has migrated the file while it was open."""


PRIMARY_CODE: Final = 0xFF  # the low byte; the other bytes of an extended code only add detail

_PROBLEM_OF_CODE: Final[dict[int, RepositoryProblem]] = {
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_LOCKED: "busy",
    sqlite3.SQLITE_FULL: "full",
    # A quota or a size limit (EDQUOT, EFBIG) arrives as a failed write; only ENOSPC becomes SQLITE_FULL.
    sqlite3.SQLITE_IOERR_WRITE: "full",
    sqlite3.SQLITE_IOERR_SHMSIZE: "full",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_IOERR_SHORT_READ: "damaged",
    sqlite3.SQLITE_NOTADB: "not_a_store",
    sqlite3.SQLITE_CANTOPEN: "unavailable",
    sqlite3.SQLITE_IOERR: "unavailable",
    sqlite3.SQLITE_PERM: "unavailable",
    sqlite3.SQLITE_AUTH: "unavailable",
}

_PROBLEM_OF_ERRNO: Final[dict[int | None, RepositoryProblem]] = {
    errno.EACCES: "read_only",
    errno.EPERM: "read_only",
    errno.EROFS: "read_only",
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EFBIG: "full",
}


def repository_error(
    operation: str, error: DriverError | OSError, *, at_commit: bool = False
) -> RepositoryError:
    """Return the ``RepositoryError`` for an exception of SQLite, which is kept as its cause.

    *at_commit*: the commit failed.  The log may hold the whole transaction although syncing it failed, and a crash now would
    restore it.
    """
    if isinstance(error, OSError):
        problem = _PROBLEM_OF_ERRNO.get(error.errno, "unavailable")
        where = f"{error.filename}: " if error.filename else ""
        return RepositoryError(operation, problem, f"{where}{error.strerror or error}", cause=error)
    problem = _problem_of(error)
    if at_commit and problem in {"unavailable", "no_memory"}:
        problem = "outcome_unknown"
    return RepositoryError(operation, problem, str(error), cause=error)


def _problem_of(error: DriverError) -> RepositoryProblem:
    if isinstance(error, MemoryError):
        return "no_memory"
    if isinstance(error, UnicodeDecodeError):
        return "damaged"
    if isinstance(error, NewerEditionError):
        return "upgraded"
        # Only errors of SQLite have a code; the module also raises errors itself.
    code: int | None = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return "closed" if "closed database" in str(error) else "unexpected"
    return _PROBLEM_OF_CODE.get(code) or _PROBLEM_OF_CODE.get(code & PRIMARY_CODE, "unexpected")
