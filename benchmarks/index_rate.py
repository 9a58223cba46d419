"""How fast histories are indexed, beside a loop that does the bare work: ``python benchmarks/index_rate.py [--turns N] [--json FILE]``.

The bare loop reads the same transcripts of Claude Code with ``json``, hashes each turn, embeds each text with the same
embedder in batches, and writes the same rows (turn, vector, words) with ``sqlite3`` in one transaction per file: no
cleaning, no redaction, no detection, no identity across files, nothing to go on from after a kill.  Both take turns in
one run.  The rate of the index must be ``LEAST_SHARE`` of the bare loop's; and ``pastchats-memory index`` as a whole
process may take ``MOST_UNCHANGED_MS`` longer over ``FILES`` unchanged files than over an empty folder.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sqlite3  # noqa: TID251  the bare loop's
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from uuid import UUID

import numpy as np
from figures import Rows, json_option, rounded, write

from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.embedding.embedder import Embedder, EmbedderTag
from chatmemory.pastchats.contract import PastChatsIndexService
from chatmemory.pastchats.indexing.past_chats_index_live import past_chats_index
from chatmemory.pastchats.past_chats import IndexReport, IndexRequest
from chatmemory.settings.past_chats_settings import PastChatsSettings, PastChatsSettingsTag
from chatmemory_layers.embedding.local import static
from chatmemory_layers.files.local_files import local_files
from chatmemory_layers.sqlite.prompts.prompt_repository import prompt_repository

TURNS = 20_000
TURNS_PER_FILE = 400
ROUNDS = 3
RUNS = 8
BATCH = 256
FILES = 1_000
LEAST_SHARE = 0.40
MOST_UNCHANGED_MS = 100
WORDS = (  # noqa: SIM905  a list of quoted words is hard to read
    "the a to of in we it is that for on with as use add fix test error retry webhook queue database index cache token "
    "user session request response timeout backoff jitter migration schema deploy build branch commit merge review "
    "function class module parser reader writer stream buffer lock thread process signal handler config setting"
).split()
CHINESE = ("数据库被锁住了怎么办", "请加一个测试", "为什么还是超时", "用指数退避重试", "这样就可以了")
SCHEMA = """
CREATE TABLE prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, source_path TEXT, source_project TEXT, conversation_id TEXT,
    turn_index INTEGER, role TEXT, content TEXT, timestamp TEXT, content_hash TEXT UNIQUE, metadata_json TEXT,
    created_at TEXT DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE prompt_embeddings (prompt_id INTEGER PRIMARY KEY, model TEXT, dim INTEGER, vector_json TEXT,
    created_at TEXT DEFAULT CURRENT_TIMESTAMP);
CREATE VIRTUAL TABLE prompts_fts USING fts5(content, source_project, conversation_id UNINDEXED, content='prompts',
    content_rowid='id', tokenize='porter unicode61');
"""


Turn = tuple[str, str, str, int, str, str, str, str, str]


def write_histories(folder: Path, *, turns: int, per_file: int, seed: int = 7) -> None:
    """Write transcripts as Claude Code does: one JSON object per line, every other turn the assistant's."""
    chance = random.Random(seed)
    for start in range(0, turns, per_file):
        session = str(UUID(int=chance.getrandbits(128), version=4))
        with (folder / f"{session}.jsonl").open("w", encoding="utf-8") as file:
            for number in range(min(per_file, turns - start)):
                file.write(json.dumps(_record(chance, session, number), ensure_ascii=False) + "\n")


def _record(chance: random.Random, session: str, number: int) -> dict[str, object]:
    words = " ".join(chance.choices(WORDS, k=chance.randint(8, 80)))
    text = f"{words} {chance.choice(CHINESE)}" if number % 10 == 0 else words
    role = "assistant" if number % 2 else "user"
    message: dict[str, object] = {"role": role, "content": text}
    if role == "assistant":
        content = [{"type": "text", "text": text}]
        message |= {
            "id": f"msg_{chance.getrandbits(96):024x}",
            "content": content,
            "model": "claude-sonnet-4",
        }
    return {
        "parentUuid": None,
        "isSidechain": False,
        "cwd": "/home/mei/shop",
        "sessionId": session,
        "version": "1.0.60",
        "gitBranch": "main",
        "type": role,
        "message": message,
        "uuid": str(UUID(int=chance.getrandbits(128), version=4)),
        "timestamp": f"2026-02-17T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
    }


def bare(folder: Path, database: Path, embed: Callable[[list[str]], np.ndarray]) -> int:
    """Do the bare work, and return how many turns there were."""
    count = 0
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.executescript(SCHEMA)
        for path in sorted(folder.glob("*.jsonl")):
            connection.execute("BEGIN IMMEDIATE")
            turns = list(_turns(path))
            for start in range(0, len(turns), BATCH):
                batch = turns[start : start + BATCH]
                _insert(connection, batch, embed([turn[5] for turn in batch]), count + start)
            count += len(turns)
            connection.execute("COMMIT")
    return count


def _turns(path: Path) -> Iterator[Turn]:
    with path.open("rb") as file:
        for index, line in enumerate(file):
            record = json.loads(line)
            content = record["message"]["content"]
            text = content if isinstance(content, str) else "\n\n".join(part["text"] for part in content)
            identity = hashlib.sha256(f"claude_code\0{record['uuid']}".encode()).hexdigest()
            metadata = json.dumps({"model": record["message"].get("model"), "cwd": record["cwd"]})
            yield (
                str(path), "shop", record["sessionId"], index, record["type"], text, record["timestamp"], identity, metadata
            )  # fmt: skip


