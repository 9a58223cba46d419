"""What has changed is told in the order of commits, page by page, to each token what it may see."""

from pathlib import Path
from typing import Any

import httpx

from tests.http.test_http_audit import MAIN, PHONE, READER, client_of, use


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


async def test_changes_are_told_from_a_cursor_on(tmp_path: Path) -> None:
    await use(tmp_path / "a.db")
    async with client_of(tmp_path / "a.db", MAIN) as owner:
        events = await followed(owner, limit=1)
        told = [(one["kind"], one["action"], one["target"], one["who"]) for one in events]
        assert told == [
            ("conversation", "added", "wang-1", "phone"),
            ("memory", "stored", "tea", "(server.token)"),
            ("memory", "forgotten", "tea", "(server.token)"),
        ]
        behind = await owner.get("/changes", params={"since": events[1]["cursor"]})
        assert behind.json()["events"] == events[2:]
        assert (await owner.get("/changes", params={"since": "yesterday"})).status_code == 422


async def test_a_token_is_told_what_it_may_see(tmp_path: Path) -> None:
    await use(tmp_path / "a.db")
    async with client_of(tmp_path / "a.db", PHONE) as phone:
        assert [(one["target"], one["who"]) for one in await followed(phone)] == [("wang-1", "phone")]
    async with client_of(tmp_path / "a.db", READER) as reader:
        told = [(one["target"], one["who"], one["user"]) for one in await followed(reader)]
        assert told == [("tea", "", ""), ("tea", "", "")]


async def test_who_follows_the_changes_begins_at_a_cursor_that_is_one(tmp_path: Path) -> None:
    await use(tmp_path / "a.db")
    async with client_of(tmp_path / "a.db", MAIN) as owner:
        assert (await owner.head("/events")).headers["content-type"].startswith("text/event-stream")
        for wrong in ("yesterday", ""):
            assert (await owner.get("/events", params={"since": wrong})).status_code == 422
            assert (await owner.get("/events", headers={"Last-Event-ID": wrong})).status_code == 422
