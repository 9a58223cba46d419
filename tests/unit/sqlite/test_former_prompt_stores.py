"""An index of past chats that an earlier version made: readers and writers bring it up to date, and lose nothing of it."""

import json
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chatmemory.pastchats.prompt import EVERYTHING
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.sqlite.engine.migrations import migrate
from chatmemory_layers.sqlite.prompts.prompt_store import NEWEST, connect_writer, versions_of
from chatmemory_layers.sqlite.prompts.prompt_tables import PROMPT_MIGRATIONS
from chatmemory_layers.sqlite.prompts.vectors.packed_vectors import prepare_packing
from tests.past_turns import MODEL, draft, index, open_past_chats, read_past_chats
from tests.thorough import rounds

TURNS = 40
DIM = 1024

INSERT_PROMPT = """
INSERT INTO prompts (
    id, source_path, source_project, conversation_id, turn_index, role, content, content_hash, text_hash, created_at
)
VALUES (?, '/home/mei/a.jsonl', 'shop', 'role_list:a', ?, 'user', ?, ?, ?, '2025-01-01 00:00:00')
"""
INSERT_EMBEDDING = """
INSERT INTO prompt_embeddings (prompt_id, model, dim, vector, vector_json, created_at) VALUES (?, ?, ?, ?, ?, ?)
"""
SELECT_EMBEDDINGS = """
SELECT prompt_id, model, dim, vector_json, created_at FROM prompt_embeddings ORDER BY prompt_id
"""


def make_former(path: Path, version: int) -> list[Sequence[object]]:
    """Make the store that version *version* had; return its embeddings."""
    chance = np.random.default_rng(version)
    rows = (chance.integers(-128, 128, (TURNS, DIM)) * (chance.random((TURNS, DIM)) < 0.4)).astype(np.int8)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection, PROMPT_MIGRATIONS[:version])
        connection.execute("INSERT INTO prompt_models (model_key, model, dim) VALUES (1, ?, ?)", (MODEL, DIM))
        for number, row in enumerate(rows):
            connection.execute(INSERT_PROMPT, (number, number, f"turn {number}", f"c{number}", f"t{number}"))
            made = "2025-01-01 00:00:00" if number % 2 else "2025-02-02 10:20:30"
            text = json.dumps(row.tolist(), separators=(",", ":"))
            last = number == TURNS - 1  # a turn that had no vector yet
            vector = ("none", 0, b"", "[]", made) if last else (MODEL, DIM, row.tobytes(), text, made)
            connection.execute(INSERT_EMBEDDING, (number, *vector))
            connection.execute("INSERT INTO prompt_codes VALUES (?, 1, x'')", (number,))
        return connection.execute(SELECT_EMBEDDINGS).fetchall()


def embeddings(path: Path) -> list[Sequence[object]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(SELECT_EMBEDDINGS).fetchall()


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return versions_of(connection)[1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "索引.db"


@pytest.mark.parametrize("version", [1, 2])
def test_what_an_earlier_version_wrote_is_read_at_once_takes_less_room_and_is_gone_on_with(
    path: Path, version: int
) -> None:
    former = make_former(path, version)
    long = path.stat().st_size
    with read_past_chats(path) as past:
        (talk,) = past.conversations(EVERYTHING, limit=9).run_sync().unwrap().conversations
        assert talk.turns == TURNS
    assert (embeddings(path), version_of(path)) == (former, NEWEST)
    assert path.stat().st_size < 0.6 * long
    with open_past_chats(path) as past:
        index(past, [draft(0, "一")])
    assert embeddings(path)[:TURNS] == former
    question = "SELECT sql FROM sqlite_schema WHERE name = 'prompts_conversation_order'"
    with closing(sqlite3.connect(path)) as connection:
        assert "superseded_at" in connection.execute(question).fetchone()[0]


def test_a_program_that_knew_the_table_deletes_a_row_of_the_view(path: Path) -> None:
    make_former(path, 2)
    connect_writer(PastChatsSettings(path=str(path))).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM prompt_embeddings WHERE prompt_id = 3")
        assert connection.execute("SELECT count(*) FROM prompt_vectors").fetchone() == (TURNS - 1,)


class Copying(sqlite3.Connection):
    """Copies the file and its log before each statement, as a process leaves them that is killed there."""

    folder: Path
    copies: int = 0

    def execute(self, *asked: Any) -> sqlite3.Cursor:
        (_, _, name) = super().execute("PRAGMA database_list").fetchone()
        for file in Path(name).parent.glob(f"{Path(name).name}*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, self.folder / f"{self.copies}{file.suffix}")
        self.copies += 1
        return super().execute(*asked)


def test_killed_before_any_statement_of_a_migration_the_next_start_completes_it(
    path: Path, tmp_path: Path
) -> None:
    former = make_former(path, 2)
    folder = tmp_path / "killed"
    folder.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None, factory=Copying)) as connection:
        connection.folder = folder
        prepare_packing(connection)
        connection.execute(
            "PRAGMA cache_size = 4"
        )  # so that the log holds some of the step before its commit
        migrate(connection, PROMPT_MIGRATIONS)
        copies = connection.copies
    assert copies > len(PROMPT_MIGRATIONS[-1].statements)
    for number in range(0, copies, rounds(20, thorough=1)):
        killed = folder / f"{number}"
        for log in folder.glob(f"{number}.db-wal"):
            log.rename(folder / f"{number}-wal")
        (folder / f"{number}.db").rename(killed)
        connect_writer(PastChatsSettings(path=str(killed))).close()
        assert (version_of(killed), embeddings(killed)) == (NEWEST, former)
