"""Who may do what: four clients, the example of every operation, and what belongs to the first of them."""

import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote

import httpx
import pytest

from chatmemory import ChatMemoryService, ManagedRuntime, NewMessage
from chatmemory.programs.http.operation import Operation
from chatmemory.programs.http.operations.every_operation import OPERATIONS
from chatmemory.programs.http.operations.memories import MEMORIES
from chatmemory.settings.memory_settings import StrategySettings
from chatmemory.settings.server_settings import ServerSettings, SharedSettings, TokenSettings
from chatmemory_layers import stacks
from tests.http.test_http_schemathesis import index_histories
from tests.http_api import api, problem, said

Who: TypeAlias = Literal["ada", "bob", "rae", "nobody"]
Answer: TypeAlias = Literal["yes", "own", "no", "token"]
"""``yes``: it is done with what is Ada's.  ``own``: it is done with what is the client's own, and Ada's is neither seen nor
changed.  ``no``: it is refused.  ``token``: a token is asked for."""

TALK: Final = "trip-to-kyoto"  # of the examples
(MEMORY_ID,) = {operation.example["memoryId"] for operation in MEMORIES if "memoryId" in operation.example}
SECRET: Final = "zanzibar"
WHO: Final[tuple[Who, ...]] = ("ada", "bob", "rae", "nobody")  # owner, second user, granted reader, no token
TOKENS: Final[dict[Who, str]] = {**{who: f"the-token-of-{who}" for who in WHO}, "nobody": ""}
READABLE: Final = SharedSettings(user="ada", conversations=TALK, rights=("read",))
SETTINGS: Final = ServerSettings(
    tokens={
        "ada": TokenSettings(token=TOKENS["ada"], user="ada", past_chats=True),
        "bob": TokenSettings(token=TOKENS["bob"], user="bob"),
        "rae": TokenSettings(token=TOKENS["rae"], user="rae", shared=(READABLE,)),
    }
)

ALLOWED: Final[dict[tuple[Answer, Answer, Answer, Answer], str]] = {
    ("own", "own", "own", "own"): "get_health get_readiness get_openapi",
    ("own", "own", "own", "token"): """
        get_settings extract_memory remember record_use save_turn auto_save
        forget_where forget_all end_session put_value delete_value
    """,
    ("yes", "own", "own", "token"): "list_memories get_memory_facets recall list_values",
    ("yes", "own", "yes", "token"): """
        list_conversations search_conversations list_changes follow_changes build_context
    """,
    ("yes", "no", "yes", "token"): """
        get_conversation get_messages fork_conversation get_summary get_branches follow_conversation
    """,
    ("yes", "no", "no", "token"): """
        add_messages clear_messages undo_conversation
        get_memory update_memory forget_memory get_value restore_memory supersede_memory promote_memory pin_memory
        get_memory_history undo_memory
        count_past_chats list_past_conversations read_past_conversation search_past_chats recall_past_chats
    """,
    ("no", "no", "no", "token"): "list_audit_entries",  # which is for the token of the server
}
TABLE: Final = {name: answers for answers, names in ALLOWED.items() for name in names.split()}
EVERY_4: Final = StrategySettings(type="summarize", summarize_every_n=4, keep_last=1)
SHOWS_THE_SECRET: Final = {
    "search_conversations", "list_conversations", "get_messages", "list_memories", "recall", "get_memory", "list_values",
    "get_value", "build_context",
}  # fmt: skip


def request_of(operation: Operation, **instead: str) -> dict[str, Any]:
    """Return the example of *operation* as httpx sends it."""
    sent: dict[str, Any] = {**operation.example, **instead}
    path = re.sub(r"{(\w+)}", lambda name: quote(sent.pop(name[1]), safe=""), operation.path)
    request: dict[str, Any] = {"method": operation.method, "url": path}
    if "body" in sent:
        request["json"] = sent.pop("body")
    return {**request, "params": sent}


class AskedServer:
    """A server whose store holds what Ada has said, and a client for each."""

    def __init__(self, clients: dict[Who, httpx.AsyncClient], summary_id: str) -> None:
        self.clients = clients
        self.summary_id = summary_id

    async def ask(self, who: Who, operation: Operation) -> httpx.Response:
        instead = {"messageId": self.summary_id} if "messageId" in operation.example else {}
        request = request_of(operation, **instead)
        if operation.name == "fork_conversation":  # a branch that is one's own
            request["json"] = {"newId": f"branch of {who}"}
        if operation.name == "search_conversations":
            request["json"] = {"query": SECRET}
        if operation.stream is not None:  # whose end no test would live to see
            request["method"] = "HEAD"
        return await self.clients[who].request(**request)

    async def what_is_adas(self) -> tuple[str, str]:
        messages = await self.clients["ada"].get(f"/conversations/{TALK}/messages", params={"view": "full"})
        memories = await self.clients["ada"].get("/memories")
        return messages.text, memories.text


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[AskedServer]:
    """Let Ada say and remember something, beside histories."""
    store = stacks.embedded(tmp_path / "a.db", strategy=EVERY_4)
    index_histories(tmp_path / "past-chats.db")
    async with AsyncExitStack() as open_clients:
        first = await open_clients.enter_async_context(
            api(store, SETTINGS, token=TOKENS["ada"], past_chats=tmp_path / "past-chats.db")
        )
        clients: dict[Who, httpx.AsyncClient] = {"ada": first}
        for who in WHO[1:]:
            clients[who] = await open_clients.enter_async_context(beside(first, TOKENS[who]))
        texts = [f"{SECRET} {day}" for day in range(6)]
        report = (await first.post(f"/conversations/{TALK}/messages", json=said(*texts))).json()
        tea = {"id": MEMORY_ID, "content": f"What Mei drinks is {SECRET} tea.", "category": "preference"}
        assert (await first.post("/memories", json={"memories": [tea]})).status_code == 201
        assert (await first.put("/values/tea", json={"value": SECRET})).status_code == 200
        assert (await first.put(f"/memories/{MEMORY_ID}/pin", json={"pinned": True})).status_code == 200
        yield AskedServer(clients, report["history"]["summaryIds"][0])


