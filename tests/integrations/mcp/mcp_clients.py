"""The official client of the Model Context Protocol, before the real command.

async with over_stdio(tmp_path) as client:
    told = await client.call_tool("recall", {"query": "..."})
"""

import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult

from chatmemory.effect import ManagedRuntime
from chatmemory.programs.mcp.server import memory_server
from chatmemory.programs.operations.grant import Grant
from chatmemory.settings.memory_settings import (
    ExpirySettings,
    MemorySettings,
    Settings,
    SqliteSettings,
    StoreSettings,
)
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.server.mcp_main import mcp_stack

COMMAND: Final = Path(sys.executable).with_name("pastchats-memory")
PROBLEM: Final = "chatmemory/problem"
OWNER: Final = Grant(name="owner", user="default")


def command(folder: Path, *options: str) -> list[str]:
    """Return the command that serves the memory in *folder*."""
    store, index = folder / "memory.db", folder / "pastchats.db"
    return [str(COMMAND), "mcp", "--store", str(store), "--db", str(index), *options]


def environment(folder: Path) -> dict[str, str]:
    """Return that of a person whose home is *folder*, and who has set nothing."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CHATMEMORY_", "CLAUDE", "CODEX"))
    }
    return {**kept, "HOME": str(folder)}


@asynccontextmanager
async def over_stdio(
    folder: Path, *options: str, mode: str = "auto", log: Path | None = None
) -> AsyncGenerator[Client]:
    """Start the command over the memory in *folder*, as a coding agent does."""
    program, *arguments = command(folder, *options)
    server = StdioServerParameters(command=program, args=arguments, env=environment(folder))
    with (log or folder / "server.log").open("a", encoding="utf-8") as errors:
        async with Client(stdio_client(server, errlog=errors), mode=mode) as client:
            yield client


@asynccontextmanager
async def in_process(
    folder: Path, grant: Grant = OWNER, *, folders: Sequence[str] = (), expiry: ExpirySettings | None = None
) -> AsyncGenerator[Client]:
    """Ask the server in this process, with the rights of *grant*, over the memory in *folder*."""
    store = StoreSettings(sqlite=SqliteSettings(path=str(folder / "memory.db")))
    past_chats = PastChatsSettings(path=str(folder / "pastchats.db"))
    memory = MemorySettings(store=store, past_chats=past_chats, expiry=expiry or ExpirySettings())
    settings = Settings(memory=memory)
    async with (
        ManagedRuntime(mcp_stack(settings, folders=folders)) as runtime,
        Client(memory_server(runtime, lambda _: grant)) as client,
    ):
        yield client


async def told(client: Client, tool: str, **arguments: Any) -> Any:
    """Return the structured answer of a call that succeeds."""
    result = await called(client, tool, **arguments)
    assert not result.is_error, text_of(result)
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> Mapping[str, Any]:
    """Return the problem document of a call that fails."""
    result = await called(client, tool, **arguments)
    assert result.is_error, text_of(result)
    assert result.meta is not None
    problem: Mapping[str, Any] = result.meta[PROBLEM]
    assert text_of(result).startswith(f"{problem['tag']}: ")
    return problem


async def called(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    return result


def text_of(result: CallToolResult) -> str:
    """Return what a model reads."""
    (content,) = result.content
    assert content.type == "text"
    return content.text


async def remember_all(client: Client, facts: Sequence[str]) -> list[str]:
    """Remember *facts* and return their ids."""
    return [(await told(client, "remember", content=fact))["outcomes"][0]["id"] for fact in facts]


async def store_turn(
    client: Client, conversation: str, user: str, assistant: str = "好的", event: str = "1"
) -> Any:
    turn = {
        "eventId": event,
        "conversationId": conversation,
        "userContent": user,
        "assistantContent": assistant,
    }
    return await told(client, "store_turn", **turn)


def write_histories(folder: Path, many: int) -> Path:
    """Write as many histories, of one turn each."""
    folder.mkdir()
    for number in range(many):
        turn = {
            "type": "user",
            "sessionId": f"s{number}",
            "uuid": f"u{number}",
            "timestamp": "2026-03-01T10:00:00Z",
            "message": {"role": "user", "content": f"第 {number} 个问题"},
        }
        (folder / f"{number}.jsonl").write_text(json.dumps(turn), encoding="utf-8")
    return folder
