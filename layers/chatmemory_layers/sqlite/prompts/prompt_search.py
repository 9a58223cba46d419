"""``candidates``: the candidates of a search in past chats: by words, by vectors, and as neighbours of such a turn.

It only reads.  ``hybrid_rank.py`` ranks the candidates.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import chain, combinations, zip_longest
from math import log
from typing import TYPE_CHECKING, Final, TypeAlias, final

from chatmemory.pastchats.prompt import EVERYTHING, Prompt
from chatmemory.pastchats.prompt_repository import (
    MOST_CANDIDATES,
    PromptCandidate,
    PromptCandidates,
    PromptSearch,
)
from chatmemory_layers.sqlite.prompts.prompt_row import IS_MEANT, PROMPT_COLUMNS, filter_parameters, prompt_of
from chatmemory_layers.sqlite.prompts.prompt_vectors import (
    PromptVectors,
    QueryVector,
    has_other_models,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    Parameters: TypeAlias = Mapping[str, object]

# ruff: noqa: S608  columns and conditions are put into statements, never values

BEST_BY_WORDS: Final = 60
BEST_BY_VECTOR: Final = 40

MOST_COPIES: Final = 2
"""How many candidates may have the same text: a thousand copies of a prompt would leave no place for other turns."""

ENOUGH_COMPARED: Final = 100
"""How many vectors of different texts are compared before the best of them are taken."""

MOST_CHECKED: Final = 50_000
"""How many of the nearest codes are checked against a filter one by one; after that, the rows that pass it are listed."""

MOST_BY_TEXT: Final = 100
LONGEST_PATTERN: Final = 1000
"""How many characters of a query are searched as an exact text."""

NEWEST_READ: Final = 200_000
"""How many turns are searched for the exact text of a query."""

LAST_ROW: Final = (1 << 63) - 1

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

SELECT_PROMPTS = f"""
SELECT {PROMPT_COLUMNS} FROM prompts
WHERE prompts.id IN (SELECT value FROM json_each(:ids))
"""
SELECT_TEXTS = f"""
SELECT prompts.id, prompts.text_hash FROM prompts
WHERE prompts.id IN (SELECT value FROM json_each(:ids)) AND {IS_MEANT}
"""
SELECT_MEANT = f"SELECT prompts.id FROM prompts WHERE {IS_MEANT}"
SELECT_OF_CONVERSATIONS = f"""
SELECT prompts.id FROM prompts
WHERE prompts.conversation_id IN (SELECT value FROM json_each(:conversations)) AND {IS_MEANT}
"""
# A superseded turn is not a neighbour of any turn: another turn has its place.
SELECT_BESIDE = """
SELECT
    prompts.id,
    (SELECT id FROM prompts AS other
     WHERE other.conversation_id = prompts.conversation_id AND other.turn_index < prompts.turn_index
     AND other.superseded_at IS NULL
     ORDER BY other.turn_index DESC LIMIT 1),
    (SELECT id FROM prompts AS other
     WHERE other.conversation_id = prompts.conversation_id AND other.turn_index > prompts.turn_index
     AND other.superseded_at IS NULL
     ORDER BY other.turn_index LIMIT 1)
