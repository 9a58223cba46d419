"""``scores_by_words``: bm25 of the turns that share words with a query, at a limited cost.

FTS5 scores every match, and a common word has many: three of them in 100,000 turns take 76 ms.  A rare word says more, so
all turns with a rare word are scored.  If there are few of these, some turns with common words alone are scored too: the
newest ones, and the ones with several of the words.  Each score is exact: it counts all words that the turn shares.

Within a conversation, the rarity of a word is its rarity there: a name that all its turns contain says nothing.
"""

from __future__ import annotations

from itertools import combinations
from math import log
from typing import TYPE_CHECKING, Final, TypeAlias

from chatmemory_layers.sqlite.prompts.prompt_filters import IS_MEANT

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    Parameters: TypeAlias = Mapping[str, object]

# ruff: noqa: S608  columns and conditions are put into statements, never values

MOST_SCORED: Final = 2500
"""How many turns are scored for their rare words; the rarest words count as rare while they have no more turns together."""

NEWEST_SCORED: Final = 2000
"""How many turns with common words alone are scored; three such words in 100,000 turns then take 3 ms instead of 76."""

ENOUGH_RARE: Final = 200
"""A number of turns with rare words.  With fewer, turns with common words alone are candidates too, and pairs of common words
are searched in all turns; with as many, that would change no answer, and take 7 ms for a million turns."""

PAIRED_WORDS: Final = 3
"""How many common words, rarest first, form these pairs."""

NEWEST_OF_A_PAIR: Final = 300

LEAST_RARITY: Final = 1e-6
"""The rarity that FTS5 gives to a word that most turns have."""

COUNT_MATCHES = """
SELECT count(*) FROM (SELECT rowid FROM prompts_fts WHERE prompts_fts MATCH :match LIMIT :most)
"""
SELECT_SCORES = """
SELECT rowid, -bm25(prompts_fts) FROM prompts_fts
WHERE prompts_fts MATCH :match AND rowid BETWEEN :first AND :last
ORDER BY rowid DESC LIMIT :most
"""
SELECT_SCORES_MEANT = f"""
SELECT prompts_fts.rowid, -bm25(prompts_fts) FROM prompts_fts CROSS JOIN prompts ON prompts.id = prompts_fts.rowid
WHERE prompts_fts MATCH :match AND prompts_fts.rowid BETWEEN :first AND :last AND {IS_MEANT}
ORDER BY prompts_fts.rowid DESC LIMIT :most
"""
# With very large weights, bm25 of a word is its rarity in the whole store times 2.2, FTS5's k1 + 1: the quotient is the share
# of the turn that the word makes up.
SELECT_SHARES = f"""
SELECT prompts_fts.rowid, 2.2 * bm25(prompts_fts) / bm25(prompts_fts, 1e15, 1e15, 1e15, 1e15)
FROM prompts_fts CROSS JOIN prompts ON prompts.id = prompts_fts.rowid
WHERE prompts_fts MATCH :match AND prompts_fts.rowid BETWEEN :first AND :last AND {IS_MEANT}
"""


def scores_within(
    connection: sqlite3.Connection, terms: Sequence[str], parameters: Parameters, *, turns: int
) -> dict[int, float]:
    """Return bm25 of the turns that have one of *terms*, by row, if the conversation has *turns* turns.

    *parameters*: as for ``scores_by_words``.
    """
    scores: dict[int, float] = {}
    for term in terms:
        shares = connection.execute(SELECT_SHARES, {**parameters, "match": _quoted(term)}).fetchall()
        rarity = max(LEAST_RARITY, log((turns - len(shares) + 0.5) / (len(shares) + 0.5)))
        for row, share in shares:
            scores[row] = scores.get(row, 0.0) + rarity * share
    return scores


def scores_by_words(
    connection: sqlite3.Connection, terms: Sequence[str], parameters: Parameters, *, is_filtered: bool
) -> dict[int, float]:
    """Return bm25, greater is better, of the turns that have one of *terms*, by row.

    *parameters* fill in ``prompt_filters.IS_MEANT``, with ``first`` and ``last``, the range of the rows.
    """
    counts = {_quoted(term): _count(connection, _quoted(term)) for term in terms}
    words = sorted((word for word, count in counts.items() if count), key=lambda word: counts[word])
    rare: list[str] = []
    scored_for_rare = 0
    for word in words:
        if scored_for_rare + counts[word] > MOST_SCORED:
            break
        scored_for_rare += counts[word]
        rare.append(word)
    common = words[len(rare) :]
    statement = SELECT_SCORES_MEANT if is_filtered else SELECT_SCORES

    def found(match: str, most: int) -> dict[int, float]:
        return dict(connection.execute(statement, {**parameters, "match": match, "most": most}).fetchall())

    if not common:
        return found(_any(rare), MOST_SCORED) if rare else {}
    scores: dict[int, float] = {}
    if scored_for_rare < ENOUGH_RARE:
        # Then a turn with several common words may be among the best, even if it is old.
        for pair in combinations(common[:PAIRED_WORDS], 2):
            others = [word for word in common if word not in pair]
            both = " AND ".join(pair)
            scores |= found(both, NEWEST_OF_A_PAIR)
            if others:
                scores |= found(f"{both} AND {_any(others)}", NEWEST_OF_A_PAIR)
        scores |= found(_any(common), NEWEST_SCORED)
    if rare:
        scores |= found(_any(rare), MOST_SCORED)
        # The same turns again, now with what their common words add.
        scores |= found(f"{_any(rare)} AND {_any(common)}", MOST_SCORED)
    return scores


def _quoted(term: str) -> str:
    """Return *term* as a string of FTS5, so that nothing in it is read as syntax."""
    return '"' + term.replace('"', '""') + '"'


def _any(words: Sequence[str]) -> str:
    return f"({' OR '.join(words)})"


def _count(connection: sqlite3.Connection, word: str) -> int:
    parameters = {"match": word, "most": MOST_SCORED + 1}
    (count,) = connection.execute(COUNT_MATCHES, parameters).fetchone()
    return int(count)
