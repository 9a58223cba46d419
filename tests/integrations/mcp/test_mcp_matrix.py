"""Who may do what over MCP: the owner, a second user and a reader, every tool, and what belongs to the first of them."""

from pathlib import Path
from typing import Final

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'chatmemory-effect[mcp]'")

from mcp import Client, MCPError
from mcp.types import CallToolResult

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import READ, Granted
from chatmemory.input.json_value import JsonObject
from chatmemory.programs.mcp.server import TOOLS
from chatmemory.programs.operations.grant import Grant
from tests.for_each import for_each
from tests.integrations.mcp.mcp_clients import called, in_process, remember_all, store_turn, text_of, told

SECRET: Final = "zanzibar"
ADA: Final = Grant(name="ada", user="ada", past_chats=False)
BOB: Final = Grant(name="bob", user="bob", past_chats=False)
RAE: Final = Grant(
    name="rae",
    user="rae",
    conversations=(Granted(Namespace("rae")), Granted(Namespace("ada"), "trip", READ)),
    past_chats=False,
)
TALK: Final = "chatmemory://conversations/trip"

ASKED: Final[dict[str, JsonObject]] = {
    "recall": {"query": SECRET, "where": "memories"},
    "search": {"query": SECRET, "where": "memories"},
    "list_memories": {},
    "remember": {"content": "none", "replaces": "MEMORY"},
    "forget": {"memoryId": "MEMORY"},
    "store_turn": {"eventId": "2", "conversationId": "trip", "userContent": "a", "assistantContent": "b"},
    "end_session": {"conversationId": "trip"},
    "get_context": {"conversationId": "trip", "userMessage": "tea?"},
    "index_paths": {"paths": ["/"]},
}
# To whom a tool shows the secret; to the others it says something else, or nothing.
SHOWN: Final[dict[str, set[str]]] = {
    "recall": {"ada"},
    "search": {"ada"},
    "list_memories": {"ada"},
    "get_context": {"ada", "rae"},
}
REFUSED: Final[dict[str, set[str]]] = {
    "remember": {"bob", "rae"},
    "forget": {"bob", "rae"},
    "store_turn": {"bob", "rae"},
    "index_paths": {"ada", "bob", "rae"},  # without a grant for past chats
}


async def what_is_there(client: Client) -> tuple[str, str]:
    """Return what Ada has."""
    (contents,) = (await client.read_resource(TALK)).contents
    return contents.text.split("\n", 1)[1], str((await told(client, "search", query=SECRET))["memories"])


def arguments_of(tool: str, memory_id: str) -> JsonObject:
    return {name: memory_id if value == "MEMORY" else value for name, value in ASKED[tool].items()}


def shows(answer: CallToolResult) -> bool:
    return SECRET in text_of(answer) or SECRET in str(answer.structured_content)


@for_each("tool", sorted(TOOLS))
async def test_a_tool_shows_and_changes_what_is_granted(tmp_path: Path, tool: str) -> None:
    folder = tmp_path / tool
    folder.mkdir()
    async with in_process(folder, ADA) as ada:
        (memory_id,) = await remember_all(ada, [f"Mei likes {SECRET} tea"])
        await store_turn(ada, "trip", f"{SECRET}?", SECRET)
    for grant in (BOB, RAE, ADA):
        async with in_process(folder, grant) as client:
            answer = await called(client, tool, **arguments_of(tool, memory_id))
            listed = [one.uri for one in (await client.list_resources()).resources]
            if grant is BOB:
                with pytest.raises(MCPError, match="ConversationNotFoundError"):
                    await client.read_resource(TALK)
            else:
                assert SECRET in str((await client.read_resource(TALK)).contents)
        assert answer.is_error is (grant.user in REFUSED.get(tool, ())), text_of(answer)
        assert shows(answer) is (grant.user in SHOWN.get(tool, ())), (grant.user, text_of(answer))
        assert (TALK in listed) is (grant is not BOB)
        if grant is not ADA:
            assert f"chatmemory://memories/{memory_id}" not in listed
            async with in_process(folder, ADA) as ada:
                messages, memories = await what_is_there(ada)
            assert messages.count(SECRET) == 2
            assert memory_id in memories
