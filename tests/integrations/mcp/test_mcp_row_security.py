"""The matrix of clients and tools with row-level security alone: the service believes that everybody may do everything."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'chatmemory-effect[mcp]'")

from mcp import Client, MCPError

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Principal
from chatmemory.effect import ManagedRuntime
from chatmemory.programs.mcp.server import memory_server
from chatmemory.programs.mcp.tool import Asked
from chatmemory.programs.operations.grant import Grant
from chatmemory.settings.memory_settings import MemorySettings, PostgresSettings, Settings, StoreSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.postgres.messages import message_reads
from chatmemory_layers.server.mcp_stack import mcp_stack
from tests.guarded_store import guarded_store
from tests.integrations.mcp.mcp_clients import called, remember_all, text_of, told
from tests.integrations.mcp.test_mcp_matrix import (
    ADA,
    ASKED,
    BOB,
    RAE,
    REFUSED,
    SECRET,
    SHOWN,
    TALK,
    what_is_there,
)


@pytest.fixture
def first_wall_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every client do everything with every conversation, and ask for the memories of Ada."""
    monkeypatch.setattr(Principal, "may", lambda *_: True)
    monkeypatch.setattr(message_reads, "granted_as_json", lambda _: None)
    monkeypatch.setattr(Asked, "namespace", property(lambda _: Namespace("ada")))


@asynccontextmanager
async def client_of(folder: Path, dsn: str, grant: Grant) -> AsyncGenerator[Client]:
    guarded = PostgresSettings(dsn=dsn, row_security=True)
    kept = MemorySettings(
        store=StoreSettings(backend="postgres", postgres=guarded),
        past_chats=PastChatsSettings(path=str(folder / "pastchats.db")),
    )
    async with (
        ManagedRuntime(mcp_stack(Settings(memory=kept), folders=())) as runtime,
        Client(memory_server(runtime, lambda _: grant)) as client,
    ):
        yield client


@pytest.mark.usefixtures("first_wall_is_down")
async def test_only_what_is_granted_is_seen_or_changed(tmp_path: Path) -> None:
    async with (
        guarded_store() as store,
        client_of(tmp_path, store.serving, ADA) as ada,
        client_of(tmp_path, store.serving, BOB) as bob,
        client_of(tmp_path, store.serving, RAE) as rae,
    ):
        (memory_id,) = await remember_all(ada, [f"Mei likes {SECRET} tea"])
        said = {"eventId": "1", "conversationId": "trip"}
        await told(ada, "store_turn", **said, userContent=f"{SECRET}?", assistantContent=SECRET)
        for tool, asked in ASKED.items():
            arguments = {name: memory_id if value == "MEMORY" else value for name, value in asked.items()}
            for grant, client in ((BOB, bob), (RAE, rae)):
                answer = await called(client, tool, **arguments)
                is_shown = SECRET in text_of(answer) or SECRET in str(answer.structured_content)
                assert is_shown <= (grant.user in SHOWN.get(tool, ())), (tool, grant.user)
                assert answer.is_error >= (grant.user in REFUSED.get(tool, ())), (tool, grant.user)
                messages, memories = await what_is_there(ada)
                assert messages.count(SECRET) == 2, (tool, grant.user)
                assert memory_id in memories, (tool, grant.user)
        assert SECRET in str((await rae.read_resource(TALK)).contents)
        with pytest.raises(MCPError, match="ConversationNotFoundError"):
            await bob.read_resource(TALK)
