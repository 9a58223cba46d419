"""Who did what through the server is on record, for who has the main token, until it is too old."""

import json
import subprocess
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from chatmemory.access.principal import EVERYBODY, acting_as
from chatmemory.effect import ManagedRuntime
from chatmemory.effect.services.clock import SystemClock, TestClock
from chatmemory.events.audit import AuditTrailTag
from chatmemory.events.event_log import AuditQuery
from chatmemory.settings.memory_settings import MemorySettings, Settings, SqliteSettings, StoreSettings
from chatmemory.settings.server_settings import ServerSettings, TokenSettings
from chatmemory_layers import stacks
from chatmemory_layers.server.serve_command import server_stack
from tests.forked import run_forked
from tests.http.served import CHATMEMORY
from tests.http.test_http_schemathesis import ENVIRONMENT
from tests.http_api import api, said, wrong_places

MAIN = "the-token-of-the-owner"
PHONE = "the-token-of-the-phone"
READER = "the-token-of-a-reader"
SETTINGS = ServerSettings(
    user="mei",
    token=MAIN,
    tokens={
        "phone": TokenSettings(token=PHONE, user="wang", app="chat"),
        "reader": TokenSettings(token=READER, user="mei", read_only=True),
    },
)


@asynccontextmanager
async def client_of(path: Path, token: str) -> AsyncGenerator[httpx.AsyncClient]:
    async with api(stacks.embedded(path), SETTINGS, token=token) as client:
        yield client


async def use(path: Path) -> None:
    """Let the phone and the owner do something, each with what is theirs."""
    async with client_of(path, PHONE) as phone:
        assert (await phone.post("/conversations/wang-1/messages", json=said("geheim"))).status_code == 201
    async with client_of(path, MAIN) as owner:
        saved = await owner.post("/memories", json={"memories": [{"id": "tea", "content": "geheim"}]})
        assert saved.status_code == 201
        assert (await owner.delete("/memories/tea")).status_code == 200


