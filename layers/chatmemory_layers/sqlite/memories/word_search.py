"""``rows_by_words``: the memories that share words with a query; where there are many, those that share the rarest.

bm25 is left to the ranking of recall, which needs it alike on every backend; that of FTS5 looks at every match, 80 ms
for three common words among 100,000 memories.  Here each word tells its newest memories, and those of a rare word, which
are all of them, count for more.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from chatmemory_layers.sqlite.memories.memory_filters import RECALLABLE, Parameters, Row, passing

SELECT_NEWEST = "SELECT rowid FROM memory_fts WHERE memory_fts MATCH :match ORDER BY rowid DESC LIMIT :limit"
SELECT_NEWEST_PASSING = f"""
SELECT memory_record.* FROM memory_fts CROSS JOIN memory_record ON memory_key = memory_fts.rowid
WHERE memory_fts MATCH :match AND {RECALLABLE}
ORDER BY memory_fts.rowid DESC LIMIT :limit
"""  # noqa: S608  conditions, no values

MEMORIES_PER_WORD: Final = 500
"""A word that more memories have is common: a quarter of a millisecond is spent on it."""


def words_of(user_key: int, terms: Sequence[str]) -> list[str]:
    """Return *terms* as words of the index, each a string of FTS5: nothing in them is syntax."""
    return [f'"{user_key}u{term.replace(chr(34), "")}"' for term in terms]


def rows_by_words(
    connection: sqlite3.Connection, words: Sequence[str], parameters: Parameters, *, limit: int
) -> list[Row]:
    """Return at most *limit* memories that have one of *words*; *parameters* are those of ``RECALLABLE``."""
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
    rows = passing(connection, sorted(worth, key=worth.__getitem__, reverse=True), parameters)
    if common and len(rows) < limit:  # the filters have dropped too many
        known = {row[-1] for row in rows}
        more = {**parameters, "match": " OR ".join(common)}
        found = connection.execute(SELECT_NEWEST_PASSING, more).fetchall()
        rows += [row for row in found if row[-1] not in known][: limit - len(rows)]
    return rows


def _newest(connection: sqlite3.Connection, match: str) -> list[int]:
    newest = {"match": match, "limit": MEMORIES_PER_WORD}
    return [key for (key,) in connection.execute(SELECT_NEWEST, newest).fetchall()]