def _insert(connection: sqlite3.Connection, batch: list[Turn], rows: np.ndarray, before: int) -> None:
    connection.executemany(
        "INSERT INTO prompts (source_path, source_project, conversation_id, turn_index, role, content, timestamp,"
        " content_hash, metadata_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        batch,
    )
    largest = np.abs(rows).max(axis=1, keepdims=True)
    whole = np.rint(rows / np.where(largest > 0, largest, 1) * 127).astype(np.int8)
    ids = range(before + 1, before + 1 + len(batch))
    connection.executemany(
        "INSERT INTO prompt_embeddings (prompt_id, model, dim, vector_json) VALUES (?, 'static', ?, ?)",
        [(id_, rows.shape[1], json.dumps(row)) for id_, row in zip(ids, whole.tolist(), strict=True)],
    )
    connection.executemany(
        "INSERT INTO prompts_fts (rowid, content, source_project, conversation_id) VALUES (?, ?, ?, ?)",
        [(id_, turn[5], turn[1], turn[2]) for id_, turn in zip(ids, batch, strict=True)],
    )


def ours(folder: Path, database: Path) -> tuple[IndexReport, float]:
    """Index *folder*, and return the report with the seconds that it took."""
    settings = Layer.succeed(PastChatsSettingsTag, PastChatsSettings(path=str(database)))
    stack = settings.feed_keep(prompt_repository | static | local_files) >> past_chats_index
    with ManagedRuntime(stack) as runtime:
        index = runtime.run_sync(PastChatsIndexService.get()).unwrap()
        start = time.perf_counter()
        report = runtime.run_sync(index.index(IndexRequest(inputs=(str(folder),)))).unwrap()
        return report, time.perf_counter() - start


def compare_rates(turns: int) -> tuple[bool, Rows]:
    """Index and do the bare work in turns; tell whether the index is fast enough, and how fast both were."""
    embed = _embed()
    embed(["warm"])
    bare_seconds: list[float] = []
    our_seconds: list[float] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "histories")
        folder.mkdir()
        write_histories(folder, turns=turns, per_file=TURNS_PER_FILE)
        for number in range(ROUNDS):
            start = time.perf_counter()
            assert bare(folder, Path(scratch, f"bare{number}.db"), embed) == turns
            bare_seconds.append(time.perf_counter() - start)
            report, seconds = ours(folder, Path(scratch, f"ours{number}.db"))
            assert report.turns.new == turns, report
            our_seconds.append(seconds)
    share = median(bare_seconds) / median(our_seconds)
    print(f"bare loop   {turns / median(bare_seconds):>9,.0f} turns/s")
    print(
        f"index       {turns / median(our_seconds):>9,.0f} turns/s   {share:.0%} (at least {LEAST_SHARE:.0%})"
    )
    mine, raw = (turns / median(seconds) for seconds in (our_seconds, bare_seconds))
    cells = {"chatmemory": f"{rounded(mine)} turns/s", "by hand": f"{rounded(raw)} turns/s"}
    return share >= LEAST_SHARE, {"past chats indexed, texts embedded": cells}


def compare_unchanged() -> tuple[bool, Rows]:
    """Run over unchanged files and over an empty folder; tell whether the difference is small enough, and what it was."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, empty = Path(scratch, "histories"), Path(scratch, "empty")
        folder.mkdir()
        empty.mkdir()
        write_histories(folder, turns=FILES * 4, per_file=4)
        command = Path(sys.executable).with_name("pastchats-memory")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = scratch  # compiled once, as it is installed
        times: dict[Path, list[float]] = {folder: [], empty: []}
        for _ in range(1 + RUNS):  # in turns, so that a busy machine is as busy for both
            for files, seconds in times.items():
                asked = [str(command), "index", "--db", str(Path(scratch, f"{files.name}.db")), str(files)]
                start = time.perf_counter()
                subprocess.run(asked, check=True, env=environment, capture_output=True)
                seconds.append(time.perf_counter() - start)
    unchanged, nothing = (seconds[1:] for seconds in times.values())  # the first run reads them
    difference = (median(unchanged) - median(nothing)) * 1000
    print(
        f"{FILES:,} unchanged files take {difference:.0f} ms longer than none (at most {MOST_UNCHANGED_MS} ms)"
    )
    cells = {"chatmemory": f"+{rounded(difference)} ms", "by hand": ""}
    return difference <= MOST_UNCHANGED_MS, {f"{FILES:,} unchanged files, beside an empty folder": cells}


def _embed() -> Callable[[list[str]], np.ndarray]:
    runtime = ManagedRuntime(static)
    runtime.__enter__()
    embedder: Embedder = runtime.run_sync(EmbedderTag.get()).unwrap()
    return lambda texts: embedder.embed(texts).run_sync().unwrap()


def main() -> int:
    """Compare, and return 1 when a bar is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=TURNS)
    json_option(parser)
    arguments = parser.parse_args()
    is_fast, rates = compare_rates(arguments.turns)
    is_short, unchanged = compare_unchanged()
    write(arguments.json, {**rates, **unchanged})
    return 0 if is_short and is_fast else 1


if __name__ == "__main__":
    sys.exit(main())
