"""How quick a warm search in past chats is, beside the same recipe written by hand.

    python benchmarks/past_search.py [TURNS] [--keep FOLDER] [--json FILE]

TURNS (100,000) made-up turns of 30 words, as frequent as words are, are written straight into the tables, with vectors as
long and as full as the bundled embedder's; a million take 2.5 GB and some minutes.  By hand means: capped bm25 of FTS5, a bit per dimension compared in
numpy, the vectors of the nearest 200, the turns beside what was found, and the scores in numpy.  Both embed the query.
Exits with 1 when ours takes more than twice as long, or, from a million turns on, more than 50 ms.
"""

import argparse
import json
import random
import sqlite3  # noqa: TID251  by hand
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
from figures import Rows, duration, json_option, write

from chatmemory.effect.services.clock import SystemClock
from chatmemory.pastchats.finding.hybrid_rank import HybridRanking
from chatmemory.pastchats.finding.prompt_terms import prompt_terms
from chatmemory.pastchats.finding.search import PromptSearching
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.embedding.bundled import MODEL
from chatmemory_layers.embedding.composite import composite_rows
from chatmemory_layers.embedding.plain_rows import PlainStatic
from chatmemory_layers.sqlite.prompts.packed_vectors import PackedVector, packed_rows, unpacked_rows
from chatmemory_layers.sqlite.prompts.prompt_codes import code_of, quantised_rows
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from chatmemory_layers.sqlite.prompts.prompt_store import connect_reader, connect_writer

DIM: Final = 1024  # of the bundled embedder; a query of another length is compared with nothing
FULL_DIMS: Final = 256  # of its static rows; of the others, hashed words fill a third
FULL_SHARE: Final = 0.3
WORDS: Final = 30_000
WORDS_OF_A_TURN: Final = 30
TURNS_OF_A_CONVERSATION: Final = 50
CENTRES: Final = 300
AT_ONCE: Final = 5_000
ROUNDS: Final = 40
MOST_TIMES: Final = 2.0
MOST_MILLISECONDS: Final = 50.0
MILLION: Final = 1_000_000
CAP: Final = 2_000
NEAREST: Final = 200
BEST: Final = 120

INSERT_PROMPT = """
INSERT INTO prompts (id, source_path, source_project, conversation_id, turn_index, role, content, timestamp, content_hash,
    metadata_json, format, session, text_hash, search_terms)
VALUES (?, '/home/mei/a.jsonl', 'shop', ?, ?, ?, ?, '2025-01-01T00:00:00.000000Z', ?, '{}', 'role_list', '', ?, '1 January 2025')
"""
INSERT_EMBEDDING = """
INSERT INTO prompt_vectors (prompt_id, model_key, dense, squares, vector) VALUES (?, 1, ?, ?, ?)
"""
SELECT_BY_WORDS = """
SELECT rowid, -bm25(prompts_fts) FROM prompts_fts WHERE prompts_fts MATCH ? ORDER BY rowid DESC LIMIT ?
"""
SELECT_VECTORS = """
SELECT prompt_id, dense, squares, vector FROM prompt_vectors WHERE prompt_id IN (SELECT value FROM json_each(?))
"""
SELECT_PLACES = """
SELECT id, conversation_id, turn_index, content FROM prompts WHERE id IN (SELECT value FROM json_each(?))
"""
SELECT_BESIDE = """
SELECT other.id FROM prompts JOIN prompts AS other ON other.conversation_id = prompts.conversation_id
AND other.turn_index BETWEEN prompts.turn_index - 1 AND prompts.turn_index + 1
WHERE prompts.id IN (SELECT value FROM json_each(?))
"""


def words() -> list[str]:
    chance = random.Random(0)
    return ["".join(chance.choices("abcdefghiklmnoprstuvw", k=chance.randint(3, 9))) for _ in range(WORDS)]


def fill(connection: sqlite3.Connection, turns: int) -> None:
    chance, numbers = random.Random(1), np.random.default_rng(1)
    vocabulary, weights = words(), [1 / (rank + 10) for rank in range(WORDS)]
    centres = numbers.standard_normal((CENTRES, DIM)).astype(np.float32)
    connection.execute("INSERT INTO prompt_models (model_key, model, dim) VALUES (1, ?, ?)", (MODEL, DIM))
    for start in range(0, turns, AT_ONCE):
        rows = range(start + 1, min(start + AT_ONCE, turns) + 1)
        vectors = centres[numbers.integers(CENTRES, size=len(rows))] + numbers.standard_normal(
            (len(rows), DIM)
        ).astype(np.float32)
        vectors[:, FULL_DIMS:] *= numbers.random((len(rows), DIM - FULL_DIMS), np.float32) < FULL_SHARE
        small = quantised_rows(vectors)
        chosen = chance.choices(vocabulary, weights, k=WORDS_OF_A_TURN * len(rows))
        contents = [
            " ".join(chosen[place : place + WORDS_OF_A_TURN])
            for place in range(0, len(chosen), WORDS_OF_A_TURN)
        ]
        connection.execute("BEGIN")
        connection.executemany(
            INSERT_PROMPT,
            (
                (
                    row,
                    f"role_list:{row // TURNS_OF_A_CONVERSATION}",
                    row % TURNS_OF_A_CONVERSATION,
                    "user" if row % 2 else "assistant",
                    content,
                    f"h{row}",
                    f"t{row}",
                )
                for row, content in zip(rows, contents, strict=True)
            ),
        )
        connection.executemany(
            INSERT_EMBEDDING,
            ((row, *vector) for row, vector in zip(rows, packed_rows(small), strict=True)),
        )
        connection.executemany(
            "INSERT INTO prompt_codes VALUES (?, 1, ?)", zip(rows, code_of(small), strict=True)
        )
        connection.execute("COMMIT")