FROM prompts WHERE prompts.id IN (SELECT value FROM json_each(:ids))
"""
SELECT_WITH_TEXT = f"""
SELECT prompts.id FROM prompts
WHERE prompts.content LIKE :pattern ESCAPE '!' AND {IS_MEANT}
AND prompts.id > (SELECT max(id) FROM prompts) - :newest
ORDER BY prompts.id DESC LIMIT :most
"""
COUNT_OTHERS = f"""
SELECT count(*) FROM prompt_models
CROSS JOIN prompt_vectors ON prompt_vectors.model_key = prompt_models.model_key
CROSS JOIN prompts ON prompts.id = prompt_vectors.prompt_id
WHERE prompt_models.model <> :model AND {IS_MEANT}
"""
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


def candidates(
    connection: sqlite3.Connection, search: PromptSearch, vectors: PromptVectors
) -> PromptCandidates:
    """Return the candidates, at most ``MOST_CANDIDATES``; the caller has begun a transaction, which is one snapshot."""
    return _Search(connection, search, vectors).run()


@final
class _Search:
    """One search."""

    def __init__(self, connection: sqlite3.Connection, search: PromptSearch, vectors: PromptVectors) -> None:
        self._connection = connection
        self._search = search
        self._vectors = vectors
        self._is_filtered = search.filter != EVERYTHING
        self._meant: dict[str, str | None] = filter_parameters(search.filter)
        self._among = self._of_conversations() if search.filter.conversations else None
        self._query: QueryVector | None = None
        if search.vector is not None:
            self._query = vectors.query(connection, search.vector, search.model)
        self._similarities: dict[int, float] = {}

    def run(self) -> PromptCandidates:
        if self._among == []:
            return PromptCandidates(())
        nearest = self._all_nearest_first()  # a large store compares codes while words are searched
        scores = self._scores()
        best = self._best_by_words(scores), self._best_by_vector(nearest)
        # The best of both lists alternately, so that there is space for neighbours of the best of each.
        rows = list(dict.fromkeys(row for row in chain(*zip_longest(*best)) if row is not None))
        matched_text = False
        if not rows and self._query is None:
            rows = self._with_text()
            matched_text = bool(rows)
        else:
            rows = self._with_neighbours(rows)
        prompts = self._prompts(rows)
        if self._query is not None:
            unknown = [row for row in rows if row not in self._similarities]
            self._compare(unknown)
        found = tuple(
            PromptCandidate(prompts[row], scores.get(row, 0.0), self._similarities.get(row))
            for row in rows
            if row in prompts
        )
        return PromptCandidates(found, matched_text, self._unembedded())

    # --- words ---

    def _scores(self) -> dict[int, float]:
        rows = self._among or [0, LAST_ROW]
        parameters = {**self._meant, "first": min(rows), "last": max(rows)}
        if self._among is not None and len(self._among) <= NEWEST_SCORED:
            return scores_within(self._connection, self._search.terms, parameters, turns=len(self._among))
        return scores_by_words(
            self._connection, self._search.terms, parameters, is_filtered=self._is_filtered
        )

    def _best_by_words(self, scores: dict[int, float]) -> list[int]:
        copies = Counter[str]()
        best: list[int] = []
        looked_at, portion = 0, BEST_BY_WORDS + BEST_BY_WORDS // 4
        while len(best) < BEST_BY_WORDS and looked_at < len(scores):
            # Usually the first portion holds enough; sorting them all takes longer than finding them.
            in_order = nlargest(looked_at + portion, zip(scores.values(), scores, strict=True))
            best += self._without_copies([row for _, row in in_order[looked_at:]], copies)
            looked_at, portion = len(in_order), 8 * portion
        return best[:BEST_BY_WORDS]

    def _with_text(self) -> list[int]:
        """Return the newest turns that contain the exact text of the query."""
        text = self._search.text.strip()[:LONGEST_PATTERN].replace("\0", "")
        text = text.encode(errors="ignore").decode()  # SQLite refuses lone surrogates, and no turn has any
        if not text:
            return []
        for special in "!%_":
            text = text.replace(special, f"!{special}")
        parameters = {"pattern": f"%{text}%", "newest": NEWEST_READ, "most": MOST_BY_TEXT, **self._meant}
        return [row for (row,) in self._connection.execute(SELECT_WITH_TEXT, parameters).fetchall()]

    # --- vectors ---

    def _all_nearest_first(self) -> Iterator[list[int]]:
        if self._query is None or self._among is not None:
            return iter(())
        return self._vectors.nearest_first(self._connection, self._query, among=None)

    def _best_by_vector(self, nearest: Iterator[list[int]]) -> list[int]:
        if self._query is None:
            return []
        copies = Counter[str]()
        compared: list[int] = []
        for rows in self._nearest_first(self._query, nearest):
            similarities = self._compare(rows)
            in_order = sorted(similarities, key=lambda row: (similarities[row], row), reverse=True)
            compared += self._without_copies(in_order, copies)
            if len(compared) >= ENOUGH_COMPARED:
                break
        return nlargest(BEST_BY_VECTOR, compared, key=lambda row: (self._similarities[row], row))

    def _nearest_first(self, query: QueryVector, nearest: Iterator[list[int]]) -> Iterator[list[int]]:
        """Yield the rows that the filter selects, nearest first, in portions."""
        checked = 0
        if self._among is None:
            for rows in nearest:
                yield list(self._texts(rows)) if self._is_filtered else rows
                checked += len(rows)
                if self._is_filtered and checked >= MOST_CHECKED:
                    break
            else:
                return
        among = self._among
        if among is None:
            among = [row for (row,) in self._connection.execute(SELECT_MEANT, self._meant).fetchall()]
        yield from self._vectors.nearest_first(self._connection, query, among=among)

    def _compare(self, rows: Sequence[int]) -> dict[int, float]:
        """Compute the similarities of *rows*, remember and return them."""
        if self._query is None:
            return {}
        new = self._vectors.similarities(self._connection, self._query, rows)
        self._similarities |= new
        return new

    def _unembedded(self) -> int:
        if self._query is None or not has_other_models(self._connection, self._query.model):
            return 0
        parameters = {"model": self._query.model, **self._meant}
        (count,) = self._connection.execute(COUNT_OTHERS, parameters).fetchone()
        return int(count)

    # --- rows ---

    def _without_copies(self, rows: Iterable[int], copies: Counter[str]) -> list[int]:
        """Return *rows* in order, without those whose text occurred often enough; *copies* counts the texts, and is updated."""
        rows = list(rows)
        texts = self._texts(rows)
        kept: list[int] = []
        for row in rows:
            if (text := texts.get(row)) is not None:
                copies[text] += 1
                if copies[text] <= MOST_COPIES:
                    kept.append(row)
        return kept

    def _texts(self, rows: Sequence[int]) -> dict[int, str]:
        """Return the text hashes of those *rows* that the filter selects, in the order of *rows*."""
        parameters = {"ids": json.dumps(rows), **self._meant}
        texts = dict(self._connection.execute(SELECT_TEXTS, parameters).fetchall())
        return {row: texts[row] for row in rows if row in texts}

    def _of_conversations(self) -> list[int]:
        return [row for (row,) in self._connection.execute(SELECT_OF_CONVERSATIONS, self._meant).fetchall()]

    def _with_neighbours(self, rows: Sequence[int]) -> list[int]:
        """Return *rows* and their neighbours, up to the limit of candidates."""
        beside = {
            row: others
            for row, *others in self._connection.execute(SELECT_BESIDE, {"ids": json.dumps(rows)}).fetchall()
        }
        known = set(rows)
        others = dict.fromkeys(
            other for row in rows for other in beside.get(row, ()) if other is not None and other not in known
        )
        admitted = self._texts(list(others)) if self._is_filtered else others
        return [*rows, *admitted][:MOST_CANDIDATES]

    def _prompts(self, rows: Sequence[int]) -> dict[int, Prompt]:
        found = map(prompt_of, self._connection.execute(SELECT_PROMPTS, {"ids": json.dumps(rows)}).fetchall())
        return {prompt.id: prompt for prompt in found}


def scores_by_words(
    connection: sqlite3.Connection, terms: Sequence[str], parameters: Parameters, *, is_filtered: bool
) -> dict[int, float]:
    """Return bm25, greater is better, of the turns that have one of *terms*, by row.

    FTS5 scores every match, and a common word has many: three of them in 100,000 turns take 76 ms.  A rare word says more,
    so all turns with a rare word are scored.  If there are few of these, some turns with common words alone are scored too:
    the newest ones, and the ones with several of the words.  Each score is exact: it counts all words that the turn shares.

    *parameters* fill in ``prompt_row.IS_MEANT``, with ``first`` and ``last``, the range of the rows.
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


def scores_within(
    connection: sqlite3.Connection, terms: Sequence[str], parameters: Parameters, *, turns: int
) -> dict[int, float]:
    """Return bm25 of the turns that have one of *terms*, by row, if the conversation has *turns* turns.

    The rarity of a word is its rarity within the conversation: a name that all its turns contain says nothing.

    *parameters*: as for ``scores_by_words``.
    """
    scores: dict[int, float] = {}
    for term in terms:
        shares = connection.execute(SELECT_SHARES, {**parameters, "match": _quoted(term)}).fetchall()
        rarity = max(LEAST_RARITY, log((turns - len(shares) + 0.5) / (len(shares) + 0.5)))
        for row, share in shares:
            scores[row] = scores.get(row, 0.0) + rarity * share
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