def told(entries: Sequence[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    return [(one["who"], one["user"], one["action"], one["target"]) for one in entries]


DONE = [
    ("(server.token)", "mei", "forgotten", "tea"),
    ("(server.token)", "mei", "stored", "tea"),
    ("phone", "wang", "added", "wang-1"),
]


async def test_what_clients_did_is_listed_by_the_names_of_their_tokens_page_by_page(tmp_path: Path) -> None:
    await use(tmp_path / "a.db")
    async with client_of(tmp_path / "a.db", MAIN) as owner:
        answer = await owner.get("/audit")
        whole = answer.json()["entries"]
        assert told(whole) == DONE
        assert "geheim" not in answer.text
        assert whole[-1]["owner"] == {"user": "wang", "app": "chat"}
        by_phone = await owner.get("/audit", params={"who": "phone", "target": "wang-1"})
        assert told(by_phone.json()["entries"]) == DONE[-1:]
        first = (await owner.get("/audit", params={"limit": 1})).json()
        rest = (await owner.get("/audit", params={"after": first["next"]})).json()
        assert [*first["entries"], *rest["entries"]] == whole
        for wrong in ("x", "2026-01-01T00:00:00+00:00 one", f"2026-01-01T00:00:00+00:00 {'9' * 30}"):
            answer = await owner.get("/audit", params={"after": wrong})
            assert wrong_places(answer)[0] == "$.query.after"
        assert (await owner.get("/audit", params={"who": "a\0"})).status_code == 422


async def test_a_client_that_needs_no_token_is_on_record_as_everybody(client: httpx.AsyncClient) -> None:
    await client.post("/conversations/c/messages", json=said("hello"))
    assert told((await client.get("/audit")).json()["entries"]) == [("(everybody)", "default", "added", "c")]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run_forked(CHATMEMORY, "audit", *arguments, environment=ENVIRONMENT)


async def test_the_command_prints_the_trail(tmp_path: Path) -> None:
    store = tmp_path / "a.db"
    await use(store)
    printed = run("--store", store, "--since", "1d", "--who", "phone")
    assert (printed.returncode, printed.stderr) == (0, "")
    assert printed.stdout.rstrip().endswith("phone (wang) added conversation 'wang-1' of wang/chat")
    entries = json.loads(run("--store", store, "--json").stdout)["entries"]
    assert told(entries) == DONE
    first = run("--store", store, "--limit", "1")
    assert len(first.stdout.splitlines()) == 1
    cursor = first.stderr.partition("--after '")[2].rstrip("'\n")
    assert json.loads(run("--store", store, "--json", "--after", cursor).stdout)["entries"] == entries[1:]


def test_the_command_says_what_is_wrong_and_makes_no_store(tmp_path: Path) -> None:
    missing = run("--store", tmp_path / "none.db")
    assert (missing.returncode, missing.stdout) == (5, "")
    assert "none.db" in missing.stderr
    assert not (tmp_path / "none.db").exists()
    assert run("--store", tmp_path / "none.db", "--since", "soon").returncode == 2


@pytest.mark.parametrize(("days", "kept"), [(90, False), (0, True)])
async def test_what_is_too_old_goes_when_a_server_starts_and_day_by_day(
    tmp_path: Path, days: int, *, kept: bool
) -> None:
    await expect_pruning(server_stack, tmp_path / "a.db", days, kept=kept)


async def expect_pruning(stack_of: Any, store: Path, days: int, *, kept: bool) -> None:
    await use(store)
    clock = TestClock(SystemClock().now() + timedelta(days=89, hours=12))
    memory = MemorySettings(store=StoreSettings(sqlite=SqliteSettings(path=str(store))))
    stack = stack_of(Settings(memory=memory, server=ServerSettings(audit_days=days)), clock=clock)
    async with ManagedRuntime(stack) as runtime:
        trail = await runtime.service(AuditTrailTag)

        async def size() -> int:
            long_ago = SystemClock().now() - timedelta(days=9999)
            await trail.prune(long_ago).or_raise()  # behind what is under way
            with acting_as(EVERYBODY):
                return len(await trail.entries(AuditQuery()).or_raise())

        assert await size() == 3
        await clock.advance(24 * 60 * 60.0)
        assert await size() == (3 if kept else 0)


# --- Changes ---


async def followed(client: httpx.AsyncClient, **query: Any) -> list[dict[str, Any]]:
    """Return all that the client is told, read in pages."""
    events: list[dict[str, Any]] = []
    page: dict[str, Any] = {"cursor": "0", "isLast": False}
    while not page["isLast"]:
        answer = await client.get("/changes", params={"since": page["cursor"], **query})
        assert answer.status_code == 200
        assert "geheim" not in answer.text
        page = answer.json()
        events += page["events"]
    return events


async def test_a_token_is_told_what_it_may_see_from_a_cursor(tmp_path: Path) -> None:
    await use(tmp_path / "a.db")
    async with client_of(tmp_path / "a.db", PHONE) as phone:
        told = [(one["action"], one["target"], one["who"]) for one in await followed(phone)]
        assert told == [("added", "wang-1", "phone")]
    async with client_of(tmp_path / "a.db", READER) as reader:
        events = await followed(reader, limit=1)
        assert [(one["action"], one["target"]) for one in events] == [("stored", "tea"), ("forgotten", "tea")]
        assert {(one["who"], one["user"]) for one in events} == {("", "")}
        assert (await reader.get("/changes", params={"since": "yesterday"})).status_code == 422
        assert (await reader.head("/events")).headers["content-type"].startswith("text/event-stream")
        for wrong in ("yesterday", ""):
            assert (await reader.get("/events", params={"since": wrong})).status_code == 422
            assert (await reader.get("/events", headers={"Last-Event-ID": wrong})).status_code == 422
