"""``keys_by_words``: the memories that share words with a query; where there are many, those that share the rarest.

bm25 is left to the ranking of recall, which needs it alike on every backend; that of FTS5 looks at every match, 80 ms
for three common words among 100,000 memories.  Here each word tells its newest memories, and those of a rare word, which
are all of them, count for more.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from chatmemory_layers.sqlite.memory_filters import RECALLABLE, Parameters

# ruff: noqa: S608  conditions of memory_filters.py are put into statements, never values

SELECT_NEWEST = "SELECT rowid FROM memory_fts WHERE memory_fts MATCH :match ORDER BY rowid DESC LIMIT :limit"
# NOT INDEXED but by id: SQLite would rather walk through all memories of the user.
SELECT_PASSING = f"""
SELECT id FROM atomic_memory NOT INDEXED WHERE id IN (SELECT value FROM json_each(:keys)) AND {RECALLABLE}
"""
SELECT_NEWEST_PASSING = f"""
SELECT id FROM memory_fts JOIN atomic_memory ON id = memory_fts.rowid
WHERE memory_fts MATCH :match AND {RECALLABLE}
ORDER BY memory_fts.rowid DESC LIMIT :limit
"""

MEMORIES_PER_WORD: Final = 500
"""A word that more memories have is common: a quarter of a millisecond is spent on it."""

_GROWTH_OF_PORTION: Final = 4


def words_of(user_key: int, terms: Sequence[str]) -> list[str]:
    """Return *terms* as words of the index, each a string of FTS5: nothing in them is syntax."""
    return [f'"{user_key}u{term.replace(chr(34), "")}"' for term in terms]


def keys_by_words(
    connection: sqlite3.Connection, words: Sequence[str], parameters: Parameters, *, limit: int
) -> list[int]:
    """Return the keys of at most *limit* memories that have one of *words*; *parameters* are those of ``RECALLABLE``."""
    worth = defaultdict[int, float](float)
    common: list[str] = []
    for word in words:
        keys = _newest(connection, word)
        for key in keys:
            worth[key] += 1 / len(keys)
        if len(keys) == MEMORIES_PER_WORD:
            common.append(word)
    if len(common) > 1:  # what has them all may be older than the newest of each
        for key in _newest(connection, " AND ".join(common)):
            worth[key] = max(worth[key], len(common) / MEMORIES_PER_WORD)
    best = sorted(((value, key) for key, value in worth.items()), reverse=True)
    found = _passing(connection, [key for _, key in best], parameters, limit=limit)
    if common and len(found) < limit:  # the filters have dropped too many
        match = {**parameters, "match": " OR ".join(common), "limit": limit}
        rest = dict.fromkeys(key for (key,) in connection.execute(SELECT_NEWEST_PASSING, match).fetchall())
        found = [*{**dict.fromkeys(found), **rest}][:limit]
    return found


def _newest(connection: sqlite3.Connection, match: str) -> list[int]:
    newest = {"match": match, "limit": MEMORIES_PER_WORD}
    return [key for (key,) in connection.execute(SELECT_NEWEST, newest).fetchall()]


def _passing(
    connection: sqlite3.Connection, keys: Sequence[int], parameters: Parameters, *, limit: int
) -> list[int]:
    """Return the first *limit* of *keys* that pass the filters."""
    found: list[int] = []
    start, portion = 0, limit
    while start < len(keys) and len(found) < limit:
        looked_at = keys[start : start + portion]
        wanted = {**parameters, "keys": json.dumps(looked_at)}
        passing = {key for (key,) in connection.execute(SELECT_PASSING, wanted).fetchall()}
        found += [key for key in looked_at if key in passing]
        start, portion = start + portion, portion * _GROWTH_OF_PORTION
    return found[:limit]