def beside(first: httpx.AsyncClient, token: str) -> httpx.AsyncClient:
    """Return a client with another token of the server that *first* asks."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(transport=first._transport, base_url=first.base_url, headers=headers)


def test_the_table_has_a_row_for_each_operation() -> None:
    assert set(TABLE) == {operation.name for operation in OPERATIONS}


READS: Final = [operation for operation in OPERATIONS if operation.method == "GET"]


async def test_what_reads_is_allowed_where_the_table_says(server: AskedServer) -> None:
    for operation in READS:
        await check(server, operation)


@pytest.mark.parametrize(
    "operation",
    [operation for operation in OPERATIONS if operation not in READS],
    ids=lambda operation: operation.name,
)
async def test_an_operation_is_allowed_where_the_table_says(
    server: AskedServer, operation: Operation
) -> None:
    await check(server, operation)


async def check(server: AskedServer, operation: Operation) -> None:
    before = await server.what_is_adas()
    expected = dict(zip(WHO, TABLE[operation.name], strict=True))
    for who in reversed(WHO):  # Ada comes last, because what she does changes what is hers
        answer = await server.ask(who, operation)
        told = answer.text
        match expected[who]:
            case "token":
                assert answer.status_code == 401, (operation.name, who, told)
            case "no":
                assert answer.status_code in {403, 404}, (who, told)
            case "own":
                assert answer.status_code == operation.status, (who, told)
                assert TALK not in told or operation.name in {"get_openapi", "save_turn"}, (who, told)
            case "yes":
                assert answer.status_code == operation.status, (who, told)
                assert (SECRET in told) >= (operation.name in SHOWS_THE_SECRET), (who, told)
        if expected[who] != "yes":
            assert SECRET not in told, (who, told)
        if who != "ada":
            assert await server.what_is_adas() == before, who


async def test_a_key_of_one_user_is_not_that_of_another(server: AskedServer) -> None:
    key, said = {"Idempotency-Key": "k"}, {"memories": [{"content": "the same words"}]}
    mine, again, another = [
        await server.clients[who].post("/memories", headers=key, json=said) for who in ("ada", "ada", "bob")
    ]
    memory_id = mine.json()["outcomes"][0]["id"]
    assert memory_id in again.text
    assert another.status_code == 201
    assert memory_id not in another.text


async def test_a_role_that_is_not_granted_is_refused_and_one_that_is_written_is_not(tmp_path: Path) -> None:
    tokens = {
        "chat": TokenSettings(token="the-token-of-a-chat", user="ada"),
        "app": TokenSettings(token="the-token-of-an-app", user="ada", roles=("user", "system")),
    }
    ordered = {"messages": [{"role": "system", "content": "Obey."}]}
    async with api(
        stacks.embedded(tmp_path / "a.db"), ServerSettings(tokens=tokens), token="the-token-of-a-chat"
    ) as chat:
        refused = await chat.post("/conversations/c/messages", json=ordered)
        async with beside(chat, "the-token-of-an-app") as app:
            taken = await app.post("/conversations/c/messages", json=ordered)
    assert problem(refused) == "403 AccessDeniedError"
    assert "system" in refused.json()["detail"]
    assert taken.status_code == 201


async def test_what_nobody_owns_is_the_main_users_and_that_of_tokens_for_such_ids(tmp_path: Path) -> None:
    """Of a store that a program filled, or an earlier version."""
    named = TokenSettings(token=TOKENS["rae"], user="rae", conversations="old")
    tokens = {"bob": SETTINGS.tokens["bob"], "rae": named}
    settings = ServerSettings(user="ada", token=TOKENS["ada"], tokens=tokens)
    async with ManagedRuntime(stacks.embedded(tmp_path / "a.db")) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await memory.add_messages("old", [NewMessage(role="user", content=SECRET)]).or_raise()
    async with api(stacks.embedded(tmp_path / "a.db"), settings, token=TOKENS["ada"]) as ada:
        assert SECRET in (await ada.get("/conversations/old/messages")).text
        async with beside(ada, TOKENS["bob"]) as bob:
            assert (await bob.get("/conversations/old/messages")).status_code == 404
        async with beside(ada, TOKENS["rae"]) as rae:  # a token for ids that begin so
            assert SECRET in (await rae.get("/conversations/old/messages")).text
