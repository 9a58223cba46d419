"""The module that connects to SQLite, and the extension that compares codes in it, if there is one.

The interpreter's own ``sqlite3`` is preferred; some are built without extensions, and then ``pysqlite3`` is used if it is
installed (extra: ``chatmemory-effect[vec]``).  Neither is required: without the extension, Python or numpy compares the
codes, with the same answers.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from os import sep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def driver(*, use_sqlite_vec: bool) -> ModuleType:
    """Return the module to connect with; if *use_sqlite_vec*, one that can load extensions, if there is one."""
    if not use_sqlite_vec or hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    with suppress(ImportError):
        return import_module("pysqlite3.dbapi2")
    return sqlite3


def load_vec(connection: sqlite3.Connection) -> bool:
    """Load sqlite-vec into *connection*, unless it is loaded; return whether it can be used."""
    if _has_vec(connection):
        return True
    try:
        # Not imported: the package would load numpy, which takes longer than the search.
        package = find_spec("sqlite_vec")
        if package is None or package.origin is None:
            return False
        path = f"{package.origin.rpartition(sep)[0]}{sep}vec0"
        connection.enable_load_extension(True)
        try:
            connection.execute("SELECT load_extension(:path)", {"path": path}).fetchall()
        finally:
            connection.enable_load_extension(False)
    except Exception:  # noqa: BLE001  not for this platform, not with this interpreter, whichever driver's error
        return False
    return _has_vec(connection)


def _has_vec(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT vec_version()").fetchall()
    except Exception:  # noqa: BLE001  either driver's error: no such function
        return False
    return True
