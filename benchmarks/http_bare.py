"""The contestant of ``http_load.py``: bare handlers of the same framework that do the same SQLite work, and promise nothing.

They execute the statements of the store on its tables, and answer in the same shape; but no rules, no duplicates, no
expected versions, no guards and no errors.  ``python benchmarks/http_bare.py FILE``, a store that exists.
"""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from time import time_ns
from uuid import uuid4

import aiosqlite  # noqa: TID251  the driver alone is what it is about
import uvicorn  # noqa: TID251  likewise
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chatmemory_layers.sqlite.events.event_log import INSERT_ADDED
from chatmemory_layers.sqlite.messages.conversation_row import INSERT_CONVERSATION, SELECT_CONVERSATION
from chatmemory_layers.sqlite.messages.message_reads import SELECT_FULL_OLDER, SELECT_VERSION
from chatmemory_layers.sqlite.messages.message_writes import INSERT_MESSAGE, UPDATE_COUNTS

WRITING = asyncio.Lock()
END = 2**63 - 1
NAMES = ("id", "role", "content", "timestamp", "metadata", "coveredBy", "seq")


def answer(value: object, status: int = 200) -> Response:
    return Response(json.dumps(value, ensure_ascii=False), status, media_type="application/json")


async def one(database: aiosqlite.Connection, statement: str, parameters: object) -> tuple[int, ...] | None:
    rows = await database.execute_fetchall(statement, parameters)
    return next((tuple(row) for row in rows), None)


async def add(request: Request) -> Response:
    messages = (await request.json())["messages"]
    conversation_id, now_us = request.path_params["conversation"], time_ns() // 1000
    database: aiosqlite.Connection = request.state.database
    ids = [uuid4().hex for _ in messages]
    async with WRITING:  # one connection, one transaction
        await database.execute("BEGIN IMMEDIATE")
        row = await one(database, SELECT_CONVERSATION, {"conversation_id": conversation_id})
        if row is None:
            (key,) = await one(database, INSERT_CONVERSATION, (conversation_id, "", "")) or (0,)
            row = (conversation_id, 0, 0, 0, 0, 0, *(None,) * 7, 1, key, 0)
        _, version, count, view, tokens, still_open, *_, key, _ = row
        seq = row[13]
        for number, (id_, message) in enumerate(zip(ids, messages, strict=True)):
            count, view, tokens, still_open = count + 1, view + 1, tokens + 20, still_open + 1
            said = (key, seq + number, None, id_, message["role"], now_us, 20, None, message["content"])
            await database.execute(INSERT_MESSAGE, (*said, version + 1, now_us))
        last = seq + len(messages)
        event = (now_us, "", "", conversation_id, "", "", version + 1, last - 1, now_us, None)
        await database.execute(INSERT_ADDED, event)
        counts = (version + 1, count, view, tokens, still_open, now_us, last, key)
        await database.execute(UPDATE_COUNTS, counts)
        await database.execute("COMMIT")
    history = {"status": "idle", "summaryIds": [], "failure": None}
    return answer({"stored": ids, "duplicates": [], "version": version + 1, "history": history}, 201)


async def read(request: Request) -> Response:
    limit = int(request.query_params["limit"])
    database: aiosqlite.Connection = request.state.database
    known = await one(database, SELECT_VERSION, (request.path_params["conversation"],))
    key, _, version, *_ = known or (0, 0, 0)
    bounds = {"conversation_key": key, "end": END, "before_us": END, "limit": limit + 1}
    rows = list(await database.execute_fetchall(SELECT_FULL_OLDER, bounds))
    messages = [dict(zip(NAMES, row, strict=True)) for row in reversed(rows[:limit])]
    for message in messages:
        message["timestamp"] = datetime.fromtimestamp(message["timestamp"] / 1e6, UTC).isoformat()
        message["metadata"] = message["metadata"] and json.loads(message["metadata"])
    older, newer = (messages[0]["seq"], messages[-1]["seq"]) if messages else (None, 0)
    return answer(
        {
            "messages": messages,
            "version": version,
            "older": older if len(rows) > limit else None,
            "newer": newer,
        }
    )


@asynccontextmanager
async def opened(_: Starlette) -> AsyncGenerator[dict[str, aiosqlite.Connection]]:
    async with aiosqlite.connect(sys.argv[1], isolation_level=None) as database:
        await database.execute("PRAGMA synchronous = FULL")
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
