"""Make the sample exports of this folder with the packages of the tools themselves, in an environment of their own.

    python -m venv rivals && rivals/bin/pip install mem0ai langgraph langgraph-checkpoint-sqlite openai-agents
    rivals/bin/python tests/data/rivals/make_rivals.py

No model is asked: mem0 stores what it is given, with vectors of a hash.
"""

import asyncio
import json
import os
import sqlite3
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FACTS = (
    ("ada", "Ada deploys with Docker Compose, never with Kubernetes.", {"category": "preference"}),
    ("ada", "阿达对花生过敏。", {}),
    ("wang", "Wang's tests need Redis on port 6380.", {"source": "chat"}),
)


class HashedEmbedder:
    """Vectors of a hash, so that nothing is downloaded and nobody is asked."""

    def embed(self, text: str, *_: object, **__: object) -> list[float]:
        return [byte / 255 for byte in sha256(text.encode()).digest()[:16]]

    def embed_batch(self, texts: list[str], *_: object, **__: object) -> list[list[float]]:
        return [self.embed(text) for text in texts]


def mem0() -> None:
    """Write what ``Memory.get_all`` returns, and its history."""
    os.environ.setdefault("OPENAI_API_KEY", "none")
    os.environ["MEM0_TELEMETRY"] = "False"
    from mem0 import Memory

    history = HERE / "mem0_history.db"
    history.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = {"provider": "qdrant", "config": {"path": folder, "embedding_model_dims": 16}}
        memory: Any = Memory.from_config({"vector_store": store, "history_db_path": str(history)})
        memory.embedding_model = HashedEmbedder()
        for user, fact, metadata in FACTS:
            memory.add(fact, user_id=user, metadata=metadata, infer=False)
        (first, *_) = memory.get_all(filters={"user_id": "wang"})["results"]
        memory.update(first["id"], "Wang's tests need Redis on port 6381.")
        results = [
            one for user in ("ada", "wang") for one in memory.get_all(filters={"user_id": user})["results"]
        ]
        memory.close()
    (HERE / "mem0.json").write_text(_json({"results": results}), encoding="utf-8")


def langgraph() -> None:
    """Write the items of an InMemoryStore, and the file of a SqliteStore."""
    from langgraph.store.memory import InMemoryStore
    from langgraph.store.sqlite import SqliteStore

    file = HERE / "langgraph_store.db"
    file.unlink(missing_ok=True)
    connection = sqlite3.connect(file, isolation_level=None)
    on_disk = SqliteStore(connection)
    on_disk.setup()
    in_memory = InMemoryStore()
    for store in (in_memory, on_disk):
        for number, (user, fact, _) in enumerate(FACTS):
            # As LangMem writes what it extracts.
            value = {"kind": "Memory", "content": {"content": fact}}
            store.put(("memories", user), f"m{number}", value)
        store.put(("settings",), "theme", {"dark": True, "size": 1.5})
    items = [item.dict() for item in in_memory.search((), limit=100)]
    (HERE / "langgraph_store.json").write_text(_json(items), encoding="utf-8")
    connection.close()


async def openai_agents() -> None:
    """Write a SQLiteSession with a turn, a call of a tool, and a second session."""
    from agents import SQLiteSession

    file = HERE / "openai_agents.db"
    file.unlink(missing_ok=True)
    trip: Any = SQLiteSession("trip", file)
    await trip.add_items(
        [
            {"role": "user", "content": "Which train do we take to Hangzhou?"},
            {"type": "function_call", "call_id": "call_1", "name": "trains", "arguments": '{"to": "杭州"}'},
            {"type": "function_call_output", "call_id": "call_1", "output": "G7513 at 9:02"},
            {
                "type": "message",
                "role": "assistant",
                "id": "msg_1",
                "status": "completed",
                "content": [{"type": "output_text", "text": "G7513 at 9:02.", "annotations": []}],
            },
        ]
    )
    await trip.add_items([{"type": "reasoning", "id": "rs_1", "summary": []}])
    other: Any = SQLiteSession("午饭", file)
    await other.add_items([{"role": "user", "content": [{"type": "input_text", "text": "在哪里吃？"}]}])
    trip.close()
    other.close()
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n"


if __name__ == "__main__":
    mem0()
    langgraph()
    asyncio.run(openai_agents())
