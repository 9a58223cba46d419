"""The statements that a module of SQL defines, for tests that look at how each is carried out."""

import re
import sqlite3
from types import ModuleType


def statements_of(*modules: ModuleType) -> dict[str, str]:
    """Return the statements by the names of module and constant; templates, which are private, are none."""
    words = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, str) and value.lstrip().startswith(words) and not name.startswith("_")
    }


def sqlite_plan(store: sqlite3.Connection, statement: str) -> list[str]:
    """Return the steps in which SQLite carries a statement out."""
    names = dict.fromkeys(re.findall(r":(\w+)", statement))
    rows = store.execute(f"EXPLAIN QUERY PLAN {statement}", names or [None] * statement.count("?"))
    return [step for _, _, _, step in rows.fetchall()]