def queries() -> list[str]:
    chance, vocabulary = random.Random(2), words()
    return [
        " ".join(
            [
                *chance.sample(vocabulary[:60], 2),
                *chance.sample(vocabulary[60:2000], 2),
                chance.choice(vocabulary),
            ]
        )
        for _ in range(ROUNDS)
    ]


class ByHand:
    """The recipe in one place: no filters, no reasons, no second thoughts."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        found = connection.execute("SELECT prompt_id, code FROM prompt_codes ORDER BY prompt_id").fetchall()
        self.rows = np.array([row for row, _ in found])
        codes = np.frombuffer(b"".join([code for _, code in found]), np.uint64).reshape(len(found), -1)
        self.codes = np.ascontiguousarray(codes.T)

    def search(self, query: str) -> list[tuple[str, str]]:
        vector = quantised_rows(composite_rows([query]))
        match = " OR ".join(f'"{term}"' for term in prompt_terms(query))
        by_words = dict(self.connection.execute(SELECT_BY_WORDS, (match, CAP)).fetchall())
        distances = np.zeros(self.rows.size, np.uint16)
        for column, word in zip(self.codes, np.frombuffer(code_of(vector)[0], np.uint64), strict=True):
            distances += np.bitwise_count(column ^ word)
        nearest = self.rows[np.argpartition(distances, NEAREST)[:NEAREST]].tolist()
        best = sorted(by_words, key=by_words.__getitem__, reverse=True)[:BEST]
        found = json.dumps(list({*best, *nearest[:BEST]}))
        beside = [row for (row,) in self.connection.execute(SELECT_BESIDE, (found,)).fetchall()]
        rows = json.dumps(sorted({*best, *nearest, *beside})[:500])
        places = self.connection.execute(SELECT_PLACES, (rows,)).fetchall()
        found_vectors = self.connection.execute(SELECT_VECTORS, (rows,)).fetchall()
        vectors = {row: PackedVector(*columns) for row, *columns in found_vectors}
        matrix = unpacked_rows([vectors[row] for row, *_ in places], DIM).astype(np.float32)
        similar = matrix @ vector[0].astype(np.float32) / np.linalg.norm(matrix, axis=1)
        lexical = np.array([by_words.get(row, 0.0) for row, *_ in places])
        scores = 0.5 * lexical / max(lexical.max(), 1e-9)
        scores += 0.5 * (similar - similar.min()) / (similar.max() - similar.min())
        order = sorted(range(len(places)), key=lambda place: places[place][1:3])
        more = np.zeros_like(scores)
        for one, other in pairwise(order):
            if places[one][1] == places[other][1]:
                more[one] = max(more[one], scores[other])
                more[other] = max(more[other], scores[one])
        scores += 0.3 * more
        groups: dict[str, list[int]] = {}
        for place, (_, conversation, *_) in enumerate(places):
            groups.setdefault(conversation, []).append(place)
        final = scores.copy()
        for group in groups.values():
            final[group] += 0.2 * np.sort(scores[group])[-3:].sum() / 3
        return [(places[place][1], places[place][3]) for place in np.argsort(-final)[:10]]


def milliseconds(search: Callable[[str], object], query: str) -> float:
    started = time.perf_counter()
    search(query)
    return 1000 * (time.perf_counter() - started)


def run(turns: int, folder: Path) -> tuple[bool, Rows]:
    """Search; tell whether ours is quick enough, and how quick both are."""
    settings = PastChatsSettings(path=str(folder / f"past_{turns}.db"), use_sqlite_vec=False)
    is_new = not Path(settings.path).exists()
    if is_new:
        with closing(connect_writer(settings)) as connection:
            fill(connection, turns)
    with closing(connect_reader(settings)) as connection:
        repository = SqlitePromptRepository(connection, settings)
        ours = PromptSearching(repository, HybridRanking(), PlainStatic(), SystemClock())
        by_hand = ByHand(connection)
        asked = queries()
        both: tuple[list[float], list[float]] = [], []
        searches: tuple[Callable[[str], object], ...] = (
            lambda query: ours.search(query).run_sync().unwrap(),
            by_hand.search,
        )
        for search in searches:
            search("warm up")
        for query in asked:  # in turns, so that a busy machine is as busy for both
            for times, search in zip(both, searches, strict=True):
                times.append(milliseconds(search, query))
        mine, raw = (median(times) for times in both)
        worst = sorted(both[0])[int(0.95 * ROUNDS)]
    print(
        f"{turns:,} turns: ours {mine:.1f} ms (p95 {worst:.1f}), by hand {raw:.1f} ms, {mine / raw:.2f} times"
    )
    is_met = mine <= MOST_MILLISECONDS if turns >= MILLION else mine <= MOST_TIMES * raw
    label = f"a warm search of {turns:,} turns of past chats"
    of_20 = {"chatmemory": duration(worst / 1000), "by hand": ""}
    cells = {"chatmemory": duration(mine / 1000), "by hand": duration(raw / 1000)}
    return is_met, {label: cells, "of these 19 in 20 take at most": of_20}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("turns", type=int, nargs="?", default=100_000)
    parser.add_argument("--keep", type=Path, help="a folder for the store, to be used again")
    json_option(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        is_met, rows = run(arguments.turns, arguments.keep or Path(folder))
    write(arguments.json, rows)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
