"""The contestant of ``http_load.py``: bare handlers of the same framework over raw SQL, which promise nothing.

One table, one index; no rules, no duplicates, no versions, no guards, no errors.  ``python benchmarks/http_bare.py FILE``.
"""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from time import time
from uuid import uuid4

import aiosqlite
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

TABLE = """
CREATE TABLE IF NOT EXISTS message
(seq INTEGER PRIMARY KEY, conversation TEXT, id TEXT, role TEXT, content TEXT, said REAL)
"""

WRITING = asyncio.Lock()


def answer(value: object, status: int = 200) -> Response:
    return Response(json.dumps(value, ensure_ascii=False), status, media_type="application/json")


async def add(request: Request) -> Response:
    messages = (await request.json())["messages"]
    rows = [
        (request.path_params["conversation"], uuid4().hex, message["role"], message["content"], time())
        for message in messages
    ]
    database: aiosqlite.Connection = request.state.database
    async with WRITING:  # one connection, one transaction
        await database.execute("BEGIN IMMEDIATE")
        await database.executemany(
            "INSERT INTO message (conversation, id, role, content, said) VALUES (?, ?, ?, ?, ?)", rows
        )
        await database.execute("COMMIT")
    return answer({"stored": [row[1] for row in rows]}, 201)


async def read(request: Request) -> Response:
    database: aiosqlite.Connection = request.state.database
    rows = await database.execute_fetchall(
        "SELECT seq, id, role, content, said FROM message WHERE conversation = ? ORDER BY seq DESC LIMIT ?",
        (request.path_params["conversation"], int(request.query_params["limit"])),
    )
    names = ("seq", "id", "role", "content", "timestamp")
    return answer({"messages": [dict(zip(names, row, strict=True)) for row in reversed(list(rows))]})


@asynccontextmanager
async def opened(_: Starlette) -> AsyncGenerator[dict[str, aiosqlite.Connection]]:
    async with aiosqlite.connect(sys.argv[1], isolation_level=None) as database:
        await database.execute("PRAGMA journal_mode = WAL")
        await database.execute("PRAGMA synchronous = FULL")
        await database.execute(TABLE)
        await database.execute(
            "CREATE INDEX IF NOT EXISTS message_conversation ON message (conversation, seq)"
        )
        yield {"database": database}


if __name__ == "__main__":
    path = "/conversations/{conversation}/messages"
    app = Starlette(
        routes=[Route(path, add, methods=["POST"]), Route(path, read, methods=["GET"])], lifespan=opened
    )
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(2048)
        print(f"bare handlers are at http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
        config = uvicorn.Config(app, log_level="warning", access_log=False, http="httptools", ws="none")
        uvicorn.Server(config).run([listener])
